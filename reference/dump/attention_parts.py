# SPDX-License-Identifier: MIT
"""Parts of a case file of attention alone: each is a sequence of heads with rows that a kernel by tiles gets wrong."""

from collections.abc import Iterable

import numpy as np

from reference.dump.cases import Call, Case, generator, normal
from reference.ops import attention

NH = 2


class AttentionParts:
    """Draws parts in the order in which they are asked for."""

    def __init__(self, name: str, seed: int):
        self.name = name
        self.rng = generator(name, seed)
        self.tensors: dict[str, np.ndarray] = {}
        self.calls: list[Call] = []

    def draw(self, part: str, T: int, HS: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Returns query, key and value (T, NH, HS), for the caller to change; scaled scores have a σ of 1.5."""
        qkv = normal(self.rng, 1, 1, T, 3, NH, HS)
        self.tensors[f"input/{part}/qkv"] = qkv.reshape(1, T, 3 * NH * HS)
        qkv[:, :, 0] *= 1.5
        return tuple(qkv[0, :, i] for i in range(3))

    def call(self, part: str, suspects: Iterable[str] = (), case: str = "") -> None:
        results = {"out": f"attention.{part}.out", "lse": f"attention.{part}.lse"}
        args = {"qkv": f"input/{part}/qkv", "NH": NH}
        self.calls.append(Call("attention", args, results, tuple(suspects), case=case))

    def moving(self) -> None:
        """Head 0: scores grow from tile to tile, and with them the maximum; head 1: they shrink, and the first one's
        stays."""
        T = 150
        _, key, _ = self.draw("moving", T, 20)
        growth = np.float32(0.6) + np.arange(T, dtype=np.float32) / 64
        key[:, 0] *= growth[:, None]
        key[:, 1] *= growth[::-1, None]
        self.call("moving", attention.OF_RUNNING)

    def far_from_zero(self) -> None:
        """All scores are near -100,000 in head 0, near +100,000 in head 1: float32's exp of them is 0 and infinity."""
        query, key, _ = self.draw("negative", 66, 16)
        query[:, :, 0] = 4
        key[:, 0, 0], key[:, 1, 0] = -1e5, 1e5
        self.call("negative", ("no_max_subtraction",))

    def short(self) -> None:
        """Few queries, for mistakes that any row shows."""
        self.draw("short", 20, 16)
        self.call("short", (*attention.OF_TILES, "scale_twice"), "op_short")

    def case(self, name: str) -> Case:
        """Returns what was drawn, as the case `name` of the checks."""
        return Case(self.name, {}, self.tensors, self.calls, case=name)
