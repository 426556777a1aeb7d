# SPDX-License-Identifier: MIT
"""The error budget: hand-worked vectors shared with C++, right algorithms inside, classic mistakes outside."""

import json
import math
from pathlib import Path

import numpy as np
import pytest
import torch

from reference.dump import budget
from reference.dump.cases import BUILDERS, SHARED, Case, run_model
from reference.dump.dump import CASES
from reference.dump.pytorch_error import ratio
from reference.dump.references import exact_results, floors_of
from reference.model import gpt2
from reference.ops import OPS, linear_gelu, matmul
from reference.ops.common.rounding import RoundedFactors, U, tf32

VECTORS = json.loads((CASES / "budget_vectors.json").read_text())["vectors"]
RATIOS = json.loads((CASES / "budgets.json").read_text())
K = budget.k_of("fp32")
C = 768  # GPT-2's own


@pytest.mark.parametrize("vector", VECTORS, ids=lambda v: v["name"])
def test_vectors_shared_with_cpp(vector):
    rows = len(vector["floor"])
    got, ref = (np.array([float(x) for x in vector[key]], dtype=np.float32).reshape(rows, -1) for key in ("got", "ref"))
    floor = np.array(vector["floor"], dtype=np.float32)
    result = budget.verdict(got, ref, floor, vector["ratio"], vector["k"], vector.get("element", "f32"))
    assert (result.wrong, result.worst) == (vector["wrong"], vector["worst"])
    assert result.used == pytest.approx(float(vector["used"]), rel=1e-12)


def normal(*shape: int, seed: int = 0, std: float = 1.0) -> torch.Tensor:
    rng = np.random.default_rng(seed)
    return torch.from_numpy((std * rng.standard_normal(shape)).astype(np.float32))


def sequential_sum(terms: torch.Tensor) -> torch.Tensor:
    """Sum along the last dimension, one float32 addition after another."""
    total = torch.zeros_like(terms[..., 0])
    for i in range(terms.shape[-1]):
        total = total + terms[..., i]
    return total


def used(op: str, out: str, got: torch.Tensor, args: list, precision: str = "fp32") -> float:
    """Budgets used by got as the result `out` of an op."""
    exact_args = [x.double() if isinstance(x, torch.Tensor) and x.is_floating_point() else x for x in args]
    exact = OPS[op].exact(*exact_args)
    terms = OPS[op].terms(*args) if OPS[op].terms else None
    floor = budget.floor_in(OPS[op].floors_of(exact, *exact_args)[out].numpy(), terms, precision)
    ratio = RATIOS["local"][f"{op}.{out}"][precision]
    return budget.verdict(got.numpy(), exact[out].float().numpy(), floor, ratio, budget.k_of(precision)).used


# Right, and as plain as can be: one float32 operation after another.


def sequential_layernorm(x, weight, bias):
    mean = sequential_sum(x) / x.shape[-1]
    centred = x - mean.unsqueeze(-1)
    rstd = 1 / (sequential_sum(centred**2) / x.shape[-1] + gpt2.EPS).sqrt()
    return {"out": centred * rstd.unsqueeze(-1) * weight + bias, "mean": mean, "rstd": rstd}


@pytest.mark.parametrize("offset", [0.0, 1.0, 30.0])
def test_sequential_layernorm_at_768_passes(offset):
    args = [normal(64, C) + offset, 1 + normal(C, seed=1, std=0.2), normal(C, seed=2, std=0.1)]
    for out, got in sequential_layernorm(*args).items():
        assert used("layernorm", out, got, args) <= 1


@pytest.mark.parametrize("width", [C, 4 * C])
@pytest.mark.parametrize("offset", [0.0, 1.0])
def test_sequential_matmul_passes(width, offset):
    args = [normal(24, width) + offset, normal(48, width, seed=1, std=width**-0.5), normal(48, seed=2, std=0.1)]
    got = args[2] + sequential_sum(args[0].unsqueeze(1) * args[1])
    assert used("matmul", "out", got, args) <= 1


