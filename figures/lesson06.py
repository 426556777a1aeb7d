# SPDX-License-Identifier: MIT
"""Lesson 06: the sectors that one load of a warp touches: C floats apart, side by side, and as float4s."""

from draw import BLUE, GREEN, GREY, INK, ORANGE, SMALL, Figure

PATH = "lessons/06_coalescing/figure.svg"

C, LANES, SECTOR = 768, 32, 32  # channels of a row, lanes of a warp, bytes of a sector
FLOAT = 4
LEFT, WIDTH = 24, 672
LANE = WIDTH / LANES


def heading(f: Figure, y: float, name: str, code: str, note: str, color: str) -> None:
    f.text(LEFT, y, name, bold=True, color=color)
    f.text(LEFT + 150, y, code, mono=True, size=SMALL)
    f.text(LEFT + WIDTH, y, note, anchor="end", color=GREY, size=SMALL)


def warp(f: Figure, y: float) -> None:
    """32 lanes over the whole width."""
    f.lanes(LEFT, y, LANE, ["kept"] * LANES)
    for i in (*range(4), 8, 16, 24, 31):
        f.text(lane_x(i), y + 15, str(i), mono=True, anchor="middle", size=SMALL)


def lane_x(lane: int) -> float:
    return LEFT + (lane + 0.5) * LANE


def sectors(f: Figure, x: float, y: float, h: float, width: float, count: int) -> None:
    """Marks between sectors, taller than the strip."""
    for s in range(count + 1):
        f.line([(x + s * width, y - 5), (x + s * width, y + h + 5)], color=INK, width=2)


def figure() -> Figure:
    f = Figure(
        566,
        "What one load of a warp moves",
        f"Lanes that read {C} floats apart touch {LANES} sectors of {SECTOR} bytes, 1,024 bytes, and use 4 bytes of "
        f"each. Lanes that read side by side touch 4 sectors and use all of them. Lanes that read a float4 each touch "
        f"16 sectors, 512 bytes, and use all of them.",
    )
    f.text(LEFT, 28, f"inp (N=4096, C={C})", mono=True, bold=True)
    f.text(LEFT + WIDTH, 28, "between two thick marks: a sector, 32 bytes, 8 floats", anchor="end", color=GREY)

    # lesson 05: a lane a row
    y = 60
    heading(f, y, "a thread a row", "lane l: inp[n+l, 0]", "32 sectors, 1,024 bytes; 128 of them used", ORANGE)
    width, height = 116, 22
    gap = (WIDTH - 5 * width) / 4
    top = y + 34
    for k, lane in ((0, 0), (1, 1), (2, 2), (4, 31)):
        x = LEFT + k * (width + gap)
        f.text(x + width, top - 9, f"row n+{lane}" if lane else "row n", mono=True, size=SMALL, anchor="end")
        f.cells(x, top, width, height, [""] * 8, "unused", styles={0: "read"})
        sectors(f, x, top, height, width, 1)
        f.arrow([(x + width / 16, top + height + 2), (lane_x(lane), top + 66)])
    f.text(LEFT + 3 * (width + gap) + width / 2, top + 16, "…", anchor="middle", color=GREY)
    warp(f, top + 68)
    f.text(LEFT, top + 110, "a row is 3,072 bytes: each lane is in a sector of its own", color=GREY, size=SMALL)
    for x, style, meaning in ((WIDTH - 56, "read", "used"), (WIDTH - 172, "unused", "only moved")):
        f.box(LEFT + x, top + 98, 16, 16, style)
        f.text(LEFT + x + 22, top + 110, meaning, size=SMALL)

    # side by side
    y = 252
    f.line([(16, y - 28), (704, y - 28)])
    heading(f, y, "a float a lane", "lane l: inp[n, l]", "4 sectors, 128 bytes, all used", BLUE)
    f.cells(LEFT, y + 18, WIDTH, height, [""] * LANES, "read")
    sectors(f, LEFT, y + 18, height, WIDTH / 4, 4)
    for lane in (*range(4), 8, 16, 24, 31):
        f.arrow([(lane_x(lane), y + 20 + height), (lane_x(lane), y + 64)])
    warp(f, y + 66)
    for s in range(4):
        f.text(
            LEFT + (s + 0.5) * WIDTH / 4, y + 106, f"c = {8 * s} … {8 * s + 7}", mono=True, size=SMALL, anchor="middle"
        )

    # float4
    y = 412
    f.line([(16, y - 28), (704, y - 28)])
    heading(f, y, "a float4 a lane", "lane l: inp[n, 4l … 4l+3]", "16 sectors, 512 bytes, all used", GREEN)
    f.cells(LEFT, y + 18, WIDTH, height, [""] * LANES, "read")
    sectors(f, LEFT, y + 18, height, WIDTH / 16, 16)
    for lane in (*range(4), 8, 16, 24, 31):
        f.arrow([(lane_x(lane), y + 20 + height), (lane_x(lane), y + 64)])
    warp(f, y + 66)
    for s in range(4):
        first = 4 * 8 * s
        f.text(LEFT + s * WIDTH / 4 + 2, y + 106, f"c = {first} …", mono=True, size=SMALL)
    f.text(LEFT + WIDTH, y + 106, f"{4 * LANES - 1}", mono=True, size=SMALL, anchor="end")
    per_row = C // LANES
    f.text(
        LEFT,
        y + 134,
        f"a row of {C} floats is {C * FLOAT // SECTOR} sectors: {per_row} loads with a float a lane, "
        f"{per_row // 4} with a float4",
        color=GREY,
        size=SMALL,
    )
    return f


def main() -> None:
    figure().write(PATH)


if __name__ == "__main__":
    main()
