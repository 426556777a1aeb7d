# SPDX-License-Identifier: MIT
"""Counts the lines of the course's harness: C++, CUDA, Python, make and shell files that git tracks.

    count_lines.py [COMMIT]     the working tree's, or a commit's

Files of a folder `tests` are counted apart. Lessons, solutions and pages are no part of the harness.
"""

import subprocess
import sys
from collections import Counter
from pathlib import Path, PurePath

ROOT = Path(__file__).resolve().parents[1]
FOLDERS = ("checker", "reference", "scripts", "make", "lessons/gpt2")
SUFFIXES = {
    "C++ and CUDA": (".cpp", ".h", ".hpp", ".cu", ".cuh"),
    "Python": (".py",),
    "make and shell": (".mk", ".sh"),
}


def git(root: Path, *words: str) -> str:
    return subprocess.run(["git", *words], cwd=root, capture_output=True, text=True, check=True).stdout


def read_tree(root: Path, commit: str = "") -> dict[str, str]:
    """Returns the harness's files with their content."""
    listing = ("ls-tree", "-r", "--name-only", commit) if commit else ("ls-files",)
    names = git(root, *listing, *FOLDERS).splitlines()
    wanted = [name for name in names if language_of(name) and (commit or (root / name).is_file())]
    return {name: git(root, "show", f"{commit}:{name}") if commit else (root / name).read_text() for name in wanted}


def language_of(name: str) -> str:
    """Returns the language by the name's end, or an empty string if it is not counted."""
    suffix = PurePath(name).suffix
    return next((language for language, suffixes in SUFFIXES.items() if suffix in suffixes), "")


def count(files: dict[str, str]) -> dict[tuple[str, bool], int]:
    """Returns the lines by language and by whether they are tests."""
    lines: Counter[tuple[str, bool]] = Counter()
    for name, text in files.items():
        lines[language_of(name), "tests" in PurePath(name).parts] += text.count("\n")
    return dict(lines)


def table(lines: dict[tuple[str, bool], int]) -> str:
    rows = [(language, lines.get((language, False), 0), lines.get((language, True), 0)) for language in SUFFIXES]
    rows.append(("all", sum(row[1] for row in rows), sum(row[2] for row in rows)))
    head = f"{'':16}{'code':>9}{'tests':>9}{'both':>9}"
    return "\n".join([head, *(f"{name:16}{code:9,}{tests:9,}{code + tests:9,}" for name, code, tests in rows)])


if __name__ == "__main__":
    print(table(count(read_tree(ROOT, *sys.argv[1:2]))))
