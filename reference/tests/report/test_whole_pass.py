# SPDX-License-Identifier: MIT
"""The README's block of the whole forward pass beside PyTorch's."""

import json
from pathlib import Path

import pytest

from reference.gpu import beside_pytorch, reported, tools
from reference.report import whole_pass

ROOT = Path(__file__).parents[3]
SHAPE = "B=4 T=1024 C=768 NH=12 L=12"


def item(way, theirs, ours, ratio):
    of_task = {"pytorch": {"median_ms": theirs}, "ours": {"median_ms": ours}, "ours_over_pytorch": {"median": ratio}}
    result = {"step": "17", "shape": SHAPE, "precision": "tf32", "way": way, "forward": of_task, "predict": of_task}
    record = {"status": "ok", "run": "first", "measured_at": "2026-01-02T03:04:05Z", "result": result}
    return beside_pytorch.item_name("17", SHAPE, way), record


@pytest.fixture
def report():
    """A report in which one of PyTorch's ways is faster than step 17."""
    ways = (("eager", 9.5, 7.2, 0.76), ("compile", 7.8, 7.2, 0.92), ("compile, one graph", 7.6, 7.2, 0.95))
    ways += (("compile, FlexAttention", 5.6, 7.2, 1.29),)
    bf16 = {"of": "forward", "shape": SHAPE, "precision": "bf16", "mode": "compile", "median_ms": 2.6}
    parts = {
        "forward_b4": {"items": dict(item(*way) for way in ways)},
        "baselines": {"items": {"a": {"status": "ok", "result": bf16}}},
    }
    parts["forward_b4"]["not_done_yet"] = [beside_pytorch.item_name("17", SHAPE, "compile max-autotune")]
    run = {"driver": "580", "cuda": "13.0", "commit": "abc", "versions": {"torch": "2.11.0"}}
    data = {"gpu": "NVIDIA Test 1", "rehearsal": False, "parts": parts, "runs": {"first": run}}
    return data | {"whole_forward": beside_pytorch.whole_rows(data)}


def test_each_of_pytorchs_ways_has_a_row_and_the_fastest_is_first(report):
    assert whole_pass.section(ROOT, report).splitlines()[2:] == [
        "| PyTorch's way | its ms | ours, ms | ours over PyTorch's |",
        "|---|--:|--:|--:|",
        "| compile, FlexAttention | 5.60 | 7.20 | 1.29 |",
        "| compile, one graph | 7.60 | 7.20 | 0.95 |",
        "| compile | 7.80 | 7.20 | 0.92 |",
        "| eager | 9.50 | 7.20 | 0.76 |",
        "| compile in bf16 | 2.60 | not the same precision | |",
        "",
        "Not measured: compile max-autotune.",
    ]


def test_a_way_that_is_faster_than_ours_is_said_to_be(report):
    said = whole_pass.section(ROOT, report).splitlines()[0]
    assert said.startswith(
        "Step 17's pass takes 0.76 times as long as PyTorch's eager pass, 0.92 to 0.95 times as long as "
        "`torch.compile`'s, and 1.29 times as long as its fastest way, compile with FlexAttention: **that way is "
        "faster than ours**. GPT-2 124M, B=4 T=1024, tokens to the logits of all rows, TF32,"
    )
    assert said.endswith("on one NVIDIA Test 1 (driver 580, CUDA 13.0, PyTorch 2.11.0).")


def test_ours_is_said_to_be_the_fastest_only_beside_all_ways(report):
    ways = report["whole_forward"][0]["ways"]
    del ways["compile, FlexAttention"]
    row = report["whole_forward"][0] | {"best": beside_pytorch.best_of(ways)}
    assert whole_pass.verdict(row) == (
        "Step 17's pass takes 0.76 times as long as PyTorch's eager pass, 0.92 times as long as `torch.compile`'s, "
        "and 0.95 times as long as its fastest way, compile with one graph: **ours is faster than all of them**."
    )


def test_a_report_without_a_whole_pass_has_no_block(report, tmp_path):
    assert whole_pass.section(ROOT, report | {"whole_forward": []}) == ""
    (tmp_path / tools.TIMINGS).mkdir(parents=True)
    (tmp_path / "README.md").write_text("<!-- whole forward -->\nold\n<!-- end whole forward -->\n")
    whole_pass.write_page(tmp_path)
    assert (tmp_path / "README.md").read_text() == "<!-- whole forward -->\n<!-- end whole forward -->\n"
    (tmp_path / tools.TIMINGS / "nvidia-test-1.json").write_text(json.dumps(report))
    whole_pass.write_page(tmp_path)
    assert "| eager | 9.50 |" in (tmp_path / "README.md").read_text()


def test_the_committed_readme_is_as_the_reports_say():
    assert whole_pass.page(ROOT) == (ROOT / whole_pass.PAGE).read_text(), "make report-pages writes it"


def test_what_has_changed_since_is_said(report, tmp_path):
    forms = tmp_path / reported.FORMS
    forms.parent.mkdir(parents=True)
    forms.write_text('[[since]]\ncommit = "abc"\nsteps = ["17"]\nanother = false\nwhat = "a kernel is faster"\n')
    last = whole_pass.section(tmp_path, report).splitlines()[-1]
    assert last == "Timed at commit abc; since then a kernel is faster."
    forms.write_text('[[since]]\ncommit = "abc"\nsteps = ["16"]\nanother = false\nwhat = "a kernel is faster"\n')
    assert "since then" not in whole_pass.section(tmp_path, report)
