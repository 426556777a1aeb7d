# SPDX-License-Identifier: MIT
from __future__ import annotations

import math

from torch import Tensor

from reference.model import gpt2
from reference.ops.common.op import Baseline, Machine, Op, in_the_models_shapes
from reference.ops.common.rounding import U, rows


def floors(results: dict[str, Tensor], *_: Tensor) -> Tensor:
    return U * rows(results["out"].abs())  # one addition


def baseline(m: Machine, d: dict[str, int]) -> tuple:
    return gpt2.residual, (m.normal(d["N"]), m.normal(d["N"]))


OP = Op(
    results=("out",),
    run=gpt2.residual,
    floors=floors,
    dims=lambda at: {"N": math.prod(at["out"])},
    index=in_the_models_shapes,
    baselines={"residual": Baseline(baseline)},
)
