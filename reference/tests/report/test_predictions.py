# SPDX-License-Identifier: MIT
"""Registered predictions: no file changes, each has the form that a report is compared with, and both columns show."""

import hashlib
import json
import re
import subprocess
from pathlib import Path

import pytest

from reference.gpu import counts, estimates, predicted, tools
from reference.gpu.cards import reported_card
from reference.gpu.predicted import Comparison, Registration, Row, compared, registrations
from reference.gpu.tools import ToolError
from reference.report import predictions
from reference.report.predictions import difference, register, table

ROOT = Path(__file__).parents[3]
FILES = sorted((ROOT / predictions.FOLDER).glob("*.json"))
SECTIONS = ("ops", "lessons", "ladder", "steps", "logits")


# ---- what is registered ----------------------------------------------------------------------------------------------


def test_each_file_is_as_it_was_registered():
    digests = {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in FILES}
    assert digests, "nothing is registered"
    said = predictions.registered_files(ROOT)
    for name in said.keys() | digests.keys():
        assert said.get(name) == digests.get(name), f"{name} was edited, added or removed by hand: git restore it"
    dates = [name[:10] for name in said]
    assert dates == sorted(dates)


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_a_file_has_a_positive_number_for_each_card(path):
    data = json.loads(path.read_text())
    assert list(data) == ["format", "registered", "commit", "estimator", "cards", *SECTIONS]
    assert data["format"] == predictions.FORMAT
    assert path.stem == f"{data['registered'][:10]}-{data['commit'][:7]}"
    assert re.fullmatch(r"[0-9a-f]{40}", data["commit"])
    assert re.fullmatch(r"\d+% of \d+ published times on \d+ cards differ .*", data["estimator"]["band"])
    assert len(set(data["cards"])) == len(data["cards"])
    for section in SECTIONS:
        assert data[section], section
        for name, row in data[section].items():
            assert len(row) == len(data["cards"]), name
            assert all(ms > 0 and ms == float(f"{ms:.4g}") for ms in row), name
    assert data["steps"].keys() == data["logits"].keys()
    for step, row in data["steps"].items():
        assert all(logits < ms for logits, ms in zip(data["logits"][step], row, strict=True)), step
    assert path.stat().st_size < 300_000


def test_a_registration_of_todays_counts_covers_what_a_report_measures(monkeypatch):
    monkeypatch.chdir(ROOT)
    newest = json.loads((ROOT / predictions.FOLDER / list(predictions.registered_files(ROOT))[-1]).read_text())
    today = hashlib.sha256((ROOT / estimates.RECORDED).read_bytes()).hexdigest()
    if newest["estimator"]["estimates_sha256"] != today:
        pytest.skip("kernels have changed since the newest registration")
    if not (ROOT / counts.CALLS).exists():
        pytest.skip(f"no {counts.CALLS}; make waterfall builds it")
    for section, of in predictions.items(ROOT).items():
        names = of.keys()
        if section == "lessons":  # names without their null parameters, which registrations before December lack
            assert any(name.endswith(" -bias") for name in names)
            names = {name.partition(" -")[0] for name in names}
        assert names == {name.partition(" -")[0] if section == "lessons" else name for name in newest[section]}, section


def test_the_first_registration_is_found_for_items_as_a_report_names_them():
    first = registrations(ROOT)[0]
    card = reported_card("NVIDIA H100 80GB HBM3")
    assert first.ms(card, "ops", "06_coalescing/gelu: gelu N=12582912") == 0.03266
    assert first.ms(card, "lessons", "lesson04/gelu N=201326592") == 0.5226
    assert first.ms(card, "ladder", "lesson07/N=4096 C=768 OC=768") == 0.4944
    assert first.ms(card, "logits", "17") < first.ms(card, "steps", "17")
    assert first.ms("no card", "steps", "17") is None


# ---- registering -----------------------------------------------------------------------------------------------------


def git(root, *words):
    who = ["-c", "user.name=a", "-c", "user.email=a@b"]
    done = subprocess.run(["git", "-C", str(root), *who, *words], capture_output=True, text=True, check=True)
    return done.stdout.strip()


