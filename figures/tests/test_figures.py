# SPDX-License-Identifier: MIT
"""The committed figures are what the scripts draw, and keep to the course's rules for figures."""

import importlib
import re
import sys
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import pytest

FIGURES = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(FIGURES))

import draw  # noqa: E402

SCRIPTS = sorted(path.stem for path in FIGURES.glob("lesson*.py"))
SVG = "{http://www.w3.org/2000/svg}"


def texts(svg):
    return list(ElementTree.fromstring(svg).iter(f"{SVG}text"))


def width_of(text):
    """An estimate on the wide side: DejaVu's mean letter is 0.602 em in Mono and about 0.53 em in Sans."""
    em = 0.602 if "mono" in (text.get("font-family") or "") else 0.56
    return em * float(text.get("font-size")) * len(text.text)


def test_there_is_a_script_for_every_figure():
    drawn = {importlib.import_module(name).PATH for name in SCRIPTS}
    assert drawn == {str(p.relative_to(draw.ROOT)) for p in draw.ROOT.glob("lessons/*/*.svg")}


@pytest.mark.parametrize("name", SCRIPTS)
def test_the_committed_figure_is_what_its_script_draws(name):
    script = importlib.import_module(name)
    assert (draw.ROOT / script.PATH).read_text(encoding="utf-8") == script.figure().svg()


@pytest.mark.parametrize("name", SCRIPTS)
def test_drawing_twice_gives_the_same_bytes(name):
    script = importlib.import_module(name)
    assert script.figure().svg() == script.figure().svg()


@pytest.mark.parametrize("name", SCRIPTS)
def test_no_text_is_smaller_than_13_px_or_leaves_the_card(name):
    figure = importlib.import_module(name).figure()
    for text in texts(figure.svg()):
        assert float(text.get("font-size")) >= 13, text.text
        x, w = float(text.get("x")), width_of(text)
        start = {"start": x, "middle": x - w / 2, "end": x - w}[text.get("text-anchor")]
        assert start >= 0, f"cut on the left: {text.text}"
        assert start + w <= draw.WIDTH, f"cut on the right: {text.text}"
        assert 0 < float(text.get("y")) < figure.height, text.text


@pytest.mark.parametrize("name", SCRIPTS)
def test_a_figure_says_in_words_what_it_shows(name):
    root = ElementTree.fromstring(importlib.import_module(name).figure().svg())
    assert root.find(f"{SVG}title").text
    assert len(root.find(f"{SVG}desc").text) > 80


@pytest.mark.parametrize("name", SCRIPTS)
def test_colours_come_from_the_palette(name):
    palette = {draw.INK, draw.GREY, draw.LINE, draw.PALE, "#ffffff", "#d0d7de"}
    palette |= {draw.BLUE, draw.BLUE_PALE, draw.ORANGE, draw.ORANGE_PALE, draw.GREEN, draw.GREEN_PALE}
    assert set(re.findall(r"#[0-9a-f]{6}", importlib.import_module(name).figure().svg())) <= palette


def test_text_below_13_px_is_refused():
    with pytest.raises(ValueError, match="smaller than 13"):
        draw.Figure(100, "title", "description").text(0, 0, "tiny", size=12)


def test_a_marked_cell_is_drawn_after_its_neighbours():
    figure = draw.Figure(100, "title", "description")
    figure.cells(0, 0, 30, 10, ["", "", ""], styles={1: "read"})
    boxes = [line for line in figure.body if line.startswith("<rect")]
    assert draw.BLUE in boxes[-1]
    assert 'x="10"' in boxes[-1]


def test_a_warp_is_a_row_of_32_squares():
    figure = draw.Figure(100, "title", "description")
    figure.lanes(0, 0, 20, ["memory"] * 32)
    assert len(figure.body) == 32
    assert all('width="20" height="20"' in box for box in figure.body)


def test_labels_are_escaped():
    figure = draw.Figure(100, "a < b", "description")
    figure.text(0, 20, "s < t & u")
    assert texts(figure.svg())[0].text == "s < t & u"


def test_writing_leaves_no_temporary_file(tmp_path, monkeypatch):
    monkeypatch.setattr(draw, "ROOT", tmp_path)
    draw.Figure(100, "title", "description").write("figure.svg")
    assert [p.name for p in tmp_path.iterdir()] == ["figure.svg"]
