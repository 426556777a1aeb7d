# SPDX-License-Identifier: MIT
"""The committed cases: which shapes, which inputs, which op is called with what, and which suspects are listed.

Draws are NumPy's generator's, which gives the same numbers on every machine; all are rounded to float32.
"""

from __future__ import annotations

import importlib.util
import math
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor

from reference.model.gpt2 import GPT2, Config
from reference.ops import OPS
from reference.ops import attention as attention_op
from reference.ops import causal_softmax as causal_softmax_op
from reference.ops import encoder as encoder_op
from reference.ops import gelu as gelu_op
from reference.ops import layernorm as layernorm_op
from reference.ops import loss as loss_op
from reference.ops import matmul as matmul_op
from reference.ops import softmax as softmax_op


@dataclass(frozen=True)
class Call:
    """One op on stored tensors: arguments by name in the case file, or plain numbers; results to their names. `dims`
    are those that the tensors' shapes do not tell; `case` is what the checks call it, where that is not the file's;
    `sequence` names the calls in a row that go on from each other (op_sequence)."""

    op: str
    args: dict[str, str | float | None]
    results: dict[str, str | None]  # None: the argument is null
    suspects: tuple[str, ...] = ()
    dims: dict[str, int] = field(default_factory=dict)
    case: str = ""
    sequence: str = ""

    def written(self, returned: dict[str, Tensor]) -> dict[str, Tensor]:
        """What the op returned, by the results' names in the case file; without those whose argument is null."""
        return {name: returned[out] for out, name in self.results.items() if name is not None and out in returned}


# A stored tensor. NumPy has no elements of fewer bits than float16: tensors of these are PyTorch's.
Stored = np.ndarray | Tensor


@dataclass
class Case:
    name: str
    config: dict
    tensors: dict[str, Stored]  # as stored: inputs and chained references
    calls: list[Call]
    exact_chained: dict[str, Tensor] = field(default_factory=dict)  # float64
    model: GPT2 | None = None  # float64
    case: str = ""  # its name in the checks; empty: the file's


Builder = Callable[[str, int], Case]  # of the file's name and a seed


@dataclass(frozen=True)
class Shape:
    B: int
    T: int
    config: Config
    gelu: tuple[str, ...] = ()  # suspects beside gelu.SUSPECTS
    more: bool = False  # more suspects: every file need not have them


