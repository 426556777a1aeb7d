# SPDX-License-Identifier: MIT
"""Trains the small byte-level GPT-2 that is embedded in the gpt2 program, on corpus.txt.

Writes small/config.json, small/model.safetensors (float32) and small/training.json, all at once when it is done. Every
tenth block of the corpus is held out: it is never trained on, and the loss there is printed and recorded.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import math
import platform
import sys
import time
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
from torch import Tensor

from reference.model.gpt2 import GPT2, Config, folder_files, write_all

HERE = Path(__file__).parent
CONFIG = Config(max_T=256, V=256, L=4, NH=4, C=128)  # 858,880 parameters
BLOCK = 2048  # bytes; every tenth block is held out


@dataclass(frozen=True)
class Recipe:
    batch: int = 16  # windows of max_T bytes a step
    rate: float = 3e-3  # AdamW's, after the warmup
    warmup: int = 50  # steps
    decay: float = 0.1  # weight decay of the matrices
    dropout: float = 0.1
    seed: int = 0


class Corpus:
    """The bytes to train on and the bytes held out."""

    def __init__(self, data: bytes, T: int):
        bytes_ = np.frombuffer(data, dtype=np.uint8)
        blocks = [bytes_[i : i + BLOCK] for i in range(0, len(bytes_), BLOCK)]
        held = [block for i, block in enumerate(blocks) if i % 10 == 9 and len(block) > T]
        self.held_out = np.concatenate(held) if held else np.zeros(0, dtype=np.uint8)
        # A window must not reach over a held-out block: the runs of nine blocks between them stay apart.
        self.runs = [np.concatenate(blocks[i : i + 9]) for i in range(0, len(blocks), 10)]
        self.runs = [run for run in self.runs if len(run) > T]
        if not self.runs or not held:
            raise ValueError(f"the corpus has {len(data):,} bytes; at least {10 * BLOCK:,} are needed")
        self.T = T
        self.starts = np.concatenate([[0], np.cumsum([len(run) - T for run in self.runs])])

    def windows(self, rng: np.random.Generator, batch: int) -> tuple[Tensor, Tensor]:
        """Inputs and targets, both (batch, T), every window of the training bytes equally likely."""
        places = rng.integers(0, self.starts[-1], batch)
        which = np.searchsorted(self.starts, places, side="right") - 1
        cuts = [
            self.runs[run][place - self.starts[run] :][: self.T + 1] for run, place in zip(which, places, strict=True)
        ]
        return split(np.stack(cuts))


def split(windows: np.ndarray) -> tuple[Tensor, Tensor]:
    tokens = torch.from_numpy(windows.astype(np.int64))  # (B, T + 1)
    return tokens[:, :-1], tokens[:, 1:]


@torch.no_grad()
def held_out_loss(model: GPT2, corpus: Corpus) -> float:
    """Mean loss, in nats a byte, over whole windows of the held-out blocks, one after another."""
    T = corpus.T
    count = (len(corpus.held_out) - 1) // T
    windows = np.stack([corpus.held_out[i * T : i * T + T + 1] for i in range(count)])
    model.eval()
    losses = [model(*split(windows[i : i + 32]))[1].mean(dim=1) for i in range(0, count, 32)]
    model.train()
    return float(torch.cat(losses).mean())


def optimizer_of(model: GPT2, recipe: Recipe) -> torch.optim.Optimizer:
    matrices = [p for p in model.parameters() if p.dim() == 2]
    others = [p for p in model.parameters() if p.dim() == 1]
    groups = [{"params": matrices, "weight_decay": recipe.decay}, {"params": others, "weight_decay": 0.0}]
    return torch.optim.AdamW(groups, lr=recipe.rate, betas=(0.9, 0.99), fused=True)


def rate_at(step: int, steps: int, recipe: Recipe) -> float:
    """Linear warmup, then a cosine down to a twentieth."""
    if step < recipe.warmup:
        return recipe.rate * (step + 1) / recipe.warmup
    done = (step - recipe.warmup) / max(1, steps - recipe.warmup)
    return recipe.rate * (0.05 + 0.95 * 0.5 * (1 + math.cos(math.pi * done)))


def clock(seconds: float) -> str:
    return f"{int(seconds) // 60}:{int(seconds) % 60:02d}"


def train(corpus: Corpus, recipe: Recipe, steps: int | None, minutes: float, say=print) -> tuple[GPT2, dict]:
    """Trains for `steps`, or for about `minutes`: then the number of steps follows from the speed of the first 20."""
    torch.manual_seed(recipe.seed)
    rng = np.random.default_rng(recipe.seed)
    model = GPT2(CONFIG, recipe.dropout)
    model.init_weights(recipe.seed)
    model.train()
    optimizer = optimizer_of(model, recipe)
    start = spoken = time.monotonic()
    step, losses = 0, []
    while steps is None or step < steps:
        if steps is None and step == 20:
            steps = max(20, int(minutes * 60 / ((time.monotonic() - start) / 20)))
            say(f"{steps} steps fit into {minutes:g} minutes")
        for group in optimizer.param_groups:
            group["lr"] = rate_at(step, steps or 10**6, recipe)
        _, loss = model(*corpus.windows(rng, recipe.batch))  # (B, T)
        loss = loss.mean()
        optimizer.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        losses.append(loss.item())
        step += 1
        now = time.monotonic()
        if now - spoken > 10 and steps is not None:
            passed = now - start
            say(
                f"step {step:5d}/{steps}  loss {np.mean(losses[-50:]):.3f}  "
                f"{step * recipe.batch * corpus.T / passed:6,.0f} bytes/s  "
                f"{clock(passed)}, about {clock(passed / step * (steps - step))} left"
            )
            spoken = time.monotonic()
    seconds = time.monotonic() - start
    result = {
        "train_loss": round(float(np.mean(losses[-50:])), 4),
        "held_out_loss": round(held_out_loss(model, corpus), 4),
        "unit": "nats a byte; train is the mean of the last 50 steps, dropout on",
        "steps": step,
        "bytes_seen": step * recipe.batch * corpus.T,
        "seconds": round(seconds, 1),
        "threads": torch.get_num_threads(),
    }
    say(
        f"trained {step} steps in {clock(seconds)}: train {result['train_loss']:.3f}, "
        f"held out {result['held_out_loss']:.3f} nats a byte"
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
    parser.add_argument("--corpus", type=Path, default=HERE / "corpus.txt", help="text to train on")
    parser.add_argument("--out", type=Path, default=HERE / "small", help="default: reference/model/small")
    args = parser.parse_args(argv)
    for name, ok in {"minutes": 0 < args.minutes < 10**5, "steps": args.steps is None or args.steps > 0}.items():
        if not ok:
            print(f"train_small: --{name} {getattr(args, name)} makes no sense; see --help", file=sys.stderr)
            return 2
    torch.set_num_threads(1)  # sums depend on them
    try:
        data = args.corpus.read_bytes()
        corpus = Corpus(data, CONFIG.max_T)
        args.out.mkdir(parents=True, exist_ok=True)  # before the work, not after it
        print(f"{args.corpus}: {len(data):,} bytes, {len(corpus.held_out):,} of them held out", flush=True)
        model, result = train(corpus, recipe, args.steps, args.minutes, lambda line: print(line, flush=True))
        record = {
            **result,
            "recipe": vars(recipe),
            "parameters": sum(p.numel() for p in model.parameters()),
            "corpus": {"file": args.corpus.name, "bytes": len(data), "sha256": hashlib.sha256(data).hexdigest()},
            "versions": {"python": platform.python_version(), "torch": torch.__version__, "numpy": np.__version__},
        }
        files = folder_files(model, args.out, extra={"tokenizer": "bytes"})
        write_all({**files, args.out / "training.json": (json.dumps(record, indent=2) + "\n").encode()})
    except OSError as error:
        mend = "; python -m reference.model.make_corpus writes it" if error.filename == str(args.corpus) else ""
        where = error.filename or args.out
        print(f"train_small: {where}: {error.strerror}{mend}; nothing was changed", file=sys.stderr)
        return 1
    except ValueError as error:
        print(f"train_small: {args.corpus}: {error}", file=sys.stderr)
        return 1
    print(f"wrote {args.out}\n{sample(model, b'The ', 400, recipe.seed).decode(errors='replace')}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
