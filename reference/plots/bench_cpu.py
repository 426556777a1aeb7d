# SPDX-License-Identifier: MIT
"""`make bench-cpu`: the forward pass of the course's CPU steps beside PyTorch's, on one core, as ratios.

The weights are random, the shape is GPT-2 124M's unless another is named. The logits are compared first. In each round
PyTorch and every step take one pass in turn; a ratio is a step's time over PyTorch's in the same round. Times are
processor time, so that what other programs take is not counted. With WRITE=1 the times go into
reference/plots/bench_cpu.json, the picture beside it, and the pages that show them.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import statistics
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import torch
from matplotlib import style
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from figures import draw
from reference.gpu.lesson_shapes import all_lessons, step_precision
from reference.gpu.machine import cpu
from reference.gpu.pages import put
from reference.gpu.step import TOLERANCE, Step
from reference.gpu.tools import Parser, ToolError, counted, run_main, three_digits
from reference.model.gpt2 import GPT2, Config, save_folder
from reference.plots.roofline import STYLE, write

CONFIGS = {
    "124M": Config(max_T=1024, V=50257, L=12, NH=12, C=768),
    "tiny": Config(max_T=64, V=300, L=2, NH=2, C=64),
}


DATA = Path("reference/plots/bench_cpu.json")
PICTURE = Path("reference/plots/bench_cpu.svg")
PAGES = (Path("README.md"), Path("lessons/03_cpu_matmul/README.md"))
BLOCK = "beside pytorch"  # of a page, between its markers


def processor_seconds(process: int) -> float:
    """The processor time of a process so far, by the number that its clock has in Linux."""
    return time.clock_gettime((~process << 3) | 2)


def pytorch_forward(model: GPT2, tokens: torch.Tensor) -> tuple[float, torch.Tensor]:
    start = time.process_time()
    with torch.no_grad():
        logits, _ = model(tokens)  # (B, T, V)
    return time.process_time() - start, logits


def step_forward(step: Step) -> float:
    start = processor_seconds(step.process.pid)
    step.forward()
    return processor_seconds(step.process.pid) - start


def pin() -> str:
    """Binds this process, and what it starts, to one core where the system can; says which."""
    torch.set_num_threads(1)
    if not hasattr(os, "sched_setaffinity"):
        return "one thread each, on whichever core the system picks"
    core = min(os.sched_getaffinity(0))
    os.sched_setaffinity(0, {core})
    return f"one thread each, all on core {core}"


def say(text: str) -> None:
    """Progress: in place on a terminal, else a line each."""
    if sys.stderr.isatty():
        print(f"\r\033[K{text}", end="\r" if not text else "", file=sys.stderr, flush=True)
    elif text:
        print(text, file=sys.stderr, flush=True)


def table(seconds: dict[str, list[float]]) -> str:
    """Times in milliseconds and, below PyTorch, ratios to its time."""
    lines = [
        f"{'':10}{'milliseconds':^27}   {'times PyTorch':^27}",
        f"{'':10}" + "   ".join(["   median      min      max"] * 2),
    ]
    for name, samples in seconds.items():
        times = [1e3 * s for s in samples]
        row = [statistics.median(times), min(times), max(times)]
        if name != "PyTorch":
            ratios = [a / b for a, b in zip(samples, seconds["PyTorch"], strict=True)]
            row += [statistics.median(ratios), min(ratios), max(ratios)]
        cells = [f"{three_digits(x):>9}" for x in row]
        lines.append(f"{name:10}" + "".join(cells[:3]) + ("   " + "".join(cells[3:]) if cells[3:] else ""))
    return "\n".join(line.rstrip() for line in lines)


def start_steps(
    stack: contextlib.ExitStack, programs: dict[str, Path], model: GPT2, ids: np.ndarray
) -> tuple[list[Step], float]:
    """The programs with the model's weights loaded, each after one pass whose logits agree with PyTorch's; and the
    largest difference. The weights are on the disk only for so long."""
    B, T = ids.shape
    size = f"{three_digits(4e-6 * sum(p.numel() for p in model.parameters()))} MB"
    with tempfile.TemporaryDirectory(prefix="bench-cpu-") as scratch:
        folder, file = Path(scratch), Path(scratch) / "tokens"
        say(f"writing {size} of random weights …")
        try:
            save_folder(model, folder)
            file.write_bytes(ids.astype("<i4").tobytes())
        except OSError as error:
            reason = f"{error.strerror}; TMPDIR=DIR names another folder"
            raise ToolError(f"cannot write {size} to {tempfile.gettempdir()}: {reason}") from None
        _, expected = pytorch_forward(model, torch.from_numpy(ids.astype(np.int64)))
        steps, largest, lessons = [], 0.0, all_lessons(Path())
        for name, program in programs.items():
            say(f"step {name} loads them and takes its first pass …")
            arguments = ["--model", str(folder), "--tokens", str(file), "-B", str(B), "-T", str(T)]
            step = stack.enter_context(Step(name, program, arguments))
            step.forward()
            logits = step.logits(Path(scratch) / f"logits-{name}", expected.shape)
            error = float((logits - expected).abs().max() / expected.abs().max())
            tolerance = TOLERANCE[step_precision(lessons, name)]
            if not error <= tolerance:
                allowed = f"{tolerance:.0e} is allowed"
                raise ToolError(f"step {name} is wrong: logits off by {error:.1e} of the largest; {allowed}")
            steps.append(step)
            largest = max(largest, error)
    return steps, largest


def bench(programs: dict[str, Path], name: str, B: int, T: int, rounds: int) -> dict:
    """Prints the table, and returns what it was made of."""
    where = pin()
    config = CONFIGS[name]
    model = GPT2(config).eval()
    ids = np.random.default_rng(0).integers(0, config.V, (B, T), dtype=np.int32)
    tokens = torch.from_numpy(ids.astype(np.int64))
    with contextlib.ExitStack() as stack:
        steps, largest = start_steps(stack, programs, model, ids)
        seconds: dict[str, list[float]] = {"PyTorch": [], **{f"step {step.name}": [] for step in steps}}
        start = time.monotonic()
        for i in range(rounds):
            left = (rounds - i) * (time.monotonic() - start) / max(i, 1)
            say(f"round {i + 1} of {rounds}{f', {left:.0f} s left' if left >= 1 else ''} …")
            seconds["PyTorch"].append(pytorch_forward(model, tokens)[0])
            for step in steps:
                seconds[f"step {step.name}"].append(step_forward(step))
    say("")
    print(f"a forward pass of GPT-2 {name}, random weights, B={B} T={T}, beside PyTorch {torch.__version__}")
    print(f"{where}; {counted(rounds, 'round')}, in turn")
    print(f"logits agree: the largest difference is {largest:.1e} of the largest logit\n")
    print(table(seconds))
    rounded = {name: [float(f"{s:.4g}") for s in samples] for name, samples in seconds.items()}
    return {"cpu": cpu().name, "pytorch": torch.__version__, "B": B, "T": T, "seconds": rounded}


# ---- what is committed -----------------------------------------------------------------------------------------------


def ratios(data: dict) -> dict[str, float]:
    """Of each step the median of its time over PyTorch's in the same round."""
    pytorch = data["seconds"]["PyTorch"]
    return {
        name: statistics.median(a / b for a, b in zip(samples, pytorch, strict=True))
        for name, samples in data["seconds"].items()
    }


