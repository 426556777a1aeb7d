# SPDX-License-Identifier: MIT
"""`make waterfall`: one forward pass by step and by op, as text and as results/waterfall.svg and .png.

From what a GPU's report has timed, or, where there is none, from what each step's own kernels take at least on a card
(reference/gpu/estimates.py). A sum that has an estimate in it is marked by ~ and has the share that was measured; the
whole pass, where it was timed as one, stands beside it. With WRITE=1 it counts what has changed into
reference/plots/estimates.json, and writes all that shows an estimate: reference/plots/waterfall.svg, and between their
markers the README, reference/LADDER.md and the lessons' pages.
"""

from __future__ import annotations

import argparse
import math
import re
import sys
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path

from matplotlib import style
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch
from matplotlib.patheffects import withStroke

from figures import draw
from reference.gpu import counts, estimates, predicted, reported
from reference.gpu.counts import Call, Key, Step
from reference.gpu.estimates import Band, Estimate
from reference.gpu.lesson_shapes import dims, implementing
from reference.gpu.pages import put
from reference.gpu.reported import NOT_TIMED, WholePass
from reference.gpu.tools import Card, Parser, ToolError, digits, read_reports, run_main, three_digits
from reference.plots import ladder, limits
from reference.plots.roofline import DEFAULT_CARD, STYLE, Asked, asked_shape, shape_options, write

PICTURE = Path("reference/plots/waterfall.svg")


# ---- what a bar is made of -------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Group:
    letter: str
    name: str
    color: str
    text: str  # the colour of words on it


GROUPS = {
    "matmul": Group("M", "matmul", draw.BLUE, "#ffffff"),
    "logits": Group("L", "logits", draw.BLUE_PALE, draw.INK),
    "attention": Group("A", "attention", draw.ORANGE, "#ffffff"),
    "rows": Group("R", "layernorm, residual, GELU", draw.GREEN, "#ffffff"),
    "loss": Group("S", "softmax, loss", draw.LINE, draw.INK),
}
GROUP_OF = {"linear": "matmul", "linear_gelu": "matmul", "attention": "attention"}
GROUP_OF |= dict.fromkeys(counts.LOSS_OPS, "loss")


def group_of(call: Call) -> str:
    """Layernorm, residual, GELU and the embedding are what is between the products."""
    if call.op == "matmul":
        return "logits" if call.null else "matmul"
    return GROUP_OF.get(call.op, "rows")


@dataclass(frozen=True)
class Bar:
    """An op's calls of one kind in a step's pass."""

    call: Call
    calls: int
    estimate: Estimate  # of one call
    measured_s: float | None = None  # one call

    @property
    def launches(self) -> int:
        """Calls of libraries among them, which may be several each."""
        return self.estimate.issued

    @property
    def seconds(self) -> float:
        return self.estimate.seconds if self.measured_s is None else self.measured_s


@dataclass(frozen=True)
class Pass:
    """A step's forward pass."""

    step: Step
    bars: tuple[Bar, ...]
    graph: bool  # its launches are replayed by one call
    whole: WholePass = NOT_TIMED

    @property
    def name(self) -> str:
        return self.step.lesson.replace("_", " ", 1)

    @property
    def launches(self) -> int:
        return sum(bar.calls * bar.launches for bar in self.bars)

    @property
    def launchable(self) -> bool:
        return all(bar.estimate.launchable for bar in self.bars)

    @property
    def by_group(self) -> dict[str, float]:
        found = dict.fromkeys(GROUPS, 0.0)
        for bar in self.bars:
            found[group_of(bar.call)] += bar.calls * bar.seconds
        return found

    @property
    def seconds(self) -> float:
        """The sum over its calls, with softmax and loss."""
        return sum(self.by_group.values())

    @property
    def logits_seconds(self) -> float:
        """The sum over its calls up to the logits."""
        return self.seconds - self.by_group["loss"]

    def estimated_in(self, group: str) -> float:
        """Returns the seconds of a group that are estimates."""
        return sum(
            bar.calls * bar.seconds for bar in self.bars if bar.measured_s is None and group_of(bar.call) == group
        )

    @property
    def longest(self) -> float:
        """The longer of the sum and of what was timed of the whole pass."""
        return max(self.seconds, self.whole.with_loss or 0, self.whole.logits or 0)

    @property
    def measured_share(self) -> float:
        """The share of `seconds` that was measured."""
        return 1 - sum(self.estimated_in(group) for group in GROUPS) / self.seconds

    @property
    def has_estimates(self) -> bool:
        return any(bar.measured_s is None for bar in self.bars)

    @property
    def has_estimates_before_loss(self) -> bool:
        return any(self.estimated_in(group) for group in GROUPS if group != "loss")

    @property
    def whole_over_sum(self) -> list[float]:
        """Ratios of the whole pass to the sum over the same calls: with the loss, without it."""
        pairs = ((self.whole.with_loss, self.seconds), (self.whole.logits, self.logits_seconds))
        return [whole / of_calls for whole, of_calls in pairs if whole is not None and not self.whole.earlier]


