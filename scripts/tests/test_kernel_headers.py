# SPDX-License-Identifier: MIT
"""The headers of kernel files read none of the standard library's large ones, which take longer to read than most
kernels take to compile."""

import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
LARGE = {"atomic", "algorithm", "functional", "iostream", "map", "memory", "stdexcept", "string", "typeindex", "vector"}
HEADERS = ["lessons/gpt2/ops.h", "lessons/gpt2/launch.h", "checker/ptx.h", "checker/cublas_check.h",
           "checker/cublas_lt.h", "cooperative_groups/reduce.h"]  # fmt: skip


@pytest.mark.parametrize("header", HEADERS)
def test_reads_no_large_header(header):
    made = subprocess.run(
        ["g++", "-std=c++20", "-I.", "-Ichecker/simt/include", "-M", "-x", "c++", "-"],
        input=f'#include "{header}"\n',
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    files = [Path(word) for word in made.stdout.replace("\\\n", " ").split()[1:]]
    assert any(file.match(header) for file in files)
    assert not sorted(file.name for file in files if "c++" in file.parts and file.name in LARGE)
