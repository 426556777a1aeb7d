# SPDX-License-Identifier: MIT
"""Sums of a block of 768 terms and a short second; and gelu where float32's exp overflows and vanishes."""

import numpy as np

from reference.dump.cases import Case, generator, matmul_inputs, normal, op_call, op_case
from reference.ops import matmul


def build(name: str, seed: int) -> Case:
    rng = generator("op_wide", seed)
    N, C, OC = 13, 1000, 37
    inputs = matmul_inputs(rng, N, C, OC)
    inp = normal(rng, 1.5, N, OC)
    inp[0] = np.linspace(-60, 60, OC)
    inp[1] *= 4
    parts = [
        op_call("matmul", inputs, "out", tuple(matmul.OF_BLOCKS)),
        op_call("gelu", {"inp": inp}, "out", ()),
    ]
    return op_case(name, {"N": N, "C": C, "OC": OC}, parts, case="op_wide")
