# SPDX-License-Identifier: MIT
"""The notebooks: each runs to its end without any results, and those that miss some again on results of real checks.
They are kept without outputs, and hold nothing but imports and calls."""

import ast
import json
import os
import re
import shutil
import subprocess
import sys
import textwrap
from pathlib import Path

import matplotlib
import pytest

from reference.notebooks import borrowed, strip

ROOT = Path(__file__).parents[3]
FOLDER = ROOT / "notebooks"
BORROWED = FOLDER / "gpu_in_a_browser.ipynb"  # which begins without the course, and clones it
NOTEBOOKS = sorted(FOLDER.glob("*.ipynb"))
WITHIN = [path for path in NOTEBOOKS if path != BORROWED]
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
    (into / "notebooks").mkdir()
    return executed([Path(shutil.copy(FOLDER / name, into / "notebooks")) for name in names], results_root, into)


def executed(copies: list[Path], results_root: Path, into: Path) -> list[Path]:
    (into / "notebooks/course.py").symlink_to(FOLDER / "course.py")
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
    return run([path.name for path in WITHIN], tmp_path_factory.mktemp("nothing"), tmp_path_factory.mktemp("without"))


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


def test_what_is_said_while_a_picture_is_made_goes_when_it_is_there(tmp_path):
    source = """
        import sys
        from course import show
        from matplotlib.figure import Figure
        def counted():
            print("counting gelu N=4 …", file=sys.stderr, flush=True)
            return Figure(figsize=(10, 1))
        show(counted)
    """
    content = json.loads((FOLDER / "precision.ipynb").read_text())
    cell = next(cell for cell in content["cells"] if cell["cell_type"] == "code")
    content["cells"] = [cell | {"source": textwrap.dedent(source).splitlines(keepends=True)}]
    notebook = tmp_path / "notebooks/counted.ipynb"
    notebook.parent.mkdir()
    notebook.write_text(json.dumps(content))
    executed([notebook], tmp_path, tmp_path)
    assert [shown["output_type"] for cell in outputs(notebook) for shown in cell] == ["display_data"]


# ---- the borrowed card's ---------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def address(tmp_path_factory) -> str:
    """A repository of the files as they stand."""
    repository = tmp_path_factory.mktemp("published")
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT,
        capture_output=True,
        check=True,
    )
    for name in filter(None, listed.stdout.decode().split("\0")):
        if (ROOT / name).is_file():
            (repository / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(ROOT / name, repository / name)
    git = ["git", "-C", repository, "-c", "user.name=a", "-c", "user.email=a@b.c"]
    for words in (["init", "--quiet"], ["add", "--all"], ["commit", "--quiet", "-m", "As it stands"]):
        subprocess.run([*git, *words], check=True)
    return f"file://{repository}"


def run_borrowed(address: str, home: Path, **more: str) -> list[dict]:
    """Its cells by nbmake, in a folder that has nothing of the course, on a machine without a card. `make` is the
    checkout's, where all is built."""
    work, bin_folder = home / "work", home / "bin"
    for folder in (work, bin_folder):
        folder.mkdir()
    shim = bin_folder / "make"
    real = shutil.which("make")
    shim.write_text(f'#!/bin/sh\n[ -e build ] || ln -s "{ROOT}/build" build\nexec {real} -C "{ROOT}" "$@"\n')
    (bin_folder / "nvidia-smi").write_text("#!/bin/sh\necho 'No devices were found'\nexit 6\n")
    for program in bin_folder.iterdir():
        program.chmod(0o755)
    notebook = work / BORROWED.name
    notebook.write_text(BORROWED.read_text().replace("<the address of this repository>", address))
    environment = os.environ | {"HOME": f"{home}", "MPLCONFIGDIR": matplotlib.get_cachedir()}
    environment |= {"PATH": f"{bin_folder}{os.pathsep}{os.environ['PATH']}", **more}
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "--nbmake", "--overwrite", notebook],
        cwd=work,
        env={name: value for name, value in environment.items() if name not in ("MAKEFLAGS", "MFLAGS", "MAKELEVEL")},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout
    return code_cells(notebook)


def text_of(cell: dict) -> str:
    return "".join("".join(shown.get("text", "")) for shown in cell["outputs"])


