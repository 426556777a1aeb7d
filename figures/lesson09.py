# SPDX-License-Identifier: MIT
"""Lesson 09: the outputs of a block, of one of its warps and of one lane, and what the warp reads for a channel."""

from draw import BLUE, GREEN, GREY, ORANGE, SMALL, Figure

PATH = "lessons/09_warp_tiled_matmul/figure.svg"

TILE, WARP_N, WARP_OC, OUT, GROUP = 128, 64, 32, 8, 4  # a block's, a warp's and a thread's outputs; groups of 4
LANES_N, LANES_OC = WARP_N // OUT, WARP_OC // OUT
WARPS_N, WARPS_OC = TILE // WARP_N, TILE // WARP_OC
warp = 7  # the warp drawn
lane_n, lane_o = 2, 3  # the lane in it
k = 9  # the channel that is read


def lane_of(n, o):
    """The lane at a place of the warp's 8 by 4, as the lesson numbers them."""
    return o // 2 * 16 + n * 2 + o % 2


def figure() -> Figure:
    lane = lane_of(lane_n, lane_o)
    at_n = warp % WARPS_N * WARP_N + GROUP * lane_n
    at_o = warp // WARPS_N * WARP_OC + GROUP * lane_o
    f = Figure(
        574,
        "The outputs of a block, a warp and a lane",
        f"A block's {TILE} by {TILE} outputs are cut into {WARPS_N} by {WARPS_OC} warp tiles of {WARP_N} by {WARP_OC}. "
        f"A warp tile is {LANES_N} by {LANES_OC} lanes, four times: each lane has a 4 by 4 group in each quarter. Lane "
        f"{lane} of warp {warp} has rows {at_n} to {at_n + 3} and {at_n + 32} to {at_n + 35}, columns {at_o} to "
        f"{at_o + 3} and {at_o + 16} to {at_o + 19}. For a channel the warp reads {WARP_N} floats of inp_tile and "
        f"{WARP_OC} of weight_tile; neighbouring lanes read neighbouring float4s.",
    )

    # the block
    x, y, side = 24, 104, 192
    f.text(x, 30, "a block", bold=True)
    f.text(x, 50, f"{TILE} × {TILE} outputs", size=SMALL, color=GREY)
    f.text(x, 68, f"{WARPS_N} × {WARPS_OC} warps", size=SMALL, color=GREY)
    width, height = side // WARPS_OC, side // WARPS_N
    for number in [*range(warp), *range(warp + 1, WARPS_N * WARPS_OC), warp]:
        r, c = number % WARPS_N, number // WARPS_N
        style = "kept" if number == warp else "memory"
        f.box(x + c * width, y + r * height, width, height, style, stroke=1.5 if number == warp else 1)
        f.text(x + (c + 0.5) * width, y + (r + 0.5) * height + 5, f"w{number}", mono=True, anchor="middle", size=SMALL)
    f.box(x - 5, y - 5, side + 10, side + 10, "outline", radius=6)
    f.text(x, y + side + 30, "lesson 08's warps have", size=SMALL, color=GREY)
    f.text(x, y + side + 48, "16 × 128 outputs each:", size=SMALL, color=GREY)
    f.text(x, y + side + 66, "16 + 128 floats per channel", size=SMALL, color=GREY)
    f.text(x, y + side + 84, "for as many multiply-adds", size=SMALL, color=GREY)

    # the warp
    cell = 24
    wx, wy = 296, 130
    f.text(wx - 32, 30, f"warp {warp}", bold=True, color=ORANGE)
    f.text(wx - 32, 50, f"{WARP_N} × {WARP_OC} outputs, {LANES_N} × {LANES_OC} lanes", size=SMALL, color=GREY)
    f.text(wx - 32, 84, f"weight_tile[{k}], {WARP_OC} floats", mono=True, size=SMALL, color=BLUE)
    for j in range(2 * LANES_OC):
        f.box(wx + j * cell, wy - 34, cell, 16, "read" if j % LANES_OC == lane_o else "memory")
    for i in range(2 * LANES_N):
        f.box(wx - 32, wy + i * cell, 16, cell, "read" if i % LANES_N == lane_n else "memory")
    for i in range(2 * LANES_N):
        for j in range(2 * LANES_OC):
            mine = (i % LANES_N, j % LANES_OC) == (lane_n, lane_o)
            f.box(wx + j * cell, wy + i * cell, cell, cell, "written" if mine else "memory")
            if (i < LANES_N and j < LANES_OC) or mine:
                number = str(lane_of(i % LANES_N, j % LANES_OC))
                f.text(wx + (j + 0.5) * cell, wy + (i + 0.5) * cell + 5, number, anchor="middle", size=SMALL)
    for i in range(2):
        for j in range(2):
            f.box(wx + j * 4 * cell, wy + i * 8 * cell, 4 * cell, 8 * cell, "outline", stroke=2)
    f.text(
        wx - 32, wy + 16 * cell + 22, f"on the left: inp_tile[{k}], {WARP_N} floats", mono=True, size=SMALL, color=BLUE
    )
    f.text(wx - 32, wy + 16 * cell + 42, "a square is 4 × 4 outputs; the number is their lane", size=SMALL, color=GREY)
    f.arrow([(x + side + 6, wy + 60), (wx - 40, wy + 60)])

    # the lane
    small, gap = 16, 10
    tx, ty = 568, 200
    f.text(tx - 24, 30, f"lane {lane}", bold=True, color=GREEN)
    f.text(tx - 24, 50, f"{OUT} × {OUT} outputs", size=SMALL, color=GREY)
    f.text(tx - 24, 68, "in 4 groups of 4 × 4", size=SMALL, color=GREY)
    for i in range(OUT):
        for j in range(OUT):
            f.box(tx + j * small + j // 4 * gap, ty + i * small + i // 4 * gap, small, small, "written")
    for g in range(2):
        first, other = at_o + 16 * g, at_n + 32 * g
        f.text(tx + g * (4 * small + gap) + 2 * small, ty - 30, "columns", anchor="middle", size=SMALL, color=GREY)
        f.text(
            tx + g * (4 * small + gap) + 2 * small,
            ty - 12,
            f"{first}…{first + 3}",
            mono=True,
            anchor="middle",
            size=SMALL,
        )
        f.text(tx - 8, ty + g * (4 * small + gap) + 2 * small - 4, "rows", anchor="end", size=SMALL, color=GREY)
        f.text(
            tx - 8,
            ty + g * (4 * small + gap) + 2 * small + 14,
            f"{other}…{other + 3}",
            mono=True,
            anchor="end",
            size=SMALL,
        )
    f.arrow([(wx + 8 * cell + 4, wy + (lane_n + 0.5) * cell), (tx - 62, wy + (lane_n + 0.5) * cell)])
    line = ty + 8 * small + gap + 34
    f.text(tx - 50, line, "for one channel:", bold=True)
    f.text(tx - 50, line + 20, "2 float4s of inp_tile,", size=SMALL, color=GREY)
    f.text(tx - 50, line + 38, "2 of weight_tile,", size=SMALL, color=GREY)
    f.text(tx - 50, line + 56, f"{OUT * OUT} multiply-adds", size=SMALL, color=GREY)
    return f


def main() -> None:
    figure().write(PATH)


if __name__ == "__main__":
    main()
