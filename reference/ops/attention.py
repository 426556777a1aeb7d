# SPDX-License-Identifier: MIT
from __future__ import annotations

import math
from collections.abc import Callable

import torch
import torch.nn.functional as F
from torch import Tensor
from torch.nn.attention import SDPBackend, sdpa_kernel

from reference.model import gpt2
from reference.model.gpt2 import causal_mask, join_heads, split_heads
from reference.ops.common.op import PRECISIONS, Baseline, Machine, Op, Suspect, as_rows
from reference.ops.common.rounding import U, of_exponent, rows, softmax_rows, sum_error
from reference.ops.common.softmax import (
    LSE_WITHOUT_MAXIMUM,
    MASK_OFF_BY_ONE,
    NO_MASK,
    NO_MAX_SUBTRACTION,
    NO_SCALE,
    OWN_TOKEN_MASKED,
    RESCALED_FROM_THE_START,
    all_mask,
    all_nan,
    future_mask,
    no_max_subtraction,
    past_mask,
    softmax_with,
)


def all_floors(qkv: Tensor, NH: int) -> tuple[Tensor, Tensor, Tensor]:
    """Of out (B, T), of lse (B, NH, T) and of the unscaled scores (B, NH, T)."""
    query, key, value = split_heads(qkv, NH)  # (B, NH, T, HS)
    T, HS = query.shape[-2:]
    scale, mask = 1 / math.sqrt(HS), causal_mask(T)
    scores = query @ key.mT  # (B, NH, T, T)
    of_scores = sum_error(query**2 @ (key**2).mT, scores, HS) + U * scores.abs()
    scaled = scale * scores
    of_scaled = scale * of_scores + of_exponent(scaled, mask)
    _, of_lse = softmax_rows(scaled, mask, of_scaled)
    att = torch.softmax(scaled.masked_fill(~mask, -math.inf), -1)
    out = att @ value  # (B, NH, T, HS)
    # out_i moves by the sum over s of att_s * of_scaled_s * (value_si - out_i), independent errors in quadrature.
    # A row at a time: multiplied out, the squares cancel where one weight is nearly 1.
    weight = (att * of_scaled) ** 2
    moved = [weight[..., t, None, :] @ (value - out[..., t, None, :]) ** 2 for t in range(T)]
    length = torch.arange(1, T + 1, dtype=qkv.dtype).reshape(T, 1)
    of_sum = sum_error(att**2 @ value**2, out, length) + 3 * U * out.abs()
    of_out = torch.cat(moved, -2).sqrt() + of_sum
    return rows(join_heads(of_out)), of_lse, rows(of_scores * mask)


def attention_with(qkv: Tensor, NH: int, mask_of=causal_mask, scale: float | None = None, probs=softmax_with) -> dict:
    query, key, value = split_heads(qkv, NH)  # (B, NH, T, HS)
    scale = 1 / math.sqrt(query.shape[-1]) if scale is None else scale
    result = probs(scale * (query @ key.mT), mask_of(query.shape[-2]))
    return {"out": join_heads(result["att"].to(value.dtype) @ value), "lse": result["lse"]}


def heads_interleaved(qkv: Tensor, NH: int) -> dict[str, Tensor]:
    B, T, C3 = qkv.shape
    HS = C3 // 3 // NH
    regrouped = qkv.reshape(B, T, 3, HS, NH).transpose(-2, -1).reshape(B, T, C3)  # head h: channels h, h + NH, ...
    wrong = attention_with(regrouped, NH)
    wrong["out"] = wrong["out"].reshape(B, T, NH, HS).transpose(-2, -1).reshape(B, T, NH * HS)
    return wrong


def key_value_swapped(qkv: Tensor, NH: int) -> dict[str, Tensor]:
    query, key, value = qkv.chunk(3, dim=-1)
    return attention_with(torch.cat([query, value, key], dim=-1), NH)


def key_from(part: int) -> Callable[[Tensor, int], dict[str, Tensor]]:
    """The keys are read where query (0) or value (2) is."""

    def attend(qkv: Tensor, NH: int) -> dict[str, Tensor]:
        parts = qkv.chunk(3, dim=-1)
        return attention_with(torch.cat([parts[0], parts[part], parts[2]], dim=-1), NH)

    return attend


