# SPDX-License-Identifier: MIT
"""reference/sass.json: it is of the solutions as they stand, and nvcc makes the same of them again."""

import os
import shutil
from pathlib import Path

import pytest

from reference.gpu import nvcc, sass_table, tools
from reference.gpu.tools import ToolError

ROOT = Path(__file__).parents[3]
FLAGS = "-std=c++20 -O3 -lineinfo -I. -Isolutions"  # as make says them
# What is compiled anew in each run; where nothing is kept of earlier runs it is all.
SAMPLE = [
    ("solutions/04_first_kernel/gelu.cu", "sm_75"),
    ("solutions/07_tiled_matmul/matmul.cu", "sm_86"),
    ("solutions/08_register_tiled_matmul/matmul.cu", "sm_80"),
    ("solutions/09_warp_tiled_matmul/matmul.cu", "sm_90a"),
    ("solutions/10_double_buffered_matmul/matmul.cu", "sm_75"),
    ("solutions/10_double_buffered_matmul/matmul.cu", "sm_120"),
    ("solutions/12_cublaslt_fusion/layernorm.cu", "sm_89"),
]
EVERYTHING = [(source.as_posix(), arch) for source in sass_table.solutions(ROOT) for arch in sass_table.ARCHS]


def nvcc_here() -> str | None:
    try:
        tools.find("nvdisasm")
        return nvcc.version()
    except ToolError:
        return None


def test_the_table_is_of_the_solutions_as_they_stand(table):
    old = sorted({source.as_posix() for source, _ in sass_table.stale(ROOT, table)})
    assert old == [], sass_table.MEND


def test_the_table_has_nothing_else(table):
    wanted = {(source.as_posix(), arch) for source in sass_table.solutions(ROOT) for arch in sass_table.ARCHS}
    assert set(table) == wanted
    assert len({row["nvcc"] for row in table.values()}) == 1


def test_the_table_has_every_kernel_by_a_name_of_the_source(table):
    for (source, arch), row in table.items():
        names = {name.partition(" [")[0] for name in row["kernels"]}
        assert names == set(tools.kernels_of(ROOT / source)), (source, arch)


@pytest.mark.parametrize(("source", "arch"), EVERYTHING if os.environ.get("SOL_FRESH") else SAMPLE)
def test_nvcc_makes_the_same_of_a_solution_again(table, anew, source, arch):
    row = table[source, arch]
    if nvcc_here() != row["nvcc"]:
        pytest.skip(f"nvdisasm and nvcc {row['nvcc']} are not here")
    assert anew(source, arch) == row


def test_a_solution_that_changed_is_named_with_the_mend(monkeypatch, tmp_path, capsys):
    solution = tmp_path / "solutions/04_first_kernel"
    solution.mkdir(parents=True)
    shutil.copy(ROOT / "solutions/04_first_kernel/gelu.cu", solution)
    (tmp_path / "reference").mkdir()
    rows = [row for row in sass_table.read(ROOT).values() if row["source"].endswith("04_first_kernel/gelu.cu")]
    (tmp_path / "reference/sass.json").write_text(sass_table.to_json(rows))
    monkeypatch.chdir(tmp_path)
    assert sass_table.main(["--flags", FLAGS]) == 0
    assert capsys.readouterr().out == "reference/sass.json is up to date\n"
    with (solution / "gelu.cu").open("a") as file:
        file.write(os.linesep)
    assert sass_table.main(["--flags", FLAGS]) == 1
    said = capsys.readouterr().out
    assert said == f"solutions/04_first_kernel/gelu.cu has changed since\n{sass_table.MEND}\n"


def test_a_table_that_cannot_be_read_is_named_with_the_mend(tmp_path):
    with pytest.raises(ToolError, match=r"sass\.json cannot be read .*: make sass-table WRITE=1"):
        sass_table.read(tmp_path)