@pytest.fixture
def course(monkeypatch, tmp_path):
    """A checkout with one solution, of which one row is estimated."""
    rows = {section: {"a": [1.5]} for section in SECTIONS}
    monkeypatch.setattr(predictions, "estimated_today", lambda root: ({"estimator": {}, "cards": ["T4"]}, rows))
    (tmp_path / "solutions").mkdir()
    (tmp_path / "solutions/gelu.cu").write_text("// gelu\n")
    git(tmp_path, "init", "--quiet")
    git(tmp_path, "add", ".")
    git(tmp_path, "commit", "--quiet", "-m", "gelu")
    return tmp_path


def test_a_registration_is_named_by_date_and_commit(course):
    commit = git(course, "rev-parse", "HEAD")
    assert register(course, "2026-11-26") == predictions.FOLDER / f"2026-11-26-{commit[:7]}.json"
    (found,) = registrations(course)
    assert (found.date, found.cards, found.ms("T4", "ops", "a")) == ("2026-11-26", ("T4",), 1.5)
    digest = hashlib.sha256((course / predictions.FOLDER / f"{found.name}.json").read_bytes()).hexdigest()
    assert (course / predictions.HASHES).read_text() == f"{digest}  {found.name}.json\n"


def test_a_registration_is_never_replaced(course):
    path = register(course, "2026-11-26")
    before = (course / path).read_bytes(), (course / predictions.HASHES).read_bytes()
    with pytest.raises(ToolError, match=r"\.json is there, and a registration is never replaced"):
        register(course, "2026-11-26")
    assert before == ((course / path).read_bytes(), (course / predictions.HASHES).read_bytes())
    register(course, "2026-11-27")
    assert [found.date for found in registrations(course)] == ["2026-11-26", "2026-11-27"]


def test_a_file_that_is_not_committed_is_named(course):
    (course / "solutions/gelu.cu").write_text("// faster\n")
    with pytest.raises(ToolError, match=r"files differ from it: commit solutions/gelu.cu first"):
        register(course, "2026-11-26")
    assert not (course / predictions.FOLDER).exists()


def test_a_commit_that_changes_no_estimate_gives_no_other_name(course):
    register(course, "2026-11-26")
    git(course, "add", ".")
    git(course, "commit", "--quiet", "-m", "register")
    with pytest.raises(ToolError, match="never replaced"):
        register(course, "2026-11-26")


def test_a_file_that_is_no_registration_is_named(course):
    (course / register(course, "2026-11-26")).write_text("{}")
    with pytest.raises(ToolError, match=r"is no registration \('ops'\): git restore reference/predictions/"):
        registrations(course)


def registration(date, cards=("T4", "H200"), **rows):
    empty = {section: {} for section in SECTIONS}
    return Registration(f"{date}-abcdef0", date, cards, empty | rows)


def test_the_command_registers_or_says_in_one_line_why_not(course, monkeypatch, capfd):
    monkeypatch.chdir(course)
    assert predictions.main([]) == 1
    assert capfd.readouterr().err == "predictions: nothing is registered yet: make predictions WRITE=1\n"
    assert predictions.main(["--write"]) == 0
    name = registrations(course)[0].name
    assert capfd.readouterr().out.startswith(f"written to reference/predictions/{name}.json, its hash to ")
    assert predictions.main(["--write"]) == 1
    assert re.fullmatch(r"predictions: .* never replaced\n", capfd.readouterr().err)
    assert predictions.main([]) == 0
    assert capfd.readouterr().out == f"0 of 5 rows differ from {name}\n"


def test_the_difference_names_the_row_that_changed_most():
    old = registration("2026-11-26", ops={"a": [1, 2], "b": [1, 2], "c": [1, 2]}, ladder={"gone": [1, 1]})
    cards = ["H200", "T4", "RTX-9090"]
    new = {"ops": {"a": [2, 1, 7], "b": [2, 0.5, 7], "c": [3, 1.1, 7], "d": [1, 1, 7]}}
    assert difference(old, cards, new) == (
        "2 of 4 rows differ from 2026-11-26-abcdef0; most b, 0.50 times; 1 new; 1 gone"
    )
    assert difference(old, ["T4"], {"ops": {"a": [1]}}) == "0 of 1 row differ from 2026-11-26-abcdef0; 3 gone"


