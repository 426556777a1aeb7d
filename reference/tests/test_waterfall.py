# SPDX-License-Identifier: MIT
"""The waterfall: what is counted and recorded, the limits that it gives, the bars, and what stands on the pages."""

import re
import xml.etree.ElementTree as ElementTree
from dataclasses import replace
from functools import cache
from itertools import pairwise
from pathlib import Path
from types import SimpleNamespace

import pytest

from reference.gpu import counts
from reference.gpu import tools as gpu_tools
from reference.gpu.counts import Call, Step
from reference.gpu.estimates import Estimate, Launch
from reference.gpu.lesson_shapes import Lesson
from reference.gpu.tools import ToolError
from reference.plots import roofline, waterfall
from reference.plots.waterfall import Bar, Pass, Waterfall
from reference.report import parts

ROOT = Path(__file__).parents[2]
CARDS = ("H100-SXM", "H200", "A100-80GB", "RTX-4090", "RTX-3060", "T4")
SVG = "{http://www.w3.org/2000/svg}"


@pytest.fixture(autouse=True)
def here(monkeypatch):
    monkeypatch.chdir(ROOT)


@cache
def read(config=None, B=None, T=None, **options):
    """As nothing is patched; a test that patches something calls waterfall.read."""
    if not (ROOT / counts.CALLS).exists():
        pytest.skip(f"no {counts.CALLS}; make waterfall builds it")
    return waterfall.read(ROOT, roofline.asked_shape(config, B, T), **options)


def launch(seconds, limit="L2", launches=1, library=False):
    return Launch("a kernel", library, launches, {limit: seconds}, limit, limit, 0)


def bar(call="gelu N=8", seconds=1.0, measured_s=None):
    return Bar(Call.of(call), 1, Estimate((launch(seconds),)), measured_s)


# ---- counting --------------------------------------------------------------------------------------------------------


def test_a_call_is_read_as_it_is_written():
    call = Call.of("matmul N=8 C=4 OC=6 out_stride=16 -bias")
    assert (call.op, dict(call.sizes), call.null) == ("matmul", {"N": 8, "C": 4, "OC": 6, "out_stride": 16}, ("bias",))
    assert Call.of(str(call)) == call


@pytest.mark.parametrize(
    ("call", "name"),
    [
        ("gelu N=8", "gelu"),
        ("matmul N=4096 C=768 OC=2304 out_stride=2304", "matmul qkv"),
        ("linear N=8 C=128 OC=128", "linear proj"),
        ("linear_gelu N=8 C=128 OC=512 outputs=2", "linear_gelu fc"),
        ("matmul N=8 C=3072 OC=768", "matmul fcproj"),
        ("matmul N=8 C=128 OC=512 out_stride=512 -bias", "matmul logits"),
        ("matmul N=8 C=6 OC=10", "matmul 6 to 10"),
    ],
)
def test_a_product_is_called_by_its_place_in_the_model(call, name):
    assert counts.op_name(Call.of(call)) == name


def test_the_steps_call_what_their_forward_calls():
    steps = {one.step.number: one.step for one in read().passes}
    assert [*steps][:3] == ["05", "06", "07"]
    calls = {number: {str(call): n for call, n in step.calls.items()} for number, step in steps.items()}
    assert calls["05"]["matmul N=4096 C=768 OC=50257 out_stride=50304 -bias"] == 1
    assert calls["05"]["residual N=3145728"] == 24
    assert calls["12"]["linear_gelu N=4096 C=768 OC=3072 outputs=1 -pre_gelu"] == 12
    assert not any(call.endswith("outputs=2") for of_step in calls.values() for call in of_step)
    assert calls["16"]["residual_layernorm B=4 T=1024 C=768"] == 24
    assert steps["15"].files["attention"] == ("11_tf32/attention", "15_online_softmax/causal_softmax")
    assert (steps["10"].precision, steps["11"].precision) == ({}, {"attention": "tf32", "matmul": "tf32"})


# ---- bars ------------------------------------------------------------------------------------------------------------


def drawn(*milliseconds, gpu=None):
    passes = [
        Pass(Step(f"{5 + i:02}_step", {}, {}, {}), (bar(measured_s=ms / 1e3),), False)
        for i, ms in enumerate(milliseconds)
    ]
    return Waterfall("a model", "a card", gpu, passes)


def test_a_scale_ends_where_a_pass_is_less_than_a_quarter_of_its_first():
    made = drawn(100, 25, 24, 6, 5)
    assert [len(piece) for piece in waterfall.scales(made, made.passes)] == [2, 2, 1]


