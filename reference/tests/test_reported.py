# SPDX-License-Identifier: MIT
"""Times in a card's report: which call each is of, and what a step's whole pass took."""

import tomllib
from pathlib import Path

import pytest

from reference.gpu import reported, tools
from reference.gpu.reported import WholePass
from reference.gpu.tools import ToolError

ROOT = Path(__file__).parents[2]
SHAPE = "B=4 T=1024 C=768 NH=12 L=12"


def item(status="ok", **result):
    return {"status": status, "result": result, "run": "first", "measured_at": "2026-01-02"}


def report(**parts):
    return {"gpu": "NVIDIA Test 1", "rehearsal": False, "parts": {part: {"items": of} for part, of in parts.items()}}


def timed(shape, ms, status="ok", verdict="ok"):
    return item(status, verdict=verdict, shapes=[{"shape": shape, "median_ms": ms}])


# ---- which call was timed --------------------------------------------------------------------------------------------


def test_the_courses_own_null_parameters_are_those_of_its_checks():
    assert reported.null_parameters(ROOT, "11") == {"matmul": ("bias",)}
    assert reported.null_parameters(ROOT, "10") == {}


@pytest.fixture
def course(tmp_path):
    (tmp_path / "lessons/09_a").mkdir(parents=True)
    (tmp_path / "solutions/09_a").mkdir(parents=True)
    (tmp_path / "solutions/09_a/matmul.cu").touch()
    return tmp_path


@pytest.mark.parametrize("written", ['matmul.time_with_null("bias");', 'lesson.op("matmul").time_with_null("bias");'])
def test_null_parameters_are_read_in_both_ways_of_writing(course, written):
    (course / "lessons/09_a/check.cpp").write_text(written)
    assert reported.null_parameters(course, "09") == {"matmul": ("bias",)}


@pytest.mark.parametrize("written", ['op.time_with_null("bias");', "matmul.time_with_null(name);"])
def test_a_null_parameter_that_cannot_be_read_is_refused(course, written):
    (course / "lessons/09_a/check.cpp").write_text(written)
    with pytest.raises(ToolError, match=r'^lessons/09_a/check.cpp: write lesson.op\("matmul"\)'):
        reported.null_parameters(course, "09")


def test_a_timing_of_gelus_result_alone_is_a_call_without_pre_gelu():
    assert str(reported.call_at("linear_gelu", "N=8 C=4 OC=16 outputs=1")).endswith("outputs=1 -pre_gelu")
    assert str(reported.call_at("linear_gelu", "N=8 C=4 OC=16 outputs=2")).endswith("outputs=2")


# ---- calls -----------------------------------------------------------------------------------------------------------


def test_a_call_has_the_time_of_waterfall_then_of_timings_then_of_ladder():
    softmax = "14_block_reduction/softmax: softmax N=8 V=5 Vp=6"
    layernorm = "06_coalescing/layernorm: layernorm B=4 T=8 C=4"
    matmul = "09_warp_tiled_matmul/matmul: matmul N=8 C=4 OC={0} out_stride={0}"
    found = reported.call_seconds(
        ROOT,
        report(
            waterfall={softmax: item(median_ms=1)},
            timings={
                "lesson14/softmax": timed("N=8 V=5 Vp=6", 2),
                "lesson06/layernorm": timed("B=4 T=8 C=4", 3),
                "lesson13/layernorm": timed("B=4 T=8 C=4", 8),  # an op that has left the lesson
                "lesson09/matmul": timed("N=8 C=4 OC=6", 4),
                "lesson13/forward": timed(SHAPE, 5),
            },
            ladder={"lesson09/N=8 C=4 OC=6": item(median_ms=6), "lesson09/N=8 C=4 OC=7": item(median_ms=7)},
        ),
    )
    assert found == {softmax: 1e-3, layernorm: 3e-3, matmul.format(6): 4e-3, matmul.format(7): 7e-3}


