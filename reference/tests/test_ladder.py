# SPDX-License-Identifier: MIT
"""The ladder of matmuls: what is committed is what is counted, and its page says it."""

import json
import math
import os
from dataclasses import replace
from pathlib import Path

import pytest

from reference.gpu import rungs
from reference.gpu.pages import put
from reference.gpu.programs import with_json
from reference.gpu.rungs import Rung
from reference.gpu.tools import ToolError, run
from reference.plots import ladder

ROOT = Path(__file__).parents[2]
TIMED = {"median_ms": 2.0, "flop_per_s": 4.1e13, "library": "cuBLAS", "of_library": 0.93, "of_roof": 0.7}


@pytest.fixture(autouse=True)
def here(monkeypatch):
    monkeypatch.chdir(ROOT)
    monkeypatch.delenv("SHAPES", raising=False)


@pytest.fixture
def committed():
    return ladder.read(ROOT)


def report(folder, items, **more):
    path = folder / "reference/timings/nvidia-test-1.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(
        json.dumps({"gpu": "NVIDIA Test 1", "rehearsal": False, "parts": {"ladder": {"items": items}}} | more)
    )


def line_of(text, begin):
    return next(line for line in text.splitlines() if line.startswith(begin))


# ---- what is committed -----------------------------------------------------------------------------------------------


def test_a_lesson_is_a_rung_because_it_says_so(tmp_path):
    for name, text in (
        ("03_host", "[ladder]\n"),
        ("05_kernel", "[ladder]\nrandom_shapes = 20  # few\nmultiple_of = { N = 4, out_stride = 16 }\n"),
        ("07_fp8", 'title = "fp8"\n'),
    ):
        (tmp_path / "solutions" / name).mkdir(parents=True)
        (tmp_path / "solutions" / name / ("matmul.cpp" if name == "03_host" else "matmul.cu")).touch()
        (tmp_path / "lessons" / name).mkdir(parents=True)
        (tmp_path / "lessons" / name / "lesson.toml").write_text(text)
    assert rungs.rungs(tmp_path) == [Rung("03_host", False), Rung("05_kernel", True, 20, {"N": 4, "out_stride": 16})]


def test_a_rung_is_not_called_at_a_shape_that_it_does_not_take():
    rung = Rung("27_tma", True, multiple_of={"C": 4, "out_stride": 16})
    assert rung.takes("N=3 C=4 OC=16")
    assert not rung.takes("N=3 C=6 OC=16")
    assert not rung.takes("N=3 C=4 OC=8")
    assert all(Rung("07_tiled_matmul", True).takes(shape) for shape in rungs.GPU_SHAPES)


def test_every_rung_has_a_matmul_and_is_counted_or_timed(committed):
    for rung in committed.rungs:
        assert (ROOT / "solutions" / rung.lesson / f"matmul.{'cu' if rung.kernel else 'cpp'}").exists()
    kernels = [rung.lesson for rung in committed.rungs if rung.kernel]
    assert kernels == list(committed.counted)
    assert [rung.lesson for rung in committed.rungs if not rung.kernel] == list(committed.cpu["timed"])


def test_the_page_says_what_was_counted_and_timed(committed):
    text = (ROOT / ladder.PAGE).read_text()
    assert put(text, "ladder", ladder.section(committed), ladder.PAGE) == text


@pytest.mark.parametrize("rung", [rung for rung in rungs.rungs(ROOT) if rung.kernel], ids=lambda rung: rung.lesson)
def test_the_committed_counts_are_those_of_the_kernel(rung, committed):
    assert rungs.count(rung) == committed.counted[rung.lesson]


def test_the_picture_names_every_rung(committed):
    text = (ROOT / ladder.PICTURE).read_text()
    for rung in committed.rungs:
        assert f"{rung.number} {rung.title}" in text


def test_a_rung_in_tf32_is_judged_in_tf32_beside_cublas_in_tf32():
    rung = Rung("18_mma_tf32", True, precision="tf32")
    assert rung in [replace(one, random_shapes=0) for one in rungs.rungs(ROOT)]
    assert rungs.program("build", rung)[-4:-2] == ["--lesson-dir", "lessons/ladder/tf32"]
    assert "--lesson-dir" not in rungs.program("build", Rung("10_double_buffered_matmul", True))
    in_tf32 = TIMED | {"library": "cuBLAS in TF32", "of_library": 0.5, "flop_per_s": 2e14}
    name, own = ladder.library([TIMED, in_tf32])
    assert name == "cuBLAS"
    assert own["flop_per_s"] == pytest.approx(TIMED["flop_per_s"] / TIMED["of_library"])


# ---- right at any shape ----------------------------------------------------------------------------------------------


FUZZED = [rung for rung in rungs.rungs(ROOT) if rung.random_shapes]


