# SPDX-License-Identifier: MIT
"""Suspects: classic mistakes, each as the output that it gives. The checker compares a wrong output with them.

Every function takes what the right op takes (float64) and returns the wrong outputs. A sentence completes
"your output fits: ...".
"""

from __future__ import annotations

import math

import torch
from torch import Tensor

from reference.model import gpt2
from reference.model.gpt2 import EPS, causal_mask, join_heads, split_heads

SENTENCES = {
    # encoder
    "position_off_by_one": "the position embedding was taken from row t+1, not from row t",
    "position_dropped": "the position embedding was not added",
    # layernorm
    "variance_c_minus_1": "the variance was divided by C-1, not by C",
    "eps_missing": "1e-5 was not added to the variance",
    "eps_outside_root": "1e-5 was added after the square root, not under it",
    "mean_not_subtracted": "the mean was not subtracted from the input before scaling",
    "root_missing": "the input was multiplied by 1 / (variance + 1e-5): the square root is missing",
    "weight_dropped": "the weight was not multiplied in",
    "bias_dropped": "the bias was not added",
    "tail_of_4_left_out": "the channels after the last whole group of 4 were left out of the mean and the variance",
    "first_turn_only": "only the first 128 channels went into the mean and the variance: one turn of a warp's float4s",
    "lane_0_only": "the mean is that of lane 0's channels: the other lanes' sums were not added",
    # gelu
    "exact_gelu": "this is the GELU by erf; GPT-2 has the tanh form",
    "cubic_term_dropped": "the term 0.044715 x^3 is missing inside the tanh",
    "sigmoid_gelu": "this is the GELU by sigmoid, x / (1 + exp(-1.702 x)); GPT-2 has the tanh form",
    "exponential_of_plus_2u": "the exponential is exp(2 u), not exp(-2 u), with u = sqrt(2 / pi) (x + 0.044715 x^3)",
    "exponential_of_u": "the exponential is exp(-u), not exp(-2 u), with u = sqrt(2 / pi) (x + 0.044715 x^3)",
    # matmul
    "weight_transposed": "the weight was read as (C, OC); it is (OC, C), output channels first",
    "tail_of_8_dropped": "the terms after the last whole group of 8 were not summed",
    "tail_of_16_dropped": "the terms after the last whole group of 16 were not summed",
    "last_block_dropped": "the terms after the last whole block of 768 were not summed",
    "last_block_only": "each block of terms was stored over the one before, not added to it: only the last counts",
    "bias_each_block": "the bias was added once for each block of 768 terms, not once",
    "weight_block_reused": "every block of terms was multiplied by the first block of weight, its columns 0 to 383",
    "tail_of_32_dropped": "the terms after the last whole group of 32 were not summed",
    "last_tile_only": "only the last tile of 32 channels was summed",
    "bias_each_tile": "the bias was added once for each tile of 32 channels, not once",
    "tile_not_cleared": "where the last tile of 32 channels has no channel, terms of the tile before were summed again",
    # attention and softmax
    "no_mask": "the causal mask is missing: tokens after t were attended to",
    "mask_off_by_one": "the causal mask is off by one: token t+1 was attended to",
    "no_scale": "the scores were not scaled by 1 / sqrt(HS)",
    "scale_by_channels": "the scores were scaled by 1 / sqrt(C), not by 1 / sqrt(HS)",
    "heads_interleaved": "head h was taken from channels h, h + NH, h + 2 NH, ...; it is h * HS to (h + 1) * HS",
    "key_value_swapped": "key and value are swapped: qkv holds query, key, value in this order",
    "no_max_subtraction": "the row's maximum was not subtracted before exp, which overflows",
    "includes_padding": "the padding columns V to Vp-1 were summed too",
    # crossentropy
    "log2_instead_of_log": "the logarithm is to base 2, not the natural one",
    "sign_dropped": "the minus sign is missing",
    "row_stride_v": "the rows of probs were taken to be V apart; they are Vp apart",
    # forward
    "post_norm": "layernorm was applied after each residual addition; GPT-2 normalises before attention and MLP",
    "residual_of_normed": "the residual additions took the layernorm's output, not its input",
    "attention_residual_dropped": "the MLP's residual addition took the block's input: attention's part is lost",
    "parallel_block": "the MLP read the block's input, not the stream after attention",
    "ln_2_is_ln_1": "the second layernorm of each block used the first one's weight and bias",
    "gelu_dropped": "the GELU between the two matmuls of the MLP is missing",
    "first_layer_everywhere": "every layer used the parameters of layer 0",
    "final_layernorm_dropped": "the final layernorm is missing",
}


