# SPDX-License-Identifier: MIT
"""Writes the committed cases: reference/cases/*.safetensors and budgets.json. `make reference` runs it.

A case holds inputs, two references for each op, the floor of each row and the suspects:
  local/NAME    the op's output in float64 from its stored float32 inputs: what a lesson's check compares with
  chained/NAME  the same tensor in float64 through the whole model: what whole-model checks compare with
  floor/NAME    the floor of each row (BUDGET.md); shape without the last dimension, or NAME's where that is one a row
  suspect/local/NAME/ID, suspect/chained/NAME/ID   what NAME would be under mistake ID (suspects.py)
NAME is an activation's name in lessons/gpt2/tensors.h, and in the op-level cases OP.OUT as in lessons/gpt2/ops.h.
"""

from __future__ import annotations

import argparse
import contextlib
import functools
import json
import math
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor
from torch.overrides import TorchFunctionMode

from reference.dump import budget, suspects
from reference.model import gpt2
from reference.model.gpt2 import GPT2, Config

CASES = Path(__file__).parents[1] / "cases"
DRAWS = 17  # the committed draw and 16 more
DISTANCE = 10  # a suspect differs from the reference by at least so many fp32 budgets

# The ops: arguments as in ops.h without the dims, results by their names in ops.h.


@dataclass(frozen=True)
class Op:
    run: Callable[..., dict[str, Tensor]]
    floors: Callable[..., dict[str, Tensor]]  # takes the results of run in float64, then the arguments
    suspects: dict[str, Callable[..., dict[str, Tensor]]]


def named(*names: str) -> Callable:
    """Makes functions give their first len(names) results as a dict."""

    def wrap(function: Callable) -> Callable[..., dict[str, Tensor]]:
        @functools.wraps(function)
        def call(*args) -> dict[str, Tensor]:
            result = function(*args)
            if isinstance(result, dict):
                return result
            return dict(zip(names, result if isinstance(result, tuple) else (result,), strict=False))

        return call

    return wrap


def op(names: str, run: Callable, floors: Callable, wrong: dict[str, Callable]) -> Op:
    wrap = named(*names.split())
    return Op(wrap(run), lambda out, *args: wrap(floors)(out, *args), {id: wrap(f) for id, f in wrong.items()})


OPS = {
    "encoder": op(
        "out",
        gpt2.encoder,
        lambda got, *_: budget.floor_encoder(got["out"]),
        {"position_off_by_one": suspects.position_off_by_one, "position_dropped": suspects.position_dropped},
    ),
    "layernorm": op(
        "out mean rstd",
        gpt2.layernorm,
        lambda _, *args: budget.floor_layernorm(*args),
        suspects.LAYERNORM | suspects.LAYERNORM_TAIL | suspects.LAYERNORM_WARP,
    ),
    "gelu": op("out", gpt2.gelu, lambda _, inp: budget.floor_gelu(inp), suspects.GELU | suspects.GELU_EXPONENTIAL),
    "residual": op("out", gpt2.residual, lambda got, *_: budget.floor_residual(got["out"]), {}),
    "matmul": op(
        "out",
        gpt2.matmul,
        lambda _, *args: budget.floor_matmul(*args),
        suspects.MATMUL | suspects.MATMUL_TAIL | suspects.MATMUL_BLOCK | suspects.MATMUL_TILE,
    ),
    "attention": op("out lse", gpt2.attention, lambda _, *args: budget.floor_attention(*args)[:2], suspects.ATTENTION),
    "causal_softmax": op(
        "att lse",
        gpt2.causal_softmax,
        lambda _, *args: budget.floor_causal_softmax(*args),
        suspects.CAUSAL_SOFTMAX,
    ),
    "softmax": op(
        "probs",
        lambda logits, V: F.pad(gpt2.softmax(logits[..., :V]), (0, logits.shape[-1] - V)),
        lambda _, logits, V: budget.floor_softmax(logits[..., :V]),
        suspects.SOFTMAX,
    ),
    "crossentropy": op(
        "losses",
        lambda probs, targets, V: gpt2.crossentropy(probs, targets),
        lambda got, *_: budget.floor_crossentropy(got["losses"]),
        suspects.CROSSENTROPY,
    ),
}


