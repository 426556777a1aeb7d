# SPDX-License-Identifier: MIT
"""weight is (OC, C)."""

from __future__ import annotations

import math
from collections.abc import Callable

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


# An index in a product is another than it should be.


def element(x: Tensor, row: Tensor, channel: Tensor) -> Tensor:
    """Returns x[row, channel], and 0 beyond x."""
    row, channel = torch.broadcast_tensors(row, channel)
    inside = (row < x.shape[0]) & (channel < x.shape[1])
    return x[row.clamp(max=x.shape[0] - 1), channel.clamp(max=x.shape[1] - 1)] * inside


def product_of(inp_at: Callable | None = None, weight_at: Callable | None = None, step: int = 1) -> Callable:
    """Returns a matmul that takes inp[inp_at(n, o, c, C, OC)] for inp[n, c], and weight[weight_at(...)] for
    weight[o, c]; both functions return a row and a channel. c goes through whole steps of `step` channels."""

    def run(x: Tensor, w: Tensor, b: Tensor | None) -> Tensor:
        rows_of_inp, (OC, C) = x.flatten(0, -2), w.shape
        terms = math.ceil(C / step) * step
        n, o, c = torch.meshgrid(*map(torch.arange, (len(rows_of_inp), OC, terms)), indexing="ij")
        inp = element(rows_of_inp, *(inp_at(n, o, c, C, OC) if inp_at else (n, c)))
        weight = element(w, *(weight_at(n, o, c, C, OC) if weight_at else (o, c)))
        product = (inp * weight).sum(-1)
        return (product if b is None else product + b).reshape(*x.shape[:-1], OC)

    return run


def flat(index: Tensor, C: int) -> tuple[Tensor, Tensor]:
    return index // C, index % C


def on_diagonals(run: Callable, tile: int) -> Callable:
    """Returns a matmul that writes only the outputs on the diagonal of each tile."""

    def wrong(x: Tensor, w: Tensor, b: Tensor | None) -> Tensor:
        out = run(x, w, b)
        n = torch.arange(out[..., 0].numel()).reshape(*out.shape[:-1], 1)
        return out.where(n % tile == torch.arange(out.shape[-1]) % tile, math.nan)

    return wrong


OF_INDICES = {
    "weight_row_oc": Suspect(
        "row o of the weight was taken to begin at o * OC; a row has C floats, so it begins at o * C",
        product_of(weight_at=lambda n, o, c, C, OC: flat(o * OC + c, C)),
    ),
    "inp_row_oc": Suspect(
        "row n of inp was taken to begin at n * OC; a row has C floats, so it begins at n * C",
        product_of(inp_at=lambda n, o, c, C, OC: flat(n * OC + c, C)),
    ),
}
OF_THREADS = {
    "n_from_x": Suspect(
        "row n was counted by threadIdx.x, as o is: in each tile of 16 by 16 only the diagonal was written",
        on_diagonals(gpt2.matmul, 16),
    ),
    "weight_row_of_output": Suspect(
        "the tile of weight was loaded from row o0 + x, where this thread's output is; the row that it loads is o0 + y",
        product_of(weight_at=lambda n, o, c, C, OC: (o - o % TILE + c % TILE, c)),
    ),
}

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

# Threads load tiles into shared memory, from channel c0 on.


def step_again(step: int, of_inp: bool, of_weight: bool, bounded: bool = False) -> Callable:
    """Returns a matmul whose steps multiply the first one's channels; if `bounded`, the last no more than it has."""

    def run(x: Tensor, w: Tensor, b: Tensor | None) -> Tensor:
        C = x.shape[-1]
        c = torch.arange(C if bounded else math.ceil(C / step) * step)

        def channels(of: Tensor, again: bool) -> Tensor:
            return of[..., c % step] if again else F.pad(of, (0, c.numel() - C))

        return gpt2.matmul(channels(x, of_inp), channels(w, of_weight), b)

    return run