def scores_by_columns(qkv: Tensor, NH: int) -> dict[str, Tensor]:
    query, key, value = qkv.chunk(3, dim=-1)
    return attention_with(torch.cat([key, query, value], dim=-1), NH)


def att_transposed(qkv: Tensor, NH: int) -> dict[str, Tensor]:
    query, key, value = split_heads(qkv, NH)
    result = softmax_with(query @ key.mT / math.sqrt(query.shape[-1]), causal_mask(query.shape[-2]))
    return {"out": join_heads(result["att"].to(value.dtype).mT @ value)}  # lse is right


SUSPECTS = {
    "no_mask": Suspect(NO_MASK, lambda qkv, NH: attention_with(qkv, NH, mask_of=all_mask)),
    "mask_off_by_one": Suspect(MASK_OFF_BY_ONE, lambda qkv, NH: attention_with(qkv, NH, mask_of=future_mask)),
    "no_scale": Suspect(NO_SCALE, lambda qkv, NH: attention_with(qkv, NH, scale=1.0)),
    "scale_by_channels": Suspect(
        "the scores were scaled by 1 / sqrt(C), not by 1 / sqrt(HS)",
        lambda qkv, NH: attention_with(qkv, NH, scale=1 / math.sqrt(qkv.shape[-1] / 3)),
    ),
    "heads_interleaved": Suspect(
        "head h was taken from channels h, h + NH, h + 2 NH, ...; it is h * HS to (h + 1) * HS", heads_interleaved
    ),
    "key_value_swapped": Suspect(
        "key and value are swapped: qkv holds query, key, value in this order", key_value_swapped
    ),
    "key_from_query": Suspect(
        "keys were read where the queries are: key[b, s, h, :] begins C floats after query[b, s, h, :]", key_from(0)
    ),
    "key_from_value": Suspect(
        "keys were read where the values are: key[b, s, h, :] begins C floats after query[b, s, h, :]", key_from(2)
    ),
    "no_max_subtraction": Suspect(
        NO_MAX_SUBTRACTION, lambda qkv, NH: attention_with(qkv, NH, probs=no_max_subtraction)
    ),
}

OF_PRODUCTS = {
    "scores_by_columns": Suspect(
        "the scores are transposed: query and key are swapped, or scores were written by columns", scores_by_columns
    ),
    "att_transposed": Suspect("att was multiplied transposed: its columns were taken for its rows", att_transposed),
    "scale_twice": Suspect(
        "the scores were scaled twice; once is enough",
        lambda qkv, NH: attention_with(qkv, NH, scale=NH / (qkv.shape[-1] / 3)),
    ),
}

PARTS = ("query", "key", "value")


