# SPDX-License-Identifier: MIT
"""One forward pass by step: the bars and numbers of `make waterfall`."""

from __future__ import annotations

from matplotlib.figure import Figure

from reference.plots import waterfall as by_step
from reference.plots.roofline import asked_shape
from reference.timings import results


def waterfall(config: str = "124M", B: int = 4, T: int = 1024, card: str | None = None) -> Figure:
    """From recorded times of a GPU, else (or on a card that is named) the counted limit."""
    return by_step.plot(by_step.read(results.ROOT, asked_shape(config, str(B), str(T)), card=card))


def ops(config: str = "124M", B: int = 4, T: int = 1024, card: str | None = None) -> str:
    """The newest step's calls, all of a kind together."""
    found = by_step.read(results.ROOT, asked_shape(config, str(B), str(T)), card=card)
    return "\n".join(by_step.op_table(found, found.passes[-1]))
