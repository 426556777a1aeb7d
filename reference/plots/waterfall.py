# SPDX-License-Identifier: MIT
"""`make waterfall`: one forward pass by step and by op, as text and as results/waterfall.svg and .png.

From what a GPU's report has timed, or, where there is none, from what each step's own kernels are counted to ask for
(reference/gpu/counts.py) and the limit that this gives on a card. With WRITE=1 it counts what has changed, and writes
reference/plots/waterfall.json and .svg, and the README and the pages of the steps between their markers.
"""

from __future__ import annotations

import argparse
import math
import re
import sys
import tempfile
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from matplotlib import style
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.patches import Patch

from figures import draw
from reference.gpu import counts
from reference.gpu.costs import PROGRAM, costs
from reference.gpu.counts import Call, Count, Counted, Counts, Kind, Step
from reference.gpu.lesson_shapes import implementing
from reference.gpu.pages import put
from reference.gpu.tools import CLEAR, Card, Parser, ToolError, digits, read_reports, run_main, three_digits
from reference.plots import roofline
from reference.plots.roofline import (
    DEFAULT_CARD,
    STYLE,
    Asked,
    Roof,
    Shape,
    asked_shape,
    datasheet,
    shape_options,
    shapes,
    write,
)

DATA = Path("reference/plots/waterfall.json")
PICTURE = Path("reference/plots/waterfall.svg")
WAVEFRONT = 128  # bytes, at most


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
    counts: Counts  # of one call
    flop: int  # that it needs
    precision: str
    measured_s: float | None = None  # one call

    @property
    def launches(self) -> int:
        """Calls of libraries among them, which may be several each."""
        return round(sum(one.launches + one.library_calls for one in self.counts.values()))

    @property
    def asks_libraries(self) -> bool:
        return any(one.library_calls for one in self.counts.values())

    def limits(self, roof: Roof) -> dict[str, float]:
        """Seconds of a call, by what sets the limit of its launches one after another. The FLOP of kernels are known of
        the op alone."""
        found = dict.fromkeys(("memory", "L1", "arithmetic"), 0.0)
        for one in self.counts.values():
            seconds = {
                "memory": one.memory_bytes / roof.bytes_per_s,
                "L1": l1_bytes(one) / roof.l1_bytes_per_s if roof.l1_bytes_per_s else 0.0,
                "arithmetic": one.library_flop / self.rate(roof),
            }
            most = max(seconds, key=seconds.__getitem__)
            found[most] += seconds[most]
        needed = 0.0 if self.asks_libraries else self.flop / roof.flop_per_s
        return {"arithmetic": needed} if needed > sum(found.values()) else found

    def rate(self, roof: Roof) -> float:
        """FLOP/s of what it asks libraries for; a card without TF32 multiplies in fp32."""
        return roof.tensor.get(self.precision.upper(), roof.flop_per_s)

    def limit_s(self, roof: Roof) -> float:
        return sum(self.limits(roof).values())

    def limited_by(self, roof: Roof) -> str:
        limits = self.limits(roof)
        return max(limits, key=limits.__getitem__)

    def seconds(self, roof: Roof) -> float:
        return self.limit_s(roof) if self.measured_s is None else self.measured_s


def l1_bytes(one: Count) -> float:
    return one.l1_bytes + WAVEFRONT * one.shared_wavefronts


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

    def by_group(self, roof: Roof) -> dict[str, float]:
        found = dict.fromkeys(GROUPS, 0.0)
        for bar in self.bars:
            found[group_of(bar.call)] += bar.calls * bar.seconds(roof)
        return found

    def seconds(self, roof: Roof) -> float:
        return sum(self.by_group(roof).values())


@dataclass(frozen=True)
class Waterfall:
    title: str  # "GPT-2 124M, B=4 T=1024"
    roof: Roof
    gpu: str | None  # whose times they are; None: all is counted
    passes: list[Pass]

    @cached_property
    def not_measured(self) -> list[Bar]:
        return [bar for one in self.passes for bar in one.bars if bar.measured_s is None]

    @property
    def label(self) -> str:
        """What the numbers are: in the text, the picture, the README and on the pages."""
        if self.gpu is None:
            return f"counted, not measured: the limit on {self.roof.name}"
        bars = sum(len(one.bars) for one in self.passes)
        rest = f", but for {len(self.not_measured)} of {bars} kinds of calls: limits" if self.not_measured else ""
        return f"measured on {self.gpu}{rest}"

    def up_to(self, lesson: str) -> Waterfall:
        passes = [one for one in self.passes if one.step.lesson <= lesson]
        return Waterfall(self.title, self.roof, self.gpu, passes)


