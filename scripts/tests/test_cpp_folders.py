# SPDX-License-Identifier: MIT
"""The include graph of C++ files: what is a unit, what is left out, which cycles there are."""

from pathlib import Path

import pytest

from scripts import cpp_folders


@pytest.fixture
def tree(tmp_path):
    """Writes files from their names and what they include; returns the root."""

    def write(**files: str) -> Path:
        for name, included in files.items():
            path = tmp_path / "checker" / name.replace("__", "/").replace("_h", ".h").replace("_cpp", ".cpp")
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text("".join(f'#include "{one}"\n' for one in included.split()))
        return tmp_path

    return write


def cycles_of(root: Path) -> list[list[str]]:
    files = cpp_folders.cpp_files(root)
    return [sorted(map(str, cycle)) for cycle in cpp_folders.cycles(cpp_folders.includes(root, files))]


def test_a_source_and_its_header_are_one_unit(tree):
    root = tree(a_h="b.h", a_cpp="a.h", b_h="", b_cpp="b.h checker/a.h")
    assert cycles_of(root) == [["checker/a", "checker/b"]]


def test_a_cycle_may_lead_through_several_folders(tree):
    root = tree(x__a_h="checker/y/b.h", y__b_h="c.h", y__c_h="checker/x/a.h", y__d_h="c.h")
    assert cycles_of(root) == [["checker/x/a", "checker/y/b", "checker/y/c"]]


def test_includes_in_one_direction_are_no_cycle(tree):
    assert cycles_of(tree(a_h="b.h c.h", b_h="c.h", c_h="", c_cpp="c.h")) == []


def test_tests_and_copies_of_cudas_headers_are_left_out(tree):
    root = tree(a_h="", simt__include__cuda_h="", tests__b_h="", simt__tests__kernels__c_cpp="")
    assert cpp_folders.cpp_files(root) == [Path("checker/a.h")]


def test_the_table_counts_files_and_lines_of_each_folder(tree):
    root = tree(a_h="b.h", b_h="", x__c_h="d.h e.h", x__c_cpp="c.h")
    rows = cpp_folders.folder_table(root, cpp_folders.cpp_files(root)).splitlines()
    assert [" ".join(row.split()) for row in rows] == [
        "checker 2 files 1 lines",
        "checker/x 2 files 3 lines",
        "all 4 files 4 lines",
    ]
