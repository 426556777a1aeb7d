# SPDX-License-Identifier: MIT
"""What the floors of several ops have in common (BUDGET.md). A floor is, for each row, the error that the plainest
right float32 algorithm is expected to make. Arguments are float64."""

from __future__ import annotations

import math
from collections.abc import Callable

import torch
import torch.nn.functional as F
from torch import Tensor
from torch.overrides import TorchFunctionMode

U = 2.0**-24  # unit roundoff of float32: the largest relative error of one rounding
SUM = 0.3  # one standard deviation of a sequential sum's error is SUM * U * sqrt(K) * magnitude; see BUDGET.md


def rows(x: Tensor) -> Tensor:
    """(..., n) to (...): the largest element of each row. What has one value for each row already (mean, rstd, lse,
    losses) keeps a floor for each."""
    return x.amax(-1) if x.dim() > 1 else x.amax(-1, keepdim=True)


def sum_error(square_sum: Tensor, total: Tensor, K: int | Tensor) -> Tensor:
    """One standard deviation of the error of a sequential float32 sum of K terms, from their squares' sum and sum."""
    return SUM * U * (K**0.5) * (square_sum + total**2).sqrt()


def of_exponent(scaled: Tensor, mask: Tensor) -> Tensor:
    """The error of scaled score minus its row's maximum. Minus infinity is exact, and so is its exponential."""
    largest = scaled.masked_fill(~mask, -math.inf).amax(-1, keepdim=True)
    return (U * (scaled.abs() + largest.abs())).masked_fill(scaled.isinf(), 0)


def softmax_rows(scaled: Tensor, mask: Tensor, of_scaled: Tensor) -> tuple[Tensor, Tensor]:
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


# ---- precisions that round factors -----------------------------------------------------------------------------------


class RoundedFactors(TorchFunctionMode):
    """Rounds the factors of every product of matrices, as tensor cores take them; products and sums are those of the
    factors' type on this CPU. `rounded` takes a factor and the dimension that is summed over."""

    LINEAR = (F.linear,)
    MATMULS = (torch.matmul, Tensor.matmul, Tensor.__matmul__)

    def __init__(self, rounded: Callable[[Tensor, int], Tensor]):
        super().__init__()
        self.rounded = rounded

    def __torch_function__(self, func, types, args=(), kwargs=None):
        if func in self.LINEAR + self.MATMULS:
            second = -1 if func in self.LINEAR else -2
            args = (self.rounded(args[0], -1), self.rounded(args[1], second), *args[2:])
        return func(*args, **(kwargs or {}))


def tf32(x: Tensor, dim: int = -1) -> Tensor:
    """To nearest, with ten bits of fraction of float32's 23."""
    bits = x.contiguous().view(torch.int32)
    return ((bits + (1 << 12)) & ~((1 << 13) - 1)).view(torch.float32)