# ---- a report --------------------------------------------------------------------------------------------------------

ATTENTION = (
    "11_tf32/attention 15_online_softmax/causal_softmax: attention B=4 T=1024 C=768 NH=12",
    "16_fused_attention/attention: attention B=4 T=1024 C=768 NH=12",
)
MATMUL = "09_warp_tiled_matmul/matmul: matmul N=4096 C=768 OC=768 out_stride=768"


def item(status="ok", date="2026-12-01", **result):
    return {"status": status, "measured_at": f"{date}T10:00:00Z", "result": result}


def report(gpu="NVIDIA H200", rehearsal=False, **parts):
    parts = {part: {"items": items} for part, items in parts.items()}
    return {"format": 2, "gpu": gpu, "rehearsal": rehearsal, "parts": parts}


@pytest.fixture
def measured():
    shape = {"shape": "N=4096 C=768 OC=3072", "median_ms": 0.5}
    passes = {"forward": {"ours": {"median_ms": 8.0}, "pytorch": {"median_ms": 9.0}}, "step": "17"}
    return report(
        waterfall={
            ATTENTION[0]: item(median_ms=0.6),
            ATTENTION[1]: item(median_ms=0.1),
            MATMUL: item("failed", median_ms=9.9),
        },
        timings={"lesson09/matmul": item(shapes=[shape, {**shape, "shape": "N=1 C=1 OC=1"}])},
        ladder={"lesson09/N=4096 C=768 OC=768": item(median_ms=0.15)},
        forward_b4={
            "B=4 T=1024 C=768 NH=12 L=12 eager": item(**passes),
            "B=4 T=1024 C=768 NH=12 L=12 eager, one graph": item(**passes),
        },
    )


FIRST = registration(
    "2026-11-26",
    ops={ATTENTION[0]: [3, 0.5], ATTENTION[1]: [1, 0.2], MATMUL: [1, 0.2]},
    lessons={"lesson09/matmul N=4096 C=768 OC=3072": [2, 0.4]},
    logits={"17": [20, 4.0]},
)
SECOND = registration(
    "2026-12-01",
    ops={ATTENTION[0]: [3, 0.6]},
    ladder={"lesson09/N=4096 C=768 OC=768": [1, 0.15]},
    logits={"17": [20, 8.0]},
)


def test_each_time_is_beside_its_oldest_prediction_and_the_worst_comes_first(measured):
    first, second = FIRST.name, SECOND.name
    rows = compared(measured, [FIRST, SECOND]).rows
    assert sorted(rows[:2], key=lambda row: row.part) == [
        Row("forward_b4", "whole pass", "17 whole pass without loss", 4.0, 8.0, first),
        Row("waterfall", "attention", "16 attention B=4 T=1024 C=768 NH=12", 0.2, 0.1, first),
    ]
    assert rows[2:] == [
        Row("timings", "matmul", "09 matmul N=4096 C=768 OC=3072", 0.4, 0.5, first),
        Row("waterfall", "attention", "11+15 attention B=4 T=1024 C=768 NH=12", 0.5, 0.6, first),
        Row("ladder", "matmul", "09 matmul N=4096 C=768 OC=768", 0.15, 0.15, second),
    ]
    assert [round(row.ratio, 2) for row in rows[2:]] == [1.25, 1.2, 1.0]


def test_a_registration_of_the_same_day_counts_from_its_moment_on():
    made = report(ladder={"lesson09/N=1 C=1 OC=1": item(median_ms=2.0) | {"measured_at": "2026-12-01T12:00:00Z"}})
    predicted = {"ladder": {"lesson09/N=1 C=1 OC=1": [1, 1.5]}}
    for moment, rows in (("2026-12-01T11:59:59Z", 1), ("2026-12-01T12:00:01Z", 0), ("2026-12-01", 1)):
        assert len(compared(made, [registration(moment, **predicted)]).rows) == rows, moment


