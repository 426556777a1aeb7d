# SPDX-License-Identifier: MIT
"""What a call must move and compute is asked of the checks, which say it once."""

import re
from pathlib import Path

import pytest

from reference.gpu.costs import PROGRAM, Cost, costs
from reference.gpu.lesson_shapes import all_lessons
from reference.gpu.tools import ToolError

ROOT = Path(__file__).parents[2]
built = pytest.mark.skipif(not (ROOT / PROGRAM).exists(), reason=f"no {PROGRAM}; make {PROGRAM} builds it")


def cost(call: str) -> Cost:
    return costs([call], ROOT / PROGRAM)[0]


@built
def test_bytes_and_operations_are_those_of_the_arithmetic():
    assert cost("residual N=10") == Cost(120, 10)
    assert cost("gelu N=10") == Cost(80, 90)
    assert cost("layernorm B=2 T=3 C=5") == Cost(4 * (30 + 30 + 6 + 6 + 5 + 5), 8 * 30)
    assert cost("matmul N=2 C=3 OC=4") == Cost(4 * (6 + 12 + 4 + 8), 48)
    # One sequence of two tokens: row 0 has one score, row 1 two; each score and each weight is C multiply-adds.
    assert cost("attention B=1 T=2 C=8 NH=2").flop == 2 * 2 * 3 * 8
    assert cost("crossentropy N=3 Vp=128").flop == 6


@built
def test_a_null_parameter_moves_no_bytes():
    assert cost("matmul N=2 C=3 OC=4 out_stride=8 -bias") == Cost(4 * (6 + 12 + 8), 48)
    assert cost("matmul -bias N=2 C=3 OC=4") == cost("matmul N=2 C=3 OC=4 out_stride=8 -bias")
    with_bias = 4 * (6 + 12 + 4)
    assert cost("linear_gelu N=2 C=3 OC=4 outputs=2 -pre_gelu") == Cost(with_bias + 4 * 8, 48)
    # `outputs` leaves it out already.
    assert cost("linear_gelu N=2 C=3 OC=4 outputs=1 -pre_gelu") == Cost(with_bias + 4 * 8, 48)


@built
@pytest.mark.parametrize(
    ("call", "said"),
    [
        ("matmul N=2 C=3 OC=4 -bais", "matmul has no parameter bais; it has inp, weight, bias, out"),
        ("matmul N=2 C=3 OC=4 -bias -bias", "it has -bias twice"),
        ("matmul N=2 C=3 OC=4 -", "- is no size"),
    ],
)
def test_a_null_parameter_that_is_none_is_named(call, said):
    with pytest.raises(ToolError, match=re.escape(said)):
        cost(call)


@built
def test_the_padding_of_a_softmax_is_neither_read_nor_written():
    assert cost("softmax N=2 V=7 Vp=128") == Cost(4 * 2 * 2 * 7, 5 * 14)


@built
def test_a_row_of_the_vocabulary_is_read_once_for_all_its_tokens():
    """65,536 random tokens name 36,600 of 50,257 rows, or fewer."""
    rows, C = 64 * 1024, 768
    found = cost("encoder B=64 T=1024 C=768")
    assert 4 * rows * C + 4 * 30_000 * C < found.bytes < 4 * rows * C + 4 * 40_000 * C
    assert found.flop == rows * C


@built
def test_every_timed_shape_has_a_cost():
    calls = [f"{op} {shape}" for lesson in all_lessons(ROOT) for op, all_ in lesson.shapes.items() for shape in all_]
    assert len(calls) > 10
    assert all(found.flop > 0 for found in costs(calls, ROOT / PROGRAM))


@built
def test_an_op_that_is_not_there_is_named():
    with pytest.raises(ToolError, match="swiglu"):
        cost("swiglu N=3")


def test_what_is_not_built_is_named_with_its_mend(tmp_path):
    with pytest.raises(ToolError, match=re.escape(f"is not there: make {PROGRAM}")):
        costs(["gelu N=3"], tmp_path / "ops")


@pytest.mark.parametrize("said", ["", "ops: broken", "[]", '[{"op": "gelu"}]'])
def test_an_answer_of_another_form_is_an_error(tmp_path, said):
    program = tmp_path / "ops"
    program.write_text(f"#!/bin/sh\necho '{said}'\n")
    program.chmod(0o755)
    with pytest.raises(ToolError):
        costs(["gelu N=3"], program)
