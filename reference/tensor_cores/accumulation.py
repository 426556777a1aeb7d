# SPDX-License-Identifier: MIT
"""Errors of tensor cores' sums, apart from what rounding the factors to TF32 loses. The sums are the CPU device's,
which adds as the cards do, bit for bit."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass

import numpy as np
import torch

from reference.dump.budget import budgets, floor_in, k_of
from reference.ops import matmul
from reference.tensor_cores.product import multiply

LENGTHS = (768, 3072, 4096, 65536)
OUTPUTS = 64  # rows and columns
SIGNS = ("both", "one")
LOW_BITS = np.uint32(0x1FFF)  # bits of a float that TF32 lacks


@dataclass(frozen=True)
class Losses:
    """Errors in units of the outputs' root mean square. `used`: the largest share of the TF32 budget of an output."""

    K: int
    signs: str
    used_rounded: float  # factors rounded to nearest, an H100's sum
    used_cut: float  # factors cut off, an H100's sum
    used_cut_a100: float
    rounded: float  # RMS, sums exact
    cut: float
    fmaf: float  # RMS of sums alone, factors exact in TF32
    a100: float
    h100: float
    h100_mean: float  # away from 0


def factors(K: int, signs: str) -> tuple[np.ndarray, np.ndarray]:
    """Returns (OUTPUTS, K) of σ 1 and of σ 1 / sqrt(K), normally distributed, or the magnitudes of such numbers."""
    random = np.random.default_rng(K)
    a, b = (random.standard_normal((OUTPUTS, K)).astype(np.float32) for _ in range(2))
    b /= np.float32(math.sqrt(K))
    return (a, b) if signs == "both" else (np.abs(a), np.abs(b))


def cut_off(x: np.ndarray) -> np.ndarray:
    return (x.view(np.uint32) & ~LOW_BITS).view(np.float32)


def rounded(x: np.ndarray) -> np.ndarray:
    """To nearest, ties away from zero, as cvt.rna.tf32.f32."""
    return ((x.view(np.uint32) + np.uint32(0x1000)) & ~LOW_BITS).view(np.float32)


def exact(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    return a.astype(np.float64) @ b.astype(np.float64).T


def by_tensor_core(architecture: str, a: np.ndarray, b: np.ndarray) -> np.ndarray:
    zeros = np.zeros((1, len(a), len(b)), np.uint32)
    bits = multiply(architecture, "tf32", a.view(np.uint32)[None], b.view(np.uint32)[None], zeros)
    return bits[0].view(np.float32).astype(np.float64)


def by_fmaf(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Returns sums in order of k, each rounded to nearest. A double holds a product of TF32's numbers exactly."""
    out = np.zeros((len(a), len(b)), np.float32)
    for column, row in zip(a.astype(np.float64).T, b.astype(np.float64).T, strict=True):
        out = (out + np.outer(column, row)).astype(np.float32)
    return out.astype(np.float64)


def used(got: np.ndarray, a: np.ndarray, b: np.ndarray, ratio: float) -> float:
    """Returns the largest share of the TF32 budget that an output's error takes."""
    inp, weight = torch.from_numpy(a).double(), torch.from_numpy(b).double()
    floor = floor_in(matmul.floors({}, inp, weight, None).numpy(), a.shape[1], "tf32")
    reference = exact(a, b)
    return float((np.abs(got - reference) / budgets(reference, floor, ratio, k_of("tf32"))).max())


def losses(K: int, signs: str, ratio: float) -> Losses:
    a, b = factors(K, signs)
    near, cut = (rounded(a), rounded(b)), (cut_off(a), cut_off(b))
    reference, of_near, of_cut = exact(a, b), exact(*near), exact(*cut)
    unit = float(np.sqrt((reference**2).mean()))
    a100, h100 = by_tensor_core("sm_80", *near), by_tensor_core("sm_90", *near)

    def rms(error: np.ndarray) -> float:
        return float(np.sqrt((error**2).mean())) / unit

    return Losses(
        K,
        signs,
        used_rounded=used(h100, a, b, ratio),
        used_cut=used(by_tensor_core("sm_90", *cut), a, b, ratio),
        used_cut_a100=used(by_tensor_core("sm_80", *cut), a, b, ratio),
        rounded=rms(of_near - reference),
        cut=rms(of_cut - reference),
        fmaf=rms(by_fmaf(*near) - of_near),
        a100=rms(a100 - of_near),
        h100=rms(h100 - of_near),
        h100_mean=float(((h100 - of_near) * np.sign(of_near)).mean()) / unit,
    )


def measure(ratio: float) -> list[dict]:
    """`ratio` is that of matmul.out in reference/cases/budgets.json."""
    return [asdict(losses(K, signs, ratio)) for K in LENGTHS for signs in SIGNS]
