# SPDX-License-Identifier: MIT
"""The kernels that are built as published ones are said to be, what was measured of those, and the table of both."""

from __future__ import annotations

import json
import subprocess
import tomllib
from pathlib import Path

import pytest

from reference.gpu import published
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
    rows = published.read_rows()
    published.price(rows, json.loads(published.RECORD.read_text()))
    assert published.generated(rows) in published.PAGE.read_text()
    assert published.band(rows) == published.BAND.read_text()


def test_the_record_is_of_the_kernels_as_they_are():
    assert json.loads(published.RECORD.read_text())["digests"] == published.digests()
