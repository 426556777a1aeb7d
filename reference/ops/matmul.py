# SPDX-License-Identifier: MIT
"""weight is (OC, C)."""

from __future__ import annotations

import math

import torch
import torch.nn.functional as F
from torch import Tensor

from reference.model import gpt2
from reference.ops.common.op import PRECISIONS, Baseline, Machine, Op, Shapes, Suspect
from reference.ops.common.rounding import U, rows, sum_error

BLOCK = 768  # terms of a block in lesson 03's solution
TILE = 32  # terms of a tile in lesson 07's


def errors(inp: Tensor, weight: Tensor, bias: Tensor | None) -> Tensor:
    """Of each element of out."""
    out = inp @ weight.mT
    square_sum = inp**2 @ (weight**2).mT
    K = inp.shape[-1]
    if bias is not None:
        out, square_sum, K = out + bias, square_sum + bias**2, K + 1
    return sum_error(square_sum, out, K) + U * out.abs()


def floors(_: dict[str, Tensor], inp: Tensor, weight: Tensor, bias: Tensor | None) -> Tensor:
    return rows(errors(inp, weight, bias))


def dims(at: Shapes) -> dict[str, int]:
    """OC is that of all the rows of weight, where the call does not say otherwise."""
    rows_of_out, (OC, C) = math.prod(at["inp"][:-1]), at["weight"]
    return {"N": rows_of_out, "C": C, "OC": OC, "out_stride": at["out"][-1]}


def index(at: Shapes, dims: dict[str, int]) -> dict[str, str]:
    if len(at["inp"]) < 3:
        return {}
    return {"inp": "B T C", "out": "B T OC/o" if dims["OC"] == dims["out_stride"] else "B T out_stride/o"}


# The sum over c goes by groups of 8 or 16, as vectors hold them, by blocks of terms, or by tiles.


def first_terms(x: Tensor, w: Tensor, b: Tensor, multiple: int) -> Tensor:
    whole = x.shape[-1] // multiple * multiple
    return gpt2.matmul(x[..., :whole], w[:, :whole], b)


def last_block_only(x: Tensor, w: Tensor, b: Tensor, size: int) -> Tensor:
    start = (x.shape[-1] - 1) // size * size
    return gpt2.matmul(x[..., start:], w[:, start:], b)


def bias_each_block(x: Tensor, w: Tensor, b: Tensor, size: int) -> Tensor:
    return gpt2.matmul(x, w, math.ceil(x.shape[-1] / size) * b)


def weight_block_reused(x: Tensor, w: Tensor, b: Tensor) -> Tensor:
    return gpt2.matmul(x, w[:, torch.arange(x.shape[-1]) % BLOCK], b)


def tile_not_cleared(x: Tensor, w: Tensor, b: Tensor) -> Tensor:
    whole = x.shape[-1] // TILE * TILE
    again = slice(whole - TILE + x.shape[-1] % TILE, whole)  # what the last tile still holds of the one before
    return gpt2.matmul(x, w, b) + gpt2.matmul(x[..., again], w[:, again], None)


def out_by_columns(x: Tensor, w: Tensor, b: Tensor) -> Tensor:
    product = gpt2.matmul(x, w, None)
    return product.flatten(0, -2).mT.reshape(product.shape) + b  # the bias is added afterwards, by rows


SUSPECTS = {
    "weight_transposed": Suspect(
        "the weight was read as (C, OC); it is (OC, C), output channels first",
        lambda x, w, b: gpt2.matmul(x, w.reshape(w.shape[1], w.shape[0]).mT, b),
    ),
    "bias_dropped": Suspect("the bias was not added", lambda x, w, b: gpt2.matmul(x, w, None)),
}
OF_TAILS = {
    "tail_of_8_dropped": Suspect(
        "the terms after the last whole group of 8 were not summed", lambda x, w, b: first_terms(x, w, b, 8)
    ),
    "tail_of_16_dropped": Suspect(
        "the terms after the last whole group of 16 were not summed", lambda x, w, b: first_terms(x, w, b, 16)
    ),
}
OF_BLOCKS = {
    "last_block_dropped": Suspect(
        "the terms after the last whole block of 768 were not summed", lambda x, w, b: first_terms(x, w, b, BLOCK)
    ),
    "last_block_only": Suspect(
        "each block of terms was stored over the one before, not added to it: only the last counts",
        lambda x, w, b: last_block_only(x, w, b, BLOCK),
    ),
    "bias_each_block": Suspect(
        "the bias was added once for each block of 768 terms, not once",
        lambda x, w, b: bias_each_block(x, w, b, BLOCK),
    ),
    "weight_block_reused": Suspect(
        "every block of terms was multiplied by the first block of weight, its columns 0 to 383", weight_block_reused
    ),
}
OF_TILES = {
    "tail_of_32_dropped": Suspect(
        "the terms after the last whole group of 32 were not summed", lambda x, w, b: first_terms(x, w, b, TILE)
    ),
    "last_tile_only": Suspect(
        "only the last tile of 32 channels was summed", lambda x, w, b: last_block_only(x, w, b, TILE)
    ),
    "bias_each_tile": Suspect(
        "the bias was added once for each tile of 32 channels, not once",
        lambda x, w, b: bias_each_block(x, w, b, TILE),
    ),
    "tile_not_cleared": Suspect(
        "where the last tile of 32 channels has no channel, terms of the tile before were summed again",
        tile_not_cleared,
    ),
}

OF_COLUMNS = {
    "out_by_columns": Suspect(
        "out was written by columns, (OC, N): cuBLAS sees every matrix transposed, so the operands swap", out_by_columns
    ),
}


def baseline(m: Machine, d: dict[str, int]) -> tuple:
    return F.linear, (m.normal(d["N"], d["C"]), m.normal(d["OC"], d["C"]), m.normal(d["OC"]))


OP = Op(
    results=("out",),
    run=gpt2.matmul,
    floors=floors,
    terms=lambda inp, weight, bias: inp.shape[-1],
    dims=dims,
    index=index,
    suspects=SUSPECTS | OF_TAILS | OF_BLOCKS | OF_TILES | OF_COLUMNS,
    baselines={"matmul": Baseline(baseline, PRECISIONS)},
)