def section(data: dict, lessons: dict[str, str], page: Path) -> str:
    """What stands on a page: the picture in the README, and one sentence there and on the page of the newest step."""
    found = {name.removeprefix("step "): three_digits(ratio) for name, ratio in ratios(data).items()}
    steps = [name for name in found if name != "PyTorch"]
    told = " and ".join(f"{found[name]} times PyTorch's in step {name} ({lessons[name]})" for name in steps)
    sentence = (
        f"Measured by `make bench-cpu` on one core of an {data['cpu']}, PyTorch {data['pytorch'].partition('+')[0]} and"
        f" the steps in turn, {counted(len(data['seconds']['PyTorch']), 'round')}: a forward pass of GPT-2 124M at"
        f" B={data['B']}, T={data['T']} takes {told}, in processor time.\n"
    )
    if page != PAGES[0]:
        return sentence
    alt = "Time of a forward pass as a multiple of PyTorch's: " + ", ".join(f"step {n} {found[n]}" for n in steps)
    return f"![{alt}]({PICTURE})\n\n{sentence}"


def plot(data: dict, lessons: dict[str, str]) -> Figure:
    found = ratios(data)
    with style.context(STYLE):
        figure = Figure(figsize=(10, 0.8 + 0.5 * len(found)))
        FigureCanvasAgg(figure)
        ax = figure.subplots()
        order = sorted(found, key=found.get, reverse=True)
        labels = [name if name == "PyTorch" else f"{name}, {lessons[name.removeprefix('step ')]}" for name in order]
        for y, name in enumerate(order):
            ax.barh(y, found[name], height=0.6, color=draw.GREY if name == "PyTorch" else draw.BLUE)
            ax.text(found[name] + max(found.values()) / 100, y, f"{three_digits(found[name])}", va="center")
        ax.set_yticks(range(len(order)), labels)
        ax.set(ylim=(len(order) - 0.5, -0.5), xlim=(0, 1.1 * max(found.values())))
        ax.set_title("time of a forward pass on one core, as a multiple of PyTorch's")
        ax.grid(visible=False, axis="y")
        figure.tight_layout()
        return figure


