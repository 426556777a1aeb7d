# SPDX-License-Identifier: MIT
"""Lesson 05: one thread computes one output of a matmul; a block is a square tile of outputs that share rows. A warp of
it loads a channel from 16 rows of weight."""

from draw import BLUE, GREEN, GREY, ORANGE, SMALL, Figure

PATH = "lessons/05_naive_forward/figure.svg"

N, C, OC, TILE = 4096, 768, 3072, 16  # the first matmul of the MLP at B=4, T=1024
block_x, block_y = 2, 7  # the block drawn
x, y = 5, 3  # the thread in it


def figure() -> Figure:
    n, o = block_x * TILE + y, block_y * TILE + x
    f = Figure(
        590,
        "One thread computes one output of a matmul",
        f"A block of {TILE} by {TILE} threads computes a tile of out. Thread ({x}, {y}) of block "
        f"({block_x}, {block_y}) reads row {n} of inp and row {o} of weight, {C} floats each, and stores "
        f"out[{n}, {o}]. All {TILE * TILE} threads together read {TILE} rows of inp and {TILE} rows of weight. For one "
        f"channel the thread's warp loads {TILE} floats of weight, each from another row, and 2 of inp.",
    )
    cell = 17
    gx, gy = 388, 226  # the tile of out
    side = TILE * cell
    strip_x, strip_w = 104, gx - 104 - 14
    strip_y, strip_h = 74, gy - 74 - 14

    # rows of weight, upright above the columns that they serve
    f.text(gx, 30, f"weight (OC={OC}, C={C})", mono=True, bold=True, color=BLUE)
    f.text(gx, 50, f"{TILE} rows, upright: row o serves column o", size=SMALL, color=GREY)
    for c in range(TILE):
        f.box(gx + c * cell, strip_y, cell, strip_h, "memory")
    f.box(gx + x * cell, strip_y, cell, strip_h, "read", stroke=1.5)
    at = 0.42  # of a row: the channel that the warp loads
    for c in range(TILE):
        f.box(gx + c * cell, strip_y + at * strip_h, cell, 9, "kept")
    f.text(gx + side + 30, strip_y + at * strip_h + 10, "16", bold=True, size=SMALL, color=ORANGE)
    f.text(gx + (x + 0.5) * cell, strip_y - 8, f"o={o}", mono=True, size=SMALL, anchor="middle", color=BLUE)
    f.text(gx + side + 8, strip_y + 20, "c=0", mono=True, size=SMALL, color=GREY)
    f.arrow([(gx + side + 20, strip_y + 28), (gx + side + 20, strip_y + strip_h - 22)])
    f.text(gx + side + 38, strip_y + strip_h - 6, f"{C - 1}", mono=True, size=SMALL, anchor="end", color=GREY)

    # rows of inp, beside the rows that they serve
    f.text(24, gy - 38, f"inp (N={N}, C={C})", mono=True, bold=True, color=BLUE)
    f.text(24, gy - 18, f"{TILE} rows: row n serves row n of out", size=SMALL, color=GREY)
    for r in range(TILE):
        f.box(strip_x, gy + r * cell, strip_w, cell, "memory")
    f.box(strip_x, gy + y * cell, strip_w, cell, "read", stroke=1.5)
    for r in (y - y % 2, y - y % 2 + 1):
        f.box(strip_x + at * strip_w, gy + r * cell, 9, cell, "kept")
    f.text(strip_x - 8, gy + (y + 0.5) * cell + 5, f"n={n}", mono=True, size=SMALL, anchor="end", color=BLUE)
    f.text(strip_x, gy + side + 18, "c=0", mono=True, size=SMALL, color=GREY)
    f.arrow([(strip_x + 34, gy + side + 13), (strip_x + strip_w - 34, gy + side + 13)])
    f.text(strip_x + strip_w, gy + side + 18, f"{C - 1}", mono=True, size=SMALL, anchor="end", color=GREY)

    # the tile: one square a thread
    f.grid(gx, gy, cell, TILE, TILE, lambda r, c: "memory")
    for r in (y - y % 2, y - y % 2 + 1):  # the thread's warp: two rows of the block
        for c in range(TILE):
            f.box(gx + c * cell, gy + r * cell, cell, cell, "kept")
    f.box(gx + x * cell, gy + y * cell, cell, cell, "written", stroke=2)
    f.box(gx - 5, gy - 5, side + 10, side + 10, "outline", radius=6)
    f.text(gx, gy + side + 26, f"a tile of out (N={N}, OC={OC})", mono=True, bold=True, color=GREEN)
    both = f"{TILE * TILE} threads read {TILE} + {TILE} rows, {2 * TILE * C * 4:,} bytes"
    f.text(gx, gy + side + 46, both, size=SMALL, color=GREY)
    # where the row and the column meet
    f.arrow([(strip_x + strip_w, gy + (y + 0.5) * cell), (gx + x * cell - 2, gy + (y + 0.5) * cell)])
    f.arrow([(gx + (x + 0.5) * cell, strip_y + strip_h), (gx + (x + 0.5) * cell, gy + y * cell - 2)])

    # what the thread does
    f.text(24, 30, f"thread (x={x}, y={y}) of block ({block_x}, {block_y})", bold=True, color=GREEN)
    f.text(24, 56, f"n = {block_x} · {TILE} + {y} = {n}", mono=True, size=SMALL)
    f.text(24, 76, f"o = {block_y} · {TILE} + {x} = {o}", mono=True, size=SMALL)
    f.text(24, 102, f"reads 2 · {C} floats, {2 * C * 4:,} bytes", size=SMALL, color=GREY)
    f.text(24, 122, f"for {C} products and sums, {2 * C:,} FLOP;", size=SMALL, color=GREY)
    f.text(24, 142, f"stores out[{n}, {o}]", size=SMALL, color=GREY)
    f.text(24, gy + side + 46, "orange: its warp, 2 rows of 16 outputs.", size=SMALL, color=ORANGE)
    loads = f"For one channel it loads {TILE} floats of weight from {TILE} rows, {C * 4:,} bytes apart, and 2 of inp."
    f.text(24, gy + side + 68, loads, size=SMALL, color=ORANGE)
    return f


def main() -> None:
    figure().write(PATH)


if __name__ == "__main__":
    main()
