# SPDX-License-Identifier: MIT
"""A few lanes' rows, for mistakes that any row shows; and rows of a warp's whole turn and a short second, whose maximum
rises from turn to turn: turns of 128 scores, and of 32 where rows do not start at multiples of 16 bytes."""

import numpy as np

from reference.dump.cases import Call, Case, generator, normal
from reference.ops import causal_softmax

SCALE = 0.125
OF_TURNS = [id for id in causal_softmax.OF_ONLINE if id.startswith("rescale_") and not id.endswith("_start")]


def build(name: str, seed: int) -> Case:
    rng = generator("op_online", seed)
    tensors, calls = {}, []

    def add(case: str, T: int, rise: float, ids: tuple[str, ...]) -> None:
        """Scaled scores of σ 2 that rise by `rise` from each token to the next."""
        scaled = normal(rng, 2, 1, 1, T, T) + rise * np.arange(T, dtype=np.float32)
        scores = f"input/{case}/scores"
        tensors[scores] = (scaled / np.float32(SCALE)).astype(np.float32)
        results = {"att": f"{case}.att", "lse": f"{case}.lse"}
        calls.append(Call("causal_softmax", {"scores": scores, "scale": SCALE}, results, ids, case=case))

    few = ("no_mask", "mask_off_by_one", "no_scale", *causal_softmax.OF_WARPS, *causal_softmax.OF_ONLINE)
    add("op_few", 20, 0, tuple(id for id in few if id not in OF_TURNS))
    add("op_online", 160, 0.05, tuple(OF_TURNS))
    add("op_second_turn", 45, 0.05, ("rescale_missing_of_floats",))
    return Case(name, {"B": 1, "C": 64, "NH": 1}, tensors, calls)
