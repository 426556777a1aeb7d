# SPDX-License-Identifier: MIT
"""A few lanes' rows of scores, for mistakes that any row shows; and rows of a warp's whole turn and a short second. A
turn is 128 scores, and 32 where rows do not start at multiples of 16 bytes."""

from reference.dump.cases import Call, Case, generator, normal
from reference.ops import causal_softmax

SCALE = 0.125


def build(name: str, seed: int) -> Case:
    rng = generator("op_rows", seed)
    tensors, calls = {}, []
    few = ("no_mask", "mask_off_by_one", "no_scale", *causal_softmax.OF_WARPS)
    for case, T, ids in (("op_few", 20, few), ("op_turns", 160, ()), ("op_second_turn", 45, ())):
        scores = f"input/{case}/scores"
        tensors[scores] = normal(rng, 2 / SCALE, 1, 1, T, T)
        results = {"att": f"{case}.att", "lse": f"{case}.lse"}
        calls.append(Call("causal_softmax", {"scores": scores, "scale": SCALE}, results, ids, case=case))
    return Case(name, {"B": 1, "C": 64, "NH": 1}, tensors, calls)
