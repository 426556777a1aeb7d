# SPDX-License-Identifier: MIT
"""The roofline: what an op needs, the roof that it is held against, the table and the two files."""

import json
import re
import struct
import xml.etree.ElementTree as ElementTree
from collections import Counter
from pathlib import Path

import pytest

from reference.gpu import counts, lesson_shapes
from reference.gpu import tools as gpu_tools
from reference.gpu.cards import read_cards
from reference.gpu.costs import PROGRAM
from reference.gpu.counts import Call
from reference.gpu.lesson_shapes import device_lessons
from reference.gpu.tools import Card, ToolError, digits
from reference.plots import roofline
from reference.plots.roofline import Roof, duration, forward_ops, other_ways, shapes

ROOT = Path(__file__).parents[2]
SVG = "{http://www.w3.org/2000/svg}"
GPU = {"name": "NVIDIA Test 1", "copy_bytes_per_s": 2e12, "fp32_fma_flop_per_s": 4e13, "tf32_cublas_flop_per_s": 1e14}
CARDS = ("H100-SXM", "H200", "A100-80GB", "RTX-4090", "RTX-3060", "T4")


@pytest.fixture(autouse=True)
def no_gpu(monkeypatch, tmp_path):
    def find(tool):
        raise ToolError(f"{tool} is not there")

    monkeypatch.setattr(gpu_tools, "find", find)
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def card(monkeypatch):
    monkeypatch.setattr(gpu_tools, "read_card", lambda: Card(GPU["name"], "580"))


def ops_of(config, B, T):
    for program in (PROGRAM, counts.CALLS):
        if not (ROOT / program).exists():
            pytest.skip(f"no {program}; make roofline builds it")
    return {op.name: op for op in forward_ops(shapes()[config], B, T)}


def save(path, data):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(data))


# ---- the ops ---------------------------------------------------------------------------------------------------------


def test_the_matmul_of_lesson_05_is_19_3_gflop_in_72_mb():
    fc = ops_of("124M", 4, 1024)["matmul fc"]
    assert fc.flop == 2 * 4096 * 768 * 3072 == 19_327_352_832
    assert fc.bytes == 4 * (4096 * 768 + 3072 * 768 + 3072 + 4096 * 3072)
    assert fc.intensity == pytest.approx(19_327_352_832 / 72_364_032)


def test_the_logits_have_no_bias_and_no_padding():
    logits = ops_of("124M", 1, 8)["matmul logits"]
    assert logits.flop == 2 * 8 * 768 * 50257
    assert logits.bytes == 4 * (8 * 768 + 50257 * 768 + 8 * 50257)


def test_a_forward_pass_calls_what_gpt2_has():
    calls = {name: op.calls for name, op in ops_of("124M", 4, 1024).items()}
    assert sum(count for name, count in calls.items() if name.startswith("matmul")) == 4 * 12 + 1
    assert (calls["layernorm"], calls["residual"], calls["attention"], calls["gelu"]) == (25, 24, 12, 12)


def test_the_rows_are_what_the_hosts_forward_calls(monkeypatch):
    ops_of("small", 1, 8)
    asked = []

    def calls(root, lesson, *pass_):
        asked.append((lesson, *pass_))
        words = ("attention B=1 T=8 C=4 NH=2", "matmul N=8 C=6 OC=18 -bias", "gelu N=9", "gelu N=7", "gelu N=9")
        return Counter(map(Call.of, words))

    monkeypatch.setattr(counts, "forward_calls", calls)
    rows = forward_ops(shapes()["small"], 1, 8)
    assert asked == [("02_forward", shapes()["small"].config, 1, 8)]
    assert [(op.name, op.calls, op.bytes) for op in rows] == [
        ("attention", 1, 4 * (4 * 8 * 4 + 2 * 8)),
        ("matmul logits", 1, 4 * (8 * 6 + 18 * 6 + 8 * 18)),
        ("gelu", 2, 72),
        ("gelu", 1, 56),
    ]


def test_an_encoder_reads_rows_of_the_models_vocabulary():
    """Its call does not name the vocabulary; build/tools/ops would take GPT-2's."""
    small = shapes()["small"]
    drawn = small.Vp * (1 - (1 - 1 / small.Vp) ** 1024)  # rows named
    exact = 4 * (1024 + 256 * small.C + drawn * small.C + 1024 * small.C)
    assert ops_of("small", 4, 256)["encoder"].bytes == pytest.approx(exact, abs=4)


