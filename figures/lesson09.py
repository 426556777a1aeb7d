# SPDX-License-Identifier: MIT
"""Lesson 09: bank conflicts. A warp's copies into a stage with and without padding, and its reads of the stage."""

from draw import BLUE, GREEN, GREY, ORANGE, SMALL, Figure

PATH = "lessons/09_warp_tiled_matmul/figure.svg"

BLOCK, PAD, CHANNELS, ROWS, BANKS = 128, 4, 8, 4, 32  # a warp copies 8 channels of 4 rows of a block's 128
STEP = 16  # channels of a stage
LANES_N, LANES_OC = 8, 4  # of a warp, each 8 by 8 outputs


def lane_of(lane_n, lane_o):
    """The lane at a place of the warp's 8 by 4, as the lesson numbers them."""
    return lane_n * 2 % 16 + lane_o % 2 + lane_o // 2 * 16


def stage(f, x, y, cell, pitch):
    """8 rows of a stage as the banks see them: a column a bank, in it the lanes that store there."""
    held = {(c, (c * pitch + r) % BANKS): r * CHANNELS + c for r in range(ROWS) for c in range(CHANNELS)}
    worst = max(sum(bank == b for _, b in held) for bank in range(BANKS))
    style = "kept" if worst > 1 else "written"
    f.grid(x, y, cell, CHANNELS, BANKS, lambda c, bank: style if (c, bank) in held else "memory")
    for (c, bank), lane in held.items():
        f.text(x + (bank + 0.5) * cell, y + (c + 0.5) * cell + 5, str(lane), size=SMALL, anchor="middle")
    for c in range(CHANNELS):
        f.text(x - 8, y + (c + 0.5) * cell + 5, str(c), mono=True, size=SMALL, anchor="end", color=GREY)
    for bank in range(0, BANKS, 4):
        f.text(x + (bank + 0.5) * cell, y - 6, str(bank), mono=True, size=SMALL, anchor="middle", color=GREY)
    return worst


def figure() -> Figure:
    f = Figure(
        828,
        "Bank conflicts of a warp's copies and reads",
        f"A warp copies {CHANNELS} channels of {ROWS} rows of inp into a stage that has a row for each channel. With "
        f"{BLOCK} floats a row all 32 lanes store into 4 banks, 8 words each: 8 wavefronts. With {BLOCK + PAD} they "
        f"store into 32 banks: one. Its reads: the {LANES_N} by {LANES_OC} lanes of a warp, of which each half reads 8 "
        f"neighbouring float4s of rows, 32 banks, and 2 of columns.",
    )
    left, cell = 124, 18

    # what a warp loads
    f.text(24, 28, "a warp's copies: 8 channels of 4 rows", bold=True)
    f.text(left, 52, "inp (N=4096, C=768)", mono=True, bold=True, color=BLUE)
    top, wide = 64, 24
    f.grid(left, top, wide, ROWS, CHANNELS, lambda r, c: "read")
    for r in range(ROWS):
        for c in range(CHANNELS):
            f.text(
                left + (c + 0.5) * wide,
                top + (r + 0.5) * wide + 5,
                str(r * CHANNELS + c),
                size=SMALL,
                anchor="middle",
            )
        f.text(left - 8, top + (r + 0.5) * wide + 5, f"n = {r}", mono=True, size=SMALL, anchor="end", color=GREY)
    f.text(left, top + ROWS * wide + 18, "c = 0 … 7: a sector each row", mono=True, size=SMALL, color=GREY)
    f.text(left + 240, top + 16, "In each square its lane.", size=SMALL, color=GREY)
    f.text(left + 240, top + 36, "In the stage a row is a channel,", size=SMALL, color=GREY)
    f.text(left + 240, top + 56, "so that 4 rows of inp lie side by side", size=SMALL, color=GREY)
    f.text(left + 240, top + 76, "and are read as one float4.", size=SMALL, color=GREY)
    f.text(left + 240, top + 106, f"Below a column is a bank; 8 of {STEP} channels.", size=SMALL, color=GREY)

    # the stage, twice
    y = 232
    f.text(24, y - 24, f"stage[{STEP}][{BLOCK}]", mono=True, bold=True, color=ORANGE)
    worst = stage(f, left, y, cell, BLOCK)
    f.text(24, y + 16, "channel", size=SMALL, color=GREY)
    f.text(218, y - 24, f"bank 0 takes {worst} words, one after another: {worst} wavefronts", size=SMALL, color=ORANGE)
    y += CHANNELS * cell + 60
    f.text(24, y - 24, f"stage[{STEP}][{BLOCK} + {PAD}]", mono=True, bold=True, color=GREEN)
    worst = stage(f, left, y, cell, BLOCK + PAD)
    f.text(
        218,
        y - 24,
        f"channel c begins at bank 4 c, every bank takes one word: {worst} wavefront",
        size=SMALL,
        color=GREEN,
    )
    f.text(24, y + 16, "channel", size=SMALL, color=GREY)

    # the reads
    y += CHANNELS * cell + 34
    f.text(24, y, "a warp's reads: 64 rows, 32 columns, one channel", bold=True)
    y += 44
    side = 19
    grid_x = left
    for lane_n in range(LANES_N):
        for lane_o in range(LANES_OC):
            lane = lane_of(lane_n, lane_o)
            x0, y0 = grid_x + lane_o * 1.5 * side, y + lane_n * side
            f.box(x0, y0, 1.5 * side, side, "read" if lane < 16 else "memory")
            f.text(x0 + 0.75 * side, y0 + side / 2 + 5, str(lane), size=SMALL, anchor="middle")
    for lane_o in range(LANES_OC):
        f.text(
            grid_x + (lane_o + 0.5) * 1.5 * side,
            y - 6,
            f"{4 * lane_o}",
            mono=True,
            size=SMALL,
            anchor="middle",
            color=GREY,
        )
    f.text(grid_x - 44, y - 6, "o =", mono=True, size=SMALL, anchor="end", color=GREY)
    for lane_n in range(LANES_N):
        f.text(
            grid_x - 8,
            y + (lane_n + 0.5) * side + 5,
            f"n = {4 * lane_n}",
            mono=True,
            size=SMALL,
            anchor="end",
            color=GREY,
        )
    bx, bw = 296, 12.5
    f.text(bx, y + 8, "half a warp (blue), its float4 of rows:", size=SMALL, color=GREY)
    for lane_n in range(LANES_N):
        f.box(bx + lane_n * 4 * bw, y + 18, 4 * bw, 26, "read")
        f.text(bx + (lane_n + 0.5) * 4 * bw, y + 36, f"{2 * lane_n},{2 * lane_n + 1}", size=SMALL, anchor="middle")
    f.text(bx, y + 62, "8 neighbours, 128 bytes: 32 banks, no conflict", size=SMALL, color=GREEN)
    f.text(bx, y + 92, "and its float4 of columns:", size=SMALL, color=GREY)
    for lane_o in range(2):
        f.box(bx + lane_o * 4 * bw, y + 102, 4 * bw, 26, "read")
        f.text(bx + (lane_o + 0.5) * 4 * bw, y + 120, "even" if lane_o == 0 else "odd", size=SMALL, anchor="middle")
    f.text(bx + 9 * bw, y + 120, "2 neighbours, each for 8 lanes", size=SMALL, color=GREEN)
    f.text(bx, y + 150, "A lane's other rows follow after 32, its columns after 16.", size=SMALL, color=GREY)
    return f


def main() -> None:
    figure().write(PATH)


if __name__ == "__main__":
    main()