@dataclass(frozen=True)
class Waterfall:
    title: str  # "GPT-2 124M, B=4 T=1024"
    card: str  # "H100 SXM", of the estimates
    gpu: str | None  # whose times they are; None: all is counted
    passes: list[Pass]
    band: Band | None = None
    own_band: str = ""  # predicted.own_band

    @cached_property
    def has_estimates(self) -> bool:
        return any(one.has_estimates for one in self.passes)

    @property
    def label(self) -> str:
        """What the numbers are: in the text, the picture, the README and on the pages."""
        if self.gpu is None:
            return f"counted, not measured: the estimate for {self.card}"
        return f"{'partly ' if self.has_estimates else ''}measured on {self.gpu}"

    def up_to(self, lesson: str) -> Waterfall:
        return replace(self, passes=[one for one in self.passes if one.step.lesson <= lesson])


# ---- text ------------------------------------------------------------------------------------------------------------

COLUMNS = 36  # the width of a bar
COLUMNS_MEASURED = 19  # the width of a bar beside measurements
STEP_WIDTH = 26
FINER = 4  # a pass that takes less than a quarter of the first of its scale begins a finer one
NICE = (1, 1.5, 2, 2.5, 3, 4, 5, 6, 8, 10)


def scales(waterfall: Waterfall, passes: list[Pass]) -> list[list[Pass]]:
    """The passes in pieces that one scale shows."""
    pieces: list[list[Pass]] = []
    for one in passes:
        if not pieces or FINER * one.seconds < pieces[-1][0].seconds:
            pieces.append([])
        pieces[-1].append(one)
    return pieces


def a_character(passes: list[dict[str, float]], columns: int = COLUMNS) -> float:
    """Returns seconds: a number that is easily read, so that the bars of all passes fit. A pass is its by_group."""
    least = max(sum(one.values()) for one in passes) / columns
    power = 10 ** math.floor(math.log10(least))
    numbers = (nice * power * ten for ten in (1, 10) for nice in NICE if nice * power * ten >= least)
    return next(number for number in numbers if all(len(bar_text(one, number)) <= columns for one in passes))


def bar_text(seconds: dict[str, float], character_s: float) -> str:
    """Returns each piece rounded by itself: two bars differ in a letter only if the times of its piece differ."""
    return "".join(GROUPS[name].letter * round(piece / character_s) for name, piece in seconds.items())


def milliseconds(seconds: float | None) -> str:
    """Returns "-" for None."""
    return "-" if seconds is None else three_digits(1e3 * seconds)


def amount(value: float) -> str:
    """Three digits at most, and nothing below a hundredth."""
    return digits(value) if value >= 0.01 or not value else "<0.01"


def legend() -> str:
    return "  ".join(f"{group.letter} {group.name}" for group in GROUPS.values())


def sum_text(waterfall: Waterfall, one: Pass) -> str:
    """Returns "1,180", or "~1,180" if the sum is partly measured, and estimated for the rest."""
    return f"{'~' * (waterfall.gpu is not None and one.has_estimates)}{milliseconds(one.seconds)}"


