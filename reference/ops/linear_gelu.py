# SPDX-License-Identifier: MIT
"""A matmul whose bias and GELU are applied before its result is stored. weight is (OC, C)."""

from __future__ import annotations

import math

import torch
from torch import Tensor

from reference.model import gpt2
from reference.ops import linear, matmul
from reference.ops.common.op import PRECISIONS, Baseline, Machine, Op, Shapes, Suspect
from reference.ops.common.rounding import U, rows


def run(inp: Tensor, weight: Tensor, bias: Tensor) -> tuple[Tensor, Tensor]:
    pre_gelu = gpt2.matmul(inp, weight, bias)
    return gpt2.gelu(pre_gelu), pre_gelu


def slope(x: Tensor) -> Tensor:
    """The derivative of gelu."""
    tanh = torch.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x**3))
    return 0.5 * (1 + tanh) + 0.5 * x * (1 - tanh**2) * math.sqrt(2 / math.pi) * (1 + 3 * 0.044715 * x**2)


def floors(exact: dict[str, Tensor], inp: Tensor, weight: Tensor, bias: Tensor) -> tuple[Tensor, Tensor]:
    pre_gelu, of_pre_gelu = exact["pre_gelu"], matmul.errors(inp, weight, bias)
    return rows(slope(pre_gelu).abs() * of_pre_gelu + U * pre_gelu.abs()), rows(of_pre_gelu)


def dims(at: Shapes) -> dict[str, int]:
    return linear.dims(at) | {"outputs": 1 + ("pre_gelu" in at)}


def through_gelu(suspect: Suspect) -> Suspect:
    """The same mistake of the matmul, with what GELU makes of it."""

    def wrong(*args: Tensor) -> tuple[Tensor, Tensor]:
        pre_gelu = suspect.run(*args)
        return gpt2.gelu(pre_gelu), pre_gelu

    return Suspect(suspect.sentence, wrong)


SUSPECTS = {id: through_gelu(suspect) for id, suspect in linear.SUSPECTS.items()} | {
    "gelu_before_bias": Suspect(
        "the bias was added after GELU: gelu(x) + bias, not gelu(x + bias)",
        lambda x, w, b: {"out": gpt2.gelu(gpt2.matmul(x, w, None)) + b},
    ),
    "gelu_missing": Suspect("GELU was not applied: this is what goes into it", lambda x, w, b: gpt2.matmul(x, w, b)),
    "pre_gelu_after_gelu": Suspect(
        "this is what comes out of GELU, not what goes into it",
        lambda x, w, b: {"pre_gelu": gpt2.gelu(gpt2.matmul(x, w, b))},
    ),
}


def baseline(m: Machine, d: dict[str, int]) -> tuple:
    return run, linear.baseline(m, d)[1]


OP = Op(
    results=("out", "pre_gelu"),
    run=run,
    floors=floors,
    terms=linear.OP.terms,
    dims=dims,
    suspects=SUSPECTS,
    baselines={"linear_gelu": Baseline(baseline, PRECISIONS)},
)