# ---- text ------------------------------------------------------------------------------------------------------------

COLUMNS = 36  # of a bar
STEP_WIDTH = 26
FINER = 5  # where a pass takes a fifth of the first of its scale, a finer one begins
NICE = (1, 1.5, 2, 2.5, 3, 4, 5, 6, 8, 10)


def scales(waterfall: Waterfall, passes: list[Pass]) -> list[list[Pass]]:
    """The passes in pieces that one scale shows."""
    pieces: list[list[Pass]] = []
    for one in passes:
        if not pieces or FINER * one.seconds(waterfall.roof) < pieces[-1][0].seconds(waterfall.roof):
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
    roof, lines = waterfall.roof, []
    for number, piece in enumerate(scales(waterfall, waterfall.passes if passes is None else passes)):
        character = a_character(max(one.seconds(roof) for one in piece))
        head = f"{'step':<{STEP_WIDTH}}{'ms':>6} launches" if number == 0 else ""
        lines.append(f"{head:<{STEP_WIDTH + 17}}one letter is {digits(1e3 * character)} ms")
        for one in piece:
            name, launches = one.name[: STEP_WIDTH - 1], "1 graph" if one.graph else one.launches
            bar = bar_text(one.by_group(roof), character)
            lines.append(f"{name:<{STEP_WIDTH}}{milliseconds(one.seconds(roof)):>6}{launches:>9}  {bar}".rstrip())
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
Counted, not measured. Of each launch of a step's own kernels the CPU device counts three things. What takes longest of
them on {roof} ({rates}) is the launch's part of a bar:

- *memory*: each byte that the launch loads, once, and each that it stores;
- *L1*: the 32-byte sectors that its requests to global memory move, and the wavefronts of shared memory, at most 128
  bytes each, as the source has them;
- *arithmetic*: the FLOP that the op needs, on the fp32 units; those that a library is asked for in TF32, on tensor
  cores.

Left out are what a library asks of L1, what one launch leaves in L2 for the next, latencies, and what a launch costs.
So steps 09 and 10, which ask for the same, have the same bar. Each op is counted at small shapes; from there the counts
follow their polynomials in the sizes ([how]({source})). `make waterfall STEP=08` lists the ops of a step,
`CARD=RTX-4090` takes another card.
"""


def section(waterfall: Waterfall) -> str:
    """What stands in the README."""
    roof = waterfall.roof
    if waterfall.gpu is None:
        said = HOW.format(roof=roof.name, rates=roof_text(roof), source="reference/gpu/counts.py")
        how = re.sub(r"(?<!\n)\n(?![\n-])  *|(?<!\n)\n(?![\n-])", " ", said).rstrip(" ")
    else:
        how = f"{waterfall.label[0].upper()}{waterfall.label[1:]}. `make waterfall CARD=H100-SXM` shows the limits."
    ends = (waterfall.passes[0], waterfall.passes[-1])
    alternative = "; ".join(f"step {one.step.number} {milliseconds(one.seconds(roof))} ms" for one in ends)
    return f"![One forward pass by step, {waterfall.label}: {alternative}]({PICTURE})\n\n{how.rstrip()}\n"


def sizes_text(call: Call) -> str:
    d = dict(call.sizes)
    return f" {d['C']} to {d['OC']}" if "OC" in d else ""


# Of a step's table: each column is named and as wide.
COUNTED = (("launches", 9), ("GFLOP", 7), ("memory GB", 10), ("L1 GB", 7), ("limit ms", 9))
MEASURED = (("launches", 9), ("measured ms", 12), ("limit ms", 9))


def op_table(waterfall: Waterfall, one: Pass) -> list[str]:
    """A step's calls, all of a kind together."""
    roof, columns = waterfall.roof, COUNTED if waterfall.gpu is None else MEASURED
    rows = [(f"step {one.step.number}, all calls", [name for name, _ in columns], "")]
    for bar in one.bars:
        parts = bar.counts.values()
        flop = sum(part.library_flop for part in parts) if bar.asks_libraries else bar.flop
        of_call = {
            "GFLOP": amount(bar.calls * flop / 1e9),
            "memory GB": amount(bar.calls * sum(part.memory_bytes for part in parts) / 1e9),
            "L1 GB": amount(bar.calls * sum(map(l1_bytes, parts)) / 1e9) + "+" * bar.asks_libraries,
            "measured ms": "-" if bar.measured_s is None else amount(1e3 * bar.calls * bar.measured_s),
            "limit ms": amount(1e3 * bar.calls * bar.limit_s(roof)),
            "launches": f"{bar.calls * bar.launches}",
        }
        name = f"{bar.calls:>3} {bar.call.op}{sizes_text(bar.call)}"
        rows.append((name, [of_call[column] for column, _ in columns], f" {bar.limited_by(roof)}"))
    return [
        f"{name:<27}" + "".join(f"{cell:>{width}}" for cell, (_, width) in zip(cells, columns, strict=True)) + by
        for name, cells, by in rows
    ]