def of_steps(step: int) -> dict[str, Suspect]:
    again = f"every step of {step} channels multiplied the first {step} channels"
    return {
        f"first_channels_of_inp_{step}": Suspect(
            f"{again} of inp: c0 is missing in its index", step_again(step, of_inp=True, of_weight=False)
        ),
        f"first_channels_of_weight_{step}": Suspect(
            f"{again} of weight: c0 is missing in its index", step_again(step, of_inp=False, of_weight=True)
        ),
        f"first_channels_{step}": Suspect(
            f"{again} of inp and of weight: c0 is missing in their index",
            step_again(step, of_inp=True, of_weight=True),
        ),
        f"first_channels_below_C_{step}": Suspect(
            f"{again} of inp and of weight, as far as c0 allows: it is missing in their index, not in the bound",
            step_again(step, of_inp=True, of_weight=True, bounded=True),
        ),
    }


def operands_exchanged(side: int) -> dict[str, Suspect]:
    return {
        f"operands_exchanged_{side}": Suspect(
            f"the row of inp was taken by the output's column, and that of weight by its row, in squares of {side} by "
            f"{side} outputs: the two operands are exchanged",
            product_of(
                inp_at=lambda n, o, c, C, OC: (n - n % side + o % side, c),
                weight_at=lambda n, o, c, C, OC: (o - o % side + n % side, c),
            ),
        )
    }


# A thread has one output and loads one float of each tile.
OF_SQUARES = {
    "weight_tile_turned": Suspect(
        "the tile of weight was read as weight_tile[k][x]; its rows are weight's, and its columns channels: "
        "weight_tile[x][k]",
        product_of(weight_at=lambda n, o, c, C, OC: (o - o % TILE + c % TILE, c - c % TILE + o % TILE)),
    ),
    "inp_tile_turned": Suspect(
        "the tile of inp was read as inp_tile[k][y]; its rows are inp's, and its columns channels: inp_tile[y][k]",
        product_of(inp_at=lambda n, o, c, C, OC: (n - n % TILE + c % TILE, c - c % TILE + n % TILE)),
    ),
    "inp_row_of_x": Suspect(
        "the tile of inp was loaded from row n0 + x; the row that this thread loads is n0 + y",
        product_of(inp_at=lambda n, o, c, C, OC: (n - n % TILE + c % TILE, c)),
    ),
    "n_from_x_of_tiles": Suspect(
        "row n was counted by threadIdx.x, as o is: in each tile of 32 by 32 only the diagonal was written",
        on_diagonals(product_of(inp_at=lambda n, o, c, C, OC: (n - n % TILE + c % TILE, c)), TILE),
    ),
    "weight_row_of_output": OF_THREADS["weight_row_of_output"],
}
OF_STEPS = {32: OF_SQUARES | of_steps(32), 16: of_steps(16)}
OF_EXCHANGED = operands_exchanged(32) | operands_exchanged(8) | operands_exchanged(4)

# A warp multiplies tiles of 16 rows by 8 columns on the tensor cores: an instruction for each 8 of 16 channels.