def share_text(one: Pass) -> str:
    """Returns how much of the sum was measured: "100%" only for all of it."""
    return f"{min(99, math.floor(100 * one.measured_share))}%" if one.has_estimates else "100%"


def heads(waterfall: Waterfall) -> tuple[str, ...]:
    """Returns the lines above the columns."""
    if waterfall.gpu is None:
        return (f"{'step':<{STEP_WIDTH}}{'ms':>6} launches",)
    above = f"{'':<{STEP_WIDTH - 1}}{'sum of its calls, ms':>22}{'whole pass':>12}"
    return above, f"{'step':<{STEP_WIDTH - 1}}{'sum':>7}{'timed':>6}{'launches':>9}{'all':>6}{'no S':>6}"


def columns_of(waterfall: Waterfall, one: Pass) -> str:
    """Returns a step's name and numbers, as wide as heads()."""
    name, launches = one.name[: STEP_WIDTH - 1], "1 graph" if one.graph else one.launches
    if waterfall.gpu is None:
        return f"{name:<{STEP_WIDTH}}{milliseconds(one.seconds):>6}{launches:>9}"
    of_calls = f"{sum_text(waterfall, one):>7}{share_text(one):>6}{launches:>9}"
    return (
        f"{name:<{STEP_WIDTH - 1}}{of_calls}{whole_cell(one.whole, one.whole.with_loss)}"
        f"{whole_cell(one.whole, one.whole.logits)}"
    )


def whole_cell(whole: WholePass, seconds: float | None) -> str:
    """Returns a time of the whole pass, marked * if the step's files have changed since."""
    return f"{milliseconds(seconds) + '*' * (seconds is not None and bool(whole.earlier)):>6}"


def chart(waterfall: Waterfall, pieces: list[list[Pass]] | None = None) -> list[str]:
    """Returns the bars, each piece on a scale of its own; without pieces, those of all passes."""
    *lines, head = heads(waterfall)
    width, columns = len(head), COLUMNS if waterfall.gpu is None else COLUMNS_MEASURED
    before = 0.0
    for piece in scales(waterfall, waterfall.passes) if pieces is None else pieces:
        character = a_character([one.by_group for one in piece], columns)
        if character != before:
            lines.append(f"{head if not before else '':<{width}}  a letter is {digits(1e3 * character)} ms")
            before = character
        for one in piece:
            lines.append(f"{columns_of(waterfall, one)}  {bar_text(one.by_group, character)}".rstrip())
    return lines


def notes(waterfall: Waterfall) -> list[str]:
    """Returns what tells a sum from a measurement, in lines of at most 80 columns."""
    if waterfall.gpu is None:
        return []
    partly = "~: partly estimates; timed: the share of the sum that was measured"
    return [
        *([partly] if waterfall.has_estimates else []),
        "sum: each call timed alone, L2 cold; whole pass: one after another, L2 warm,",
        "with the gaps between launches; no S: up to the logits, without S",
        *(f"*: since then {what}" for what in since_then(waterfall)),
    ]


def since_then(waterfall: Waterfall) -> list[str]:
    """Returns what has changed since whole passes were timed, each once."""
    return list(dict.fromkeys(one.whole.earlier for one in waterfall.passes if one.whole.earlier))


SHOWN = 5  # of the last steps on a page, and the first


def block(waterfall: Waterfall) -> str:
    """What stands on the page of the last step: the first one's bar, and the last ones'."""
    passes = waterfall.passes
    if len(passes) > SHOWN + 1:
        passes = [passes[0], *passes[-SHOWN:]]
    head = f"{waterfall.title}, {waterfall.label}"
    lines = [head] if len(head) <= 80 else [waterfall.title, waterfall.label]
    # The last step and the one before it share a scale of their own, which shows what one lesson changes.
    pieces = [*scales(waterfall, passes[:-2]), *scales(waterfall, passes[-2:])]
    lines += [legend(), *chart(waterfall, pieces), *notes(waterfall)]
    return "\n".join(["```", *lines, "```", ""])


