# SPDX-License-Identifier: MIT
"""logits and probs are (..., Vp), zero from V on."""

from __future__ import annotations

import math

import torch
import torch.nn.functional as F
from torch import Tensor

from reference.model import gpt2
from reference.ops.common.op import Baseline, Machine, Op, Shapes, Suspect
from reference.ops.common.rounding import of_exponent, softmax_rows
from reference.ops.common.softmax import MAXIMUM_FROM_ZERO, NO_MAX_SUBTRACTION, no_max_subtraction


def run(logits: Tensor, V: int) -> Tensor:
    return F.pad(gpt2.softmax(logits[..., :V]), (0, logits.shape[-1] - V))


def floors(_: dict[str, Tensor], logits: Tensor, V: int) -> Tensor:
    used = logits[..., :V]
    mask = torch.ones_like(used, dtype=torch.bool)
    return softmax_rows(used, mask, of_exponent(used, mask))[0]


def index(at: Shapes, _: dict[str, int]) -> dict[str, str]:
    return dict.fromkeys(at, "B T Vp/v") if len(at["probs"]) == 3 else {}


def without_maximum(logits: Tensor, V: int) -> Tensor:
    wrong = torch.zeros_like(logits)
    used = logits[..., :V]
    wrong[..., :V] = no_max_subtraction(used, torch.ones_like(used, dtype=torch.bool))["att"]
    return wrong


def maximum_from_zero(logits: Tensor, V: int) -> Tensor:
    """In float32, as no_max_subtraction is: in a row far below 0 each exponential is 0, and so is their sum."""
    used = logits[..., :V]
    e = (used - used.amax(-1, keepdim=True).clamp(min=0)).double().exp().float()
    return F.pad(e / e.double().sum(-1, keepdim=True).float(), (0, logits.shape[-1] - V))


def includes_padding(logits: Tensor, V: int) -> Tensor:
    wrong = torch.softmax(logits, -1)
    wrong[..., V:] = 0  # not written
    return wrong


BLOCK, WARP = 128, 32  # lesson 14's threads for a row of 1,025 to 12,800 columns, by float4s


def warp_of_columns(V: int) -> Tensor:
    """The warp of each column of a row that starts at a multiple of 16 bytes; the last V % 4 are the first's."""
    v = torch.arange(V)
    return torch.where(v < V // 4 * 4, v // 4 % BLOCK // WARP, 0)


def summed_over(logits: Tensor, V: int, columns: Tensor) -> Tensor:
    """Exponentials divided by the sum of those of some columns."""
    used = logits[..., :V]
    e = (used - used.amax(-1, keepdim=True)).exp()
    return F.pad(e / (e * columns).sum(-1, keepdim=True), (0, logits.shape[-1] - V))


def filled_with_zeros(logits: Tensor, V: int) -> Tensor:
    """Adds a logit of 0 for what a block's registers hold beyond the row: 25 float4s of each thread."""
    used = F.pad(logits[..., :V], (0, 100 * BLOCK - V // 4 * 4))
    return F.pad(torch.softmax(used, -1)[..., :V], (0, logits.shape[-1] - V))


def not_divided(logits: Tensor, V: int) -> Tensor:
    used = logits[..., :V]
    return F.pad((used - used.amax(-1, keepdim=True)).exp(), (0, logits.shape[-1] - V))


def by_warps(logits: Tensor, V: int) -> Tensor:
    """Each warp takes its own maximum and sum for the row's."""
    wrong, warps = torch.zeros_like(logits), warp_of_columns(V)
    for warp in range(BLOCK // WARP):
        columns = torch.nonzero(warps == warp)[:, 0]
        wrong[..., columns] = torch.softmax(logits[..., columns], -1)
    return wrong


SUSPECTS = {
    "includes_padding": Suspect("the padding columns V to Vp-1 were summed too", includes_padding),
    "no_max_subtraction": Suspect(NO_MAX_SUBTRACTION, without_maximum),
    "maximum_from_zero": Suspect(MAXIMUM_FROM_ZERO, maximum_from_zero),
}
OF_BLOCKS = {
    "filled_with_zeros": Suspect(
        "what registers hold beyond the row counts as logits of 0, whose exponentials were summed too; it is -infinity",
        filled_with_zeros,
    ),
    "not_divided": Suspect("the exponentials were not divided by their sum", not_divided),
    "row_tail_left_out": Suspect(
        "the columns after the last whole group of 4 were left out of the sum",
        lambda logits, V: summed_over(logits, V, torch.arange(V) < V // 4 * 4),
    ),
    "first_warp_only": Suspect(
        "only the columns of the block's first warp were summed",
        lambda logits, V: summed_over(logits, V, warp_of_columns(V) == 0),
    ),
    "each_warp_alone": Suspect(
        "each warp divided by the sum of its own columns: those of the block's warps were not combined", by_warps
    ),
}


def of_rows(logits: Tensor) -> Tensor:
    return torch.softmax(logits, dim=-1)  # (N, V)


def to_losses(logits: Tensor, targets: Tensor) -> Tensor:
    return F.cross_entropy(logits, targets, reduction="none")  # (N)


def baseline(m: Machine, d: dict[str, int]) -> tuple:
    return of_rows, (m.normal(d["N"], d["V"], scale=3),)


def baseline_with_loss(m: Machine, d: dict[str, int]) -> tuple:
    return to_losses, (m.normal(d["N"], d["V"], scale=3), m.integers(d["V"], d["N"]))


OP = Op(
    results=("probs",),
    run=run,
    floors=floors,
    dims=lambda at: {"N": math.prod(at["probs"][:-1]), "Vp": at["probs"][-1]},
    index=index,
    suspects=SUSPECTS | OF_BLOCKS,
    baselines={"softmax": Baseline(baseline), "softmax_crossentropy": Baseline(baseline_with_loss, as_the_op=False)},
)
