# SPDX-License-Identifier: MIT
"""Lesson 12: what three kernels, and one kernel with an epilogue, do to the result in memory."""

from draw import BLUE, GREEN, GREY, SMALL, Figure

PATH = "lessons/12_cublaslt_fusion/figure.svg"

N, OC = 4096, 3072
MB = f"{N * OC * 4 / 1e6:.1f} MB"
LEFT, RIGHT = 24, 696
SPLIT = 372  # where fc ends and fc_gelu begins
SIDE = 8  # rows and columns of a thread's sums
CELL = 11


def tensor(f, y, x, to, name):
    """A tensor in global memory."""
    f.box(x, y, to - x, 32, "memory")
    f.text((x + to) / 2, y + 21, f"{name} ({N}, {OC})  {MB}", anchor="middle", mono=True)


def kernel(f, x, y, w, name, detail):
    f.box(x, y, w, 52, "outline", radius=10, stroke=1.5)
    f.text(x + w / 2, y + 22, name, anchor="middle", bold=True)
    f.text(x + w / 2, y + 41, detail, anchor="middle", size=SMALL, color=GREY)


def registers(f, x, y, above, style):
    """A thread's 8 x 8 results, one column of which has another style."""
    f.grid(x, y, CELL, SIDE, SIDE, style)
    f.text(x + SIDE * CELL / 2, y - 8, above, anchor="middle", mono=True, size=SMALL)


def three_kernels(f):
    f.text(LEFT, 28, f"Lesson 11: three kernels, five times {MB}", bold=True)
    top = 44
    tensor(f, top, LEFT, SPLIT - 6, "fc")
    tensor(f, top, SPLIT + 6, RIGHT, "fc_gelu")
    y = top + 84
    for x, w, name, detail in (
        (44, 120, "matmul", "sums"),
        (216, 120, "add bias", "an addition"),
        (466, 130, "GELU", "9 operations"),
    ):
        kernel(f, x, y, w, name, detail)
    up = {"color": GREEN}
    f.arrow([(104, y), (104, top + 34)], **up)
    f.text(112, y - 18, "store", size=SMALL, color=GREEN)
    f.arrow([(250, top + 34), (250, y - 2)], color=BLUE)
    f.text(242, y - 18, "load", size=SMALL, color=BLUE, anchor="end")
    f.arrow([(302, y), (302, top + 34)], **up)
    f.text(310, y - 18, "store", size=SMALL, color=GREEN)
    f.arrow([(340, top + 34), (340, top + 50), (496, top + 50), (496, y - 2)], color=BLUE)
    f.text(420, top + 66, "load", size=SMALL, color=BLUE, anchor="middle")
    f.arrow([(566, y), (566, top + 34)], **up)
    f.text(574, y - 18, "store", size=SMALL, color=GREEN)


def one_kernel(f):
    f.text(LEFT, 232, f"Lesson 12: one kernel with an epilogue, {MB} once", bold=True)
    top = 248
    tensor(f, top, SPLIT + 6, RIGHT, "out")
    y = top + 76
    f.box(LEFT, y - 16, RIGHT - LEFT, 186, "outline", radius=10, stroke=1.5)
    f.text(44, y + 10, "matmul_gelu", bold=True)
    f.text(160, y + 10, "one thread's 64 results, in the same registers until they are stored", size=SMALL)

    grid_y = y + 48
    middle = grid_y + SIDE * CELL / 2
    column = 2
    registers(f, 56, grid_y, "sums[i][j]", lambda r, c: "kept" if c == column else "memory")
    registers(f, 312, grid_y, "x", lambda r, c: "kept" if c == column else "memory")
    registers(f, 556, grid_y, "gelu(x)", lambda r, c: "kept" if c == column else "memory")
    f.text(56 + SIDE * CELL / 2, grid_y + SIDE * CELL + 20, f"j = {column}", anchor="middle", mono=True, size=SMALL)
    for x, w, name in ((176, 104, "+ bias[o]"), (432, 92, "GELU")):
        f.box(x, middle - 20, w, 40, "kept", radius=4)
        f.text(x + w / 2, middle + 5, name, anchor="middle", mono=True)
    f.text(228, middle + 40, "o: the column", anchor="middle", size=SMALL, color=GREY)
    f.text(228, middle + 58, "of out", anchor="middle", size=SMALL, color=GREY)
    right = SIDE * CELL
    f.arrow([(56 + right + 2, middle), (174, middle)])
    f.arrow([(282, middle), (310, middle)])
    f.arrow([(312 + right + 2, middle), (430, middle)])
    f.arrow([(526, middle), (554, middle)])
    f.arrow([(556 + right + 2, middle), (672, middle), (672, top + 34)], color=GREEN)
    f.text(664, y - 24, "the only store", size=SMALL, color=GREEN, anchor="end")


def figure() -> Figure:
    f = Figure(
        510,
        "Three kernels, and one kernel with an epilogue",
        "Above: a matmul stores its result, a kernel reads it and writes it again with the bias, a third reads it and "
        "writes its GELU: five ways of 50.3 MB through global memory. Below: lesson 12's matmul_gelu. A thread has 8 "
        "rows and 8 columns of sums in registers. It adds bias[o] to those of the column that is column o of out, "
        "applies GELU, and only then stores: one way through memory.",
    )
    three_kernels(f)
    f.line([(LEFT, 204), (RIGHT, 204)])
    one_kernel(f)
    return f


def main() -> None:
    figure().write(PATH)


if __name__ == "__main__":
    main()
