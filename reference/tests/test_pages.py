# SPDX-License-Identifier: MIT
"""The blocks of a page that are generated: what is between the markers is replaced, and nothing else."""

import re
import tomllib
from pathlib import Path

import pytest

from reference.gpu.pages import has, put
from reference.gpu.tools import ToolError

PAGE = Path("lessons/x/README.md")
TEXT = """before
<!-- ladder -->
old
<!-- end ladder -->
between
<!-- recorded: amd -->
of amd
<!-- end recorded -->
<!-- recorded: intel -->
of intel
<!-- end recorded -->
after
"""


def test_what_stands_between_the_markers_is_replaced():
    assert put(TEXT, "ladder", "new\n", PAGE) == TEXT.replace("old", "new")
    assert put(TEXT, "ladder", "", PAGE) == TEXT.replace("old\n", "")


def test_of_several_blocks_of_a_kind_the_named_one_is_replaced():
    assert put(TEXT, "recorded: amd", "new\n", PAGE) == TEXT.replace("of amd", "new")
    assert put(TEXT, "recorded: intel", "new\n", PAGE) == TEXT.replace("of intel", "new")


def test_a_block_is_there_or_not():
    assert has(TEXT, "recorded: amd")
    assert not has(TEXT, "recorded: arm")


@pytest.mark.parametrize(
    "text",
    [
        "# A page\n",
        TEXT.replace("<!-- ladder -->\n", ""),
        TEXT.replace("<!-- end ladder -->\n", ""),
        "<!-- ladder -->\n<!-- formats -->\n<!-- end ladder -->\n",
    ],
    ids=["no marker", "no begin", "no end", "another block inside"],
)
def test_a_page_without_the_place_is_named(text):
    with pytest.raises(ToolError) as raised:
        put(text, "ladder", "new\n", PAGE)
    assert str(raised.value) == (
        "lessons/x/README.md has no place for the ladder: a line <!-- ladder --> and a line <!-- end ladder -->"
    )


LESSONS = sorted(Path(__file__).parents[2].glob("lessons/[0-9][0-9]_*"))


@pytest.mark.parametrize("lesson", LESSONS, ids=lambda lesson: lesson.name)
def test_the_check_takes_a_lessons_ops_in_the_order_of_its_page(lesson):
    checked = list(tomllib.loads((lesson / "lesson.toml").read_text())["target"])
    hints = (lesson / "README.md").read_text().partition("\n## Hints\n")[2].partition("\n## ")[0]
    of_page = [op for op in re.findall(r"^### `?(\w+)`?$", hints, re.MULTILINE) if op in checked]
    assert of_page
    assert of_page == [op for op in checked if op in of_page]