def test_a_letter_stands_for_a_number_that_is_easily_read():
    assert waterfall.a_character([{"matmul": 0.289}]) == pytest.approx(0.010)
    assert waterfall.a_character([{"matmul": 0.0444}, {"matmul": 0.02}]) == pytest.approx(0.0015)
    assert waterfall.a_character([{"matmul": 0.036}]) == pytest.approx(0.001)


def test_a_letter_stands_for_more_where_rounding_up_would_make_a_bar_too_long():
    pieces = {"matmul": 1.6, "logits": 1.6, "attention": 1.6}
    assert len(waterfall.bar_text(pieces, 1)) == 6
    assert waterfall.a_character([pieces], columns=5) == pytest.approx(1.5)


def test_a_piece_has_as_many_letters_in_each_bar_whatever_the_pieces_before_it_take():
    before = {"matmul": 1.4, "logits": 0.4, "attention": 0.4, "rows": 0.1, "loss": 0.7}
    after = before | {"matmul": 0.6}
    assert waterfall.bar_text(before, 1) == waterfall.bar_text(after, 1) == "MS"


def test_an_op_belongs_to_one_group():
    groups = {str(one.call).split()[0] + str(one.call.null): waterfall.group_of(one.call) for one in
              (b for p in read().passes for b in p.bars)}  # fmt: skip
    assert groups["matmul('bias',)"] == "logits"
    assert groups["linear_gelu('pre_gelu',)"] == "matmul"
    assert groups["residual_layernorm()"] == groups["encoder()"] == "rows"
    assert groups["softmax()"] == groups["crossentropy()"] == groups["loss()"] == "loss"


@pytest.mark.parametrize(
    "card",
    CARDS,
)
def test_the_text_fits_a_terminal_says_what_it_is_and_has_every_step(card):
    made = read(card=card)
    text = waterfall.as_text(made, made.passes[0])
    assert max(map(len, text.splitlines())) <= 80
    assert text.isascii()
    assert "\nlaunches: of kernels, and calls of libraries\n" in text
    assert made.label in text
    assert made.label.startswith("counted, not measured: the estimate for ")
    for one in made.passes:
        assert re.search(rf"^{one.name[:25]} +[0-9.,]+ +(\d+|1 graph)  [MLARS]+$", text, re.MULTILINE), one.name


def test_no_step_takes_longer_than_the_one_before_on_an_h100():
    made = read(card="H100-SXM")
    seconds = [one.seconds for one in made.passes]
    # Lesson 10's stages save waiting, which no resource counts, and cost it some instructions.
    assert all(later <= earlier * 1.01 for earlier, later in pairwise(seconds))
    assert seconds[0] > 60 * seconds[-1]


def test_launches_are_those_of_kernels_and_the_calls_of_libraries():
    launches = {one.step.number: one.launches for one in read().passes}
    # Lesson 05's attention is three; lesson 12's biases and GELU are part of products, its residuals of 24 layernorms;
    # lesson 16's attention is one.
    assert launches["05"] == 1 + 25 + 4 * 12 + 3 * 12 + 24 + 12 + 1 + 2
    assert [one.step.number for one in read().passes if one.graph][:1] == ["17"]
    assert launches["11"] - launches["12"] == 12 * (4 + 1) + 24
    assert launches["16"] == 1 + 1 + 12 * (4 + 1 + 2) + 1 + 2


def assert_nothing_is_cut_or_too_small(made):
    figure = waterfall.plot(made)
    figure.canvas.draw()
    renderer = figure.canvas.get_renderer()
    words = [*figure.texts, *(text for ax in figure.axes for text in (*ax.texts, *ax.get_yticklabels()))]
    assert len(words) > 2 * len(made.passes)
    for text in [*words, *(text for legend in figure.legends for text in legend.get_texts())]:
        box = text.get_window_extent(renderer)
        assert 0 <= box.x0 < box.x1 <= figure.bbox.width, text.get_text()
        assert 0 <= box.y0 < box.y1 <= figure.bbox.height, text.get_text()
        assert text.get_fontsize() >= 13
    assert made.label in [text.get_text() for text in figure.texts]


@pytest.mark.parametrize("card", ["H100-SXM", "T4", "RTX-4090"])
def test_nothing_in_the_picture_is_cut_or_too_small(card):
    assert_nothing_is_cut_or_too_small(read(card=card))


# ---- times of a card -------------------------------------------------------------------------------------------------