HOW = """\
Counted, not measured: the CPU device counts what each launch asks for, and nvcc says which instructions it becomes.
From these follows the least time that each resource of {card} needs for it, and
[the estimate](checker/estimate/README.md) is the longest of them{band}.

Left out are what barriers cost, what one launch leaves in L2 for the next, and what a launch costs the host. Of a
library's call only the FLOP and the bytes of its matrices are known. `make waterfall STEP=08` lists the
ops of a step, each with its limit; `CARD=RTX-4090` takes another card.
"""

HOW_MEASURED = """\
{label}. A bar is a sum: each call of a step, with softmax and loss, timed alone on data that is not in L2.{estimates}

A dark line is a measurement: the whole pass, timed as one on {gpu}. In it a launch finds in L2 what the one before it
left there, and the GPU waits between launches. "Without loss" means that the pass ends with its logits.{ratios}{since}

`make waterfall STEP=08` lists the ops of a step, each with its time and its limit; `CARD=H100-SXM` shows the estimates
alone.
"""
ESTIMATES = """ \
What is hatched was not timed: there [the estimate](checker/estimate/README.md) stands in, which is a least time{band}.
So a sum with a ~ is no measurement; the percentage says how much of it was measured.
"""
RATIOS = " The whole pass took {least} to {most} times the sum over the same calls."
SINCE = " Since the passes with a * were timed, {what}."


def flowing(text: str) -> str:
    """Returns the text with each paragraph in one line."""
    return re.sub(r"(?<!\n)\n(?!\n)", " ", text).rstrip(" \n")


def band_text(waterfall: Waterfall) -> str:
    """Returns how far estimates are off, as the end of a sentence."""
    if not waterfall.band:
        return ""
    own = f"; {waterfall.own_band} ([which](reference/predictions/README.md))" if waterfall.own_band else ""
    return f"; {waterfall.band} ([which](checker/simt/ESTIMATES.md)){own}"


def how(waterfall: Waterfall) -> str:
    """Returns what the README says of the picture."""
    if waterfall.gpu is None:
        return flowing(HOW.format(card=waterfall.card, band=band_text(waterfall)))
    ratios = [ratio for one in waterfall.passes for ratio in one.whole_over_sum]
    said = HOW_MEASURED.format(
        label=f"{waterfall.label[0].upper()}{waterfall.label[1:]}",
        gpu=waterfall.gpu,
        estimates=flowing(ESTIMATES.format(band=band_text(waterfall))) if waterfall.has_estimates else "",
        ratios=RATIOS.format(least=f"{min(ratios):.2f}", most=f"{max(ratios):.2f}") if ratios else "",
        since=SINCE.format(what="; ".join(since)) if (since := since_then(waterfall)) else "",
    )
    return flowing(said)


def in_words(waterfall: Waterfall, one: Pass) -> str:
    """Returns a step's numbers for those who do not see the picture."""
    if waterfall.gpu is None:
        return f"step {one.step.number} {milliseconds(one.seconds)} ms"
    partly = f", {share_text(one)} of it measured" if one.has_estimates else ""
    words = [f"step {one.step.number} {sum_text(waterfall, one)} ms as a sum{partly}"]
    words += [f"measured as one pass {whole}"] if (whole := whole_text(one.whole)) else []
    return ", ".join(words)


def whole_text(whole: WholePass) -> str:
    """Returns "54.2 ms, 31.2 ms without loss", of which either may be missing; with a * if files have changed since."""
    words = [f"{milliseconds(whole.with_loss)} ms"] if whole.with_loss is not None else []
    words += [f"{milliseconds(whole.logits)} ms without loss"] if whole.logits is not None else []
    return ", ".join(words) + "*" * bool(whole.earlier)


def section(waterfall: Waterfall) -> str:
    """What stands in the README."""
    ends = (waterfall.passes[0], waterfall.passes[-1])
    alternative = "; ".join(in_words(waterfall, one) for one in ends)
    return f"![One forward pass by step, {waterfall.label}: {alternative}]({PICTURE})\n\n{how(waterfall)}\n"


