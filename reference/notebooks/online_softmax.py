# SPDX-License-Identifier: MIT
"""Online softmax on rows of lesson 15's own tensors, as its page has it: m the maximum of the scores seen so far, d
the sum of exp(x - m) over them."""

from __future__ import annotations

import json
from dataclasses import dataclass

import numpy as np
from matplotlib import style
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from safetensors import safe_open

from figures import draw
from reference.gpu.tools import digits
from reference.plots.roofline import STYLE
from reference.timings.results import ROOT

CASE = ROOT / "reference/cases/lesson15.safetensors"
NAME = "op_online"
LANES = 32
FLOATS = 4  # that a lane reads at once


@dataclass(frozen=True)
class Steps:
    """Of a row x: m and d after each score, and the sum of exp(x - maximum) that a second pass would have there."""

    x: np.ndarray
    m: np.ndarray
    d: np.ndarray
    two_pass: np.ndarray

    @property
    def rescaled(self) -> np.ndarray:
        """Where the maximum rises over scores that were summed."""
        return 1 + np.flatnonzero(np.diff(self.m) > 0)


def rows() -> np.ndarray:
    """Scaled scores (T, T), of which row t has t + 1, in float32."""
    with safe_open(CASE, "np") as file:
        (call,) = (call for call in json.loads(file.metadata()["calls"]) if call["case"] == NAME)
        return np.float32(call["scalars"]["scale"]) * file.get_tensor(call["args"]["scores"])[0, 0]


def steps(x: np.ndarray) -> Steps:
    """In the numbers' own precision."""
    m, d = np.empty_like(x), np.empty_like(x)
    largest, total = np.finfo(x.dtype).min, x.dtype.type(0)
    for i, score in enumerate(x):
        new = max(largest, score)
        total = total * np.exp(largest - new) + np.exp(score - new)
        m[i], d[i], largest = new, total, new
    return Steps(x, m, d, np.cumsum(np.exp(x - x.max()), dtype=x.dtype))