@dataclass(frozen=True)
class Call:
    """One op on stored tensors: arguments by name in the case file, or plain numbers; results to their names. `dims`
    are those that the tensors' shapes do not tell."""

    op: str
    args: dict[str, str | float | None]
    results: dict[str, str]
    suspects: tuple[str, ...] = ()
    dims: dict[str, int] = field(default_factory=dict)


@dataclass
class Case:
    name: str
    config: dict
    tensors: dict[str, np.ndarray]  # as stored: inputs and chained references
    calls: list[Call]
    exact_chained: dict[str, Tensor] = field(default_factory=dict)  # float64
    model: GPT2 | None = None  # float64


# Draws. NumPy's generator gives the same numbers on every machine; all are rounded to float32.


@dataclass(frozen=True)
class Shape:
    B: int
    T: int
    config: Config
    gelu: tuple[str, ...] = ()  # suspects beside suspects.GELU


MODELS = {
    "regular": Shape(2, 8, Config(max_T=16, V=200, L=2, NH=4, C=64), ("exponential_of_plus_2u",)),
    "odd": Shape(3, 37, Config(max_T=41, V=101, L=2, NH=3, C=60)),
    "head64": Shape(2, 16, Config(max_T=16, V=65, L=1, NH=2, C=128)),
    "t1": Shape(2, 1, Config(max_T=8, V=65, L=1, NH=4, C=64)),
}


def generator(case: str, seed: int) -> np.random.Generator:
    return np.random.default_rng([*case.encode(), seed])


def normal(rng: np.random.Generator, std: float, *shape: int) -> np.ndarray:
    return (std * rng.standard_normal(shape)).astype(np.float32)


def draw_parameters(rng: np.random.Generator, c: Config) -> dict[str, np.ndarray]:
    """Drawn wide, so that no mistake hides: biases 0.1 N(0,1), gains 1 + 0.2 N(0,1), scaled scores of σ ≈ 3."""
    params = {"wte.weight": normal(rng, 0.3, c.V, c.C), "wpe.weight": normal(rng, 0.3, c.max_T, c.C)}

    def layernorm(name: str) -> None:
        params[f"{name}.weight"] = 1 + normal(rng, 0.2, c.C)
        params[f"{name}.bias"] = normal(rng, 0.1, c.C)

    def linear(name: str, C: int, OC: int, out: float) -> None:
        params[f"{name}.weight"] = normal(rng, out / math.sqrt(C), OC, C)  # rows of σ 1 give outputs of σ out
        params[f"{name}.bias"] = normal(rng, 0.1, OC)

    for l in range(c.L):
        layernorm(f"h.{l}.ln_1")
        linear(f"h.{l}.attn.c_attn", c.C, 3 * c.C, math.sqrt(3))  # q k / sqrt(HS): σ = 3
        linear(f"h.{l}.attn.c_proj", c.C, c.C, 1)
        layernorm(f"h.{l}.ln_2")
        linear(f"h.{l}.mlp.c_fc", c.C, 4 * c.C, 1.5)
        linear(f"h.{l}.mlp.c_proj", 4 * c.C, c.C, 1)
    layernorm("ln_f")
    return params


def small_variance(params: dict[str, np.ndarray], tokens: np.ndarray, rng: np.random.Generator) -> None:
    """Makes the last row of the first sequence of `encoded` small (variance ≈ 2e-5), so that 1e-5 counts in ln_1."""
    token, t = tokens[0, -1], tokens.shape[1] - 1
    C = params["wpe.weight"].shape[1]
    params["wte.weight"][token] = normal(rng, 0.003, C)
    params["wpe.weight"][t] = normal(rng, 0.003, C)