def test_a_borrowed_card_is_rehearsed_from_a_clone(address, tmp_path):
    if not (ROOT / "build/dry/check/lesson07").exists():
        pytest.skip("no build/dry/check/lesson07; make test builds it")
    cells = run_borrowed(address, tmp_path, DRY="1")
    said = [text_of(cell) for cell in cells]
    assert (tmp_path / "speed-of-light/notebooks/course.py").exists()
    assert "a rehearsal: the CPU device runs the kernels" in said[2]
    assert "$ make check-lesson04 DEVICE=gpu SOLUTION=1 DRY=1\n" in said[4]
    assert said[4].endswith("lesson 04 is right on the CPU device\n")
    assert "timed: lessons 04, 07\n" in said[7]
    drawn = [cell for cell in cells if any("image/png" in shown.get("data", {}) for shown in cell["outputs"])]
    assert ["".join(cell["source"]) for cell in drawn] == [
        "show(borrowed.roof)",
        "show(borrowed.beside)",
        "show(borrowed.waterfall)",
    ]
    assert "reference/timings/README.md says what is in it and how to send it" in said[-1]


def test_without_a_card_each_cell_says_so_in_one_line(address, tmp_path):
    cells = run_borrowed(address, tmp_path, DRY="0")
    assert [text_of(cell) for cell in cells[2:]] == [f"{borrowed.NO_CARD}\n"] * len(cells[2:])


def test_an_address_that_is_none_is_one_line(tmp_path):
    [command, _] = code_cells(BORROWED)[1]["source"]
    line = command[1:].replace("{ADDRESS}", f"file://{tmp_path}/nothing")
    done = subprocess.run(line, shell=True, env=os.environ | {"HOME": f"{tmp_path}"}, capture_output=True, text=True)
    assert done.stdout.startswith("not cloned: ADDRESS must be what git clone takes")
    assert done.stdout.count("\n") == 1


# ---- how they are kept -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_is_kept_without_outputs(path):
    assert path.read_text() == strip.text_of(json.loads(path.read_text())), "make format takes them out"


def statements(cell: dict) -> list[ast.stmt]:
    """But for the lines that a shell or the notebook itself runs."""
    lines = [line for line in cell["source"] if not line.startswith(("!", "%"))]
    return ast.parse("".join(lines)).body


def code_cells(path: Path) -> list[dict]:
    return [cell for cell in json.loads(path.read_text())["cells"] if cell["cell_type"] == "code"]


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_cells_import_and_call_and_nothing_else(path):
    for cell in code_cells(path)[2 * (path == BORROWED) :]:
        assert not any(line.startswith(("!", "%")) for line in cell["source"])
        for statement in statements(cell):
            is_call = isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Call)
            assert is_call or isinstance(statement, ast.ImportFrom), ast.unparse(statement)
            within = (ast.Lambda, ast.ListComp, ast.DictComp, ast.SetComp, ast.GeneratorExp, ast.BinOp)
            assert not any(isinstance(node, within) for node in ast.walk(statement)), ast.unparse(statement)


def test_the_borrowed_notebook_begins_with_one_address_and_one_clone():
    address, clone, *_ = code_cells(BORROWED)
    [statement] = statements(address)
    assert ast.unparse(statement) == "ADDRESS = '<the address of this repository>'"
    assert statements(clone) == []
    command, place = clone["source"]
    assert re.fullmatch(r'!test -d (\S+) \|\| git clone --quiet "{ADDRESS}" \1 \|\| echo "not cloned: .+"\n', command)
    assert place == "%cd -q ~/speed-of-light/notebooks"


def test_outputs_and_counts_and_an_editors_notes_are_taken_out():
    cell = {"cell_type": "code", "id": "a", "source": ["x"], "metadata": {"scrolled": True}}
    run_one = cell | {"outputs": [{"text": "1"}], "execution_count": 7}
    content = {"cells": [run_one, {"cell_type": "markdown", "source": [], "metadata": {}}], "metadata": {"a": 1}}
    strip.before_saving({"type": "notebook", "content": content}, path="x.ipynb")
    assert content["cells"][0] == cell | {"metadata": {}, "outputs": [], "execution_count": None}
    assert "outputs" not in content["cells"][1]
    assert content["metadata"] == strip.KERNEL
    assert strip.strip({"cells": [], "metadata": {"accelerator": "GPU"}})["metadata"]["accelerator"] == "GPU"
    strip.before_saving({"type": "file", "content": "text"})
