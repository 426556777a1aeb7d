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


# Of an output's elements: bits of the fraction, and the exponent below which numbers are evenly spaced.
ELEMENTS = {"f32": (23, -126), "bf16": (7, -126), "f16": (10, -14), "f8_e4m3": (3, -6), "f8_e5m2": (2, -14)}


def ulp(x: np.ndarray, element: str = "f32") -> np.ndarray:
    """The distance from |x| to the next larger number of these elements: for float32 2^-149 at 0 and the denormals."""
    fraction_bits, smallest = ELEMENTS[element]
    x = np.asarray(x, dtype=np.float32)
    _, exponent = np.frexp(x)  # |x| = m * 2^exponent, m in [1/2, 1)
    return np.ldexp(1.0, np.where(x == 0, smallest, np.maximum(exponent - 1, smallest)) - fraction_bits)


def floor_in(floor: np.ndarray, terms: int | None, precision: str) -> np.ndarray:
    """A floor is that of float32. What rounds its factors errs so whatever the number of terms that are added up."""
    return floor if precision == "fp32" or terms is None else floor / math.sqrt(terms)


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


def budgets(ref: np.ndarray, floor: np.ndarray, ratio: float, k: float, element: str = "f32") -> np.ndarray:
    """The budget of every element of ref, all finite. ref is (..., n), floor is (...), for one row (1), or as ref."""
    row = k * max(ratio, 1.0) * np.asarray(floor, dtype=np.float64)
    row = row.reshape(np.shape(ref) if row.size == np.size(ref) else (*np.shape(ref)[:-1], 1))
    return np.maximum(row, ulp(ref, element))


def verdict(
    got: np.ndarray, ref: np.ndarray, floor: np.ndarray, ratio: float, k: float, element: str = "f32"
) -> Verdict:
    got, ref = np.asarray(got, dtype=np.float64), np.asarray(ref, dtype=np.float64)
    budget = budgets(ref, floor, ratio, k, element)
    with np.errstate(invalid="ignore"):
        used = np.where(np.isfinite(got), np.abs(got - ref) / budget, math.inf)
    return Verdict(int(np.count_nonzero(~(used <= 1.0))), int(np.argmax(used)), float(np.max(used)))
