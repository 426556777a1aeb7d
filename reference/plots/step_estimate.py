# SPDX-License-Identifier: MIT
"""`make estimate STEP=09`: what each op of a step's forward pass takes at least, and its limit, card by card."""

from __future__ import annotations

import argparse
import sys
import textwrap
from pathlib import Path

from reference.gpu import estimates
from reference.gpu.counts import Step
from reference.gpu.estimates import Estimate, OnCard
from reference.gpu.tools import Parser, run_main
from reference.plots.roofline import asked_shape, shape_options
from reference.plots.waterfall import amount, keys_of, numbered_name, shown_step, steps_of

CARDS = "T4,RTX-4090,H100-SXM"
CARD_WIDTH = 15


def row(name: str, launches: str, cells: list[str]) -> str:
    return f"{name:<27}{launches:>8}" + "".join(f"{cell:>{CARD_WIDTH}}" for cell in cells)


def cell(estimate: Estimate, calls: int) -> str:
    """ "12.3 L2     "."""
    return f"{amount(1e3 * calls * estimate.seconds)} {estimates.SHORT[estimate.limit]:<7}"


def as_text(title: str, step: Step, cards: list[OnCard]) -> str:
    lines = [f"one forward pass of {title}, with its loss, by step {step.number}"]
    lines += ["counted, not measured: ms at least, and the limit", ""]
    lines.append(row("", "launches", [f"{card.name.removeprefix('GeForce '):<12}" for card in cards]))
    for call, number in step.calls.items():
        of = [card.of[call, step.files[call.op]] for card in cards]
        lines.append(row(numbered_name(call, number), f"{number * of[0].issued}", [cell(one, number) for one in of]))
    totals = [sum(n * card.of[call, step.files[call.op]].seconds for call, n in step.calls.items()) for card in cards]
    lines.append(row("all", "", [f"{amount(1e3 * total)} {'':<7}" for total in totals]))
    if band := cards[0].band:
        lines += ["", *textwrap.wrap(f"{band} (checker/simt/ESTIMATES.md)", 80)]
    return "\n".join(line.rstrip() for line in lines)


def run(options: argparse.Namespace) -> int:
    asked = asked_shape(options.config, options.B, options.T)
    step = shown_step(steps_of(Path(), asked), options.step)
    cards = estimates.of_calls(Path(), keys_of([step]), options.card or CARDS)
    print(as_text(asked.title, step, cards))
    return 0


def main(arguments: list[str] | None = None) -> int:
    parser = Parser("estimate", __doc__)
    shape_options(parser)
    parser.add_argument("--step", help="of which step; the newest unless given")
    parser.add_argument("--card", help=f"cards of reference/cards.toml, with commas; {CARDS} unless given")
    options = parser.parse_args(arguments)
    return run_main("estimate", lambda: run(options), status=2)


if __name__ == "__main__":
    sys.exit(main())
