# SPDX-License-Identifier: MIT
"""A residual and the layernorm of its sum, in one."""

from __future__ import annotations

from torch import Tensor

from reference.model import gpt2
from reference.ops import layernorm
from reference.ops.common.op import Baseline, Machine, Op, Suspect, as_rows
from reference.ops.common.rounding import U, rows


def run(inp1: Tensor, inp2: Tensor, weight: Tensor, bias: Tensor) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    residual = gpt2.residual(inp1, inp2)
    return residual, *gpt2.layernorm(residual, weight, bias)


def floors(results: dict[str, Tensor], inp1: Tensor, inp2: Tensor, weight: Tensor, bias: Tensor) -> tuple[Tensor, ...]:
    """layernorm's, and what rounding each sum to float32 adds to them."""
    residual, rstd = results["residual"], results["rstd"]
    C = residual.shape[-1]
    of_out, of_mean, of_rstd = layernorm.floors(results, residual, weight, bias)
    of_sum = U * residual.abs()
    of_sums = U * (residual**2).mean(-1).sqrt()
    deviation = residual.var(-1, correction=0).sqrt()
    of_out = of_out + rows((weight * rstd.unsqueeze(-1)).abs() * of_sum)
    of_mean = of_mean + of_sums / C**0.5
    return rows(of_sum), of_out, of_mean, of_rstd + rstd**3 * deviation * of_sums / C**0.5


def after_sum(suspect: Suspect) -> Suspect:
    """The same mistake of the layernorm, of a right sum."""
    return Suspect(suspect.sentence, lambda inp1, inp2, w, b: suspect.run(inp1 + inp2, w, b))


SUSPECTS = {id: after_sum(suspect) for id, suspect in (layernorm.SUSPECTS | layernorm.OF_WARPS).items()} | {
    "inp1_alone": Suspect(
        "inp1 was normalised, not its sum with inp2",
        lambda inp1, inp2, w, b: dict(zip(("out", "mean", "rstd"), gpt2.layernorm(inp1, w, b), strict=True)),
    ),
    "residual_is_inp1": Suspect(
        "this is inp1: inp2 was not added to what is stored",
        lambda inp1, inp2, w, b: {"residual": inp1},
    ),
    "residual_is_out": Suspect(
        "this is the normalised row, not the sum that it is made from",
        lambda inp1, inp2, w, b: {"residual": gpt2.layernorm(inp1 + inp2, w, b)[0]},
    ),
}


def baseline(m: Machine, d: dict[str, int]) -> tuple:
    B, T, C = d["B"], d["T"], d["C"]
    return run, (m.normal(B, T, C), m.normal(B, T, C), m.normal(C), m.normal(C))


OP = Op(
    results=("residual", "out", "mean", "rstd"),
    run=run,
    floors=floors,
    dims=lambda at: as_rows(at["out"]),
    suspects=SUSPECTS,
    baselines={"residual_layernorm": Baseline(baseline)},
)
