# SPDX-License-Identifier: MIT
"""Few queries, for mistakes that any row shows. More than one tile of 64 keys: rows whose largest score moves from tile
to tile or stays in the first one, rows with one hot score, with equal scores, with scores that are all near -100,000.
Heads of more than 64 channels, whose tiles have 32 keys."""

import numpy as np

from reference.dump.attention_parts import AttentionParts
from reference.dump.cases import Case
from reference.ops import attention


def build(name: str, seed: int) -> Case:
    parts = AttentionParts(name, seed)
    parts.moving()

    # Head 0: one score of 150 for every later query, in the second tile; head 1: one of -150.
    T, HS = 129, 16
    query, key, _ = parts.draw("hot", T, HS)
    query[:, :, 0] = 4
    key[:, :, 0] = 0
    key[70, 0], key[70, 1] = 0, 0
    key[70, 0, 0], key[70, 1, 0] = 150, -150
    parts.call("hot", ("no_max_subtraction",))

    # Head 0: all scores 0; head 1: all 3.5 of a query, and another one's all -3.5.
    T, HS = 80, 16
    query, key, _ = parts.draw("equal", T, HS)
    query[:, 0] = 0
    key[:, 1] = 1
    query[:, 1] = np.where(np.arange(T) % 2, np.float32(0.875), np.float32(-0.875))[:, None]
    parts.call("equal")

    parts.far_from_zero()
    parts.short()

    # A block of 64 queries has two tiles of 32 keys on its diagonal.
    parts.draw("wide", 64, 68)
    parts.call("wide", attention.OF_WIDE_HEADS, "op_wide")
    return parts.case("op_tiles")
