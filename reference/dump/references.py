# SPDX-License-Identifier: MIT
"""What the checks compare a case with: references, floors and suspects; and how they read its calls."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import torch
from torch import Tensor

from reference.dump import budget
from reference.dump.cases import Call, Case, Stored, pad_vocabulary
from reference.ops import OPS, attention

DISTANCE = 10  # a suspect differs from the reference by at least so many fp32 budgets, and somewhere by as many of TF32


def argument(tensors: dict[str, Stored], arg, dtype: torch.dtype = torch.float64):
    """A call's argument: a stored tensor (integers as indices) or a number."""
    if not isinstance(arg, str):
        return arg
    value = torch.as_tensor(tensors[arg])
    return value.long() if value.dtype == torch.int32 else value.to(dtype)


def is_left(arg) -> bool:
    """Returns true if the argument is what an earlier call of its sequence left."""
    return isinstance(arg, str) and arg.startswith("local/")


def taken(op: str, name: str, tensors: dict[str, Stored], arg, dtype: torch.dtype = torch.float64):
    """As argument(), but what an earlier call left is rounded as the op takes it."""
    value = argument(tensors, arg, dtype)
    return value.bfloat16().to(dtype) if is_left(arg) and name in OPS[op].in_bf16 else value


DtypeOf = Callable[[Call, str], torch.dtype]  # takes a call and the name of one of its arguments


def in_float64(_call: Call, _name: str) -> torch.dtype:
    return torch.float64


def arguments_of(case: Case, call: Call, dtype_of: DtypeOf = in_float64) -> list:
    """The call's arguments. What the sequence's earlier calls left is computed by them, from arguments of these dtypes:
    between calls nothing is rounded but what the op takes in fewer bits."""
    left: dict[str, Stored] = {}
    for arg in filter(is_left, call.args.values()):
        if arg in left:
            continue
        earlier = case.calls[: case.calls.index(call)]
        before = next((one for one in earlier if arg.removeprefix("local/") in one.results.values()), None)
        if before is None:
            raise ValueError(f"case {case.name}: a call of {call.op} goes on from {arg}, which no call before it makes")
        made = before.written(OPS[call.op].exact(*arguments_of(case, before, dtype_of)))
        left |= {f"local/{name}": value for name, value in made.items()}
    tensors = case.tensors | left
    return [taken(call.op, name, tensors, arg, dtype_of(call, name)) for name, arg in call.args.items()]


def exact_results(case: Case, call: Call) -> tuple[list, dict[str, Tensor]]:
    args = arguments_of(case, call)
    return args, OPS[call.op].exact(*args)


def floors_of(case: Case) -> dict[str, Tensor]:
    """The floor of every local result, and of the scores and att inside attention."""
    floors = {}
    for call in case.calls:
        args, exact = exact_results(case, call)
        floors |= call.written(OPS[call.op].floors_of(exact, *args))
        if call.op == "attention" and case.model is not None:
            h = call.results["out"].removesuffix(".attn")
            floors[f"{h}.scores"] = attention.all_floors(*args)[2]
        if call.op == "causal_softmax" and case.model is not None:
            h = call.results["att"].removesuffix(".causal_softmax.att")
            floors[f"{h}.att"] = floors[f"{h}.causal_softmax.att"]
    return floors


def local_references(case: Case) -> dict[str, np.ndarray]:
    """local/NAME, and suspect/local/NAME/ID or spread/local/NAME/ID, all from stored float32 inputs."""
    tensors = {}
    for call in case.calls:
        args, exact = exact_results(case, call)
        for name, value in call.written(exact).items():
            tensors[f"local/{name}"] = value.numpy().astype(np.float32)
        for id in call.suspects:
            for name, value in call.written(OPS[call.op].spread(id, *args)).items():
                tensors[f"spread/local/{name}/{id}"] = value.numpy().astype(np.float32)
            for name, value in call.written(OPS[call.op].wrong(id, *args)).items():
                wrong = value.numpy().astype(np.float32)
                if not np.array_equal(wrong, tensors[f"local/{name}"]):  # a dropped bias leaves the mean right
                    tensors[f"suspect/local/{name}/{id}"] = wrong
    return tensors


