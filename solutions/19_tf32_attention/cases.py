# SPDX-License-Identifier: MIT
"""Whole tiles of 16 rows and 8 keys, for mistakes in fragments. More than two tiles of 64 keys and more than a block of
128 queries: rows whose largest score moves from tile to tile or stays in the first one. Scores near -100,000. Weights
that bfloat16 does not hold."""

from collections.abc import Iterable

import numpy as np

from reference.dump.cases import Call, Case, generator, normal
from reference.ops import attention

NH = 2


def build(name: str, seed: int) -> Case:
    rng = generator(name, seed)
    tensors, calls = {}, []

    def draw(part: str, T: int, HS: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Query, key and value (T, NH, HS), for the caller to change; scaled scores of σ 1.5."""
        qkv = normal(rng, 1, 1, T, 3, NH, HS)
        tensors[f"input/{part}/qkv"] = qkv.reshape(1, T, 3 * NH * HS)
        qkv[:, :, 0] *= 1.5
        return tuple(qkv[0, :, i] for i in range(3))

    def call(part: str, suspects: Iterable[str] = (), case: str = "") -> None:
        results = {"out": f"attention.{part}.out", "lse": f"attention.{part}.lse"}
        calls.append(Call("attention", {"qkv": f"input/{part}/qkv", "NH": NH}, results, tuple(suspects), case=case))

    # Head 0: scores grow from tile to tile, and with them the maximum; head 1: they shrink, and the first one's stays.
    T = 150
    _, key, _ = draw("moving", T, 20)
    growth = np.float32(0.6) + np.arange(T, dtype=np.float32) / 64
    key[:, 0] *= growth[:, None]
    key[:, 1] *= growth[::-1, None]
    call("moving", attention.OF_RUNNING)

    # All scores near -100,000 in head 0, near +100,000 in head 1: float32's exp of them is 0 and infinity.
    T, HS = 66, 16
    query, key, _ = draw("negative", T, HS)
    query[:, :, 0] = 4
    key[:, 0, 0], key[:, 1, 0] = -1e5, 1e5
    call("negative", ("no_max_subtraction",))

    draw("short", 20, 16)
    call("short", (*attention.OF_TILES, "scale_twice"), "op_short")

    # Weights halfway between two numbers of bfloat16, of equal values: their errors add up. Queries and keys are exact
    # in TF32: two channels of a key have a score's leading and other bits.
    query, key, value = draw("weights", 40, 4)
    weight = 0.5 * (1 + 2**-8 + 2**-14)
    score = np.float32(2 * np.log(weight))  # unscaled, in heads of 4 channels
    leading = np.float32(np.round(score * 2**8) / 2**8)
    query[:], key[:] = 1, 0
    key[1:, :, 0], key[1:, :, 1] = leading, np.round((score - leading) * 2**20) / 2**20
    value[0], value[1:] = 2**-20, 1
    call("weights", (), "op_weights")

    draw("fragments", 32, 8)
    call("fragments", attention.OF_FACTORS, "op_fragments")
    return Case(name, {}, tensors, calls, case="op_tiles")
