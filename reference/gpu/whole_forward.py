# SPDX-License-Identifier: MIT
"""The whole forward pass of GPT-2 124M with TF32: PyTorch's, in each of its ways, and ours, in turn. The parts
forward_b4, forward_b1 and forward_b16 of `make gpu-report` ask it line by line, as they ask bench.py.

Two tasks, the same for both sides:
  forward   tokens on the device to the logits of all rows on the device, no loss; one pass after another, between CUDA
            events. Ours launches its kernels on a stream.
  predict   tokens on the host to the last row's logits on the host, by the host's clock: what a written token takes.
            Ours is the op of that name, PyTorch's copies are asynchronous and its memory on the host is pinned.
Ours computes the Vp = 50,304 columns of the padded vocabulary where PyTorch computes V = 50,257, but for its ways with
the padded vocabulary; and ours keeps all that a backward pass would read, which PyTorch does not.

The newest step is timed beside all ways, older ones beside eager.
"""

from __future__ import annotations

import argparse
import contextlib
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

import torch

from reference.gpu import bench
from reference.gpu.bench import Bench, on_the_host, one_after_another, set_precision
from reference.gpu.beside_pytorch import item_name
from reference.gpu.lesson_shapes import dims, tiny
from reference.gpu.step import TOLERANCE, Step
from reference.gpu.timing import WARMUP, batch_of, is_enough, median_interval, summarise
from reference.gpu.tools import Parser, ToolError, run_main
from reference.gpu.ways import EAGER, NOT_FOR_FLOATS, WAYS, Way, Ways
from reference.model.gpt2 import save_folder
from reference.ops import forward
from reference.ops.common.op import Machine

SHAPE = "B={} T=1024 C=768 NH=12 L=12"
PRECISION = "tf32"
TASKS = ("forward", "predict")

# ---- both sides ------------------------------------------------------------------------------------------------------


class PyTorch:
    """One way of it, ready to be timed."""

    def __init__(self, way: Way, ways: Ways, ids: torch.Tensor):
        self.way, self.dry = way, ways.dry
        V = ways.model.config.V
        self.on_host = ids if self.dry else ids.pin_memory()  # (B, T)
        self.tokens = ways.tokens
        self.row = torch.empty(ids.shape[0], V, pin_memory=not self.dry)  # (B, V)
        begin = time.perf_counter()
        self.call = ways.call_of(way)
        for _ in range(1 if self.dry else WARMUP):
            self.predict_once()
        self.seconds_to_prepare = time.perf_counter() - begin

    def forward(self, count: int) -> list[float]:
        return on_the_host(self.call, count) if self.dry else one_after_another(self.call, count)

    def predict_once(self) -> None:
        self.tokens.copy_(self.on_host, non_blocking=True)
        self.row.copy_(self.call()[:, -1, : self.row.shape[1]], non_blocking=True)  # without padding
        if not self.dry:
            torch.cuda.synchronize()

    def predict(self, count: int) -> list[float]:
        return on_the_host(self.predict_once, count)


class Ours(Step):
    """The course's program of a step (bench_main.cpp), with the same weights and tokens."""

    def __init__(self, program: Path, folder: Path, ids: torch.Tensor, V: int):
        B, T = ids.shape
        self.V, tokens, self.row = V, folder / "tokens", folder / "row"
        tokens.write_bytes(ids.to(torch.int32).numpy().astype("<i4").tobytes())
        arguments = ["--model", str(folder), "--tokens", str(tokens), "-B", str(B), "-T", str(T)]
        super().__init__(step_of(program), program, arguments)

    def times(self, task: str, count: int) -> list[float]:
        answer = self.ask(f"{task} {count} {self.row}")
        try:
            times = [float(word) for word in answer.split()]
        except ValueError:
            times = []
        if len(times) != count:
            raise ToolError(f"step {self.name} answered {answer!r}, not {count} times")
        return times

    def last_logits(self) -> torch.Tensor:
        """(B, V): each sequence's last row, of the last pass."""
        values = torch.frombuffer(bytearray(self.row.read_bytes()), dtype=torch.float32)
        return values.reshape(-1, self.V)


def in_turn(theirs: Callable[[int], list[float]], ours: Callable[[int], list[float]], dry: bool) -> dict:
    """Rounds in which both take as many passes, and who begins changes, until the interval of the ratios' median is
    narrow or MOST_S are over. A round's ratio is that of its medians, ours over theirs."""
    sides, order = {"pytorch": theirs, "ours": ours}, ["pytorch", "ours"]

    def take(count: int) -> dict[str, list[float]]:
        order.reverse()
        return {name: sides[name](count) for name in order}

    count = batch_of(max(times[0] for times in take(1).values())) if not dry else 1
    if count > 1:
        take(count)  # a warm-up, which the clocks of a card need
    samples: dict[str, list[float]] = {name: [] for name in sides}
    ratios: list[float] = []
    while not (len(ratios) == 2 if dry else is_enough(ratios, max(map(sum, samples.values())))):
        times = take(count)
        for name in sides:
            samples[name] += times[name]
        ratios.append(statistics.median(times["ours"]) / statistics.median(times["pytorch"]))
    p10, *_, p90 = statistics.quantiles(ratios, n=10, method="inclusive")
    ratio: dict = {"median": statistics.median(ratios), "interval": list(median_interval(ratios))}
    ratio |= {"p10": p10, "p90": p90, "rounds": len(ratios)}
    return {name: summarise(samples[name]) for name in sides} | {"ours_over_pytorch": ratio}


@dataclass(frozen=True)
class WholeItem:
    program: Path  # build/gpu/gpt2-bench-17
    way: Way

    @property
    def step(self) -> str:
        return step_of(self.program)


