# SPDX-License-Identifier: MIT
"""The notebooks: each runs to its end without any results, and those that miss some again on results of real checks.
They are kept without outputs, and hold nothing but imports and calls."""

import ast
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from reference.notebooks import strip

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / "notebooks"
NOTEBOOKS = sorted(FOLDER.glob("*.ipynb"))
# What makes the results that notebooks read, small: arguments of a lesson's check, and the options that each takes.
COUNTED = (("06", "layernorm/regular"), ("08", "matmul/regular"), ("09", "matmul/regular"))
CHECKED = (("01", "gelu"), ("06", "layernorm"))  # a host lesson's with its times


def outputs(notebook: Path) -> list[list[dict]]:
    """Of each code cell what it shows."""
    cells = json.loads(notebook.read_text())["cells"]
    return [cell["outputs"] for cell in cells if cell["cell_type"] == "code"]


def said(notebook: Path) -> list[str]:
    """The texts that are shown in the place of pictures: they name a command."""
    texts = ["".join(shown["text"]) for cell in outputs(notebook) for shown in cell if shown["output_type"] == "stream"]
    return [text for text in texts if "make " in text]


def run(names: list[str], results_root: Path, into: Path) -> list[Path]:
    """Runs copies of notebooks by nbmake, and returns them with their outputs."""
    # The list of fonts, which takes seconds where a user's first program makes it, and the cell says so.
    subprocess.run([sys.executable, "-c", "import matplotlib.font_manager"], check=True)
    folder = into / "notebooks"
    folder.mkdir()
    (folder / "course.py").symlink_to(FOLDER / "course.py")
    copies = [Path(shutil.copy(FOLDER / name, folder)) for name in names]
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "--nbmake", "--overwrite", *copies],
        cwd=into,
        env=os.environ | {"RESULTS_ROOT": str(results_root)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout
    return copies


@pytest.fixture(scope="module")
def without_results(tmp_path_factory) -> list[Path]:
    return run(
        [path.name for path in NOTEBOOKS], tmp_path_factory.mktemp("nothing"), tmp_path_factory.mktemp("without")
    )


@pytest.fixture(scope="module")
def results_root(tmp_path_factory) -> Path:
    """Results of real checks and counts, of the solutions."""
    root = tmp_path_factory.mktemp("learner")
    results = root / "results"
    results.mkdir()
    calls = [
        (f"build/check/lesson{lesson}", "--only", only, "--traffic", "--json", results / f"traffic-lesson{lesson}.json")
        for lesson, only in COUNTED
    ]
    calls += [
        (f"build/check/lesson{lesson}", "--only", only, "--results", results / "results.jsonl")
        for lesson, only in CHECKED
    ]
    for program, *arguments in calls:
        if not (ROOT / program).exists():
            pytest.skip(f"no {program}; make test builds it")
        done = subprocess.run(
            [program, "--subject", "solutions", *arguments], cwd=ROOT, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stdout + done.stderr
    return root


# ---- running them ----------------------------------------------------------------------------------------------------


def test_without_results_each_runs_to_its_end_and_says_in_one_line_what_to_run(without_results):
    lines = [line for notebook in without_results for line in said(notebook)]
    assert any("make check-lesson01" in line for line in lines)
    assert any("make time-lesson01" in line for line in lines)
    assert any("make traffic-lesson06 JSON=results/traffic-lesson06.json" in line for line in lines)
    for line in lines:
        assert line.count("\n") == 1, line
        assert len(line) <= 120, line


def test_with_results_nothing_is_missing(without_results, results_root, tmp_path):
    names = [notebook.name for notebook in without_results if said(notebook)]
    assert names
    for notebook in run(names, results_root, tmp_path):
        assert said(notebook) == []
        assert all(len(cell) == 1 for cell in outputs(notebook)), notebook


def test_each_cell_shows_one_thing_as_wide_as_a_page(without_results):
    for notebook in without_results:
        for cell in outputs(notebook):
            assert len(cell) == 1, f"{notebook.name}: {[shown.get('text') for shown in cell]}"
            shown = cell[0]
            if shown["output_type"] == "display_data":
                assert shown["metadata"]["image/png"]["width"] == 720
            else:
                assert shown["name"] == "stdout"


# ---- how they are kept -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_is_kept_without_outputs(path):
    assert path.read_text() == strip.text_of(json.loads(path.read_text())), "make format takes them out"


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_cells_import_and_call_and_nothing_else(path):
    for cell in json.loads(path.read_text())["cells"]:
        if cell["cell_type"] == "code":
            for statement in ast.parse("".join(cell["source"])).body:
                is_call = isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Call)
                assert is_call or isinstance(statement, ast.ImportFrom), ast.unparse(statement)
                within = (ast.Lambda, ast.ListComp, ast.DictComp, ast.SetComp, ast.GeneratorExp, ast.BinOp)
                assert not any(isinstance(node, within) for node in ast.walk(statement)), ast.unparse(statement)


def test_outputs_and_counts_and_an_editors_notes_are_taken_out():
    cell = {"cell_type": "code", "id": "a", "source": ["x"], "metadata": {"scrolled": True}}
    run_one = cell | {"outputs": [{"text": "1"}], "execution_count": 7}
    content = {"cells": [run_one, {"cell_type": "markdown", "source": [], "metadata": {}}], "metadata": {"a": 1}}
    strip.before_saving({"type": "notebook", "content": content}, path="x.ipynb")
    assert content["cells"][0] == cell | {"metadata": {}, "outputs": [], "execution_count": None}
    assert "outputs" not in content["cells"][1]
    assert content["metadata"] == strip.KERNEL
    strip.before_saving({"type": "file", "content": "text"})
