# SPDX-License-Identifier: MIT
"""Lesson 10: what is in shared memory over time, with one stage and with two."""

from draw import BLUE, GREEN, GREY, INK, ORANGE, SMALL, Figure

PATH = "lessons/10_double_buffered_matmul/figure.svg"

STEP, TURNS = 16, 4  # channels of a stage; turns of the loop that are drawn


def channels(turn):
    return f"{turn * STEP} … {turn * STEP + STEP - 1}"


def bar(f, x, y, w, what, turn):
    """A stretch of time in which a stage is copied into or summed."""
    f.box(x, y, w, 40, "read" if what == "copy" else "written")
    f.text(x + w / 2, y + 17, what, anchor="middle", size=SMALL, bold=True, color=BLUE if what == "copy" else GREEN)
    f.text(x + w / 2, y + 33, channels(turn), anchor="middle", size=SMALL, color=INK)


def figure() -> Figure:
    f = Figure(
        474,
        "One stage and two stages over time",
        "With one stage a block copies 16 channels, waits at a barrier, sums them, waits at a barrier, and repeats: "
        "copies and sums take turns. With two stages the copies of the next 16 channels go into one stage while the "
        "other is summed, and there is one barrier per turn: after it the stage that was copied into is whole, and the "
        "stage that was summed may be overwritten.",
    )
    left, copy, add = 112, 86, 104

    # one stage
    f.text(24, 30, "one stage, two barriers per turn (lesson 09)", bold=True)
    y, x = 76, left
    f.text(left + copy + 2.5, y - 19, "barrier", anchor="middle", size=SMALL, color=ORANGE)
    f.text(24, y + 25, "the tiles", size=SMALL, color=GREY)
    for turn in range(3):
        bar(f, x, y, copy, "copy", turn)
        bar(f, x + copy + 5, y, add, "sum", turn)
        for at in (x + copy + 2.5, x + copy + add + 7.5):
            f.line([(at, y - 14), (at, y + 54)], color=ORANGE, width=2)
        x += copy + add + 10
    f.text(left, y + 74, "While it copies, a block multiplies nothing: it waits for its loads.", size=SMALL, color=GREY)

    # two stages
    f.text(24, 192, "two stages, one barrier per turn", bold=True)
    y = 236
    for row in range(2):
        f.text(24, y + row * 52 + 25, f"stage {row}", mono=True, size=SMALL, color=GREY)
    x = left
    bar(f, x, y, copy, "copy", 0)
    x += copy
    barriers = []
    for turn in range(TURNS):
        barriers.append(x + 2.5)
        f.line([(x + 2.5, y - 14), (x + 2.5, y + 106)], color=ORANGE, width=2)
        bar(f, x + 5, y + turn % 2 * 52, add, "sum", turn)
        bar(f, x + 5, y + (turn + 1) % 2 * 52, copy, "copy", turn + 1)
        f.text(x + 5 + add / 2, y - 20, f"turn {turn}", anchor="middle", size=SMALL, color=GREY)
        x += add + 5
    f.text(left, y + 130, "time →", size=SMALL, color=GREY)
    f.text(696, y + 130, "numbers are channels; lengths are not to scale", size=SMALL, color=GREY, anchor="end")

    # what the barrier says
    at = barriers[1]
    f.arrow([(at, y + 164), (at, y + 110)])
    f.text(left, y + 182, "After this barrier", size=SMALL, bold=True, color=ORANGE)
    f.text(left, y + 201, "stage 1 is whole: every thread has waited for its copies;", size=SMALL)
    f.text(left, y + 219, "stage 0 is free: every thread has summed it, so the next copies may start.", size=SMALL)
    return f


def main() -> None:
    figure().write(PATH)


if __name__ == "__main__":
    main()
