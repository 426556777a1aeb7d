# SPDX-License-Identifier: MIT
"""The whole forward pass of GPT-2 124M with TF32: PyTorch's, in each of its ways, and ours, in turn. What the parts
forward_b4, forward_b1 and forward_b16 of `make gpu-report` ask for, a line each, as of bench.py.

Two tasks, the same for both sides:
  forward   tokens on the device to the logits of all rows on the device, no loss; one pass after another, between CUDA
            events. Ours launches its kernels on a stream.
  predict   tokens on the host to the last row's logits on the host, by the host's clock: what a written token takes.
            Ours is the op of that name, PyTorch's copies are asynchronous and its memory on the host is pinned.
Ours computes the Vp = 50,304 columns of the padded vocabulary where PyTorch computes V = 50,257, and keeps all that a
backward pass would read, which PyTorch does not.
"""

from __future__ import annotations

import contextlib
import gc
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import torch
from torch.nn.attention import SDPBackend, sdpa_kernel

from reference.gpu import bench
from reference.gpu.bench import Bench, Call, on_the_host, one_after_another, set_precision, summarise
from reference.gpu.lesson_shapes import dims, tiny
from reference.gpu.step import TOLERANCE, Step
from reference.gpu.tools import Parser, ToolError, run_main
from reference.model.gpt2 import GPT2, save_folder
from reference.ops import forward
from reference.ops.common.op import Machine

SHAPE = "B={} T=1024 C=768 NH=12 L=12"
PRECISION = "tf32"
TASKS = ("forward", "predict")
PASSES = 10  # of one side, before the other's turn
LEAST_ROUNDS, MOST_ROUNDS = 5, 20
ENOUGH_S = 1.5  # of each side's passes, once there are LEAST_ROUNDS


# ---- the ways of PyTorch ---------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Way:
    name: str
    mode: str | None = None  # of torch.compile; None is eager
    back_end: SDPBackend | None = None  # of SDPA, and no other
    graph: bool = False  # captured into one torch.cuda.CUDAGraph, and replayed

    @property
    def has_own_graphs(self) -> bool:
        """Whether torch.compile makes CUDA graphs of it."""
        return self.mode in ("reduce-overhead", "max-autotune")


# The slower to prepare last.
WAYS = (
    Way("eager"),
    Way("eager, one graph", graph=True),
    Way("eager, SDPA efficient", back_end=SDPBackend.EFFICIENT_ATTENTION),
    Way("eager, SDPA math", back_end=SDPBackend.MATH),
    Way("compile", mode="default"),
    Way("compile, one graph", mode="default", graph=True),
    Way("compile reduce-overhead", mode="reduce-overhead"),
    Way("compile max-autotune-no-cudagraphs", mode="max-autotune-no-cudagraphs"),
    Way("compile max-autotune", mode="max-autotune"),
)
NOT_FOR_FLOATS = {
    "eager, SDPA flash": "not for fp32 and TF32: FlashAttention takes fp16 and bf16",
    "eager, SDPA cuDNN": "not for fp32 and TF32: cuDNN's attention takes fp16 and bf16",
}


def captured(call: Call) -> Call:
    """The call as one CUDA graph, warmed up on another stream, as PyTorch's notes on graphs ask for. Each replay writes
    the same result anew."""
    side = torch.cuda.Stream()
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):
        for _ in range(bench.WARMUP):
            call()
    torch.cuda.current_stream().wait_stream(side)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        result = call()

    def replay() -> object:
        graph.replay()
        return result

    return replay


def prepared(way: Way, model: GPT2, tokens: torch.Tensor, dry: bool) -> Call:
    """The pass in that way: tokens (B, T) to logits (B, T, V). A rehearsal generates no code and has no graph."""
    function: Callable = model
    if way.mode is not None:
        function = torch.compile(model, dynamic=False, **({"backend": "eager"} if dry else {"mode": way.mode}))
    back_ends = [way.back_end, SDPBackend.MATH] if dry else [way.back_end]  # a CPU lacks some of them

    def call() -> torch.Tensor:
        if way.has_own_graphs:
            torch.compiler.cudagraph_mark_step_begin()  # the results of the pass before are not needed any more
        with sdpa_kernel(back_ends) if way.back_end is not None else contextlib.nullcontext():
            return function(tokens)[0]

    return captured(call) if way.graph and not dry else call


# ---- both sides ------------------------------------------------------------------------------------------------------


