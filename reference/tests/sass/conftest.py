# SPDX-License-Identifier: MIT
"""What nvcc emits for a solution: the recorded row, and one that is compiled anew."""

import json
import os
from functools import cache
from pathlib import Path

import pytest

from reference.gpu import kernel_sass, nvcc, sass_table, tools
from reference.gpu.tools import ToolError

ROOT = Path(__file__).parents[3]
FLAGS = ["-std=c++20", "-O3", "-lineinfo", "-I.", "-Isolutions"]  # as make says them


@cache
def cublas() -> list[str]:
    """As make takes it: CUBLAS=DIR, else what it has fetched for nvcc's release."""
    release = nvcc.version().partition(".")[0]
    folder = os.environ.get("CUBLAS") or next(iter(sorted(ROOT.glob(f"build/cublas/{release}/nvidia/*"))[-1:]), None)
    return ["-isystem", f"{folder}/include"] if folder else []


@cache
def compiled(source: str, arch: str) -> dict:
    made = kernel_sass.kernel_sass(Path(), Path(source), arch, [*FLAGS, *cublas()])
    return json.loads(json.dumps(made))


@pytest.fixture(scope="session")
def table():
    return sass_table.read(ROOT)


@pytest.fixture
def anew(monkeypatch):
    """Compiles (source, arch); a test that needs more than is here is skipped."""
    monkeypatch.chdir(ROOT)

    def compile_or_skip(source: str, arch: str) -> dict:
        try:
            tools.find("nvdisasm")
            nvcc.require(arch)
            return compiled(source, arch)
        except ToolError as error:
            if "does not compile" in str(error):
                raise
            pytest.skip(str(error))

    return compile_or_skip


@pytest.fixture
def emitted(table, anew):
    """The recorded row of (source, arch) where it is of the source as it stands; else, and where nothing is kept of
    earlier runs, one of nvcc."""

    def row(source: str, arch: str) -> dict:
        known = table.get((source, arch), {})
        is_fresh = known.get("digest") == kernel_sass.digest(ROOT, Path(source))
        return known if is_fresh and not os.environ.get("SOL_FRESH") else anew(source, arch)

    return row
