# SPDX-License-Identifier: MIT
"""Mistakes that every softmax can hold: the masks, the scale, the maximum."""

from __future__ import annotations

import math
from collections.abc import Callable

import torch
import torch.nn.functional as F
from torch import Tensor

NO_MAX_SUBTRACTION = "the row's maximum was not subtracted before exp, which overflows"
NO_MASK = "the causal mask is missing: tokens after t were attended to"
MASK_OFF_BY_ONE = "the causal mask is off by one: token t+1 was attended to"
OWN_TOKEN_MASKED = "the causal mask is off by one: token t itself was not attended to"
NO_SCALE = "the scores were not scaled by 1 / sqrt(HS)"
MAXIMUM_FROM_ZERO = "rows far below 0 got another maximum than theirs: one that starts at 0 makes each exp vanish"
LSE_WITHOUT_MAXIMUM = "the log-sum-exp lacks the maximum"
RESCALED_FROM_THE_START = (
    "all is NaN, as if the sum were multiplied by exp(new maximum - old one), which is infinite while there is no old "
    "one: it is exp(old - new)"
)


def softmax_with(scaled: Tensor, mask: Tensor) -> dict[str, Tensor]:
    scaled = scaled.masked_fill(~mask, -math.inf)
    return {"att": torch.softmax(scaled, -1), "lse": torch.logsumexp(scaled, -1)}


def no_max_subtraction(scaled: Tensor, mask: Tensor) -> dict[str, Tensor]:
    """As float32 has it: exp overflows to infinity above 88.7 and vanishes below -103.3. Rounded once a step from
    float64, so that it does not depend on a library's float32 exp."""
    e = torch.exp(scaled.float().double()).float().masked_fill(~mask, 0)  # (..., n)
    total = e.double().sum(-1).float()
    att = (e / total.unsqueeze(-1)).masked_fill(~mask, 0)  # 0 / 0 only where the loop over s <= t computes it
    return {"att": att, "lse": torch.log(total.double()).float()}


def online_lse(
    scaled: Tensor,
    width: int = 4,
    rescale: Callable[[Tensor, Tensor], Tensor] = lambda old, new: (old - new).exp(),
    merge: Callable[[Tensor], Tensor] = torch.exp,
    lanes: slice = slice(None),
) -> Tensor:
    """The log-sum-exp of rows of n scores as a warp's lanes find it. In a turn each lane takes `width` scores side by
    side, 32 lanes one after another. `rescale` says what a lane's sum is multiplied by when its maximum moves, `merge`
    the same of its maximum less the row's. Masked scores are minus infinity."""
    n = scaled.shape[-1]
    turns = F.pad(scaled, (0, -n % (32 * width)), value=-math.inf).unflatten(-1, (-1, 32, width))
    largest = torch.full_like(turns[..., 0, :, 0], torch.finfo(torch.float32).min)  # of each lane: (..., 32)
    total = torch.zeros_like(largest)
    for x in turns[..., lanes, :].unbind(-3):
        new = torch.maximum(largest[..., lanes], x.amax(-1))
        before = total[..., lanes]
        kept = torch.where(before > 0, before * rescale(largest[..., lanes], new), 0)
        total[..., lanes] = kept + (x - new.unsqueeze(-1)).exp().sum(-1)
        largest[..., lanes] = new
    of_row = largest.amax(-1, keepdim=True)
    return of_row.squeeze(-1) + (total * merge(largest - of_row)).sum(-1).log()


def all_nan(results: dict[str, Tensor]) -> dict[str, Tensor]:
    return {name: torch.full_like(value, math.nan) for name, value in results.items()}


def future_mask(T: int) -> Tensor:
    return torch.ones(T, T, dtype=torch.bool).tril(1)  # true where s <= t + 1


def past_mask(T: int) -> Tensor:
    return torch.ones(T, T, dtype=torch.bool).tril(-1)  # true where s < t


def all_mask(T: int) -> Tensor:
    return torch.ones(T, T, dtype=torch.bool)
