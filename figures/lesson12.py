# SPDX-License-Identifier: MIT
"""Lesson 12: what three kernels and one call with an epilogue do to the result in memory."""

from draw import BLUE, GREEN, GREY, INK, SMALL, Figure

PATH = "lessons/12_cublaslt_fusion/figure.svg"

N, OC = 4096, 3072
MB = f"{N * OC * 4 / 1e6:.1f} MB"
LEFT, RIGHT = 24, 696
SPLIT = 372  # where fc ends and fc_gelu begins


def memory(f, y):
    """The two tensors in global memory."""
    for x, to, name in ((LEFT, SPLIT - 6, "fc"), (SPLIT + 6, RIGHT, "fc_gelu")):
        f.box(x, y, to - x, 32, "memory")
        f.text((x + to) / 2, y + 21, f"{name} ({N}, {OC})  {MB}", anchor="middle", mono=True)


def kernel(f, x, y, w, name, detail):
    f.box(x, y, w, 52, "outline", radius=10, stroke=1.5)
    f.text(x + w / 2, y + 22, name, anchor="middle", bold=True)
    f.text(x + w / 2, y + 41, detail, anchor="middle", size=SMALL, color=GREY)


def figure() -> Figure:
    f = Figure(
        500,
        "Three kernels and one call with an epilogue",
        "Above: a matmul stores its result, a kernel reads it and writes it again with the bias, a third reads it and "
        "writes its GELU: five ways of 50.3 MB through global memory. Below: one call. A block of threads has its tile "
        "of sums in registers, adds bias[o] to row o of the tile, stores that where pre_gelu is wanted, applies GELU "
        "and stores the output: one way through memory, or two.",
    )
    # three kernels
    f.text(LEFT, 28, f"Lesson 11: three kernels, five times {MB}", bold=True)
    top = 44
    memory(f, top)
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

    # one call
    f.line([(LEFT, 204), (RIGHT, 204)])
    f.text(LEFT, 232, f"Lesson 12: one call, {MB} once, or twice with pre_gelu", bold=True)
    top = 248
    memory(f, top)
    y = top + 84
    f.box(LEFT, y - 14, RIGHT - LEFT, 114, "outline", radius=10, stroke=1.5)
    f.text(44, y + 88, "one kernel: a block's tile of results stays in its threads' registers", size=SMALL, color=GREY)
    rows, columns, cell = 4, 6, 14
    f.grid(56, y + 2, cell, rows, columns, lambda r, c: "kept" if r == 1 else "memory")
    f.text(150, y + 27, "sums", size=SMALL)
    f.text(150, y + 45, "row o", size=SMALL, color=GREY)
    step_y = y + 8
    for x, w, name in ((232, 124, "+ bias[o]"), (466, 130, "GELU")):
        f.box(x, step_y, w, 40, "kept", radius=4)
        f.text(x + w / 2, step_y + 25, name, anchor="middle", mono=True, color=INK)
    f.arrow([(196, step_y + 20), (230, step_y + 20)])
    f.arrow([(356, step_y + 20), (464, step_y + 20)])
    f.arrow([(302, step_y), (302, top + 34)], **up)
    f.text(310, y - 22, "store, if pre_gelu is wanted", size=SMALL, color=GREEN)
    f.arrow([(566, step_y), (566, top + 34)], **up)
    f.text(574, y - 22, "store", size=SMALL, color=GREEN)
    f.text(LEFT, 474, "cuBLASLt sees out by columns, as an (OC, N): its row o is channel o of all tokens.", size=SMALL)
    return f


def main() -> None:
    figure().write(PATH)


if __name__ == "__main__":
    main()
