# SPDX-License-Identifier: MIT
"""What is read of lesson.toml, and what an op needs at a shape."""

from pathlib import Path

import pytest

from reference.gpu import lesson_shapes
from reference.gpu.lesson_shapes import Lesson, ShapeError, device_lessons, dims, read_lesson, tiny

ROOT = Path(__file__).parents[2]


def write_lesson(root: Path, text: str, name: str = "04_first") -> Path:
    folder = root / "lessons" / name
    folder.mkdir(parents=True)
    (folder / "lesson.toml").write_text(text)
    solution = root / "solutions" / name
    solution.mkdir(parents=True)
    for file in ("a.cu", "wrong.toml"):
        (solution / file).touch()
    return folder


def test_every_timed_shape_of_the_course_is_read():
    lessons = {lesson.number: lesson for lesson in device_lessons(ROOT)}
    assert {"04", "05"} <= lessons.keys()
    assert "03" not in lessons
    assert lessons["05"].shapes["matmul"] == ("N=4096 C=768 OC=3072",)
    for lesson in lessons.values():
        assert set(lesson.shapes) <= set(lesson.ops)
        for shapes in lesson.shapes.values():
            assert all(dims(shape) for shape in shapes)


def test_an_array_may_have_several_lines_and_comments_after_it(tmp_path):
    text = 'title = "x"\nrequires = ["sm_80"]  # x\n'
    text += '[target.a]\nshapes = [\n  "N=1 C=2",\n  "N=3",\n]  # y\n'
    lesson = read_lesson(write_lesson(tmp_path, text))
    assert (lesson.track, lesson.ops, lesson.requires) == ("device", ("a",), ("sm_80",))
    assert lesson.shapes == {"a": ("N=1 C=2", "N=3")}


@pytest.mark.parametrize("value", ["[1, 2]", '["a"', "twelve", "{1: 2}"])
def test_what_is_no_list_of_strings_is_named_with_its_line(tmp_path, value):
    folder = write_lesson(tmp_path, f'title = "x"\n[target.a]\nshapes = {value}\n')
    with pytest.raises(ShapeError, match=r"lesson.toml:\d: not a list of strings"):
        read_lesson(folder)


@pytest.mark.parametrize("shape", ["", "B", "B=x", "B=0", "B=4=5"])
def test_a_malformed_shape_is_refused(shape):
    with pytest.raises(ShapeError, match="is no shape"):
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
        ("7.5", ("two GPUs",), None),
    ],
)
def test_a_lesson_says_what_a_card_lacks(capability, requires, unmet):
    assert Lesson("27_tma", "device", requires=requires).unmet(capability) == unmet


def test_a_rehearsals_shape_has_the_same_names_and_is_small():
    small = dims(tiny("B=64 T=1024 C=768 X=999"))
    assert list(small) == ["B", "T", "C", "X"]
    assert max(small.values()) <= max(lesson_shapes.TINY.values())
    assert tiny("B=1 T=4") == "B=1 T=4"
