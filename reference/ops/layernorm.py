# SPDX-License-Identifier: MIT
from __future__ import annotations

import torch
from torch import Tensor

from reference.model import gpt2
from reference.model.gpt2 import EPS
from reference.ops.common.op import Baseline, Machine, Op, Suspect, as_rows
from reference.ops.common.rounding import U, rows, sum_error


def floors(_: dict[str, Tensor], inp: Tensor, weight: Tensor, bias: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    C = inp.shape[-1]
    mean = inp.mean(-1)
    centred = inp - mean.unsqueeze(-1)
    variance = (centred**2).mean(-1)
    rstd = (variance + EPS).rsqrt()
    of_mean = sum_error((inp**2).sum(-1), inp.sum(-1), C) / C + U * mean.abs()  # (B, T)
    of_variance = sum_error((centred**4).sum(-1), (centred**2).sum(-1), C) / C  # (B, T)
    of_variance = of_variance + U * mean.abs() * (2 * variance / C).sqrt()  # a running mean (Welford) rounds each step
    of_rstd = rstd * (0.5 * of_variance * rstd**2 + U)  # (B, T)
    normal = centred * rstd.unsqueeze(-1)
    out = normal * weight + bias
    of_out = (weight * rstd.unsqueeze(-1)).abs() * of_mean.unsqueeze(-1)
    of_out = of_out + (normal * weight).abs() * (of_rstd / rstd + 2 * U).unsqueeze(-1) + U * out.abs()
    return rows(of_out), of_mean, of_rstd


def layernorm_with(inp: Tensor, weight: Tensor, bias: Tensor, rstd_of, subtract: bool = True) -> dict[str, Tensor]:
    mean = inp.mean(-1)
    variance = inp.var(-1, correction=0)
    rstd = rstd_of(variance, inp.shape[-1])
    centred = inp - mean.unsqueeze(-1) if subtract else inp
    return {"out": centred * rstd.unsqueeze(-1) * weight + bias, "mean": mean, "rstd": rstd}


def right_rstd(variance: Tensor, C: int) -> Tensor:
    return (variance + EPS).rsqrt()


# By a warp for each row: what the sums have when not all of a row is added up.


def layernorm_of_channels(x: Tensor, counted: Tensor) -> dict[str, Tensor]:
    """The sums run over the channels that are counted, and are divided by all C. `out` follows, and is not stored."""
    C = x.shape[-1]
    mean = x[..., counted].sum(-1) / C
    centred = x[..., counted] - mean.unsqueeze(-1)
    return {"mean": mean, "rstd": right_rstd((centred**2).sum(-1) / C, C)}


def channels(x: Tensor) -> Tensor:
    return torch.arange(x.shape[-1])


SUSPECTS = {
    "variance_c_minus_1": Suspect(
        "the variance was divided by C-1, not by C",
        lambda x, w, b: layernorm_with(x, w, b, lambda v, C: (v * C / (C - 1) + EPS).rsqrt()),
    ),
    "eps_missing": Suspect(
        "1e-5 was not added to the variance",
        lambda x, w, b: layernorm_with(x, w, b, lambda v, C: v.rsqrt()),
    ),
    "eps_outside_root": Suspect(
        "1e-5 was added after the square root, not under it",
        lambda x, w, b: layernorm_with(x, w, b, lambda v, C: 1 / (v.sqrt() + EPS)),
    ),
    "mean_not_subtracted": Suspect(
        "the mean was not subtracted from the input before scaling",
        lambda x, w, b: layernorm_with(x, w, b, right_rstd, subtract=False),
    ),
    "root_missing": Suspect(
        "the input was multiplied by 1 / (variance + 1e-5): the square root is missing",
        lambda x, w, b: layernorm_with(x, w, b, lambda v, C: 1 / (v + EPS)),
    ),
    "weight_dropped": Suspect(
        "the weight was not multiplied in",
        lambda x, w, b: layernorm_with(x, torch.ones_like(w), b, right_rstd),
    ),
    "bias_dropped": Suspect(
        "the bias was not added",
        lambda x, w, b: layernorm_with(x, w, torch.zeros_like(b), right_rstd),
    ),
}
OF_TAILS = {
    "tail_of_4_left_out": Suspect(
        "the channels after the last whole group of 4 were left out of the mean and the variance",
        lambda x, w, b: layernorm_of_channels(x, channels(x) < x.shape[-1] // 4 * 4),
    ),
}
OF_WARPS = {
    "first_turn_only": Suspect(
        "only the first 128 channels went into the mean and the variance: one turn of a warp's float4s",
        lambda x, w, b: layernorm_of_channels(x, channels(x) < 128),
    ),
    "lane_0_only": Suspect(
        "the mean is that of lane 0's channels: the other lanes' sums were not added",
        lambda x, w, b: {"mean": (x * (channels(x) // 4 % 32 == 0)).mean(-1)},
    ),
}


def baseline(m: Machine, d: dict[str, int]) -> tuple:
    return gpt2.layernorm, (m.normal(d["B"], d["T"], d["C"]), m.normal(d["C"]), m.normal(d["C"]))


OP = Op(
    results=("out", "mean", "rstd"),
    run=gpt2.layernorm,
    floors=floors,
    dims=lambda at: as_rows(at["out"]),
    suspects=SUSPECTS | OF_TAILS | OF_WARPS,
    baselines={"layernorm": Baseline(baseline)},
)
