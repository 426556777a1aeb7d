# SPDX-License-Identifier: MIT
"""Lesson 15: the maximum m and the sum d of the scores 1, 3, 2, 5, 4, as they move from score to score."""

from math import exp

from draw import BLUE, GREY, ORANGE, SMALL, Figure

PATH = "lessons/15_online_softmax/figure.svg"

SCORES = (1, 3, 2, 5, 4)
LEFT, TURN = 132, 112  # left edge of the first score's column, and the width of a column
MAX_0, MAX_STEP = 190, 26  # the height at which m is 0, and one unit of it
SUM_0, SUM_STEP = 448, 84
BAR = 40


def steps() -> list[tuple[float, float, float, float, float]]:
    """Returns for each score m', the factor exp(m - m'), the old d, what is left of it, and exp(x - m')."""
    found = []
    largest, total = float("-inf"), 0.0
    for x in SCORES:
        new = max(largest, float(x))
        factor, term = exp(largest - new), exp(x - new)
        found.append((new, factor, total, total * factor, term))
        largest, total = new, total * factor + term
    return found


def maximum(f: Figure) -> None:
    f.text(24, 34, "m, the largest score so far: a staircase that only rises", bold=True)
    points: list[tuple[float, float]] = []
    for i, (x, (m, *_)) in enumerate(zip(SCORES, steps(), strict=True)):
        left, y = LEFT + i * TURN, MAX_0 - m * MAX_STEP
        points += [(left, y), (left + TURN, y)]
        middle = left + TURN / 2
        f.box(middle - 5, MAX_0 - x * MAX_STEP - 5, 10, 10, "read", stroke=1.5)
        f.text(middle, MAX_0 + 20, f"x = {x}", anchor="middle", mono=True)
        above = y - 9
        f.text(left + TURN - 6, above, f"m = {m:.0f}", anchor="end", mono=True, size=SMALL, color=ORANGE)
    f.line([(LEFT, MAX_0), (LEFT + 5 * TURN, MAX_0)])
    f.line(points, color=ORANGE, width=2.5)
    f.text(24, MAX_0 - 60, "score x:", size=SMALL)
    f.text(24, MAX_0 - 44, "a square", size=SMALL, color=BLUE)
    f.text(24, MAX_0 - 20, "m: the line", size=SMALL, color=ORANGE)


def total(f: Figure) -> None:
    f.text(24, 252, "d, the sum of exp(x − m). If m rises, the old d times exp(m − m') is left", bold=True)
    for i, (_, factor, old, left_of_it, term) in enumerate(steps()):
        left = LEFT + i * TURN
        middle = left + TURN / 2
        x = middle - BAR / 2
        if i:
            y = SUM_0 - old * SUM_STEP
            f.line([(left - TURN / 2 + BAR / 2, y), (x + BAR, y), (x + BAR, SUM_0)], dashed=True, color=GREY)
            f.line([(x, y), (x, SUM_0)], dashed=True, color=GREY)
            f.box(x, SUM_0 - left_of_it * SUM_STEP, BAR, left_of_it * SUM_STEP, "kept", stroke=1.5)
            f.text(middle, SUM_0 + 20, f"d · {factor:.4f}", anchor="middle", mono=True, size=SMALL, color=ORANGE)
        top = SUM_0 - (left_of_it + term) * SUM_STEP
        f.box(x, top, BAR, term * SUM_STEP, "read", stroke=1.5)
        f.text(middle, 278, f"d = {left_of_it + term:.4f}", anchor="middle", mono=True, size=SMALL)
        f.text(middle, SUM_0 + 40, f"+ {term:.4f}", anchor="middle", mono=True, size=SMALL, color=BLUE)
    f.line([(LEFT, SUM_0), (LEFT + 5 * TURN, SUM_0)])
    f.text(24, SUM_0 - 96, "dashed: the", size=SMALL, color=GREY)
    f.text(24, SUM_0 - 80, "d before", size=SMALL, color=GREY)
    f.text(24, SUM_0 + 20, "what is left", size=SMALL, color=ORANGE)
    f.text(24, SUM_0 + 40, "exp(x − m')", size=SMALL, color=BLUE)


def figure() -> Figure:
    ends = [left_of_it + term for _, _, _, left_of_it, term in steps()]
    f = Figure(
        508,
        "The maximum and the sum of the scores 1, 3, 2, 5, 4, from score to score",
        "Above: the scores 1, 3, 2, 5, 4 one after another, and m, the largest so far: 1, 3, 3, 5, 5. Below: d, the "
        f"sum of exp(x - m), after each score: {', '.join(f'{d:.4f}' for d in ends)}. At 3 and at 5 m rises by 2, and "
        "what was summed before is multiplied by exp(-2) = 0.1353; at 2 and at 4 m stays, and the old sum with it. "
        "Each score adds exp(x - m').",
    )
    maximum(f)
    total(f)
    return f


def main() -> None:
    figure().write(PATH)


if __name__ == "__main__":
    main()
