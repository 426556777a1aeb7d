# SPDX-License-Identifier: MIT
"""other_toolkit.sh, other_compilers.sh and borrowed.sh: what they say where a toolchain is not to be had, or
make fails with it."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SCRIPTS = ("apart.sh", "other_toolkit.sh", "other_compilers.sh", "borrowed.sh", "cuda.sh", "setup.sh")


@pytest.fixture
def tree(tmp_path):
    """Runs a script in a tree of one file, where programs have the texts that are given."""
    (tmp_path / "scripts").mkdir()
    for name in SCRIPTS:
        shutil.copy(ROOT / "scripts" / name, tmp_path / "scripts")
    subprocess.run(["git", "init", "--quiet"], cwd=tmp_path, check=True)

    def run(script: str, programs: dict[str, str], **environment: str) -> subprocess.CompletedProcess:
        for name, text in programs.items():
            path = tmp_path / "bin" / name
            path.parent.mkdir(exist_ok=True)
            path.write_text(f"#!/bin/sh\n{text}\n")
            path.chmod(0o755)
        path = f"{tmp_path / 'bin'}:{os.environ['PATH']}"
        return subprocess.run(
            ["bash", f"scripts/{script}"],
            cwd=tmp_path,
            capture_output=True,
            text=True,
            check=False,
            env={**os.environ, "PATH": path, **environment},
        )

    return run


NO_TRIXIE = {"apt-get": 'case "$*" in *indextargets*) echo a://mirror/ ;; *) exit 100 ;; esac', "dpkg-deb": ""}
NO_PACKAGE = {"apt-cache": "exit 100"}


def test_a_toolkit_that_the_mirrors_do_not_have_is_skipped_by_name(tree):
    done = tree("other_toolkit.sh", NO_TRIXIE)
    assert done.returncode == 0
    assert done.stdout.splitlines()[-1] in (
        "skipped: CUDA 12.4: apt's mirrors have no Debian trixie (main non-free)",
        "skipped: CUDA 12.4: Debian's keys are not there (/usr/share/keyrings/debian-archive-keyring.gpg)",
    )


def test_a_compiler_that_the_mirrors_do_not_have_is_skipped_by_name_and_so_is_the_next(tree):
    done = tree("other_compilers.sh", {**NO_TRIXIE, **NO_PACKAGE, "id": "echo 0"}, VERSIONS="97 98")
    assert done.returncode == 0
    said = done.stdout.splitlines()
    assert [line.split(":")[:2] for line in said] == [["skipped", " g++ 97"], ["skipped", " g++ 98"]]


def test_a_tree_of_another_system_is_skipped_without_root(tree):
    done = tree("other_compilers.sh", {**NO_TRIXIE, **NO_PACKAGE, "id": "echo 1000"}, VERSIONS="97")
    assert done.returncode == 0
    assert done.stdout == "skipped: g++ 97: a tree of Debian 13 needs root\n"


def test_this_machines_own_compiler_is_not_tried_again(tree):
    done = tree("other_compilers.sh", {"g++": "echo 97"}, VERSIONS="97")
    assert done.returncode == 0
    assert done.stdout == "g++ 97 is this machine's: make test compiles with it\n"


def test_an_error_of_another_compiler_is_shown_and_fails_and_the_next_is_tried_all_the_same(tree):
    make = 'echo compiling; echo "x.cpp:1:1: error: no such thing"; case "$*" in *g++-97*) exit 2 ;; esac'
    done = tree("other_compilers.sh", {"g++-97": "", "g++-98": "", "make": make}, VERSIONS="97 98")
    assert done.returncode == 1
    assert done.stderr.splitlines() == [
        "x.cpp:1:1: error: no such thing",
        "failed: g++ 97: build/compilers/97.log has the rest",
    ]
    assert done.stdout.splitlines()[-1] == "g++ 98: everything compiles and links; the checks of lessons 01 and 06 pass"


# ---- where little is installed ---------------------------------------------------------------------------------------

ROOT_USER = {"id": "echo 0", "unshare": '[ "$2" = true ] || { shift 3; exec "$@"; }', "mount": "", "nvcc": ""}


@pytest.mark.parametrize(
    ("programs", "why"),
    [
        ({"id": "echo 1000"}, "hiding packages needs root"),
        ({"unshare": "exit 1"}, "mount namespaces are not allowed here"),
        ({"apt-get": "exit 100"}, "the packages could not be downloaded; the command can be repeated as it is"),
    ],
)
def test_what_hides_packages_is_skipped_where_it_cannot(tree, programs, why):
    done = tree("borrowed.sh", ROOT_USER | programs)
    assert done.returncode == 0
    assert done.stdout == f"skipped: a borrowed machine: {why}\n"


def test_what_hides_packages_fails_where_they_are_not_hidden(tree, tmp_path):
    for name in ("setup.sh", "lease_check.sh"):
        (tmp_path / "scripts" / name).write_text('#!/bin/sh\nmkdir -p "$SETUP_DEPS/bin"\n')
        (tmp_path / "scripts" / name).chmod(0o755)
    (tmp_path / "make").mkdir()
    (tmp_path / "make/report.mk").write_text("report_parts := checks simt\n")
    done = tree("borrowed.sh", ROOT_USER)
    assert done.returncode == 1
    assert "git is not hidden" in done.stderr
    assert "failed: a borrowed machine: build/borrowed/log has the rest" in done.stderr
