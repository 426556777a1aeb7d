# SPDX-License-Identifier: MIT
"""Lesson 03: the tiled matmul. What is packed in memory comes through L2 and L1 into a tile of sums in registers."""

from draw import BLUE, GREEN, GREY, ORANGE, SMALL, Figure

PATH = "lessons/03_cpu_matmul/figure.svg"

N, C, OC = 4096, 768, 3072  # the first matmul of the MLP at B=4, T=1024
LANES, VECTORS, TILE_N = 16, 3, 8  # AVX-512
TILE_O = VECTORS * LANES
BLOCK_C, PANELS = 768, 4
BLOCK_O = PANELS * TILE_O


def size(floats: int) -> str:
    size = 4 * floats
    return f"{size / 1e6:.1f} MB" if size >= 1e6 else f"{size / 1e3:.{0 if size >= 1e4 else 1}f} KB"


def figure() -> Figure:
    f = Figure(
        690,
        "A matmul from memory through the caches into a register tile",
        f"A block of {BLOCK_O} channels by {BLOCK_C} terms of weight, {size(BLOCK_O * BLOCK_C)}, is packed into L2 as "
        f"{PANELS} panels. An inp panel of {TILE_N} rows meets each of them. In every step 8 floats of inp and 48 of "
        f"weight go from L1 into registers, where {TILE_N * VECTORS} vectors hold the sums of a tile of {TILE_N} rows "
        f"by {TILE_O} channels of out.",
    )
    left, inner, right = 24, 152, 654

    # memory: the three matrices to scale; what the tile drawn below takes of them is marked
    f.text(left, 70, "memory", bold=True)
    f.text(left, 90, f"{size(N * C + OC * C + N * OC)}", size=SMALL, color=GREY)
    scale = 38
    top = 56
    matrices = {}
    for name, x, rows, columns, color in (
        ("inp", inner, N, C, BLUE),
        ("weight", 318, OC, C, BLUE),
        ("out", 508, N, OC, GREEN),
    ):
        f.text(x, 28, f"{name} ({rows}, {columns})", mono=True, size=SMALL, bold=True, color=color)
        f.text(x, 47, size(rows * columns), size=SMALL, color=GREY)
        f.box(x, top, columns / scale, rows / scale, "memory")
        matrices[name] = x
    half = BLOCK_C / scale
    f.box(matrices["inp"], top + 30, half, 3, "read", stroke=1.5)
    f.box(matrices["weight"], top + 20, half, BLOCK_O / scale, "read", stroke=1.5)
    f.box(matrices["out"] + 10, top + 30, 3, 3, "written", stroke=1.5)
    f.text(matrices["inp"] + C / scale + 10, 82, f"{TILE_N} rows,", size=SMALL, color=GREY)
    f.text(matrices["inp"] + C / scale + 10, 100, f"{BLOCK_C} terms", size=SMALL, color=GREY)
    f.text(matrices["weight"] + C / scale + 10, 82, f"{BLOCK_O} channels,", size=SMALL, color=GREY)
    f.text(matrices["weight"] + C / scale + 10, 100, f"{BLOCK_C} terms", size=SMALL, color=GREY)

    # L2: the packed block of weight, and one of its panels step by step
    y = 206
    f.text(left, y + 15, "L2", bold=True)
    f.text(left, y + 35, "0.5 to 2 MB", size=SMALL, color=GREY)
    wx = matrices["weight"]
    f.arrow([(wx + 5, top + 20 + BLOCK_O / scale), (wx + 5, y - 4)])
    f.text(wx + 16, y - 16, f"packed once, used for {N} rows", size=SMALL, color=GREY)
    panel = (right - wx) / PANELS
    f.cells(wx, y, right - wx, 30, [f"panel {p}" for p in range(PANELS)], styles={1: "read"}, mono=False)
    f.zoom(wx + panel, wx + 2 * panel, y + 30, wx, right, y + 52)
    wide = f.cells(
        wx,
        y + 52,
        right - wx,
        30,
        ["c=0", "c=1", "c=2", "…", f"c={BLOCK_C - 2}", f"c={BLOCK_C - 1}"],
        styles={1: "read"},
    )
    caption = f"one panel ({BLOCK_C}, {TILE_O}): {size(BLOCK_C * TILE_O)}"
    f.text(right, y + 102, caption, size=SMALL, color=GREY, anchor="end")

    # L1: the panel of inp that four tiles read again
    f.arrow([(matrices["inp"] + 5, top + 33), (matrices["inp"] + 5, 346)])
    f.text(matrices["inp"] + 16, y + 15, "all of inp is packed", size=SMALL, color=GREY)
    f.text(matrices["inp"] + 16, y + 33, "before the first tile", size=SMALL, color=GREY)
    y = 350
    f.text(left, y + 15, "L1", bold=True)
    f.text(left, y + 35, "32 to 48 KB", size=SMALL, color=GREY)
    cell = f.cells(inner, y, 148, 30, ["c=0", "c=1", "…", f"{BLOCK_C - 1}"], styles={1: "read"})
    f.text(inner + 1.5 * cell + 12, y + 49, f"inp panel: {size(BLOCK_C * TILE_N)},", size=SMALL, color=GREY)
    f.text(inner + 1.5 * cell + 12, y + 67, f"for {PANELS} tiles", size=SMALL, color=GREY)
    f.text(wx + 1.5 * wide + 12, y + 20, f"{4 * TILE_O} bytes per step pass through L1", size=SMALL, color=GREY)

    # registers: the tile
    y = 462
    tile_cell, tile_w = 20, 3 * 112
    f.text(left, y + 40, "registers", bold=True)
    f.text(left, y + 60, "per cycle: two", size=SMALL, color=GREY)
    f.text(left, y + 78, "loads, two FMAs", size=SMALL, color=GREY)
    f.arrow([(inner + 1.5 * cell, 380), (inner + 1.5 * cell, y - 32), (286, y - 32), (286, y + 20)])
    f.arrow([(wx + 1.5 * wide, 288), (wx + 1.5 * wide, y - 20)])
    f.text(wx + 1.5 * wide + 12, y - 27, f"{TILE_O} floats: 3 loads", size=SMALL, color=GREY)
    vectors = ["0 … 15", "16 … 31", "32 … 47"]
    f.cells(wx, y - 16, tile_w, 26, vectors, "read")
    for i in range(TILE_N):
        f.box(276, y + 22 + i * tile_cell, 20, tile_cell, "read")
        for v in range(VECTORS):
            f.box(wx + v * 112, y + 22 + i * tile_cell, 112, tile_cell, "kept")
            if i in (0, TILE_N - 1):
                label = f"sum[{i}][{v}]"
                f.text(wx + (v + 0.5) * 112, y + 37 + i * tile_cell, label, mono=True, anchor="middle", size=SMALL)
    f.text(268, y + 40, f"{TILE_N} floats:", anchor="end", size=SMALL, color=GREY)
    f.text(268, y + 58, "8 loads, each", anchor="end", size=SMALL, color=GREY)
    f.text(268, y + 76, "into all lanes", anchor="end", size=SMALL, color=GREY)
    f.text(307, y + 107, "×", anchor="middle")
    f.text(268, y + 146, "24 vectors", anchor="end", size=SMALL, color=ORANGE)
    f.text(268, y + 164, f"of {LANES} sums", anchor="end", size=SMALL, color=ORANGE)

    # back to memory
    f.arrow([(wx + tile_w, y + 102), (684, y + 102), (684, top + 31.5), (matrices["out"] + 16, top + 31.5)])
    work = f"{TILE_N + VECTORS} loads, {TILE_N * VECTORS} FMAs, {2 * TILE_N * TILE_O} FLOP"
    f.text(left, 672, f"One step: {work}. After {BLOCK_C} steps the tile is added to out.", color=GREY)
    return f


def main() -> None:
    figure().write(PATH)


if __name__ == "__main__":
    main()
