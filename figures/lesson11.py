# SPDX-License-Identifier: MIT
"""Lesson 11: a row-major tensor, read by columns, is its transpose; so cuBLAS computes the transposed product."""

from draw import BLUE, GREEN, GREY, INK, ORANGE, SMALL, Figure

PATH = "lessons/11_tf32/figure.svg"

N, C, OC = 4096, 768, 3072  # the first matmul of the MLP at B=4, T=1024


def reading(f: Figure, x: int, y: int, rows: int, columns: int, cell: int, by_rows: bool) -> None:
    """A corner of the tensor as a grid: its first run of C floats is a row here, a column there."""
    f.grid(x, y, cell, rows, columns, lambda r, c: "read" if (r if by_rows else c) == 0 else "memory")
    for i in range(3):
        at = (x + (i + 0.5) * cell, y + cell / 2 + 5) if by_rows else (x + cell / 2, y + (i + 0.5) * cell + 5)
        f.text(*at, str(i), mono=True, anchor="middle")
    second = (x + cell / 2, y + 1.5 * cell + 5) if by_rows else (x + 1.5 * cell, y + cell / 2 + 5)
    f.text(*second, str(C), mono=True, size=SMALL, anchor="middle")


def product(f: Figure, x: int, y: int, words: str, parts: list[tuple[str, int, int, str, str]]) -> None:
    """left = first second, drawn to scale: (name, rows, columns, style, colour) each."""
    scale, apart = 1 / 56, 112
    f.text(x, y, words, bold=True)
    middle = y + 56
    for i, (name, rows, columns, style, color) in enumerate(parts):
        at = x + 48 + i * apart
        w, h = columns * scale, rows * scale
        f.box(at - w / 2, middle - h / 2, w, h, style, stroke=1.5)
        f.text(at, y + 112, name, mono=True, anchor="middle", color=color)
        f.text(at, y + 130, f"{rows:,} × {columns:,}", size=SMALL, anchor="middle", color=GREY)
        if i < 2:
            f.text(at + apart / 2, middle + 6, "=" if i == 0 else "·", bold=True, anchor="middle", size=18)


def figure() -> Figure:
    f = Figure(
        536,
        "A row-major tensor, read by columns, is its transpose",
        f"inp is a run of {N * C:,} floats; {C} of them are a row. Read by rows it is a matrix of {N:,} by {C}. cuBLAS "
        f"reads it by columns: {C} floats are a column, and the memory is a matrix of {C} by {N:,}, the transpose. "
        f"So your out = inp weight^T, which is {N:,} by {OC:,}, is for cuBLAS out^T = weight inp^T, {OC:,} by {N:,}: "
        "weight is the first operand there.",
    )
    # memory
    f.text(24, 32, "inp in memory", bold=True)
    f.text(150, 32, f"{N:,} · {C} floats; the number is how far a float is from the first one", size=SMALL, color=GREY)
    labels = ["0", "1", "2", "…", str(C - 1), str(C), str(C + 1), "…", str(2 * C - 1), str(2 * C), "…"]
    width, top = 672, 46
    cell = f.cells(24, top, width, 30, labels, styles=dict.fromkeys(range(5), "read"))
    f.text(24, top + 50, f"the first {C}: inp[0, :]", size=SMALL, color=BLUE)
    f.text(24 + 5 * cell, top + 50, f"the next {C}: inp[1, :]", size=SMALL, color=GREY)

    # two readings, and the product in each
    y, side, rows, right = 168, 30, 4, 372
    out, inp, weight = ("out", N, OC, "written", GREEN), ("inp", N, C, "read", BLUE), ("weight", OC, C, "kept", ORANGE)

    def transposed(part):
        name, rows, columns, style, color = part
        return f"{name}ᵀ", columns, rows, style, color

    f.text(24, y - 34, "You read it by rows", bold=True)
    f.text(24, y - 14, f"{N:,} rows of {C}; a corner of it", size=SMALL, color=GREY)
    reading(f, 24, y, rows, 8, side, by_rows=True)
    f.text(24, y + rows * side + 22, f"inp[n, c] is float n · {C} + c", mono=True, size=SMALL)
    product(f, 24, y + rows * side + 66, "You want", [out, inp, transposed(weight)])

    f.text(right, y - 34, "cuBLAS reads it by columns", bold=True)
    f.text(right, y - 14, f"{C} rows, {N:,} columns; the same corner", size=SMALL, color=GREY)
    reading(f, right, y, rows, 8, side, by_rows=False)
    f.text(right, y + rows * side + 22, f"row c, column n is float c + n · {C}", mono=True, size=SMALL)
    product(f, right, y + rows * side + 66, "So ask it for", [transposed(out), weight, transposed(inp)])
    f.text(24, 518, "The same float has the same place in memory: what cuBLAS sees is the transpose.", color=INK)
    return f


def main() -> None:
    figure().write(PATH)


if __name__ == "__main__":
    main()