def lanes(x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """(m, d) of each lane of a warp, which reads 4 scores, then the 4 that are 128 further on. A lane without scores
    has the pair that adds nothing."""
    m = np.full(LANES, np.finfo(x.dtype).min, x.dtype)
    d = np.zeros(LANES, x.dtype)
    owner = np.arange(x.size) // FLOATS % LANES
    for lane in np.unique(owner):
        of_lane = steps(x[owner == lane])
        m[lane], d[lane] = of_lane.m[-1], of_lane.d[-1]
    return m, d


def merged(m: np.ndarray, d: np.ndarray) -> tuple[np.floating, np.floating]:
    """The pair of all lanes together."""
    largest = m.max()
    return largest, (d * np.exp(m - largest)).sum()


def errors_of_d() -> tuple[np.ndarray, dict[str, np.ndarray]]:
    """Each row's length, and by way of summing the relative error of its float32 sum, in units of u = 2^-24."""
    scaled = rows()
    found: dict[str, list[float]] = {"online": [], "online, 32 lanes merged": [], "two passes": []}
    for t, row in enumerate(scaled):
        x = row[: t + 1]
        one = steps(x)
        exact = steps(x.astype(np.float64)).two_pass[-1]
        for errors, d in zip(found.values(), (one.d[-1], merged(*lanes(x))[1], one.two_pass[-1]), strict=True):
            errors.append(abs(float(d) / exact - 1) * 2.0**24)
    return np.arange(1, len(scaled) + 1), {way: np.array(errors) for way, errors in found.items()}


# ---- pictures --------------------------------------------------------------------------------------------------------


def walk(t: int) -> Figure:
    """Scores and running maximum of row t, and below both sums."""
    one = steps(rows()[t, : t + 1])
    at = np.arange(t + 1)
    with style.context(STYLE):
        figure = Figure(figsize=(10, 7.6))
        FigureCanvasAgg(figure)
        above, below = figure.subplots(2, 1, sharex=True)
        above.plot(at, one.x, "o", color=draw.LINE, markersize=5, label="scaled score x")
        above.step(at, one.m, where="post", color=draw.BLUE, label="m, the maximum so far")
        above.plot(one.rescaled, one.m[one.rescaled], "D", color=draw.ORANGE, markersize=7, label="m rises")
        above.legend(loc="upper left", ncols=3)
        above.set(ylim=(one.x.min() - 0.5, one.x.max() + 3))
        above.set_title(f"row t={t} of lesson 15's tensors: {t + 1} scores, m rises {one.rescaled.size} times")
        below.step(at, one.d, where="post", color=draw.BLUE, label="d, the online sum of exp(x − m)")
        second = {"color": draw.GREY, "linestyle": "--", "label": "two passes: exp(x − maximum)"}
        below.step(at, one.two_pass, where="post", **second)
        below.plot(one.rescaled, one.d[one.rescaled], "D", color=draw.ORANGE, markersize=7, label="d is rescaled")
        below.annotate(
            f"both {digits(float(one.d[-1]))}", (t, one.d[-1]), (8, 0), textcoords="offset points", va="center"
        )
        below.legend(loc="upper left")
        below.set(xlabel="scores read", ylim=(0, 1.45 * one.d.max()), xlim=(-2, 1.09 * t))
        figure.tight_layout()
        return figure


def merge(t: int) -> Figure:
    """Each lane's own sum, and what of it the warp's maximum leaves."""
    x = rows()[t, : t + 1]
    m, d = lanes(x)
    largest, total = merged(m, d)
    with style.context(STYLE):
        figure = Figure(figsize=(10, 6.4))
        FigureCanvasAgg(figure)
        above, below = figure.subplots(2, 1, sharex=True, height_ratios=(1, 1.2))
        above.bar(range(LANES), m, width=0.8, color=draw.BLUE_PALE, edgecolor=draw.BLUE)
        above.axhline(largest, color=draw.INK, linewidth=1)
        above.text(LANES + 3, largest, f"M = {digits(float(largest))}", va="bottom", ha="right")
        above.set_title(f"m of each lane, row t={t}")
        below.bar(range(LANES), d, width=0.8, color="#ffffff", edgecolor=draw.GREY, label="d of the lane")
        below.bar(range(LANES), d * np.exp(m - largest), width=0.8, color=draw.BLUE, label="d · exp(m − M)")
        below.legend(loc="upper left", ncols=2)
        below.set(xlabel="lane", ylim=(0, 1.25 * d.max()), xlim=(-0.7, LANES + 3))
        below.set_title(f"what the lanes add up: D = {digits(float(total))}")
        below.set_xticks([*range(0, LANES, 8), LANES - 1])
        for ax in (above, below):
            ax.grid(visible=False, axis="x")
        figure.tight_layout()
        return figure


def errors() -> Figure:
    """Of each row's d, by way of summing."""
    length, found = errors_of_d()
    with style.context(STYLE):
        figure = Figure(figsize=(10, 5))
        FigureCanvasAgg(figure)
        ax = figure.add_subplot()
        looks = (("o", draw.BLUE), ("D", draw.ORANGE), ("x", draw.INK))
        for (way, of_rows), (marker, color) in zip(found.items(), looks, strict=True):
            name = f"{way}: {digits(of_rows.max())} at most, {digits(of_rows.mean())} on average"
            ax.plot(length, of_rows, marker, color=color, markersize=5, label=name)
        ax.set(xlabel="scores in the row", ylabel="relative error of d, in units of 2⁻²⁴", ylim=(0, None))
        ax.set_ylim(top=1.45 * ax.get_ylim()[1])
        ax.set_title("the sum in float32 beside the same sum in float64")
        ax.legend(loc="upper left", handletextpad=0.2)
        figure.tight_layout()
        return figure
