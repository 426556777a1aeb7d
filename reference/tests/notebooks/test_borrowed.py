# SPDX-License-Identifier: MIT
"""A borrowed card's notebook: which lessons it times, what stands beside a time, and how make's failures are said."""

import json
from pathlib import Path

import pytest

from reference.gpu import tools
from reference.gpu.counts import Call
from reference.gpu.estimates import Estimate, Launch, OnCard
from reference.gpu.lesson_shapes import Lesson
from reference.gpu.tools import Card, ToolError
from reference.notebooks import borrowed
from reference.plots.roofline import Roof

ROOF = Roof("a card", "measured", "roof.json", bytes_per_s=1e12, flop_per_s=1e13, tensor={"TF32": 1e14})
MATMUL = Call.of("matmul N=4096 C=768 OC=2304 out_stride=2304")


@pytest.fixture(autouse=True)
def a_card(monkeypatch, tmp_path):
    monkeypatch.delenv("DRY", raising=False)
    monkeypatch.setenv("RESULTS_ROOT", str(tmp_path))
    monkeypatch.setattr(tools, "read_card", lambda: Card("Tesla T4", "550.54.15", "7.5"))


def estimated(seconds: float) -> OnCard:
    launch = Launch("k", False, 1, {"memory": seconds}, "memory", "memory", 0)
    return OnCard("a card", {(MATMUL, ("08_tiles/matmul",)): Estimate((launch,))})


def timed(op: str, **shape) -> dict:
    return {"ops": [{"op": op, "timing": {"shapes": [{"median_ms": 2.0, "judged": True, **shape}]}}]}


def test_the_card_is_one_line():
    assert borrowed.card() == "Tesla T4, compute capability 7.5, driver 550.54.15"


def test_a_rehearsal_has_no_card(monkeypatch):
    monkeypatch.setenv("DRY", "1")
    assert borrowed.borrowed() is None
    assert borrowed.card().startswith("a rehearsal")


@pytest.mark.parametrize(
    "said",
    [
        "nvidia-smi is not there: it comes with",
        "nvidia-smi finds no GPU: No devices",
        "no NVIDIA driver: libcuda.so.1 cannot be opened; every lesson can be done without a GPU: make check-lesson04",
        "the NVIDIA driver finds no GPU; every lesson can be done without a GPU: make check-lesson04 DEVICE=cpu",
    ],
)
def test_a_machine_without_a_card_is_told_how_colab_lends_one(monkeypatch, said):
    def no_card():
        raise ToolError(said)

    monkeypatch.setattr(tools, "read_card", no_card)
    with pytest.raises(ToolError, match=r"Runtime → Change runtime type → T4 GPU"):
        borrowed.card()


def test_what_else_is_wrong_with_a_card_is_said_as_it_is(monkeypatch):
    def hidden():
        raise ToolError("CUDA_VISIBLE_DEVICES hides every GPU: unset it")

    monkeypatch.setattr(tools, "read_card", hidden)
    with pytest.raises(ToolError, match="hides every GPU"):
        borrowed.card()


def test_lessons_that_need_a_newer_card_are_named():
    lessons = [
        Lesson("02_forward", timed={"matmul": ("N=1",)}),
        Lesson("04_first", "device", timed={"gelu": ("N=1",)}, requires=("sm_75",)),
        Lesson("11_tf32", "device", timed={"matmul": ("N=1",)}, requires=("sm_80",)),
    ]
    able, unable = borrowed.runnable(lessons, "7.5")
    assert [lesson.number for lesson in able] == ["04"]
    assert unable == {"sm_80": ["11"]}


def test_a_lesson_that_fails_is_named_and_the_next_one_is_timed(monkeypatch, capsys):
    lessons = [Lesson(f"0{n}_k", "device", timed={"gelu": ("N=1",)}) for n in (4, 5, 6)]
    monkeypatch.setattr(borrowed, "all_lessons", lambda root: lessons)

    def make(goal, *words):
        if goal == "time-lesson05":
            raise ToolError("make time-lesson05 failed: odd")
        Path(words[-1].removeprefix("JSON=")).write_text('{"subject": "solutions"}')

    monkeypatch.setattr(borrowed, "make", make)
    assert borrowed.times() == "timed: lessons 04, 06\nfailed: 05"
    assert capsys.readouterr().out == "make time-lesson05 failed: odd\n"
    assert (
        borrowed.times(minutes=-1) == "timed: lessons 04, 06\nleft when -1 minutes were over: 05; run this cell again"
    )


