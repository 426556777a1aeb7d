# SPDX-License-Identifier: MIT
from __future__ import annotations

import torch
from torch import Tensor

from reference.model import gpt2
from reference.ops.common.op import Baseline, Machine, Op, Suspect, as_rows
from reference.ops.common.rounding import U, rows


def floors(results: dict[str, Tensor], *_: Tensor) -> Tensor:
    return U * rows(results["out"].abs())  # one addition


def position_off_by_one(tokens: Tensor, wte: Tensor, wpe: Tensor) -> Tensor:
    return gpt2.encoder(tokens, wte, wpe[1:])


def position_dropped(tokens: Tensor, wte: Tensor, wpe: Tensor) -> Tensor:
    return gpt2.encoder(tokens, wte, torch.zeros_like(wpe))


def position_of_sequence(tokens: Tensor, wte: Tensor, wpe: Tensor) -> Tensor:
    return wte[tokens] + wpe[: tokens.shape[0], None]


def position_runs_on(tokens: Tensor, wte: Tensor, wpe: Tensor) -> Tensor:
    return wte[tokens] + wpe[: tokens.numel()].unflatten(0, tokens.shape)


def position_subtracted(tokens: Tensor, wte: Tensor, wpe: Tensor) -> Tensor:
    return gpt2.encoder(tokens, wte, -wpe)


SUSPECTS = {
    "position_off_by_one": Suspect(
        "the position embedding was taken from row t+1, not from row t", position_off_by_one
    ),
    "position_dropped": Suspect("the position embedding was not added", position_dropped),
    "position_of_sequence": Suspect(
        "the position embedding was taken from row b: of the row bt = b * T + t the position is bt % T, not bt / T",
        position_of_sequence,
    ),
    "position_subtracted": Suspect("the position embedding was subtracted, not added", position_subtracted),
}
OF_LONG_TABLES = {  # with a row for each token of all sequences
    "position_runs_on": Suspect(
        "the position embedding was taken from row b * T + t: the position is t, and begins anew with each sequence",
        position_runs_on,
    ),
}


def baseline(m: Machine, d: dict[str, int]) -> tuple:
    tokens = m.integers(101 if m.dry else 50257, d["B"], d["T"])
    return gpt2.encoder, (tokens, m.normal(50304, d["C"]), m.normal(d["T"], d["C"]))


OP = Op(
    results=("out",),
    run=gpt2.encoder,
    floors=floors,
    dims=lambda at: as_rows(at["out"]),
    suspects=SUSPECTS | OF_LONG_TABLES,
    baselines={"encoder": Baseline(baseline)},
)
