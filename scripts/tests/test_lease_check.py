# SPDX-License-Identifier: MIT
"""`make lease-check`: what travels to a borrowed card, by a small checkout made here."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

SCRIPT = Path(__file__).resolve().parents[1] / "lease_check.sh"
MEGABYTE = 10**6


def git(folder: Path, *words: str) -> str:
    author = ["-c", "user.name=T", "-c", "user.email=t@example.org"]
    done = subprocess.run(["git", *author, *words], cwd=folder, capture_output=True, text=True, check=True)
    return done.stdout.strip()


def file_of(path: Path, size: int) -> None:
    """A file of that many bytes, which takes no room on the disk."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.touch()
    os.truncate(path, size)


@pytest.fixture
def desk(tmp_path: Path) -> Path:
    folder = tmp_path / "desk"
    file_of(folder / "tracked", 3 * MEGABYTE)
    (folder / ".gitignore").write_text("/.deps/\n/build/\n")
    git(tmp_path, "init", "-q", "desk")
    git(folder, "add", ".")
    git(folder, "commit", "-q", "-m", "one")
    file_of(folder / "build/ignored", 90 * MEGABYTE)
    file_of(folder / ".deps/usr/include/gtest/gtest.h", 2 * MEGABYTE)
    return folder


def check(folder: Path) -> subprocess.CompletedProcess:
    return subprocess.run(
        [SCRIPT], cwd=folder, env=os.environ | {"MAKE": "make"}, capture_output=True, text=True, check=False
    )


def test_names_what_travels_the_commit_and_both_lines_to_type(desk):
    done = check(desk)
    assert (done.returncode, done.stderr) == (0, "")
    head = git(desk, "rev-parse", "HEAD")
    assert "the tree, but for ignored files         2 files     3.0 MB\n" in done.stdout
    assert f"\ncommit {head}\n" in done.stdout
    for lease in ("9m30s", "3m"):
        line = f"  PATH=$PATH:$PWD/.deps/bin make gpu-report LEASE={lease} OUT=$OUT COMMIT={head}\n"
        assert line in done.stdout
    (desk / "untracked").write_text("new\n")
    assert f"\ncommit {head}, and 1 files that differ from it\n" in check(desk).stdout


def test_make_is_taken_along_and_is_what_the_line_runs(desk):
    assert check(desk).returncode == 0
    line = "PATH=$PATH:$PWD/.deps/bin make --version"
    command = [shutil.which("bash"), "-c", line]
    done = subprocess.run(command, cwd=desk, env={"PATH": "/nowhere"}, capture_output=True, text=True, check=False)
    assert done.stdout.startswith("GNU Make"), done.stderr
    assert (desk / ".deps/bin/make").stat().st_mode & 0o111


def test_without_deps_one_line_names_the_command_that_makes_it(desk):
    shutil.rmtree(desk / ".deps")
    done = check(desk)
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr == "lease-check: .deps is not there: make setup LOCAL=gpu\n"


def test_above_60_mb_it_fails_and_names_the_largest_file(desk):
    file_of(desk / "large.bin", 55 * MEGABYTE)
    done = check(desk)
    assert done.returncode == 1
    assert "more than the 60.0 MB that may travel" in done.stderr
    assert done.stderr.endswith("the largest file is large.bin\n")
    assert "gpu-report" not in done.stdout


def test_a_deps_of_all_packages_is_named_where_it_is_too_large(desk):
    file_of(desk / ".deps/usr/include/boost/config.hpp", MEGABYTE)
    assert check(desk).returncode == 0
    file_of(desk / ".deps/usr/lib/libopenblas.a", 58 * MEGABYTE)
    assert check(desk).stderr.endswith(": .deps is that of LOCAL=1: rm -r .deps && make setup LOCAL=gpu\n")


def test_where_no_commit_is_known_nothing_is_printed_to_type(desk):
    shutil.rmtree(desk / ".git")
    done = check(desk)
    assert done.returncode == 1
    assert done.stderr.startswith("lease-check: this folder is no git checkout")
