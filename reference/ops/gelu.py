# SPDX-License-Identifier: MIT
from __future__ import annotations

import math

import torch
from torch import Tensor

from reference.model import gpt2
from reference.ops.common.op import Baseline, Machine, Op, Suspect, in_the_models_shapes
from reference.ops.common.rounding import U, rows


def floors(_: dict[str, Tensor], inp: Tensor) -> Tensor:
    return U * rows(inp.abs())  # tanh rounds near 1 and is multiplied by x/2; so does 1 + tanh


def exponent(x: Tensor) -> Tensor:
    return math.sqrt(2 / math.pi) * (x + 0.044715 * x**3)  # u: gelu is x / (1 + exp(-2 u))


SUSPECTS = {
    "exact_gelu": Suspect("this is the GELU by erf; GPT-2 has the tanh form", lambda x: torch.nn.functional.gelu(x)),
    "cubic_term_dropped": Suspect(
        "the term 0.044715 x^3 is missing inside the tanh",
        lambda x: 0.5 * x * (1 + torch.tanh(math.sqrt(2 / math.pi) * x)),
    ),
    "cubic_term_ten_times": Suspect(
        "the factor of x^3 inside the tanh is 0.44715; it is 0.044715",
        lambda x: 0.5 * x * (1 + torch.tanh(math.sqrt(2 / math.pi) * (x + 0.44715 * x**3))),
    ),
    "sigmoid_gelu": Suspect(
        "this is the GELU by sigmoid, x / (1 + exp(-1.702 x)); GPT-2 has the tanh form",
        lambda x: x * torch.sigmoid(1.702 * x),
    ),
}
OF_EXPONENTS = {
    "exponential_of_plus_2u": Suspect(
        "the exponential is exp(2 u), not exp(-2 u), with u = sqrt(2 / pi) (x + 0.044715 x^3)",
        lambda x: x / (1 + torch.exp(2 * exponent(x))),
    ),
    "exponential_of_u": Suspect(
        "the exponential is exp(-u), not exp(-2 u), with u = sqrt(2 / pi) (x + 0.044715 x^3)",
        lambda x: x / (1 + torch.exp(-exponent(x))),
    ),
}


def baseline(m: Machine, d: dict[str, int]) -> tuple:
    return gpt2.gelu, (m.normal(d["N"], scale=2),)


OP = Op(
    results=("out",),
    run=gpt2.gelu,
    floors=floors,
    dims=lambda at: {"N": math.prod(at["out"])},
    index=in_the_models_shapes,
    suspects=SUSPECTS | OF_EXPONENTS,
    baselines={"gelu": Baseline(baseline)},
)
