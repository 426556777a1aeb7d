# SPDX-License-Identifier: MIT
"""Trains the small byte-level GPT-2 that is embedded in the gpt2 program, on English prose (prose.txt, which
make_prose.py makes) and on the course's own text (corpus.txt).

Writes small/config.json, small/model.safetensors (float16) and small/training.json, all at once when it is done. Every
tenth block of each text is held out: it is never trained on, and the loss there is printed and recorded, for each text
apart. --keep FILE keeps the state every few minutes, and a training that was ended goes on from there.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import math
import platform
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor, nn

from reference.model.gpt2 import EPS, GPT2, Config, encoder, folder_files, gelu, join_heads, split_heads, write_all

HERE = Path(__file__).parent
CONFIG = Config(max_T=256, V=256, L=4, NH=4, C=128)  # 858,880 parameters
BLOCK = 2048  # bytes; every tenth block is held out
STORED = torch.float16  # half the bytes of float32 in the repository and in the program


@dataclass(frozen=True)
class Recipe:
    batch: int = 6  # windows of max_T bytes a step, or twice as many of half the length
    short: float = 0.5  # the part of the training, at its beginning, with windows of half the length
    course: float = 0.15  # share of the windows that are the course's text; the others are prose
    rate: float = 2e-3  # AdamW's
    warmup: int = 100  # steps
    decline: float = 0.7  # the part of the training, at its end, in which the rate falls to nothing
    decay: float = 0.1  # weight decay of the matrices
    seed: int = 0


class Corpus:
    """The bytes to train on and the bytes held out."""

    def __init__(self, path: Path, data: bytes, T: int):
        bytes_ = np.frombuffer(data, dtype=np.uint8)
        blocks = [bytes_[i : i + BLOCK] for i in range(0, len(bytes_), BLOCK)]
        held = [block for i, block in enumerate(blocks) if i % 10 == 9 and len(block) > T]
        self.held_out = np.concatenate(held) if held else np.zeros(0, dtype=np.uint8)
        # A window must not reach over a held-out block: the runs of nine blocks between them stay apart.
        self.runs = [np.concatenate(blocks[i : i + 9]) for i in range(0, len(blocks), 10)]
        self.runs = [run for run in self.runs if len(run) > T]
        if not self.runs or not held:
            raise ValueError(f"{path}: has {len(data):,} bytes; at least {10 * BLOCK:,} are needed")
        self.T = T
        self.starts = np.concatenate([[0], np.cumsum([len(run) - T for run in self.runs])])

    def windows(self, rng: np.random.Generator, batch: int, T: int) -> tuple[Tensor, Tensor]:
        """Inputs and targets, both (batch, T), every window of the training bytes equally likely."""
        places = rng.integers(0, self.starts[-1], batch)
        which = np.searchsorted(self.starts, places, side="right") - 1
        cuts = [self.runs[run][place - self.starts[run] :][: T + 1] for run, place in zip(which, places, strict=True)]
        return split(np.stack(cuts))


def split(windows: np.ndarray) -> tuple[Tensor, Tensor]:
    tokens = torch.from_numpy(windows.astype(np.int64))  # (B, T + 1)
    return tokens[:, :-1], tokens[:, 1:]


@torch.no_grad()
def held_out_loss(model: GPT2, corpus: Corpus, most: int | None = None) -> float:
    """Mean loss, in nats a byte, over whole windows of the held-out blocks, one after another, the first `most`."""
    T = corpus.T
    count = min((len(corpus.held_out) - 1) // T, most or len(corpus.held_out))
    windows = np.stack([corpus.held_out[i * T : i * T + T + 1] for i in range(count)])
    model.eval()
    losses = [model(*split(windows[i : i + 32]))[1].mean(dim=1) for i in range(0, count, 32)]
    model.train()
    return float(torch.cat(losses).mean())


def batch_of(texts: dict[str, Corpus], rng: np.random.Generator, recipe: Recipe, done: float) -> tuple[Tensor, Tensor]:
    """Inputs and targets, both (batch, T): each window of the course's text with its share, else of the prose."""
    batch, T = (2 * recipe.batch, CONFIG.max_T // 2) if done < recipe.short else (recipe.batch, CONFIG.max_T)
    of_course = int(rng.binomial(batch, recipe.course)) if "prose" in texts else batch
    counts = {"course": of_course, "prose": batch - of_course}
    parts = [texts[name].windows(rng, count, T) for name, count in counts.items() if count]
    return torch.cat([inputs for inputs, _ in parts]), torch.cat([targets for _, targets in parts])


def optimizer_of(model: GPT2, recipe: Recipe) -> torch.optim.Optimizer:
    matrices = [p for p in model.parameters() if p.dim() == 2]
    others = [p for p in model.parameters() if p.dim() == 1]
    groups = [{"params": matrices, "weight_decay": recipe.decay}, {"params": others, "weight_decay": 0.0}]
    return torch.optim.AdamW(groups, lr=recipe.rate, betas=(0.9, 0.99), fused=True)


def sum_of_losses(model: GPT2, inputs: Tensor, targets: Tensor) -> Tensor:
    """What the model's own forward gives, with products in bfloat16, and faster on a CPU core: biases are added apart
    from the products, attention's scores of a head are one matrix."""
    half = torch.bfloat16
    B, T = inputs.shape
    C, NH = model.config.C, model.config.NH
    mask = torch.full((T, T), -math.inf, dtype=half).triu(1)

    def norm(stream: Tensor, layer: nn.Module) -> Tensor:
        return F.layer_norm(stream, (C,), layer.weight, layer.bias, EPS).to(half)

    def linear(inp: Tensor, layer: nn.Module) -> Tensor:
        return F.linear(inp, layer.weight.to(half)) + layer.bias.to(half)

    stream = encoder(inputs, model.wte.weight, model.wpe.weight)  # (B, T, C), float32
    for block in model.h:
        heads = split_heads(linear(norm(stream, block.ln_1), block.attn.c_attn), NH)  # (B, NH, T, HS) each
        query, key, value = (head.flatten(0, 1) for head in heads)  # (B * NH, T, HS)
        scores = torch.baddbmm(mask, query * (C // NH) ** -0.5, key.mT)  # (B * NH, T, T)
        attn = join_heads((scores.softmax(-1) @ value).view(B, NH, T, C // NH))
        stream = stream + linear(attn, block.attn.c_proj)
        stream = stream + linear(gelu(linear(norm(stream, block.ln_2), block.mlp.c_fc)), block.mlp.c_proj)
    logits = F.linear(norm(stream, model.ln_f), model.wte.weight.to(half)).float()  # (B, T, V)
    return F.cross_entropy(logits.flatten(0, 1), targets.flatten(), reduction="sum")


def rate_at(step: int, done: float, recipe: Recipe) -> float:
    """When the part `done` of the training is over: a linear warmup, then the recipe's, and at the end a line to 0."""
    return recipe.rate * min((step + 1) / recipe.warmup, 1.0, (1 - done) / recipe.decline)


def clock(seconds: float) -> str:
    return f"{int(seconds) // 60}:{int(seconds) % 60:02d}"


class State:
    """The training so far, kept in a file if one is named."""

    def __init__(self, recipe: Recipe, keep: Path | None):
        torch.manual_seed(recipe.seed)
        self.rng = np.random.default_rng(recipe.seed)
        self.model = GPT2(CONFIG)
        self.model.init_weights(recipe.seed)
        self.model.train()
        self.optimizer = optimizer_of(self.model, recipe)
        self.step, self.seconds, self.losses = 0, 0.0, []
        self.keep = keep
        if keep is not None and keep.exists():
            kept = torch.load(keep, weights_only=False)
            self.model.load_state_dict(kept["model"])
            self.optimizer.load_state_dict(kept["optimizer"])
            self.rng.bit_generator.state = kept["rng"]
            self.step, self.seconds, self.losses = kept["step"], kept["seconds"], kept["losses"]

    def save(self) -> None:
        if self.keep is not None:
            kept = {"model": self.model.state_dict(), "optimizer": self.optimizer.state_dict()}
            kept |= {"rng": self.rng.bit_generator.state, "step": self.step, "seconds": self.seconds}
            temporary = self.keep.with_suffix(".tmp")
            torch.save({**kept, "losses": self.losses[-50:]}, temporary)
            temporary.replace(self.keep)


def backward(model: GPT2, batch: tuple[Tensor, Tensor], pool: ThreadPoolExecutor, threads: int) -> float:
    """Adds the gradients of the batch's mean loss, each thread's of its part of the windows, and returns the loss."""
    parameters = list(model.parameters())

    def part(inputs: Tensor, targets: Tensor) -> tuple[float, tuple[Tensor, ...]]:
        loss = sum_of_losses(model, inputs, targets) / batch[1].numel()
        return loss.item(), torch.autograd.grad(loss, parameters)

    total = 0.0
    for loss, gradients in pool.map(part, *(tensor.tensor_split(threads) for tensor in batch)):
        total += loss
        for parameter, gradient in zip(parameters, gradients, strict=True):
            parameter.grad = gradient if parameter.grad is None else parameter.grad.add_(gradient)
    return total


def train(
    texts: dict[str, Corpus],
    recipe: Recipe,
    steps: int | None,
    minutes: float,
    threads: int = 1,
    keep: Path | None = None,
    say=print,
) -> tuple[GPT2, dict]:
    """Trains for `steps`, or for `minutes`; what `keep` holds of an earlier training counts as done."""
    state = State(recipe, keep)
    model, before = state.model, state.seconds
    pool = ThreadPoolExecutor(threads)
    start = spoken = saved = time.monotonic()
    while True:
        done = state.step / steps if steps is not None else state.seconds / (minutes * 60)
        if done >= 1:
            break
        for group in state.optimizer.param_groups:
            group["lr"] = rate_at(state.step, done, recipe)
        loss = backward(model, batch_of(texts, state.rng, recipe, done), pool, threads)
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        state.optimizer.step()
        state.optimizer.zero_grad()
        state.losses.append(loss)
        state.step += 1
        now = time.monotonic()
        state.seconds = before + now - start
        if now - spoken > 10:
            say(
                f"step {state.step:5d}, {done:.0%}  loss {np.mean(state.losses[-50:]):.3f}  "
                f"{state.step * recipe.batch * CONFIG.max_T / state.seconds:6,.0f} bytes/s  {clock(state.seconds)}"
            )
            spoken = now
        if now - saved > 300:
            state.save()
            losses = ", ".join(f"{name} {held_out_loss(model, text, 64):.3f}" for name, text in texts.items())
            say(f"step {state.step:5d}, held out so far, of 64 windows: {losses}")
            saved = time.monotonic()
    state.save()
    model = model.to(STORED).float()  # what the file will hold
    held_out = {name: round(held_out_loss(model, text), 4) for name, text in texts.items()}
    result = {
        "train_loss": round(float(np.mean(state.losses[-50:])), 4),
        "held_out_loss": held_out,
        "unit": "nats a byte; train is the mean of the last 50 steps, of both texts",
        "steps": state.step,
        "bytes_seen": state.step * recipe.batch * CONFIG.max_T,
        "seconds": round(state.seconds, 1),
        "threads": threads,
    }
    say(
        f"trained {state.step} steps in {clock(state.seconds)}: train {result['train_loss']:.3f}, held out "
        + ", ".join(f"{name} {loss:.3f}" for name, loss in held_out.items())
        + " nats a byte"
    )
    return model.eval(), result


@torch.no_grad()
def sample(model: GPT2, prompt: bytes, count: int, seed: int, temperature: float = 0.8) -> bytes:
    generator = torch.Generator().manual_seed(seed)
    text = list(prompt)
    for _ in range(count):
        logits, _ = model(torch.tensor([text[-model.config.max_T :]]))  # (1, T, V)
        probs = torch.softmax(logits[0, -1] / temperature, dim=-1)
        text.append(int(torch.multinomial(probs, 1, generator=generator)))
    return bytes(text)


def main(argv: list[str] | None = None) -> int:
    recipe = Recipe()
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    length = parser.add_mutually_exclusive_group()
    length.add_argument("--minutes", type=float, default=10, help="time to train (default: 10)")
    length.add_argument("--steps", type=int, help="steps to train, instead of a time")
    parser.add_argument("--corpus", type=Path, default=HERE / "corpus.txt", help="the course's text")
    parser.add_argument("--prose", type=Path, default=HERE / "prose.txt", help="English prose; '' for none")
    parser.add_argument("--keep", type=Path, help="file that keeps the state, and that a training goes on from")
    parser.add_argument("--threads", type=int, default=1, help="sums, so the model, depend on them (default: 1)")
    parser.add_argument("--out", type=Path, default=HERE / "small", help="default: reference/model/small")
    args = parser.parse_args(argv)
    sound = {
        "minutes": 0 < args.minutes < 10**5,
        "steps": args.steps is None or args.steps > 0,
        "threads": 0 < args.threads <= 1024,
    }
    for name, ok in sound.items():
        if not ok:
            print(f"train_small: --{name} {getattr(args, name)} makes no sense; see --help", file=sys.stderr)
            return 2

    def say(line: str) -> None:
        print(line, flush=True)

    torch.set_num_threads(1)  # a thread computes its windows alone
    paths = {"course": args.corpus, "prose": args.prose} if str(args.prose) != "." else {"course": args.corpus}
    try:
        data = {name: path.read_bytes() for name, path in paths.items()}
        texts = {name: Corpus(paths[name], text, CONFIG.max_T) for name, text in data.items()}
        args.out.mkdir(parents=True, exist_ok=True)  # before the work, not after it
        for name, text in texts.items():
            held = len(text.held_out)
            print(f"{paths[name]}: {len(data[name]):,} bytes, {held:,} of them held out", flush=True)
        model, result = train(texts, recipe, args.steps, args.minutes, args.threads, args.keep, say)
        record = {
            **result,
            "recipe": vars(recipe),
            "parameters": sum(p.numel() for p in model.parameters()),
            "texts": {
                name: {"file": paths[name].name, "bytes": len(text), "sha256": hashlib.sha256(text).hexdigest()}
                for name, text in data.items()
            },
            "versions": {"python": platform.python_version(), "torch": torch.__version__, "numpy": np.__version__},
        }
        files = folder_files(model, args.out, STORED, extra={"tokenizer": "bytes"})
        write_all({**files, args.out / "training.json": (json.dumps(record, indent=2) + "\n").encode()})
    except OSError as error:
        makers = {str(args.corpus): "make_corpus", str(args.prose): "make_prose"}
        maker = makers.get(error.filename)
        mend = f"; python -m reference.model.{maker} writes it" if maker else ""
        where = error.filename or args.out
        print(f"train_small: {where}: {error.strerror}{mend}; nothing was changed", file=sys.stderr)
        return 1
    except ValueError as error:
        print(f"train_small: {error}", file=sys.stderr)
        return 1
    print(f"wrote {args.out}\n{sample(model, b'The ', 400, recipe.seed).decode(errors='replace')}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
