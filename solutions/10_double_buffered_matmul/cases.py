# SPDX-License-Identifier: MIT
"""Sums of two tiles of 32 terms and a short third, in a corner of one tile of outputs."""

from reference.dump.cases import Case, generator, matmul_inputs, op_call, op_case
from reference.ops import matmul


def build(name: str, seed: int) -> Case:
    N, C, OC = 6, 75, 9
    inputs = matmul_inputs(generator("op_tile", seed), N, C, OC)
    parts = [op_call("matmul", inputs, "out", tuple(matmul.OF_TILES))]
    return op_case(name, {"N": N, "C": C, "OC": OC}, parts, case="op_tile")
