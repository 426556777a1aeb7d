# SPDX-License-Identifier: MIT
"""Lesson 19: a lane's four scores are its part of the next product's factor, with keys in another order."""

from draw import BLUE, GREEN, GREY, ORANGE, SMALL, Figure

PATH = "lessons/19_tf32_attention/figure.svg"

ROWS, KEYS, CHANNELS = 16, 8, 8
LANE = 9
KEY_OF_SLOT = (0, 2, 4, 6, 1, 3, 5, 7)


def matrix(f, x, y, cell, size, lane_at, style):
    """A grid whose squares have their lane's number; those of LANE are drawn in `style`."""
    for row in range(size[0]):
        for column in range(size[1]):
            lane = lane_at(row, column)
            mine = lane == LANE
            f.box(x + column * cell, y + row * cell, cell, cell, style if mine else "memory", stroke=1.5 if mine else 1)
            f.text(x + (column + 0.5) * cell, y + (row + 0.5) * cell + 5, str(lane), anchor="middle", size=SMALL)


def figure() -> Figure:
    f = Figure(
        560,
        "Scores become a factor in the registers where they are",
        "Of 16 queries and 8 keys a warp has summed the scores: lane 9, g = 2 and q = 1, holds rows 2 and 10 at keys 2 "
        "and 3. As a factor of the next product it must hold slots 1 and 5 of rows 2 and 10. If slot 1 is key 2 and "
        "slot 5 is key 3, the weights are in place: x[0], x[1], x[2], x[3] of the scores are x[0], x[2], x[1], x[3] "
        "of the factor. The values are taken in the same order: slots 0 to 7 are keys 0, 2, 4, 6, 1, 3, 5, 7.",
    )
    g, q = LANE // 4, LANE % 4
    cell, top = 22, 84
    sx, wx, vx = 48, 264, 478
    parts = (
        (sx, "scores, then weights", "columns are keys", (ROWS, KEYS), "written"),
        (wx, "the same, as a factor", "columns are slots", (ROWS, KEYS), "read"),
        (vx, "values", "rows are slots", (KEYS, CHANNELS), "kept"),
    )
    lanes = (lambda r, k: 4 * (r % 8) + k // 2, lambda r, s: 4 * (r % 8) + s % 4, lambda s, n: 4 * n + s % 4)
    for (x, name, what, size, style), lane_at in zip(parts, lanes, strict=True):
        f.text(x, 26, name, bold=True)
        f.text(x, 46, what, size=SMALL, color=GREY)
        matrix(f, x, top, cell, size, lane_at, style)
    for row in range(ROWS):
        f.text(sx - 8, top + (row + 0.5) * cell + 5, str(row), anchor="end", size=SMALL, color=GREY)
        f.text(wx - 8, top + (row + 0.5) * cell + 5, str(row), anchor="end", size=SMALL, color=GREY)
    for slot, key in enumerate(KEY_OF_SLOT):
        color = BLUE if slot % 4 == q else GREY
        f.text(sx + (slot + 0.5) * cell, top - 8, str(slot), anchor="middle", size=SMALL, color=GREY)
        f.text(wx + (slot + 0.5) * cell, top - 8, str(slot), anchor="middle", size=SMALL, color=color)
        f.text(wx + (slot + 0.5) * cell, top + ROWS * cell + 18, str(key), anchor="middle", size=SMALL, color=color)
        color = ORANGE if slot % 4 == q else GREY
        f.text(vx - 8, top + (slot + 0.5) * cell + 5, str(slot), anchor="end", size=SMALL, color=color)
        f.text(vx + CHANNELS * cell + 10, top + (slot + 0.5) * cell + 5, f"key {key}", size=SMALL, color=color)
    f.text(wx - 8, top + ROWS * cell + 18, "key", anchor="end", size=SMALL, color=GREY)
    f.text(sx - 8, top - 8, "key", anchor="end", size=SMALL, color=GREY)
    f.text(wx - 8, top - 8, "slot", anchor="end", size=SMALL, color=GREY)
    f.arrow([(sx + KEYS * cell + 6, top + 2.5 * cell), (wx - 30, top + 2.5 * cell)])

    y = top + 11 * cell
    f.text(vx - 20, y, f"lane {LANE}: g = {g}, q = {q}", bold=True)
    f.text(vx - 20, y + 24, "values", bold=True, color=ORANGE)
    for i in range(2):
        f.text(vx - 20, y + 46 + 20 * i, f"x[{i}]  key {2 * q + i}, channel {g}", mono=True, size=SMALL)
    y = top + ROWS * cell + 54
    f.text(sx - 24, y, f"lane {LANE}'s four registers", bold=True)
    for i, factor in enumerate((0, 2, 1, 3)):
        x = sx - 24 + 168 * i
        f.box(x, y + 14, 156, 48, "memory", radius=4)
        f.text(x + 78, y + 33, f"row {g + 8 * (i // 2)}, key {2 * q + i % 2}", anchor="middle", mono=True, size=SMALL)
        f.text(x + 14, y + 53, f"scores x[{i}]", size=SMALL, color=GREEN)
        f.text(x + 142, y + 53, f"= a[{factor}]", size=SMALL, color=BLUE, anchor="end")
    return f


def main() -> None:
    figure().write(PATH)


if __name__ == "__main__":
    main()