def timed(made, milliseconds, gpu="NVIDIA Test 1", leave_out=(), **parts):
    """A course in which a card's report has a time for each call, but those of an op that is left out. `parts` are its
    other parts."""
    items = {
        counts.item_name(one.step.files[b.call.op], b.call): {"status": "ok", "result": {"median_ms": milliseconds}}
        for one in made.passes
        for b in one.bars
        if b.call.op not in leave_out
    }
    parts = {"waterfall": items, **parts}
    return {"gpu": gpu, "rehearsal": False, "parts": {part: {"items": of} for part, of in parts.items()}}


@pytest.fixture
def with_times(monkeypatch):
    def use(*reports):
        monkeypatch.setattr(waterfall, "read_reports", lambda root: list(reports))

    return use


def test_recorded_times_are_shown_and_said_to_be_measured(with_times):
    counted = read(card="H100-SXM")
    with_times(timed(counted, 1.0))
    made = waterfall.read(ROOT)
    assert made.label == "measured on NVIDIA Test 1"
    assert made.passes[0].seconds == pytest.approx(125e-3)
    text = waterfall.as_text(made, made.passes[-1])
    assert re.search(r"^05 naive_forward +125  100% +149 +- +-  M", text, re.MULTILINE)
    assert "~" not in text + waterfall.section(made) + waterfall.block(made)
    assert not [patch for ax in waterfall.plot(made).axes for patch in ax.patches if patch.get_hatch()]
    assert waterfall.read(ROOT, gpu="nvidia-test-1").label == made.label
    assert waterfall.read(ROOT, card="T4").label == "counted, not measured: the estimate for T4"
    assert waterfall.section(made).splitlines()[2].startswith("Measured on NVIDIA Test 1.")


def test_a_bar_that_nobody_measured_is_its_estimate_and_that_is_said(with_times):
    counted = read(card="H100-SXM")
    with_times(timed(counted, 1.0, leave_out=("encoder",)))
    made = waterfall.read(ROOT)
    assert made.label == "partly measured on NVIDIA Test 1"
    assert max(map(len, waterfall.block(made).splitlines())) <= 80
    text = waterfall.as_text(made, made.passes[-1])
    assert re.search(r"^  1 encoder +1 +- +0.01\d+  memory$", text, re.MULTILINE)
    assert "-: not measured, and in the bars it takes its estimate" in text
    assert re.search(r"^05 naive_forward +~124   99% +149 ", text, re.MULTILINE)
    assert "step 05 ~124 ms as a sum, 99% of it measured" in waterfall.section(made)
    assert "So a sum with a ~ is no measurement" in waterfall.section(made)
    hatched = [patch for ax in waterfall.plot(made).axes for patch in ax.patches if patch.get_hatch()]
    assert len(hatched) == len(made.passes)
    assert max(map(len, text.splitlines())) <= 80


SHAPE = "B=4 T=1024 C=768 NH=12 L=12"


def whole(step, milliseconds):
    of_pass = {"step": step, "forward": {"ours": {"median_ms": milliseconds}, "pytorch": {"median_ms": 9}}}
    return {f"step {step} {SHAPE} eager": {"status": "ok", "result": of_pass}}


def with_loss(step, milliseconds):
    shapes = [{"shape": SHAPE, "median_ms": milliseconds}]
    return {f"lesson{step}/forward": {"status": "ok", "result": {"verdict": "ok", "shapes": shapes}}}


def test_a_whole_pass_stands_beside_the_sum_of_its_calls(with_times):
    passes = {"forward_b4": whole("05", 111) | whole("12", 66), "timings": with_loss("12", 88) | with_loss("13", 77)}
    with_times(timed(read(card="H100-SXM"), 1.0, **passes))
    made = waterfall.read(ROOT)
    text = waterfall.as_text(made, next(one for one in made.passes if one.step.number == "12"))
    rows = {line[:2]: line.split()[5:7] for line in text.splitlines() if re.match(r"\d\d \w", line)}
    assert (rows["05"], rows["12"], rows["13"], rows["16"]) == (
        ["-", "111"], ["88.0", "66.0"], ["77.0", "-"], ["-", "-"]
    )  # fmt: skip
    assert "step 12 with its loss: measured as one 88.0 ms, sum of its calls 89.0 ms" in text
    assert "step 12 up to its logits: measured as one 66.0 ms, sum of its calls 87.0 ms" in text
    assert "with the gaps between launches; no S: up to the logits, without S" in text
    words = "\n".join(label.get_text() for ax in waterfall.plot(made).axes for label in ax.texts)
    assert "125 ms sum, timed\nwhole 111 ms without loss" in words
    assert "whole 88.0 ms, 66.0 ms without loss" in words
    said = waterfall.section(made)
    assert "step 05 125 ms as a sum, measured as one pass 111 ms without loss" in said
    # 66 ms for 87 calls of 1 ms, 77 and 88 for 89, 111 for 123.
    assert "The whole pass took 0.76 to 0.99 times the sum over the same calls." in said
    assert waterfall.shape_of(roofline.asked_shape()) == SHAPE
    assert waterfall.shape_of(roofline.asked_shape("124M", "4", "1023")) == SHAPE.replace("T=1024", "T=1023")


