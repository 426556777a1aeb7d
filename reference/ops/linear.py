# SPDX-License-Identifier: MIT
"""A matmul whose bias is added before its result is stored. weight is (OC, C)."""

from __future__ import annotations

import math

import torch.nn.functional as F
from torch import Tensor

from reference.model import gpt2
from reference.ops import matmul
from reference.ops.common.op import PRECISIONS, Baseline, Machine, Op, Shapes, Suspect


def run(inp: Tensor, weight: Tensor, bias: Tensor) -> Tensor:
    return gpt2.matmul(inp, weight, bias)


def dims(at: Shapes) -> dict[str, int]:
    OC, C = at["weight"]
    return {"N": math.prod(at["inp"][:-1]), "C": C, "OC": OC}


def bias_along_rows(inp: Tensor, weight: Tensor, bias: Tensor) -> Tensor:
    return gpt2.matmul(inp, weight, None) + bias[: inp.shape[0], None]


SUSPECTS = matmul.SUSPECTS | {
    "bias_along_rows": Suspect(
        "row n of the output got bias[n]; the bias has an element for each column, bias[o]", bias_along_rows
    ),
}


def baseline(m: Machine, d: dict[str, int]) -> tuple:
    return F.linear, (m.normal(d["N"], d["C"]), m.normal(d["OC"], d["C"]), m.normal(d["OC"]))


OP = Op(
    results=("out",),
    run=run,
    floors=matmul.floors,
    terms=lambda inp, weight, bias: inp.shape[-1],
    dims=dims,
    suspects=SUSPECTS,
    baselines={"linear": Baseline(baseline, PRECISIONS)},
)
