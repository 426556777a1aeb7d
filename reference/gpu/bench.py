# SPDX-License-Identifier: MIT
"""PyTorch on the GPU at the shapes that the device lessons time: the baselines of `make gpu-report PART=baselines`.

An op is timed cold: between samples another buffer, larger than L2, is read. The whole forward pass is timed hot, one
pass after another. Times are between CUDA events. With --dry everything runs on the CPU, at tiny shapes, by the host's
clock, and no number of it is a measurement.

It reads requests from stdin, a line each, and answers with a line of JSON: `list`, or the name of an item.
"""

from __future__ import annotations

import itertools
import json
import os
import statistics
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

try:
    import torch
except ModuleNotFoundError:
    sys.exit(f"{sys.executable} has no PyTorch; PYTHON=… names a Python that has it")

from reference.gpu.lesson_shapes import device_lessons, dims, tiny
from reference.gpu.tools import Parser, ToolError, first_line, run_main
from reference.ops import OPS
from reference.ops.common.op import Baseline, Machine

WHOLE = "B=4 T=1024 C=768 NH=12 L=12"  # GPT-2 124M, the shape of the last lessons of the forward pass
MIN_SAMPLES = 50
MAX_SAMPLES = 200
ENOUGH_S = 1.0  # of samples, once there are MIN_SAMPLES
WARMUP = 5


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


def summarise(samples: list[float]) -> dict:
    """In milliseconds; quantiles between order statistics as checker/clock/timing.h has them."""
    p10, *_, p90 = statistics.quantiles(samples, n=10, method="inclusive")
    times = {"median_ms": statistics.median(samples), "p10_ms": p10, "p90_ms": p90}
    return {name: seconds * 1e3 for name, seconds in times.items()} | {"samples": len(samples)}


class Flush:
    """A buffer that does not fit into L2; reading it leaves nothing else there. Its time also hides what a launch
    costs the host: the op waits in the stream before the buffer is read."""

    def __init__(self) -> None:
        free, _ = torch.cuda.mem_get_info()
        l2 = getattr(torch.cuda.get_device_properties(0), "L2_cache_size", 0)  # older PyTorch does not tell
        self.bytes = min(max(4 * l2, 512 << 20), free // 8)
        self.buffer = torch.ones(self.bytes // 4, device="cuda", dtype=torch.int32)

    def read(self) -> None:
        torch.sum(self.buffer)


def enough(samples: list[float]) -> bool:
    return len(samples) >= MAX_SAMPLES or (len(samples) >= MIN_SAMPLES and sum(samples) >= ENOUGH_S)


def time_cold(call: Call, flush: Flush) -> list[float]:
    samples: list[float] = []
    for i in range(WARMUP + MAX_SAMPLES):
        begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        flush.read()
        begin.record()
        call()
        end.record()
        end.synchronize()
        if i >= WARMUP:
            samples.append(begin.elapsed_time(end) * 1e-3)
            if enough(samples):
                break
    return samples


def one_after_another(call: Call, count: int) -> list[float]:
    """With an event between calls: what the host takes to launch them counts where it is longer."""
    events = [torch.cuda.Event(enable_timing=True) for _ in range(count + 1)]
    events[0].record()
    for event in events[1:]:
        call()
        event.record()
    events[-1].synchronize()
    return [a.elapsed_time(b) * 1e-3 for a, b in itertools.pairwise(events)]


def time_hot(call: Call) -> list[float]:
    for _ in range(WARMUP):
        call()
    samples: list[float] = []
    while not enough(samples):
        samples += one_after_another(call, 10)
    return samples


def on_the_host(call: Call, count: int) -> list[float]:
    """By the host's clock."""
    samples = []
    for _ in range(count):
        begin = time.perf_counter()
        call()
        samples.append(time.perf_counter() - begin)
    return samples


def costed(baseline: str, shape: str, precision: str) -> dict[str, str]:
    """Which call costs as much (build/tools/ops), and the rate that says most of it. Bytes are of float32."""
    if not BASELINES[baseline].as_the_op or (len(BASELINES[baseline].precisions) == 1 and precision != "fp32"):
        return {}
    rate = "tflop_per_s" if len(BASELINES[baseline].precisions) > 1 else "gb_per_s"
    return {"call": f"{OP_OF[baseline]} {shape}", "rate": rate}


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

    @torch.no_grad()
    def run(self, item: BenchItem) -> dict:
        m, shape = self.machine, tiny(item.shape) if self.machine.dry else item.shape
        d = dims(shape)
        torch.manual_seed(0)
        set_precision(item.precision)
        function, arguments = BASELINES[item.op].make(m, d)
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
            samples, cache = time_hot(call), "hot"
        else:
            samples, cache = time_cold(call, self.flush), "cold"
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
        return {"error": f"{type(error).__name__}: {first_line(str(error))}", "lost": not bench.alive()}
    finally:
        set_precision("fp32")


def demand_gpu(dry: bool) -> None:
    if not dry and not torch.cuda.is_available():
        raise ToolError(f"PyTorch {torch.__version__} reaches no GPU; --dry needs none")
    if (override := os.environ.get("NVIDIA_TF32_OVERRIDE")) is not None:
        raise ToolError(f"NVIDIA_TF32_OVERRIDE={override} is set, which decides over TF32 in every item: unset it")


def serve(bench: Bench, items: dict, without: dict[str, str]) -> int:
    # What libraries print to stdout must not get between the answers.
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    for line in sys.stdin:
        print(json.dumps(answer(line.strip(), bench, items, without)), file=answers, flush=True)
    return 0


def main(arguments: list[str] | None = None) -> int:
    parser = Parser("bench-gpu", __doc__)
    parser.add_argument("--dry", action="store_true", help="on the CPU, at tiny shapes")
    options = parser.parse_args(arguments)

    def act() -> int:
        demand_gpu(options.dry)
        known, without = all_items(Path())
        return serve(Bench(options.dry), {item.name: item for item in known}, without)

    return run_main("bench-gpu", act, errors=(RuntimeError,))


if __name__ == "__main__":
    sys.exit(main())
