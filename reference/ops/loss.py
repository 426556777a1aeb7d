# SPDX-License-Identifier: MIT
"""logits is (..., Vp), whose columns from V on are padding."""

from __future__ import annotations

import math

import torch
import torch.nn.functional as F
from torch import Tensor

from reference.ops.common.op import Baseline, Machine, Op, Shapes, Suspect
from reference.ops.common.rounding import U, of_exponent, softmax_rows
from reference.ops.common.softmax import LSE_WITHOUT_MAXIMUM, MAXIMUM_FROM_ZERO, NO_MAX_SUBTRACTION, no_max_subtraction

Results = dict[str, Tensor]


def of_target(logits: Tensor, targets: Tensor) -> Tensor:
    return logits.gather(-1, targets.unsqueeze(-1)).squeeze(-1)


def with_lse(lse: Tensor, logits: Tensor, targets: Tensor) -> Results:
    return {"losses": lse - of_target(logits, targets), "lse": lse}


def run(logits: Tensor, targets: Tensor, V: int) -> Results:
    return with_lse(torch.logsumexp(logits[..., :V], -1), logits, targets)


def floors(results: Results, logits: Tensor, _: Tensor, V: int) -> Results:
    used = logits[..., :V]
    mask = torch.ones_like(used, dtype=torch.bool)
    of_lse = softmax_rows(used, mask, of_exponent(used, mask))[1]
    return {"losses": of_lse + U * results["losses"].abs(), "lse": of_lse}


def index(at: Shapes, _: dict[str, int]) -> dict[str, str]:
    names = {"losses": "B T", "lse": "B T", "logits": "B T Vp/v", "targets": "B T"}
    return names if len(at["logits"]) == 3 else {}


def exponentials(logits: Tensor, V: int) -> tuple[Tensor, Tensor]:
    """The maximum of each row, and exp(x - maximum)."""
    used = logits[..., :V]
    largest = used.amax(-1)
    return largest, (used - largest.unsqueeze(-1)).exp()


def without_maximum(logits: Tensor, targets: Tensor, V: int) -> Results:
    used = logits[..., :V]
    return with_lse(no_max_subtraction(used, torch.ones_like(used, dtype=torch.bool))["lse"].double(), logits, targets)


def maximum_from_zero(logits: Tensor, targets: Tensor, V: int) -> Results:
    """In float32: in a row far below 0 each exponential is 0, and so is their sum."""
    used = logits[..., :V]
    largest = used.amax(-1).clamp(min=0)
    total = (used - largest.unsqueeze(-1)).exp().float().double().sum(-1)
    return with_lse(largest + total.log(), logits, targets)


def lse_without_maximum(logits: Tensor, targets: Tensor, V: int) -> Results:
    return with_lse(exponentials(logits, V)[1].sum(-1).log(), logits, targets)


def by_log2(logits: Tensor, targets: Tensor, V: int) -> Results:
    largest, e = exponentials(logits, V)
    return with_lse(largest + e.sum(-1).log2(), logits, targets)


def loss_of_the_maximum(logits: Tensor, targets: Tensor, V: int) -> Results:
    """The loss as if the target's logit were the maximum's: that of the most likely token."""
    return {"losses": exponentials(logits, V)[1].sum(-1).log()}


def mean_of_rows(logits: Tensor, targets: Tensor, V: int) -> Results:
    losses = run(logits, targets, V)["losses"]
    return {"losses": losses.mean().expand_as(losses).clone()}


def target_of(logits: Tensor, targets: Tensor, V: int, shift: int) -> Results:
    """Each loss is that of another row's target."""
    return {"losses": run(logits, targets.flatten().roll(shift).reshape(targets.shape), V)["losses"]}


def row_stride_v(logits: Tensor, targets: Tensor, V: int) -> Results:
    rows = logits.flatten()[: targets.numel() * V].reshape(*targets.shape, V)
    return run(rows, targets, V)


# A block's threads, each with a batch of float4s, by the lesson's solution for rows of more than 2,048 columns.
THREADS, BATCH, WARP = 512, 4, 32
BATCH_COLUMNS = 4 * BATCH * THREADS