def test_attention_moves_fifteen_times_the_bytes_where_its_scores_go_through_memory():
    ops = ops_of("124M", 4, 1024)
    fused = ops["attention"]
    by_scores, joined = other_ways([*ops.values()])
    rows, scores = 4 * 1024 * 768, 4 * 12 * 1024 * 1024
    assert fused.bytes == 4 * (4 * rows + 4 * 12 * 1024)  # the log-sum-exps
    # Scores written and their lower half read; att written and read.
    assert by_scores.bytes == fused.bytes + 4 * (scores + 4 * 12 * 1024 * 1025 // 2 + 2 * scores)
    assert by_scores.flop == fused.flop
    assert by_scores.bytes / fused.bytes == pytest.approx(15, rel=0.01)
    roof = roofline.datasheet("H100-SXM")
    assert (roof.bound(fused), roof.bound(by_scores)) == ("arithmetic", "memory")
    # Two tensors read and two written, where residual and layernorm one after the other move five.
    assert (joined.calls, joined.bytes) == (24, 4 * (4 * rows + 2 * 4096 + 2 * 768))


def test_every_op_of_the_device_lessons_but_parts_and_wholes_is_drawn():
    kinds = {name.split()[0] for name in ops_of("small", 1, 1)}
    taught = {op for lesson in device_lessons(ROOT, ROOT / lesson_shapes.PROGRAM) for op in lesson.ops}
    assert taught & {"residual", "matmul", "attention"} <= kinds <= taught


def test_the_small_model_is_the_committed_one():
    small = json.loads((ROOT / "reference/model/small/config.json").read_text())
    shape = shapes()["small"]
    assert (shape.C, shape.L, shape.V) == (small["n_embd"], small["n_layer"], small["vocab_size"])
    assert shapes()["124M"].Vp == 50304


# ---- the roof --------------------------------------------------------------------------------------------------------


def test_memory_bounds_below_the_ridge_and_arithmetic_above_it():
    roof = Roof("card", "measured", "file", bytes_per_s=1e12, flop_per_s=1e13)
    low, high = roofline.Op("low", 1, 9, 1), roofline.Op("high", 1, 11, 1)
    assert (roof.ridge, roof.bound(low), roof.bound(high)) == (10, "memory", "arithmetic")
    assert (roof.rate(9), roof.rate(11)) == (9e12, 1e13)
    assert roof.seconds(low) == pytest.approx(1e-12)
    assert roof.seconds(high) == pytest.approx(1.1e-12)


def test_the_h100s_roofs_meet_where_lesson_06_says():
    roof = roofline.datasheet("H100-SXM")
    assert (roof.bytes_per_s, roof.flop_per_s) == (3350e9, 67e12)
    assert roof.ridge == 20


@pytest.mark.parametrize("name", CARDS)
def test_a_cards_row_is_whole_and_names_its_source(name):
    roof = roofline.datasheet(name)
    assert roof.kind == "datasheet"
    assert roof.source.startswith("NVIDIA ")
    assert roof.bytes_per_s < roof.flop_per_s <= min(roof.tensor.values(), default=roof.flop_per_s)


def test_a_precision_that_is_no_faster_than_fp32_shares_its_line():
    assert list(roofline.ceilings(roofline.datasheet("T4")).values()) == ["fp32"]
    assert list(roofline.ceilings(roofline.datasheet("RTX-4090")).values()) == ["fp32 and TF32", "bf16 tensor cores"]


def test_what_calibrate_measured_here_is_the_roof(tmp_path):
    save(tmp_path / "results/roof.json", {"cpu": {}, "gpu": GPU})
    roof = roofline.measured_here(tmp_path)
    assert (roof.name, roof.kind, roof.source) == ("NVIDIA Test 1", "measured", "results/roof.json")
    assert (roof.bytes_per_s, roof.flop_per_s, roof.tensor) == (2e12, 4e13, {"TF32": 1e14})


@pytest.mark.usefixtures("card")
def test_a_report_of_this_card_is_the_roof_where_calibrate_did_not_run(tmp_path):
    report = {"parts": {"calibrate": {"items": {"roof": {"status": "ok", "result": GPU}}}}}
    path = tmp_path / "reference/timings/nvidia-test-1.json"
    save(path, report)
    save(tmp_path / "results/roof.json", {"gpu": GPU | {"name": "another", "copy_bytes_per_s": 1}})
    assert roofline.measured_here(tmp_path).source == "reference/timings/nvidia-test-1.json"
    save(path, report | {"rehearsal": True})
    assert roofline.measured_here(tmp_path) is None


@pytest.mark.parametrize("gpu", [None, {}, GPU | {"copy_bytes_per_s": None}, GPU | {"fp32_fma_flop_per_s": None}])
def test_a_file_without_both_rates_is_no_roof(tmp_path, gpu):
    save(tmp_path / "results/roof.json", {"gpu": gpu})
    assert roofline.measured_here(tmp_path) is None


def test_a_broken_roof_file_is_named(tmp_path, capsys):
    path = tmp_path / "results/roof.json"
    path.parent.mkdir()
    path.write_text("{")
    assert roofline.main([]) == 2
    assert "results/roof.json cannot be read" in capsys.readouterr().err


# ---- the command -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--card", "H300"], f"CARD=H300: it is one of {', '.join(read_cards())}"),
        (["--config", "1558M"], "CONFIG=1558M: it is one of small, 124M"),
        (["-B", "0"], "B=0: it is a whole number from 1"),
        (["-T", "x"], "T=x: it is a whole number from 1"),
        (["--config", "small", "-T", "257"], "T=257: the small model has 256 positions; T is at most that"),
    ],
)
def test_what_is_unknown_is_one_line_and_exit_status_2(capsys, arguments, said):
    assert roofline.main(arguments) == 2
    assert capsys.readouterr().err == f"roofline: {said}\n"