def test_sequential_attention_passes():
    B, T, NH, HS = 1, 128, 2, 64
    qkv = normal(B, T, 3 * NH * HS, std=3**0.5)
    query, key, value = gpt2.split_heads(qkv, NH)
    mask = gpt2.causal_mask(T)
    scaled = sequential_sum(query.unsqueeze(3) * key.unsqueeze(2)) * (1 / math.sqrt(HS))
    largest = scaled.masked_fill(~mask, -math.inf).amax(-1, keepdim=True)
    e = torch.exp(scaled - largest) * mask
    total = sequential_sum(e)
    att = e / total.unsqueeze(-1)
    out = sequential_sum((att.unsqueeze(-1) * value.unsqueeze(2)).transpose(-2, -1))
    assert used("attention", "out", gpt2.join_heads(out), [qkv, NH]) <= 1
    assert used("attention", "lse", torch.log(total) + largest.squeeze(-1), [qkv, NH]) <= 1


def test_sequential_softmax_over_50257_tokens_passes():
    logits = normal(4, 50257, std=3.0)
    e = torch.exp(logits - logits.amax(-1, keepdim=True))
    assert used("softmax", "probs", e / sequential_sum(e).unsqueeze(-1), [logits, 50257]) <= 1


@pytest.mark.parametrize("std", [0.5, 1.5, 5.0])
def test_gelu_by_hand_passes(std):
    x = normal(37, 4 * C, std=std)
    got = 0.5 * x * (1 + torch.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x * x * x)))
    assert used("gelu", "out", got, [x]) <= 1


def test_losses_by_hand_pass():
    logits = normal(64, C, std=3.0)
    probs, targets = torch.softmax(logits, -1), torch.arange(64)
    got = torch.log(1 / probs[torch.arange(64), targets])
    assert used("crossentropy", "losses", got, [probs, targets]) <= 1


# Wrong, though not by much.

X, W, BIAS = normal(16, 63, seed=3), 1 + normal(63, seed=4, std=0.2), normal(63, seed=5, std=0.1)
TINY = 0.25 + normal(16, 63, seed=6, std=0.002)
WIDE = normal(16, 64, seed=7, std=1.5)
WEIGHT = normal(101, 63, seed=8, std=63**-0.5)


def layernorm(x, eps=gpt2.EPS, variance=None):
    mean = x.mean(-1, keepdim=True)
    variance = x.var(-1, correction=0, keepdim=True) if variance is None else variance
    return (x - mean) / (variance + eps).sqrt() * W + BIAS


SQRT_2_OVER_PI = math.sqrt(2 / math.pi)


def gelu(x, cubic=0.044715, root=SQRT_2_OVER_PI):
    return 0.5 * x * (1 + torch.tanh(root * (x + cubic * x**3)))


def without(x, row):
    return torch.cat([x[:, :row], torch.zeros_like(x[:, row : row + 1]), x[:, row + 1 :]], dim=1)


MISTAKES = {
    "the variance over C-1": ("layernorm", layernorm(X, variance=X.var(-1, keepdim=True)), [X, W, BIAS]),
    "epsilon 1e-6, small variance": ("layernorm", layernorm(TINY, eps=1e-6), [TINY, W, BIAS]),
    "epsilon 1e-8, ordinary variance": ("layernorm", layernorm(X, eps=1e-8), [X, W, BIAS]),
    "the variance as E[x²] - mean²": (
        "layernorm",
        layernorm(TINY, variance=(TINY**2).mean(-1, keepdim=True) - TINY.mean(-1, keepdim=True) ** 2),
        [TINY, W, BIAS],
    ),
    "GELU's 0.044715 as 0.0447": ("gelu", gelu(WIDE, cubic=0.0447), [WIDE]),
    "GELU's 0.044715 as 0.044": ("gelu", gelu(WIDE, cubic=0.044), [WIDE]),
    "GELU's sqrt(2/π) as 0.7979": ("gelu", gelu(WIDE, root=0.7979), [WIDE]),
    "GELU by erf": ("gelu", torch.nn.functional.gelu(WIDE), [WIDE]),
    "the last channel left out of a sum": ("matmul", gpt2.matmul(without(X, 62), WEIGHT, None), [X, WEIGHT, None]),
    "inputs rounded to ten bits": ("matmul", gpt2.matmul(X.half().float(), WEIGHT, None), [X, WEIGHT, None]),
    "inputs rounded to bfloat16": ("matmul", gpt2.matmul(X.bfloat16().float(), WEIGHT, None), [X, WEIGHT, None]),
    "probabilities summing to 1 + 1e-5": ("softmax", gpt2.softmax(X) * (1 + 1e-5), [X, 63]),
    "the last token left out of the sum": ("softmax", torch.cat([gpt2.softmax(X[:, :62]), X[:, 62:] * 0], 1), [X, 63]),
}