def channel_at(c: Tensor) -> Tensor:
    """Returns the channel that is number c in lesson 18's order: a lane with place q takes channels 4 q to 4 q + 3 of
    16, as numbers q and q + 4 of the first instruction and of the second one. Its own inverse."""
    return c - c % 16 + 4 * (c % 4) + 2 * (c // 8 % 2) + c // 4 % 2


def half_of_channels(x: Tensor, w: Tensor, b: Tensor | None) -> Tensor:
    first = torch.arange(x.shape[-1]) // 2 % 2 == 0
    return gpt2.matmul(x * first, w, b)


def lane_number_exchanged(n: Tensor, o: Tensor) -> Tensor:
    """Returns the lane that stores out[n, o] where g is lane % 8 and q lane / 8."""
    return 8 * (o % 8 // 2) + n % 8


def loaded_by(first: Tensor, c: Tensor, row: Tensor) -> tuple[Tensor, Tensor]:
    """Returns the row and the channel of an operand that the lane of channel c in the group of lane `first` loads,
    where g is lane % 8 and q lane / 8."""
    lane = first + c // 4 % 4
    return row - row % 8 + lane % 8, c - c // 4 % 4 * 4 + lane // 8 * 4


def inp_of_exchanged(n: Tensor, o: Tensor, c: Tensor, C: int, OC: int) -> tuple[Tensor, Tensor]:
    return loaded_by(lane_number_exchanged(n, o) // 4 * 4, c, n)


def weight_of_exchanged(n: Tensor, o: Tensor, c: Tensor, C: int, OC: int) -> tuple[Tensor, Tensor]:
    row, channel = loaded_by(4 * (lane_number_exchanged(n, o) % 4 * 2 + o % 2), c, o)
    return row.clamp(max=OC - 1), channel  # rows beyond the last repeat it


def bias_of(column: Callable) -> Callable:
    """Returns a matmul that adds the bias of column(n, o), and 0 beyond the last one."""

    def run(x: Tensor, w: Tensor, b: Tensor) -> Tensor:
        product = gpt2.matmul(x, w, None)
        n, o = torch.meshgrid(torch.arange(product[..., 0].numel()), torch.arange(len(b)), indexing="ij")
        return product + element(b[None], torch.zeros_like(o), column(n, o)).reshape(product.shape)

    return run


OF_FRAGMENTS = {
    "channels_permuted": Suspect(
        "the channels of inp and of weight were taken in different orders: a lane's four neighbours of 16 on one side, "
        "channels q and q + 4 of 8 on the other",
        product_of(weight_at=lambda n, o, c, C, OC: (o, channel_at(c))),
    ),
    "fragment_channels_exchanged": Suspect(
        "numbers q and q + 4 of the channels were exchanged in the fragment of one operand, not in the other's",
        product_of(weight_at=lambda n, o, c, C, OC: (o, c ^ 1)),
    ),
    "instructions_exchanged": Suspect(
        "inp's fragment of the first 8 channels was multiplied by weight's of the other 8",
        product_of(weight_at=lambda n, o, c, C, OC: (o, c ^ 2)),
    ),
    "second_instruction_missing": Suspect(
        "of each 16 channels only the first instruction's 8 were summed", half_of_channels
    ),
    "fragment_rows_exchanged": Suspect(
        "rows g and g + 8 were exchanged, in inp's fragments or in store: x[0] and x[2] of a fragment are of row g, "
        "and x[0] and x[1] of the sums",
        product_of(inp_at=lambda n, o, c, C, OC: (n ^ 8, c)),
    ),
    "fragment_rows_equal": Suspect(
        "both rows of inp's fragments were row g: x[1] and x[3] are of row g + 8",
        product_of(inp_at=lambda n, o, c, C, OC: (n - n // 8 % 2 * 8, c)),
    ),
    "fragment_by_rows": Suspect(
        "inp's fragments were filled row by row: x[1] is channel q of row g + 8, and x[2] channel q + 4 of row g",
        product_of(inp_at=lambda n, o, c, C, OC: (n - n // 8 % 2 * 8 + c % 2 * 8, c - c % 2 + n // 8 % 2)),
    ),
    "group_and_number_exchanged": Suspect(
        "g was taken to be lane % 8 and q to be lane / 8: four neighbouring lanes are a group, so g = lane / 4 and "
        "q = lane % 4",
        product_of(inp_of_exchanged, weight_of_exchanged, step=16),
    ),
    "bias_of_even_column": Suspect(
        "both columns of a lane began with the bias of column 2 q: x[1] and x[3] of the sums are of column 2 q + 1",
        bias_of(lambda n, o: o - o % 2),
    ),
    "bias_by_rows": Suspect(
        "x[0] and x[1] of the sums began with the bias of column 2 q, x[2] and x[3] with the next one's: x[0] and x[2] "
        "are of one column, x[1] and x[3] of the next",
        bias_of(lambda n, o: o - o % 2 + n // 8 % 2),
    ),
    "bias_four_columns_apart": Suspect(
        "the sums began with the biases of columns q and q + 4: a lane's columns are 2 q and 2 q + 1",
        bias_of(lambda n, o: o - o % 8 + o % 8 // 2 + o % 2 * 4),
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
    suspects=SUSPECTS
    | OF_INDICES
    | OF_THREADS
    | OF_TAILS
    | OF_BLOCKS
    | OF_TILES
    | OF_STEPS[32]
    | OF_STEPS[16]
    | OF_EXCHANGED
    | OF_FRAGMENTS
    | OF_COLUMNS,
    baselines={"matmul": Baseline(baseline, PRECISIONS)},
)
