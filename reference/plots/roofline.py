# SPDX-License-Identifier: MIT
"""`make roofline`: the ops of one forward pass against a roof, as a table and as results/roofline.svg and .png.

An op that does I FLOP for each byte it needs reaches at most min(peak FLOP/s, I · bytes/s). The roof is what was
measured on this machine's GPU, or what a card's datasheet promises. The points lie on the roof: they are what an op can
reach, and nothing of them is a measurement. Under a datasheet's roof stands what the course's newest fp32 kernel of the
op would reach at best (reference/gpu/estimates.py), where that is recorded.
"""

from __future__ import annotations

import argparse
import json
import math
import sys
import textwrap
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from matplotlib import style
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.text import Text
from matplotlib.ticker import FuncFormatter

from figures import draw
from reference.gpu import counts, estimates
from reference.gpu import tools as gpu_tools
from reference.gpu.cards import read_card
from reference.gpu.costs import PROGRAM, costs
from reference.gpu.counts import Call, Counted
from reference.gpu.tools import Parser, ToolError, digits

ROOT = Path(__file__).resolve().parents[2]
STYLE = ROOT / "figures/plots.mplstyle"
DEFAULT_CARD = "H100-SXM"
PNG_DPI = 144  # 1440 pixels wide


# ---- the ops ---------------------------------------------------------------------------------------------------------


