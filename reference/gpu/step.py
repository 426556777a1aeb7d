# SPDX-License-Identifier: MIT
"""The course's programs of a step (bench_main.cpp), which take forward passes when told to."""

from __future__ import annotations

import contextlib
import subprocess
from pathlib import Path

import numpy as np
import torch

from reference.gpu.tools import ToolError

# Of the largest logit, by a step's precision. Float32 sums in another order make 2e-6, factors in TF32 3e-4 (tiny) to
# 1e-3 (124M), a wrong weight 1e-2.
TOLERANCE = {"fp32": 1e-4, "tf32": 4e-3}


class Step:
    """One of them, for one model and its tokens."""

    def __init__(self, name: str, program: Path, arguments: list[str]):
        self.name, self.program = name, program
        if not program.is_file():
            raise ToolError(f"{program} is not there: it is to be built first")
        self.process = subprocess.Popen(
            [program.absolute(), *arguments], bufsize=0, stdin=subprocess.PIPE, stdout=subprocess.PIPE
        )

    def __enter__(self) -> Step:
        return self

    def __exit__(self, *_) -> None:
        self.close()

    def close(self) -> None:
        self.process.kill()
        self.process.communicate()

    def ask(self, command: str) -> str:
        with contextlib.suppress(BrokenPipeError):  # then there is no answer either
            self.process.stdin.write(f"{command}\n".encode())
        answer = self.process.stdout.readline().decode(errors="replace").strip()
        if not answer:
            raise ToolError(f"step {self.name} stopped with exit status {self.process.wait()}")
        return answer

    def forward(self) -> float:
        answer = self.ask("run")
        try:
            return float(answer)
        except ValueError:
            raise ToolError(f"step {self.name} answered {answer!r}, not a time") from None

    def logits(self, file: Path, shape: torch.Size) -> torch.Tensor:
        self.ask(f"logits {file}")
        values = np.fromfile(file, dtype="<f4")
        if values.size != shape.numel():
            raise ToolError(f"step {self.name} wrote {values.size} logits, not {shape.numel()}")
        return torch.from_numpy(values).reshape(shape)
