# SPDX-License-Identifier: MIT
"""Rows that a block of 128 threads shares, with a last column of their own."""

from reference.dump.cases import Case, generator, normal, op_call, op_case
from reference.ops import softmax


def build(name: str, seed: int) -> Case:
    rng = generator(name, seed)
    N, V, Vp = 2, 1501, 1504
    logits = normal(rng, 3, N, Vp)
    logits[:, V:] = 0
    logits[:, V - 1] = logits.max(-1) + 1  # what leaves it out of the sum is far off
    parts = [op_call("softmax", {"logits": logits, "V": V}, "probs", tuple(softmax.OF_BLOCKS))]
    return op_case(name, {"V": V, "Vp": Vp}, parts, case="op_shared_rows")
