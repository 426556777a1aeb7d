# SPDX-License-Identifier: MIT
"""The linear layers on their own: rows that cuBLASLt may load 16 bytes at a time, and rows of odd length."""

from reference.dump.cases import Call, Case, generator, normal
from reference.ops import linear, linear_gelu


def build(name: str, seed: int) -> Case:
    rng = generator(name, seed)
    tensors, calls = {}, []

    def draw(shape: str, N: int, C: int, OC: int) -> dict[str, str]:
        """Outputs of σ 1.8; the bias is as wide as the products, so that a mistake with it exceeds TF32's error."""
        drawn = {"inp": normal(rng, 1, N, C), "weight": normal(rng, 1.5 / C**0.5, OC, C), "bias": normal(rng, 1, OC)}
        names = {arg: f"input/{shape}/{arg}" for arg in drawn}
        tensors.update({names[arg]: value for arg, value in drawn.items()})
        return names

    args = draw("even", 24, 40, 56)  # fewer rows than columns: a bias along the rows stays within its tensor
    calls.append(Call("linear", args, {"out": "linear.out"}, tuple(linear.SUSPECTS)))
    both = {"out": "linear_gelu.out", "pre_gelu": "linear_gelu.pre_gelu"}
    calls.append(Call("linear_gelu", args, both, tuple(linear_gelu.SUSPECTS)))
    calls.append(Call("linear_gelu", args, {"out": "linear_gelu.without_pre_gelu", "pre_gelu": None}))

    args = draw("odd", 37, 63, 101)
    calls.append(Call("linear", args, {"out": "linear.odd"}))
    calls.append(Call("linear_gelu", args, {"out": "linear_gelu.odd", "pre_gelu": None}))
    return Case(name, {}, tensors, calls, case="op_linear")