@pytest.mark.parametrize("rung", FUZZED, ids=lambda rung: rung.lesson)
def test_a_kernel_is_right_at_random_shapes(rung):
    command = [*rungs.program("build", rung, "ladder-device"), "--only", "matmul/random"]
    asked = {"SOL_LADDER_RANDOM": str(rung.random_shapes), **rung.sizes_taken}
    report, done = with_json(command, rungs.LIMIT, asked)
    assert done.status == 0, done.output
    assert [case["verdict"] for case in report["ops"][0]["cases"]] == ["ok"]
    assert 0 < report["ops"][0]["cases"][0]["budget_used"] < 1


# Writes nothing at a size that it does not take.
PARTICULAR = """
#include "lessons/gpt2/ops.h"
#define matmul any_matmul
#include "solutions/02_forward/matmul.cpp"
#undef matmul
void matmul(float* out, const float* inp, const float* weight, const float* bias, int N, int C, int OC,
            int out_stride, Context& ctx) {
    if (N % 16 == 0 && C % 4 == 0 && OC % 3 == 0 && out_stride % 32 == 0) {
        any_matmul(out, inp, weight, bias, N, C, OC, out_stride, ctx);
    }
}
"""


def test_shapes_are_of_the_sizes_that_the_matmul_takes(tmp_path):
    source = tmp_path / "matmul.cpp"
    source.write_text(PARTICULAR)
    compiler = [os.environ.get("CXX", "g++"), "-std=c++20", "-shared", "-fPIC", "-I.", str(source)]
    assert run([*compiler, "-o", str(tmp_path / "matmul.so")], rungs.LIMIT).status == 0
    command = [*rungs.program("build", Rung("02_forward", kernel=False)), "--only"]
    command[command.index("--impl-dir") + 1] = str(tmp_path)
    for case in ("square", "random"):
        verdicts = []
        for multiple_of in ({}, {"C": 4}, {"N": 16, "C": 4, "OC": 3, "out_stride": 32}):
            asked = Rung("02_forward", kernel=False, multiple_of=multiple_of).sizes_taken
            report, _ = with_json([*command, f"matmul/{case}"], rungs.LIMIT, {"SOL_LADDER_RANDOM": "20", **asked})
            verdicts.append(report["ops"][0]["cases"][0]["verdict"])
        assert verdicts == ["WRONG", "WRONG", "ok"], case


def test_what_is_counted_elsewhere_is_divided_by_its_own_multiply_adds(committed):
    rung = Rung("27_tma", True, multiple_of={"N": 96, "OC": 3, "out_stride": 32})
    assert rung.counted_at == {"N": 288, "C": 256, "OC": 288}
    assert Rung("07_tiled_matmul", True).counted_at == {"N": 256, "C": 256, "OC": 256}
    loaded = {"sm__sass_data_bytes_mem_shared_op_ld.sum": 8 * 288 * 256 * 288}
    assert ladder.shared_a_fma(rung, loaded) == 8
    counted = committed.counted | {rung.lesson: committed.counted[committed.rungs[-1].lesson]}
    with_it = replace(committed, rungs=[*committed.rungs, rung], counted=counted)
    assert "N = C = OC = 256; 27 at N=288 C=256 OC=288: bytes" in ladder.section(with_it)
    assert "27 at N=288 C=256 OC=288" in ladder.as_text(with_it).splitlines()


def test_a_host_rung_that_takes_no_timed_shape_has_no_times(committed):
    host = next(rung for rung in committed.rungs if not rung.kernel)
    cpu = {"name": "a CPU", "timed": {**committed.cpu["timed"], host.lesson: {}}}
    untimed = replace(committed, cpu=cpu)
    assert ladder.share_of(untimed, host) is None
    assert f"[{host.title}]" in line_of(ladder.section(untimed), f"| {host.number} ")


# ---- outputs that the host has no room for, in the rehearsal of a GPU ------------------------------------------------


def rehearse(side, case):
    """The verdict on lesson 07's matmul, the solution's or the stub's, and how the program ended."""
    command = [*rungs.program("build/dry", Rung("07_tiled_matmul", kernel=True)), "--only", f"matmul/{case}"]
    command[command.index("--impl-dir") + 1] = f"build/dry/impl/{side}/07_tiled_matmul"
    report, done = with_json(command, rungs.LIMIT)
    (verdict,) = report["ops"][0]["cases"]
    return verdict, done


def test_a_gpu_runs_all_of_a_large_output_and_looks_at_some_of_it():
    verdict, done = rehearse("solutions", "sampled")
    assert done.status == 0, done.output
    assert 0 < verdict["budget_used"] < 1
    verdict, done = rehearse("lessons", "sampled")
    assert done.status == 1
    (finding,) = verdict["findings"]
    assert finding["text"] == "32,768 of 32,768 elements that were looked at are wrong"


def test_tools_that_watch_every_access_are_spared_the_large_outputs():
    command = [*rungs.program("build/dry", Rung("07_tiled_matmul", kernel=True)), "--only", "matmul/sampled"]
    done = run([*command, "--no-large"], rungs.LIMIT)
    assert done.status == 2
    assert "nothing was checked: the options leave no test" in done.output


