# SPDX-License-Identifier: MIT
"""PyTorch's own error in units of the floor: what budgets.json holds."""

from __future__ import annotations

import contextlib
import math
from collections.abc import Callable, Iterator

import torch
from torch import Tensor

from reference.dump import budget
from reference.dump.cases import BUILDERS, SHARED, Call, Case, run_model
from reference.dump.references import arguments_of, exact_results, floors_of
from reference.model.gpt2 import GPT2
from reference.ops import OPS
from reference.ops.common.op import PRECISIONS
from reference.ops.common.rounding import RoundedFactors, rows, tf32

AGREES = 4  # a stored ratio stays while the fresh one is within this factor of it
ROOM = 2  # a lesson's own case has a ratio of its own where it is larger than so many of the shared one


@contextlib.contextmanager
def precision_mode(precision: str) -> Iterator[None]:
    modes = {
        "fp32": contextlib.nullcontext,
        "tf32": lambda: RoundedFactors(tf32),  # emulated: products and sums are those of float32 on this CPU
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

        def dtype_of(call: Call, name: str, precision: str = precision) -> torch.dtype:
            narrow = in_bf16(call.args[name]) or name in OPS[call.op].in_bf16
            return torch.bfloat16 if precision == "bf16" and narrow else torch.float32

        with precision_mode(precision):
            for call in case.calls:
                _, exact = exact_results_of(case, call)
                args = arguments_of(case, call, dtype_of)
                terms = OPS[call.op].terms(*args) if OPS[call.op].terms else None
                for out, value in OPS[call.op].exact(*args).items():
                    if call.results[out] is None:
                        continue
                    key = ("local", f"{call.op}.{out}", precision)
                    here = ratio(value, exact[out], budget.floor_in(floors[call.results[out]], terms, precision))
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


# ---- budgets.json ----------------------------------------------------------------------------------------------------

Key = tuple[str, str, str]  # scope, output, precision


def measure(draws: int, progress: Callable[[str], None]) -> tuple[dict[Key, float], dict[str, dict[Key, float]]]:
    """The largest ratios over draws: of the cases that all lessons share, and by name of each that a lesson has of its
    own, which moves no other lesson's budget."""
    shared: dict[Key, float] = {}
    own: dict[str, dict[Key, float]] = {}
    for name, build in BUILDERS.items():
        largest = shared if name in SHARED else own.setdefault(name, {})
        for seed in range(draws):
            for key, value in pytorch_ratios(build(name, seed)).items():
                if not math.isfinite(value):
                    scope, output, precision = key
                    raise ValueError(f"{scope} {output}: PyTorch's {precision} error is {value} floors; a floor is 0")
                largest[key] = max(largest.get(key, 0.0), value)
        progress(f"{name}: PyTorch's error over {draws} draws")
    return shared, own


def agrees(stored: float, fresh: float) -> bool:
    """As two processors' do: BUDGET.md says how far they were seen apart. What is below 1 counts as 1."""
    stored, fresh = max(stored, 1.0), max(fresh, 1.0)
    return max(stored, fresh) <= AGREES * min(stored, fresh)


def nested(fresh: dict[Key, float], stored: dict) -> dict[str, dict[str, dict[str, float]]]:
    """By scope, output and precision: each stored ratio that agrees with the fresh one, else the fresh one."""
    result: dict[str, dict[str, dict[str, float]]] = {"local": {}, "chained": {}}
    for (scope, output, precision), value in fresh.items():
        value = float(f"{value:.4g}")
        known = stored.get(scope, {}).get(output, {}).get(precision)
        kept = known is not None and agrees(known, value)
        result[scope].setdefault(output, {})[precision] = known if kept else value
    return result


def ratios_of(shared: dict[Key, float], own: dict[str, dict[Key, float]], draws: int, stored: dict) -> dict:
    """What budgets.json holds, where `stored` is what it held."""
    about = {
        "ratio": "PyTorch's own error in units of the floor, the largest over rows, cases and draws",
        "own": "by case file, that of a lesson's own case, where it is more than twice as large, or the only one",
        "terms": "of an op with terms, in tf32 and bf16: in units of the floor divided by the root of their number",
        "tf32": "emulated: matmul inputs rounded to ten mantissa bits, products and sums in float32",
        "bf16": "torch.autocast on the CPU",
        "draws": draws,
        "torch": torch.__version__.split("+")[0],
        "cpu": torch.backends.cpu.get_cpu_capability(),
    }
    result = nested(shared, stored)
    if all(result[scope] == stored.get(scope) for scope in ("local", "chained")):
        about |= {key: stored["about"][key] for key in ("draws", "torch", "cpu")}  # where these were measured
    larger: dict[str, dict] = {}
    for name, fresh in own.items():
        for (_, output, precision), value in fresh.items():
            known = stored.get("own", {}).get(name, {}).get(output, {}).get(precision)
            if known is None or not agrees(known, value):
                shared_one = result["local"].get(output, {}).get(precision)
                known = None if shared_one and value <= ROOM * max(shared_one, 1.0) else float(f"{value:.4g}")
            if known is not None:
                larger.setdefault(name, {}).setdefault(output, {})[precision] = known
    return {"about": about, "k": budget.all_k(), **result, "own": larger}
