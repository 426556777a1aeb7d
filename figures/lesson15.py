# SPDX-License-Identifier: MIT
"""Lesson 15: what the lanes of a warp read of a row of scores, what each keeps, and what the warp writes."""

from draw import BLUE, GREEN, GREY, ORANGE, SMALL, Figure

PATH = "lessons/15_online_softmax/figure.svg"

T, ROW = 1024, 630
LEFT, WIDTH = 24, 672
TURN = WIDTH / 8  # a turn of a warp: 128 floats of the 1,024
LANE = WIDTH / 32


def strip(f: Figure, y: float, style: str, labels: list[str], rest: str) -> float:
    """A row of T floats: up to column ROW in turns of a warp, then the rest. Returns where the rest begins."""
    end = LEFT + WIDTH * (ROW + 1) / T
    for turn, label in enumerate(labels):
        x = LEFT + turn * TURN
        w = min(TURN, end - x)
        f.box(x, y, w, 32, style)
        f.text(x + w / 2, y + 21, label, mono=True, size=SMALL, anchor="middle")
    f.box(end, y, LEFT + WIDTH - end, 32, "unused")
    f.text((end + LEFT + WIDTH) / 2, y + 21, rest, size=SMALL, anchor="middle")
    return end


def figure() -> Figure:
    f = Figure(
        510,
        "A warp reads row t=630 of a head's scores: 631 of 1,024",
        "A row of 1,024 scores. The first 631 are read in five turns of 128, the last turn of 119; those after token "
        "630 are not read. In a turn, lane i takes the four scores 4i to 4i + 3. Each lane keeps a maximum m and a sum "
        "d over its turns. Two reductions over the warp give the row's maximum M and sum D. The scores are read again, "
        "and 1,024 probabilities are written, zeros from column 631 on.",
    )
    f.text(LEFT, 30, "scores[b, h, t=630, :]: 631 of 1,024 are read, in five turns of a warp", bold=True)
    turns = ["0–127", "128–255", "256–383", "384–511", "512–630"]
    strip(f, 44, "read", turns, "later tokens: not read")
    f.zoom(LEFT + TURN, LEFT + 2 * TURN, 76, LEFT, LEFT + WIDTH, 112)

    def lanes(y: float, style: str) -> None:
        f.lanes(LEFT, y, LANE, [style] * 32)
        for lane in range(0, 32):
            f.text(LEFT + (lane + 0.5) * LANE, y + 15, str(lane), mono=True, size=SMALL, anchor="middle")

    lanes(112, "read")
    top = 160
    for lane in range(32):
        x = LEFT + (lane + 0.5) * LANE
        f.arrow([(x, 112 + LANE), (x, top - 2)], color=BLUE)
    lanes(top, "kept")
    f.text(
        LEFT, top + 42, "In a turn lane i takes four scores, 16 bytes: here x[128 + 4i] to x[128 + 4i + 3].", size=SMALL
    )
    f.text(
        LEFT, top + 66, "From turn to turn it keeps m, the largest x so far, and d, the sum of exp(x − m):", size=SMALL
    )
    f.text(LEFT, top + 88, "m' = max(m, its four x)", mono=True, size=SMALL, color=ORANGE)
    f.text(LEFT, top + 108, "d' = d · exp(m − m') + the four exp(x − m')", mono=True, size=SMALL, color=ORANGE)

    y = 306
    f.text(LEFT, y + 14, "The warp joins its 32 pairs into one", bold=True)
    f.box(LEFT, y + 26, WIDTH, 34, "kept", radius=4)
    f.text(
        LEFT + WIDTH / 2,
        y + 48,
        "M = the largest m          D = the sum of d · exp(m − M)",
        mono=True,
        size=SMALL,
        anchor="middle",
    )
    f.text(LEFT, 406, "att[b, h, t=630, :]: all 1,024 are written", bold=True)
    end = strip(f, 418, "written", turns, "0, without a read")
    f.text(
        (LEFT + end) / 2,
        472,
        "exp(x − M) / D, from a second read of the scores",
        size=SMALL,
        color=GREEN,
        anchor="middle",
    )
    f.text(LEFT, 494, "lse[b, h, t=630] = M + log(D), one float", size=SMALL, color=GREY)
    return f


def main() -> None:
    figure().write(PATH)


if __name__ == "__main__":
    main()