def numbered_name(call: Call, calls: int) -> str:
    """ " 12 matmul qkv"."""
    return f"{calls:>3} {counts.op_name(call)}"


# Of a step's table: each column is named and as wide.
COUNTED = (("launches", 9), ("memory GB", 10), ("at least ms", 12))
MEASURED = (("launches", 9), ("measured ms", 12), ("at least ms", 12))


def op_table(waterfall: Waterfall, one: Pass) -> list[str]:
    """A step's calls, all of a kind together."""
    columns = COUNTED if waterfall.gpu is None else MEASURED
    rows = [(f"step {one.step.number}, all calls", [name for name, _ in columns], "  limit")]
    for bar in one.bars:
        of_call = {
            "memory GB": amount(bar.calls * bar.estimate.memory_bytes / 1e9),
            "measured ms": "-" if bar.measured_s is None else amount(1e3 * bar.calls * bar.measured_s),
            "at least ms": amount(1e3 * bar.calls * bar.estimate.seconds),
            "launches": f"{bar.calls * bar.launches}",
        }
        limit = f"  {estimates.SHORT[bar.estimate.limit]}"
        rows.append((numbered_name(bar.call, bar.calls), [of_call[column] for column, _ in columns], limit))
    return [
        f"{name:<27}" + "".join(f"{cell:>{width}}" for cell, (_, width) in zip(cells, columns, strict=True)) + by
        for name, cells, by in rows
    ]


def as_text(waterfall: Waterfall, shown: Pass) -> str:
    lines = [f"one forward pass of {waterfall.title}, with its loss", waterfall.label, ""]
    lines += [legend(), *chart(waterfall), *notes(waterfall), "", *op_table(waterfall, shown), ""]
    lines += ["launches: of kernels, and calls of libraries"]
    if waterfall.gpu is None:
        lines += ["memory: bytes that must come from it or go to it (checker/estimate/README.md)"]
    else:
        lines += ["-: not measured, and in the bars it takes its estimate"] * shown.has_estimates
        lines += beside_whole(waterfall, shown)
    return "\n".join(lines)


def beside_whole(waterfall: Waterfall, one: Pass) -> list[str]:
    """Returns the whole pass next to the sum over the same calls, with the loss and without."""
    found = []
    for what, whole, of_calls, estimated in (
        ("with its loss", one.whole.with_loss, one.seconds, one.has_estimates),
        ("up to its logits", one.whole.logits, one.logits_seconds, one.has_estimates_before_loss),
    ):
        if whole is not None:
            of_sum = f"sum of its calls {'~' * estimated}{milliseconds(of_calls)} ms"
            found.append(f"step {one.step.number} {what}: measured as one {milliseconds(whole)} ms, {of_sum}")
    return found + ["its launches were timed as one pass, not the graph"] * (one.graph and bool(found))


# ---- the picture -----------------------------------------------------------------------------------------------------


INSIDE, INSIDE_MEASURED = 0.085, 0.12  # shares of the longest bar: a piece that is as wide has its number in it
ROW, HEAD, FOOT, AXIS = 32, 96, 48, 34  # pixels: a pass, above and below all of them, between two scales
ROW_MEASURED, KEY = 44, 18  # two lines of numbers, and what tells them apart
ROOM, ROOM_MEASURED = 1.48, 1.86  # the width of the axes, with the words beside a bar, over that of the longest bar


