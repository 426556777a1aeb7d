# SPDX-License-Identifier: MIT
"""The C++ folders use each other in one direction, by the tables of checker/README.md and checker/simt/README.md.

A table begins with `| folder |`. The first column names a folder as a link or in backquotes, below the page's own. A
folder that is not named belongs to the named one around it. Each folder uses only those in the rows above its own."""

import os
import re
from collections import Counter
from pathlib import Path

import pytest

from scripts import cpp_folders

ROOT = Path(__file__).resolve().parents[2]
CHECKER, SIMT = Path("checker"), Path("checker/simt")
ADAPTER = CHECKER / "devices/simt"
RUNTIME = SIMT / "runtime"
MOST_FILES, MOST_FILES_OF_RUNTIME = 30, 16
LONGEST_CYCLE = 9


def folders_named(page: str, below: Path) -> list[Path]:
    """Returns the folders of the first column, from top to bottom."""
    rows = page.partition("\n| folder |")[2].partition("\n\n")[0].splitlines()[2:]
    names = [re.match(r"\| (?:\[[^]]*\]\(([^)]*)\)|`([^`]*)`) \|", row) for row in rows]
    assert all(names), f"{below}: each row begins with one folder, as a link or in backquotes"
    return [Path(os.path.normpath(below / (name[1] or name[2]))) for name in names]


def folder_of(file: Path, folders: list[Path]) -> Path | None:
    """Returns the innermost of the folders around the file."""
    return max((folder for folder in folders if folder in file.parents), default=None, key=lambda it: len(it.parts))


def upward(graph: cpp_folders.Graph, folders: list[Path]) -> list[str]:
    """Returns the includes of a folder that stands below the including file's."""
    place = {folder: row for row, folder in enumerate(folders)}
    return [
        f"{file} includes {other}"
        for file, included in graph.items()
        for other in sorted(included)
        if (own := folder_of(file, folders)) and (its := folder_of(other, folders)) and place[its] > place[own]
    ]


@pytest.fixture(scope="module")
def graph() -> dict[Path, set[Path]]:
    """Returns all includes but those of CUDA's headers."""
    found = cpp_folders.includes(ROOT, cpp_folders.cpp_files(ROOT))
    return {
        file: {other for other in included if cpp_folders.CUDA_HEADERS not in other.parents}
        for file, included in found.items()
    }


def is_in(folder: Path, file: Path) -> bool:
    return folder in file.parents


IN_CHECKER = folders_named((ROOT / CHECKER / "README.md").read_text(), CHECKER)
IN_SIMT = folders_named((ROOT / SIMT / "README.md").read_text(), SIMT)


def test_each_folder_is_in_the_table(graph):
    assert {file for file in graph if file.parent != CHECKER and not folder_of(file, IN_CHECKER)} == set()
    assert [folder for folder in IN_CHECKER if not (ROOT / folder).is_dir()] == []


def test_each_folder_of_the_checker_uses_only_those_above_it(graph):
    of_checker = {file: included for file, included in graph.items() if not is_in(SIMT, file)}
    assert upward(of_checker, IN_CHECKER) == []


def test_headers_beside_the_page_use_no_folder(graph):
    beside = {file: included for file, included in graph.items() if file.parent == CHECKER}
    assert {other for included in beside.values() for other in included if other.parent != CHECKER} == set()


def test_only_its_adapter_uses_the_cpu_device(graph):
    users = {file for file, included in graph.items() if any(is_in(SIMT, other) for other in included)}
    assert {file for file in users if not is_in(SIMT, file) and not is_in(ADAPTER, file)} == set()


def test_the_cpu_device_uses_no_folder_of_the_checker(graph):
    used = {other for file, included in graph.items() if is_in(SIMT, file) for other in included}
    assert {other for other in used if not is_in(SIMT, other) and other.parent != CHECKER} == set()


def test_each_folder_of_the_cpu_device_is_in_its_table_and_uses_only_those_above_it(graph):
    own = {file: included for file, included in graph.items() if is_in(SIMT, file) and file.parent != SIMT}
    assert {file for file in own if not folder_of(file, IN_SIMT)} == set()
    assert upward(own, IN_SIMT) == []


def test_no_files_include_each_other_outside_the_cpu_device(graph):
    assert [cycle for cycle in cpp_folders.cycles(graph) if not all(is_in(SIMT, unit) for unit in cycle)] == []


def test_no_cycle_has_more_than_nine_files(graph):
    assert [cycle for cycle in cpp_folders.cycles(graph) if len(cycle) > LONGEST_CYCLE] == []


def test_no_folder_has_too_many_files(graph):
    counts = Counter(file.parent for file in graph)
    most = {folder: MOST_FILES_OF_RUNTIME if RUNTIME in (folder, *folder.parents) else MOST_FILES for folder in counts}
    assert {str(folder): count for folder, count in counts.items() if count > most[folder]} == {}


# ---- the rules themselves --------------------------------------------------------------------------------------------

PAGE = """
| folder | what |
|---|---|
| [low](low) | a |
| `low/inner/` | b |
| [high](../high) | c |

| folder | of another table |
"""
ROWS = [Path("c/low"), Path("c/low/inner"), Path("high")]


def test_the_table_is_read_to_its_end_and_below_the_pages_folder():
    assert folders_named(PAGE, Path("c")) == ROWS


def test_an_include_of_a_folder_further_down_is_named():
    low, inner, high = Path("c/low/a.h"), Path("c/low/inner/deep/b.h"), Path("high/c.h")
    assert upward({high: {low, inner}, inner: {low, inner}, low: {low}}, ROWS) == []
    assert upward({low: {inner}}, ROWS) == [f"{low} includes {inner}"]
    assert upward({inner: {high}}, ROWS) == [f"{inner} includes {high}"]
