# SPDX-License-Identifier: MIT
"""The linear layers on their own: rows that cuBLASLt may load 16 bytes at a time, and rows of odd length. And rows that
a broken mean or variance cannot pass: with a large mean, with one hot element, of equal elements, below zero; and
residual_layernorm, on them and on ordinary rows."""

import numpy as np

from reference.dump.cases import Call, Case, generator, normal
from reference.ops import layernorm, linear, linear_gelu, matmul_gelu, residual_layernorm

C = 200  # channels of a row, 50 float4s: a lane has one or two


def add_linear(rng: np.random.Generator, tensors: dict[str, np.ndarray], calls: list[Call]) -> None:
    def draw(shape: str, N: int, C: int, OC: int) -> dict[str, str]:
        """Outputs of σ 1.8; the bias is as wide as the products, so that a mistake with it exceeds TF32's error."""
        drawn = {"inp": normal(rng, 1, N, C), "weight": normal(rng, 1.5 / C**0.5, OC, C), "bias": normal(rng, 1, OC)}
        names = {arg: f"input/{shape}/{arg}" for arg in drawn}
        tensors.update({names[arg]: value for arg, value in drawn.items()})
        return names

    def add(op: str, args: dict[str, str], results: dict[str, str | None], suspects: tuple[str, ...] = ()) -> None:
        calls.append(Call(op, args, results, suspects, case="op_linear"))

    args = draw("even", 24, 40, 56)  # fewer rows than columns: a bias along the rows stays within its tensor
    add("matmul_gelu", args, {"out": "matmul_gelu.out"}, tuple(matmul_gelu.OP.suspects))
    add("linear", args, {"out": "linear.out"}, tuple(linear.SUSPECTS))
    both = {"out": "linear_gelu.out", "pre_gelu": "linear_gelu.pre_gelu"}
    add("linear_gelu", args, both, tuple(linear_gelu.SUSPECTS))
    add("linear_gelu", args, {"out": "linear_gelu.without_pre_gelu", "pre_gelu": None})

    args = draw("odd", 37, 63, 101)
    add("matmul_gelu", args, {"out": "matmul_gelu.odd"})
    add("linear", args, {"out": "linear.odd"})
    add("linear_gelu", args, {"out": "linear_gelu.odd", "pre_gelu": None})


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


def add_rows(rng: np.random.Generator, tensors: dict[str, np.ndarray], calls: list[Call]) -> None:
    weight, bias = 1 + normal(rng, 0.2, C), normal(rng, 0.1, C)
    tensors |= {"input/weight": weight, "input/bias": bias, "input/layernorm/inp": outliers(rng)}
    scale = {"weight": "input/weight", "bias": "input/bias"}
    results = {out: f"layernorm.{out}" for out in layernorm.OP.results}
    args = {"inp": "input/layernorm/inp"} | scale
    calls.append(Call("layernorm", args, results, (*layernorm.OF_WARPS, *layernorm.OF_SUMS), case="op_outliers"))

    def residual_layernorm_of(which: str, inp1: np.ndarray, inp2: np.ndarray, suspects: tuple[str, ...]) -> None:
        tensors.update({f"input/{which}/inp1": inp1, f"input/{which}/inp2": inp2})
        args = {"inp1": f"input/{which}/inp1", "inp2": f"input/{which}/inp2"} | scale
        results = {out: f"{which}.{out}" for out in residual_layernorm.OP.results}
        calls.append(Call("residual_layernorm", args, results, suspects, case="op_outliers"))

    ordinary = normal(rng, 1, 19, C) + normal(rng, 0.5, 19, 1)  # more rows than two blocks of 8 have
    ordinary[3] = normal(rng, 0.003, C)  # variance ≈ 1e-5: as large as epsilon
    other = normal(rng, 0.7, 19, C)
    other[3] = normal(rng, 0.003, C)
    residual_layernorm_of("residual_layernorm", ordinary.astype(np.float32), other, tuple(residual_layernorm.SUSPECTS))
    x = tensors["input/layernorm/inp"]
    half = normal(rng, 1, 12, C)
    half[6], half[7] = 0.5, 0
    residual_layernorm_of("outliers", x - half, half, ())


def build(name: str, seed: int) -> Case:
    tensors: dict[str, np.ndarray] = {}
    calls: list[Call] = []
    add_linear(generator(name, seed), tensors, calls)
    add_rows(generator("lesson13", seed), tensors, calls)  # a lesson that these ops were in before
    return Case(name, {}, tensors, calls)
