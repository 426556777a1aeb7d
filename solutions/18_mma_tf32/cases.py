# SPDX-License-Identifier: MIT
"""Several stages and a short one, of whole tiles of 16 rows, and of tiles of 8 columns of which the last is short."""

from reference.dump.cases import Case, generator, matmul_inputs, op_call, op_case
from reference.ops import matmul


def build(name: str, seed: int) -> Case:
    N, C, OC = 32, 75, 19
    inputs = matmul_inputs(generator("op_tile", seed), N, C, OC)
    ids = (*matmul.OF_TILES, *matmul.OF_STEPS[16], *matmul.OF_FRAGMENTS)
    return op_case(name, {"N": N, "C": C, "OC": OC}, [op_call("matmul", inputs, "out", ids)], case="op_tile")