# encoder


def position_off_by_one(tokens: Tensor, wte: Tensor, wpe: Tensor) -> Tensor:
    return gpt2.encoder(tokens, wte, wpe[1:])


def position_dropped(tokens: Tensor, wte: Tensor, wpe: Tensor) -> Tensor:
    return gpt2.encoder(tokens, wte, torch.zeros_like(wpe))


# layernorm: out, mean, rstd


def layernorm_with(inp: Tensor, weight: Tensor, bias: Tensor, rstd_of, subtract: bool = True) -> dict[str, Tensor]:
    mean = inp.mean(-1)
    variance = inp.var(-1, correction=0)
    rstd = rstd_of(variance, inp.shape[-1])
    centred = inp - mean.unsqueeze(-1) if subtract else inp
    return {"out": centred * rstd.unsqueeze(-1) * weight + bias, "mean": mean, "rstd": rstd}


def right_rstd(variance: Tensor, C: int) -> Tensor:
    return (variance + EPS).rsqrt()


LAYERNORM = {
    "variance_c_minus_1": lambda x, w, b: layernorm_with(x, w, b, lambda v, C: (v * C / (C - 1) + EPS).rsqrt()),
    "eps_missing": lambda x, w, b: layernorm_with(x, w, b, lambda v, C: v.rsqrt()),
    "eps_outside_root": lambda x, w, b: layernorm_with(x, w, b, lambda v, C: 1 / (v.sqrt() + EPS)),
    "mean_not_subtracted": lambda x, w, b: layernorm_with(x, w, b, right_rstd, subtract=False),
    "root_missing": lambda x, w, b: layernorm_with(x, w, b, lambda v, C: 1 / (v + EPS)),
    "weight_dropped": lambda x, w, b: layernorm_with(x, torch.ones_like(w), b, right_rstd),
    "bias_dropped": lambda x, w, b: layernorm_with(x, w, torch.zeros_like(b), right_rstd),
}

# layernorm by a warp a row: what the sums have when not all of a row is added up


def layernorm_of_channels(x: Tensor, counted: Tensor) -> dict[str, Tensor]:
    """The sums run over the channels that are counted, and are divided by all C. `out` follows, and is not stored."""
    C = x.shape[-1]
    mean = x[..., counted].sum(-1) / C
    centred = x[..., counted] - mean.unsqueeze(-1)
    return {"mean": mean, "rstd": right_rstd((centred**2).sum(-1) / C, C)}


def channels(x: Tensor) -> Tensor:
    return torch.arange(x.shape[-1])


