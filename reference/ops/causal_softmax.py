# SPDX-License-Identifier: MIT
from __future__ import annotations

import math

import torch
from torch import Tensor

from reference.model import gpt2
from reference.model.gpt2 import causal_mask
from reference.ops.common.op import Baseline, Machine, Op, Suspect
from reference.ops.common.rounding import of_exponent, softmax_rows
from reference.ops.common.softmax import (
    MASK_OFF_BY_ONE,
    NO_MASK,
    NO_MAX_SUBTRACTION,
    NO_SCALE,
    all_mask,
    future_mask,
    no_max_subtraction,
    softmax_with,
)


def floors(_: dict[str, Tensor], scores: Tensor, scale: float) -> tuple[Tensor, Tensor]:
    mask = causal_mask(scores.shape[-1])
    scaled = scale * scores
    return softmax_rows(scaled, mask, of_exponent(scaled, mask))


SUSPECTS = {
    "no_mask": Suspect(NO_MASK, lambda scores, scale: softmax_with(scale * scores, all_mask(scores.shape[-1]))),
    "mask_off_by_one": Suspect(
        MASK_OFF_BY_ONE, lambda scores, scale: softmax_with(scale * scores, future_mask(scores.shape[-1]))
    ),
    "no_scale": Suspect(NO_SCALE, lambda scores, scale: softmax_with(scores, causal_mask(scores.shape[-1]))),
    "no_max_subtraction": Suspect(
        NO_MAX_SUBTRACTION,
        lambda scores, scale: no_max_subtraction(scale * scores, causal_mask(scores.shape[-1])),
    ),
}


def with_mask(scores: Tensor, mask: Tensor, scale: float) -> tuple[Tensor, Tensor]:
    """As reference/model/gpt2.py has it, with a mask that is there already."""
    scaled = (scale * scores).masked_fill(mask, -math.inf)  # (B, NH, T, T)
    return torch.softmax(scaled, dim=-1), torch.logsumexp(scaled, dim=-1)


def baseline(m: Machine, d: dict[str, int]) -> tuple:
    scores = m.normal(d["B"], d["NH"], d["T"], d["T"], scale=8)
    return with_mask, (scores, m.above_diagonal(d["T"]), 0.125)


OP = Op(
    results=("att", "lse"),
    run=gpt2.causal_softmax,
    floors=floors,
    dims=lambda at: dict(zip(("B", "NH", "T"), at["lse"], strict=True)),
    suspects=SUSPECTS,
    baselines={"causal_softmax": Baseline(baseline)},
)
