# SPDX-License-Identifier: MIT
"""GPT-2 in PyTorch, readable: the ops of lessons/gpt2/ops.h as functions, then the model that calls them in order.

Letters as everywhere in the course:
  B sequences   T tokens   C channels   NH heads   HS = C / NH   V vocabulary   L layers
Weights are (OC, C), output channels first; a Hugging Face folder stores them (C, OC), and load() and save() transpose.
"""

from __future__ import annotations

import json
import math
import os
from dataclasses import dataclass
from pathlib import Path

import torch
import torch.nn.functional as F
from torch import Tensor, nn

EPS = 1e-5  # of every layernorm
TRANSPOSED = ("attn.c_attn.weight", "attn.c_proj.weight", "mlp.c_fc.weight", "mlp.c_proj.weight")


@dataclass(frozen=True)
class Config:
    """The shape of a GPT-2. In Hugging Face's config.json: n_positions, vocab_size, n_layer, n_head, n_embd."""

    max_T: int
    V: int
    L: int
    NH: int
    C: int

    @property
    def Vp(self) -> int:
        """Rows of wte in the C++ programs: V rounded up to a multiple of 128."""
        return (self.V + 127) // 128 * 128


# The ops, in the order in which the model runs them.


def encoder(tokens: Tensor, wte: Tensor, wpe: Tensor) -> Tensor:
    return F.embedding(tokens, wte) + wpe[: tokens.shape[1]]  # (B, T, C) + (T, C)


