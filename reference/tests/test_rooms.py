# SPDX-License-Identifier: MIT
"""The rooms of reference/ use each other one way, as README.md draws it."""

import ast
from pathlib import Path

import pytest

REFERENCE = Path(__file__).parents[1]
USES = {
    "model": set(),
    "ops": {"model"},
    "dump": {"model", "ops"},
    "gpu": {"model", "ops"},
    "plots": {"gpu", "model", "ops"},
    "public_programs": {"gpu"},
    "report": {"gpu", "model", "ops"},
    "timings": {"gpu"},
    "notebooks": {"dump", "gpu", "model", "ops", "plots", "timings"},
}


def imported(path: Path) -> set[str]:
    """Modules of reference/ that a file imports, as "room.module"."""
    names = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.ImportFrom) and node.module:
            names |= {node.module} | {f"{node.module}.{alias.name}" for alias in node.names}
        elif isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
    return {name.removeprefix("reference.") for name in names if name.startswith("reference.")}


def test_every_module_stands_in_a_room():
    assert {path.parent.name for path in REFERENCE.glob("*/*.py")} == {*USES, "tests"}
    assert list(REFERENCE.glob("*.py")) == []


@pytest.mark.parametrize("room", USES)
def test_a_room_uses_only_those_that_it_may(room):
    for path in (REFERENCE / room).glob("*.py"):
        rooms = {name.split(".")[0] for name in imported(path)}
        assert rooms <= USES[room] | {room}, path


def test_no_room_is_in_a_circle():
    left = dict(USES)
    while free := [room for room, uses in left.items() if not uses & left.keys()]:
        for room in free:
            del left[room]
    assert not left


def test_no_folder_holds_more_than_30_files():
    for folder in (REFERENCE, *REFERENCE.glob("*/")):
        assert sum(path.is_file() for path in folder.iterdir()) <= 30, folder
