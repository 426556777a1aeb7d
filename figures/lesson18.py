# SPDX-License-Identifier: MIT
"""Lesson 18: which elements of an instruction's three matrices a lane holds, and which channels of a stage they are."""

from draw import BLUE, GREEN, GREY, ORANGE, SMALL, Figure

PATH = "lessons/18_mma_tf32/figure.svg"

ROWS, COLUMNS, CHANNELS, STEP = 16, 8, 8, 16
LANE = 9


def lane_of(g, q):
    return 4 * g + q


def figure() -> Figure:
    f = Figure(
        768,
        "Which elements a lane holds",
        "A warp multiplies 16 rows of inp by 8 columns, rows of weight, over 8 channels. Lane 9 is g = 2, q = 1. Of "
        "inp it holds rows 2 and 10 at channels 1 and 5, of weight column 2 at channels 1 and 5, of out rows 2 and 10 "
        "at columns 2 and 3. Of a stage's row of 16 channels it loads channels 4 to 7 at once: the first two are "
        "channels 1 and 5 of the first instruction, the other two those of the second one.",
    )
    g, q = LANE // 4, LANE % 4
    cell, top = 20, 74
    ax, cx = 66, 288
    ay = top + CHANNELS * cell + 66
    width = 8 * cell

    # weight, channels by columns
    f.text(cx, 30, "8 rows of weight, as columns", bold=True)
    f.text(cx, 50, "Tf32B, 2 per lane", size=SMALL, color=GREY)
    for k in range(CHANNELS):
        for n in range(COLUMNS):
            mine = n == g and k % 4 == q
            f.box(cx + n * cell, top + k * cell, cell, cell, "kept" if mine else "memory", stroke=1.5 if mine else 1)
            f.text(
                cx + (n + 0.5) * cell, top + (k + 0.5) * cell + 5, str(lane_of(n, k % 4)), anchor="middle", size=SMALL
            )
        f.text(cx - 8, top + (k + 0.5) * cell + 5, str(k), anchor="end", size=SMALL, color=GREY)
    f.text(cx - 28, top + 4 * cell + 5, "channel", anchor="end", size=SMALL, color=GREY)

    # inp
    f.text(ax, ay - 44, "16 rows of inp", bold=True)
    f.text(ax, ay - 26, "Tf32A, 4 per lane", size=SMALL, color=GREY)
    for n in range(ROWS):
        for k in range(CHANNELS):
            mine = n % 8 == g and k % 4 == q
            f.box(ax + k * cell, ay + n * cell, cell, cell, "read" if mine else "memory", stroke=1.5 if mine else 1)
            f.text(
                ax + (k + 0.5) * cell,
                ay + (n + 0.5) * cell + 5,
                str(lane_of(n % 8, k % 4)),
                anchor="middle",
                size=SMALL,
            )
        f.text(ax - 8, ay + (n + 0.5) * cell + 5, str(n), anchor="end", size=SMALL, color=GREY)
    for k in range(CHANNELS):
        f.text(ax + (k + 0.5) * cell, ay - 7, str(k), anchor="middle", size=SMALL, color=GREY)

    # out
    f.text(cx, ay - 44, "16 × 8 outputs", bold=True)
    f.text(cx, ay - 26, "Accumulators, 4 per lane", size=SMALL, color=GREY)
    for n in range(ROWS):
        for o in range(COLUMNS):
            mine = n % 8 == g and o // 2 == q
            f.box(cx + o * cell, ay + n * cell, cell, cell, "written" if mine else "memory", stroke=1.5 if mine else 1)
            f.text(
                cx + (o + 0.5) * cell,
                ay + (n + 0.5) * cell + 5,
                str(lane_of(n % 8, o // 2)),
                anchor="middle",
                size=SMALL,
            )
        f.text(cx - 8, ay + (n + 0.5) * cell + 5, str(n), anchor="end", size=SMALL, color=GREY)
    for o in range(COLUMNS):
        f.text(cx + (o + 0.5) * cell, ay - 7, str(o), anchor="middle", size=SMALL, color=GREY)

    # the lane
    x, y = cx + width + 44, 74
    f.text(x, y, f"lane {LANE}: g = {g}, q = {q}", bold=True)
    f.text(x, y + 20, "a square's number is its lane", size=SMALL, color=GREY)
    parts = (
        ("weight", ORANGE, [f"x[{i}]  channel {q + 4 * i}, column {g}" for i in range(2)]),
        ("inp", BLUE, [f"x[{i}]  row {g + 8 * (i % 2)}, channel {q + 4 * (i // 2)}" for i in range(4)]),
        ("out", GREEN, [f"x[{i}]  row {g + 8 * (i // 2)}, column {2 * q + i % 2}" for i in range(4)]),
    )
    for (name, color, lines), at in zip(parts, (top + 58, ay + 40, ay + 180), strict=True):
        f.text(x, at, name, bold=True, color=color)
        for i, line in enumerate(lines):
            f.text(x, at + 22 + 20 * i, line, mono=True, size=SMALL)

    # a row of a stage
    y = ay + ROWS * cell + 62
    wide = 39
    f.text(ax - 42, y - 28, "a row of a stage: 16 channels for two instructions", bold=True)
    f.text(
        ax - 42 + 648,
        y - 28,
        f"lane {LANE} loads 4 at once",
        anchor="end",
        size=SMALL,
        color=GREY,
    )
    f.cells(
        ax - 42 + 24,
        y - 10,
        wide * STEP,
        26,
        [str(c) for c in range(STEP)],
        styles=dict.fromkeys(range(4 * q, 4 * q + 4), "read"),
    )
    for c in range(STEP):
        instruction, number = c % 4 // 2, c // 4 + 4 * (c % 2)
        color = BLUE if c // 4 == q else GREY
        at = ax - 42 + 24 + (c + 0.5) * wide
        f.text(at, y + 34, f"{instruction}:{number}", mono=True, anchor="middle", size=SMALL, color=color)
    words = "below a channel: the instruction, 0 or 1, and the channel that it is there"
    f.text(ax - 18, y + 58, words, size=SMALL, color=GREY)
    return f


def main() -> None:
    figure().write(PATH)


if __name__ == "__main__":
    main()
