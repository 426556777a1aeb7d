# SPDX-License-Identifier: MIT
"""PyTorch's ways to run the whole forward pass: eager, compiled, captured, by SDPA's back ends and by FlexAttention,
with GPT-2's vocabulary or the padded one."""

from __future__ import annotations

import contextlib
import copy
import gc
from collections.abc import Callable
from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch import Tensor, nn
from torch.nn.attention import SDPBackend, sdpa_kernel

from reference.gpu.timing import WARMUP
from reference.model import gpt2
from reference.model.gpt2 import GPT2

Call = Callable[[], Tensor]


@dataclass(frozen=True)
class Way:
    name: str
    mode: str | None = None  # torch.compile's; None is eager
    model: str = "gpt2"  # a key of MODELS
    back_end: SDPBackend | None = None  # the only one that SDPA may use
    graph: bool = False  # captured into one torch.cuda.CUDAGraph, and replayed

    @property
    def has_own_graphs(self) -> bool:
        """True if torch.compile makes CUDA graphs of it."""
        return self.mode in ("reduce-overhead", "max-autotune")

    @property
    def function_key(self) -> tuple[str, str | None]:
        """Equal for ways that call the same function."""
        return self.model, self.mode


EAGER = Way("eager")
# By value: if the time ends early, the ways that are likely to be the best are done. Ways of the same function are
# neighbours, so that it is compiled once.
WAYS = (
    EAGER,
    Way("eager, one graph", graph=True),
    Way("compile", mode="default"),
    Way("compile, one graph", mode="default", graph=True),
    Way("compile, padded vocabulary", mode="default", model="padded"),
    Way("eager, padded vocabulary", model="padded"),
    Way("compile, FlexAttention", mode="default", model="flex"),
    Way("eager, SDPA efficient", back_end=SDPBackend.EFFICIENT_ATTENTION),
    Way("eager, SDPA math", back_end=SDPBackend.MATH),
    Way("compile reduce-overhead", mode="reduce-overhead"),
    Way("compile max-autotune-no-cudagraphs", mode="max-autotune-no-cudagraphs"),
    Way("compile max-autotune", mode="max-autotune"),
)
NOT_FOR_FLOATS = {
    "eager, SDPA flash": "not for fp32 and TF32: FlashAttention takes fp16 and bf16",
    "eager, SDPA cuDNN": "not for fp32 and TF32: cuDNN's attention takes fp16 and bf16",
}


# ---- the models ------------------------------------------------------------------------------------------------------


def padded(model: GPT2, tokens: Tensor) -> nn.Module:
    """Returns the model with wte of Vp rows, those of the padding 0; all other parameters are the model's own."""
    wide = copy.deepcopy(model, {id(parameter): parameter for parameter in model.parameters()})
    rows_of_padding = model.config.Vp - model.config.V
    wide.wte = nn.Embedding.from_pretrained(F.pad(model.wte.weight, (0, 0, 0, rows_of_padding)))
    return wide


class WithFlexAttention(nn.Module):
    """The model with FlexAttention in place of SDPA, without a loss. It makes products of fp32 in TF32 where
    torch.set_float32_matmul_precision allows that."""

    def __init__(self, model: GPT2, tokens: Tensor):
        super().__init__()
        from torch.nn.attention.flex_attention import create_block_mask, flex_attention  # not in every PyTorch

        T = tokens.shape[1]
        self.model, self.flex_attention = model, flex_attention
        self.mask = create_block_mask(lambda b, h, t, s: t >= s, None, None, T, T, device=str(tokens.device))

    def attention(self, block: gpt2.Block, x: Tensor) -> Tensor:
        query, key, value = gpt2.split_heads(block.attn.c_attn(x), block.NH)  # (B, NH, T, HS) each
        heads = self.flex_attention(query, key, value, block_mask=self.mask)
        return block.attn.c_proj(gpt2.join_heads(heads))

    def forward(self, tokens: Tensor) -> tuple[Tensor, None]:
        x = gpt2.encoder(tokens, self.model.wte.weight, self.model.wpe.weight)  # (B, T, C)
        for block in self.model.h:
            x = gpt2.residual(x, self.attention(block, block.ln_1(x, None, "")))
            x = gpt2.residual(x, block.mlp.c_proj(gpt2.gelu(block.mlp.c_fc(block.ln_2(x, None, "")))))
        return gpt2.matmul(self.model.ln_f(x, None, ""), self.model.wte.weight, None), None


MODELS: dict[str, Callable[[GPT2, Tensor], nn.Module]] = {
    "gpt2": lambda model, tokens: model,
    "padded": padded,
    "flex": WithFlexAttention,
}


# ---- the calls -------------------------------------------------------------------------------------------------------


def captured(call: Call) -> Call:
    """The call as one CUDA graph, warmed up on another stream, as PyTorch's notes on graphs ask for. Each replay writes
    the same result anew."""
    side = torch.cuda.Stream()
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):
        for _ in range(WARMUP):
            call()
    torch.cuda.current_stream().wait_stream(side)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        result = call()

    def replay() -> Tensor:
        graph.replay()
        return result

    return replay


class Ways:
    """Calls of one model with one batch of tokens (B, T). The last function that was compiled is kept for the next
    way, and all that it holds goes back once another is asked for."""

    def __init__(self, model: GPT2, tokens: Tensor, dry: bool):
        self.model, self.tokens, self.dry = model, tokens, dry
        self.key: tuple[str, str | None] | None = None
        self.function: Callable | None = None

    def function_of(self, way: Way) -> Callable:
        if way.function_key != self.key:
            self.drop()
            self.function = MODELS[way.model](self.model, self.tokens)
            if way.mode is not None:  # a rehearsal generates no code
                how = {"backend": "eager"} if self.dry else {"mode": way.mode}
                self.function = torch.compile(self.function, dynamic=False, **how)
            self.key = way.function_key
        return self.function

    def drop(self) -> None:
        self.function = self.key = None
        torch._dynamo.reset()

    def call_of(self, way: Way) -> Call:
        """Returns a call that gives the logits, (B, T, V) or (B, T, Vp). A rehearsal has no graph."""
        function = self.function_of(way)
        back_ends = [way.back_end, SDPBackend.MATH] if self.dry else [way.back_end]  # a CPU lacks some of them

        def call() -> Tensor:
            if way.has_own_graphs:
                torch.compiler.cudagraph_mark_step_begin()  # the results of the pass before are not needed any more
            with sdpa_kernel(back_ends) if way.back_end is not None else contextlib.nullcontext():
                return function(self.tokens)[0]

        return captured(call) if way.graph and not self.dry else call

    def free_unused(self) -> None:
        """Gives back what earlier calls have left, a graph's memory too."""
        gc.collect()
        if not self.dry:
            torch.cuda.empty_cache()
