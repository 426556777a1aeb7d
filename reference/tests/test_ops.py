# SPDX-License-Identifier: MIT
"""reference/ops holds the ops of lessons/gpt2/ops.h, with their names for arguments and results."""

import inspect
import math
import re
from pathlib import Path

import pytest
import torch

from reference.model import gpt2
from reference.ops import OPS
from reference.ops.common.rounding import of_exponent
from reference.ops.common.softmax import online_lse

OPS_H = (Path(__file__).parents[2] / "lessons/gpt2/ops.h").read_text()
DECLARED = {
    name: re.findall(r"(\w+)\s*(?:,|$)", re.sub(r"//.*", "", parameters))
    for name, parameters in re.findall(r"^void (\w+)\((.*?)\);", OPS_H, re.MULTILINE | re.DOTALL)
}


def test_each_op_has_a_file_and_each_file_is_an_op():
    assert OPS.keys() == DECLARED.keys()


@pytest.mark.parametrize("op", [op for op in OPS if OPS[op].run is not None])
def test_arguments_and_results_are_named_as_in_ops_h(op):
    names = [*OPS[op].results, *inspect.signature(OPS[op].run).parameters]
    assert set(names) <= set(DECLARED[op])
    assert DECLARED[op][: len(OPS[op].results)] == list(OPS[op].results)


@pytest.mark.parametrize("op", OPS)
def test_an_op_has_a_baseline_of_its_own_name_first(op):
    assert next(iter(OPS[op].baselines)) == op


def test_no_two_ops_share_a_baselines_name():
    names = [name for op in OPS.values() for name in op.baselines]
    assert len(names) == len(set(names))


@pytest.mark.parametrize("width", [1, 4])
def test_a_warps_lanes_find_the_log_sum_exp_of_rows_with_masked_beginnings(width):
    """With its defaults: what the suspects of an online softmax differ from."""
    scaled = 3 * torch.randn(5, 300, dtype=torch.float64, generator=torch.Generator().manual_seed(1))
    scaled[1, :140] = scaled[2, 7:] = -math.inf
    assert torch.allclose(online_lse(scaled, width), torch.logsumexp(scaled, -1), rtol=1e-12)
    ones = online_lse(scaled, width, rescale=lambda old, new: torch.ones_like(new))
    assert (ones > online_lse(scaled, width))[[0, 3, 4]].all()  # of the others each lane sees one turn


def test_a_score_of_minus_infinity_has_no_error():
    scaled = torch.tensor([[2.0, -math.inf, -1.0]], dtype=torch.float64)
    errors = of_exponent(scaled, torch.ones(1, 3, dtype=torch.bool))
    assert errors[0, 1] == 0
    assert torch.equal(errors[0, [0, 2]], 2.0**-24 * torch.tensor([4.0, 3.0], dtype=torch.float64))


TILE = 32


def tiled_matmul(inp, weight, bias, load_inp, load_weight, read, row_of_out=lambda x, y: y):
    """Lesson 07's kernel in a grid of one block. The functions take x, y and c0, or k, and return the indices used."""
    (N, C), OC = inp.shape, weight.shape[0]
    out = torch.full((N, OC), math.nan, dtype=inp.dtype)
    sums = bias.repeat(TILE, 1)
    for c0 in range(0, C, TILE):
        inp_tile, weight_tile = torch.zeros(2, TILE, TILE, dtype=inp.dtype)
        for y in range(TILE):
            for x in range(TILE):
                row, channel, bound = load_inp(x, y, c0)
                inp_tile[y, x] = inp[row, channel] if row < N and bound < C else 0
                row, channel, bound = load_weight(x, y, c0)
                weight_tile[y, x] = weight[row, channel] if row < OC and bound < C else 0
        for y in range(TILE):
            for x in range(OC):
                of_inp, of_weight = read(inp_tile, weight_tile, x, y)
                sums[y, x] += of_inp @ of_weight
    for y in range(TILE):
        for x in range(OC):
            if row_of_out(x, y) < N:
                out[row_of_out(x, y), x] = sums[y, x]
    return out


def by_row(x, y, c0):
    return y, c0 + x, c0 + x


def by_column(x, y, c0):
    return x, c0 + x, c0 + x


def first_channels(x, y, c0):
    return y, x, x


def first_channels_below_C(x, y, c0):
    return y, x, c0 + x


def rows_of_both(inp_tile, weight_tile, x, y):
    return inp_tile[y], weight_tile[x]


def of_x(x, y):
    return x


@pytest.mark.parametrize(
    ("id", "changed"),
    [
        ("weight_tile_turned", {"read": lambda i, w, x, y: (i[y], w[:, x])}),
        ("inp_tile_turned", {"read": lambda i, w, x, y: (i[:, y], w[x])}),
        ("operands_exchanged_32", {"read": lambda i, w, x, y: (i[x], w[y])}),
        ("weight_row_of_output", {"load_weight": by_column}),
        ("inp_row_of_x", {"load_inp": by_column}),
        ("n_from_x_of_tiles", {"load_inp": by_column, "row_of_out": of_x}),
        ("first_channels_of_inp_32", {"load_inp": first_channels}),
        ("first_channels_of_weight_32", {"load_weight": first_channels}),
        ("first_channels_32", {"load_inp": first_channels, "load_weight": first_channels}),
        ("first_channels_below_C_32", {"load_inp": first_channels_below_C, "load_weight": first_channels_below_C}),
        ("", {}),
    ],
)
def test_suspects_of_tiles_are_what_a_kernel_with_that_index_computes(id, changed):
    draw = torch.Generator().manual_seed(1)
    inp, weight, bias = (torch.randn(*shape, dtype=torch.float64, generator=draw) for shape in [(6, 75), (9, 75), (9,)])
    got = tiled_matmul(
        inp, weight, bias, **({"load_inp": by_row, "load_weight": by_row, "read": rows_of_both} | changed)
    )
    wrong = OPS["matmul"].suspects[id].run(inp, weight, bias) if id else gpt2.matmul(inp, weight, bias)
    assert torch.allclose(got, wrong, rtol=1e-10, equal_nan=True)


