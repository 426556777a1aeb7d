# SPDX-License-Identifier: MIT
"""Rows of two batches for each thread of a block and of a column after the last float4, and rows near +150 and -150."""

from dataclasses import replace

import numpy as np

from reference.dump.cases import Case, generator, normal, op_call, op_case
from reference.ops import loss


def batches(rng: np.random.Generator) -> dict:
    N, V, Vp = 3, 17001, 17004
    logits = normal(rng, 3, N, Vp) - 4  # below the 0 that would fill a batch up
    logits[:, V:] = 0
    logits[:, V - 1] = logits.max(-1) + 1  # a sum without it is far off
    return {"logits": logits, "targets": np.array([V - 1, 0, 8000], dtype=np.int32), "V": V}


def levels(rng: np.random.Generator) -> dict:
    N, V, Vp = 9, 65, 128
    logits = np.zeros((N, Vp), dtype=np.float32)
    level = np.array([0, 150, -150], dtype=np.float32)[np.arange(N) % 3]
    logits[:, :V] = normal(rng, 3, N, V) + level.reshape(N, 1)
    return {"logits": logits, "targets": rng.integers(0, V, N, dtype=np.int32), "V": V}


def build(name: str, seed: int) -> Case:
    rng = generator(name, seed)
    results = "lse losses"
    of_batches, stored = op_call("loss", batches(rng), results, tuple(loss.OF_BLOCKS))
    of_levels, more = op_call("loss", levels(rng), results, tuple(loss.OF_LEVELS), "loss.levels")
    parts = [(replace(of_batches, case="op_batches"), stored), (replace(of_levels, case="op_levels"), more)]
    return op_case(name, {}, parts)