def test_nothing_is_cut_where_a_whole_pass_takes_longer_than_the_sum(with_times):
    passes = {"forward_b4": whole("12", 311.2), "timings": with_loss("12", 542.7) | with_loss("17", 99.8)}
    with_times(timed(read(card="H100-SXM"), 1.0, leave_out=("softmax",), **passes))
    assert_nothing_is_cut_or_too_small(waterfall.read(ROOT))


def test_a_call_without_its_own_time_has_that_of_timings(with_times):
    shapes = [{"shape": "N=3145728", "median_ms": 5.0}]
    slow = {"lesson06/residual": {"status": "failed", "result": {"verdict": "SLOW", "shapes": shapes}}}
    with_times(timed(read(card="H100-SXM"), 1.0, leave_out=("residual",), timings=slow))
    by_step = {
        one.step.number: bar.measured_s for one in waterfall.read(ROOT).passes for bar in one.bars
        if bar.call.op == "residual"
    }  # fmt: skip
    assert (by_step["05"], by_step["06"], by_step["11"]) == (None, 5e-3, 5e-3)


def test_a_share_is_rounded_down_so_that_only_a_whole_one_is_100():
    bars = (bar(measured_s=1.0), bar("gelu N=9", seconds=0.001))
    one = Pass(Step("05_step", {}, {}, {}), bars, False)
    assert waterfall.share_text(one) == "99%"
    assert waterfall.share_text(Pass(one.step, bars[:1], False)) == "100%"


def test_the_course_says_how_far_estimates_of_its_own_kernels_are_off(with_times):
    made = replace(read(card="T4"), own_band="of its own times, 1 of 2 do")
    assert "; of its own times, 1 of 2 do ([which](reference/predictions/README.md))." in waterfall.section(made)


def test_another_cards_times_are_shown_where_it_is_named(with_times):
    counted = read(card="H100-SXM")
    with_times(timed(counted, 1.0), timed(counted, 2.0, "NVIDIA Test 2"))
    assert waterfall.read(ROOT).gpu == "NVIDIA Test 1"
    assert waterfall.read(ROOT, gpu="nvidia-test-2").passes[0].seconds == pytest.approx(250e-3)
    with pytest.raises(ToolError, match=r"GPU=h200: no times of it are recorded; nvidia-test-1, nvidia-test-2$"):
        waterfall.read(ROOT, gpu="h200")
    with pytest.raises(ToolError, match=r"GPU=….* CARD=….*: name one of them"):
        waterfall.read(ROOT, gpu="nvidia-test-2", card="T4")


def test_a_card_that_nothing_is_recorded_of_says_what_would(with_times):
    with_times()
    with pytest.raises(ToolError, match=r"GPU=nvidia-h200: .* make gpu-report PART=waterfall measures them"):
        waterfall.read(ROOT, gpu="nvidia-h200")


def test_the_report_times_every_call_that_a_bar_is_made_of():
    made = read()
    programs = SimpleNamespace(dry=False, folder="build/gpu")
    lessons = [Lesson(one.step.lesson, "device") for one in made.passes]
    setting = SimpleNamespace(root=ROOT, programs=programs, lessons=(lessons, {"lesson31": "needs sm_90a"}))
    work = parts.waterfall(setting)
    names = [counts.item_name(one.step.files[bar.call.op], bar.call) for one in made.passes for bar in one.bars]
    without = [name for name in (item.name for item in work.items) if name not in names]
    assert [item.name for item in work.items if item.name not in without] == list(dict.fromkeys(names))
    assert [name.partition(": ")[2] for name in without] == ["layernorm B=4 T=1024 C=768, L2 hot"]
    assert all((ROOT / path).exists() for item in work.items for path in item.made_of if "solutions" in path.parts)
    setting.lessons = (lessons[:1], {})
    of_first = {item.name.removesuffix(parts.HOT) for item in parts.waterfall(setting).items}
    assert len(of_first) == len(made.passes[0].bars)


def test_a_call_is_timed_as_it_is_made(tmp_path):
    if not Path("build/dry/check/lesson06").exists():
        pytest.skip("no build/dry/check/lesson06; make test builds it")
    timed = counts.time_at("build/dry", Call.of("gelu N=640"), ("06_coalescing/gelu",), tmp_path)
    assert 0 < timed["p10_ms"] <= timed["median_ms"] <= timed["p90_ms"]


