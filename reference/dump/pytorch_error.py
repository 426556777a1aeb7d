# SPDX-License-Identifier: MIT
"""PyTorch's own error in units of the floor: what budgets.json holds."""

from __future__ import annotations

import contextlib
import math
from collections.abc import Callable, Iterator

import torch
import torch.nn.functional as F
from torch import Tensor
from torch.overrides import TorchFunctionMode

from reference.dump.cases import BUILDERS, Call, Case, run_model
from reference.dump.references import argument, exact_results, floors_of
from reference.model.gpt2 import GPT2
from reference.ops import OPS
from reference.ops.common.op import PRECISIONS
from reference.ops.common.rounding import rows


class Tf32Emulated(TorchFunctionMode):
    """Rounds the inputs of every matmul to ten mantissa bits, to nearest, as TF32 tensor cores take them. Emulated:
    the products and sums are those of float32 on this CPU."""

    MATMULS = (F.linear, torch.matmul, Tensor.matmul, Tensor.__matmul__)

    def __torch_function__(self, func, types, args=(), kwargs=None):
        if func in self.MATMULS:
            args = (tf32(args[0]), tf32(args[1]), *args[2:])
        return func(*args, **(kwargs or {}))


def tf32(x: Tensor) -> Tensor:
    bits = x.contiguous().view(torch.int32)
    return ((bits + (1 << 12)) & ~((1 << 13) - 1)).view(torch.float32)  # 23 mantissa bits to 10


@contextlib.contextmanager
def precision_mode(precision: str) -> Iterator[None]:
    modes = {
        "fp32": contextlib.nullcontext,
        "tf32": Tf32Emulated,
        "bf16": lambda: torch.autocast("cpu", dtype=torch.bfloat16),
    }
    with modes[precision]():
        yield


def in_bf16(arg) -> bool:
    """Whether autocast hands this tensor on in bfloat16: what matmuls make does, the stream and layernorms do not."""
    outputs = ("qkv", "scores", "attn", "attn_proj", "fc", "fc_gelu", "fc_proj", "logits", "probs")
    return isinstance(arg, str) and (
        (arg.startswith("chained/") and arg.rsplit(".", 1)[-1].removeprefix("chained/") in outputs)
        or arg in ("input/gelu/inp", "input/attention/qkv", "input/causal_softmax/scores", "input/softmax/logits")
    )


def ratio(got: Tensor, exact: Tensor, floor: Tensor) -> float:
    """The largest error in units of its floor, which is of a row or of the element."""
    error = (got.double() - exact).abs()
    error = error if error.shape == floor.shape else rows(error)
    return float((error / floor).max())


def pytorch_ratios(case: Case) -> dict[tuple[str, str, str], float]:
    """(scope, name, precision) -> PyTorch's own error in units of the floor: local by op, chained by activation."""
    ratios: dict[tuple[str, str, str], float] = {}
    floors = floors_of(case)
    for precision in PRECISIONS:
        with precision_mode(precision):
            for call in case.calls:
                _, exact = exact_results_of(case, call)
                args = [
                    argument(
                        case.tensors, arg, torch.bfloat16 if precision == "bf16" and in_bf16(arg) else torch.float32
                    )
                    for arg in call.args.values()
                ]
                for out, value in OPS[call.op].exact(*args).items():
                    key = ("local", f"{call.op}.{out}", precision)
                    here = ratio(value, exact[out], floors[call.results[out]])
                    ratios[key] = max(ratios.get(key, 0.0), here)
            if case.model is not None:
                model = GPT2(case.model.config).requires_grad_(False)
                model.load_state_dict(case.model.state_dict())
                acts = run_model(model, case.tensors["tokens"], case.tensors["targets"])
                for name, value in acts.items():
                    ratios["chained", name, precision] = ratio(value, case.exact_chained[name], floors[name])
    return ratios


def exact_results_of(case: Case, call: Call) -> tuple[list, dict[str, Tensor]]:
    """exact_results, whatever precision mode is on."""
    with torch.autocast("cpu", enabled=False), torch._C.DisableTorchFunction():
        return exact_results(case, call)


def measure(draws: int, progress: Callable[[str], None]) -> dict:
    """budgets.json: the largest ratio over cases and seeds."""
    largest: dict[tuple[str, str, str], float] = {}
    for name, build in BUILDERS.items():
        for seed in range(draws):
            for key, value in pytorch_ratios(build(name, seed)).items():
                largest[key] = max(largest.get(key, 0.0), value)
        progress(f"{name}: PyTorch's error over {draws} draws")
    result: dict = {
        "about": {
            "ratio": "PyTorch's own error in units of the floor, the largest over rows, cases and draws",
            "tf32": "emulated: matmul inputs rounded to ten mantissa bits, products and sums in float32",
            "bf16": "torch.autocast on the CPU",
            "draws": draws,
            "torch": torch.__version__.split("+")[0],
            "cpu": torch.backends.cpu.get_cpu_capability(),
        },
        "local": {},
        "chained": {},
    }
    for (scope, name, precision), value in largest.items():
        if not math.isfinite(value):
            raise ValueError(f"{scope} {name}: PyTorch's {precision} error is {value} floors; a floor is 0")
        result[scope].setdefault(name, {})[precision] = float(f"{value:.4g}")
    return result
