# SPDX-License-Identifier: MIT
"""The error budget: BUDGET.md in code. checker/cases/budget.h is its C++ twin; cases/budget_vectors.json binds the two.

floor_OP(...) gives, for each row, the error that the plainest right float32 algorithm is expected to make.
Arguments are float64 tensors: an op's inputs, and its exact outputs where they are at hand.
"""

from __future__ import annotations

import math
import tomllib
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
from torch import Tensor

from reference.model.gpt2 import EPS, causal_mask, join_heads, split_heads

U = 2.0**-24  # unit roundoff of float32: the largest relative error of one rounding
SUM = 0.3  # one standard deviation of a sequential sum's error is SUM * U * sqrt(K) * magnitude; see BUDGET.md


def k_of(precision: str) -> float:
    return tomllib.loads((Path(__file__).parent / "budget.toml").read_text())["k"][precision]


def ulp32(x: np.ndarray) -> np.ndarray:
    """The distance from |x| to the next larger float32: 2^-149 for 0 and the denormals."""
    x = np.asarray(x, dtype=np.float32)
    _, exponent = np.frexp(x)  # |x| = m * 2^exponent, m in [1/2, 1)
    return np.ldexp(1.0, np.where(x == 0, -126, np.maximum(exponent - 1, -126)) - 23)


@dataclass(frozen=True)
class Verdict:
    wrong: int  # elements outside their budget
    worst: int  # flat index of the largest error / budget, the first of equals; 0 where all are exact
    used: float  # that quotient: at most 1 passes; infinity where an element is NaN or infinite


def budgets(ref: np.ndarray, floor: np.ndarray, ratio: float, k: float) -> np.ndarray:
    """The budget of every element of ref, all finite. ref is (..., n), floor is (...), for one row (1), or as ref."""
    row = k * max(ratio, 1.0) * np.asarray(floor, dtype=np.float64)
    row = row.reshape(np.shape(ref) if row.size == np.size(ref) else (*np.shape(ref)[:-1], 1))
    return np.maximum(row, ulp32(ref))


def verdict(got: np.ndarray, ref: np.ndarray, floor: np.ndarray, ratio: float, k: float) -> Verdict:
    got, ref = np.asarray(got, dtype=np.float64), np.asarray(ref, dtype=np.float64)
    budget = budgets(ref, floor, ratio, k)
    with np.errstate(invalid="ignore"):
        used = np.where(np.isfinite(got), np.abs(got - ref) / budget, math.inf)
    return Verdict(int(np.count_nonzero(~(used <= 1.0))), int(np.argmax(used)), float(np.max(used)))


# The floors. `rows` reduces (..., n) to (...): the largest element of each row. What has one value a row already (mean,
# rstd, lse, losses) keeps a floor for each.


def rows(x: Tensor) -> Tensor:
    return x.amax(-1) if x.dim() > 1 else x.amax(-1, keepdim=True)


def sum_error(square_sum: Tensor, total: Tensor, K: int | Tensor) -> Tensor:
    """One standard deviation of the error of a sequential float32 sum of K terms, from their squares' sum and sum."""
    return SUM * U * (K**0.5) * (square_sum + total**2).sqrt()


def floor_encoder(out: Tensor) -> Tensor:
    return U * rows(out.abs())


def floor_residual(out: Tensor) -> Tensor:
    return U * rows(out.abs())


def floor_gelu(inp: Tensor) -> Tensor:
    return U * rows(inp.abs())


def floor_matmul(inp: Tensor, weight: Tensor, bias: Tensor | None) -> Tensor:
    out = inp @ weight.mT
    square_sum = inp**2 @ (weight**2).mT
    K = inp.shape[-1]
    if bias is not None:
        out, square_sum, K = out + bias, square_sum + bias**2, K + 1
    return rows(sum_error(square_sum, out, K) + U * out.abs())


