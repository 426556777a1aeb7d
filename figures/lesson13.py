# SPDX-License-Identifier: MIT
"""Lesson 13: which scores of a row lane 3 has, and the five shuffles after which it has what all 32 lanes found."""

from draw import BLUE, GREY, SMALL, Figure

PATH = "lessons/13_cooperative_groups/figure.svg"

T, ROW = 1024, 630
LANES, SHOWN = 32, 3
CELL = 17
LEFT, WIDTH = 24, 672
LANE_0 = 152  # left edge of lane 0
TURN = WIDTH / (T / (4 * LANES))  # a warp's turn: a float4 per lane, 128 of the 1,024 scores


def row_of_scores(f: Figure, y: float) -> None:
    """The row in memory, cut into turns, lane 3's float4s filled."""
    end = LEFT + WIDTH * (ROW + 1) / T
    turns = range(0, ROW + 1, 4 * LANES)
    for first in turns:
        x = LEFT + WIDTH * first / T
        last = min(first + 4 * LANES - 1, ROW)
        f.box(x, y, min(TURN, end - x), 26)
        f.text(x + min(TURN, end - x) / 2, y + 44, f"{first}–{last}", anchor="middle", mono=True, size=SMALL)
    for first in turns:
        f.box(LEFT + WIDTH * (first + 4 * SHOWN) / T, y, max(WIDTH * 4 / T, 3), 26, "kept", stroke=1.5)
    f.box(end, y, LEFT + WIDTH - end, 26, "unused")
    f.text((end + LEFT + WIDTH) / 2, y + 18, "later tokens: not read", anchor="middle", size=SMALL)


def figure() -> Figure:
    f = Figure(
        476,
        "A warp's lanes join what they have found, in five shuffles",
        "Above: row t=630 of a head's 1,024 scores. Its first 631 are read in five turns of 128; in each turn lane l "
        "takes one float4, four scores. Lane 3 has scores 12 to 15, 140 to 143, 268 to 271, 396 to 399 and 524 to 527. "
        "Below: whose scores lane 3 knows after each of five steps. With 16 it joins its number with lane 19's; with 8 "
        "with lane 11's, which stands for two lanes already; then come lanes 7, 1 and 2, and it stands for all 32.",
    )
    f.text(LEFT, 30, "scores[b, h, t=630, :] in memory: 631 of 1,024 are read, in five turns of a warp", bold=True)
    row_of_scores(f, 44)
    own = ", ".join(f"{first + 4 * SHOWN}–{first + 4 * SHOWN + 3}" for first in range(0, ROW + 1, 4 * LANES))
    f.text(LEFT, 116, f"Lane {SHOWN} takes a float4 in each turn (orange): {own}.", size=SMALL)
    f.text(LEFT, 136, "It keeps one number of them: the largest, or a sum.", size=SMALL)

    y = 178
    f.text(LEFT, y, f"After each step lane {SHOWN}'s number stands for the lanes in blue", bold=True)
    y += 22
    for lane in (0, SHOWN, LANES - 1):
        f.text(LANE_0 + (lane + 0.5) * CELL, y, str(lane), anchor="middle", mono=True, size=SMALL)
    f.text(LEFT, y, "lane", size=SMALL, color=GREY)
    has = {SHOWN}
    y += 8
    f.lanes(LANE_0, y, CELL, ["read" if lane in has else "memory" for lane in range(LANES)])
    f.text(LEFT, y + 13, "its own", size=SMALL)
    for distance in (16, 8, 4, 2, 1):
        y += 46
        other = SHOWN ^ distance
        a, b = (LANE_0 + (lane + 0.5) * CELL for lane in (SHOWN, other))
        f.arrow([(b, y - 29), (b, y - 15), (a, y - 15), (a, y - 1)], color=BLUE)
        has |= {lane ^ distance for lane in has}
        f.lanes(LANE_0, y, CELL, ["read" if lane in has else "memory" for lane in range(LANES)])
        f.text(LEFT, y + 1, f"d = {distance}", mono=True, size=SMALL)
        f.text(LEFT, y + 17, f"{SHOWN} XOR {distance} = {other}", mono=True, size=SMALL)
    return f


def main() -> None:
    figure().write(PATH)


if __name__ == "__main__":
    main()