MODELS = {
    "regular": Shape(2, 8, Config(max_T=16, V=200, L=2, NH=4, C=64), ("exponential_of_plus_2u",), more=True),
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


def model_case(name: str, seed: int, shape: Shape | None = None, logits: float = 1) -> Case:
    """A model of MODELS, or of another shape; its logits times a factor."""
    shape = shape or MODELS[name]
    B, T, c = shape.B, shape.T, shape.config
    rng = generator(name, seed)
    params = draw_parameters(rng, c)
    for part in ("weight", "bias"):
        params[f"ln_f.{part}"] *= np.float32(logits)
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
    return Case(name, config, tensors, model_calls(c, T, shape.more, shape.gelu), exact, model)


def pad_vocabulary(acts: dict[str, Tensor], c: Config) -> dict[str, Tensor]:
    return {key: F.pad(x, (0, c.Vp - c.V)) if key in ("logits", "probs") else x for key, x in acts.items()}


def run_model(model: GPT2, tokens: np.ndarray, targets: np.ndarray) -> dict[str, Tensor]:
    keep: dict[str, Tensor] = {}
    model(torch.from_numpy(tokens).long(), torch.from_numpy(targets).long(), keep)
    return pad_vocabulary(keep, model.config)


def model_calls(c: Config, T: int, more: bool, gelu: tuple[str, ...]) -> list[Call]:
    """Every op of the model. Suspects are listed once an op, where they first occur; that keeps the files small.
    With one token there is nothing to mask or to weigh. `more`: wrong indices too, where they stay in their tensors."""
    calls = []

    def layernorm(inp: str, name: str, first: bool) -> None:
        ids = tuple(layernorm_op.SUSPECTS) if first else ()
        results = {"out": name, "mean": f"{name}_mean", "rstd": f"{name}_rstd"}
        args = {"inp": f"chained/{inp}", "weight": f"param/{name}.weight", "bias": f"param/{name}.bias"}
        calls.append(Call("layernorm", args, results, ids))

    def matmul(inp: str, weight: str, out: str, first: bool, more: tuple[str, ...] = ()) -> None:
        ids = (*matmul_op.SUSPECTS, *more) if first else more
        args = {"inp": f"chained/{inp}", "weight": f"param/{weight}.weight", "bias": f"param/{weight}.bias"}
        calls.append(Call("matmul", args, {"out": out}, ids))

    def residual(inp1: str, inp2: str, out: str) -> None:
        calls.append(Call("residual", {"inp1": f"chained/{inp1}", "inp2": f"chained/{inp2}"}, {"out": out}))

    encoder = tuple(id for id in encoder_op.SUSPECTS if T < c.max_T or id != "position_off_by_one")
    encoder += tuple(encoder_op.OF_LONG_TABLES) if more else ()
    args = {"tokens": "tokens", "wte": "param/wte.weight", "wpe": "param/wpe.weight"}
    calls.append(Call("encoder", args, {"out": "encoded"}, encoder))
    stream = "encoded"
    for l in range(c.L):
        h, first = f"h.{l}", l == 0
        layernorm(stream, f"{h}.ln_1", first)
        matmul(f"{h}.ln_1", f"{h}.attn.c_attn", f"{h}.qkv", first)
        ids = tuple(id for id in attention_op.SUSPECTS if first and id != "no_max_subtraction")
        ids = ids if T > 1 else tuple(id for id in ids if id == "key_value_swapped")
        ids += tuple(attention_op.OF_INDICES) if first and more else ()
        args = {"qkv": f"chained/{h}.qkv", "NH": c.NH}
        calls.append(Call("attention", args, {"out": f"{h}.attn", "lse": f"{h}.lse"}, ids))
        ids = tuple(id for id in causal_softmax_op.SUSPECTS if first and T > 1 and id != "no_max_subtraction")
        ids += tuple(causal_softmax_op.OF_ROWS) if first and more else ()
        results = {"att": f"{h}.causal_softmax.att", "lse": f"{h}.causal_softmax.lse"}
        args = {"scores": f"chained/{h}.scores", "scale": 1 / math.sqrt(c.C // c.NH)}
        calls.append(Call("causal_softmax", args, results, ids))
        threads = tuple(matmul_op.OF_THREADS) if first and more else ()
        matmul(f"{h}.attn", f"{h}.attn.c_proj", f"{h}.attn_proj", first, threads)
        residual(stream, f"{h}.attn_proj", f"{h}.residual_1")
        layernorm(f"{h}.residual_1", f"{h}.ln_2", first=False)
        matmul(f"{h}.ln_2", f"{h}.mlp.c_fc", f"{h}.fc", first=False)
        ids = (*gelu_op.SUSPECTS, *gelu) if first else ()
        calls.append(Call("gelu", {"inp": f"chained/{h}.fc"}, {"out": f"{h}.fc_gelu"}, ids))
        indices = tuple(matmul_op.OF_INDICES) if first and more else ()
        matmul(f"{h}.fc_gelu", f"{h}.mlp.c_proj", f"{h}.fc_proj", first=False, more=indices)
        residual(f"{h}.residual_1", f"{h}.fc_proj", f"{h}.residual_2")
        stream = f"{h}.residual_2"
    layernorm(stream, "ln_f", first=False)
    args = {"inp": "chained/ln_f", "weight": "param/wte.weight", "bias": None}
    calls.append(Call("matmul", args, {"out": "logits"}, ("weight_transposed",), {"OC": c.V}))
    calls.append(Call("softmax", {"logits": "chained/logits", "V": c.V}, {"probs": "probs"}, ("includes_padding",)))
    args = {"probs": "chained/probs", "targets": "targets"}
    calls.append(Call("crossentropy", args, {"losses": "losses"}, tuple(OPS["crossentropy"].suspects)))
    args = {"logits": "chained/logits", "targets": "targets", "V": c.V}
    ids = (*loss_op.SUSPECTS, *(loss_op.OF_ROWS if more else ()))
    calls.append(Call("loss", args, {"lse": "loss_lse", "losses": "loss.losses"}, ids))
    return calls


def op_call(
    op_name: str, args: dict, results: str, ids: tuple[str, ...], name: str = ""
) -> tuple[Call, dict[str, Stored]]:
    """An op on its own: its inputs are stored as input/OP/ARG, its results as OP.OUT, or with `name` in place of OP.
    What the op takes in bfloat16 is rounded to it; other narrow elements are drawn as such, as PyTorch's tensors."""
    name = name or op_name
    stored = {f"input/{name}/{arg}": value for arg, value in args.items() if isinstance(value, Stored)}
    names = {a: f"input/{name}/{a}" if isinstance(v, Stored) else v for a, v in args.items()}
    for arg in OPS[op_name].in_bf16:
        if isinstance(args.get(arg), Stored):
            stored[names[arg]] = torch.as_tensor(args[arg]).bfloat16()
    return Call(op_name, names, {out: f"{name}.{out}" for out in results.split()}, ids), stored


def op_sequence(
    op_name: str, sequence: str, steps: list[tuple[dict, tuple[str, ...]]], results: str, case: str = ""
) -> list[tuple[Call, dict[str, Stored]]]:
    """Calls of an op that run in turn on the same buffers, `sequence`: "three steps". A step is op_call's `args` and
    `ids`; an in-out tensor that a later step does not give holds what the call before it left. The tensors of call 2
    are input/OP.2/ARG and OP.2.OUT. `case` must differ from that of the op's other calls."""
    of = f"the sequence {sequence} of {op_name}"
    if len(steps) < 2:
        raise ValueError(f"{of} has {len(steps)} call; a sequence has two or more")
    parts: list[tuple[Call, dict[str, Stored]]] = []
    asked = steps[0][0]
    state = [arg for arg in asked if arg in results.split()]
    for number, (given, ids) in enumerate(steps, 1):
        args = {arg: f"local/{op_name}.{number - 1}.{arg}" for arg in state} | given
        if lacks := [arg for arg in asked if arg not in args]:
            raise ValueError(f"call {number} of {of} has no {lacks[0]}")
        if more := [arg for arg in args if arg not in asked]:
            raise ValueError(f"call {number} of {of} has a {more[0]} that call 1 lacks")
        call, stored = op_call(op_name, {arg: args[arg] for arg in asked}, results, ids, f"{op_name}.{number}")
        parts.append((replace(call, sequence=sequence, case=case), stored))
    return parts


def op_case(name: str, config: dict, parts: list[tuple[Call, dict[str, Stored]]], case: str = "") -> Case:
    """`case`: what the checks call it, where that is not the file's name."""
    tensors = {key: value for _, stored in parts for key, value in stored.items()}
    return Case(name, config, tensors, [call for call, _ in parts], case=case or name)


def matmul_inputs(rng: np.random.Generator, N: int, C: int, OC: int) -> dict[str, np.ndarray]:
    """Rows of σ 1 and outputs of σ 1."""
    return {
        "inp": normal(rng, 1, N, C),
        "weight": normal(rng, 1 / math.sqrt(C), OC, C),
        "bias": normal(rng, 0.1, OC),
    }


def c63_case(name: str, seed: int) -> Case:
    rng = generator(name, seed)
    B, T, C, V, max_T, OC = 3, 37, 63, 101, 41, 101
    inp = normal(rng, 1, B, T, C) + normal(rng, 0.5, B, T, 1)
    inp[0, 3] = normal(rng, 0.003, C)  # variance ≈ 1e-5: as large as epsilon
    inp[2, 30] = 0.25 + normal(rng, 0.001, C)  # variance ≈ 1e-6 beside a mean
    weight, bias = 1 + normal(rng, 0.2, C), normal(rng, 0.1, C)
    tokens = rng.integers(0, V, (B, T), dtype=np.int32)
    encoder = {"tokens": tokens, "wte": normal(rng, 0.3, V, C), "wpe": normal(rng, 0.3, max_T, C)}
    matmul = matmul_inputs(rng, B * T, C, OC)
    pair = {"inp1": normal(rng, 1, B, T, C), "inp2": normal(rng, 0.5, B, T, C)}
    config = {"B": B, "T": T, "C": C, "V": V, "Vp": V, "max_T": max_T, "OC": OC}
    layernorm = {"inp": inp, "weight": weight, "bias": bias}
    # Without the root, a small variance gives outputs so large that float32 no longer meets the suspect within budgets.
    layernorm_ids = (*layernorm_op.SUSPECTS, *layernorm_op.OF_TAILS, *layernorm_op.OF_SUMS)
    layernorm_ids = tuple(id for id in layernorm_ids if id != "root_missing")
    parts = [
        op_call("encoder", encoder, "out", tuple(encoder_op.SUSPECTS)),
        op_call("layernorm", layernorm, "out mean rstd", layernorm_ids),
        # The other forms of GELU are in every model case.
        op_call("gelu", {"inp": normal(rng, 1.5, B, T, C)}, "out", ("exact_gelu", "exponential_of_u")),
        op_call("residual", pair, "out", ()),
        op_call("matmul", matmul, "out", (*matmul_op.SUSPECTS, *matmul_op.OF_TAILS)),
    ]
    return op_case(name, config, parts)


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
    # Queries with queries give scores so large that float32 no longer meets the suspect within budgets.
    attention_ids = tuple(id for id in attention_op.SUSPECTS if id != "key_from_query")
    parts = [
        op_call("attention", {"qkv": qkv, "NH": NH}, "out lse", attention_ids),
        op_call(
            "causal_softmax",
            {"scores": scores, "scale": scale},
            "att lse",
            (*causal_softmax_op.SUSPECTS, *causal_softmax_op.OF_LEVELS),
        ),
        op_call("softmax", {"logits": logits, "V": V}, "probs", tuple(softmax_op.SUSPECTS)),
    ]
    return op_case(name, config, parts)


def tile_case(step: int, side: int) -> Builder:
    """Sums of several steps and a short one, in a corner of one tile of outputs: the lessons with tiles of matmul have
    it of their own, with the same numbers. A thread, or its neighbours, have `side` by `side` outputs."""

    def build(name: str, seed: int) -> Case:
        N, C, OC = 6, 75, 9
        inputs = matmul_inputs(generator("op_tile", seed), N, C, OC)
        ids = (*matmul_op.OF_TILES, *matmul_op.OF_STEPS[step], *matmul_op.operands_exchanged(side))
        return op_case(name, {"N": N, "C": C, "OC": OC}, [op_call("matmul", inputs, "out", ids)], case="op_tile")

    return build


def lesson_builders(root: Path) -> dict[str, Builder]:
    """The case that a lesson has of its own, by file name: solutions/NN_name/cases.py builds it."""
    builders = {}
    for path in sorted(root.glob("solutions/[0-9][0-9]_*/cases.py")):
        spec = importlib.util.spec_from_file_location(f"cases_{path.parent.name}", path)
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        builders[f"lesson{path.parent.name[:2]}"] = module.build
    return builders


# What several lessons check, and the model's ratios are measured with.
SHARED: dict[str, Builder] = {
    **dict.fromkeys(MODELS, model_case),
    "op_c63": c63_case,
    "op_large_scores": large_scores_case,
}
BUILDERS: dict[str, Builder] = SHARED | lesson_builders(Path(__file__).parents[2])
