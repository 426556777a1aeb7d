# SPDX-License-Identifier: MIT
"""What an op's file says of it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import torch
from torch import Tensor

Shapes = dict[str, tuple[int, ...]]  # of the arguments and the results, by their names in ops.h
Results = dict[str, Tensor]

PRECISIONS = ("fp32", "tf32", "bf16")


@dataclass(frozen=True)
class Suspect:
    """A classic mistake: the outputs that it gives. The sentence completes "your output fits: ..."."""

    sentence: str
    run: Callable | None  # takes what the right op takes, in float64, and returns some of its results
    # Set for a mistake that only loses bits. It takes the same, and returns how far from the right results float32 may
    # leave each row, infinite if anything may come out. Such a mistake has no `run`.
    spread: Callable | None = None


@dataclass(frozen=True)
class Machine:
    """Where a baseline runs."""

    device: str  # "cuda" or "cpu"
    dry: bool  # a rehearsal: tiny

    def normal(self, *shape: int, scale: float = 1.0) -> Tensor:
        return torch.randn(*shape, device=self.device, dtype=self.dtype()) * scale

    def integers(self, most: int, *shape: int) -> Tensor:
        return torch.randint(most, shape, device=self.device)

    def above_diagonal(self, T: int) -> Tensor:
        return torch.ones(T, T, dtype=torch.bool, device=self.device).triu(1)  # (T, T): true where s > t

    @staticmethod
    def dtype() -> torch.dtype:
        return torch.get_default_dtype()


@dataclass(frozen=True)
class Baseline:
    """PyTorch's own op on a GPU: the function and its inputs at a shape, such as {"N": 4096}."""

    make: Callable[[Machine, dict[str, int]], tuple[Callable, tuple]]
    precisions: tuple[str, ...] = ("fp32",)  # more where a precision changes what runs
    as_the_op: bool = True  # it must move and compute as much as the op
    not_for: dict[str, str] = field(default_factory=dict)  # precisions that it refuses, and why
    compiled: bool = True  # and timed by torch.compile too: not where that would choose another way than the named one


@dataclass(frozen=True)
class Op:
    results: tuple[str, ...] = ()  # by their names in ops.h, in the order of what `run` returns
    run: Callable | None = None  # takes the inputs under their names in ops.h
    floors: Callable | None = (
        None  # takes the results of run in float64, then its arguments: BUDGET.md's of each result
    )
    # Takes the arguments: the products of each of its sums. Where a precision rounds factors, a row's floor is divided
    # by the root of that (BUDGET.md).
    terms: Callable | None = None
    dims: Callable[[Shapes], dict[str, int]] | None = None  # the integers of ops.h
    index: Callable[[Shapes, dict[str, int]], dict[str, str]] = lambda at, dims: {}  # tensors named not as ops.h has it
    suspects: dict[str, Suspect] = field(default_factory=dict)
    baselines: dict[str, Baseline] = field(default_factory=dict)  # the op's own name first
    in_bf16: tuple[str, ...] = ()  # the arguments that it takes in bfloat16, by ops.h

    def exact(self, *args) -> Results:
        return self.named(self.run(*args))

    def floors_of(self, results: Results, *args) -> Results:
        return self.named(self.floors(results, *args))

    def wrong(self, id: str, *args) -> Results:
        return self.named(self.suspects[id].run(*args)) if self.suspects[id].run else {}

    def spread(self, id: str, *args) -> Results:
        """Returns nothing for a mistake whose results are known."""
        spread = self.suspects[id].spread
        return self.named(spread(*args)) if spread else {}

    def named(self, returned: object) -> Results:
        """What a function of the op returned, by the results' names: the first of them where it returned fewer."""
        if isinstance(returned, dict):
            return returned
        return dict(zip(self.results, returned if isinstance(returned, tuple) else (returned,), strict=False))


def as_rows(shape: tuple[int, ...]) -> dict[str, int]:
    """Of a (B, T, C), or of rows alone, which are one sequence."""
    B, T, C = shape if len(shape) == 3 else (1, *shape)
    return {"B": B, "T": T, "C": C}


def in_the_models_shapes(at: Shapes, dims: dict[str, int]) -> dict[str, str]:
    """The index of an op on N elements: its tensors' own dimensions."""
    names = "B T C" if len(at["out"]) == 3 else "rows/r cols/c"
    return dict.fromkeys(at, names)