def model_case(name: str, seed: int) -> Case:
    shape = MODELS[name]
    B, T, c = shape.B, shape.T, shape.config
    rng = generator(name, seed)
    params = draw_parameters(rng, c)
    tokens = rng.integers(0, c.V, (B, T), dtype=np.int32)
    targets = rng.integers(0, c.V, (B, T), dtype=np.int32)
    small_variance(params, tokens, rng)
    model = GPT2(c).double().requires_grad_(False)
    model.load_state_dict({key: torch.from_numpy(value) for key, value in params.items()})
    exact = run_model(model, tokens, targets)
    tensors = {"tokens": tokens, "targets": targets}
    for key, value in params.items():
        tensors[f"param/{key}"] = np.pad(value, ((0, c.Vp - c.V), (0, 0))) if key == "wte.weight" else value
    for key, value in exact.items():
        tensors[f"chained/{key}"] = value.numpy().astype(np.float32)
    config = {"B": B, "T": T, "C": c.C, "NH": c.NH, "V": c.V, "Vp": c.Vp, "max_T": c.max_T, "L": c.L}
    return Case(name, config, tensors, model_calls(c, T, shape.gelu), exact, model)


def pad_vocabulary(acts: dict[str, Tensor], c: Config) -> dict[str, Tensor]:
    return {key: F.pad(x, (0, c.Vp - c.V)) if key in ("logits", "probs") else x for key, x in acts.items()}


def run_model(model: GPT2, tokens: np.ndarray, targets: np.ndarray) -> dict[str, Tensor]:
    keep: dict[str, Tensor] = {}
    model(torch.from_numpy(tokens).long(), torch.from_numpy(targets).long(), keep)
    return pad_vocabulary(keep, model.config)