SHAPE = "N=4096 C=768 OC=768"


def test_a_call_timed_with_a_null_parameter_is_not_compared_with_one_without(measured):
    """Lesson 11's matmul is timed without its bias, lesson 09's with it."""
    row = {"shape": SHAPE, "median_ms": 0.02}
    made = report(timings={f"lesson{n}/matmul": item(shapes=[row]) for n in ("09", "11")})
    with_bias = registration("2026-11-26", lessons={f"lesson{n}/matmul {SHAPE}": [1, 0.04] for n in ("09", "11")})
    found = compared(made, [with_bias], ROOT)
    assert [one.name for one in found.rows] == [f"09 matmul {SHAPE}"]
    assert [(one.label, one.null) for one in found.left_out] == [(f"11 matmul {SHAPE}", ("bias",))]
    said = "1 time is left out: the call was timed with a null parameter (lesson 11's matmul without its bias) and "
    assert predictions.said_of_left_out(found.left_out) == f"{said}predicted without one."
    assert said[:60] in table(found)
    assert said in predictions.card_section("a card", found)
    as_timed = registration("2026-11-27", lessons={f"lesson11/matmul {SHAPE} -bias": [1, 0.02]})
    found = compared(made, [with_bias, as_timed], ROOT)
    assert [(one.name, one.predicted_ms) for one in found.rows][-1] == (f"11 matmul {SHAPE}", 0.02)
    assert not found.left_out


def test_items_predict_a_call_as_it_is_timed():
    if not (ROOT / counts.CALLS).exists():
        pytest.skip(f"no {counts.CALLS}; make waterfall builds it")
    lessons = predictions.items(ROOT)["lessons"]
    ((call, files),) = lessons[f"lesson11/matmul {SHAPE} -bias"]
    assert (str(call), files) == (f"matmul {SHAPE} out_stride=768 -bias", ("11_tf32/matmul",))
    ((call, _),) = lessons[f"lesson10/matmul {SHAPE}"]
    assert not call.null


def test_a_slow_time_is_compared_like_any_other(measured):
    shape = {"shape": "N=4096 C=768 OC=3072", "median_ms": 0.6}
    for verdict, rows in (("SLOW", 1), ("WRONG", 0)):
        made = report(timings={"lesson09/matmul": item("failed", verdict=verdict, shapes=[shape])})
        assert len(compared(made, [FIRST]).rows) == rows, verdict


def test_what_the_courses_own_times_say_of_the_band_is_one_clause(page, measured):
    assert predicted.own_band(page) == ""
    (page / tools.TIMINGS / "nvidia-h200.json").write_text(json.dumps(measured))
    assert predicted.own_band(page) == "of the course's own times on NVIDIA H200, 2 of 4 do"


def test_a_prediction_made_after_the_measurement_does_not_count(measured):
    later = registration("2026-12-02", ladder=SECOND.rows["ladder"], ops={ATTENTION[0]: [3, 0.6]})
    assert compared(measured, [later]).rows == []
    assert {row.registration for row in compared(measured, [FIRST, later]).rows} == {FIRST.name}


def test_rehearsals_and_unknown_cards_have_no_rows(measured):
    assert compared(measured, [FIRST]).rows
    assert compared(measured | {"rehearsal": True}, [FIRST]).rows == []
    assert compared(measured | {"gpu": "NVIDIA H900"}, [FIRST]).rows == []
    assert compared(measured | {"gpu": "NVIDIA A40"}, [FIRST]).rows == []