def thread_of_columns(V: int) -> Tensor:
    """The thread of each column of a row that starts at a multiple of 16 bytes; the last V % 4 have the first ones."""
    v = torch.arange(V)
    return torch.where(v < V // 4 * 4, v // 4 % THREADS, v % 4)


def of_columns(logits: Tensor, targets: Tensor, V: int, columns: Tensor) -> Results:
    """The log-sum-exp of some columns."""
    return with_lse(torch.logsumexp(logits[..., :V].masked_fill(~columns, -math.inf), -1), logits, targets)


def of_parts(logits: Tensor, targets: Tensor, V: int, part_of: Tensor) -> Results:
    """Each part of the columns has a maximum of its own, for which its sum is added to the others' as it is."""
    used = logits[..., :V]
    total = torch.zeros_like(used[..., 0])
    for part in part_of.unique().tolist():
        x = used[..., part_of == part]
        total += (x - x.amax(-1, keepdim=True)).exp().sum(-1)
    return with_lse(used.amax(-1) + total.log(), logits, targets)


def in_turns(logits: Tensor, targets: Tensor, V: int, rescale) -> Results:
    """As the threads find it: whole batches, then float4s one by one, then the columns that are left. A thread's sum is
    multiplied by `rescale` when its maximum moves, and in the end as it should be."""
    used = logits[..., :V]
    in_batches, in_vectors = V // BATCH_COLUMNS * BATCH_COLUMNS, V // 4 * 4
    batches = used[..., :in_batches].unflatten(-1, (-1, BATCH, THREADS, 4)).transpose(-3, -2).flatten(-2)
    vectors = F.pad(used[..., in_batches:in_vectors], (0, (in_batches - in_vectors) % (4 * THREADS)), value=-math.inf)
    turns = [*batches.unbind(-3), *vectors.unflatten(-1, (-1, THREADS, 4)).unbind(-3)]  # each (..., THREADS, logits)
    largest = torch.full_like(turns[0][..., 0], torch.finfo(torch.float32).min)  # (..., THREADS)
    total = torch.zeros_like(largest)
    for x in turns:
        new = torch.maximum(largest, x.amax(-1))
        total = torch.where(total > 0, total * rescale(largest, new), 0) + (x - new.unsqueeze(-1)).exp().sum(-1)
        largest = new
    of_row = largest.amax(-1)
    lse = of_row + (total * (largest - of_row.unsqueeze(-1)).exp()).sum(-1).log()
    return with_lse(torch.logsumexp(torch.cat([lse.unsqueeze(-1), used[..., in_vectors:]], -1), -1), logits, targets)


def filled_with_zeros(logits: Tensor, targets: Tensor, V: int) -> Results:
    """Logits of 0 fill the row up to a whole batch of each thread."""
    used = F.pad(logits[..., :V], (0, -V % BATCH_COLUMNS))
    return with_lse(torch.logsumexp(used, -1), logits, targets)


SUSPECTS = {
    "includes_padding": Suspect(
        "the padding columns V to Vp-1 were summed too",
        lambda logits, targets, V: run(logits, targets, logits.shape[-1]),
    ),
    "lse_without_maximum": Suspect(LSE_WITHOUT_MAXIMUM, lse_without_maximum),
    "lse_by_log2": Suspect("the logarithm of the log-sum-exp is that to the base 2", by_log2),
    "sign_of_loss": Suspect(
        "the sign is wrong: a loss is the log-sum-exp minus the target's logit",
        lambda *args: {"losses": -run(*args)["losses"]},
    ),
    "loss_of_the_maximum": Suspect(
        "each loss is that of the row's largest logit, not of its target's", loss_of_the_maximum
    ),
    "mean_of_rows": Suspect("each loss is the mean of all rows' losses", mean_of_rows),
    "target_of_the_next_row": Suspect(
        "each row took the target of the row after it", lambda *args: target_of(*args, shift=-1)
    ),
    "rows_v_apart": Suspect("the rows of logits were taken to be V apart; they are Vp apart", row_stride_v),
}
# For more than two rows: the next of two is the one before.
OF_ROWS = {
    "target_of_the_row_before": Suspect(
        "each row took the target of the row before it", lambda *args: target_of(*args, shift=1)
    ),
}
OF_LEVELS = {
    "no_max_subtraction": Suspect(NO_MAX_SUBTRACTION, without_maximum),
    "maximum_from_zero": Suspect(MAXIMUM_FROM_ZERO, maximum_from_zero),
}
OF_BLOCKS = {
    "row_tail_left_out": Suspect(
        "the columns after the last whole group of 4 were left out of the sum",
        lambda logits, targets, V: of_columns(logits, targets, V, torch.arange(V) < V // 4 * 4),
    ),
    "first_warp_only": Suspect(
        "only the columns of the block's first warp were summed",
        lambda logits, targets, V: of_columns(logits, targets, V, thread_of_columns(V) < WARP),
    ),
    "first_thread_only": Suspect(
        "only the columns of the block's first thread were summed",
        lambda logits, targets, V: of_columns(logits, targets, V, thread_of_columns(V) == 0),
    ),
    "whole_batches_only": Suspect(
        "the float4s after the last whole batch of the block's threads were left out of the sum",
        lambda logits, targets, V: of_columns(
            logits, targets, V, (torch.arange(V) < V // BATCH_COLUMNS * BATCH_COLUMNS) | (torch.arange(V) >= V // 4 * 4)
        ),
    ),
    "threads_not_rescaled": Suspect(
        "the threads' sums were added as they are, each for its thread's maximum, not for the row's",
        lambda logits, targets, V: of_parts(logits, targets, V, thread_of_columns(V)),
    ),
    "warps_not_rescaled": Suspect(
        "the warps' sums were added as they are, each for its warp's maximum, not for the row's",
        lambda logits, targets, V: of_parts(logits, targets, V, thread_of_columns(V) // WARP),
    ),
    "batches_not_rescaled": Suspect(
        "a thread's sum was not multiplied by exp(old maximum - new maximum) when its maximum moved",
        lambda logits, targets, V: in_turns(logits, targets, V, lambda old, new: torch.ones_like(new)),
    ),
    "batches_rescaled_inversely": Suspect(
        "a thread's sum was multiplied by exp(new maximum - old maximum): the sign is wrong",
        lambda logits, targets, V: in_turns(logits, targets, V, lambda old, new: (new - old).exp()),
    ),
    "batches_filled_with_zeros": Suspect(
        "what fills the row up to a whole batch counts as logits of 0: its exponentials were summed too",
        filled_with_zeros,
    ),
}


def to_losses(logits: Tensor, targets: Tensor) -> Tensor:
    return F.cross_entropy(logits, targets, reduction="none")  # (N)


def baseline(m: Machine, d: dict[str, int]) -> tuple:
    return to_losses, (m.normal(d["N"], d["V"], scale=3), m.integers(d["V"], d["N"]))


OP = Op(
    results=("losses", "lse"),
    run=run,
    floors=floors,
    dims=lambda at: {"N": math.prod(at["losses"]), "Vp": at["logits"][-1]},
    index=index,
    suspects=SUSPECTS | OF_ROWS | OF_LEVELS | OF_BLOCKS,
    baselines={"loss": Baseline(baseline)},
)
