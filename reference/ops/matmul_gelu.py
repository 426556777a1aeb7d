# SPDX-License-Identifier: MIT
"""A matmul in fp32 whose bias and GELU are applied before its result is stored. weight is (OC, C)."""

from __future__ import annotations

from torch import Tensor

from reference.model import gpt2
from reference.ops import linear, linear_gelu
from reference.ops.common.op import Baseline, Machine, Op, Suspect


def run(inp: Tensor, weight: Tensor, bias: Tensor) -> Tensor:
    return linear_gelu.run(inp, weight, bias)[0]


def floors(_: dict[str, Tensor], inp: Tensor, weight: Tensor, bias: Tensor) -> Tensor:
    return linear_gelu.floors({"pre_gelu": linear.run(inp, weight, bias)}, inp, weight, bias)[0]


def baseline(m: Machine, d: dict[str, int]) -> tuple:
    return run, linear.baseline(m, d)[1]


OF_EPILOGUE = {id: linear_gelu.SUSPECTS[id] for id in ("gelu_before_bias", "gelu_missing")}

OP = Op(
    results=("out",),
    run=run,
    floors=floors,
    terms=linear.OP.terms,
    dims=linear.dims,
    suspects={
        id: Suspect(suspect.sentence, lambda *args, run=suspect.run: gpt2.gelu(run(*args)))
        for id, suspect in linear.SUSPECTS.items()
    }
    | OF_EPILOGUE,
    baselines={"matmul_gelu": Baseline(baseline)},
)
