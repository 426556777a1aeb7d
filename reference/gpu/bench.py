# SPDX-License-Identifier: MIT
"""PyTorch on the GPU at the shapes that the device lessons time: the baselines of `make gpu-report PART=baselines`.

An op is timed cold: between samples another buffer, larger than L2, is read. The whole forward pass is timed hot, one
pass after another. Times are between CUDA events; timing.py says when there are enough. With --dry everything runs on
the CPU, at tiny shapes, by the host's clock, and no number of it is a measurement.

It reads requests from stdin, a line each, and answers with a line of JSON: `list`, or the name of an item. With --warm
it reads nothing, compiles what will be compiled, so that the caches of torch.compile have it, and says so line by line.
"""

from __future__ import annotations

import itertools
import json
import os
import signal
import sys
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import NoReturn, TextIO

try:
    import torch
except ModuleNotFoundError:
    sys.exit(f"{sys.executable} has no PyTorch; PYTHON=… names a Python that has it")

from reference.gpu.lesson_shapes import device_lessons, dims, tiny
from reference.gpu.timing import ColdQueue, summarise, time_cold, time_hot
from reference.gpu.tools import Parser, ToolError, first_line, run_main
from reference.ops import OPS
from reference.ops.common.op import Baseline, Machine

WHOLE = "B=4 T=1024 C=768 NH=12 L=12"  # GPT-2 124M, the shape of the last lessons of the forward pass
DELAY_CYCLES = 100_000  # a unit of a queue's delay: about 50 us

Call = Callable[[], object]
BASELINES: dict[str, Baseline] = {name: baseline for op in OPS.values() for name, baseline in op.baselines.items()}
OP_OF = {name: op for op, of in OPS.items() for name in of.baselines}


# ---- the items -------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class BenchItem:
    op: str
    shape: str
    precision: str
    mode: str  # "eager" or "compile"

    @property
    def name(self) -> str:
        return f"{self.op} {self.shape} {self.precision} {self.mode}"


NO_BASELINE = "no baseline is written for it"


def all_items(root: Path) -> tuple[list[BenchItem], dict[str, str]]:
    """What is timed, each op and shape once; and what has no time, with the reason. Where PyTorch does in one call what
    a lesson does in two, or the other way round, or has several ways, the op has a baseline for each way."""
    pairs = [(op, shape) for lesson in device_lessons(root) for op, shapes in lesson.timed.items() for shape in shapes]
    pairs.append(("forward", WHOLE))
    pairs += [(name, shape) for op, shape in pairs if op in OPS for name in OPS[op].baselines if name != op]
    pairs = list(dict.fromkeys(pairs))
    known = [
        BenchItem(op, shape, precision, mode)
        for mode in ("eager", "compile")  # the slower to prepare last
        for op, shape in pairs
        if op in BASELINES and (mode == "eager" or BASELINES[op].compiled)
        for precision in BASELINES[op].precisions
    ]
    without = {f"{op} {shape}": NO_BASELINE for op, shape in pairs if op not in BASELINES}
    refused = {
        BenchItem(op, shape, precision, "eager").name: why
        for op, shape in pairs
        if op in BASELINES
        for precision, why in BASELINES[op].not_for.items()
    }
    return known, without | refused


# ---- timing ----------------------------------------------------------------------------------------------------------


