# SPDX-License-Identifier: MIT
"""`make waterfall`: one forward pass by step and by op, as text and as results/waterfall.svg and .png.

From what a GPU's report has timed, or, where there is none, from what each step's own kernels take at least on a card
(reference/gpu/estimates.py). With WRITE=1 it counts what has changed into reference/plots/estimates.json, and writes
all that shows an estimate: reference/plots/waterfall.svg, and between their markers the README, reference/LADDER.md and
the lessons' pages.
"""

from __future__ import annotations

import argparse
import math
import re
import sys
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from matplotlib import style
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.patches import Patch

from figures import draw
from reference.gpu import counts, estimates
from reference.gpu.counts import Call, Key, Step
from reference.gpu.estimates import Band, Estimate
from reference.gpu.lesson_shapes import implementing
from reference.gpu.pages import put
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
GROUP_OF |= {"softmax": "loss", "crossentropy": "loss"}


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

    @property
    def name(self) -> str:
        return self.step.lesson.replace("_", " ", 1)

    @property
    def launches(self) -> int:
        return sum(bar.calls * bar.launches for bar in self.bars)

    @property
    def by_group(self) -> dict[str, float]:
        found = dict.fromkeys(GROUPS, 0.0)
        for bar in self.bars:
            found[group_of(bar.call)] += bar.calls * bar.seconds
        return found

    @property
    def seconds(self) -> float:
        return sum(self.by_group.values())


@dataclass(frozen=True)
class Waterfall:
    title: str  # "GPT-2 124M, B=4 T=1024"
    card: str  # "H100 SXM", of the estimates
    gpu: str | None  # whose times they are; None: all is counted
    passes: list[Pass]
    band: Band | None = None

    @cached_property
    def not_measured(self) -> list[Bar]:
        return [bar for one in self.passes for bar in one.bars if bar.measured_s is None]

    @property
    def label(self) -> str:
        """What the numbers are: in the text, the picture, the README and on the pages."""
        if self.gpu is None:
            return f"counted, not measured: the estimate for {self.card}"
        bars = sum(len(one.bars) for one in self.passes)
        rest = f", but for {len(self.not_measured)} of {bars} kinds of calls: estimates" if self.not_measured else ""
        return f"measured on {self.gpu}{rest}"

    def up_to(self, lesson: str) -> Waterfall:
        passes = [one for one in self.passes if one.step.lesson <= lesson]
        return Waterfall(self.title, self.card, self.gpu, passes, self.band)


# ---- text ------------------------------------------------------------------------------------------------------------

COLUMNS = 36  # of a bar
STEP_WIDTH = 26
FINER = 5  # where a pass takes a fifth of the first of its scale, a finer one begins
NICE = (1, 1.5, 2, 2.5, 3, 4, 5, 6, 8, 10)


def scales(waterfall: Waterfall, passes: list[Pass]) -> list[list[Pass]]:
    """The passes in pieces that one scale shows."""
    pieces: list[list[Pass]] = []
    for one in passes:
        if not pieces or FINER * one.seconds < pieces[-1][0].seconds:
            pieces.append([])
        pieces[-1].append(one)
    return pieces


def a_character(longest_s: float) -> float:
    """Seconds: a number that is easily read, so that the longest bar fits."""
    least = longest_s / COLUMNS
    power = 10 ** math.floor(math.log10(least))
    return next(nice * power for nice in NICE if nice * power >= least)


def bar_text(seconds: dict[str, float], character_s: float) -> str:
    """Rounded at each end of a piece, so that the whole bar is as long as the whole pass."""
    text, until = "", 0.0
    for name, piece in seconds.items():
        until += piece
        text += GROUPS[name].letter * (round(until / character_s) - len(text))
    return text


def milliseconds(seconds: float) -> str:
    return three_digits(1e3 * seconds)


def amount(value: float) -> str:
    """Three digits at most, and nothing below a hundredth."""
    return digits(value) if value >= 0.01 or not value else "<0.01"


def legend() -> str:
    return "  ".join(f"{group.letter} {group.name}" for group in GROUPS.values())


def chart(waterfall: Waterfall, passes: list[Pass] | None = None) -> list[str]:
    lines = []
    for number, piece in enumerate(scales(waterfall, waterfall.passes if passes is None else passes)):
        character = a_character(max(one.seconds for one in piece))
        head = f"{'step':<{STEP_WIDTH}}{'ms':>6} launches" if number == 0 else ""
        lines.append(f"{head:<{STEP_WIDTH + 17}}one letter is {digits(1e3 * character)} ms")
        for one in piece:
            name, launches = one.name[: STEP_WIDTH - 1], "1 graph" if one.graph else one.launches
            bar = bar_text(one.by_group, character)
            lines.append(f"{name:<{STEP_WIDTH}}{milliseconds(one.seconds):>6}{launches:>9}  {bar}".rstrip())
    return lines


