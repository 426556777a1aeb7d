# SPDX-License-Identifier: MIT
"""The logits after the last token: the whole model's, whose references and suspects are forward's. What is wrong with a
call here is which call's logits it gives: lessons/gpt2/check/predict.h."""

from __future__ import annotations

from torch import Tensor

from reference.ops import forward
from reference.ops.common.op import PRECISIONS, Baseline, Machine, Op


def baseline(m: Machine, d: dict[str, int]) -> tuple:
    model, (tokens,) = forward.baseline(m, d)

    def predict(tokens: Tensor) -> Tensor:
        return model(tokens)[0][:, -1]

    return predict, (tokens,)


# Without the copies from and to the host, which the op waits for; whole_forward.py times both sides with them.
OP = Op(baselines={"predict": Baseline(baseline, PRECISIONS, as_the_op=False)})