class Flush:
    """A buffer that does not fit into L2; reading it leaves nothing else there."""

    def __init__(self) -> None:
        free, _ = torch.cuda.mem_get_info()
        l2 = getattr(torch.cuda.get_device_properties(0), "L2_cache_size", 0)  # older PyTorch does not tell
        self.bytes = max(2 * l2, min(max(4 * l2, 512 << 20), free // 8))
        self.buffer = torch.ones(self.bytes // 4, device="cuda", dtype=torch.int32)

    def read(self) -> None:
        torch.sum(self.buffer)


def cold_queue(flush: Flush) -> ColdQueue:
    sleep = getattr(torch.cuda, "_sleep", None)  # no promise of PyTorch's

    def delay(units: int) -> None:
        if sleep is not None:
            sleep(units * DELAY_CYCLES)
            return
        for _ in range(units):
            flush.read()

    return ColdQueue(delay, flush.read, partial(torch.cuda.Event, enable_timing=True))


def one_after_another(call: Call, count: int) -> list[float]:
    """With an event between calls: what the host takes to launch them counts where it is longer."""
    events = [torch.cuda.Event(enable_timing=True) for _ in range(count + 1)]
    events[0].record()
    for event in events[1:]:
        call()
        event.record()
    events[-1].synchronize()
    return [a.elapsed_time(b) * 1e-3 for a, b in itertools.pairwise(events)]


def on_the_host(call: Call, count: int) -> list[float]:
    """By the host's clock."""
    samples = []
    for _ in range(count):
        begin = time.perf_counter()
        call()
        samples.append(time.perf_counter() - begin)
    return samples


THREE_OF_TF32 = {("attention", "fp32"), ("attention_efficient", "fp32"), ("attention_efficient", "tf32")}


def costed(baseline: str, shape: str, precision: str) -> dict[str, str]:
    """Returns the call that costs as much (build/tools/ops), the rate that says most of it, and the peak that limits it
    (impossible.py): SDPA makes a product of fp32 of three of TF32. Bytes are of float32."""
    if not BASELINES[baseline].as_the_op or (len(BASELINES[baseline].precisions) == 1 and precision != "fp32"):
        return {}
    rate = "tflop_per_s" if len(BASELINES[baseline].precisions) > 1 else "gb_per_s"
    by_sdpa = (baseline, precision) in THREE_OF_TF32
    return {"call": f"{OP_OF[baseline]} {shape}", "rate": rate, "peak": "3xtf32" if by_sdpa else precision}


def set_precision(precision: str) -> None:
    torch.set_default_dtype(torch.bfloat16 if precision == "bf16" else torch.float32)
    torch.set_float32_matmul_precision("high" if precision == "tf32" else "highest")  # high: TF32


def compiled(function: Callable, m: Machine) -> Callable:
    """A rehearsal traces and generates no code."""
    torch._dynamo.reset()
    return torch.compile(function, dynamic=False, **({"backend": "eager"} if m.dry else {}))


def worst_difference(a: object, b: object) -> float:
    """Of the first tensors of two results, over the largest value."""
    a, b = ((x[0] if isinstance(x, (tuple, list)) else x).float() for x in (a, b))
    return float((a - b).abs().max() / b.abs().max().clamp_min(1e-30))


class Bench:
    def __init__(self, dry: bool):
        self.machine = Machine("cpu" if dry else "cuda", dry)
        self.flush = None if dry else Flush()

    def alive(self) -> bool:
        """False where an error has taken the GPU's context with it: then only a new process helps."""
        try:
            if not self.machine.dry:
                torch.cuda.synchronize()
                torch.cuda.empty_cache()
        except RuntimeError:
            return False
        return True

    def made(self, item: BenchItem) -> tuple[Callable, tuple, str]:
        """Returns PyTorch's function, its arguments, and their shape."""
        shape = tiny(item.shape) if self.machine.dry else item.shape
        torch.manual_seed(0)
        set_precision(item.precision)
        return *BASELINES[item.op].make(self.machine, dims(shape)), shape

    @torch.no_grad()
    def warm(self, item: BenchItem) -> None:
        function, arguments, _ = self.made(item)
        compiled(function, self.machine)(*arguments)

    @torch.no_grad()
    def run(self, item: BenchItem) -> dict:
        m = self.machine
        function, arguments, shape = self.made(item)
        result: dict = {"op": item.op, "shape": shape, "precision": item.precision, "mode": item.mode}
        if BASELINES[item.op].as_the_op:
            result["of"] = OP_OF[item.op]  # the lessons' op that does the same
        if item.mode == "compile":
            expected = function(*arguments)
            begin = time.perf_counter()
            function = compiled(function, m)
            result["differs_from_eager"] = worst_difference(function(*arguments), expected)
            result["compile_seconds"] = round(time.perf_counter() - begin, 2)
            del expected

        def call() -> object:
            return function(*arguments)

        if m.dry:
            samples, cache = on_the_host(call, 3), "none: a rehearsal on the CPU"
        elif item.op in ("forward", "predict"):
            samples, cache = time_hot(partial(one_after_another, call)), "hot"
        else:
            samples, cache = time_cold(cold_queue(self.flush), call, time.perf_counter), "cold"
        return result | summarise(samples) | {"cache": cache} | costed(item.op, shape, item.precision)


# ---- requests --------------------------------------------------------------------------------------------------------


def versions(dry: bool) -> dict[str, str]:
    found = {"torch": torch.__version__}
    if not dry:
        found |= {"torch_cuda": torch.version.cuda or "none", "cudnn": str(torch.backends.cudnn.version())}
    return found


def answer(line: str, bench: Bench, items: dict, without: dict[str, str]) -> dict:
    """Of a name in `items`: what the bench says of the item."""
    if line == "list":
        return {"items": list(items), "without": without, "versions": versions(bench.machine.dry)}
    if line not in items:
        return {"error": f"{line!r} is no item; `list` names them"}
    try:
        return bench.run(items[line])
    except Exception as error:  # torch.compile fails in many ways, and each is a result here
        return {"error": reason(error), "lost": not bench.alive()}
    finally:
        set_precision("fp32")


def reason(error: Exception) -> str:
    said = first_line(str(error))
    return said if isinstance(error, ToolError) else f"{type(error).__name__}: {said}"


def demand_gpu(dry: bool) -> None:
    if not dry and not torch.cuda.is_available():
        raise ToolError(f"PyTorch {torch.__version__} reaches no GPU; --dry needs none")
    if (override := os.environ.get("NVIDIA_TF32_OVERRIDE")) is not None:
        raise ToolError(f"NVIDIA_TF32_OVERRIDE={override} is set, which decides over TF32 in every item: unset it")


def answers_only() -> TextIO:
    """Returns stdout, to which nothing else writes from then on: libraries would print between the answers."""
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    return answers


def serve(bench: Bench, items: dict, without: dict[str, str]) -> int:
    answers = answers_only()
    for line in sys.stdin:
        print(json.dumps(answer(line.strip(), bench, items, without)), file=answers, flush=True)
    return 0


def end_at_once(*_) -> NoReturn:
    """Ends this process from a signal's handler: PyTorch's callbacks would swallow an exception. Nothing is half
    written, since torch.compile renames files into its caches."""
    os.write(2, b"interrupted\n")
    os._exit(130)


def warm(names: Iterable[str], compile_item: Callable[[str], object], answers: TextIO) -> int:
    """Fills the caches of torch.compile until SIGTERM. One that fails says why, and the next one is compiled."""
    before = signal.signal(signal.SIGTERM, end_at_once)
    try:
        for name in names:
            begin = time.perf_counter()
            try:
                compile_item(name)
                said: dict = {"warmed": name, "seconds": round(time.perf_counter() - begin, 2)}
            except Exception as error:
                said = {"not_warmed": name, "error": reason(error)}
            print(json.dumps(said), file=answers, flush=True)
    finally:
        signal.signal(signal.SIGTERM, before)
    return 0


def main(arguments: list[str] | None = None) -> int:
    parser = Parser("bench-gpu", __doc__)
    parser.add_argument("--dry", action="store_true", help="on the CPU, at tiny shapes")
    parser.add_argument("--warm", action="store_true", help="only compile, for the caches of torch.compile")
    options = parser.parse_args(arguments)

    def act() -> int:
        demand_gpu(options.dry)
        known, without = all_items(Path())
        bench, items = Bench(options.dry), {item.name: item for item in known}
        if options.warm:
            in_mode = [item.name for item in known if item.mode == "compile"]
            return warm(in_mode, lambda name: bench.warm(items[name]), answers_only())
        return serve(bench, items, without)

    return run_main("bench-gpu", act, errors=(RuntimeError,))


if __name__ == "__main__":
    sys.exit(main())
