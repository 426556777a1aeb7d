# SPDX-License-Identifier: MIT
"""Rows that a broken mean or variance cannot pass: with a large mean, with one hot element, of equal elements, below
zero; and residual_layernorm, on them and on ordinary rows."""

import numpy as np

from reference.dump.cases import Call, Case, generator, normal
from reference.ops import layernorm, residual_layernorm

C = 200  # 50 float4s: a lane has one or two


def outliers(rng: np.random.Generator) -> np.ndarray:
    """12 rows of σ 1 around 0, but for nine."""
    x = normal(rng, 1, 12, C)
    x[1] += 1e3  # the mean of the squares less the square of the mean is left with none of the variance's bits
    x[2] -= 3e3
    x[3] += 1e4
    x[4, 0] = 1e3
    x[5, C - 1] = -1e3
    x[6] = 0.75
    x[7] = -0.1
    x[8] = -np.abs(x[8]) - 2
    x[9] *= 1e-3
    return x.astype(np.float32)


def build(name: str, seed: int) -> Case:
    rng = generator(name, seed)
    weight, bias = 1 + normal(rng, 0.2, C), normal(rng, 0.1, C)
    tensors = {"input/weight": weight, "input/bias": bias, "input/layernorm/inp": outliers(rng)}
    scale = {"weight": "input/weight", "bias": "input/bias"}
    results = {out: f"layernorm.{out}" for out in layernorm.OP.results}
    calls = [Call("layernorm", {"inp": "input/layernorm/inp"} | scale, results, tuple(layernorm.OF_WARPS))]

    def residual_layernorm_of(which: str, inp1: np.ndarray, inp2: np.ndarray, suspects: tuple[str, ...]) -> None:
        tensors.update({f"input/{which}/inp1": inp1, f"input/{which}/inp2": inp2})
        args = {"inp1": f"input/{which}/inp1", "inp2": f"input/{which}/inp2"} | scale
        calls.append(
            Call(
                "residual_layernorm",
                args,
                {out: f"{which}.{out}" for out in residual_layernorm.OP.results},
                suspects,
            )
        )

    ordinary = normal(rng, 1, 19, C) + normal(rng, 0.5, 19, 1)  # more rows than two blocks of 8 have
    ordinary[3] = normal(rng, 0.003, C)  # variance ≈ 1e-5: as large as epsilon
    other = normal(rng, 0.7, 19, C)
    other[3] = normal(rng, 0.003, C)
    residual_layernorm_of("residual_layernorm", ordinary.astype(np.float32), other, tuple(residual_layernorm.SUSPECTS))
    x = tensors["input/layernorm/inp"]
    half = normal(rng, 1, 12, C)
    half[6], half[7] = 0.5, 0
    residual_layernorm_of("outliers", x - half, half, ())
    return Case(name, {}, tensors, calls, case="op_outliers")
