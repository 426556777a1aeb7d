# SPDX-License-Identifier: MIT
"""The error budget: BUDGET.md in code. checker/cases/budget.h is its C++ twin; cases/budget_vectors.json binds the two.
The floors are the ops' own: ops/OP.py."""

from __future__ import annotations

import math
import tomllib
from dataclasses import dataclass
from pathlib import Path

import numpy as np


def all_k() -> dict[str, float]:
    return tomllib.loads((Path(__file__).parent / "budget.toml").read_text())["k"]


def k_of(precision: str) -> float:
    return all_k()[precision]


def ulp32(x: np.ndarray) -> np.ndarray:
    """The distance from |x| to the next larger float32: 2^-149 for 0 and the denormals."""
    x = np.asarray(x, dtype=np.float32)
    _, exponent = np.frexp(x)  # |x| = m * 2^exponent, m in [1/2, 1)
    return np.ldexp(1.0, np.where(x == 0, -126, np.maximum(exponent - 1, -126)) - 23)


def ratio_in(ratios: dict, case: str, scope: str, output: str, precision: str) -> float:
    """Of what budgets.json holds, the ratio that a check of this case takes."""
    found = [ratios[scope].get(output, {}).get(precision)]
    if scope == "local":
        found.append(ratios["own"].get(case, {}).get(output, {}).get(precision))
    return max(ratio for ratio in found if ratio is not None)


@dataclass(frozen=True)
class Verdict:
    wrong: int  # elements outside their budget
    worst: int  # flat index of the largest error / budget, the first of equals; 0 where all are exact
    used: float  # that quotient: at most 1 passes; infinity where an element is NaN or infinite


def budgets(ref: np.ndarray, floor: np.ndarray, ratio: float, k: float) -> np.ndarray:
    """The budget of every element of ref, all finite. ref is (..., n), floor is (...), for one row (1), or as ref."""
    row = k * max(ratio, 1.0) * np.asarray(floor, dtype=np.float64)
    row = row.reshape(np.shape(ref) if row.size == np.size(ref) else (*np.shape(ref)[:-1], 1))
    return np.maximum(row, ulp32(ref))


def verdict(got: np.ndarray, ref: np.ndarray, floor: np.ndarray, ratio: float, k: float) -> Verdict:
    got, ref = np.asarray(got, dtype=np.float64), np.asarray(ref, dtype=np.float64)
    budget = budgets(ref, floor, ratio, k)
    with np.errstate(invalid="ignore"):
        used = np.where(np.isfinite(got), np.abs(got - ref) / budget, math.inf)
    return Verdict(int(np.count_nonzero(~(used <= 1.0))), int(np.argmax(used)), float(np.max(used)))