def as_text(waterfall: Waterfall, shown: Pass) -> str:
    lines = [f"one forward pass of {waterfall.title}, with its loss", waterfall.label, roof_text(waterfall.roof), ""]
    lines += [legend(), *chart(waterfall), "", *op_table(waterfall, shown), ""]
    lines += ["launches: of kernels, and calls of libraries"]
    if waterfall.gpu is None:
        lines += [
            "memory: each byte that a launch loads or stores, once. L1: the sectors and",
            "wavefronts of its requests, as the source has them; +: and a library's own",
        ]
    else:
        lines += ["-: nobody has measured it, and in the bars it takes its limit"] * bool(waterfall.not_measured)
    return "\n".join(lines)


def roof_text(roof: Roof) -> str:
    l1 = f", L1 {digits(roof.l1_bytes_per_s / 1e9)} GB/s" if roof.l1_bytes_per_s else ", L1 not known"
    rates = {"fp32": roof.flop_per_s} | {name: rate for name, rate in roof.tensor.items() if name == "TF32"}
    tops = ", ".join(f"{name} {digits(rate / 1e12)}" for name, rate in rates.items())
    return f"{roof.kind}: memory {digits(roof.bytes_per_s / 1e9)} GB/s{l1}; TFLOP/s: {tops}"


# ---- the picture -----------------------------------------------------------------------------------------------------


INSIDE = 0.085  # of the longest bar: a piece that is as wide has its number in it
ROW, HEAD, FOOT, AXIS = 32, 96, 48, 34  # pixels: a pass, above and below all of them, between two scales


def draw_pass(ax: Axes, waterfall: Waterfall, one: Pass, y: float, longest_s: float) -> None:
    begin = 0.0
    for name, seconds in one.by_group(waterfall.roof).items():
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
            longest = max(one.seconds(waterfall.roof) for one in piece)
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


def roof_of(root: Path, gpu: str | None, card: str | None) -> Roof:
    """What the limits are on: where times are shown, that card as its report measured it."""
    for data in read_reports(root) if gpu else []:
        roof_part = data["parts"].get("calibrate", {}).get("items", {}).get("roof", {}).get("result")
        if data["gpu"] == gpu and roof_part and (found := roofline.measured(roof_part, Path(f"the report of {gpu}"))):
            return found
    return datasheet(card or DEFAULT_CARD)


def config_of(shape: Shape) -> str:
    return f"max_T={shape.max_T} V={shape.V} L={shape.L} NH={shape.NH} C={shape.C}"


def passes_of(root: Path, steps: list[Step], counted: dict[Kind, Counted], timed: dict[str, float]) -> list[Pass]:
    calls = list(dict.fromkeys(call for step in steps for call in step.calls))
    flop = dict(zip(calls, costs([str(Call(c.op, c.sizes)) for c in calls], root / PROGRAM), strict=True))
    here: dict[tuple[Call, tuple[str, ...]], Counts] = {}
    found = []
    for step in steps:
        bars = []
        for call, number in step.calls.items():
            files = step.files[call.op]
            kind = Kind.of(call, files)
            if kind not in counted:
                raise ToolError(f"{call.op} of {files[0]} was not counted yet: make waterfall WRITE=1 does")
            at = here.setdefault((call, files), {}) or counted[kind].at(call)
            here[call, files] = at
            precision = step.precision.get(call.op, "fp32")
            bars.append(Bar(call, number, at, flop[call].flop, precision, timed.get(counts.item_name(files, call))))
        found.append(Pass(step, tuple(bars), replays_a_graph(root, step.lesson)))
    return found