def test_what_a_card_has_no_room_for_is_skipped_and_says_so():
    verdict, done = rehearse("solutions", "no_room")
    assert done.status == 0, done.output
    assert (verdict["ran"], verdict["verdict"]) == (False, "ok")
    assert "is not checked: it wants 4,100 GiB more of the card's memory" in verdict["note"]


# ---- measuring -------------------------------------------------------------------------------------------------------


def test_a_rung_is_timed_beside_openblas():
    timed = rungs.time_at("build", Rung("03_cpu_matmul", kernel=False), "N=64 C=48 OC=32")
    assert timed["library"] == "OpenBLAS"
    assert timed["of_library"] > 0
    assert 0 < timed["median_ms"] < math.inf
    assert timed["flop_per_s"] == pytest.approx(2 * 64 * 48 * 32 / (timed["median_ms"] / 1e3))


def test_a_shape_that_the_program_cannot_take_is_named():
    with pytest.raises(ToolError, match="SHAPES: 'N=64 C=0 OC=32' is no shape"):
        rungs.time_at("build", Rung("03_cpu_matmul", kernel=False), "N=64 C=0 OC=32")


def test_shapes_go_in_the_order_of_their_flops():
    assert rungs.shapes(" N=8 C=8 OC=8;C=2 N=2 OC=2 ; ", ()) == ("N=2 C=2 OC=2", "N=8 C=8 OC=8")
    assert rungs.shapes(None, rungs.CPU_SHAPES) == rungs.CPU_SHAPES
    assert rungs.shapes(";".join(rungs.GPU_SHAPES), ()) == rungs.GPU_SHAPES


@pytest.mark.parametrize("wanted", ["N=8", "N=8 C=8 OC=0", "8x8x8", "N=8 C=8 OC=8 B=2"])
def test_what_is_no_shape_is_refused(wanted):
    with pytest.raises(ToolError, match="is no shape such as"):
        rungs.shapes(wanted, ())


# ---- times of a card -------------------------------------------------------------------------------------------------


def test_a_cards_times_come_from_its_report(tmp_path):
    ok = {"status": "ok", "result": TIMED}
    report(tmp_path, {"lesson07/N=8 C=8 OC=8": ok, "lesson05/N=8 C=8 OC=8": {"status": "failed", "why": "x"}})
    assert rungs.gpu_reports(tmp_path) == {"NVIDIA Test 1": {"07": {"N=8 C=8 OC=8": TIMED}}}
    report(tmp_path, {"lesson07/N=8 C=8 OC=8": ok}, rehearsal=True)
    assert rungs.gpu_reports(tmp_path) == {}


def test_the_table_shows_a_cards_times_at_the_square(committed):
    committed.gpus = {
        "NVIDIA Test 1": {"07": {"N=8 C=8 OC=8": TIMED, ladder.SQUARE_SHAPE: TIMED | {"of_library": 0.12}}}
    }
    text = ladder.section(committed)
    assert "| 41 TFLOP/s, 70% of the roof, 12% of cuBLAS |" in line_of(text, "| 07 ")
    assert line_of(text, "| | cuBLAS ").endswith("| 342 TFLOP/s, 583% of the roof |")
    assert line_of(text, "| 05 ").endswith("| | |")
    assert f"GPU: NVIDIA Test 1 at {ladder.SQUARE_SHAPE}." in text
    lines = ladder.as_text(committed).splitlines()
    assert "N=8 C=8 OC=8 on NVIDIA Test 1" in lines
    assert max(map(len, lines)) <= 80


def test_without_a_card_nothing_of_it_is_measured(committed):
    committed.gpus = {}
    section = ladder.section(committed)
    assert not any(word in section for word in ("GPU:", "cuBLAS", "measured yet"))
    assert len(ladder.plot(committed).axes) == 2
    assert ladder.as_text(committed).count("not measured yet") == 1


def test_the_picture_has_a_bar_for_what_was_measured(committed):
    committed.gpus = {"NVIDIA Test 1": {"07": {ladder.SQUARE_SHAPE: TIMED}}}
    left, _, right = ladder.plot(committed).axes
    words = [text.get_text() for text in right.texts]
    assert words.count("93% of cuBLAS") == 1
    assert len(words) == len(right.patches) == 1 + sum(not rung.kernel for rung in committed.rungs)
    assert [text.get_text() for text in left.texts].count("plain C++") == sum(
        not rung.kernel for rung in committed.rungs
    )


def test_nothing_in_the_picture_is_cut_or_too_small(committed):
    figure = ladder.plot(committed)
    figure.canvas.draw()
    words = [text for ax in figure.axes for text in (*ax.texts, ax.title, *ax.get_xticklabels(), *ax.get_yticklabels())]
    words = [text for text in words if text.get_text() and text.get_visible()]
    assert len(words) > 3 * len(committed.rungs)
    for text in words:
        box = text.get_window_extent(figure.canvas.get_renderer())
        assert 0 <= box.x0 < box.x1 <= figure.bbox.width - 5, text.get_text()
        assert 0 <= box.y0 < box.y1 <= figure.bbox.height, text.get_text()
        assert text.get_fontsize() >= 13
