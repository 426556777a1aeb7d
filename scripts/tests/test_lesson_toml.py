# SPDX-License-Identifier: MIT
"""make and scripts find in a lesson.toml, without reading TOML, what its reader says, however it is spelled."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
OLDER = '[target.matmul]\nagainst = "library"\nbronze = 0.1\nsilver = 0.2\ngold = 0.3\nshapes = ["N=8 C=8 OC=8"]\n'


class Course:
    """The checkout's files, with a build folder and lesson.toml files of its own."""

    def __init__(self, root: Path):
        self.root = root
        for entry in ROOT.iterdir():
            if entry.name not in (".git", "build", "lessons", "results"):
                (root / entry.name).symlink_to(entry)
        for folder in (ROOT / "lessons").iterdir():
            (root / "lessons" / folder.name).mkdir(parents=True)
            for file in folder.iterdir():
                (root / "lessons" / folder.name / file.name).symlink_to(file)

    def write(self, lesson: str, text: str) -> None:
        file = self.root / "lessons" / lesson / "lesson.toml"
        file.unlink()
        file.write_text(text)

    def run(self, *command: str) -> subprocess.CompletedProcess:
        environment = {name: value for name, value in os.environ.items() if not name.startswith(("MAKE", "MFLAGS"))}
        return subprocess.run(command, cwd=self.root, env=environment, capture_output=True, text=True, check=False)

    def make_says(self, variable: str) -> set[str]:
        done = self.run("make", f"--eval=said: ; @printf '%s\\n' $({variable})", "said")
        assert done.returncode == 0, done.stderr
        return set(done.stdout.split())

    def read(self) -> subprocess.CompletedProcess:
        return self.run(str(ROOT / "build/tools/lessons"))


@pytest.fixture
def course(tmp_path):
    return Course(tmp_path)


def with_older(lessons: list[dict]) -> set[str]:
    def asks(target: dict) -> bool:
        return "older" in target or target.get("against") == "older"

    return {row["name"] for row in lessons if any(asks(op["target"] or {}) for op in row["ops"])}


def rungs(lessons: list[dict]) -> set[str]:
    return {row["name"] for row in lessons if row["ladder"] is not None}


def branches(lessons: list[dict]) -> set[str]:
    return {row["name"] for row in lessons if row["branch_of"]}


def test_make_knows_every_lesson_as_its_reader_does(course):
    lessons = json.loads(course.read().stdout)
    assert course.make_says("beside_older") == with_older(lessons) != set()
    assert course.make_says("matmuls") == rungs(lessons) != set()
    assert course.make_says("branches") == branches(lessons)


def test_no_step_uses_the_ops_of_a_branch(course):
    toml = ROOT / "lessons/09_warp_tiled_matmul/lesson.toml"
    course.write("09_warp_tiled_matmul", toml.read_text().replace("idea = ", 'branch_of = "07_tiled_matmul"\nidea = '))
    lessons = json.loads(course.read().stdout)
    assert "09_warp_tiled_matmul" in branches(lessons)
    served = course.make_says("foreach step,$(steps),$(foreach file,$(call served_by,$(step)),$(step):$(file))")
    assert {row["name"] for row in lessons if row["step"]} == {one.split(":")[0] for one in served}
    assert not {one for one in served if one.split(":")[1].split("/")[0] in branches(lessons)}
    serving = course.make_says("foreach lesson,$(lesson_dirs),$(lesson):$(call own,$(lesson),matmul)")
    assert "09_warp_tiled_matmul:09_warp_tiled_matmul/matmul" in serving
    assert "08_register_tiled_matmul:08_register_tiled_matmul/matmul" in serving
    assert course.make_says("lastword $(call before,09_warp_tiled_matmul)") == {"07_tiled_matmul"}
    assert course.make_says("lastword $(call before,10_double_buffered_matmul)") == {"08_register_tiled_matmul"}


@pytest.mark.parametrize(
    "text",
    [
        OLDER + "older = 1.3\n",
        OLDER + "  older=1.3\n",
        OLDER + '"older" = 1.3\n',
        OLDER + "'older' = { silver = 1.3 }\n",
        OLDER + "older.silver = 1.3\n",
        OLDER + "[target.matmul.older]\nsilver = 1.3\n",
        'target.matmul = { against = "copy", older = 1.3 }\n',
        'target.matmul.against = "copy"\ntarget.matmul.older = 1.3\n',
        '[target]\nmatmul = { against = "copy", "older" = 1.3 }  # as fast\n',
    ],
)
def test_an_older_solution_is_built_however_its_key_is_spelled(course, text):
    course.write("08_register_tiled_matmul", text)
    done = course.read()
    assert done.returncode == 0, done.stderr
    assert "08_register_tiled_matmul" in with_older(json.loads(done.stdout))
    assert "08_register_tiled_matmul" in course.make_says("beside_older")


@pytest.mark.parametrize(
    "text",
    [
        "[ladder]\n",
        "  [ ladder ]  # a rung\n",
        '["ladder"]\n',
        "ladder = {}\n",
        "ladder.random_shapes = 3\n",
        "'ladder' = { random_shapes = 3 }\n",
        "[ladder.multiple_of]\nC = 16\n",
    ],
)
def test_a_rung_is_built_however_its_table_is_spelled(course, text):
    course.write("08_register_tiled_matmul", text)
    done = course.read()
    assert done.returncode == 0, done.stderr
    assert "08_register_tiled_matmul" in rungs(json.loads(done.stdout))
    assert "08_register_tiled_matmul" in course.make_says("matmuls")


def test_a_word_in_a_comment_or_in_a_title_is_no_key(course):
    course.write("08_register_tiled_matmul", 'title = "up the ladder"  # older cards\n# older = 1.3\n# [ladder]\n')
    assert "08_register_tiled_matmul" not in course.make_says("beside_older") | course.make_says("matmuls")


@pytest.mark.parametrize("key", ["\\u006flder", "\\U0000006flder"])
def test_a_key_whose_letters_are_escaped_is_refused(course, key):
    course.write("08_register_tiled_matmul", OLDER + f'"{key}" = 1.3\n')
    done = course.read()
    assert done.returncode == 2
    place = "lessons/08_register_tiled_matmul/lesson.toml:7"
    assert done.stderr == f"lessons: {place}: has an escape {key[:2]}; write the letter: make looks for keys as text\n"


@pytest.mark.parametrize("given", ['given = ["softmax"]', "given = [\n    'crossentropy',\n    'softmax',\n]"])
def test_a_given_op_has_no_hint_however_the_list_is_spelled(course, given):
    course.write("05_naive_forward", given + "\n")
    done = course.run("scripts/hint.sh", "05_naive_forward", "softmax")
    assert done.stdout == "softmax is given in lesson 05: there is nothing to write\n"


def test_a_new_lesson_does_not_begin_as_a_branch(course):
    assert "18_mma_tf32" in branches(json.loads(course.read().stdout))
    asked = "import new_lesson; print(new_lesson.newest_solution('matmul', '.cu'))"
    done = course.run(sys.executable, "-c", f"import sys; sys.path.insert(0, 'scripts'); {asked}")
    assert done.stdout == "solutions/11_tf32/matmul.cu\n", done.stderr
