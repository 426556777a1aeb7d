# SPDX-License-Identifier: MIT
"""PyTorch's errors by op and precision, in units of the floor of reference/BUDGET.md, and how much of the budget the
learner's ops use."""

from __future__ import annotations

import json

import numpy as np
from matplotlib import style
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from safetensors import safe_open
from torch import Tensor

from figures import draw
from reference.dump.pytorch_error import precision_mode
from reference.gpu.tools import ToolError
from reference.model.gpt2 import matmul
from reference.ops import OPS
from reference.plots.roofline import STYLE
from reference.timings import results

CASES = results.ROOT / "reference/cases"
# Marker, colour and size: equal errors lie inside each other.
LOOKS = {"fp32": ("o", draw.BLUE, 13), "tf32": ("s", draw.GREEN, 8), "bf16": ("D", draw.ORANGE, 6)}
OF_ROWS = ("_mean", "_rstd", "lse", ".mean", ".rstd")  # a value for each row


def budgets() -> dict:
    return json.loads((CASES / "budgets.json").read_text())


def local_ratios() -> dict[str, dict[str, float]]:
    """Each op's error, from float64's exact inputs: by output and precision the largest over cases, rows and draws. An
    output in other units in tf32 and bf16, of the floor over the root of its terms, says so."""
    named = {}
    for output, ratios in budgets()["local"].items():
        has_terms = OPS[output.split(".")[0]].terms is not None
        named[f"{output} *" if has_terms else output] = ratios
    return named


def chained_ratios() -> dict[str, dict[str, float]]:
    """The activations of a model of two layers, whose errors add up: in the order of the forward pass."""
    return {name: ratios for name, ratios in budgets()["chained"].items() if not name.endswith(OF_ROWS)}


def errors_of_matmul(where: str) -> tuple[dict[str, np.ndarray], dict[str, float]]:
    """By precision each element's error in floors of its row, of the product that makes the activation `where` in the
    case `odd`; and the budget in the same units."""
    with safe_open(CASES / "odd.safetensors", "pt") as file:
        (call,) = (call for call in json.loads(file.metadata()["calls"]) if call["where"] == where)
        inp, weight, bias = (file.get_tensor(call["args"][name]) for name in ("inp", "weight", "bias"))
        exact = matmul(inp.double(), weight.double(), bias.double())
        floor = file.get_tensor(f"floor/{where}").double()
    stored = budgets()
    terms = OPS[call["op"]].terms(inp, weight, bias)
    errors, allowed = {}, {}
    for precision in LOOKS:
        with precision_mode(precision):
            out: Tensor = matmul(inp, weight, bias)
        errors[precision] = ((out.double() - exact).abs() / floor.unsqueeze(-1)).flatten().numpy()
        ratio = max(stored["local"][f"{call['op']}.out"][precision], 1.0)
        allowed[precision] = stored["k"][precision] * ratio / (1 if precision == "fp32" else terms**0.5)
    return errors, allowed


def budget_used() -> list[tuple[str, float, str]]:
    """Of each op's newest check its name, the share of the budget, and whose file it was."""
    rows = [
        (f"{lesson} {op}, {device}", row["budget_used"], results.whose(row))
        for (lesson, op, device), row in results.newest("budget_used").items()
        if row["verdict"] in ("ok", "SLOW")
    ]
    if not rows:
        raise ToolError("no check of yours has passed yet; in a terminal: make check-lesson01")
    return rows


# ---- pictures --------------------------------------------------------------------------------------------------------


def draw_ratios(ax: Axes, ratios: dict[str, dict[str, float]]) -> None:
    for y, of_output in enumerate(ratios.values()):
        ax.plot([min(of_output.values()), max(of_output.values())], [y, y], color=draw.PALE, linewidth=4, zorder=1)
    for precision, (marker, color, size) in LOOKS.items():
        values = [of_output[precision] for of_output in ratios.values()]
        ax.plot(values, range(len(values)), marker, color=color, label=precision, markersize=size, zorder=2)
    ax.axvline(1, color=draw.INK, linewidth=1)
    ax.set(xscale="log", ylim=(len(ratios) - 0.4, -0.6), xlabel="largest error in floors")
    ax.set_yticks(range(len(ratios)), list(ratios))
    ax.grid(visible=False, axis="y")
    ax.legend(loc="lower center", bbox_to_anchor=(0.5, 1), ncols=3, handletextpad=0)


def by_op() -> Figure:
    ratios = local_ratios()
    with style.context(STYLE):
        figure = Figure(figsize=(10, 1.6 + 0.36 * len(ratios)))
        FigureCanvasAgg(figure)
        draw_ratios(figure.add_subplot(), ratios)
        figure.tight_layout()
        return figure


def through_the_model() -> Figure:
    ratios = chained_ratios()
    with style.context(STYLE):
        figure = Figure(figsize=(10, 1.6 + 0.33 * len(ratios)))
        FigureCanvasAgg(figure)
        draw_ratios(figure.add_subplot(), ratios)
        figure.tight_layout()
        return figure


def spread(where: str) -> Figure:
    """How often an error is how large."""
    errors, allowed = errors_of_matmul(where)
    with style.context(STYLE):
        figure = Figure(figsize=(10, 4.8))
        FigureCanvasAgg(figure)
        ax = figure.add_subplot()
        bins = np.geomspace(1e-3, 1e6, 91)
        for precision, (_, color, _) in LOOKS.items():
            share, edges = np.histogram(errors[precision], bins)
            ax.stairs(100 * share / errors[precision].size, edges, color=color, linewidth=2)
            ax.axvline(allowed[precision], color=color, linestyle=":", linewidth=2)
            middle = float(np.median(errors[precision]))
            most = 100 * share.max() / errors[precision].size
            ax.text(middle, most + 0.4, precision, color=color, ha="center", weight="bold")
            words = f" {precision}'s\n budget"
            ax.text(allowed[precision], 1, words, color=color, va="top", transform=ax.get_xaxis_transform())
        ax.set(xscale="log", xlabel="error in floors of the row", ylabel="% of the elements", ylim=(0, None))
        ax.set_ylim(top=1.2 * ax.get_ylim()[1])
        ax.set_title(f"the product that makes {where}, case odd")
        figure.tight_layout()
        return figure


def used() -> Figure:
    rows = budget_used()
    with style.context(STYLE):
        figure = Figure(figsize=(10, 1.5 + 0.33 * len(rows)))
        FigureCanvasAgg(figure)
        ax = figure.add_subplot()
        for y, (_, share, whose) in enumerate(rows):
            ax.barh(y, share, height=0.6, color=draw.BLUE if whose == "yours" else draw.LINE)
            ax.text(share + 0.01, y, f"{100 * share:.0f}% ({whose})", va="center")
        ax.axvline(1, color=draw.INK, linewidth=1)
        ax.set(xlim=(0, 1.05), ylim=(len(rows) - 0.4, -0.6), xlabel="largest error, as a share of the budget")
        ax.set_yticks(range(len(rows)), [name for name, _, _ in rows])
        ax.grid(visible=False, axis="y")
        figure.tight_layout()
        return figure
