# SPDX-License-Identifier: MIT
"""GPT-2's ops under a card's roof: the numbers of `make roofline`."""

from __future__ import annotations

from matplotlib import style
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.patches import Patch

from figures import draw
from reference.plots import roofline
from reference.plots.roofline import STYLE, Chosen, duration
from reference.timings import results


def chosen(config: str, B: int, T: int, card: str | None) -> Chosen:
    return roofline.choose(config, str(B), str(T), card, results.root())


def roof(config: str = "124M", B: int = 4, T: int = 1024, card: str | None = None) -> Figure:
    """Where each op lies under the roof of this machine's GPU, where make calibrate measured it, or of a card."""
    return roofline.plot(chosen(config, B, T, card))


def table(config: str = "124M", B: int = 4, T: int = 1024, card: str | None = None) -> str:
    return roofline.table(chosen(config, B, T, card))


def times(config: str = "124M", B: int = 4, T: int = 1024, card: str | None = None) -> Figure:
    """What the calls of each op take in one forward pass, were each at the roof."""
    ops, _, of_card, title, _ = chosen(config, B, T, card)
    taken = [op.calls * of_card.seconds(op) for op in ops]
    total = sum(taken)
    looks = {"memory": {"color": draw.BLUE}, "arithmetic": {"facecolor": draw.ORANGE, "hatch": "//", "edgecolor": "w"}}
    with style.context(STYLE):
        figure = Figure(figsize=(10, 1.7 + 0.36 * len(ops)))
        FigureCanvasAgg(figure)
        ax = figure.add_subplot()
        for y, (op, seconds) in enumerate(zip(ops, taken, strict=True)):
            ax.barh(y, 1e3 * seconds, height=0.64, **looks[of_card.bound(op)])
            share = 100 * seconds / total
            words = f"{duration(seconds)}, {f'{share:.1f}' if share >= 0.05 else 'less than 0.1'}%"
            ax.text(1e3 * (seconds + max(taken) / 90), y, words, va="center")
        ax.set_yticks(range(len(ops)), [f"{op.calls} × {op.name}" for op in ops])
        ax.set(xlim=(0, 1.3e3 * max(taken)), ylim=(len(ops) - 0.4, -0.6), xlabel="ms at the roof")
        ax.set_title(f"{title}: {duration(total)} in all\n{of_card.name} ({of_card.kind})")
        ax.grid(visible=False, axis="y")
        handles = [Patch(label=f"{bound} is the bound", **look) for bound, look in looks.items()]
        ax.legend(handles=handles, loc="lower right")
        figure.tight_layout()
        return figure
