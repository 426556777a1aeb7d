# SPDX-License-Identifier: MIT
"""The kernels that are built as published ones are said to be, what was measured of those, and the table of both."""

from __future__ import annotations

import json
import subprocess
import tomllib
from pathlib import Path

import pytest

from reference.gpu import counts, estimates, published
from reference.gpu.cards import read_cards

ROOT = Path(__file__).resolve().parents[2]
PROGRAM = ROOT / "build/estimate/published"
SOURCES = tomllib.loads((ROOT / "checker/estimate/published/published.toml").read_text())["source"]
ROWS = [(source, row) for source in SOURCES for row in source["rows"]]


def program(*words: str) -> subprocess.CompletedProcess:
    return subprocess.run([PROGRAM, *words], cwd=ROOT, capture_output=True, text=True, check=False)


@pytest.fixture(scope="module")
def kernels() -> set[tuple[str, str]]:
    return {tuple(line.split("\t")) for line in program("--list").stdout.splitlines()}


def test_every_kernel_gives_what_a_plain_loop_does(kernels):
    done = program("--check")
    assert done.stdout == f"{len(kernels)} kernels, 0 wrong\n"
    assert done.returncode == 0


def test_a_published_row_names_a_kernel_of_ours_and_each_kernel_is_named(kernels):
    assert {(source["family"], row[1]) for source, row in ROWS} == kernels


def test_a_source_names_its_commit_its_trust_and_a_known_card():
    for source in SOURCES:
        assert source["card"] in read_cards(), source["name"]
        assert source["trust"] in ("A", "B", "C"), source["name"]
        assert source["repo"], source["name"]
        assert "commit" in source, source["name"]


def test_there_are_sixty_rows_on_four_cards_at_least():
    assert len(ROWS) >= 60
    assert len({source["card"] for source in SOURCES}) >= 4


def test_the_page_and_the_band_are_what_the_record_gives():
    rows = published.read_rows() + published.read_own_rows()
    published.price(rows, json.loads(published.RECORD.read_text()))
    assert published.generated(rows) in published.PAGE.read_text()
    assert published.band(rows) == published.BAND.read_text()


def test_the_record_is_of_the_kernels_as_they_are():
    assert json.loads(published.RECORD.read_text())["digests"] == published.digests()


def test_what_is_counted_anew_is_what_is_recorded():
    smallest = {}
    for row in published.read_rows():
        best = smallest.setdefault(row.work.family, row.work)
        smallest[row.work.family] = min(best, row.work, key=lambda work: work.size[0] * work.size[1] * work.size[2])
    recorded = json.loads(published.RECORD.read_text())["counts"]
    assert len(smallest) == 4
    assert published.count(smallest.values()) == {work.key(): recorded[work.key()] for work in smallest.values()}


def test_the_summary_follows_from_the_rows():
    ratios, values = (1.0, 1.2, 1.3, 0.7, 1.6), (100.0, 90.0, 80.0, 79.0, 10.0)
    source = {"name": "a source", "card": "T4", "unit": "GFLOP/s"}
    work = published.Work("sgemm", "a kernel", (1000, 1000, 1000))
    rows = [published.Row(source, str(i), work, value) for i, value in enumerate(values)]
    for row, ratio in zip(rows, ratios, strict=True):
        row.estimate = {"seconds": row.measured_s() / ratio}
    # 1 / 0.7 is 1.43. 80 and 79 are no pair; of the nine others 90 and 80 GFLOP/s, estimated as 108
    # and 104, are in order.
    share = published.share_of(rows)
    assert (share.rows, share.within_125, share.within_150, share.pairs) == (5, 2, 4, 9)
    estimated = [value * ratio for value, ratio in zip(values, ratios, strict=True)]
    in_order = sum(
        estimated[i] > estimated[j] for i in range(5) for j in range(i + 1, 5) if values[i] > 1.03 * values[j]
    )
    assert 0 < share.ranked == in_order < 9


# ---- rows of cards' reports ------------------------------------------------------------------------------------------


@pytest.fixture
def with_reports(monkeypatch):
    """A report of a card, in which each recorded call of these ops takes as many ms as its lesson has in its number."""

    def use(*gpus: str, ops: tuple[str, ...] = ("residual", "matmul")) -> None:
        items = {
            counts.item_name(one.files, one.call): {
                "status": "ok",
                "result": {"median_ms": float(one.files[0].split("_")[0])},
            }
            for one in estimates.recorded(ROOT / estimates.RECORDED).values()
            if one.call.op in ops
        }
        items["a call that nobody has counted"] = {"status": "ok", "result": {"median_ms": 1.0}}
        items["a call that failed"] = {"status": "failed", "why": "a reason"}
        for item in items.values():
            item |= {"run": "first", "measured_at": "2026-01-02T03:04:05Z"}
        of = {"rehearsal": False, "parts": {"waterfall": {"items": items}}, "runs": {"first": {"commit": "0123456"}}}
        reports = [{"gpu": gpu, **of} for gpu in gpus]
        monkeypatch.setattr(published, "read_reports", lambda root: reports)

    return use


def test_a_report_of_a_card_adds_its_rows_to_the_page_and_not_to_the_band(with_reports):
    recorded = json.loads(published.RECORD.read_text())
    others = published.read_rows()
    with_reports("NVIDIA H100 80GB HBM3")
    own = published.read_own_rows(ROOT)
    rows = others + own
    published.price(rows, recorded)
    text = published.generated(rows)
    assert f"{len(others)} measurements of " in text
    share = published.share_of(own).text()
    assert f"\n\nThis course, NVIDIA H100 80GB HBM3, which is not among them: {share}.\n\n" in text
    assert "### This course, NVIDIA H100 80GB HBM3\n\nmake gpu-report 0123456; trust A; H100 SXM" in text
    (matmul,) = [
        row for row in own if row.here() == "07_tiled_matmul/matmul" and row.size().startswith("N=4096 C=768 OC=3072 ")
    ]
    assert matmul.measured_s() == pytest.approx(7e-3)
    assert matmul.estimate["limit"] == "load/store and L1"
    assert f"| {matmul.ratio():.2f} | load/store and L1 |" in text
    assert published.band(rows) == published.band(others) == published.BAND.read_text()


def test_calls_of_a_report_are_ranked_against_the_same_call_alone(with_reports):
    with_reports("NVIDIA H200")
    own = published.read_own_rows(ROOT)
    published.price(own, json.loads(published.RECORD.read_text()))
    calls = [row.counted.call for row in own]
    same = sum(a == b for i, a in enumerate(calls) for b in calls[:i])
    assert 0 < published.share_of(own).pairs == same < len(own) * (len(own) - 1) / 2


def test_a_report_of_a_card_that_is_not_known_is_said_to_be_left_out(with_reports, capsys):
    with_reports("NVIDIA Test 1")
    assert published.read_own_rows(ROOT) == []
    assert capsys.readouterr().out == (
        "NVIDIA Test 1 has a report; reference/cards.toml does not know it, so its times are left out\n"
    )