def misread(
    *misread_parts: str, row: int | None = None, head: int | None = None, part: int | None = None
) -> Callable[[Tensor, int], dict[str, Tensor]]:
    """Returns attention that reads these parts with rows of `row` C floats, not 3 C, with heads `head` floats apart,
    not HS, or from where part number `part` is."""

    def attend(qkv: Tensor, NH: int) -> dict[str, Tensor]:
        _, T, C = (size // 3 if axis == 2 else size for axis, size in enumerate(qkv.shape))
        t, h, i = torch.meshgrid(torch.arange(T), torch.arange(NH), torch.arange(C // NH), indexing="ij")
        parts = list(qkv.chunk(3, dim=-1))
        for name in misread_parts:
            number = PARTS.index(name)
            index = t * (row or 3) * C + (number if part is None else part) * C + h * (head or C // NH) + i
            parts[number] = qkv.flatten(1)[:, index.flatten(1)]
        return attention_with(torch.cat(parts, dim=-1), NH)

    return attend


def head_h(*parts: str) -> Suspect:
    names = " and ".join(parts) if len(parts) < 3 else "query, key and value"
    return Suspect(
        f"head h of {names} was read from channel h on; it begins at channel h * HS", misread(*parts, head=1)
    )


OF_VALUES = {
    "value_from_key": Suspect(
        "values were read where the keys are: value[b, s, h, :] begins C floats after key[b, s, h, :]",
        misread("value", part=1),
    ),
}
OF_INDICES = OF_VALUES | {
    "head_h_of_query": head_h("query"),
    "head_h_of_key": head_h("key"),
    "head_h_of_query_and_key": head_h("query", "key"),
    "head_h_of_value": head_h("value"),
    "head_h": head_h(*PARTS),
    "value_stride_c": Suspect(
        "the values of neighbouring tokens were taken to be C floats apart; they are 3 C apart", misread("value", row=1)
    ),
    "key_stride_c": Suspect(
        "the keys of neighbouring tokens were taken to be C floats apart; they are 3 C apart", misread("key", row=1)
    ),
}


# ---- mistakes of a kernel that goes along the keys in tiles, and keeps a running maximum and sum ---------------------

TILE = 64  # keys


def tiled(
    qkv: Tensor,
    NH: int,
    rescale_out: Callable[[Tensor], Tensor] = lambda x: x,
    rescale_sum: Callable[[Tensor], Tensor] = lambda x: x,
    diagonal: str = "masked",
    divided: bool = True,
    lse_of: Callable[[Tensor, Tensor], Tensor] = lambda largest, total: largest + total.log(),
) -> dict[str, Tensor]:
    """Tile by tile, each with the queries from its first key on. `rescale_out` and `rescale_sum` take the factor by
    which what is there already should be multiplied. In a diagonal tile scores of later keys are "masked", but for the
    "next" one, are "zero", are left as "unmasked", or their weights are cleared "late", after they were summed. Keys
    beyond T are zeros."""
    query, key, value = split_heads(qkv, NH)  # (B, NH, T, HS)
    T, HS = query.shape[-2:]
    tiles = -(-T // TILE)
    key, value = (F.pad(x, (0, 0, 0, tiles * TILE - T)) for x in (key, value))
    largest = torch.full(query.shape[:-1], -math.inf, dtype=qkv.dtype)
    total, out = torch.zeros_like(largest), torch.zeros_like(query)
    for first in range(0, T, TILE):
        rows, keys = slice(first, T), slice(first, first + TILE)
        scores = query[..., rows, :] @ key[..., keys, :].mT / math.sqrt(HS)
        later = torch.arange(first, first + TILE) - torch.arange(first, T).unsqueeze(-1) > (diagonal == "next")
        if diagonal in ("masked", "next", "zero"):
            scores = scores.masked_fill(later, 0.0 if diagonal == "zero" else -math.inf)
        before = largest[..., rows]
        now = torch.maximum(before, scores.amax(-1))
        factor = (before - now).exp()
        weights = (scores - now.unsqueeze(-1)).exp()
        largest[..., rows] = now
        total[..., rows] = total[..., rows] * rescale_sum(factor) + weights.sum(-1)
        if diagonal == "late":
            weights = weights.masked_fill(later, 0.0)
        out[..., rows, :] = out[..., rows, :] * rescale_out(factor).unsqueeze(-1) + weights @ value[..., keys, :]
    return {"out": join_heads(out / total.unsqueeze(-1) if divided else out), "lse": lse_of(largest, total)}


def not_at_all(factor: Tensor) -> Tensor:
    return torch.ones_like(factor)


def inverted(factor: Tensor) -> Tensor:
    """But for the first tile, in which there is nothing yet."""
    return torch.where(factor == 0, 0.0, 1 / factor)


def one_tile_alone(factor: Tensor) -> Tensor:
    return torch.zeros_like(factor)


def second_on_diagonal(T: int) -> Tensor:
    """Where a query meets keys of the second tile on its block's diagonal, if tiles have half as many keys."""
    t = torch.arange(T)
    return t // (TILE // 2) == (t // TILE * 2 + 1).unsqueeze(-1)


def of_every_eighth_key(qkv: Tensor, NH: int) -> dict[str, Tensor]:
    query, key, _ = split_heads(qkv, NH)
    T, HS = query.shape[-2:]
    seen = causal_mask(T) & (torch.arange(T) % 8 == 0)
    return {"lse": (query @ key.mT / math.sqrt(HS)).masked_fill(~seen, -math.inf).logsumexp(-1)}


OF_RUNNING = {
    "out_not_rescaled": Suspect(
        "where a tile brought a larger score, the values that were summed before it were not rescaled",
        lambda qkv, NH: tiled(qkv, NH, rescale_out=not_at_all),
    ),
    "sum_not_rescaled": Suspect(
        "where a tile brought a larger score, the sum of the weights before it was not rescaled",
        lambda qkv, NH: tiled(qkv, NH, rescale_sum=not_at_all),
    ),
    "never_rescaled": Suspect(
        "where a tile brought a larger score, neither the sum nor the values before it were rescaled",
        lambda qkv, NH: tiled(qkv, NH, rescale_out=not_at_all, rescale_sum=not_at_all),
    ),
    "rescaled_by_inverse": Suspect(
        "sum and values were multiplied by exp(new maximum - old one); it is exp(old - new)",
        lambda qkv, NH: tiled(qkv, NH, rescale_out=inverted, rescale_sum=inverted),
    ),
    "last_tile_alone": Suspect(
        "only the last tile of keys of each row counts: sum and values began anew with each tile",
        lambda qkv, NH: tiled(qkv, NH, rescale_out=one_tile_alone, rescale_sum=one_tile_alone),
    ),
}


def powers_of_e(qkv: Tensor, NH: int) -> dict[str, Tensor]:
    """Takes exponents of 2 to the base e."""
    wrong = attention_with(qkv, NH, scale=math.log2(math.e) / math.sqrt(qkv.shape[-1] / 3 / NH))
    exponents_of_2 = attention_largest(qkv, NH) * math.log2(math.e)
    return wrong | {"lse": wrong["lse"] - exponents_of_2 + exponents_of_2 * math.log(2)}


def attention_largest(qkv: Tensor, NH: int) -> Tensor:
    """Returns the largest scaled score of each row."""
    query, key, _ = split_heads(qkv, NH)
    scaled = query @ key.mT / math.sqrt(query.shape[-1])
    return scaled.masked_fill(~causal_mask(query.shape[-2]), -math.inf).amax(-1)


OF_TILES = OF_VALUES | {
    "powers_of_e": Suspect(
        "the weights are powers of e whose exponents have the factor log2(e), which powers of 2 need: exp2f, not expf",
        powers_of_e,
    ),
    "rescale_inverted_from_the_start": Suspect(
        RESCALED_FROM_THE_START, lambda qkv, NH: all_nan(attention_with(qkv, NH))
    ),
    "own_token_masked": Suspect(OWN_TOKEN_MASKED, lambda qkv, NH: attention_with(qkv, NH, mask_of=past_mask)),
    "next_key_in_tile": Suspect(
        "the causal mask of a tile on the diagonal is off by one: token t+1 was attended to, where the tile has it",
        lambda qkv, NH: tiled(qkv, NH, diagonal="next"),
    ),
    "diagonal_unmasked": Suspect(
        "all keys of the last tile were attended to: in the tile on the diagonal some come after the query",
        lambda qkv, NH: tiled(qkv, NH, diagonal="unmasked"),
    ),
    "masked_to_zero": Suspect(
        "masked scores of the tile on the diagonal were set to 0, whose weight is exp(0 - maximum); it is -infinity",
        lambda qkv, NH: tiled(qkv, NH, diagonal="zero"),
    ),
    "masked_late": Suspect(
        "the mask came after the softmax: weights of later keys were cleared, but are in the sum",
        lambda qkv, NH: tiled(qkv, NH, diagonal="late"),
    ),
    "out_not_divided": Suspect(
        "out was not divided by the sum of the weights", lambda qkv, NH: tiled(qkv, NH, divided=False)
    ),
    "lse_in_base_2": Suspect(
        "the log-sum-exp is a logarithm to the base 2; it is a natural one",
        lambda qkv, NH: {"lse": attention_with(qkv, NH)["lse"] / math.log(2)},
    ),
    "lse_in_two_bases": Suspect(
        "the log-sum-exp adds the maximum in units of powers of 2 to a natural logarithm",
        lambda qkv, NH: {
            "lse": tiled(qkv, NH, lse_of=lambda largest, total: largest / math.log(2) + total.log())["lse"]
        },
    ),
    "exponents_of_2": Suspect(
        "the weights are powers of 2, not of e: without the factor log2(e)",
        lambda qkv, NH: attention_with(qkv, NH, scale=math.log(2) / math.sqrt(qkv.shape[-1] / 3 / NH)),
    ),
    "lse_without_maximum": Suspect(
        LSE_WITHOUT_MAXIMUM,
        lambda qkv, NH: {"lse": tiled(qkv, NH, lse_of=lambda largest, total: total.log())["lse"]},
    ),
    "lse_of_one_lane": Suspect(
        "the log-sum-exp is that of every eighth key: the sums of the lanes were not added up", of_every_eighth_key
    ),
}

# ---- mistakes of a kernel whose weights are a factor on tensor cores, without leaving the registers ------------------

# A lane that sums the scores of keys 2 q and 2 q + 1 gives their weights to slots q and q + 4 of the next product.
KEY_OF_SLOT = (0, 2, 4, 6, 1, 3, 5, 7)


def values_of(key_in_place_of: Callable[[int], int]) -> Callable[[Tensor, int], dict[str, Tensor]]:
    """Returns attention in which the value of the key in each slot of 8 is another key's. Keys beyond T are zeros."""

    def attend(qkv: Tensor, NH: int) -> dict[str, Tensor]:
        query, key, value = qkv.chunk(3, dim=-1)
        T = qkv.shape[1]
        padded = F.pad(value, (0, 0, 0, -T % 8))
        taken = torch.arange(padded.shape[1]).reshape(-1, 8)
        for slot, right in enumerate(KEY_OF_SLOT):
            taken[:, right] = taken[:, 0] // 8 * 8 + key_in_place_of(slot)
        return {"out": attention_with(torch.cat([query, key, padded[:, taken.flatten()[:T]]], dim=-1), NH)["out"]}

    return attend


def values_by_slot(weights_of: Callable[[Tensor], Tensor]) -> Callable[[Tensor, int], dict[str, Tensor]]:
    """Returns attention whose weights, relative to the largest of their row, are taken from (..., 16 rows, 8 keys) by
    `weights_of`. Needs a T that is a multiple of 16."""

    def attend(qkv: Tensor, NH: int) -> dict[str, Tensor]:
        query, key, value = split_heads(qkv, NH)
        T, HS = query.shape[-2:]
        scores = (query @ key.mT / math.sqrt(HS)).masked_fill(~causal_mask(T), -math.inf)
        weights = (scores - scores.amax(-1, keepdim=True)).exp()
        tiles = weights.unflatten(-1, (T // 8, 8)).unflatten(-3, (T // 16, 16)).transpose(-3, -2)
        wrong = weights_of(tiles).transpose(-3, -2).flatten(-4, -3).flatten(-2)
        return {"out": join_heads(wrong @ value / weights.sum(-1, keepdim=True))}

    return attend


def registers_as_they_are(tiles: Tensor) -> Tensor:
    """Exchanges, in each lane's two rows and two keys, the second key of the first row and the first of the second."""
    pairs = tiles.unflatten(-2, (2, 8)).unflatten(-1, (4, 2))  # half, g, q, which of two keys
    return pairs.transpose(-4, -1).flatten(-2).flatten(-3, -2)


OF_FACTORS = {
    "values_not_permuted": Suspect(
        "values were taken in the order of keys; the weights have keys 2 q and 2 q + 1 in slots q and q + 4",
        values_of(lambda slot: slot),
    ),
    "values_half_permuted": Suspect(
        "of the values of 8 keys only those in slots q were taken in the weights' order; slot q + 4 has key 2 q + 1",
        values_of(lambda slot: KEY_OF_SLOT[slot] if slot < 4 else slot),
    ),
    "values_exchanged": Suspect(
        "the values of neighbouring keys are exchanged: slot q has key 2 q, slot q + 4 key 2 q + 1",
        values_of(lambda slot: KEY_OF_SLOT[slot] ^ 1),
    ),
    "weights_not_permuted": Suspect(
        "a tile's scores were taken for a factor as they are: x[1] has row g's next key, in a factor row g + 8",
        values_by_slot(registers_as_they_are),
    ),
    "weight_rows_exchanged": Suspect(
        "the weights of rows g and g + 8 were exchanged", values_by_slot(lambda tiles: tiles.roll(8, -2))
    ),
}

OF_WIDE_HEADS = {
    "half_diagonal_unmasked": Suspect(
        "of the two tiles on the diagonal that heads of more than 64 channels have, the second was not masked",
        lambda qkv, NH: attention_with(qkv, NH, lambda T: causal_mask(T) | second_on_diagonal(T)),
    ),
    "half_diagonal_left_out": Suspect(
        "of the two tiles on the diagonal that heads of more than 64 channels have, the second was left out",
        lambda qkv, NH: attention_with(qkv, NH, lambda T: causal_mask(T) & ~second_on_diagonal(T)),
    ),
}


def sdpa(qkv: Tensor, NH: int) -> Tensor:
    return join_heads(F.scaled_dot_product_attention(*split_heads(qkv, NH), is_causal=True))  # (B, T, C)


def sdpa_by(back_end: SDPBackend, m: Machine) -> Callable:
    """SDPA's way that PyTorch calls so, and no other. A CPU lacks some of them: a rehearsal takes what there is."""
    allowed = [back_end, SDPBackend.MATH] if m.dry else [back_end]

    def run(qkv: Tensor, NH: int) -> Tensor:
        with sdpa_kernel(allowed):
            return sdpa(qkv, NH)

    return run


def baseline_by(back_end: SDPBackend, precisions: tuple[str, ...], not_for: dict[str, str] | None = None) -> Baseline:
    def make(m: Machine, d: dict[str, int]) -> tuple:
        return sdpa_by(back_end, m), (m.normal(d["B"], d["T"], 3 * d["C"]), d["NH"])

    return Baseline(make, precisions, not_for=not_for or {}, compiled=False)


def materialised(qkv: Tensor, mask: Tensor, NH: int) -> Tensor:
    query, key, value = split_heads(qkv, NH)  # (B, NH, T, HS) each
    scores = (query @ key.transpose(-2, -1)) / math.sqrt(query.shape[-1])  # (B, NH, T, T)
    return join_heads(torch.softmax(scores.masked_fill(mask, -math.inf), dim=-1) @ value)


def baseline(m: Machine, d: dict[str, int]) -> tuple:
    return sdpa, (m.normal(d["B"], d["T"], 3 * d["C"]), d["NH"])


def baseline_materialised(m: Machine, d: dict[str, int]) -> tuple:
    return materialised, (m.normal(d["B"], d["T"], 3 * d["C"]), m.above_diagonal(d["T"]), d["NH"])


OP = Op(
    results=("out", "lse"),
    run=gpt2.attention,  # and scores and att, which are no results of the op
    floors=lambda _, qkv, NH: all_floors(qkv, NH)[:2],
    dims=lambda at: as_rows(at["out"]) | {"NH": at["lse"][1]},
    suspects=SUSPECTS | OF_PRODUCTS | OF_INDICES | OF_RUNNING | OF_TILES | OF_FACTORS | OF_WIDE_HEADS,
    baselines={
        "attention": Baseline(baseline, PRECISIONS),
        "attention_materialised": Baseline(baseline_materialised, PRECISIONS),
        "attention_flash": baseline_by(
            SDPBackend.FLASH_ATTENTION, ("bf16",), {"fp32": "not for fp32: FlashAttention takes fp16 and bf16"}
        ),
        # From floats each product is three of TF32 on tensor cores, whether TF32 is allowed or not: fp32's
        # accuracy, another roof.
        "attention_efficient": baseline_by(SDPBackend.EFFICIENT_ATTENTION, PRECISIONS),
        "attention_math": baseline_by(SDPBackend.MATH, PRECISIONS),
    },
)
