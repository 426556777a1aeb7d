# SPDX-License-Identifier: MIT
"""Mistakes that every softmax can hold: the masks, the scale, the maximum."""

from __future__ import annotations

import math

import torch
from torch import Tensor

NO_MAX_SUBTRACTION = "the row's maximum was not subtracted before exp, which overflows"
NO_MASK = "the causal mask is missing: tokens after t were attended to"
MASK_OFF_BY_ONE = "the causal mask is off by one: token t+1 was attended to"
NO_SCALE = "the scores were not scaled by 1 / sqrt(HS)"


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


def future_mask(T: int) -> Tensor:
    return torch.ones(T, T, dtype=torch.bool).tril(1)  # true where s <= t + 1


def all_mask(T: int) -> Tensor:
    return torch.ones(T, T, dtype=torch.bool)
