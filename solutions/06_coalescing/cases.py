# SPDX-License-Identifier: MIT
"""Rows of a warp's whole turn of 128 channels and a short second."""

from reference.dump.cases import Case, generator, normal, op_call, op_case
from reference.ops import layernorm


def build(name: str, seed: int) -> Case:
    rng = generator("op_wide", seed)
    rng.standard_normal(50_518)  # lesson 03's case has the generator's first numbers
    rows, C = 3, 180
    inputs = {
        "inp": normal(rng, 1, rows, C) + normal(rng, 0.5, rows, 1),
        "weight": 1 + normal(rng, 0.2, C),
        "bias": normal(rng, 0.1, C),
    }
    inputs["inp"][2] = 0.25 + normal(rng, 0.003, C)  # variance ≈ 1e-5: as large as epsilon
    parts = [op_call("layernorm", inputs, "out mean rstd", tuple(layernorm.OF_WARPS))]
    return op_case(name, {"C": C}, parts, case="op_wide")