def test_a_timing_without_the_bias_is_no_time_of_the_call_with_it():
    found = reported.call_seconds(ROOT, report(timings={"lesson11/matmul": timed("N=8 C=4 OC=6", 1)}))
    assert found == {"11_tf32/matmul: matmul N=8 C=4 OC=6 out_stride=6 -bias": 1e-3}


def test_a_time_is_that_of_the_files_that_were_timed():
    found = reported.call_seconds(ROOT, report(timings={"lesson11/attention": timed("B=4 T=8 C=4 NH=2", 1)}))
    assert found == {"11_tf32/attention 05_naive_forward/causal_softmax: attention B=4 T=8 C=4 NH=2": 1e-3}


@pytest.mark.parametrize(
    ("status", "verdict", "counts"),
    [("ok", "ok", True), ("failed", "SLOW", True), ("failed", "WRONG", False), ("stopped", "SLOW", False)],
)
def test_a_slow_time_is_a_measurement_and_a_wrong_one_is_not(status, verdict, counts):
    made = report(timings={"lesson06/gelu": timed("N=8", 1, status, verdict)})
    assert bool(reported.call_seconds(ROOT, made)) == counts


# ---- whole passes ----------------------------------------------------------------------------------------------------


def whole(step, shape, ours, way="eager"):
    result = {"step": step, "forward": {"ours": {"median_ms": ours}, "pytorch": {"median_ms": 9}}}
    return {f"step {step} {shape} {way}": item(**result)}


def test_a_whole_pass_is_that_of_its_shape_with_the_loss_and_without(tmp_path):
    made = report(
        forward_b4=whole("12", SHAPE, 31) | whole("17", SHAPE, 7) | whole("17", SHAPE, 8, "compile"),
        forward_b1=whole("17", SHAPE.replace("B=4", "B=1"), 2),
        timings={"lesson12/forward": timed(SHAPE, 54), "lesson05/forward": timed("B=1 T=256 C=768 NH=12 L=12", 98)},
    )
    assert reported.pass_seconds(tmp_path, made, SHAPE) == {
        "12": WholePass(with_loss=54e-3, logits=31e-3),
        "17": WholePass(logits=7e-3),
    }
    assert reported.pass_seconds(tmp_path, made, SHAPE.replace("B=4", "B=1")) == {"17": WholePass(logits=2e-3)}


def test_a_pass_of_other_calls_is_gone_and_one_of_other_files_is_marked(tmp_path):
    text = """
        [[since]]
        commit = "abc"
        steps = ["12"]
        another = true
        what = "it is another pass"
        [[since]]
        commit = "abc"
        steps = ["17"]
        another = false
        what = "a kernel is faster"
    """
    (tmp_path / "reference/timings").mkdir(parents=True)
    (tmp_path / reported.FORMS).write_text(text)
    made = report(forward_b4=whole("12", SHAPE, 31) | whole("17", SHAPE, 7) | whole("05", SHAPE, 9))
    passes = {"05": WholePass(logits=9e-3), "12": WholePass(logits=31e-3), "17": WholePass(logits=7e-3)}
    assert reported.pass_seconds(tmp_path, made | runs_of("def"), SHAPE) == passes
    passes = {"05": WholePass(logits=9e-3), "17": WholePass(logits=7e-3, earlier="a kernel is faster")}
    assert reported.pass_seconds(tmp_path, made | runs_of("abcdef"), SHAPE) == passes


def runs_of(commit):
    return {"runs": {"first": {"commit": commit}}}


def test_the_forms_of_passes_are_those_of_today():
    forms = tomllib.loads((ROOT / reported.FORMS).read_text())["forms"]
    lessons = {path.name[:2]: path.name for path in ROOT.glob("solutions/[0-9][0-9]_*")}
    passes = {step for data in tools.read_reports(ROOT) for step in reported.pass_seconds(ROOT, data, SHAPE)}
    assert passes <= forms.keys(), f"{reported.FORMS} has no form of a step that was timed whole"
    now = {step: reported.form_of(ROOT, lessons[step]) for step in forms}
    assert now == forms, f"the files of a pass have changed: {reported.FORMS} says what to do"
