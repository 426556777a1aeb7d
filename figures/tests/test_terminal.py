# SPDX-License-Identifier: MIT
"""The README's recorded terminal is what its script draws of the record, and no longer than a reader waits."""

import json
import re
import sys
import xml.etree.ElementTree as ElementTree
from pathlib import Path

FIGURES = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(FIGURES))

import draw  # noqa: E402
import terminal  # noqa: E402

SVG = "{http://www.w3.org/2000/svg}"
RECORDED = json.loads(terminal.RECORD.read_text())
COMMITTED = (draw.ROOT / terminal.PATH).read_text(encoding="utf-8")


def lines(svg: str) -> list[str]:
    return ["".join(text.itertext()) for text in ElementTree.fromstring(svg).iter(f"{SVG}text")]


def test_the_committed_picture_is_what_the_record_gives():
    assert terminal.drawn(RECORDED) == COMMITTED


def test_the_record_is_a_check_an_edit_and_the_check_again():
    assert tuple(one["command"] for one in RECORDED) == terminal.COMMANDS
    assert "WRONG" in RECORDED[0]["output"]
    assert RECORDED[1]["output"] == ""
    assert re.search(r"^all ok ", RECORDED[2]["output"], re.MULTILINE)


def test_the_picture_has_every_line_that_was_printed_and_no_other():
    printed = [line for one in RECORDED for line in (f"$ {one['command']}", *one["output"].splitlines())]
    assert lines(COMMITTED) == [line for line in printed if line.strip()]


def test_every_moment_is_within_15_seconds_and_the_last_one_stands_for_2():
    assert terminal.SECONDS <= 15
    shown = [float(percent) for percent in re.findall(r"([0-9.]+)% \{ visibility: visible \}", COMMITTED)]
    assert shown == sorted(shown)
    assert shown[-1] / 100 * terminal.SECONDS <= terminal.SECONDS - 2


def test_no_line_leaves_the_card():
    longest = max(map(len, lines(COMMITTED)))
    assert terminal.LEFT + 0.602 * terminal.SIZE * longest <= draw.WIDTH - terminal.LEFT
