# SPDX-License-Identifier: MIT
"""What a number format costs and buys: the same matmul and the same two models with their factors in each, beside what
cards promise of its speed; and what tensor cores lose of a sum. Writes precisions.json and precisions.svg, and the
tables of reference/PRECISIONS.md. Needs build/tools/tile_product.

    python -m reference.plots.precisions
"""

from __future__ import annotations

import json
import math
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
import torch.nn.functional as F
from matplotlib import style
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter
from safetensors import safe_open
from torch import Tensor

from figures import draw
from reference.gpu.cards import read_cards
from reference.gpu.pages import put
from reference.gpu.tools import Parser, digits, run_main
from reference.model import train_small
from reference.model.gpt2 import GPT2, Config, load
from reference.ops.common.rounding import RoundedFactors, tf32
from reference.plots.roofline import STYLE, write
from reference.tensor_cores import accumulation

ROOT = Path(__file__).resolve().parents[2]
DATA = ROOT / "reference/plots/precisions.json"
PAGE = ROOT / "reference/PRECISIONS.md"
SMALL = ROOT / "reference/model/small"
CORPUS = ROOT / "reference/model/corpus.txt"
ODD = ROOT / "reference/cases/odd.safetensors"
RATIOS = ROOT / "reference/cases/budgets.json"
N, C, OC = 64, 768, 3072  # 64 rows of the product that GPT-2's fc computes


# ---- the formats -----------------------------------------------------------------------------------------------------


def as_type(dtype: torch.dtype) -> Callable[[Tensor, int], Tensor]:
    return lambda x, dim: x.to(dtype).to(x.dtype)


def scaled(dtype: torch.dtype) -> Callable[[Tensor, int], Tensor]:
    """One scale for the tensor: its largest number becomes the format's."""

    def rounded(x: Tensor, dim: int) -> Tensor:
        scale = x.abs().max() / torch.finfo(dtype).max
        return (x / scale).to(dtype).to(x.dtype) * scale

    return rounded


def int8(x: Tensor, dim: int) -> Tensor:
    """A scale for each row that is summed over, an output channel's or a token's: its largest number becomes 127."""
    scale = x.abs().amax(dim, keepdim=True).clamp(min=1e-30) / 127
    return (x / scale).round() * scale


@dataclass(frozen=True)
class Format:
    name: str
    sign: int
    exponent: int
    fraction: int
    largest: float
    smallest: float  # with all bits of the fraction; of integers 1
    rounded: Callable[[Tensor, int], Tensor] | None  # of float32 factors; None: nothing is rounded
    peak: str  # its key in cards.toml
    scaled_by: str = ""  # what shares a scale

    @property
    def bits(self) -> int:
        return self.sign + self.exponent + self.fraction


def floating(name: str, dtype: torch.dtype, exponent: int, fraction: int, **more) -> Format:
    of = torch.finfo(dtype)
    return Format(name, 1, exponent, fraction, of.max, of.smallest_normal, **more)


FORMATS = (
    floating("FP64", torch.float64, 11, 52, rounded=None, peak="fp64"),
    floating("FP32", torch.float32, 8, 23, rounded=None, peak="fp32"),
    Format("TF32", 1, 8, 10, (2 - 2.0**-10) * 2.0**127, 2.0**-126, tf32, "tf32"),
    floating("FP16", torch.float16, 5, 10, rounded=as_type(torch.float16), peak="fp16"),
    floating("BF16", torch.bfloat16, 8, 7, rounded=as_type(torch.bfloat16), peak="bf16"),
    floating(
        "FP8 E4M3", torch.float8_e4m3fn, 4, 3, rounded=scaled(torch.float8_e4m3fn), peak="fp8", scaled_by="tensor"
    ),
    floating("FP8 E5M2", torch.float8_e5m2, 5, 2, rounded=scaled(torch.float8_e5m2), peak="fp8", scaled_by="tensor"),
    Format("INT8", 1, 0, 7, 127, 1, int8, "int8", "row"),
)


def dtype_of(format: Format) -> torch.dtype:
    """In which products and sums are computed."""
    return torch.float64 if format.name == "FP64" else torch.float32


# ---- what it costs ---------------------------------------------------------------------------------------------------


def factors() -> tuple[Tensor, Tensor]:
    """inp (N, C) of σ 1, weight (OC, C) of σ 1 / sqrt(C): outputs of σ 1."""
    rng = np.random.default_rng(11)
    inp, weight = rng.standard_normal((N, C)), rng.standard_normal((OC, C)) / math.sqrt(C)
    return torch.from_numpy(inp).float(), torch.from_numpy(weight).float()