LAYERNORM_TAIL = {
    "tail_of_4_left_out": lambda x, w, b: layernorm_of_channels(x, channels(x) < x.shape[-1] // 4 * 4),
}
LAYERNORM_WARP = {
    "first_turn_only": lambda x, w, b: layernorm_of_channels(x, channels(x) < 128),
    "lane_0_only": lambda x, w, b: {"mean": (x * (channels(x) // 4 % 32 == 0)).mean(-1)},
}

# gelu

GELU = {
    "exact_gelu": lambda x: torch.nn.functional.gelu(x),
    "cubic_term_dropped": lambda x: 0.5 * x * (1 + torch.tanh(math.sqrt(2 / math.pi) * x)),
    "sigmoid_gelu": lambda x: x * torch.sigmoid(1.702 * x),
}


def gelu_exponent(x: Tensor) -> Tensor:
    return math.sqrt(2 / math.pi) * (x + 0.044715 * x**3)  # u: gelu is x / (1 + exp(-2 u))


GELU_EXPONENTIAL = {
    "exponential_of_plus_2u": lambda x: x / (1 + torch.exp(2 * gelu_exponent(x))),
    "exponential_of_u": lambda x: x / (1 + torch.exp(-gelu_exponent(x))),
}

# matmul: weight (OC, C)

MATMUL = {
    "weight_transposed": lambda x, w, b: gpt2.matmul(x, w.reshape(w.shape[1], w.shape[0]).mT, b),
    "bias_dropped": lambda x, w, b: gpt2.matmul(x, w, None),
}

# matmul whose sum over c goes by groups of 8 or 16, as vectors hold them, by blocks of K terms, or by tiles


def first_terms(x: Tensor, w: Tensor, b: Tensor, multiple: int) -> Tensor:
    whole = x.shape[-1] // multiple * multiple
    return gpt2.matmul(x[..., :whole], w[:, :whole], b)


def last_block_only(x: Tensor, w: Tensor, b: Tensor, size: int) -> Tensor:
    start = (x.shape[-1] - 1) // size * size
    return gpt2.matmul(x[..., start:], w[:, start:], b)


def bias_each_block(x: Tensor, w: Tensor, b: Tensor, size: int) -> Tensor:
    return gpt2.matmul(x, w, math.ceil(x.shape[-1] / size) * b)


def weight_block_reused(x: Tensor, w: Tensor, b: Tensor) -> Tensor:
    return gpt2.matmul(x, w[:, torch.arange(x.shape[-1]) % K], b)


def tile_not_cleared(x: Tensor, w: Tensor, b: Tensor) -> Tensor:
    whole = x.shape[-1] // TILE * TILE
    again = slice(whole - TILE + x.shape[-1] % TILE, whole)  # what the last tile still holds of the one before
    return gpt2.matmul(x, w, b) + gpt2.matmul(x[..., again], w[:, again], None)


K = 768  # terms of a block in lesson 03's solution
TILE = 32  # terms of a tile in lesson 07's
MATMUL_TAIL = {
    "tail_of_8_dropped": lambda x, w, b: first_terms(x, w, b, 8),
    "tail_of_16_dropped": lambda x, w, b: first_terms(x, w, b, 16),
}
MATMUL_BLOCK = {
    "last_block_dropped": lambda x, w, b: first_terms(x, w, b, K),
    "last_block_only": lambda x, w, b: last_block_only(x, w, b, K),
    "bias_each_block": lambda x, w, b: bias_each_block(x, w, b, K),
    "weight_block_reused": weight_block_reused,
}
MATMUL_TILE = {
    "tail_of_32_dropped": lambda x, w, b: first_terms(x, w, b, TILE),
    "last_tile_only": lambda x, w, b: last_block_only(x, w, b, TILE),
    "bias_each_tile": lambda x, w, b: bias_each_block(x, w, b, TILE),
    "tile_not_cleared": tile_not_cleared,
}

# causal_softmax: att, lse


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


CAUSAL_SOFTMAX = {
    "no_mask": lambda scores, scale: softmax_with(scale * scores, all_mask(scores.shape[-1])),
    "mask_off_by_one": lambda scores, scale: softmax_with(scale * scores, future_mask(scores.shape[-1])),
    "no_scale": lambda scores, scale: softmax_with(scores, causal_mask(scores.shape[-1])),
    "no_max_subtraction": lambda scores, scale: no_max_subtraction(scale * scores, causal_mask(scores.shape[-1])),
}

# attention: out, lse


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


ATTENTION = {
    "no_mask": lambda qkv, NH: attention_with(qkv, NH, mask_of=all_mask),
    "mask_off_by_one": lambda qkv, NH: attention_with(qkv, NH, mask_of=future_mask),
    "no_scale": lambda qkv, NH: attention_with(qkv, NH, scale=1.0),
    "scale_by_channels": lambda qkv, NH: attention_with(qkv, NH, scale=1 / math.sqrt(qkv.shape[-1] / 3)),
    "heads_interleaved": heads_interleaved,
    "key_value_swapped": key_value_swapped,
    "no_max_subtraction": lambda qkv, NH: attention_with(qkv, NH, probs=no_max_subtraction),
}

# softmax and crossentropy. logits and probs are (..., Vp) here, zero beyond V.


def softmax_no_max(logits: Tensor, V: int) -> Tensor:
    wrong = torch.zeros_like(logits)
    used = logits[..., :V]
    wrong[..., :V] = no_max_subtraction(used, torch.ones_like(used, dtype=torch.bool))["att"]
    return wrong


def includes_padding(logits: Tensor, V: int) -> Tensor:
    wrong = torch.softmax(logits, -1)
    wrong[..., V:] = 0  # not written
    return wrong


SOFTMAX = {"includes_padding": includes_padding, "no_max_subtraction": softmax_no_max}


def row_stride_v(probs: Tensor, targets: Tensor, V: int) -> Tensor:
    start = torch.arange(targets.numel()).reshape(targets.shape) * V
    return -torch.log(probs.flatten()[start + targets])


CROSSENTROPY = {
    "log2_instead_of_log": lambda probs, targets, V: gpt2.crossentropy(probs, targets) / math.log(2),
    "sign_dropped": lambda probs, targets, V: -gpt2.crossentropy(probs, targets),
    "row_stride_v": row_stride_v,
}

# forward: the whole model with its order wrong. Each takes the model and gives (logits (B, T, V), stream after h.0).


def block_parts(block: gpt2.Block):
    def attend(x: Tensor) -> Tensor:
        return block.attn.c_proj(gpt2.attention(block.attn.c_attn(x), block.NH)[0])

    def mlp(x: Tensor) -> Tensor:
        return block.mlp.c_proj(gpt2.gelu(block.mlp.c_fc(x)))

    return attend, mlp, lambda x: block.ln_1(x, None, ""), lambda x: block.ln_2(x, None, "")


def post_norm(block: gpt2.Block, x: Tensor) -> Tensor:
    attend, mlp, ln_1, ln_2 = block_parts(block)
    x = ln_1(x + attend(x))
    return ln_2(x + mlp(x))


def residual_of_normed(block: gpt2.Block, x: Tensor) -> Tensor:
    attend, mlp, ln_1, ln_2 = block_parts(block)
    x = ln_1(x) + attend(ln_1(x))
    return ln_2(x) + mlp(ln_2(x))


def attention_residual_dropped(block: gpt2.Block, x: Tensor) -> Tensor:
    attend, mlp, ln_1, ln_2 = block_parts(block)
    return x + mlp(ln_2(x + attend(ln_1(x))))


def parallel_block(block: gpt2.Block, x: Tensor) -> Tensor:
    attend, mlp, ln_1, ln_2 = block_parts(block)
    return x + attend(ln_1(x)) + mlp(ln_2(x))


def ln_2_is_ln_1(block: gpt2.Block, x: Tensor) -> Tensor:
    attend, mlp, ln_1, _ = block_parts(block)
    x = x + attend(ln_1(x))
    return x + mlp(ln_1(x))


def gelu_dropped(block: gpt2.Block, x: Tensor) -> Tensor:
    attend, _, ln_1, ln_2 = block_parts(block)
    x = x + attend(ln_1(x))
    return x + block.mlp.c_proj(block.mlp.c_fc(ln_2(x)))


BLOCKS = {
    "post_norm": post_norm,
    "residual_of_normed": residual_of_normed,
    "attention_residual_dropped": attention_residual_dropped,
    "parallel_block": parallel_block,
    "ln_2_is_ln_1": ln_2_is_ln_1,
    "gelu_dropped": gelu_dropped,
}


def right_block(block: gpt2.Block, x: Tensor) -> Tensor:
    return block(x, 0.0, None, "")


def forward(model: gpt2.GPT2, tokens: Tensor, targets: Tensor, suspect: str) -> dict[str, Tensor]:
    """Activations of the whole model under one mistake of order: the last stream, ln_f, logits and losses."""
    run = BLOCKS.get(suspect, right_block)
    x = gpt2.encoder(tokens, model.wte.weight, model.wpe.weight)
    outputs = {}
    for l, block in enumerate(model.h):
        x = run(model.h[0] if suspect == "first_layer_everywhere" else block, x)
        outputs[f"h.{l}.residual_2"] = x
    if suspect != "final_layernorm_dropped":
        x = model.ln_f(x, None, "")
    logits = gpt2.matmul(x, model.wte.weight, None)
    losses = gpt2.crossentropy(gpt2.softmax(logits), targets)
    return {**outputs, "logits": logits, "losses": losses}


FORWARD = (*BLOCKS, "first_layer_everywhere", "final_layernorm_dropped")
