# SPDX-License-Identifier: MIT
"""Whole tiles of 16 rows and 8 keys, for mistakes in fragments. More than two tiles of 64 keys and more than a block of
128 queries: rows whose largest score moves from tile to tile or stays in the first one. Scores near -100,000. Weights
that bfloat16 does not hold."""

import numpy as np

from reference.dump.attention_parts import AttentionParts
from reference.dump.cases import Case
from reference.ops import attention


def build(name: str, seed: int) -> Case:
    parts = AttentionParts(name, seed)
    parts.moving()
    parts.far_from_zero()
    parts.short()

    # Weights halfway between two numbers of bfloat16, of equal values: their errors add up. Queries and keys are exact
    # in TF32: two channels of a key have a score's leading and other bits.
    query, key, value = parts.draw("weights", 40, 4)
    weight = 0.5 * (1 + 2**-8 + 2**-14)
    score = np.float32(2 * np.log(weight))  # unscaled, in heads of 4 channels
    leading = np.float32(np.round(score * 2**8) / 2**8)
    query[:], key[:] = 1, 0
    key[1:, :, 0], key[1:, :, 1] = leading, np.round((score - leading) * 2**20) / 2**20
    value[0], value[1:] = 2**-20, 1
    parts.call("weights", (), "op_weights")

    parts.draw("fragments", 32, 8)
    parts.call("fragments", attention.OF_FACTORS, "op_fragments")
    return parts.case("op_tiles")