def test_the_table_has_the_worst_rows_and_what_all_are_worth(measured):
    assert table(Comparison([], [])) == ""
    assert table(compared(measured, [FIRST])).splitlines() == [
        "predicted before it was measured (2026-11-26-abcdef0), worst first",
        "",
        "part       lesson, op                                   predicted      ms  ratio",
        "waterfall  16 attention B=4 T=1024 C=768 NH=12              0.200   0.100   0.50",
        "forward_b4 17 whole pass without loss                        4.00    8.00   2.00",
        "timings    09 matmul N=4096 C=768 OC=3072                   0.400   0.500   1.25",
        "waterfall  11+15 attention B=4 T=1024 C=768 NH=12           0.500   0.600   1.20",
        "",
        "2 of 4 within 1.25 times, 2 within 1.5 times",
        "mean error, as a share of the measured time:",
        "attention 58%, whole pass 50%, matmul 20%",
    ]


def test_a_long_table_is_cut_and_fits_80_columns():
    ops = [f"op_with_a_long_name_{i}" for i in range(20)]
    rows = [Row("forward_b4", op, f"12 linear_gelu {'N=4096 ' * 8}", 12345.0, 12345.0 * 2, "r") for op in ops]
    lines = table(Comparison(rows, [])).splitlines()
    assert max(map(len, lines)) <= 80
    assert sum(line.startswith("forward_b4 12 linear_gelu N=4096 ") for line in lines) == 12
    assert "and 8 that are closer" in lines


# ---- the page --------------------------------------------------------------------------------------------------------


@pytest.fixture
def page(tmp_path):
    """A course with FIRST registered, without reports."""
    folder = tmp_path / predictions.FOLDER
    folder.mkdir(parents=True)
    (tmp_path / tools.TIMINGS).mkdir(parents=True)
    data = {"registered": FIRST.date, "cards": FIRST.cards, **FIRST.rows}
    (folder / f"{FIRST.name}.json").write_text(json.dumps(data))
    (tmp_path / predictions.HASHES).write_text(f"0  {FIRST.name}.json\n")
    (tmp_path / predictions.PAGE).write_text((ROOT / predictions.PAGE).read_text())
    return tmp_path


def block_of(root):
    text = (root / predictions.PAGE).read_text()
    return text.partition("<!-- predictions -->\n")[2].partition("<!-- end predictions -->")[0]


def test_the_page_shows_both_columns_of_each_card_with_a_report(page, measured, monkeypatch):
    (page / tools.TIMINGS / "nvidia-h200.json").write_text(json.dumps(measured))
    (page / tools.TIMINGS / "nvidia-h900.json").write_text(json.dumps(measured | {"gpu": "NVIDIA H900"}))
    monkeypatch.chdir(page)
    assert predictions.main(["--page"]) == 0
    lines = block_of(page).splitlines()
    assert lines[:3] == [
        "## NVIDIA H200",
        "",
        "2 of 4 within 1.25 times, 2 within 1.5 times. The mean error, as a share of the measured time:",
    ]
    name = FIRST.name
    assert lines[-6:] == [
        "| part | lesson, op | predicted ms | measured ms | measured over predicted | registered |",
        "|---|---|--:|--:|--:|---|",
        f"| waterfall | 16 attention B=4 T=1024 C=768 NH=12 | 0.200 | 0.100 | 0.50 | {name} |",
        f"| forward_b4 | 17 whole pass without loss | 4.00 | 8.00 | 2.00 | {name} |",
        f"| timings | 09 matmul N=4096 C=768 OC=3072 | 0.400 | 0.500 | 1.25 | {name} |",
        f"| waterfall | 11+15 attention B=4 T=1024 C=768 NH=12 | 0.500 | 0.600 | 1.20 | {name} |",
    ]


def test_the_page_shows_nothing_without_a_report(page, measured):
    predictions.write_page(page)
    before = (page / predictions.PAGE).read_text()
    report_file = page / tools.TIMINGS / "nvidia-h200.json"
    report_file.write_text(json.dumps(measured))
    predictions.write_page(page)
    report_file.unlink()
    predictions.write_page(page)
    assert block_of(page) == ""
    assert (page / predictions.PAGE).read_text() == before


def test_the_committed_page_is_as_the_reports_say():
    before = (ROOT / predictions.PAGE).read_text()
    assert predictions.page(ROOT) == before, "python -m reference.report.predictions --page writes it"
