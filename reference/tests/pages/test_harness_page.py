# SPDX-License-Identifier: MIT
"""checker/HARNESS.md: it has every key of lesson.toml, its example is one, and the files that it names are there."""

import json
import re
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]
PAGE = (ROOT / "checker/HARNESS.md").read_text()
READER = (ROOT / "checker/cases/lesson_toml.cpp").read_text()
LESSON = "01_my_softmax"
# Folders of the files that a sentence names by their last part, beside one that it names in full.
NEAR = ("checker/worker", "checker/simt/include/simt", "lessons/gpt2/check", "reference/gpu")


def known_keys() -> set[str]:
    """Every key that the reader of lesson.toml takes: its two lists, and those that it gives to require_known."""
    lists = re.findall(r"kKeys\{([^}]*)\}|kTargetKeys\{([^}]*)\}|require_known\([^{;]*\{([^}]*)\}", READER)
    assert len(lists) >= 6, "lesson_toml.cpp lists its keys otherwise"
    return set(re.findall(r'"(\w+)"', " ".join(keys for one in lists for keys in one)))


def example() -> str:
    blocks = re.findall(r"```toml\n(.*?)```", PAGE, re.DOTALL)
    assert len(blocks) == 1
    return blocks[0]


def read_as_lesson(course: Path, toml: str) -> dict:
    """Returns what build/tools/lessons says of a course whose one lesson has this lesson.toml."""
    for side in ("lessons", "solutions"):
        (course / side / LESSON).mkdir(parents=True)
    (course / "lessons" / LESSON / "lesson.toml").write_text(toml)
    (course / "solutions" / LESSON / "softmax.cu").touch()
    done = subprocess.run([ROOT / "build/tools/lessons", course], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    (lesson,) = json.loads(done.stdout)
    return lesson


@pytest.mark.parametrize("key", sorted(known_keys()))
def test_every_key_of_lesson_toml_is_on_the_page(key):
    rows = [line for line in PAGE[PAGE.index("| key |") :].split("\n\n")[0].splitlines() if line.startswith("|")]
    assert any(re.search(rf"[`{{ ]{key}[`, ]", row) for row in rows), f"no row of checker/HARNESS.md names {key}"


def test_the_page_names_no_key_that_the_reader_refuses():
    table = PAGE[PAGE.index("| key |") :].split("\n\n")[0]
    keys = {key for row in table.splitlines()[2:] for key in re.findall(r"`\[?(\w+)", row.split("|")[1])}
    assert keys
    assert keys <= known_keys()


def test_the_example_is_a_lesson_that_is_judged(tmp_path):
    (op,) = read_as_lesson(tmp_path, example())["ops"]
    assert op["op"] == "softmax"
    assert [shape["judged"] for shape in op["shapes"]] == [True]


def test_the_example_without_its_last_four_lines_is_not_timed(tmp_path):
    (op,) = read_as_lesson(tmp_path, "".join(example().splitlines(keepends=True)[:-4]))["ops"]
    assert op["target"] == {"against": "solution"}
    assert op["shapes"] == []


def test_every_file_that_the_page_names_is_there():
    names = set(re.findall(r"`([\w/.]+\.(?:cpp|h|py|sh|mk|md|toml))`", PAGE)) - {
        "lesson.toml",
        "check.cpp",
        "lessons/gpt2/check/y.cpp",
        "reference/ops/y.py",
        "solutions/NN_x/cases.py",
    }
    places = [ROOT, ROOT / "checker", *(ROOT / near for near in NEAR), *(ROOT / "checker/simt/runtime").iterdir()]
    missing = {name for name in names if not any((place / name).exists() for place in places)}
    assert not missing
