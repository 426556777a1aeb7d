# SPDX-License-Identifier: MIT
"""reference/ops holds the ops of lessons/gpt2/ops.h, with their names for arguments and results."""

import inspect
import re
from pathlib import Path

import pytest

from reference.ops import OPS

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
