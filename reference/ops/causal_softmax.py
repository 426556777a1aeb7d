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
    LSE_WITHOUT_MAXIMUM,
    MASK_OFF_BY_ONE,
    MAXIMUM_FROM_ZERO,
    NO_MASK,
    NO_MAX_SUBTRACTION,
    NO_SCALE,
    OWN_TOKEN_MASKED,
    RESCALED_FROM_THE_START,
    all_mask,
    all_nan,
    future_mask,
    no_max_subtraction,
    online_lse,
    past_mask,
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


def maximum_from_zero(scores: Tensor, scale: float) -> dict[str, Tensor]:
    """In float32: in a row far below 0 each exponential is 0, and so is their sum."""
    scaled = masked(scores, scale)
    largest = scaled.amax(-1).clamp(min=0)
    total = (scaled - largest.unsqueeze(-1)).exp().float().double().sum(-1)
    return {"lse": largest + total.log()}


def masked(scores: Tensor, scale: float) -> Tensor:
    return (scale * scores).masked_fill(~causal_mask(scores.shape[-1]), -math.inf)


def mask_after_softmax(scores: Tensor, scale: float) -> dict[str, Tensor]:
    wrong = softmax_with(scale * scores, all_mask(scores.shape[-1]))
    return {"att": wrong["att"].tril(), "lse": wrong["lse"]}


def filled_up(scores: Tensor, scale: float, width: int) -> dict[str, Tensor]:
    """Each row's scaled scores are followed by zeros up to a multiple of `width`."""
    length = torch.arange(1, scores.shape[-1] + 1, dtype=scores.dtype)  # t + 1
    zeros = -length % width
    return {"lse": torch.logaddexp(torch.logsumexp(masked(scores, scale), -1), zeros.log())}


def of_exponents_alone(scores: Tensor, scale: float, log=torch.log) -> tuple[Tensor, Tensor]:
    """Of each row the maximum, and the logarithm of the sum of exp(x - maximum)."""
    scaled = masked(scores, scale)
    largest = scaled.amax(-1)
    return largest, log((scaled - largest.unsqueeze(-1)).exp().sum(-1))


OF_LEVELS = {"maximum_from_zero": Suspect(MAXIMUM_FROM_ZERO, maximum_from_zero)}  # of rows far from 0


def own_token_not_divided(scores: Tensor, scale: float) -> dict[str, Tensor]:
    scaled = masked(scores, scale)
    att = softmax_with(scaled, causal_mask(scores.shape[-1]))["att"]
    own = (scaled - scaled.amax(-1, keepdim=True)).exp().diagonal(dim1=-2, dim2=-1)
    return {"att": att.diagonal_scatter(own, dim1=-2, dim2=-1)}


# The probabilities of a row that is masked wrongly follow from the log-sum-exp, but for those of no token at all.
OF_ROWS = {
    "lse_without_maximum": Suspect(
        LSE_WITHOUT_MAXIMUM, lambda scores, scale: {"lse": of_exponents_alone(scores, scale)[1]}
    ),
    "own_token_masked": Suspect(
        OWN_TOKEN_MASKED,
        lambda scores, scale: {"lse": softmax_with(scale * scores, past_mask(scores.shape[-1]))["lse"]},
    ),
    "own_token_not_divided": Suspect(
        "the last probability of each row, that of token t itself, was not divided by the sum", own_token_not_divided
    ),
}

# By a warp for each row. The probabilities follow from the log-sum-exp, and are stored only where that does not tell.
OF_WARPS = OF_ROWS | {
    "mask_after_softmax": Suspect(
        "the mask was applied after the softmax: later tokens count in the maximum or the sum", mask_after_softmax
    ),
    "scale_applied_twice": Suspect(
        "the scores were multiplied by the scale twice",
        lambda scores, scale: softmax_with(scale**2 * scores, causal_mask(scores.shape[-1])),
    ),
    "first_lane_only": Suspect(
        "the log-sum-exp is that of lane 0's scores: the other lanes' maxima and sums were not merged",
        lambda scores, scale: {"lse": online_lse(masked(scores, scale), lanes=slice(0, 1))},
    ),
    "filled_up_to_4": Suspect(
        "what fills the row up to a multiple of 4 counts as scores of 0: its exponentials were summed too",
        lambda scores, scale: filled_up(scores, scale, 4),
    ),
    "filled_up_to_128": Suspect(
        "what fills the row up to a warp's 128 counts as scores of 0: its exponentials were summed too",
        lambda scores, scale: filled_up(scores, scale, 128),
    ),
    "lse_by_log2": Suspect(
        "the logarithm of the log-sum-exp is that to the base 2",
        lambda scores, scale: {"lse": sum(of_exponents_alone(scores, scale, torch.log2))},
    ),
}

# By a warp for each row, whose lanes keep a maximum and a sum of what they have seen.
OF_ONLINE = {
    "rescale_missing": Suspect(
        "a lane's sum was not multiplied by exp(old maximum - new maximum) when its maximum moved (float4s)",
        lambda scores, scale: {"lse": online_lse(masked(scores, scale), rescale=lambda old, new: torch.ones_like(new))},
    ),
    "rescale_missing_of_floats": Suspect(
        "a lane's sum was not multiplied by exp(old maximum - new maximum) when its maximum moved (floats)",
        lambda scores, scale: {
            "lse": online_lse(masked(scores, scale), width=1, rescale=lambda old, new: torch.ones_like(new))
        },
    ),
    "rescale_inverted": Suspect(
        "a lane's sum was multiplied by exp(new maximum - old maximum): the sign is wrong",
        lambda scores, scale: {"lse": online_lse(masked(scores, scale), rescale=lambda old, new: (new - old).exp())},
    ),
    "rescale_inverted_from_the_start": Suspect(
        RESCALED_FROM_THE_START,
        lambda scores, scale: all_nan({"lse": torch.logsumexp(scores, -1)}),
    ),
    "lanes_not_rescaled": Suspect(
        "the lanes' sums were added as they are, each for its lane's maximum, not for the row's (float4s)",
        lambda scores, scale: {"lse": online_lse(masked(scores, scale), merge=torch.ones_like)},
    ),
    "lanes_not_rescaled_of_floats": Suspect(
        "the lanes' sums were added as they are, each for its lane's maximum, not for the row's (floats)",
        lambda scores, scale: {"lse": online_lse(masked(scores, scale), width=1, merge=torch.ones_like)},
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
    suspects=SUSPECTS | OF_LEVELS | OF_WARPS | OF_ONLINE,
    baselines={"causal_softmax": Baseline(baseline)},
)
