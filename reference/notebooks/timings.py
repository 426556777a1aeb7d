# SPDX-License-Identifier: MIT
"""The learner's times beside those of recorded machines, each as a share of its own machine's roof."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from matplotlib import style
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from figures import draw
from reference.gpu.tools import ToolError, digits, read_reports
from reference.plots.roofline import STYLE
from reference.timings import results
from reference.timings.compare import ROOFS, recorded

RIVALS = {**ROOFS, "library": "of the library", "solution": "of the solution"}  # the first that a time is beside


@dataclass(frozen=True)
class Timed:
    """An op at one shape: what share of the rival's speed the learner has, and recorded machines' solutions."""

    name: str
    rival: str
    milliseconds: float
    share: float
    interval: tuple[float, float]
    whose: str
    references: dict[str, float]  # by machine; empty where the rival is the solution, which each has all of


def all_timed() -> list[Timed]:
    """Of each lesson, op and device the newest times at the shapes that are judged, or at all where none is."""
    reports, found = read_reports(results.ROOT, "cpu", "gpu"), []
    for (lesson, op, _), row in results.newest("timing").items():
        others = recorded(reports, lesson).get(op, {})
        shapes = row["timing"]["shapes"]
        for shape in [one for one in shapes if one["judged"]] or shapes:
            beside = shape["of_speed_of"]
            rival = next(name for name in RIVALS if name in beside)
            references = {
                machine: one["of_speed_of"][rival]["share"]
                for machine, timing in others.items()
                for one in timing["shapes"]
                if one["shape"] == shape["shape"] and rival in one["of_speed_of"] and rival != "solution"
            }
            low, high = beside[rival]["interval"]
            found.append(
                Timed(f"{lesson} {op}, {shape['shape']}", rival, shape["median_ms"], beside[rival]["share"],
                      (low, high), results.whose(row), references)
            )  # fmt: skip
    if not found:
        raise ToolError("nothing of yours is timed yet; in a terminal: make time-lesson01")
    return found


def draw_times(ax: Axes, rows: list[Timed], machines: list[str]) -> None:
    for y, row in enumerate(rows):
        ax.barh(y, min(row.share, 1.2), height=0.56, color=draw.BLUE if row.whose == "yours" else draw.BLUE_PALE)
        ax.plot(np.clip(row.interval, 0, 1.2), [y, y], color=draw.INK, linewidth=1.5)
        for machine, share in row.references.items():
            ax.plot(min(share, 1.2), y, MARKS[machines.index(machine) % len(MARKS)], color=draw.ORANGE, zorder=3)
        words = f"{digits(row.milliseconds)} ms, {100 * row.share:.0f}% {RIVALS[row.rival]}"
        ax.text(1.25, y, words, va="center")


MARKS = ("D", "o", "s", "^", "v", "P")


def beside() -> Figure:
    rows = all_timed()
    machines = sorted({machine for row in rows for machine in row.references})
    head, foot, line = 40 + 22 * len(machines), 56, 26
    height = head + foot + line * len(rows)
    with style.context(STYLE):
        figure = Figure(figsize=(10, height / 72))
        FigureCanvasAgg(figure)
        ax = figure.add_axes((0.42, foot / height, 0.56, line * len(rows) / height))
        draw_times(ax, rows, machines)
        ax.axvline(1, color=draw.INK, linewidth=1)
        ax.set_yticks(range(len(rows)), [row.name for row in rows])
        ax.set(xlim=(0, 2.4), ylim=(len(rows) - 0.4, -0.6))
        ax.set_xlabel("share of that speed", loc="left")
        ax.set_xticks([0, 0.5, 1], ["0", "50%", "100%"])
        ax.grid(visible=False, axis="y")
        whose = {"yours": draw.BLUE, "solution": draw.BLUE_PALE}
        handles = [
            Line2D([], [], marker="s", color=color, linestyle="none", markersize=12, label=f"{name}, here")
            for name, color in whose.items()
            if any(row.whose == name for row in rows)
        ]
        handles += [
            Line2D(
                [], [], marker=MARKS[i % len(MARKS)], color=draw.ORANGE, linestyle="none", label=f"solution, {machine}"
            )
            for i, machine in enumerate(machines)
        ]
        figure.legend(handles=handles, loc="upper left", bbox_to_anchor=(0.01, 1), ncols=1, handletextpad=0.2)
        return figure