def test_what_is_not_built_is_named(tmp_path):
    with pytest.raises(ToolError, match="99_none is not built in build: make waterfall WRITE=1"):
        counts.count(Call.of("gelu N=640"), ("99_none/gelu",), tmp_path)


# ---- pages -----------------------------------------------------------------------------------------------------------


def test_the_readme_and_the_pages_show_it_up_to_their_step():
    made = read()
    found = waterfall.pages(ROOT, made)
    assert {path for path, blocks in found.items() if "waterfall" in blocks} == {
        Path("README.md"),
        *(Path("lessons", one.step.lesson, "README.md") for one in made.passes),
    }
    for path, blocks in found.items():
        text = (ROOT / path).read_text()
        assert waterfall.written(ROOT, path, blocks) == text, f"{path}: make waterfall WRITE=1"
        if "waterfall" in blocks:
            assert (made.label if path.name == path.as_posix() else made.up_to(path.parent.name).label) in text


def test_a_pages_block_is_short_and_ends_with_its_step():
    made = read()
    for one in made.passes:
        shown = made.up_to(one.step.lesson)
        lines, notes = waterfall.block(shown).splitlines(), waterfall.notes(shown)
        assert len(lines) <= 15 + len(notes)
        assert lines[-2 - len(notes)].startswith(one.name)
        assert lines[-1 - len(notes) : -1] == notes
        assert any(line.startswith("05 naive_forward") for line in lines)
        assert max(map(len, lines)) <= 80


def test_lesson_12_says_in_words_what_its_bars_are_too_coarse_for():
    before, after = (next(one for one in read().passes if one.step.number == number) for number in ("11", "12"))
    m, r = ([waterfall.milliseconds(one.by_group[group]) for one in (before, after)] for group in ("matmul", "rows"))
    page = (ROOT / "lessons" / after.step.lesson / "README.md").read_text()
    assert f"M falls from {m[0]} to {m[1]} ms" in page
    assert f"R falls from {r[0]} to {r[1]} ms, an estimate" in page
    sums = [waterfall.milliseconds(one.seconds) for one in (before, after)]
    assert f"The sum falls from {sums[0]} to {sums[1]} ms, by less than a letter" in page


def test_the_committed_picture_is_what_is_drawn(tmp_path):
    made = read()
    waterfall.write(waterfall.plot(made), tmp_path, "waterfall", ("svg",))
    found, committed = (
        [text.text for text in ElementTree.parse(path).iter(f"{SVG}text")]
        for path in (tmp_path / "waterfall.svg", ROOT / waterfall.PICTURE)
    )
    assert found == committed
    assert made.label in committed


# ---- the command -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--config", "124m"], "CONFIG=124m: it is one of small, 124M"),
        (["-B", "0"], "B=0: it is a whole number from 1"),
        (["-T", "x"], "T=x: it is a whole number from 1"),
        (["-T", "1025"], "T=1025: GPT-2 124M has 1024 positions; T is at most that"),
        (["--card", "H300"], "CARD=H300: it is one of H100-SXM, "),
        (["--gpu", "h300"], "GPU=h300: no times of it are recorded"),
        (["--step", "04"], "STEP=04: no step of the device's; there are 05, 06, "),
        (["--step", "x"], "STEP=x: no step"),
        (["--write", "-B", "1"], "WRITE=1 goes with what the pages show: leave CONFIG, B, T, GPU, CARD and STEP out"),
    ],
)
def test_a_wrong_option_is_one_line(arguments, said, capsys, tmp_path):
    read()
    assert waterfall.main([*arguments, "--out", str(tmp_path)]) == 2
    out, err = capsys.readouterr()
    assert err.removeprefix(gpu_tools.CLEAR).startswith(f"waterfall: {said}")
    assert err.count("\n") == 1
    assert not out
    assert not list(tmp_path.iterdir())


def test_the_command_writes_both_pictures_and_lists_the_step(capsys, tmp_path):
    read()
    assert waterfall.main(["--step", "8", "--card", "T4", "--out", str(tmp_path)]) == 0
    out = capsys.readouterr().out
    assert re.search(r"^ 12 matmul fc +12 +[0-9.]+ +[0-9.]+  L1$", out, re.MULTILINE)
    assert "step 08, all calls" in out
    assert (tmp_path / "waterfall.png").read_bytes().startswith(b"\x89PNG")
    assert (tmp_path / "waterfall.svg").exists()