class PyTorch:
    """One way of it, ready to be timed."""

    def __init__(self, way: Way, model: GPT2, ids: torch.Tensor, dry: bool):
        self.dry = dry
        self.on_host = ids if dry else ids.pin_memory()  # (B, T)
        self.tokens = ids.to("cpu" if dry else "cuda")
        self.row = torch.empty(ids.shape[0], model.config.V, pin_memory=not dry)  # (B, V)
        begin = time.perf_counter()
        self.call = prepared(way, model, self.tokens, dry)
        for _ in range(1 if dry else bench.WARMUP):
            self.predict_once()
        self.seconds_to_prepare = time.perf_counter() - begin

    def forward(self, count: int) -> list[float]:
        return on_the_host(self.call, count) if self.dry else one_after_another(self.call, count)

    def predict_once(self) -> None:
        self.tokens.copy_(self.on_host, non_blocking=True)
        self.row.copy_(self.call()[:, -1], non_blocking=True)
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
        super().__init__(program.name.rpartition("-")[2], program, arguments)

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
    """Rounds in which both take PASSES passes, and who begins changes. The first is a warm-up. A ratio is of a round's
    medians, ours over theirs."""
    sides: dict[str, tuple] = {"pytorch": (theirs, []), "ours": (ours, [])}
    ratios: list[float] = []
    count, least, most = (1, 2, 2) if dry else (PASSES, LEAST_ROUNDS, MOST_ROUNDS)
    for nth in range(1 + most):
        medians = {}
        for name in sides if nth % 2 else reversed(sides):
            run, samples = sides[name]
            times = run(count)
            medians[name] = statistics.median(times)
            samples += times if nth > 0 else []
        if nth > 0:
            ratios.append(medians["ours"] / medians["pytorch"])
        if len(ratios) >= least and min(sum(samples) for _, samples in sides.values()) >= ENOUGH_S:
            break
    result: dict = {name: summarise(samples) for name, (_, samples) in sides.items()}
    p10, *_, p90 = statistics.quantiles(ratios, n=10, method="inclusive")
    ratio = {"median": statistics.median(ratios), "p10": p10, "p90": p90, "rounds": len(ratios)}
    return result | {"ours_over_pytorch": ratio}


class WholeForward(Bench):
    """One B: the model, and our program with its weights, serve all ways."""

    def __init__(self, B: int, program: Path, dry: bool):
        self.machine = Machine("cpu" if dry else "cuda", dry)
        shape = SHAPE.format(B)
        self.items = {f"{shape} {way.name}": way for way in WAYS}
        self.without = {f"{shape} {name}": why for name, why in NOT_FOR_FLOATS.items()}
        self.shape = tiny(shape) if dry else shape
        self.program = program
        self.started = contextlib.ExitStack()
        self.ours: Ours | None = None

    def prepare(self) -> None:
        """The weights are on the disk only until our program has loaded them."""
        torch.manual_seed(0)
        self.model, (self.ids,) = forward.baseline(Machine("cpu", self.machine.dry), dims(self.shape))  # ids: (B, T)
        folder = Path(self.started.enter_context(tempfile.TemporaryDirectory(prefix="whole-forward-")))
        save_folder(self.model, folder)
        self.ours = self.started.enter_context(Ours(self.program, folder, self.ids, self.model.config.V))
        self.ours.times("forward", 1)
        (folder / "model.safetensors").unlink()
        self.model.to(self.machine.device)

    def close(self) -> None:
        self.started.close()

    @torch.no_grad()
    def run(self, way: Way) -> dict:
        if self.ours is None:
            self.prepare()
        self.tidy()
        set_precision(PRECISION)
        pytorch = PyTorch(way, self.model, self.ids, self.machine.dry)
        result: dict = {"shape": self.shape, "precision": PRECISION, "way": way.name}
        result["seconds_to_prepare"] = round(pytorch.seconds_to_prepare, 2)
        for task in TASKS:
            self.ours.times(task, 1)
            differs = bench.worst_difference(self.ours.last_logits(), pytorch.row)
            if not differs <= TOLERANCE[PRECISION]:
                raise ToolError(f"{task}: our logits are off by {differs:.1e} of PyTorch's largest")
            result[task] = {"differs": differs}
            result[task] |= in_turn(getattr(pytorch, task), partial(self.ours.times, task), self.machine.dry)
        return result

    def tidy(self) -> None:
        """What the way before has left goes back, a graph's memory too."""
        torch._dynamo.reset()
        gc.collect()
        if not self.machine.dry:
            torch.cuda.empty_cache()


def main(arguments: list[str] | None = None) -> int:
    parser = Parser("whole-forward", __doc__)
    parser.add_argument("B", type=int, help="sequences")
    parser.add_argument("program", type=Path, help="the benchmark program of a step")
    parser.add_argument("--dry", action="store_true", help="on the CPU, at a tiny shape")
    options = parser.parse_args(arguments)

    def act() -> int:
        bench.demand_gpu(options.dry)
        with contextlib.closing(WholeForward(options.B, options.program, options.dry)) as whole:
            return bench.serve(whole, whole.items, whole.without)

    return run_main("whole-forward", act, errors=(RuntimeError,))


if __name__ == "__main__":
    sys.exit(main())