def chained_suspects(case: Case) -> dict[str, np.ndarray]:
    """suspect/chained/NAME/ID: the order of the model wrong. Listed are the first stream that differs, if there is
    one, and what follows from it at the end."""
    tensors = {}
    if case.model is None:
        return tensors
    tokens, targets = argument(case.tensors, "tokens"), argument(case.tensors, "targets")
    for id, suspect in OPS["forward"].suspects.items():
        if id == "first_layer_everywhere" and case.config["L"] == 1:
            continue
        wrong = pad_vocabulary(suspect.run(case.model, tokens, targets), case.model.config)
        first = {"first_layer_everywhere": "h.1.residual_2", "final_layernorm_dropped": None, "post_norm": None}
        last = () if id.endswith("_residual_of_normed") else ("logits", "losses")  # the stream tells enough
        names = [name for name in (first.get(id, "h.0.residual_2"), *last) if name]
        for name in names:
            tensors[f"suspect/chained/{name}/{id}"] = wrong[name].numpy().astype(np.float32)
    return tensors


def check_suspects(case: Case, tensors: dict[str, Stored], ratios: dict) -> None:
    """Raises ValueError for a suspect that the budget could take for the reference, or that is listed nowhere."""
    made_by = {name: (call, out) for call in case.calls for out, name in call.results.items()}

    def budgets_away(scope: str, name: str, id: str, precision: str) -> float:
        output, floor = name, tensors[f"floor/{name}"]
        if scope == "local":
            call, out = made_by[name]
            output = f"{call.op}.{out}"
            args = arguments_of(case, call)
            floor = budget.floor_in(floor, OPS[call.op].terms(*args) if OPS[call.op].terms else None, precision)
        reference = tensors[f"{scope}/{name}"]
        spread = tensors.get(f"spread/{scope}/{name}/{id}")
        if spread is None:
            wrong = tensors[f"suspect/{scope}/{name}/{id}"]
        else:
            per_row = (*reference.shape[:-1], 1)
            wrong = reference + spread.reshape(reference.shape if spread.size == reference.size else per_row)
        r = budget.ratio_in(ratios, case.name, scope, output, precision)
        return budget.verdict(wrong, reference, floor, r, budget.k_of(precision)).used

    def require(scope: str, name: str, id: str, used: float, precision: str) -> None:
        if not used >= DISTANCE:
            raise ValueError(
                f"case {case.name}: suspect {id} differs from {scope}/{name} by {used:.2g} {precision} budgets, "
                f"not by {DISTANCE}; draw its inputs so that it shows, or drop it there"
            )

    farthest: dict[tuple, tuple[float, str]] = {}  # by the call, or the model, and the suspect: in TF32, and where
    for key in tensors:
        if key.startswith(("suspect/", "spread/")):
            _, scope, name, id = key.split("/")
            require(scope, name, id, budgets_away(scope, name, id, "fp32"), "fp32")
            call = case.calls.index(made_by[name][0]) if scope == "local" else None
            of = (scope, call, id)
            farthest[of] = max(farthest.get(of, (0.0, name)), (budgets_away(scope, name, id, "tf32"), name))
    for (scope, _, id), (used, name) in farthest.items():
        require(scope, name, id, used, "tf32")
    listed = {tuple(key.split("/")[2:]) for key in tensors if key.startswith(("suspect/local/", "spread/local/"))}
    for call in case.calls:
        for id in call.suspects:
            if not any((name, id) in listed for name in call.results.values()):
                raise ValueError(f"case {case.name}: suspect {id} of {call.op} equals the reference")


def described(case: Case, call: Call, tensors: dict[str, Stored]) -> dict:
    """A call as the case file's metadata has it (README.md)."""
    stored = {arg: name for arg, name in call.args.items() if name is None or isinstance(name, str)}
    shapes = {arg: tensors[name].shape for arg, name in stored.items() if name is not None}
    shapes |= {result: tensors[f"local/{name}"].shape for result, name in call.results.items() if name is not None}
    numbers = {arg: value for arg, value in call.args.items() if arg not in stored}
    op = OPS[call.op]
    dims = op.dims(shapes) | {arg: value for arg, value in numbers.items() if isinstance(value, int)} | call.dims
    first = next(name for name in call.results.values() if name is not None)
    result = {
        "op": call.op,
        "case": call.case or case.case or case.name,
        "sequence": call.sequence,
        "where": first.removesuffix(".att") if call.op == "causal_softmax" else first,
        "dims": dims,
        "index": op.index(shapes, dims),
        "scalars": {arg: value for arg, value in numbers.items() if isinstance(value, float)},
        "args": stored,
        "results": call.results,
    }
    return {key: value for key, value in result.items() if value or key not in ("sequence", "index", "scalars")}