def step_of(program: Path) -> str:
    """ "17" of build/gpu/gpt2-bench-17."""
    return program.name.rpartition("-")[2]


def items_of(shape: str, programs: list[Path]) -> dict[str, WholeItem]:
    """By name, the newest step's program first. By value: what each step is beside eager, then the newest step beside
    the other ways. Neighbours share a way or a program, and neither is then started anew."""
    items = [WholeItem(program, EAGER) for program in programs]
    items += [WholeItem(programs[0], way) for way in WAYS if way != EAGER]
    return {item_name(item.step, shape, item.way.name): item for item in items}


class WholeForward(Bench):
    """One B: the model and its tokens serve all ways. One of our programs runs at a time, since a small card has no
    room for two; it stays while items ask for it, and so does a way."""

    def __init__(self, B: int, programs: list[Path], dry: bool):
        self.machine = Machine("cpu" if dry else "cuda", dry)
        shape = SHAPE.format(B)
        self.items = items_of(shape, programs) if programs else {}
        newest = step_of(programs[0]) if programs else ""
        self.without = {item_name(newest, shape, name): why for name, why in NOT_FOR_FLOATS.items()}
        self.shape = tiny(shape) if dry else shape
        self.started = contextlib.ExitStack()
        self.folder: Path | None = None  # holds the weights, which our programs load
        self.ways: Ways | None = None
        self.ours: Ours | None = None
        self.pytorch: PyTorch | None = None

    def prepare(self) -> None:
        torch.manual_seed(0)
        model, (self.ids,) = forward.baseline(Machine("cpu", self.machine.dry), dims(self.shape))  # ids: (B, T)
        if self.items:
            self.folder = Path(self.started.enter_context(tempfile.TemporaryDirectory(prefix="whole-forward-")))
            save_folder(model, self.folder)
        device = self.machine.device
        self.ways = Ways(model.to(device), self.ids.to(device), self.machine.dry)

    def close(self) -> None:
        self.drop()
        self.started.close()

    def drop(self) -> None:
        """Ends our program, and gives back what PyTorch's way holds."""
        if self.ours is not None:
            self.ours.close()
        self.ours = self.pytorch = None
        if self.ways is not None:
            self.ways.drop()
            self.ways.free_unused()

    def start(self, item: WholeItem) -> None:
        if self.ours is None or self.ours.program != item.program:
            if self.ours is not None:
                self.ours.close()
            self.ours = None
            self.ours = Ours(item.program, self.folder, self.ids, self.ways.model.config.V)
        if self.pytorch is None or self.pytorch.way != item.way:
            self.pytorch = None
            self.ways.free_unused()
            self.pytorch = PyTorch(item.way, self.ways, self.ids)

    @torch.no_grad()
    def run(self, item: WholeItem) -> dict:
        try:
            return self.timed(item)
        except Exception:
            with contextlib.suppress(RuntimeError):  # a lost context, which must not hide the reason
                self.drop()
            raise

    def timed(self, item: WholeItem) -> dict:
        set_precision(PRECISION)
        if self.ways is None:
            self.prepare()
        self.start(item)
        result: dict = {"step": item.step, "shape": self.shape, "precision": PRECISION, "way": item.way.name}
        result["seconds_to_prepare"] = round(self.pytorch.seconds_to_prepare, 2)
        for task in TASKS:
            self.ours.times(task, 1)
            differs = bench.worst_difference(self.ours.last_logits(), self.pytorch.row)
            if not differs <= TOLERANCE[PRECISION]:
                raise ToolError(f"{task}: our logits are off by {differs:.1e} of PyTorch's largest")
            result[task] = {"differs": differs}
            result[task] |= in_turn(getattr(self.pytorch, task), partial(self.ours.times, task), self.machine.dry)
        return result

    @torch.no_grad()
    def warm(self, way: Way) -> None:
        """Compiles the way's function."""
        set_precision(PRECISION)
        if self.ways is None:
            self.prepare()
        call = self.ways.call_of(replace(way, graph=False))
        for _ in range(1 if self.machine.dry else WARMUP):  # its own CUDA graphs are made in the second
            call()
        if not self.machine.dry:
            torch.cuda.synchronize()
        self.ways.free_unused()


def compiled_ways() -> dict[str, Way]:
    """The first way of each function that is compiled, by name."""
    first: dict[tuple, Way] = {}
    for way in WAYS:
        if way.mode is not None:
            first.setdefault(way.function_key, way)
    return {way.name: way for way in first.values()}


def parse(arguments: list[str] | None) -> argparse.Namespace:
    parser = Parser("whole-forward", __doc__)
    parser.add_argument("B", type=int, help="sequences")
    parser.add_argument("programs", type=Path, nargs="*", help="the benchmark programs of steps, the newest first")
    parser.add_argument("--dry", action="store_true", help="on the CPU, at a tiny shape")
    parser.add_argument("--warm", action="store_true", help="only compile, for the caches of torch.compile")
    options = parser.parse_args(arguments)
    if bool(options.programs) == options.warm:
        parser.error("with --warm it takes no program" if options.warm else "which step's program? its path follows B")
    return options


def main(arguments: list[str] | None = None) -> int:
    options = parse(arguments)

    def act() -> int:
        bench.demand_gpu(options.dry)
        with contextlib.closing(WholeForward(options.B, options.programs, options.dry)) as whole:
            if options.warm:
                ways = compiled_ways()
                return bench.warm(ways, lambda name: whole.warm(ways[name]), bench.answers_only())
            return bench.serve(whole, whole.items, whole.without)

    return run_main("whole-forward", act, errors=(RuntimeError,))


if __name__ == "__main__":
    sys.exit(main())