def draw_pass(ax: Axes, waterfall: Waterfall, one: Pass, y: float, longest_s: float) -> None:
    begin = 0.0
    for name, seconds in one.by_group.items():
        group = GROUPS[name]
        estimated = one.estimated_in(name) if waterfall.gpu is not None else 0.0
        look = {"height": 0.72, "color": group.color, "edgecolor": "#ffffff", "linewidth": 0.8}
        ax.barh(y, 1e3 * (seconds - estimated), left=1e3 * begin, **look)
        if estimated:
            ax.barh(y, 1e3 * estimated, left=1e3 * (begin + seconds - estimated), hatch="//", **look)
        if seconds > (INSIDE if waterfall.gpu is None else INSIDE_MEASURED) * longest_s:
            words = f"{'~' * bool(estimated)}{1e3 * seconds:.{0 if seconds >= 0.01 else 1 if seconds >= 0.001 else 2}f}"
            outline = [withStroke(linewidth=3, foreground=group.color)] if estimated else []
            middle = {"ha": "center", "va": "center", "path_effects": outline}
            ax.text(1e3 * (begin + seconds / 2), y, words, color=group.text, **middle)
        begin += seconds
    for whole in (one.whole.with_loss, one.whole.logits):
        if whole is not None:
            ax.plot([0, 1e3 * whole], [y + 0.45] * 2, color=draw.INK, linewidth=2.5, solid_capstyle="butt")
            ax.plot([1e3 * whole] * 2, [y + 0.27, y + 0.49], color=draw.INK, linewidth=2.5)
    ax.text(1e3 * (one.longest + 0.015 * longest_s), y, beside_bar(waterfall, one), va="center", linespacing=1.25)


def beside_bar(waterfall: Waterfall, one: Pass) -> str:
    """Returns the sum in one line, and what was measured of the whole pass in a second one."""
    total = f"{sum_text(waterfall, one)} ms"
    if waterfall.gpu is None:
        return f"{total}, {launches_text(one)}"
    partly = f" sum, {share_text(one)} timed" if one.has_estimates else " sum, timed"
    whole = whole_text(one.whole)
    return total + partly + (f"\nwhole {whole}" if whole else "")


def launches_text(one: Pass) -> str:
    return "1 graph" if one.graph else f"{one.launches} launches"


def label_of(waterfall: Waterfall, one: Pass) -> str:
    """Returns what stands before a bar."""
    return one.name if waterfall.gpu is None else f"{one.name}\n{launches_text(one)}"


def plot(waterfall: Waterfall) -> Figure:
    pieces = scales(waterfall, waterfall.passes)
    row, room = (ROW, ROOM) if waterfall.gpu is None else (ROW_MEASURED, ROOM_MEASURED)
    heights = [row * len(piece) for piece in pieces]
    head = HEAD + KEY * (waterfall.gpu is not None)
    height = head + sum(heights) + AXIS * (len(pieces) - 1) + FOOT
    with style.context(STYLE):
        figure = Figure(figsize=(10, height / 72))
        FigureCanvasAgg(figure)
        top = height - head
        for piece, tall in zip(pieces, heights, strict=True):
            ax = figure.add_axes((0.28, (top - tall) / height, 0.7, tall / height))
            top -= tall + AXIS
            longest = max(one.longest for one in piece)
            for y, one in enumerate(piece):
                draw_pass(ax, waterfall, one, y, longest)
            ax.set_yticks(range(len(piece)), [label_of(waterfall, one) for one in piece])
            ax.set_xlim(0, room * 1e3 * longest)
            ax.set_ylim(len(piece) - 0.5, -0.5)
            ax.grid(visible=False, axis="y")
            ax.tick_params(axis="y", length=0)
        ax.set_xlabel(f"milliseconds{', a scale for each block of steps' if len(pieces) > 1 else ''}")
        figure.text(0.02, 1 - 12 / height, f"{waterfall.title}: one forward pass by step", va="top", fontsize=14)
        figure.text(0.02, 1 - 32 / height, waterfall.label, va="top", fontsize=14)
        handles = [Patch(color=group.color, label=group.name) for group in GROUPS.values()]
        where = {"loc": "upper left", "bbox_to_anchor": (0.012, 1 - 54 / height), "borderaxespad": 0}
        figure.legend(handles=handles, ncols=len(handles), handlelength=1.2, columnspacing=1.2, **where)
        if waterfall.gpu is not None:
            key = [Line2D([], [], color=draw.INK, linewidth=2.5, label="the whole pass, measured as one")]
            key += [Patch(facecolor="#ffffff", edgecolor=draw.INK, hatch="//", label=HATCHED)] * waterfall.has_estimates
            where["bbox_to_anchor"] = (0.012, 1 - 78 / height)
            figure.legend(handles=key, ncols=len(key), handlelength=1.2, columnspacing=1.2, **where)
        return figure


