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
from reference.ops.common.softmax import NO_MAX_SUBTRACTION, no_max_subtraction


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


def includes_padding(logits: Tensor, V: int) -> Tensor:
    wrong = torch.softmax(logits, -1)
    wrong[..., V:] = 0  # not written
    return wrong


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
    suspects={
        "includes_padding": Suspect("the padding columns V to Vp-1 were summed too", includes_padding),
        "no_max_subtraction": Suspect(NO_MAX_SUBTRACTION, without_maximum),
    },
    baselines={"softmax": Baseline(baseline), "softmax_crossentropy": Baseline(baseline_with_loss, as_the_op=False)},
)