def matmul_errors(format: Format) -> dict[str, float]:
    """Of an output: the largest and the root of the mean square, both in units of the outputs' own root mean square."""
    inp, weight = factors()
    exact = F.linear(inp.double(), weight.double())
    inp, weight = inp.to(dtype_of(format)), weight.to(dtype_of(format))
    if format.rounded:
        inp, weight = format.rounded(inp, -1), format.rounded(weight, -1)
    error, unit = (F.linear(inp, weight).double() - exact).abs(), exact.square().mean().sqrt()
    return {"largest": float(error.max() / unit), "rms": float(error.square().mean().sqrt() / unit)}


def small_model() -> tuple[GPT2, Tensor, Tensor]:
    """The embedded model, and the course's text that is held out from its training."""
    model = load(SMALL)
    corpus = train_small.Corpus(CORPUS, CORPUS.read_bytes(), model.config.max_T)
    T = model.config.max_T
    windows = [corpus.held_out[i : i + T + 1] for i in range(0, len(corpus.held_out) - T, T)]
    return model, *train_small.split(np.stack(windows))


def wide_model() -> tuple[GPT2, Tensor, Tensor]:
    """The case `odd`: weights drawn wide, which no training has settled."""
    with safe_open(ODD, "pt") as file:
        config = json.loads(file.metadata()["config"])
        params = {
            name.removeprefix("param/"): file.get_tensor(name) for name in sorted(file.keys()) if "param/" in name
        }
        tokens, targets = (file.get_tensor(name).long() for name in ("tokens", "targets"))
    model = GPT2(Config(**{key: config[key] for key in ("max_T", "V", "L", "NH", "C")}))
    params["wte.weight"] = params["wte.weight"][: model.config.V]
    model.load_state_dict(params)
    return model, tokens, targets


@torch.no_grad()
def losses(format: Format, model: GPT2, tokens: Tensor, targets: Tensor) -> Tensor:
    """Of each token (B, T), with the factors of every product of matrices in the format: of linear layers and in
    attention."""
    model = model.to(dtype_of(format)).eval()
    with RoundedFactors(format.rounded or (lambda x, dim: x)):
        return model(tokens, targets)[1].double()


def loss_changes(make: Callable[[], tuple[GPT2, Tensor, Tensor]]) -> dict[str, dict[str, float]]:
    """Of FP64 the mean loss, of the others by how much it changes, and the root mean square of a token's change."""
    exact = losses(FORMATS[0], *make())
    result = {FORMATS[0].name: {"mean": float(exact.mean())}}
    for format in FORMATS[1:]:
        change = losses(format, *make()) - exact
        result[format.name] = {"mean": float(change.mean()), "rms": float(change.square().mean().sqrt())}
    return result


def tf32_ratio() -> float:
    """Returns PyTorch's error of a matmul in TF32, of which the budget is a multiple."""
    return json.loads(RATIOS.read_text())["local"]["matmul.out"]["tf32"]


def measure() -> dict:
    torch.set_num_threads(1)
    return {
        "matmul": {format.name: matmul_errors(format) for format in FORMATS[1:]},
        "small_loss": loss_changes(small_model),
        "wide_loss": loss_changes(wide_model),
        "accumulation": accumulation.measure(tf32_ratio()),
    }


# ---- the tables ------------------------------------------------------------------------------------------------------

SHOWN = ("T4", "A100-80GB", "H100-SXM")


def cards() -> dict[str, dict]:
    known = read_cards()
    return {card: known[card] for card in SHOWN}


def power(x: float) -> str:
    """Two digits, of a large number all: 0.016, 65,504, 3.4·10³⁸."""
    if 1e-2 <= abs(x) < 1e6:
        return f"{x:,.0f}" if x >= 1 else f"{x:.2g}"
    mantissa, exponent = f"{x:.1e}".split("e")
    return f"{mantissa}·10{str(int(exponent)).translate(str.maketrans('-0123456789', '⁻⁰¹²³⁴⁵⁶⁷⁸⁹'))}"


def row(cells: list[str]) -> str:
    return "| " + " | ".join(cells) + " |"


def bits_table() -> str:
    lines = [row(["format", "bits", "sign, exponent, fraction", "largest number", "smallest normal", "scaled"])]
    lines.append("|---|---:|---:|---:|---:|---|")
    for format in FORMATS:
        integer = format.exponent == 0
        stored = f"{format.bits}, stored in 32" if format.name == "TF32" else str(format.bits)
        layout = f"{format.sign}, {format.exponent or '–'}, {format.fraction}"
        smallest = "1" if integer else power(format.smallest)
        lines.append(
            row(
                [
                    format.name,
                    stored,
                    layout,
                    power(format.largest),
                    smallest,
                    f"each {format.scaled_by}" if format.scaled_by else "no",
                ]
            )
        )
    return "\n".join(lines) + "\n"