def replays_a_graph(root: Path, lesson: str) -> bool:
    """Whether the step's predict, which a program asks for a pass, does."""
    files = implementing(root, lesson, "predict")
    return bool(files) and "cudaGraphLaunch(" in (root / files[0]).read_text()


def kinds_of(steps: list[Step]) -> list[Kind]:
    return list(dict.fromkeys(Kind.of(call, step.files[call.op]) for step in steps for call in step.calls))


def all_kinds(root: Path) -> list[Kind]:
    """Those of every model that can be asked for."""
    found = [kinds_of(counts.steps(root, config_of(shape), 4, shape.max_T)) for shape in shapes().values()]
    return list(dict.fromkeys(kind for kinds in found for kind in kinds))


def read(root: Path, asked: Asked | None = None, gpu: str | None = None, card: str | None = None) -> Waterfall:
    """Of the pass that is asked for, else of that which the pages show."""
    asked = asked or asked_shape()
    name, timed = chosen_gpu(root, gpu, card)
    steps = counts.steps(root, config_of(asked.shape), asked.B, asked.T)
    passes = passes_of(root, steps, counts.read(root / DATA), timed)
    return Waterfall(asked.title, roof_of(root, name, card), name, passes)


# ---- the command -----------------------------------------------------------------------------------------------------


def count_again(root: Path) -> None:
    """What was not counted yet, and what has changed since."""
    try:
        known = counts.read(root / DATA)
    except ToolError:
        known = {}
    found = []
    with tempfile.TemporaryDirectory(prefix="waterfall-") as scratch:
        for kind in all_kinds(root):
            if kind in known and known[kind].sources == counts.digest(root, kind):
                found.append(known[kind])
                continue
            print(
                f"{CLEAR}counting {kind.op} of {kind.files[0]} …",
                end="" if CLEAR else "\n",
                file=sys.stderr,
                flush=True,
            )
            found.append(counts.measured(root, kind, Path(scratch)))
    print(CLEAR, end="", file=sys.stderr, flush=True)
    (root / DATA).write_text(counts.to_json(found))


def pages(waterfall: Waterfall) -> dict[Path, str]:
    """Each file with a place for it, and what goes there."""
    found = {Path("README.md"): section(waterfall)}
    for one in waterfall.passes:
        found[Path("lessons", one.step.lesson, "README.md")] = block(waterfall.up_to(one.step.lesson))
    return found


def write_pages(root: Path) -> None:
    count_again(root)
    waterfall = read(root)
    texts = {path: put((root / path).read_text(), "waterfall", new, path) for path, new in pages(waterfall).items()}
    for path, text in texts.items():
        (root / path).write_text(text)
    write(plot(waterfall), root / PICTURE.parent, PICTURE.stem, ("svg",))
    print(f"written to {DATA}, {PICTURE} and {len(texts)} pages")


def shown_step(waterfall: Waterfall, wanted: str | None) -> Pass:
    """The step that the table lists."""
    numbers = {one.step.number: one for one in waterfall.passes}
    number = f"{int(wanted):02}" if wanted and re.fullmatch(r"[0-9]{1,2}", wanted) else wanted
    if number and number not in numbers:
        raise ToolError(f"STEP={wanted}: no step of the device's; there are {', '.join(numbers)}")
    return numbers[number] if number else waterfall.passes[-1]


def run(options: argparse.Namespace) -> int:
    if options.write:
        if any((options.config, options.B, options.T, options.gpu, options.card, options.step)):
            raise ToolError("WRITE=1 goes with what the pages show: leave CONFIG, B, T, GPU, CARD and STEP out")
        write_pages(Path())
        return 0
    asked = asked_shape(options.config, options.B, options.T)
    waterfall = read(Path(), asked, options.gpu, options.card)
    print(as_text(waterfall, shown_step(waterfall, options.step)))
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
    parser.add_argument("--out", type=Path, default=Path("results"), help="the folder that is written to")
    options = parser.parse_args(arguments)
    return run_main("waterfall", lambda: run(options), status=2)


if __name__ == "__main__":
    sys.exit(main())
