# SPDX-License-Identifier: MIT
"""What is read of lesson.toml, and what an op needs at a shape."""

import re
from pathlib import Path

import pytest

from reference.gpu import lesson_shapes
from reference.gpu.lesson_shapes import (
    PROGRAM,
    Lesson,
    all_lessons,
    device_lessons,
    dims,
    implementing,
    step_precision,
    tiny,
)
from reference.gpu.tools import ToolError

ROOT = Path(__file__).parents[2]


def write_lesson(root: Path, text: str, name: str = "04_first") -> None:
    folder = root / "lessons" / name
    folder.mkdir(parents=True)
    (folder / "lesson.toml").write_text(text)
    solution = root / "solutions" / name
    solution.mkdir(parents=True)
    for file in ("a.cu", "c.cu", "b.cu", "wrong.toml"):
        (solution / file).touch()


def test_every_timed_shape_of_the_course_is_read():
    lessons = {lesson.number: lesson for lesson in device_lessons(ROOT)}
    assert {"04", "05"} <= lessons.keys()
    assert "03" not in lessons
    assert lessons["05"].shapes["matmul"] == ("N=4096 C=768 OC=3072",)
    for lesson in lessons.values():
        assert set(lesson.shapes) <= set(lesson.ops)
        for shapes in lesson.shapes.values():
            assert all(dims(shape) for shape in shapes)


def test_a_step_multiplies_in_the_precision_of_the_newest_lesson_that_names_its_forward_pass():
    lessons = [
        Lesson("10_tiles", precision={"matmul": "tf32"}),
        Lesson("11_tf32", precision={"forward": "tf32"}),
        Lesson("12_fusion"),
        Lesson("23_bf16", precision={"forward": "bf16"}),
    ]
    steps = ("05", "10", "11", "12", "22", "23", "30")
    assert [step_precision(lessons, step) for step in steps] == ["fp32"] * 2 + ["tf32"] * 3 + ["bf16"] * 2


TARGET = 'against = "copy"\nbronze = 0.1\nsilver = 0.2\ngold = 0.3\n'


def test_a_lesson_has_what_its_file_says_and_what_its_solution_adds(tmp_path):
    text = 'title = "x"\nrequires = ["sm_80"]  # x\n[target.c]\n' + TARGET
    text += 'shapes = [\n  "N=1 C=2",  # [y]\n  "N=3",\n]\nreported = ["N=4"]\n[ladder]\n'
    write_lesson(tmp_path, text)
    write_lesson(tmp_path, "", "02_before")
    write_lesson(tmp_path, "no TOML", "ladder")
    before, lesson = all_lessons(tmp_path)
    assert before == Lesson("02_before", "device", ("a", "b", "c"))
    assert (lesson.name, lesson.track, lesson.ops) == ("04_first", "device", ("c", "a", "b"))
    assert (lesson.requires, lesson.shapes) == (("sm_80",), {"c": ("N=1 C=2", "N=3")})
    assert lesson.timed == {"c": ("N=1 C=2", "N=3", "N=4")}
    assert lesson.ladder == {"random_shapes": 0, "multiple_of": {}}


@pytest.mark.parametrize(
    ("text", "refusal"),
    [
        ("[target.a]\n" + TARGET + "shapes = [1]\n", ":6: [target.a] needs shapes as a list of strings"),
        ("[ladder]\nrandom_shapes = many\n", ":2: "),
        ("[ladder]\nrandom_shape = 3\n", ":2: [ladder] has the unknown key random_shape; did you mean random_shapes?"),
        ('requires = ["two GPUs"]\n', ":1: requires two GPUs, which is no card such as sm_80"),
    ],
)
def test_what_the_checks_refuse_is_refused_with_its_line(tmp_path, text, refusal):
    write_lesson(tmp_path, text)
    with pytest.raises(ToolError, match=re.escape(f"lessons: lessons/04_first/lesson.toml{refusal}")):
        all_lessons(tmp_path)


def test_a_branch_serves_no_other_lesson(tmp_path):
    for lesson in ("10_old", "11_library", "18_branch", "19_new"):
        (tmp_path / "lessons" / lesson).mkdir(parents=True)
        (tmp_path / "solutions" / lesson).mkdir(parents=True)
        (tmp_path / "lessons" / lesson / "lesson.toml").write_text('title = "x"\n')
    (tmp_path / "lessons/18_branch/lesson.toml").write_text('title = "x"\nbranch_of = "10_old"\n')
    for lesson in ("10_old", "11_library", "18_branch"):
        (tmp_path / "solutions" / lesson / "matmul.cu").touch()
    serving = {name: implementing(tmp_path, name, "matmul") for name in ("11_library", "18_branch", "19_new")}
    assert {name: str(files[0].parent.name) for name, files in serving.items()} == {
        "11_library": "11_library",
        "18_branch": "18_branch",
        "19_new": "11_library",
    }


def test_a_lesson_without_its_file_is_named(tmp_path):
    (tmp_path / "lessons/04_first").mkdir(parents=True)
    with pytest.raises(ToolError, match=r"lessons/04_first/lesson\.toml"):
        all_lessons(tmp_path)


def test_what_is_not_built_is_named_with_its_mend(tmp_path):
    with pytest.raises(ToolError, match=re.escape(f"is not there: make {PROGRAM}")):
        all_lessons(ROOT, tmp_path / "lessons")


@pytest.mark.parametrize("said", ["", "[1]", '[{"name": "04_first"}]', "{}x"])
def test_an_answer_of_another_form_is_an_error(tmp_path, said):
    program = tmp_path / "lessons"
    program.write_text(f"#!/bin/sh\necho '{said}'\n")
    program.chmod(0o755)
    with pytest.raises(ToolError, match="another form"):
        all_lessons(ROOT, program)


@pytest.mark.parametrize("shape", ["", "B", "B=x", "B=0", "B=4=5"])
def test_a_malformed_shape_is_refused(shape):
    with pytest.raises(ToolError, match="is no shape"):
        dims(shape)


@pytest.mark.parametrize(
    ("capability", "requires", "unmet"),
    [
        ("9.0", ("sm_75",), None),
        ("7.5", ("sm_75", "sm_80"), "sm_80"),
        ("9.0", ("sm_90a",), None),
        ("10.0", ("sm_90a",), "sm_90a"),
        ("8.9", ("sm_90a",), "sm_90a"),
        (None, ("sm_90a",), None),
    ],
)
def test_a_lesson_says_what_a_card_lacks(capability, requires, unmet):
    assert Lesson("27_tma", "device", requires=requires).unmet(capability) == unmet


def test_a_rehearsals_shape_has_the_same_names_and_is_small():
    small = dims(tiny("B=64 T=1024 C=768 X=999"))
    assert list(small) == ["B", "T", "C", "X"]
    assert max(small.values()) <= max(lesson_shapes.TINY.values())
    assert tiny("B=1 T=4") == "B=1 T=4"