def layernorm(inp: Tensor, weight: Tensor, bias: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    out, mean, rstd = torch.native_layer_norm(inp, inp.shape[-1:], weight, bias, EPS)
    return out, mean.squeeze(-1), rstd.squeeze(-1)  # (B, T, C), (B, T), (B, T)


def matmul(inp: Tensor, weight: Tensor, bias: Tensor | None) -> Tensor:
    return F.linear(inp, weight, bias)  # (..., C) x (OC, C) -> (..., OC)


def causal_mask(T: int) -> Tensor:
    return torch.ones(T, T, dtype=torch.bool).tril()  # (T, T): true where s <= t


def causal_softmax(scores: Tensor, scale: float) -> tuple[Tensor, Tensor]:
    scaled = (scale * scores).masked_fill(~causal_mask(scores.shape[-1]), -math.inf)  # (B, NH, T, T)
    return torch.softmax(scaled, dim=-1), torch.logsumexp(scaled, dim=-1)  # (B, NH, T, T), (B, NH, T)


def split_heads(qkv: Tensor, NH: int) -> list[Tensor]:
    """Query, key and value, each (B, NH, T, HS), of a (B, T, 3C)."""
    B, T, C3 = qkv.shape
    return [x.reshape(B, T, NH, C3 // 3 // NH).transpose(1, 2) for x in qkv.split(C3 // 3, dim=-1)]


def join_heads(x: Tensor) -> Tensor:
    B, NH, T, HS = x.shape
    return x.transpose(1, 2).reshape(B, T, NH * HS)  # (B, T, C)


def attention(qkv: Tensor, NH: int) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    query, key, value = split_heads(qkv, NH)  # (B, NH, T, HS) each
    scores = query @ key.transpose(-2, -1)  # (B, NH, T, T), not scaled yet
    att, lse = causal_softmax(scores, 1 / math.sqrt(query.shape[-1]))
    return join_heads(att @ value), lse, scores.tril(), att


def gelu(inp: Tensor) -> Tensor:
    return F.gelu(inp, approximate="tanh")


def residual(inp1: Tensor, inp2: Tensor) -> Tensor:
    return inp1 + inp2


def softmax(logits: Tensor) -> Tensor:
    return torch.softmax(logits, dim=-1)  # (..., V)


def crossentropy(probs: Tensor, targets: Tensor) -> Tensor:
    return -torch.log(probs.gather(-1, targets.unsqueeze(-1)).squeeze(-1))  # (...)


# The model. Modules hold the parameters, under Hugging Face's names; the arithmetic is in the functions above.


class LayerNorm(nn.Module):
    def __init__(self, C: int):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(C))
        self.bias = nn.Parameter(torch.zeros(C))

    def forward(self, inp: Tensor, keep: dict | None, name: str) -> Tensor:
        out, mean, rstd = layernorm(inp, self.weight, self.bias)
        if keep is not None:
            keep.update({name: out, f"{name}_mean": mean, f"{name}_rstd": rstd})
        return out


class Linear(nn.Module):
    def __init__(self, C: int, OC: int):
        super().__init__()
        self.weight = nn.Parameter(torch.empty(OC, C))
        self.bias = nn.Parameter(torch.zeros(OC))

    def forward(self, inp: Tensor) -> Tensor:
        return matmul(inp, self.weight, self.bias)


class Attention(nn.Module):
    def __init__(self, C: int):
        super().__init__()
        self.c_attn = Linear(C, 3 * C)
        self.c_proj = Linear(C, C)


class MLP(nn.Module):
    def __init__(self, C: int):
        super().__init__()
        self.c_fc = Linear(C, 4 * C)
        self.c_proj = Linear(4 * C, C)


class Block(nn.Module):
    def __init__(self, config: Config):
        super().__init__()
        self.NH = config.NH
        self.ln_1 = LayerNorm(config.C)
        self.attn = Attention(config.C)
        self.ln_2 = LayerNorm(config.C)
        self.mlp = MLP(config.C)

    def forward(self, inp: Tensor, dropout: float, keep: dict | None, name: str) -> Tensor:
        def drop(x: Tensor) -> Tensor:
            return F.dropout(x, dropout) if self.training and dropout > 0 else x

        ln_1 = self.ln_1(inp, keep, f"{name}.ln_1")  # (B, T, C)
        qkv = self.attn.c_attn(ln_1)  # (B, T, 3C)
        if keep is None:  # the same without a (T, T) matrix in memory
            heads = F.scaled_dot_product_attention(*split_heads(qkv, self.NH), is_causal=True)  # (B, NH, T, HS)
            attn = join_heads(heads)  # (B, T, C)
        else:
            attn, lse, scores, att = attention(qkv, self.NH)
            keep.update({f"{name}.qkv": qkv, f"{name}.scores": scores, f"{name}.att": att})
            keep.update({f"{name}.attn": attn, f"{name}.lse": lse})
        attn_proj = self.attn.c_proj(attn)  # (B, T, C)
        residual_1 = residual(inp, drop(attn_proj))  # (B, T, C)

        ln_2 = self.ln_2(residual_1, keep, f"{name}.ln_2")  # (B, T, C)
        fc = self.mlp.c_fc(ln_2)  # (B, T, 4C)
        fc_gelu = gelu(fc)  # (B, T, 4C)
        fc_proj = self.mlp.c_proj(fc_gelu)  # (B, T, C)
        residual_2 = residual(residual_1, drop(fc_proj))  # (B, T, C)
        if keep is not None:
            keep.update({f"{name}.attn_proj": attn_proj, f"{name}.residual_1": residual_1})
            keep.update({f"{name}.fc": fc, f"{name}.fc_gelu": fc_gelu})
            keep.update({f"{name}.fc_proj": fc_proj, f"{name}.residual_2": residual_2})
        return residual_2


class GPT2(nn.Module):
    def __init__(self, config: Config, dropout: float = 0.0):
        super().__init__()
        if config.C % config.NH != 0:
            raise ValueError(f"{config.C} channels do not split into {config.NH} heads")
        self.config = config
        self.dropout = dropout
        self.wte = nn.Embedding(config.V, config.C)  # also the weight of the logits
        self.wpe = nn.Embedding(config.max_T, config.C)
        self.h = nn.ModuleList(Block(config) for _ in range(config.L))
        self.ln_f = LayerNorm(config.C)
        self.init_weights(seed=0)

    def init_weights(self, seed: int) -> None:
        """GPT-2's own start: N(0, 0.02²), and the two projections that write to the stream smaller by sqrt(2L)."""
        generator = torch.Generator().manual_seed(seed)
        for name, parameter in self.named_parameters():
            if parameter.dim() == 2:
                std = 0.02 / math.sqrt(2 * self.config.L) if name.endswith("c_proj.weight") else 0.02
                nn.init.normal_(parameter, std=std, generator=generator)

    def forward(
        self, tokens: Tensor, targets: Tensor | None = None, keep: dict[str, Tensor] | None = None
    ) -> tuple[Tensor, Tensor | None]:
        """Logits (B, T, V) of tokens (B, T), and with targets (B, T) the losses (B, T).

        keep, if given, receives every intermediate under its name in lessons/gpt2/tensors.h, and attention's
        scores and att.
        """
        T = tokens.shape[1]
        if T > self.config.max_T:
            raise ValueError(f"{T} tokens, but this model's context is {self.config.max_T}")
        stream = encoder(tokens, self.wte.weight, self.wpe.weight)  # (B, T, C)
        if keep is not None:
            keep["encoded"] = stream
        if self.training and self.dropout > 0:
            stream = F.dropout(stream, self.dropout)
        for l, block in enumerate(self.h):
            stream = block(stream, self.dropout, keep, f"h.{l}")  # (B, T, C)
        ln_f = self.ln_f(stream, keep, "ln_f")  # (B, T, C)
        logits = matmul(ln_f, self.wte.weight, None)  # (B, T, V)
        if keep is None:
            losses = None if targets is None else F.cross_entropy(logits.mT, targets, reduction="none")  # (B, T)
            return logits, losses
        keep["logits"] = logits
        losses = None
        if targets is not None:
            probs = softmax(logits)  # (B, T, V)
            losses = crossentropy(probs, targets)  # (B, T)
            keep.update({"probs": probs, "losses": losses, "loss_lse": torch.logsumexp(logits, dim=-1)})
        return logits, losses


# Hugging Face's folder: config.json and model.safetensors.


def read_config(folder: Path) -> Config:
    path = Path(folder) / "config.json"
    try:
        values = json.loads(path.read_text())
        config = Config(*(int(values[key]) for key in ("n_positions", "vocab_size", "n_layer", "n_head", "n_embd")))
    except KeyError as error:
        raise ValueError(f"{path}: {error} is missing; a GPT-2 folder of Hugging Face has it") from None
    except (ValueError, TypeError) as error:
        raise ValueError(f"{path}: not a GPT-2 configuration ({error})") from None
    if min(config.max_T, config.V, config.L, config.NH, config.C) < 1 or config.C % config.NH:
        raise ValueError(f"{path}: {config} is not the shape of a GPT-2")
    expected = {
        "n_inner": (None, 4 * config.C),
        "activation_function": ("gelu_new", "gelu_pytorch_tanh"),
        "layer_norm_epsilon": (EPS,),
        "scale_attn_weights": (True,),
        "scale_attn_by_inverse_layer_idx": (False,),
    }
    for key, allowed in expected.items():
        if key in values and values[key] not in allowed:
            raise ValueError(f"{path}: {key} is {values[key]!r}; this model has {allowed[-1]!r}")
    return config


def load(folder: Path, dtype: torch.dtype = torch.float32) -> GPT2:
    """The model of a Hugging Face GPT-2 folder: float32, float16 or bfloat16 storage, names with or without
    `transformer.`, with or without the mask buffers h.N.attn.bias, head tied to wte."""
    from safetensors import SafetensorError, safe_open  # here, so that the model alone needs nothing but PyTorch

    config = read_config(folder)
    path = Path(folder) / "model.safetensors"
    stored = {}
    try:
        with safe_open(path, framework="pt") as file:
            for name in file.keys():  # noqa: SIM118 (not a dict)
                stored[name.removeprefix("transformer.")] = file.get_tensor(name)
    except SafetensorError as error:
        raise ValueError(f"{path}: not a readable safetensors file ({error})") from None
    model = GPT2(config).to(dtype)
    expected = model.state_dict()
    for l in range(config.L):
        for buffer in ("attn.bias", "attn.masked_bias"):  # the causal mask: no parameter
            stored.pop(f"h.{l}.{buffer}", None)
    head = stored.pop("lm_head.weight", None)
    missing, extra = sorted(expected.keys() - stored.keys()), sorted(stored.keys() - expected.keys())
    if missing or extra:
        what = f"{missing[0]} is missing" if missing else f"{extra[0]} does not belong to a GPT-2 of {config.L} layers"
        raise ValueError(f"{path}: {what}")
    if head is not None and not torch.equal(head, stored["wte.weight"]):
        raise ValueError(f"{path}: lm_head.weight differs from wte.weight; GPT-2 ties them")
    for name, tensor in stored.items():
        if name.endswith(TRANSPOSED):
            stored[name] = tensor = tensor.mT
        if tensor.shape != expected[name].shape:
            raise ValueError(f"{path}: {name} is {tuple(tensor.shape)}, config.json asks {tuple(expected[name].shape)}")
    model.load_state_dict(stored)
    return model.eval()


def folder_files(
    model: GPT2, folder: Path, dtype: torch.dtype = torch.float32, extra: dict | None = None
) -> dict[Path, bytes]:
    """What a Hugging Face folder of this model holds: config.json (with the keys of extra) and model.safetensors."""
    from safetensors.torch import save

    c = model.config
    values = {
        "architectures": ["GPT2LMHeadModel"],
        "model_type": "gpt2",
        "activation_function": "gelu_new",
        "layer_norm_epsilon": EPS,
        "n_positions": c.max_T,
        "n_ctx": c.max_T,
        "vocab_size": c.V,
        "n_layer": c.L,
        "n_head": c.NH,
        "n_embd": c.C,
        "tie_word_embeddings": True,
        **(extra or {}),
    }
    tensors = {
        f"transformer.{name}": (tensor.mT if name.endswith(TRANSPOSED) else tensor).to(dtype).contiguous()
        for name, tensor in model.state_dict().items()
    }
    return {
        Path(folder) / "model.safetensors": save(tensors, metadata={"format": "pt"}),
        Path(folder) / "config.json": (json.dumps(values, indent=2) + "\n").encode(),
    }


def save_folder(model: GPT2, folder: Path, dtype: torch.dtype = torch.float32, extra: dict | None = None) -> None:
    write_all(folder_files(model, folder, dtype, extra))


def write_all(files: dict[Path, bytes]) -> None:
    """Writes all files or none: everything under temporary names first, then renamed. Raises OSError."""
    temporary = {path: path.with_name(f".{path.name}.{os.getpid()}.tmp") for path in files}
    try:
        for path, data in files.items():
            path.parent.mkdir(parents=True, exist_ok=True)
            with temporary[path].open("wb") as file:
                file.write(data)
                file.flush()
                os.fsync(file.fileno())
        for path in files:
            temporary[path].replace(path)
    finally:
        for path in temporary.values():
            path.unlink(missing_ok=True)
