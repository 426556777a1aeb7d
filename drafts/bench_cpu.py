# SPDX-License-Identifier: MIT
"""`make bench-cpu`: the forward pass of the course's steps beside PyTorch's, on one core, alternating, as ratios.

The weights are random, the shape is GPT-2 124M's unless said otherwise. Logits are compared before anything is timed.
Prints one row a step: the median ratio to PyTorch's time over the rounds, and the smallest and largest.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

for name in ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
    os.environ[name] = "1"  # before torch reads it

import numpy as np
import torch

from reference.gpt2 import GPT2, Config, save_folder

CONFIGS = {
    "124M": Config(max_T=1024, V=50257, L=12, NH=12, C=768),
    "tiny": Config(max_T=64, V=300, L=2, NH=2, C=64),
}
TOLERANCE = 2e-3  # of the largest logit: float32 sums in another order, through 12 layers


class Step:
    """One of the course's programs, which runs a forward pass when told to."""

    def __init__(self, name: str, program: Path, folder: Path, tokens: Path, B: int, T: int):
        self.name = name
        command = [program, "--model", folder, "--tokens", tokens, "-B", str(B), "-T", str(T)]
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def ask(self, line: str) -> str:
        self.process.stdin.write(line + "\n")
        self.process.stdin.flush()
        answer = self.process.stdout.readline()
        if not answer:
            raise RuntimeError(f"{self.name} stopped; see its message above")
        return answer.strip()

    def run(self) -> float:
        return float(self.ask("run"))

    def close(self) -> None:
        self.process.stdin.close()
        self.process.wait()


def pytorch_forward(model: GPT2, tokens: torch.Tensor) -> tuple[float, torch.Tensor]:
    start = time.perf_counter()
    with torch.no_grad():
        logits = model(tokens)[0]  # (B, T, V)
    return time.perf_counter() - start, logits


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("programs", nargs="+", metavar="STEP=PROGRAM", help="for example 02=build/gpt2-bench-02")
    parser.add_argument("--config", choices=CONFIGS, default="124M")
    parser.add_argument("-B", type=int, default=4)
    parser.add_argument("-T", type=int, default=64)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--json", type=Path, help="write the samples here")
    options = parser.parse_args(arguments)
    config = CONFIGS[options.config]
    if options.rounds < 1 or options.B < 1 or not 1 <= options.T <= config.max_T:
        parser.error(f"rounds and B must be at least 1, T from 1 to {config.max_T}")
    for item in options.programs:
        if "=" not in item or not Path(item.split("=", 1)[1]).is_file():
            parser.error(f"{item}: not STEP=PROGRAM with a program that is there; `make bench-cpu` builds them")

    torch.set_num_threads(1)
    model = GPT2(config)
    model.init_weights(0)
    model.eval()
    rng = np.random.default_rng(0)
    ids = rng.integers(0, config.V, (options.B, options.T), dtype=np.int32)
    tokens = torch.from_numpy(ids.astype(np.int64))

    with tempfile.TemporaryDirectory() as scratch:
        folder, file = Path(scratch) / "model", Path(scratch) / "tokens"
        print("writing random weights and loading them …", file=sys.stderr)
        save_folder(model, folder)
        file.write_bytes(ids.astype("<i4").tobytes())
        steps = [
            Step(name, Path(program), folder, file, options.B, options.T)
            for name, program in (item.split("=", 1) for item in options.programs)
        ]
        _, expected = pytorch_forward(model, tokens)
        for step in steps:
            step.run()
            out = Path(scratch) / "logits"
            step.ask(f"logits {out}")
            logits = torch.from_numpy(np.fromfile(out, dtype="<f4").reshape(expected.shape))
            error = float((logits - expected).abs().max() / expected.abs().max())
            if not error <= TOLERANCE:
                print(f"step {step.name}: logits are off by {error:.1e} of the largest", file=sys.stderr)
                return 1

        seconds: dict[str, list[float]] = {"PyTorch": [], **{step.name: [] for step in steps}}
        for i in range(options.rounds):
            print(f"round {i + 1} of {options.rounds} …", file=sys.stderr)
            seconds["PyTorch"].append(pytorch_forward(model, tokens)[0])
            for step in steps:
                seconds[step.name].append(step.run())
        for step in steps:
            step.close()

    print(f"GPT-2 {options.config}, B={options.B} T={options.T}, one core, {options.rounds} rounds, PyTorch {torch.__version__}")
    print(f"{'':8}{'median':>10}   times PyTorch's: median, smallest, largest")
    for name, samples in seconds.items():
        ratios = sorted(a / b for a, b in zip(samples, seconds["PyTorch"], strict=True))
        print(
            f"{name:8}{statistics.median(samples):8.3f} s   "
            f"{statistics.median(ratios):6.2f}  {ratios[0]:6.2f}  {ratios[-1]:6.2f}"
        )
    if options.json:
        options.json.write_text(json.dumps({"config": options.config, "B": options.B, "T": options.T, "seconds": seconds}))
    return 0


if __name__ == "__main__":
    sys.exit(main())
