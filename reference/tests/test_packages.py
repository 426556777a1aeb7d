# SPDX-License-Identifier: MIT
"""The packages of reference/ use each other one way, as README.md draws it."""

import ast
from pathlib import Path

import pytest

REFERENCE = Path(__file__).parents[1]
USES = {
    "model": set(),
    "ops": {"model"},
    "dump": {"model", "ops"},
    "gpu": {"model", "ops"},
    "tensor_cores": {"dump", "gpu", "ops"},
    "plots": {"gpu", "model", "ops", "tensor_cores"},
    "public_programs": {"gpu"},
    "report": {"gpu", "model", "ops"},
    "timings": {"gpu"},
    "notebooks": {"dump", "gpu", "model", "ops", "plots", "timings"},
}


def imported(path: Path) -> set[str]:
    """Modules of reference/ that a file imports, as "package.module"."""
    names = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.ImportFrom) and node.module:
            names |= {node.module} | {f"{node.module}.{alias.name}" for alias in node.names}
        elif isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
    return {name.removeprefix("reference.") for name in names if name.startswith("reference.")}


def test_every_module_stands_in_a_package():
    assert {path.parent.name for path in REFERENCE.glob("*/*.py")} == {*USES, "tests"}
    assert list(REFERENCE.glob("*.py")) == []


@pytest.mark.parametrize("package", USES)
def test_a_package_uses_only_those_that_it_may(package):
    for path in (REFERENCE / package).glob("*.py"):
        packages = {name.split(".")[0] for name in imported(path)}
        assert packages <= USES[package] | {package}, path


def test_no_package_is_in_a_cycle():
    left = dict(USES)
    while free := [package for package, uses in left.items() if not uses & left.keys()]:
        for package in free:
            del left[package]
    assert not left


def test_no_folder_holds_more_than_30_files():
    for folder in (REFERENCE, *REFERENCE.glob("*/")):
        assert sum(path.is_file() for path in folder.iterdir()) <= 30, folder