class Shape(NamedTuple):
    """The model's part of the dims; Vp as lessons/gpt2/config.h rounds it."""

    name: str
    max_T: int
    V: int
    L: int
    NH: int
    C: int

    @property
    def Vp(self) -> int:
        return -(-self.V // 128) * 128

    @property
    def config(self) -> str:
        """As build/tools/calls reads it."""
        return f"max_T={self.max_T} V={self.V} L={self.L} NH={self.NH} C={self.C}"


def shapes() -> dict[str, Shape]:
    small = json.loads((ROOT / "reference/model/small/config.json").read_text())
    keys = ("n_positions", "vocab_size", "n_layer", "n_head", "n_embd")
    return {
        "small": Shape("the small model", *(small[key] for key in keys)),
        "124M": Shape("GPT-2 124M", 1024, 50257, 12, 12, 768),
    }


@dataclass(frozen=True)
class Op:
    name: str
    calls: int  # in one forward pass
    flop: int
    bytes: int
    call: Call | None = None  # as a forward pass makes it; None: it makes several

    @property
    def intensity(self) -> float:
        return self.flop / self.bytes


def forward_ops(m: Shape, B: int, T: int) -> list[Op]:
    """In the order in which the host's forward pass with its loss first calls them."""
    calls = counts.host_calls(ROOT, m.config, B, T)
    found = costs((f"{call}{vocabulary(m, call)}" for call in calls), ROOT / PROGRAM)
    return [
        Op(counts.op_name(call), number, cost.flop, cost.bytes, call)
        for (call, number), cost in zip(calls.items(), found, strict=True)
    ]


def vocabulary(m: Shape, call: Call) -> str:
    """The size that an encoder's bytes depend on and its call does not name."""
    return "" if "Vp" in dict(call.sizes) else f" Vp={m.Vp}"


def other_ways(ops: list[Op]) -> list[Op]:
    """Returns ops that may take the place of some of a pass: attention as two products with causal_softmax between,
    which write and read (T, T) matrices; and the end of one part of the block with the start of the next."""
    of = {op.call.op: op for op in ops if op.call}
    fused, norm = of["attention"], of["layernorm"].call
    d = dict(fused.call.sizes)
    B, T, C, NH = (d[name] for name in ("B", "T", "C", "NH"))
    joining = Call("residual_layernorm", norm.sizes)
    softmax, joined = costs([f"causal_softmax B={B} NH={NH} T={T}", str(joining)], ROOT / PROGRAM)
    outer = 4 * 4 * B * T * C  # query, key and value read, out written
    scores = 4 * B * NH * T * T  # written by the one product; att, as many, read by the other
    return [
        Op("attention by T×T", fused.calls, fused.flop, outer + softmax.bytes + 2 * scores),
        Op(counts.op_name(joining), of["residual"].calls, joined.flop, joined.bytes, joining),
    ]


# ---- the roof --------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Roof:
    name: str
    kind: str  # "measured" or "datasheet"
    source: str
    bytes_per_s: float
    flop_per_s: float  # fp32
    tensor: dict[str, float] = field(default_factory=dict)  # FLOP/s by "TF32", "bf16"
    l1_bytes_per_s: float | None = None  # of all multiprocessors together

    @property
    def ridge(self) -> float:
        """FLOP a byte from which arithmetic is the bound."""
        return self.flop_per_s / self.bytes_per_s

    def rate(self, intensity: float) -> float:
        return min(self.flop_per_s, intensity * self.bytes_per_s)

    def seconds(self, op: Op) -> float:
        return max(op.flop / self.flop_per_s, op.bytes / self.bytes_per_s)

    def bound(self, op: Op) -> str:
        return "memory" if op.intensity < self.ridge else "arithmetic"


def datasheet(card: str) -> Roof:
    row = read_card(card)
    tensor = {name: 1e12 * row[key] for key, name in (("tf32", "TF32"), ("bf16", "bf16")) if key in row}
    rates = (1e9 * row["memory"], 1e12 * row["fp32"], tensor, 1e9 * row["l1"])
    return Roof(row["name"], "datasheet", row["source"], *rates)


def measured(gpu: dict, path: Path) -> Roof | None:
    """From what `make calibrate` says of a GPU; None where it has no bandwidth or no peak of it."""
    if not gpu.get("copy_bytes_per_s") or not gpu.get("fp32_fma_flop_per_s"):
        return None
    tensor = {}
    for key, name in (("tf32", "TF32"), ("bf16", "bf16")):
        rates = [gpu.get(f"{key}_{way}_flop_per_s") for way in ("mma_sync", "cublas")]
        if any(rates):
            tensor[name] = max(rate for rate in rates if rate)
    l1 = None  # nobody measures it: the width of a multiprocessor's L1 at the clock of the other rates
    if gpu.get("sm_count") and gpu.get("sm_clock_hz"):
        l1 = (64 if gpu.get("compute_capability") == "7.5" else 128) * gpu["sm_count"] * gpu["sm_clock_hz"]
    return Roof(gpu["name"], "measured", str(path), gpu["copy_bytes_per_s"], gpu["fp32_fma_flop_per_s"], tensor, l1)


def load(path: Path) -> dict:
    """The file's object; empty where there is no file."""
    try:
        data = json.loads(path.read_text())
    except FileNotFoundError:
        return {}
    except (OSError, ValueError) as error:
        raise ToolError(f"{path} cannot be read ({error}): move it away, then: make calibrate") from None
    return data if isinstance(data, dict) else {}


ROOF_FILE = "results/roof.json"  # where make calibrate writes


def measured_here(folder: Path) -> Roof | None:
    """Of this machine's GPU: from `make calibrate`, else from the report of a card of its name."""
    try:
        card = gpu_tools.read_card()
    except ToolError:
        card = None
    gpu = load(folder / ROOF_FILE).get("gpu") or {}
    if card is None or gpu.get("name") == card.name:
        roof = measured(gpu, Path(ROOF_FILE))
        if roof or card is None:
            return roof
    path = Path("reference/timings") / f"{card.slug}.json"
    report = load(folder / path)
    part = {} if report.get("rehearsal") else report.get("parts", {}).get("calibrate", {})
    return measured(part.get("items", {}).get("roof", {}).get("result") or {}, path)


# ---- the table -------------------------------------------------------------------------------------------------------


def duration(seconds: float) -> str:
    for unit, scale in (("s", 1.0), ("ms", 1e-3), ("µs", 1e-6)):
        if seconds >= scale:
            return f"{digits(seconds / scale)} {unit}"
    return f"{digits(seconds / 1e-9)} ns"


def table(chosen: Chosen) -> str:
    ops, others, roof, _, kernels = chosen
    width = max(len(op.name) for op in ops + others)

    def line(op: Op) -> str:
        kernel = duration(kernels[op.name].seconds) if op.name in kernels else ""
        return (
            f"{op.name:<{width}}{op.calls:>5}{digits(op.flop / 1e6):>9}{digits(op.bytes / 1e6):>7}"
            f"{digits(op.intensity):>10}  {roof.bound(op):<10}{duration(roof.seconds(op)):>9}{kernel:>9}"
        ).rstrip()

    head = f"{'op':<{width}}{'calls':>5}{'MFLOP':>9}{'MB':>7}{'FLOP/byte':>10}  {'bound':<10}{'roof':>9}"
    total = sum(op.calls * roof.seconds(op) for op in ops)
    all_calls = f"all calls, one after another, at the roof: {duration(total)}"
    lines = [*map(line, ops), all_calls, "in the place of some of them:", *map(line, others)]
    if kernels:
        head += f"{'kernel':>9}"
        served = ", ".join(dict.fromkeys(kernel.file for kernel in kernels.values()))
        said = f"kernel: what the newest one for fp32 takes at least, counted and not measured ({served})"
        lines += ["", *textwrap.wrap(said, 80)]
    return "\n".join([head, *lines])


def ceilings(roof: Roof) -> dict[float, str]:
    """FLOP/s to the precisions that reach it; the lowest is fp32's. A precision that is no faster than fp32 has none of
    its own."""
    found = {roof.flop_per_s: "fp32"}
    for name, rate in roof.tensor.items():
        if rate == roof.flop_per_s:
            found[rate] += f" and {name}"
        elif rate > roof.flop_per_s:
            found[rate] = f"{name} tensor cores"
    return found


# ---- the picture -----------------------------------------------------------------------------------------------------

LINE_HEIGHT = 19  # of labels, in pixels
GAP = 6  # between a line and the text beside it
MARKS = {"memory": ("o", draw.BLUE), "arithmetic": ("s", draw.ORANGE)}


def label_heights(points: list[tuple[float, float]]) -> list[float]:
    """The heights in pixels of the labels of points on a roof. A label stands to the right of its point's line, lower
    than its point and than every label further right: no line crosses a label and no label another."""
    order = sorted(range(len(points)), key=lambda i: points[i], reverse=True)
    heights, above = [0.0] * len(points), math.inf
    for i in order:
        above = heights[i] = min(points[i][1], above) - LINE_HEIGHT
    return heights


@dataclass
class Label:
    """A text whose left end lies `shift` pixels right of and `rise` pixels above a point of the plot."""

    text: Text
    point: tuple[float, float]
    width: float
    shift: float = GAP
    rise: float = 0.0

    def pixels(self, ax: Axes) -> tuple[float, float]:
        x, y = ax.transData.transform(self.point)
        return x + self.shift, y + self.rise


def place(ax: Axes, labels: list[Label], ceiling_labels: list[Label]) -> None:
    """Widens the axes until all labels lie inside them, then moves the labels to their places."""
    fits = False
    while not fits:
        fits = True
        pixels = [tuple(ax.transData.transform(label.point)) for label in labels]
        for label, pixel, height in zip(labels, pixels, label_heights(pixels), strict=True):
            label.rise = height - pixel[1]
        for label in ceiling_labels[:-1]:  # right of the slope, which goes on to the next ceiling
            label.shift = GAP + (LINE_HEIGHT + GAP) / slope_in_pixels(ax)
        if min(label.pixels(ax)[1] for label in labels) < ax.bbox.y0 + LINE_HEIGHT:
            ax.set_ylim(bottom=ax.get_ylim()[0] / 1.3)
            fits = False
        if max(label.pixels(ax)[0] + label.width + GAP for label in labels + ceiling_labels) > ax.bbox.x1:
            ax.set_xlim(right=ax.get_xlim()[1] * 1.2)
            fits = False
    for label in labels + ceiling_labels:
        label.text.set_position(ax.transData.inverted().transform(label.pixels(ax)))


def slope_in_pixels(ax: Axes) -> float:
    """How steep a line of slope 1 in the logarithms is drawn."""
    (x0, y0), (x1, y1) = ax.transData.transform([(1, 1), (10, 10)])
    return (y1 - y0) / (x1 - x0)


def plot(chosen: Chosen) -> Figure:
    ops, (roof, title, kernels) = chosen.ops + chosen.others, chosen[2:]
    with style.context(STYLE):
        figure = Figure()
        FigureCanvasAgg(figure)
        ax = figure.add_axes((0.11, 0.09, 0.86, 0.8))
        ax.set(xscale="log", yscale="log", xlabel="FLOP for each byte that the op needs", ylabel="TFLOP/s")
        ax.set_title(f"{title}\n{roof.name} ({roof.kind}): {roof.source}")
        tops = ceilings(roof)
        slope = roof.bytes_per_s / 1e12
        left = min(op.intensity for op in ops) / 2
        ax.set_xlim(left, 4 * max(max(tops) / roof.bytes_per_s, *(op.intensity for op in ops)))
        ax.set_ylim(left * slope, 2.5 * max(tops) / 1e12)

        def label(words: str, point: tuple[float, float], rise: float = 0.0) -> Label:
            text = ax.text(*point, words, va="center")
            return Label(text, point, text.get_window_extent(figure.canvas.get_renderer()).width, rise=rise)

        points = [(op.intensity, roof.rate(op.intensity) / 1e12) for op in ops]
        labels = [label(op.name, point) for op, point in zip(ops, points, strict=True)]
        ceiling_labels = [
            label(f"{name}: {digits(rate / 1e12)} TFLOP/s", (rate / roof.bytes_per_s, rate / 1e12), LINE_HEIGHT / 2 + 3)
            for rate, name in tops.items()
        ]
        place(ax, labels, ceiling_labels)

        right = ax.get_xlim()[1]
        for rate in tops:
            peak, lowest = rate / 1e12, rate == roof.flop_per_s
            start = left if lowest else roof.ridge
            look = {"color": draw.INK} if lowest else {"color": draw.GREY, "linestyle": "--", "linewidth": 1.5}
            ax.plot([start, peak / slope, right], [start * slope, peak, peak], **look)
        beside = {"textcoords": "offset points", "color": draw.GREY}
        peak = roof.flop_per_s / 1e12
        words = f"{digits(roof.ridge)} FLOP/byte"
        ax.annotate(words, (roof.ridge, peak), xytext=(-GAP - 4, 0), ha="right", va="center", **beside)
        words, middle = f"{digits(roof.bytes_per_s / 1e9)} GB/s", math.sqrt(left * roof.ridge)
        ax.annotate(words, (middle, middle * slope), xytext=(-GAP - 4, GAP), ha="right", va="bottom", **beside)

        for op, point, name in zip(ops, points, labels, strict=True):
            ax.plot([point[0]] * 2, [point[1], name.text.get_position()[1]], color=draw.LINE, linewidth=1)
            marker, color = MARKS[roof.bound(op)]
            ax.plot(*point, marker=marker, color=color, markeredgecolor="#ffffff", zorder=3)
            if op.name in kernels:
                reached = op.flop / kernels[op.name].seconds / 1e12
                ax.plot(point[0], reached, marker=marker, color="#ffffff", markeredgecolor=color, zorder=3)
        for axis in (ax.xaxis, ax.yaxis):
            axis.set_major_formatter(FuncFormatter(lambda value, _: digits(value)))
        handles = [
            Line2D([], [], marker=marker, color=color, linestyle="none", label=f"{bound} is the bound")
            for bound, (marker, color) in MARKS.items()
        ]
        if kernels:
            look = {"marker": "o", "color": "#ffffff", "markeredgecolor": draw.INK, "linestyle": "none"}
            handles.append(Line2D([], [], **look, label="newest fp32 kernel, estimated"))
        ax.legend(handles=handles, loc="upper left", borderaxespad=0.2, handletextpad=0.2)
        return figure


def write(figure: Figure, folder: Path, name: str, kinds: tuple[str, ...] = ("svg", "png")) -> list[Path]:
    """The picture's files, each over a temporary name."""
    written = [folder / f"{name}.{kind}" for kind in kinds]
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with style.context(STYLE):
            for target, kind in zip(written, kinds, strict=True):
                temporary = target.with_suffix(f".{kind}.tmp")
                metadata = {"Date": None} if kind == "svg" else None
                figure.savefig(temporary, format=kind, metadata=metadata, dpi=PNG_DPI if kind == "png" else 72)
                temporary.replace(target)
    except OSError as error:
        raise ToolError(f"{folder} cannot be written: {error.strerror}") from None
    return written


# ---- the command -----------------------------------------------------------------------------------------------------


def shape_options(parser: Parser) -> None:
    """Of the forward pass that is shown; asked_shape reads them."""
    parser.add_argument("--config", help="124M (the default) or small")
    parser.add_argument("-B", help="sequences in the batch; 4 unless given")
    parser.add_argument("-T", help="tokens in a sequence; all positions of the model unless given")


class Asked(NamedTuple):
    """A forward pass."""

    shape: Shape
    B: int
    T: int

    @property
    def title(self) -> str:
        return f"{self.shape.name}, B={self.B} T={self.T}"


def asked_shape(config: str | None = None, B: str | None = None, T: str | None = None) -> Asked:
    """By the options; what the pages show where they are not given."""

    def count(text: str, name: str) -> int:
        if not text.isdecimal() or int(text) < 1:
            raise ToolError(f"{name}={text}: it is a whole number from 1")
        return int(text)

    configs, config = shapes(), config or "124M"
    if config not in configs:
        raise ToolError(f"CONFIG={config}: it is one of {', '.join(configs)}")
    shape = configs[config]
    tokens = count(T, "T") if T else shape.max_T
    if tokens > shape.max_T:
        raise ToolError(f"T={tokens}: {shape.name} has {shape.max_T} positions; T is at most that")
    return Asked(shape, count(B, "B") if B else 4, tokens)


class Kernel(NamedTuple):
    """The newest of an op that asks no library, and what a call takes at least."""

    file: str  # "10_double_buffered_matmul/matmul"
    seconds: float


class Chosen(NamedTuple):
    """What is drawn: the ops of one forward pass and those that may take the place of some, their roof, and what is
    estimated of kernels, by the op's name."""

    ops: list[Op]
    others: list[Op]
    roof: Roof
    title: str
    kernels: dict[str, Kernel]


def kernels_of(ops: list[Op], card: str) -> dict[str, Kernel]:
    """By op, where calls as these are recorded."""
    newest: dict[Call, Counted] = {}
    for one in sorted(estimates.recorded(ROOT / estimates.RECORDED).values(), key=lambda one: one.files):
        if not any(map(estimates.is_library, one.launches)):
            newest[one.call] = one
    found = [newest[op.call] for op in ops if op.call in newest]
    if not found:
        return {}
    (priced,) = estimates.priced(ROOT, found, card)
    return {
        op.name: Kernel(newest[op.call].files[0], priced.of[newest[op.call].key].seconds)
        for op in ops
        if op.call in newest
    }


def choose(config: str | None, B: str | None, T: str | None, card: str | None, folder: Path) -> Chosen:
    """`folder` holds results/, where this machine's GPU may have been measured."""
    asked = asked_shape(config, B, T)
    ops = forward_ops(*asked)
    others = other_ways(ops)
    roof = datasheet(card) if card else measured_here(folder) or datasheet(DEFAULT_CARD)
    kernels = kernels_of(ops + others, card or DEFAULT_CARD) if roof.kind == "datasheet" else {}
    return Chosen(ops, others, roof, f"{asked.title}, float32", kernels)


def run(options: argparse.Namespace) -> int:
    chosen = choose(options.config, options.B, options.T, options.card, Path())
    roof, title = chosen.roof, chosen.title
    if not options.card and roof.kind == "datasheet":
        print(f"no measured GPU on file: the datasheet of {DEFAULT_CARD}; CARD=… names another")
    print(f"{title}; the roof of {roof.name}, {roof.kind}\n({roof.source})")
    tops = ", ".join(f"{name} {digits(rate / 1e12)}" for rate, name in ceilings(roof).items())
    print(f"{digits(roof.bytes_per_s / 1e9)} GB/s; TFLOP/s: {tops}")
    print(f"they meet at {digits(roof.ridge)} FLOP/byte; bytes: each tensor once\n\n{table(chosen)}")
    for path in write(plot(chosen), options.out, "roofline"):
        print(f"written to {path}")
    return 0


def main(arguments: list[str] | None = None) -> int:
    parser = Parser("roofline", __doc__)
    shape_options(parser)
    parser.add_argument("--card", help="a card of cards.toml, in place of this machine's")
    parser.add_argument("--out", type=Path, default=Path("results"), help="the folder that is written to")
    options = parser.parse_args(arguments)
    return gpu_tools.run_main("roofline", lambda: run(options), status=2)


if __name__ == "__main__":
    sys.exit(main())