@pytest.mark.parametrize("side", [4, 8])
def test_exchanged_operands_stay_in_a_threads_square_of_outputs(side):
    draw = torch.Generator().manual_seed(2)
    inp, weight, bias = (torch.randn(*shape, dtype=torch.float64, generator=draw) for shape in [(6, 5), (9, 5), (9,)])
    got = bias.repeat(6, 1)
    for n, o in [(n, o) for n in range(6) for o in range(9)]:
        row, column = n // side * side + o % side, o // side * side + n % side
        got[n, o] += inp[row] @ weight[column] if row < 6 and column < 9 else 0
    assert torch.allclose(got, OPS["matmul"].suspects[f"operands_exchanged_{side}"].run(inp, weight, bias))


HEADS = {"head": 1}
ROWS = {"row": 1}


@pytest.mark.parametrize(
    ("id", "misread"),
    [
        ("head_h_of_query", {"query": HEADS}),
        ("head_h_of_key", {"key": HEADS}),
        ("head_h_of_query_and_key", {"query": HEADS, "key": HEADS}),
        ("head_h_of_value", {"value": HEADS}),
        ("head_h", {"query": HEADS, "key": HEADS, "value": HEADS}),
        ("key_stride_c", {"key": ROWS}),
        ("value_stride_c", {"value": ROWS}),
        ("value_from_key", {"value": {"part": 1}}),
    ],
)
def test_suspects_of_attention_are_what_loops_with_that_index_compute(id, misread):
    B, T, NH, HS = 2, 5, 3, 4
    C = NH * HS
    qkv = torch.randn(B, T, 3 * C, dtype=torch.float64, generator=torch.Generator().manual_seed(3))
    out = torch.zeros(B, T, C, dtype=torch.float64)

    def read(name, b, t, h):
        at = {"part": ("query", "key", "value").index(name), "row": 3, "head": HS} | misread.get(name, {})
        start = (b * T * 3 + t * at["row"] + at["part"]) * C + h * at["head"]
        return qkv.flatten()[start : start + HS]

    for b, t, h in [(b, t, h) for b in range(B) for t in range(T) for h in range(NH)]:
        scores = torch.stack([read("query", b, t, h) @ read("key", b, s, h) for s in range(t + 1)]) / math.sqrt(HS)
        values = torch.stack([read("value", b, s, h) for s in range(t + 1)])
        out[b, t, h * HS : (h + 1) * HS] = scores.softmax(0) @ values
    assert torch.allclose(out, OPS["attention"].suspects[id].run(qkv, NH)["out"], rtol=1e-10)


def test_powers_of_e_are_what_a_tile_by_exp_in_place_of_exp2_gives():
    draw = torch.Generator().manual_seed(4)
    qkv, NH = torch.randn(1, 6, 24, dtype=torch.float64, generator=draw), 2
    query, key, value = gpt2.split_heads(qkv, NH)
    scores = (query @ key.mT / math.sqrt(4) * math.log2(math.e)).masked_fill(~gpt2.causal_mask(6), -math.inf)
    largest = scores.amax(-1, keepdim=True)  # in units of powers of 2
    weights = (scores - largest).exp()
    total = weights.sum(-1)
    wrong = OPS["attention"].wrong("powers_of_e", qkv, NH)
    assert torch.allclose(wrong["out"], gpt2.join_heads(weights @ value / total.unsqueeze(-1)))
    assert torch.allclose(wrong["lse"], math.log(2) * (largest.squeeze(-1) + total.log2()))


def test_a_factor_upside_down_is_nan_from_the_first_score_on():
    largest, total = torch.tensor(torch.finfo(torch.float32).min), torch.tensor(0.0)
    for score in torch.tensor([0.5, 2.0, 1.0]):
        larger = torch.maximum(largest, score)
        total = total * (larger - largest).exp() + (score - larger).exp()
        largest = larger
    assert total.isnan()
    scores = torch.randn(1, 1, 3, 3, dtype=torch.float64)
    assert OPS["causal_softmax"].wrong("rescale_inverted_from_the_start", scores, 1.0)["lse"].isnan().all()


@pytest.mark.parametrize(("id", "width"), [("zeros_in_variance", 768), ("zeros_of_turn_in_variance", 256)])
def test_zeros_beyond_the_row_count_in_the_variance(id, width):
    x = 2 + torch.randn(3, 200, dtype=torch.float64, generator=torch.Generator().manual_seed(5))
    filled = torch.cat([x, torch.zeros(3, width - 200, dtype=torch.float64)], dim=-1)
    variance = ((filled - x.mean(-1, keepdim=True)) ** 2).sum(-1) / 200
    wrong = OPS["layernorm"].wrong(id, x, torch.ones(200), torch.zeros(200))
    assert torch.allclose(wrong["rstd"], (variance + gpt2.EPS).rsqrt())
