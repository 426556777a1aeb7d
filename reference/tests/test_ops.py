# SPDX-License-Identifier: MIT
"""reference/ops holds the ops of lessons/gpt2/ops.h, with their names for arguments and results."""

import inspect
import math
import re
from pathlib import Path

import pytest
import torch

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
