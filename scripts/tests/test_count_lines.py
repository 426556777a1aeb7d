# SPDX-License-Identifier: MIT
"""The count of the harness's lines: which files are counted, and what are tests."""

import subprocess

import pytest

from scripts import count_lines

FILES = {
    "checker/a.cpp": "1\n2\n",
    "checker/tests/a_test.cpp": "1\n",
    "reference/b.py": "1\n2\n3\n",
    "make/c.mk": "1\n",
    "scripts/d.sh": "1\n2\n3\n4\n",
    "checker/page.md": "1\n",
    "solutions/e.cu": "1\n",
}


@pytest.fixture
def tree(tmp_path):
    for name, text in FILES.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    who = ("-c", "user.name=t", "-c", "user.email=t@example.org")
    for words in (["init", "-q"], ["add", "."], [*who, "commit", "-qm", "a"]):
        subprocess.run(["git", *words], cwd=tmp_path, check=True)
    return tmp_path


def test_counts_tracked_files_of_the_harness_by_language(tree):
    (tree / "checker/untracked.cpp").write_text("1\n")
    assert count_lines.count(count_lines.read_tree(tree)) == {
        ("C++ and CUDA", False): 2,
        ("C++ and CUDA", True): 1,
        ("Python", False): 3,
        ("make and shell", False): 5,
    }


def test_counts_a_commit_whatever_the_working_tree_holds(tree):
    (tree / "checker/a.cpp").unlink()
    (tree / "make/c.mk").write_text("")
    assert count_lines.read_tree(tree, "HEAD") == {
        name: text for name, text in FILES.items() if not name.endswith((".md", ".cu"))
    }


def test_the_table_ends_with_the_sum():
    lines = {("C++ and CUDA", False): 1200, ("C++ and CUDA", True): 30, ("Python", True): 4}
    rows = count_lines.table(lines).splitlines()
    assert rows[0].split() == ["code", "tests", "both"]
    assert rows[-1].split() == ["all", "1,200", "34", "1,234"]