def error_table(data: dict) -> str:
    known = cards()
    head = ["factors in", "RMS error", "largest error", "mean loss", "a token's loss", "mean loss, wide weights"]
    lines = [row([*head, *(card["name"] for card in known.values())]), "|---|" + "---:|" * (len(head) - 1 + len(known))]
    for format in FORMATS:
        small, wide = (data[of][format.name] for of in ("small_loss", "wide_loss"))
        if format is FORMATS[0]:
            cells = [format.name, "–", "–", f"{small['mean']:.4f}", "–", f"{wide['mean']:.4f}"]
        else:
            errors = data["matmul"][format.name]
            cells = [format.name, power(errors["rms"]), power(errors["largest"])]
            cells += [f"{'+' if small['mean'] > 0 else ''}{power(small['mean'])}", f"±{power(small['rms'])}"]
            cells += [f"{'+' if wide['mean'] > 0 else ''}{power(wide['mean'])}"]
        cells += [digits(card[format.peak]) if format.peak in card else "–" for card in known.values()]
        lines.append(row(cells))
    return "\n".join(lines) + "\n"


def accumulation_table(data: dict) -> str:
    head = ["K", "signs", "budget used, rounded, H100", "cut off, H100", "cut off, A100", "factors rounded", "cut off"]
    head += ["sum by fmaf", "sum, A100", "sum, H100", "its mean"]
    lines = [row(head), "|---:|---|" + "---:|" * (len(head) - 2)]
    for of in data["accumulation"]:
        shares = [f"{of[key]:.2f}" for key in ("used_rounded", "used_cut", "used_cut_a100")]
        errors = [power(of[key]) for key in ("rounded", "cut", "fmaf", "a100", "h100", "h100_mean")]
        lines.append(row([f"{of['K']:,}", of["signs"], *shares, *errors]))
    return "\n".join(lines) + "\n"


def page(text: str, data: dict) -> str:
    blocks = (
        ("formats", bits_table()),
        ("precisions", error_table(data)),
        ("accumulation", accumulation_table(data)),
    )
    for name, block in blocks:
        text = put(text, name, block, PAGE)
    return text


# ---- the picture -----------------------------------------------------------------------------------------------------


def draw_bits(ax: Axes) -> None:
    ax.set_title("exponent (e), fraction (f)")
    for y, format in enumerate(FORMATS):
        left = 0
        for bits, color in ((format.sign, draw.GREY), (format.exponent, draw.ORANGE), (format.fraction, draw.BLUE)):
            ax.barh(y, bits, left=left, height=0.6, color=color, edgecolor="white", linewidth=0.5)
            left += bits
        layout = f"{format.exponent} e, {format.fraction} f" if format.exponent else f"{format.fraction}, an integer"
        ax.text(left + 1.5, y, layout, va="center")
    ax.set(xlim=(0, 104))
    ax.set_xticks([0, 16, 32, 64])


def draw_errors(ax: Axes, data: dict) -> None:
    ax.set_title("RMS error of a matmul")
    ax.set(xscale="log", xlim=(1e-8, 30))
    ax.set_xticks([1e-8, 1e-6, 1e-4, 1e-2, 1])
    for y, format in enumerate(FORMATS):
        if format is FORMATS[0]:
            ax.text(2e-8, y, "the measure of the others", va="center", color=draw.GREY)
            continue
        error = data["matmul"][format.name]["rms"]
        ax.barh(y, error, height=0.6, color=draw.BLUE)
        ax.text(error * 1.5, y, power(error), va="center")


def draw_peaks(ax: Axes) -> None:
    card = cards()["H100-SXM"]
    ax.set_title(f"{card['name']}: peak, TFLOP/s")
    for y, format in enumerate(FORMATS):
        peak = card[format.peak]
        ax.barh(y, peak, height=0.6, color=draw.GREEN)
        ax.text(peak + 50, y, digits(peak), va="center")
    ax.set(xlim=(0, 2800))
    ax.set_xticks([0, 1000, 2000])
    ax.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,.0f}"))


def plot(data: dict) -> Figure:
    with style.context(STYLE):
        figure = Figure(figsize=(10, 4.4))
        FigureCanvasAgg(figure)
        axes = figure.subplots(1, 3, width_ratios=(1.2, 1.15, 1))
        draw_bits(axes[0])
        draw_errors(axes[1], data)
        draw_peaks(axes[2])
        for ax in axes:
            ax.set_yticks(range(len(FORMATS)), [format.name if ax is axes[0] else "" for format in FORMATS])
            ax.set_ylim(len(FORMATS) - 0.4, -0.6)
            ax.grid(visible=False, axis="y")
        figure.tight_layout()
        return figure


# ---- the command -----------------------------------------------------------------------------------------------------


def run() -> int:
    data = measure()
    text = page(PAGE.read_text(), data)
    DATA.write_text(json.dumps(data, indent=1) + "\n")
    PAGE.write_text(text)
    (picture,) = write(plot(data), DATA.parent, "precisions", ("svg",))
    print(error_table(data), end="")
    print(f"written to {DATA}, {PAGE} and {picture}")
    return 0


def main(arguments: list[str] | None = None) -> int:
    Parser("precisions", __doc__).parse_args(arguments)
    return run_main("precisions", run)


if __name__ == "__main__":
    sys.exit(main())
