# SPDX-License-Identifier: MIT
"""probs is (..., Vp), zero from V on."""

from __future__ import annotations

import math

import torch
from torch import Tensor

from reference.model import gpt2
from reference.ops.common.op import Baseline, Machine, Op, Shapes, Suspect
from reference.ops.common.rounding import U


def floors(results: dict[str, Tensor], *_: Tensor) -> Tensor:
    return U * results["losses"].abs()  # the logarithm rounds once


def index(at: Shapes, _: dict[str, int]) -> dict[str, str]:
    return {"losses": "B T", "probs": "B T Vp/v", "targets": "B T"} if len(at["probs"]) == 3 else {}


def row_stride_v(probs: Tensor, targets: Tensor) -> Tensor:
    V = int(probs.reshape(-1, probs.shape[-1]).any(0).sum())
    start = torch.arange(targets.numel()).reshape(targets.shape) * V
    return -torch.log(probs.flatten()[start + targets])


def baseline(m: Machine, d: dict[str, int]) -> tuple:
    return gpt2.crossentropy, (torch.softmax(m.normal(d["N"], d["Vp"]), dim=-1), m.integers(d["Vp"], d["N"]))


OP = Op(
    results=("losses",),
    run=gpt2.crossentropy,
    floors=floors,
    dims=lambda at: {"N": math.prod(at["losses"]), "Vp": at["probs"][-1]},
    index=index,
    suspects={
        "log2_instead_of_log": Suspect(
            "the logarithm is to base 2, not the natural one", lambda *args: gpt2.crossentropy(*args) / math.log(2)
        ),
        "sign_dropped": Suspect("the minus sign is missing", lambda *args: -gpt2.crossentropy(*args)),
        "row_stride_v": Suspect("the rows of probs were taken to be V apart; they are Vp apart", row_stride_v),
    },
    baselines={"crossentropy": Baseline(baseline)},
)