def floor_layernorm(inp: Tensor, weight: Tensor, bias: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    C = inp.shape[-1]
    mean = inp.mean(-1)
    centred = inp - mean.unsqueeze(-1)
    variance = (centred**2).mean(-1)
    rstd = (variance + EPS).rsqrt()
    of_mean = sum_error((inp**2).sum(-1), inp.sum(-1), C) / C + U * mean.abs()  # (B, T)
    of_variance = sum_error((centred**4).sum(-1), (centred**2).sum(-1), C) / C  # (B, T)
    of_variance = of_variance + U * mean.abs() * (2 * variance / C).sqrt()  # a running mean (Welford) rounds each step
    of_rstd = rstd * (0.5 * of_variance * rstd**2 + U)  # (B, T)
    normal = centred * rstd.unsqueeze(-1)
    out = normal * weight + bias
    of_out = (weight * rstd.unsqueeze(-1)).abs() * of_mean.unsqueeze(-1)
    of_out = of_out + (normal * weight).abs() * (of_rstd / rstd + 2 * U).unsqueeze(-1) + U * out.abs()
    return rows(of_out), of_mean, of_rstd


def of_exponent(scaled: Tensor, mask: Tensor) -> Tensor:
    """The error of scaled score minus its row's maximum."""
    largest = scaled.masked_fill(~mask, -math.inf).amax(-1, keepdim=True)
    return U * (scaled.abs() + largest.abs())


def floor_softmax_rows(scaled: Tensor, mask: Tensor, of_scaled: Tensor) -> tuple[Tensor, Tensor]:
    """Of the probabilities and of the log-sum-exp of each row; of_scaled is the error of each exponent."""
    logits = scaled.masked_fill(~mask, -math.inf)
    probs = torch.softmax(logits, -1)
    lse = torch.logsumexp(logits, -1)
    lost = (probs * (probs < U)).sum(-1)  # terms below half an ulp of the total vanish in it
    of_sum = SUM * U * mask.sum(-1).to(scaled.dtype) ** 0.5 + U + lost  # relative, of a sum of positive terms
    largest = logits.amax(-1)
    of_probs = probs * (of_scaled + (of_sum + 2 * U).unsqueeze(-1))
    of_lse = ((probs * of_scaled) ** 2).sum(-1).sqrt() + of_sum + U * (lse.abs() + largest.abs())
    return rows(of_probs), of_lse


def floor_causal_softmax(scores: Tensor, scale: float) -> tuple[Tensor, Tensor]:
    mask = causal_mask(scores.shape[-1])
    scaled = scale * scores
    of_att, of_lse = floor_softmax_rows(scaled, mask, of_exponent(scaled, mask))
    return of_att, of_lse


def floor_attention(qkv: Tensor, NH: int) -> tuple[Tensor, Tensor, Tensor]:
    """Of out (B, T), of lse (B, NH, T) and of the unscaled scores (B, NH, T)."""
    query, key, value = split_heads(qkv, NH)  # (B, NH, T, HS)
    T, HS = query.shape[-2:]
    scale, mask = 1 / math.sqrt(HS), causal_mask(T)
    scores = query @ key.mT  # (B, NH, T, T)
    of_scores = sum_error(query**2 @ (key**2).mT, scores, HS) + U * scores.abs()
    scaled = scale * scores
    of_scaled = scale * of_scores + of_exponent(scaled, mask)
    _, of_lse = floor_softmax_rows(scaled, mask, of_scaled)
    att = torch.softmax(scaled.masked_fill(~mask, -math.inf), -1)
    out = att @ value  # (B, NH, T, HS)
    # out_i moves by the sum over s of att_s * of_scaled_s * (value_si - out_i), independent errors in quadrature.
    weight = (att * of_scaled) ** 2
    moved = weight @ value**2 - 2 * out * (weight @ value) + out**2 * weight.sum(-1, keepdim=True)
    length = torch.arange(1, T + 1, dtype=qkv.dtype).reshape(T, 1)
    of_sum = sum_error(att**2 @ value**2, out, length) + 3 * U * out.abs()
    of_out = moved.clamp(min=0).sqrt() + of_sum
    return rows(join_heads(of_out)), of_lse, rows(of_scores * mask)


def floor_softmax(logits: Tensor) -> Tensor:
    mask = torch.ones_like(logits, dtype=torch.bool)
    return floor_softmax_rows(logits, mask, of_exponent(logits, mask))[0]


def floor_crossentropy(losses: Tensor) -> Tensor:
    return U * losses.abs()