@pytest.mark.parametrize("name", MISTAKES)
def test_mistake_is_caught(name):
    op, got, args = MISTAKES[name]
    out = {"softmax": "probs"}.get(op, "out")
    assert used(op, out, got, args) > 1


def test_tf32_and_bf16_errors_are_far_above_fp32():
    r = RATIOS["local"]["matmul.out"]
    assert 100 * r["fp32"] < r["tf32"] / math.sqrt(3072) < r["bf16"] / math.sqrt(3072)  # of GPT-2's longest sum
    assert 2**14 < r["tf32"] < 2**16  # 2^-11 a factor against fp32's 2^-24, in units of half that; a few deviations
    r = RATIOS["local"]["layernorm.out"]  # no matmul in it, and autocast keeps it in float32
    assert r["fp32"] == r["tf32"] == r["bf16"]


def truncated(x: torch.Tensor) -> torch.Tensor:
    """The first ten bits of the fraction, as a tensor core takes them from float32."""
    return (x.view(torch.int32) & ~((1 << 13) - 1)).view(torch.float32)


@pytest.mark.parametrize("terms", [1, 2, 64, 768, 3072])
@pytest.mark.parametrize("factor", [tf32, truncated])
def test_tf32_is_right_whatever_the_length_of_its_sums_and_not_by_far(factor, terms):
    inp, weight, bias = normal(64, terms), normal(128, terms, seed=1), 0.1 * normal(128, seed=2)
    got = factor(inp) @ factor(weight).mT + bias
    assert 0.05 < used("matmul", "out", got, [inp, weight, bias], "tf32") <= 0.6
    if terms < 64:  # few products, each with an error of its own
        return
    bf16 = inp.bfloat16().float() @ weight.bfloat16().float().mT + bias
    assert used("matmul", "out", bf16, [inp, weight, bias], "tf32") > 1


@pytest.mark.parametrize("output", ["matmul.out", "linear.out", "linear_gelu.out", "linear_gelu.pre_gelu"])
def test_what_a_tensor_core_cuts_off_is_right_where_some_elements_of_a_row_are_looked_at(output):
    """As the check looks at the results that it times: 48 of 3,072 in each row, whose floor is the largest of theirs.
    By floors of their own GELU's outputs would be wrong."""
    op, name = output.split(".")
    inp, weight, bias = normal(512, C), normal(3072, C, seed=1), normal(3072, seed=2)
    exact = OPS[op].exact(inp.double(), weight.double(), bias.double())[name]
    got = OPS[op].exact(truncated(inp).double(), truncated(weight).double(), bias.double())[name]
    floor = matmul.errors(inp.double(), weight.double(), bias.double())
    if output == "linear_gelu.out":
        pre_gelu = gpt2.matmul(inp.double(), weight.double(), bias.double())
        floor = linear_gelu.slope(pre_gelu).abs() * floor + U * pre_gelu.abs()
    of_lesson = RATIOS["own"]["lesson12"].get(output) or RATIOS["local"][output]
    allowed = budget.k_of("tf32") * of_lesson["tf32"] * floor / math.sqrt(C)
    looked_at = torch.from_numpy(np.random.default_rng(3).permuted(np.tile(np.arange(3072), (512, 1)), axis=1)[:, :48])
    wrong_by, allowed = ((x.gather(1, looked_at)) for x in ((got - exact).abs(), allowed))
    assert 0.3 < (wrong_by / allowed.amax(1, keepdim=True)).max() < 0.9
    assert output != "linear_gelu.out" or (wrong_by / allowed).max() > 1


def test_every_op_and_activation_has_three_ratios():
    outputs = {"encoder.out", "layernorm.out", "layernorm.mean", "layernorm.rstd", "gelu.out", "residual.out"}
    outputs |= {"matmul.out", "causal_softmax.att", "causal_softmax.lse", "attention.out", "attention.lse"}
    outputs |= {"softmax.probs", "crossentropy.losses", "loss.lse", "loss.losses"}
    assert set(RATIOS["local"]) == outputs
    for ratios in [*RATIOS["local"].values(), *RATIOS["chained"].values()]:
        assert set(ratios) == {"fp32", "tf32", "bf16"}
        assert all(0 < value < 1e7 for value in ratios.values())