SHOWN = 5  # of the last steps on a page, and the first


def block(waterfall: Waterfall) -> str:
    """What stands on the page of the last step: the first one's bar, and the last ones'."""
    passes = waterfall.passes
    if len(passes) > SHOWN + 1:
        passes = [passes[0], *passes[-SHOWN:]]
    head = f"{waterfall.title}, {waterfall.label}"
    lines = [head] if len(head) <= 80 else [waterfall.title, waterfall.label]
    lines += [legend(), *chart(waterfall, passes)]
    return "\n".join(["```", *lines, "```", ""])


HOW = """\
Counted, not measured: the CPU device counts what each launch asks for, and nvcc says which instructions it becomes.
From these follows the least time that each resource of {card} needs for it, and
[the estimate](checker/estimate/README.md) is the longest of them{band}.

Left out are what barriers cost, what one launch leaves in L2 for the next, and what a launch costs the host. Of a
library's call only the FLOP and the bytes of its matrices are known. `make waterfall STEP=08` lists the
ops of a step, each with its limit; `CARD=RTX-4090` takes another card.
"""


def section(waterfall: Waterfall) -> str:
    """What stands in the README."""
    if waterfall.gpu is None:
        band = f"; {waterfall.band} ([which](checker/simt/ESTIMATES.md))" if waterfall.band else ""
        said = HOW.format(card=waterfall.card, band=band)
        how = re.sub(r"(?<!\n)\n(?!\n)", " ", said).rstrip(" ")
    else:
        how = f"{waterfall.label[0].upper()}{waterfall.label[1:]}. `make waterfall CARD=H100-SXM` shows the estimate."
    ends = (waterfall.passes[0], waterfall.passes[-1])
    alternative = "; ".join(f"step {one.step.number} {milliseconds(one.seconds)} ms" for one in ends)
    return f"![One forward pass by step, {waterfall.label}: {alternative}]({PICTURE})\n\n{how.rstrip()}\n"


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
    lines += [legend(), *chart(waterfall), "", *op_table(waterfall, shown), ""]
    lines += ["launches: of kernels, and calls of libraries"]
    if waterfall.gpu is None:
        lines += ["memory: bytes that must come from it or go to it (checker/estimate/README.md)"]
    else:
        lines += ["-: nobody has measured it, and in the bars it takes its estimate"] * bool(waterfall.not_measured)
    return "\n".join(lines)


# ---- the picture -----------------------------------------------------------------------------------------------------


INSIDE = 0.085  # of the longest bar: a piece that is as wide has its number in it
ROW, HEAD, FOOT, AXIS = 32, 96, 48, 34  # pixels: a pass, above and below all of them, between two scales


def draw_pass(ax: Axes, waterfall: Waterfall, one: Pass, y: float, longest_s: float) -> None:
    begin = 0.0
    for name, seconds in one.by_group.items():
        group = GROUPS[name]
        pieces = [bar for bar in one.bars if group_of(bar.call) == name]
        counted = waterfall.gpu is not None and any(bar.measured_s is None for bar in pieces)
        look = {"height": 0.72, "color": group.color, "edgecolor": "#ffffff", "linewidth": 0.8}
        ax.barh(y, 1e3 * seconds, left=1e3 * begin, hatch="//" if counted else None, **look)
        if seconds > INSIDE * longest_s:
            words = f"{1e3 * seconds:.{0 if seconds >= 0.01 else 1 if seconds >= 0.001 else 2}f}"
            ax.text(1e3 * (begin + seconds / 2), y, words, ha="center", va="center", color=group.text)
        begin += seconds
    words = f"{milliseconds(begin)} ms, {'1 graph' if one.graph else f'{one.launches} launches'}"
    ax.text(1e3 * (begin + 0.01 * longest_s), y, words, va="center")