HATCHED = "estimated: ~ in the sum"


# ---- from where ------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Times:
    """Seconds that a card's report holds."""

    gpu: str | None = None
    calls: dict[str, float] = field(default_factory=dict)  # by counts.item_name
    passes: dict[str, WholePass] = field(default_factory=dict)  # by a step's number


def times(root: Path, shape: str) -> list[Times]:
    """Returns what each report has of calls, and of whole passes at "B=4 T=1024 C=768 NH=12 L=12"."""
    found = []
    for data in read_reports(root):
        if calls := reported.call_seconds(root, data):
            found.append(Times(data["gpu"], calls, reported.pass_seconds(root, data, shape)))
    return found


def chosen_times(root: Path, shape: str, wanted: str | None, card: str | None) -> Times:
    """Returns those of the card that is wanted, or of the first card if none is named."""
    if wanted and card:
        raise ToolError("GPU=… shows recorded times, CARD=… the limits on a card: name one of them")
    recorded = {Card(one.gpu, "").slug: one for one in times(root, shape)}
    if wanted:
        if wanted not in recorded:
            known = ", ".join(recorded) or "there is none yet: on one, make gpu-report PART=waterfall measures them"
            raise ToolError(f"GPU={wanted}: no times of it are recorded; {known}")
        return recorded[wanted]
    return next(iter(recorded.values()), Times()) if not card else Times()


def passes_of(root: Path, steps: list[Step], found: dict[Key, Estimate], timed: Times) -> list[Pass]:
    passes = []
    for step in steps:
        bars = []
        for call, number in step.calls.items():
            files = step.files[call.op]
            bars.append(Bar(call, number, found[call, files], timed.calls.get(counts.item_name(files, call))))
        whole = timed.passes.get(step.number, NOT_TIMED)
        passes.append(Pass(step, tuple(bars), replays_a_graph(root, step.lesson), whole))
    return passes


def replays_a_graph(root: Path, lesson: str) -> bool:
    """Whether the step's predict, which a program asks for a pass, does."""
    files = implementing(root, lesson, "predict")
    return bool(files) and "cudaGraphLaunch(" in (root / files[0]).read_text()


def steps_of(root: Path, asked: Asked) -> list[Step]:
    return counts.steps(root, asked.shape.config, asked.B, asked.T)


def shape_of(asked: Asked) -> str:
    """Returns the pass as a report names it: "B=4 T=1024 C=768 NH=12 L=12"."""
    d = dims(asked.shape.config)
    return f"B={asked.B} T={asked.T} C={d['C']} NH={d['NH']} L={d['L']}"


def keys_of(steps: list[Step]) -> list[Key]:
    return list(dict.fromkeys((call, step.files[call.op]) for step in steps for call in step.calls))


def read(root: Path, asked: Asked | None = None, gpu: str | None = None, card: str | None = None) -> Waterfall:
    """Of the pass that is asked for, else of that which the pages show."""
    asked = asked or asked_shape()
    timed = chosen_times(root, shape_of(asked), gpu, card)
    steps = steps_of(root, asked)
    (found,) = estimates.of_calls(root, keys_of(steps), card or DEFAULT_CARD)
    passes = passes_of(root, steps, found.of, timed)
    return Waterfall(asked.title, found.name, timed.gpu, passes, found.band, predicted.own_band(root))


# ---- the command -----------------------------------------------------------------------------------------------------


def keys(root: Path) -> list[Key]:
    """All that is recorded."""
    return [*keys_of(steps_of(root, asked_shape())), *limits.keys(root), *ladder.keys(root).values()]


