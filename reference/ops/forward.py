# SPDX-License-Identifier: MIT
"""The whole model. It runs in model/gpt2.py; here are its suspects, which take it with its order wrong, and its
baseline."""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor

from reference.model import gpt2
from reference.model.gpt2 import GPT2, Config
from reference.ops.common.op import PRECISIONS, Baseline, Machine, Op, Suspect

RunBlock = Callable[[gpt2.Block, Tensor], Tensor]


def block_parts(block: gpt2.Block):
    def attend(x: Tensor) -> Tensor:
        return block.attn.c_proj(gpt2.attention(block.attn.c_attn(x), block.NH)[0])

    def mlp(x: Tensor) -> Tensor:
        return block.mlp.c_proj(gpt2.gelu(block.mlp.c_fc(x)))

    return attend, mlp, lambda x: block.ln_1(x, None, ""), lambda x: block.ln_2(x, None, "")


def right_block(block: gpt2.Block, x: Tensor) -> Tensor:
    return block(x, 0.0, None, "")


def post_norm(block: gpt2.Block, x: Tensor) -> Tensor:
    attend, mlp, ln_1, ln_2 = block_parts(block)
    x = ln_1(x + attend(x))
    return ln_2(x + mlp(x))


def residual_of_normed(block: gpt2.Block, x: Tensor) -> Tensor:
    attend, mlp, ln_1, ln_2 = block_parts(block)
    x = ln_1(x) + attend(ln_1(x))
    return ln_2(x) + mlp(ln_2(x))


def first_residual_of_normed(block: gpt2.Block, x: Tensor) -> Tensor:
    attend, mlp, ln_1, ln_2 = block_parts(block)
    x = ln_1(x) + attend(ln_1(x))
    return x + mlp(ln_2(x))


def second_residual_of_normed(block: gpt2.Block, x: Tensor) -> Tensor:
    attend, mlp, ln_1, ln_2 = block_parts(block)
    x = x + attend(ln_1(x))
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


def wrong(
    sentence: str, run: RunBlock = right_block, same_layer: bool = False, final_layernorm: bool = True
) -> Suspect:
    """Gives the streams, the logits and the losses."""

    def forward(model: GPT2, tokens: Tensor, targets: Tensor) -> dict[str, Tensor]:
        x = gpt2.encoder(tokens, model.wte.weight, model.wpe.weight)
        outputs = {}
        for l, block in enumerate(model.h):
            x = run(model.h[0] if same_layer else block, x)
            outputs[f"h.{l}.residual_2"] = x
        if final_layernorm:
            x = model.ln_f(x, None, "")
        logits = gpt2.matmul(x, model.wte.weight, None)
        losses = gpt2.crossentropy(gpt2.softmax(logits), targets)
        return {**outputs, "logits": logits, "losses": losses}

    return Suspect(sentence, forward)


def baseline(m: Machine, d: dict[str, int]) -> tuple:
    V = 101 if m.dry else 50257
    config = Config(max_T=max(d["T"], 64 if m.dry else 1024), V=V, L=d["L"], NH=d["NH"], C=d["C"])
    dtype = m.dtype()
    torch.set_default_dtype(torch.float32)  # the random weights are drawn in float32
    try:
        model = GPT2(config).eval()
    finally:
        torch.set_default_dtype(dtype)
    return model.to(m.device, dtype), (m.integers(V, d["B"], d["T"]),)


OP = Op(
    suspects={
        "post_norm": wrong(
            "layernorm was applied after each residual addition; GPT-2 normalises before attention and MLP", post_norm
        ),
        "residual_of_normed": wrong(
            "the residual additions took the layernorm's output, not its input", residual_of_normed
        ),
        "first_residual_of_normed": wrong(
            "the first residual addition took ln_1's output, not its input", first_residual_of_normed
        ),
        "second_residual_of_normed": wrong(
            "the second residual addition took ln_2's output, not its input", second_residual_of_normed
        ),
        "attention_residual_dropped": wrong(
            "the MLP's residual addition took the block's input: attention's part is lost", attention_residual_dropped
        ),
        "parallel_block": wrong("the MLP read the block's input, not the stream after attention", parallel_block),
        "ln_2_is_ln_1": wrong("the second layernorm of each block used the first one's weight and bias", ln_2_is_ln_1),
        "gelu_dropped": wrong("the GELU between the two matmuls of the MLP is missing", gelu_dropped),
        "first_layer_everywhere": wrong("every layer used the parameters of layer 0", same_layer=True),
        "final_layernorm_dropped": wrong("the final layernorm is missing", final_layernorm=False),
    },
    baselines={"forward": Baseline(baseline, PRECISIONS)},
)