def test_what_make_prints_is_shown_and_its_failure_is_one_line(monkeypatch, tmp_path, capfd):
    ends = "make: *** [m.mk:9: x] Error 1\nmake: *** Waiting for unfinished jobs....\n"
    (tmp_path / "make").write_text(f"#!/bin/sh\necho one\necho two >&2\necho '{ends}'\nexit 2\n")
    (tmp_path / "make").chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    with pytest.raises(ToolError, match=r"^make setup failed: two$"):
        borrowed.make("setup")
    assert capfd.readouterr().out == f"$ make setup\none\ntwo\n{ends}\n"


def test_a_roof_that_was_not_measured_is_not_said_to_be_that_of_the_pictures(monkeypatch, tmp_path):
    measured = {"name": "Tesla T4", "copy_bytes_per_s": 2e11, "fp32_fma_flop_per_s": 8e12}
    gpu = {}
    path = tmp_path / "results/roof.json"
    path.parent.mkdir()
    monkeypatch.setattr(borrowed, "make", lambda goal: path.write_text(json.dumps({"cpu": {}, **gpu})))
    with pytest.raises(
        ToolError, match=r"^the card's roof was not measured; the pictures below take its data sheet's$"
    ):
        borrowed.calibrate()
    gpu["gpu"] = measured
    assert borrowed.calibrate() == "this is the roof of the pictures below"


def test_a_time_stands_beside_its_roof_and_its_estimate():
    lesson = Lesson("08_tiles", "device")
    rows = borrowed.rows_of(
        timed("matmul", shape="N=4096 C=768 OC=2304", flop_per_s=5e12), lesson, ROOF, estimated(1e-3)
    )
    assert rows == [borrowed.Row("08 matmul N=4096 C=768 OC=2304", 2.0, 0.5, 1.0)]


def test_an_estimate_is_of_a_call_with_as_many_outputs():
    without = Call.of("linear_gelu N=4 C=4 OC=16 outputs=1 -pre_gelu")
    launch = Launch("k", False, 1, {"memory": 1e-3}, "memory", "memory", 0)
    on_card = OnCard("a card", {(without, ("12_fused/linear_gelu",)): Estimate((launch,))})
    assert borrowed.estimate_of(on_card, "12_fused", "linear_gelu", "N=4 C=4 OC=16 outputs=1") == 1e-3
    assert borrowed.estimate_of(on_card, "12_fused", "linear_gelu", "N=4 C=4 OC=16 outputs=2") is None


def test_tensor_cores_have_their_own_roof():
    lesson = Lesson("11_tf32", "device", precision={"matmul": "tf32"})
    [row] = borrowed.rows_of(timed("matmul", shape="N=4 C=4 OC=4", flop_per_s=5e13), lesson, ROOF, None)
    assert row.share == 0.5
    assert row.estimate is None


def test_bytes_have_the_roof_of_memory_and_a_forward_pass_has_none():
    lesson = Lesson("06_coalescing", "device")
    [row] = borrowed.rows_of(timed("gelu", shape="N=4", bytes_per_s=2.5e11), lesson, ROOF, None)
    assert row.share == 0.25
    assert borrowed.rows_of(timed("forward", shape="B=1"), lesson, ROOF, None) == []


def test_a_card_that_nobody_has_described_has_no_estimates_and_says_so(monkeypatch):
    monkeypatch.setattr(tools, "read_card", lambda: Card("NVIDIA Odd 1", "1", "12.0"))
    assert borrowed.priced() is None
    with pytest.raises(ToolError, match=r"reference/cards.toml has no NVIDIA Odd 1"):
        borrowed.waterfall()


def test_nothing_timed_is_one_line(monkeypatch):
    monkeypatch.setattr(borrowed, "priced", lambda: None)
    monkeypatch.setattr(borrowed, "roof_here", lambda: ROOF)
    monkeypatch.setattr(borrowed, "all_lessons", lambda root: [Lesson("04_first", "device")])
    with pytest.raises(ToolError, match=r"^nothing is timed yet"):
        borrowed.beside()
    path = borrowed.timed_file("04")
    path.parent.mkdir(parents=True)
    path.write_text(json.dumps(timed("gelu", shape="N=4", bytes_per_s=2.5e11)))
    assert len(borrowed.beside().axes) == 1


def test_the_report_says_where_it_goes():
    assert "reference/timings/tesla-t4.json" in borrowed.report()


def test_a_row_says_its_time_and_its_shares():
    assert borrowed.cells(borrowed.Row("a", 0.0269, 0.28, 0.5)) == ["26.9 µs", "28%", "56%"]
    assert borrowed.cells(borrowed.Row("a", 125, 0.0000715, None)) == ["125 ms", "< 0.1%", ""]