def model_calls(c: Config, T: int, gelu: tuple[str, ...]) -> list[Call]:
    """Every op of the model. Suspects are listed once an op, where they first occur; that keeps the files small.
    With one token there is nothing to mask or to weigh."""
    calls = []

    def layernorm(inp: str, name: str, first: bool) -> None:
        ids = tuple(suspects.LAYERNORM) if first else ()
        results = {"out": name, "mean": f"{name}_mean", "rstd": f"{name}_rstd"}
        args = {"inp": f"chained/{inp}", "weight": f"param/{name}.weight", "bias": f"param/{name}.bias"}
        calls.append(Call("layernorm", args, results, ids))

    def matmul(inp: str, weight: str, out: str, first: bool) -> None:
        ids = tuple(suspects.MATMUL) if first else ()
        args = {"inp": f"chained/{inp}", "weight": f"param/{weight}.weight", "bias": f"param/{weight}.bias"}
        calls.append(Call("matmul", args, {"out": out}, ids))

    def residual(inp1: str, inp2: str, out: str) -> None:
        calls.append(Call("residual", {"inp1": f"chained/{inp1}", "inp2": f"chained/{inp2}"}, {"out": out}))

    encoder = ("position_off_by_one", "position_dropped") if T < c.max_T else ("position_dropped",)
    args = {"tokens": "tokens", "wte": "param/wte.weight", "wpe": "param/wpe.weight"}
    calls.append(Call("encoder", args, {"out": "encoded"}, encoder))
    stream = "encoded"
    for l in range(c.L):
        h, first = f"h.{l}", l == 0
        layernorm(stream, f"{h}.ln_1", first)
        matmul(f"{h}.ln_1", f"{h}.attn.c_attn", f"{h}.qkv", first)
        ids = tuple(id for id in suspects.ATTENTION if first and id != "no_max_subtraction")
        ids = ids if T > 1 else tuple(id for id in ids if id == "key_value_swapped")
        args = {"qkv": f"chained/{h}.qkv", "NH": c.NH}
        calls.append(Call("attention", args, {"out": f"{h}.attn", "lse": f"{h}.lse"}, ids))
        ids = tuple(id for id in suspects.CAUSAL_SOFTMAX if first and T > 1 and id != "no_max_subtraction")
        results = {"att": f"{h}.causal_softmax.att", "lse": f"{h}.causal_softmax.lse"}
        args = {"scores": f"chained/{h}.scores", "scale": 1 / math.sqrt(c.C // c.NH)}
        calls.append(Call("causal_softmax", args, results, ids))
        matmul(f"{h}.attn", f"{h}.attn.c_proj", f"{h}.attn_proj", first)
        residual(stream, f"{h}.attn_proj", f"{h}.residual_1")
        layernorm(f"{h}.residual_1", f"{h}.ln_2", first=False)
        matmul(f"{h}.ln_2", f"{h}.mlp.c_fc", f"{h}.fc", first=False)
        ids = (*suspects.GELU, *gelu) if first else ()
        calls.append(Call("gelu", {"inp": f"chained/{h}.fc"}, {"out": f"{h}.fc_gelu"}, ids))
        matmul(f"{h}.fc_gelu", f"{h}.mlp.c_proj", f"{h}.fc_proj", first=False)
        residual(f"{h}.residual_1", f"{h}.fc_proj", f"{h}.residual_2")
        stream = f"{h}.residual_2"
    layernorm(stream, "ln_f", first=False)
    args = {"inp": "chained/ln_f", "weight": "param/wte.weight", "bias": None}
    calls.append(Call("matmul", args, {"out": "logits"}, ("weight_transposed",), {"OC": c.V}))
    calls.append(Call("softmax", {"logits": "chained/logits", "V": c.V}, {"probs": "probs"}, ("includes_padding",)))
    args = {"probs": "chained/probs", "targets": "targets", "V": c.V}
    calls.append(Call("crossentropy", args, {"losses": "losses"}, tuple(suspects.CROSSENTROPY)))
    return calls


def op_call(op_name: str, args: dict, results: str, ids: tuple[str, ...]) -> tuple[Call, dict[str, np.ndarray]]:
    """An op on its own: its inputs are stored as input/OP/ARG, its results as OP.OUT."""
    stored = {f"input/{op_name}/{arg}": value for arg, value in args.items() if isinstance(value, np.ndarray)}
    names = {a: f"input/{op_name}/{a}" if isinstance(v, np.ndarray) else v for a, v in args.items()}
    return Call(op_name, names, {out: f"{op_name}.{out}" for out in results.split()}, ids), stored


def op_case(name: str, config: dict, parts: list[tuple[Call, dict[str, np.ndarray]]]) -> Case:
    tensors = {key: value for _, stored in parts for key, value in stored.items()}
    return Case(name, config, tensors, [call for call, _ in parts])


def c63_case(name: str, seed: int) -> Case:
    rng = generator(name, seed)
    B, T, C, V, max_T, OC = 3, 37, 63, 101, 41, 101
    inp = normal(rng, 1, B, T, C) + normal(rng, 0.5, B, T, 1)
    inp[0, 3] = normal(rng, 0.003, C)  # variance ≈ 1e-5: as large as epsilon
    inp[2, 30] = 0.25 + normal(rng, 0.001, C)  # variance ≈ 1e-6 beside a mean
    weight, bias = 1 + normal(rng, 0.2, C), normal(rng, 0.1, C)
    tokens = rng.integers(0, V, (B, T), dtype=np.int32)
    encoder = {"tokens": tokens, "wte": normal(rng, 0.3, V, C), "wpe": normal(rng, 0.3, max_T, C)}
    matmul = {
        "inp": normal(rng, 1, B * T, C),
        "weight": normal(rng, 1 / math.sqrt(C), OC, C),
        "bias": normal(rng, 0.1, OC),
    }
    pair = {"inp1": normal(rng, 1, B, T, C), "inp2": normal(rng, 0.5, B, T, C)}
    config = {"B": B, "T": T, "C": C, "V": V, "Vp": V, "max_T": max_T, "OC": OC}
    layernorm = {"inp": inp, "weight": weight, "bias": bias}
    # Without the root, a small variance gives outputs so large that float32 no longer meets the suspect within budgets.
    layernorm_ids = tuple(id for id in suspects.LAYERNORM | suspects.LAYERNORM_TAIL if id != "root_missing")
    parts = [
        op_call("encoder", encoder, "out", ("position_off_by_one", "position_dropped")),
        op_call("layernorm", layernorm, "out mean rstd", layernorm_ids),
        # The other forms of GELU are in every model case.
        op_call("gelu", {"inp": normal(rng, 1.5, B, T, C)}, "out", ("exact_gelu", "exponential_of_u")),
        op_call("residual", pair, "out", ()),
        op_call("matmul", matmul, "out", (*suspects.MATMUL, *suspects.MATMUL_TAIL)),
    ]
    return op_case(name, config, parts)


def wide_case(name: str, seed: int) -> Case:
    """Sums of several blocks of terms, or of several turns of a warp, the last of them short; and gelu where float32's
    exp overflows and vanishes."""
    rng = generator(name, seed)
    N, C, OC = 13, 1000, 37
    matmul = {
        "inp": normal(rng, 1, N, C),
        "weight": normal(rng, 1 / math.sqrt(C), OC, C),
        "bias": normal(rng, 0.1, OC),
    }
    inp = normal(rng, 1.5, N, OC)
    inp[0] = np.linspace(-60, 60, OC)
    inp[1] *= 4
    layernorm = {
        "inp": normal(rng, 1, 3, 180) + normal(rng, 0.5, 3, 1),
        "weight": 1 + normal(rng, 0.2, 180),
        "bias": normal(rng, 0.1, 180),
    }
    layernorm["inp"][2] = 0.25 + normal(rng, 0.003, 180)  # variance ≈ 1e-5: as large as epsilon
    parts = [
        op_call("matmul", matmul, "out", tuple(suspects.MATMUL_BLOCK)),
        op_call("gelu", {"inp": inp}, "out", ()),
        op_call("layernorm", layernorm, "out mean rstd", tuple(suspects.LAYERNORM_WARP)),
    ]
    return op_case(name, {"N": N, "C": C, "OC": OC}, parts)


def tile_case(name: str, seed: int) -> Case:
    """Sums of two tiles of 32 terms and a short third, in a corner of one tile of outputs."""
    rng = generator(name, seed)
    N, C, OC = 6, 75, 9
    matmul = {
        "inp": normal(rng, 1, N, C),
        "weight": normal(rng, 1 / math.sqrt(C), OC, C),
        "bias": normal(rng, 0.1, OC),
    }
    return op_case(name, {"N": N, "C": C, "OC": OC}, [op_call("matmul", matmul, "out", tuple(suspects.MATMUL_TILE))])


def large_scores_case(name: str, seed: int) -> Case:
    """Rows of scaled scores near +150, near -150 and ordinary ones: float32's exp overflows, vanishes, is right."""
    rng = generator(name, seed)
    B, T, NH, HS, V, Vp = 2, 12, 2, 16, 65, 128
    N, C, scale = B * T, NH * HS, 1 / math.sqrt(HS)
    level = np.array([0, 150, -150], dtype=np.float32)

    scaled = normal(rng, 3, B, NH, T, T) + level[rng.permuted(np.arange(B * NH * T) % 3).reshape(B, NH, T, 1)]
    scores = (scaled / np.float32(scale)).astype(np.float32)
    # Query t = its level along a direction that every key has too, plus noise: scaled score = level + noise.
    direction = np.full(HS, HS**-0.5, dtype=np.float32)
    query_level = level[rng.permuted(np.arange(B * T * NH) % 3).reshape(B, T, NH, 1)]
    query = query_level / np.float32(scale) * direction + normal(rng, 1.5, B, T, NH, HS)
    key = direction * (1 + normal(rng, 0.02, B, T, NH, 1)) + normal(rng, 1, B, T, NH, HS)
    key -= direction * (key @ direction)[..., None] - direction * (1 + normal(rng, 0.02, B, T, NH, 1))
    value = normal(rng, 1, B, T, NH, HS)
    qkv = np.stack([query, key, value], axis=2).reshape(B, T, 3 * C).astype(np.float32)
    logits = np.zeros((N, Vp), dtype=np.float32)
    logits[:, :V] = normal(rng, 3, N, V) + level[rng.permuted(np.arange(N) % 3).reshape(N, 1)]

    config = {"B": B, "T": T, "C": C, "NH": NH, "V": V, "Vp": Vp, "scale": scale}
    parts = [
        op_call("attention", {"qkv": qkv, "NH": NH}, "out lse", tuple(suspects.ATTENTION)),
        op_call("causal_softmax", {"scores": scores, "scale": scale}, "att lse", tuple(suspects.CAUSAL_SOFTMAX)),
        op_call("softmax", {"logits": logits, "V": V}, "probs", tuple(suspects.SOFTMAX)),
    ]
    return op_case(name, config, parts)


BUILDERS: dict[str, Callable[[str, int], Case]] = {
    **dict.fromkeys(MODELS, model_case),
    "op_c63": c63_case,
    "op_large_scores": large_scores_case,
    "op_wide": wide_case,
    "op_tile": tile_case,
}


# The calls as the checks read them: which tensors an op takes and gives, and the integers that it is called with.


def as_rows(shape: tuple[int, ...]) -> dict[str, int]:
    return {"B": math.prod(shape[:-2]), "T": shape[-2], "C": shape[-1]}


def elements(shape: tuple[int, ...]) -> dict[str, int]:
    return {"N": math.prod(shape)}


# Shapes of the arguments and the results -> the integers of ops.h.
DIMS: dict[str, Callable[[dict], dict[str, int]]] = {
    "encoder": lambda at: as_rows(at["out"]),
    "layernorm": lambda at: as_rows(at["out"]),
    "gelu": lambda at: elements(at["out"]),
    "residual": lambda at: elements(at["out"]),
    "matmul": lambda at: {
        "N": math.prod(at["inp"][:-1]),
        "C": at["inp"][-1],
        "OC": at["weight"][0],
        "out_stride": at["out"][-1],
    },
    "causal_softmax": lambda at: dict(zip(("B", "NH", "T"), at["lse"], strict=True)),
    "attention": lambda at: as_rows(at["out"]) | {"NH": at["lse"][1]},
    "softmax": lambda at: elements(at["probs"][:-1]) | {"Vp": at["probs"][-1]},
    "crossentropy": lambda at: elements(at["losses"]) | {"Vp": at["probs"][-1]},
}


def index_of(call: Call, at: dict[str, tuple[int, ...]], dims: dict[str, int]) -> dict[str, str]:
    """How the elements of a tensor are named where the op's own N is a product of the model's dimensions."""
    if call.op in ("gelu", "residual"):
        names = "B T C" if len(at["out"]) == 3 else "rows/r cols/c"
        return dict.fromkeys(at, names)
    if call.op == "matmul" and len(at["inp"]) == 3:
        return {"inp": "B T C", "out": "B T OC/o" if dims["OC"] == dims["out_stride"] else "B T out_stride/o"}
    if call.op == "softmax" and len(at["probs"]) == 3:
        return dict.fromkeys(at, "B T Vp/v")
    if call.op == "crossentropy" and len(at["probs"]) == 3:
        return {"losses": "B T", "probs": "B T Vp/v", "targets": "B T"}
    return {}


def described(case: Case, call: Call, tensors: dict[str, np.ndarray]) -> dict:
    """A call as the case file's metadata has it (README.md)."""
    stored = {arg: name for arg, name in call.args.items() if name is None or isinstance(name, str)}
    shapes = {arg: tensors[name].shape for arg, name in stored.items() if name is not None}
    shapes |= {result: tensors[f"local/{name}"].shape for result, name in call.results.items()}
    numbers = {arg: value for arg, value in call.args.items() if arg not in stored}
    dims = DIMS[call.op](shapes) | {arg: value for arg, value in numbers.items() if isinstance(value, int)} | call.dims
    if call.op == "crossentropy":
        del dims["V"]  # only its suspect asks for it
    first = next(iter(call.results.values()))
    result = {
        "op": call.op,
        "case": case.name,
        "where": first.removesuffix(".att") if call.op == "causal_softmax" else first,
        "dims": dims,
        "index": index_of(call, shapes, dims),
        "scalars": {arg: value for arg, value in numbers.items() if isinstance(value, float)},
        "args": stored,
        "results": call.results,
    }
    return {key: value for key, value in result.items() if value or key not in ("index", "scalars")}


# References, floors and suspects of a case.


def argument(tensors: dict[str, np.ndarray], arg, dtype: torch.dtype = torch.float64):
    """A call's argument: a stored tensor (integers as indices) or a number."""
    if not isinstance(arg, str):
        return arg
    value = torch.from_numpy(tensors[arg])
    return value.long() if value.dtype == torch.int32 else value.to(dtype)


def exact_results(case: Case, call: Call) -> tuple[list, dict[str, Tensor]]:
    args = [argument(case.tensors, arg) for arg in call.args.values()]
    return args, OPS[call.op].run(*args)


def floors_of(case: Case) -> dict[str, Tensor]:
    """The floor of every local result, and of the scores and att inside attention."""
    floors = {}
    for call in case.calls:
        args, exact = exact_results(case, call)
        for out, value in OPS[call.op].floors(exact, *args).items():
            floors[call.results[out]] = value
        if call.op == "attention" and case.model is not None:
            h = call.results["out"].removesuffix(".attn")
            floors[f"{h}.scores"] = budget.floor_attention(*args)[2]
        if call.op == "causal_softmax" and case.model is not None:
            h = call.results["att"].removesuffix(".causal_softmax.att")
            floors[f"{h}.att"] = floors[f"{h}.causal_softmax.att"]
    return floors


def local_references(case: Case) -> dict[str, np.ndarray]:
    """local/NAME and suspect/local/NAME/ID, all from stored float32 inputs."""
    tensors = {}
    for call in case.calls:
        args, exact = exact_results(case, call)
        for out, name in call.results.items():
            tensors[f"local/{name}"] = exact[out].numpy().astype(np.float32)
        for id in call.suspects:
            for out, value in OPS[call.op].suspects[id](*args).items():
                wrong = value.numpy().astype(np.float32)
                name = call.results[out]
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
    for id in suspects.FORWARD:
        if id == "first_layer_everywhere" and case.config["L"] == 1:
            continue
        wrong = pad_vocabulary(suspects.forward(case.model, tokens, targets, id), case.model.config)
        first = {"first_layer_everywhere": "h.1.residual_2", "final_layernorm_dropped": None, "post_norm": None}
        names = [name for name in (first.get(id, "h.0.residual_2"), "logits", "losses") if name]
        for name in names:
            tensors[f"suspect/chained/{name}/{id}"] = wrong[name].numpy().astype(np.float32)
    return tensors


# PyTorch's own error.


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
    error = error if error.shape == floor.shape else budget.rows(error)
    return float((error / floor).max())


def pytorch_ratios(case: Case) -> dict[tuple[str, str, str], float]:
    """(scope, name, precision) -> PyTorch's own error in units of the floor: local by op, chained by activation."""
    ratios: dict[tuple[str, str, str], float] = {}
    floors = floors_of(case)
    for precision in ("fp32", "tf32", "bf16"):
        with precision_mode(precision):
            for call in case.calls:
                _, exact = exact_results_of(case, call)
                args = [
                    argument(
                        case.tensors, arg, torch.bfloat16 if precision == "bf16" and in_bf16(arg) else torch.float32
                    )
                    for arg in call.args.values()
                ]
                for out, value in OPS[call.op].run(*args).items():
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


def check_suspects(case: Case, tensors: dict[str, np.ndarray], ratios: dict) -> None:
    """Raises ValueError for a suspect that the budget could take for the reference, or that is listed nowhere."""
    k = budget.k_of("fp32")
    op_of = {name: f"{call.op}.{out}" for call in case.calls for out, name in call.results.items()}
    for key in tensors:
        if not key.startswith("suspect/"):
            continue
        _, scope, name, id = key.split("/")
        r = ratios[scope][name if scope == "chained" else op_of[name]]["fp32"]
        used = budget.verdict(tensors[key], tensors[f"{scope}/{name}"], tensors[f"floor/{name}"], r, k).used
        if not used >= DISTANCE:
            raise ValueError(
                f"case {case.name}: suspect {id} differs from {scope}/{name} by {used:.2g} fp32 budgets, "
                f"not by {DISTANCE}; draw its inputs so that it shows, or drop it there"
            )
    listed = {tuple(key.split("/")[2:]) for key in tensors if key.startswith("suspect/local/")}
    for call in case.calls:
        for id in call.suspects:
            if not any((name, id) in listed for name in call.results.values()):
                raise ValueError(f"case {case.name}: suspect {id} of {call.op} equals the reference")


def complete(case: Case, ratios: dict) -> dict[str, np.ndarray]:
    tensors = dict(case.tensors)
    tensors |= {f"floor/{name}": value.numpy().astype(np.float32) for name, value in floors_of(case).items()}
    tensors |= local_references(case) | chained_suspects(case)
    for name, value in tensors.items():
        if not name.startswith("suspect/") and not np.isfinite(value).all():
            raise ValueError(f"case {case.name}: {name} is not finite; draw its inputs narrower")
    check_suspects(case, tensors, ratios)
    return tensors


def metadata_of(case: Case, tensors: dict[str, np.ndarray]) -> dict[str, str]:
    ids = sorted({key.rsplit("/", 1)[-1] for key in tensors if key.startswith("suspect/")})
    sentences = {id: suspects.SENTENCES[id] for id in ids}
    return {
        "case": case.name,
        "config": json.dumps(case.config),
        "suspects": json.dumps(sentences),
        "calls": json.dumps([described(case, call, tensors) for call in case.calls]),
    }


def safetensors_bytes(tensors: dict[str, np.ndarray], metadata: dict[str, str]) -> bytes:
    """A safetensors file whose bytes depend on its content only: names in order, data from a multiple of 64 on."""
    kinds = {np.dtype(np.float32): "F32", np.dtype(np.int32): "I32"}
    header: dict = {"__metadata__": metadata}
    offset = 0
    for name in sorted(tensors):
        value = tensors[name]
        header[name] = {
            "dtype": kinds[value.dtype],
            "shape": list(value.shape),
            "data_offsets": [offset, offset + value.nbytes],
        }
        offset += value.nbytes
    text = json.dumps(header).encode()
    text += b" " * (-(len(text) + 8) % 64)
    return b"".join([len(text).to_bytes(8, "little"), text, *(tensors[name].tobytes() for name in sorted(tensors))])


def dump(out: Path, draws: int = DRAWS, ratios: dict | None = None, progress: Callable[[str], None] = print) -> None:
    """Writes all cases and budgets.json to out, or nothing."""
    ratios = measure(draws, progress) if ratios is None else ratios
    files = {out / "budgets.json": (json.dumps(ratios, indent=1) + "\n").encode()}
    for name, build in BUILDERS.items():
        case = build(name, 0)
        tensors = complete(case, ratios)
        files[out / f"{name}.safetensors"] = safetensors_bytes(tensors, metadata_of(case, tensors))
    gpt2.write_all(files)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, default=CASES, help="folder to write to (default: reference/cases)")
    parser.add_argument("--draws", type=int, default=DRAWS, help=f"draws of each case for PyTorch's error ({DRAWS})")
    args = parser.parse_args()
    if args.draws < 1:
        parser.error("--draws must be at least 1")
    start = time.monotonic()

    def say(text: str) -> None:
        print(f"{time.monotonic() - start:5.1f} s  {text}", flush=True)

    torch.set_num_threads(1)  # small tensors: threads would only wait for each other
    try:
        args.out.mkdir(parents=True, exist_ok=True)  # before the work, not after it
        dump(
            args.out, args.draws, progress=lambda line: print(f"{time.monotonic() - start:5.1f} s  {line}", flush=True)
        )
    except OSError as error:
        print(f"dump: cannot write to {args.out}: {error.strerror}; nothing was changed there", file=sys.stderr)
        return 1
    except ValueError as error:
        print(f"dump: {error}", file=sys.stderr)
        return 1
    size = sum(path.stat().st_size for path in args.out.iterdir())
    say(f"wrote {args.out}: {len(BUILDERS)} cases, {size / 1e6:.1f} MB")
    return 0


if __name__ == "__main__":
    sys.exit(main())