def test_without_a_gpu_the_h100s_datasheet_is_taken_and_said(tmp_path, capsys):
    assert roofline.main(["--out", str(tmp_path)]) == 0
    out = capsys.readouterr().out
    assert "no measured GPU on file" in out
    assert "the roof of H100 SXM, datasheet" in out
    assert re.search(r"^matmul fc +12 +19,300 +72.4 +267  arithmetic +288 µs +[0-9]{3} µs$", out, re.MULTILINE)
    assert "\nkernel: what the newest one for fp32 takes at least, counted and not measured\n" in out
    assert "\nin the place of some of them:\nattention by T×T " in out
    assert max(len(line) for line in out.splitlines() if str(tmp_path) not in line) <= 80


def test_a_named_card_wins_over_a_measured_one(tmp_path, capsys):
    save(tmp_path / "results/roof.json", {"gpu": GPU})
    assert roofline.main(["--config", "small"]) == 0
    assert "the roof of NVIDIA Test 1, measured\n(results/roof.json)" in capsys.readouterr().out
    assert roofline.main(["--config", "small", "--card", "T4"]) == 0
    assert "the roof of T4, datasheet" in capsys.readouterr().out


def test_the_svg_names_every_op_and_the_datasheet(tmp_path):
    assert roofline.main(["--card", "H200", "--out", str(tmp_path)]) == 0
    root = ElementTree.parse(tmp_path / "roofline.svg").getroot()
    texts = [text.text for text in root.iter(f"{SVG}text")]
    assert ops_of("124M", 1, 1).keys() | {"attention by T×T", "residual_layernorm"} <= set(texts)
    assert "H200 SXM (datasheet): NVIDIA H200 Tensor Core GPU Datasheet, 2023" in texts
    assert root.get("viewBox") == "0 0 720 540"


def test_the_png_is_1440_by_1080(tmp_path):
    assert roofline.main(["--out", str(tmp_path)]) == 0
    data = (tmp_path / "roofline.png").read_bytes()
    assert data[:8] == b"\x89PNG\r\n\x1a\n"
    assert struct.unpack(">II", data[16:24]) == (1440, 1080)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["roofline.png", "roofline.svg"]


def test_drawing_twice_gives_the_same_svg(tmp_path):
    for name in ("a", "b"):
        assert roofline.main(["--card", "T4", "--out", str(tmp_path / name)]) == 0
    assert (tmp_path / "a/roofline.svg").read_bytes() == (tmp_path / "b/roofline.svg").read_bytes()


@pytest.mark.parametrize(
    ("config", "B", "T"), [("124M", 4, 1024), ("124M", 64, 1024), ("small", 4, 256), ("small", 1, 1)]
)
@pytest.mark.parametrize("name", CARDS)
def test_no_text_covers_another_or_leaves_the_picture(name, config, B, T):
    chosen = roofline.choose(config, str(B), str(T), name, ROOT)
    ops = chosen.ops + chosen.others
    figure = roofline.plot(chosen)
    figure.canvas.draw()
    (ax,) = figure.axes
    texts = [*ax.texts, *ax.get_legend().get_texts(), ax.title, ax.xaxis.label, ax.yaxis.label]
    texts += [ax._left_title] if ax._left_title.get_text() else []
    boxes = {text: text.get_window_extent() for text in texts if text.get_text()}
    assert len(boxes) >= len(ops) + 5
    for text, box in boxes.items():
        assert text.get_fontsize() >= 13
        assert min(box.x0, box.y0) >= 0, text
        assert (box.x1 <= 720, box.y1 <= 540) == (True, True), text
        for other, second in boxes.items():
            assert other is text or not box.padded(-1).overlaps(second.padded(-1)), (text, other)


# ---- numbers ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("value", "text"),
    [(0, "0"), (1 / 12, "0.0833"), (20.0, "20"), (1.126, "1.13"), (315_812, "316,000"), (1000, "1,000")],
)
def test_numbers_have_three_significant_digits_at_most(value, text):
    assert digits(value) == text


@pytest.mark.parametrize(
    ("seconds", "text"), [(2, "2 s"), (4.7e-3, "4.7 ms"), (2.88e-4, "288 µs"), (1.47e-8, "14.7 ns")]
)
def test_a_time_has_the_unit_that_fits(seconds, text):
    assert duration(seconds) == text
