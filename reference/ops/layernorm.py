# SPDX-License-Identifier: MIT
from __future__ import annotations

import math

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
    """The sums hold each channel `counted` times, and are divided by all C. `out` follows, and is not stored."""
    C = x.shape[-1]
    mean = (x * counted).sum(-1) / C
    centred = x - mean.unsqueeze(-1)
    return {"mean": mean, "rstd": right_rstd((counted * centred**2).sum(-1) / C, C)}


def one_pass_spread(x: Tensor, w: Tensor, b: Tensor) -> dict[str, Tensor]:
    """Returns what the mean of the squares less the square of the mean may lose: ten times the error that is expected
    of a sum in order."""
    C = x.shape[-1]
    mean, variance = x.mean(-1), x.var(-1, correction=0) + EPS
    lost = 10 * (sum_error((x**4).sum(-1), (x**2).sum(-1), C) / C + U * mean**2)
    of_rstd = torch.where(lost < variance / 2, lost / variance, math.inf)  # relative
    largest = ((x - mean.unsqueeze(-1)) * w).abs().amax(-1)
    return {"out": of_rstd * largest * variance.rsqrt(), "rstd": of_rstd * variance.rsqrt()}


def filled_up(x: Tensor, width: int) -> dict[str, Tensor]:
    """Sums the variance over `width` channels, of which those beyond the row are 0."""
    C = x.shape[-1]
    mean, variance = x.mean(-1), x.var(-1, correction=0)
    return {"rstd": right_rstd(variance + (width - C) / C * mean**2, C)}


def filled_turn(x: Tensor) -> int:
    """Returns the channels that a warp's float4s hold in as many turns as the row needs."""
    return -(-x.shape[-1] // 128) * 128


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
OF_SUMS = {
    "one_pass_variance": Suspect(
        "the variance is the mean of the squares less the square of the mean: in rows whose mean is large beside their "
        "deviation, float32 has lost most of its digits",
        run=None,
        spread=one_pass_spread,
    ),
}
OF_TAILS = {
    "tail_of_4_left_out": Suspect(
        "the channels after the last whole group of 4 were left out of the mean and the variance",
        lambda x, w, b: layernorm_of_channels(x, channels(x) < x.shape[-1] // 4 * 4),
    ),
}
OF_WARPS = {
    "each_channel_twice": Suspect(
        "each channel was summed twice: the loop over the floats begins at the row's first one, not after the float4s",
        lambda x, w, b: layernorm_of_channels(x, torch.full_like(channels(x), 2)),
    ),
    "zeros_in_variance": Suspect(
        "the zeros that fill a lane's float4s beyond the row count in the variance, as (0 - mean)^2: 6 of each lane",
        lambda x, w, b: filled_up(x, 6 * 128),
    ),
    "zeros_of_turn_in_variance": Suspect(
        "the zeros that fill a warp's last turn of float4s beyond the row count in the variance, as (0 - mean)^2",
        lambda x, w, b: filled_up(x, filled_turn(x)),
    ),
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
    suspects=SUSPECTS | OF_SUMS | OF_TAILS | OF_WARPS,
    baselines={"layernorm": Baseline(baseline)},
)