def test_pytorch_fp32_error_is_a_few_floors():
    assert all(ratios["fp32"] < 4 for ratios in RATIOS["local"].values())


def test_ratio_is_the_largest_error_in_floors():
    exact = torch.tensor([[1.0, 2.0], [3.0, 4.0]], dtype=torch.float64)
    assert ratio(exact + torch.tensor([[0.0, 3e-6], [-1e-6, 0.0]]), exact, torch.tensor([1e-6, 1e-6])) == pytest.approx(
        3
    )


def test_every_k_of_the_toml_is_explained():
    text = (Path(budget.__file__).parents[1] / "BUDGET.md").read_text()
    for precision in ("fp32", "tf32", "bf16"):
        assert f"k = {budget.k_of(precision):g} for {precision}" in text


def test_sentences_are_there():
    sentences = [suspect.sentence for op in OPS.values() for suspect in op.suspects.values()]
    assert all(sentence.strip() and not sentence.endswith(".") for sentence in sentences)


# No budget allows the error of the next lower precision: each output of the committed cases and each activation of a
# model, with inputs of ten bits where float32 is asked for. Of TF32, LessonInTf32.AllowsNoOutputTheErrorOfBf16 in
# lessons/gpt2/tests/check_test.cpp has a case for each op, and here is the model.

TOO_FAR = 1.5  # budgets


def in_ten_bits(x):
    return tf32(x.float()).double() if isinstance(x, torch.Tensor) and x.is_floating_point() else x


def used_in_ten_bits(case: Case) -> dict[str, float]:
    """The largest number of float32 budgets that each op output uses whose inputs are rounded to ten bits."""
    result: dict[str, float] = {}
    floors = floors_of(case)
    for call in case.calls:
        args, exact = exact_results(case, call)
        got = OPS[call.op].exact(*map(in_ten_bits, args))
        for out, name in call.results.items():
            output, k = f"{call.op}.{out}", budget.k_of("fp32")
            if name is not None and out in got:
                r = budget.ratio_in(RATIOS, case.name, "local", output, "fp32")
                used = budget.verdict(got[out].numpy(), exact[out].float().numpy(), floors[name].numpy(), r, k).used
                result[output] = max(result.get(output, 0.0), used)
    return result


def used_by_model(case: Case, precision: str, rounded, parameter=lambda x: x) -> dict[str, float]:
    """The largest number of budgets that each activation uses if `rounded` rounds factors, `parameter` parameters."""
    model = gpt2.GPT2(case.model.config).requires_grad_(False)
    model.load_state_dict({name: parameter(x.float()) for name, x in case.model.state_dict().items()})
    with RoundedFactors(lambda x, _: rounded(x)):
        acts = run_model(model, case.tensors["tokens"], case.tensors["targets"])
    floors, ratios, k = floors_of(case), RATIOS["chained"], budget.k_of(precision)
    return {
        name: budget.verdict(
            x.double().numpy(),
            case.exact_chained[name].float().numpy(),
            floors[name].numpy(),
            ratios[name][precision],
            k,
        ).used
        for name, x in acts.items()
        if name in ratios
    }


def test_no_fp32_budget_allows_inputs_of_ten_bits():
    largest: dict[str, float] = {}
    for name in (*SHARED, "lesson12"):  # lesson 12 has ops of its own
        for output, used_here in used_in_ten_bits(BUILDERS[name](name, 0)).items():
            largest[output] = max(largest.get(output, 0.0), used_here)
    assert set(largest) == set(RATIOS["local"]) | set(RATIOS["own"]["lesson12"])
    assert {output: used_here for output, used_here in largest.items() if used_here < TOO_FAR} == {}


def test_no_fp32_budget_of_a_model_allows_parameters_and_factors_of_ten_bits():
    used_here = used_by_model(BUILDERS["odd"]("odd", 0), "fp32", tf32, tf32)
    assert set(used_here) == set(RATIOS["chained"])
    assert {name: used for name, used in used_here.items() if used < TOO_FAR} == {}


def test_a_model_with_factors_of_bf16_exceeds_a_budget_of_tf32():
    used_here = used_by_model(BUILDERS["odd"]("odd", 0), "tf32", lambda x: x.bfloat16().float())
    assert max(used_here.values()) > TOO_FAR