def titles(root: Path) -> dict[str, str]:
    """Of each lesson, by its number."""
    return {path.name[:2]: path.name[3:] for path in sorted((root / "lessons").glob("[0-9][0-9]_*"))}


def write_record(data: dict) -> None:
    pages = {page: put(page.read_text(), BLOCK, section(data, titles(Path()), page), page) for page in PAGES}
    DATA.write_text(json.dumps(data, indent=1) + "\n")
    for page, text in pages.items():
        page.write_text(text)
    write(plot(data, titles(Path())), PICTURE.parent, PICTURE.stem, ("svg",))
    print(f"written to {DATA}, {PICTURE} and {', '.join(map(str, pages))}")


def parse(arguments: list[str] | None) -> argparse.Namespace:
    parser = Parser("bench-cpu", __doc__)
    parser.add_argument("programs", nargs="+", metavar="STEP=PROGRAM", help="for example 02=build/gpt2-bench-02")
    parser.add_argument("--config", choices=CONFIGS, default="124M", help="default: 124M")
    parser.add_argument("-B", type=int, default=4, help="sequences (default: 4)")
    parser.add_argument("-T", type=int, default=64, help="tokens in each (default: 64)")
    parser.add_argument("--rounds", type=int, default=5, help="passes of each that are timed (default: 5)")
    parser.add_argument("--write", action="store_true", help="into the pages, their picture and bench_cpu.json")
    options = parser.parse_args(arguments)
    max_T = CONFIGS[options.config].max_T
    for name in ("rounds", "B"):
        if (value := getattr(options, name)) < 1:
            parser.error(f"{name}: {value}; at least 1 is needed")
    if options.write and options.config != "124M":
        parser.error("WRITE=1 goes with the shape of 124M: leave CONFIG out")
    if not 1 <= options.T <= max_T:
        parser.error(f"T: {options.T}; the context of {options.config} is 1 to {max_T} tokens")
    programs = {}
    for item in options.programs:
        name, _, program = item.partition("=")
        if not name or not program:
            parser.error(f"{item}: not of the form STEP=PROGRAM")
        if not Path(program).is_file():
            parser.error(f"{program} is missing; `make bench-cpu` builds it")
        programs[name] = Path(program)
    options.programs = programs
    return options


def main(arguments: list[str] | None = None) -> int:
    options = parse(arguments)

    def act() -> int:
        data = bench(options.programs, options.config, options.B, options.T, options.rounds)
        if options.write:
            write_record(data)
        return 0

    return run_main("bench-cpu", act, errors=(RuntimeError,))  # PyTorch's own: no memory, for example


if __name__ == "__main__":
    sys.exit(main())