def plot(waterfall: Waterfall) -> Figure:
    pieces = scales(waterfall, waterfall.passes)
    heights = [ROW * len(piece) for piece in pieces]
    height = HEAD + sum(heights) + AXIS * (len(pieces) - 1) + FOOT
    with style.context(STYLE):
        figure = Figure(figsize=(10, height / 72))
        FigureCanvasAgg(figure)
        top = height - HEAD
        for piece, tall in zip(pieces, heights, strict=True):
            ax = figure.add_axes((0.28, (top - tall) / height, 0.7, tall / height))
            top -= tall + AXIS
            longest = max(one.seconds for one in piece)
            for y, one in enumerate(piece):
                draw_pass(ax, waterfall, one, y, longest)
            ax.set_yticks(range(len(piece)), [one.name for one in piece])
            ax.set_xlim(0, 1.48e3 * longest)
            ax.set_ylim(len(piece) - 0.5, -0.5)
            ax.grid(visible=False, axis="y")
            ax.tick_params(axis="y", length=0)
        ax.set_xlabel(f"milliseconds{', a scale for each block of steps' if len(pieces) > 1 else ''}")
        figure.text(0.02, 1 - 12 / height, f"{waterfall.title}: one forward pass by step", va="top", fontsize=14)
        figure.text(0.02, 1 - 32 / height, waterfall.label, va="top", fontsize=14)
        handles = [Patch(color=group.color, label=group.name) for group in GROUPS.values()]
        where = {"loc": "upper left", "bbox_to_anchor": (0.012, 1 - 54 / height), "borderaxespad": 0}
        figure.legend(handles=handles, ncols=len(handles), handlelength=1.2, columnspacing=1.2, **where)
        return figure


# ---- from where ------------------------------------------------------------------------------------------------------


def times(root: Path) -> dict[str, dict[str, float]]:
    """Of each card's report that has the part `waterfall`: its name, then by item the seconds of a call."""
    found: dict[str, dict[str, float]] = {}
    for data in read_reports(root):
        for name, record in data["parts"].get("waterfall", {}).get("items", {}).items():
            if record["status"] == "ok":
                found.setdefault(data["gpu"], {})[name] = record["result"]["median_ms"] / 1e3
    return found


def chosen_gpu(root: Path, wanted: str | None, card: str | None) -> tuple[str | None, dict[str, float]]:
    """A card whose times are recorded, and these; the first where none is named."""
    if wanted and card:
        raise ToolError("GPU=… shows recorded times, CARD=… the limits on a card: name one of them")
    recorded = {Card(name, "").slug: (name, rows) for name, rows in times(root).items()}
    if wanted:
        if wanted not in recorded:
            known = ", ".join(recorded) or "there is none yet: on one, make gpu-report PART=waterfall measures them"
            raise ToolError(f"GPU={wanted}: no times of it are recorded; {known}")
        return recorded[wanted]
    return next(iter(recorded.values()), (None, {})) if not card else (None, {})


def passes_of(root: Path, steps: list[Step], found: dict[Key, Estimate], timed: dict[str, float]) -> list[Pass]:
    passes = []
    for step in steps:
        bars = []
        for call, number in step.calls.items():
            files = step.files[call.op]
            bars.append(Bar(call, number, found[call, files], timed.get(counts.item_name(files, call))))
        passes.append(Pass(step, tuple(bars), replays_a_graph(root, step.lesson)))
    return passes


def replays_a_graph(root: Path, lesson: str) -> bool:
    """Whether the step's predict, which a program asks for a pass, does."""
    files = implementing(root, lesson, "predict")
    return bool(files) and "cudaGraphLaunch(" in (root / files[0]).read_text()


def steps_of(root: Path, asked: Asked) -> list[Step]:
    return counts.steps(root, asked.shape.config, asked.B, asked.T)


def keys_of(steps: list[Step]) -> list[Key]:
    return list(dict.fromkeys((call, step.files[call.op]) for step in steps for call in step.calls))


def read(root: Path, asked: Asked | None = None, gpu: str | None = None, card: str | None = None) -> Waterfall:
    """Of the pass that is asked for, else of that which the pages show."""
    asked = asked or asked_shape()
    name, timed = chosen_gpu(root, gpu, card)
    steps = steps_of(root, asked)
    (found,) = estimates.of_calls(root, keys_of(steps), card or DEFAULT_CARD)
    return Waterfall(asked.title, found.name, name, passes_of(root, steps, found.of, timed), found.band)


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
    for path, blocks in limits.pages(root, totals(root, steps), waterfall.title).items():
        found.setdefault(path, {}).update(blocks)
    return found


def totals(root: Path, steps: list[Step]) -> dict[str, limits.Pass]:
    """By lesson, what the pages' gains say of a whole pass."""
    cards = estimates.of_calls(root, keys_of(steps), limits.CARDS)
    of_cards = {card.name: passes_of(root, steps, card.of, {}) for card in cards}
    return {
        one.step.lesson: limits.Pass(
            "1 graph" if one.graph else str(one.launches),
            {card: passes[i].seconds for card, passes in of_cards.items()},
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
