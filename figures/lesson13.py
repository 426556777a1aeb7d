# SPDX-License-Identifier: MIT
"""Lesson 13: a row of 768 channels in the registers of a warp, and the five shuffles that add up its 32 sums."""

from draw import BLUE, GREY, SMALL, Figure

PATH = "lessons/13_cooperative_groups/figure.svg"

LANES, KEPT, SHOWN = 32, 6, 3
CELL = 17
LEFT = 152  # of lane 0
WIDE = LANES * CELL


def figure() -> Figure:
    f = Figure(
        474,
        "A row in the registers of a warp, and its sum in five shuffles",
        "Above: the 192 float4s of a row in memory. Lane l of the warp loads float4s l, l + 32 and so on up to l + 160 "
        "into its registers, six of them; lane 3 has 3, 35, 67, 99, 131 and 163. Below: which lanes' sums lane 3 has "
        "after each of five steps. With 16 it adds what lane 19 has; with 8 what lane 11 has, which is the sum of two "
        "lanes already; then come lanes 7, 1 and 2, and it has all 32.",
    )
    f.text(24, 30, "One row of inp in memory: 192 float4s, C = 768", bold=True)
    strip = 44
    group = (720 - 48) / KEPT
    for i in range(KEPT):
        f.box(24 + i * group, strip, group, 26)
        f.text(
            24 + (i + 0.56) * group, strip + 18, f"{32 * i} to {32 * i + 31}", anchor="middle", mono=True, size=SMALL
        )
        f.box(24 + i * group + group * SHOWN / LANES, strip, group / LANES, 26, "kept", stroke=1.5)
    top = 112
    f.text(24, top - 14, "The same in registers: lane l has float4s l, l + 32, …", bold=True)
    for lane in (0, SHOWN, 31):
        f.text(LEFT + (lane + 0.5) * CELL, top + 8, str(lane), anchor="middle", mono=True, size=SMALL)
    f.text(24, top + 8, "lane", size=SMALL, color=GREY)
    for i in range(KEPT):
        y = top + 14 + i * CELL
        f.lanes(LEFT, y, CELL, ["kept" if lane == SHOWN else "memory" for lane in range(LANES)])
        f.text(24, y + 13, f"x[{i}]", mono=True, size=SMALL)
        f.text(LEFT - 10, y + 13, f"{SHOWN + LANES * i}", anchor="end", mono=True, size=SMALL)
    f.text(LEFT - 10, top + 8, "of lane 3", anchor="end", size=SMALL, color=GREY)

    y = top + 14 + KEPT * CELL + 36
    f.text(24, y, "Each lane adds up its own; after each step lane 3 has the sums of the lanes in blue", bold=True)
    has = {SHOWN}
    y += 12
    f.lanes(LEFT, y, CELL, ["read" if lane in has else "memory" for lane in range(LANES)])
    f.text(24, y + 13, "its own sum", size=SMALL)
    for distance in (16, 8, 4, 2, 1):
        y += 34
        other = SHOWN ^ distance
        a, b = (LEFT + (lane + 0.5) * CELL for lane in (SHOWN, other))
        f.arrow([(b, y - 17), (b, y - 9), (a, y - 9), (a, y - 1)], color=BLUE)
        has |= {lane ^ distance for lane in has}
        f.lanes(LEFT, y, CELL, ["read" if lane in has else "memory" for lane in range(LANES)])
        f.text(24, y + 13, f"lane {SHOWN}^{distance} = {other}", mono=True, size=SMALL)
    return f


def main() -> None:
    figure().write(PATH)


if __name__ == "__main__":
    main()