def pages(root: Path, waterfall: Waterfall) -> dict[Path, dict[str, str]]:
    """Each file with places for what shows an estimate, and what goes between the markers of each name."""
    found = {Path("README.md"): {"waterfall": section(waterfall)}}
    found[ladder.PAGE] = {"ladder": ladder.section(ladder.read(root))}
    for one in waterfall.passes:
        path = Path("lessons", one.step.lesson, "README.md")
        found[path] = {"waterfall": block(waterfall.up_to(one.step.lesson))}
    steps = [one.step for one in waterfall.passes]
    for path, blocks in limits.pages(root, totals(root, steps), waterfall.title, waterfall.own_band).items():
        found.setdefault(path, {}).update(blocks)
    return found


def totals(root: Path, steps: list[Step]) -> dict[str, limits.Pass]:
    """By lesson, what the pages' gains say of a whole pass."""
    cards = estimates.of_calls(root, keys_of(steps), limits.CARDS)
    of_cards = {card.name: passes_of(root, steps, card.of, Times()) for card in cards}
    return {
        one.step.lesson: limits.Pass(
            "1 graph" if one.graph else str(one.launches),
            {card: passes[i].seconds if passes[i].launchable else None for card, passes in of_cards.items()},
        )
        for i, one in enumerate(of_cards[cards[-1].name])
    }


def written(root: Path, path: Path, blocks: dict[str, str]) -> str:
    text = (root / path).read_text()
    for name, new in blocks.items():
        text = put(text, name, new, path)
    return text


def write_pages(root: Path, fresh: bool) -> None:
    estimates.record(root, keys(root), fresh)
    waterfall = read(root)
    texts = {path: written(root, path, blocks) for path, blocks in pages(root, waterfall).items()}
    for path, text in texts.items():
        (root / path).write_text(text)
    for figure, path in ((plot(waterfall), PICTURE), (ladder.plot(ladder.read(root)), ladder.PICTURE)):
        write(figure, root / path.parent, path.stem, ("svg",))
    print(f"written to {estimates.RECORDED}, {PICTURE}, {ladder.PICTURE} and {len(texts)} pages")


def shown_step(steps: list[Step], wanted: str | None) -> Step:
    """The step that a table lists."""
    numbers = {one.number: one for one in steps}
    number = f"{int(wanted):02}" if wanted and re.fullmatch(r"[0-9]{1,2}", wanted) else wanted
    if number and number not in numbers:
        raise ToolError(f"STEP={wanted}: no step of the device's; there are {', '.join(numbers)}")
    return numbers[number] if number else steps[-1]


def run(options: argparse.Namespace) -> int:
    if options.write:
        if any((options.config, options.B, options.T, options.gpu, options.card, options.step)):
            raise ToolError("WRITE=1 goes with what the pages show: leave CONFIG, B, T, GPU, CARD and STEP out")
        write_pages(Path(), options.fresh)
        return 0
    asked = asked_shape(options.config, options.B, options.T)
    waterfall = read(Path(), asked, options.gpu, options.card)
    shown = shown_step([one.step for one in waterfall.passes], options.step)
    print(as_text(waterfall, next(one for one in waterfall.passes if one.step is shown)))
    for path in write(plot(waterfall), options.out, "waterfall"):
        print(f"written to {path}")
    return 0


def main(arguments: list[str] | None = None) -> int:
    parser = Parser("waterfall", __doc__)
    shape_options(parser)
    parser.add_argument("--gpu", help="whose recorded times are shown: nvidia-h200")
    parser.add_argument("--card", help="a card of cards.toml: the limits on it, also where times are recorded")
    parser.add_argument("--step", help="the step whose ops are listed; the newest unless given")
    parser.add_argument(
        "--write", action="store_true", help="count what has changed, and write the README and the pages"
    )
    parser.add_argument("--fresh", action="store_true", help="with --write: count all anew")
    parser.add_argument("--out", type=Path, default=Path("results"), help="the folder that is written to")
    options = parser.parse_args(arguments)
    return run_main("waterfall", lambda: run(options), status=2)


if __name__ == "__main__":
    sys.exit(main())
