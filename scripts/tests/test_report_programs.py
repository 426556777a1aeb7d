# SPDX-License-Identifier: MIT
"""`make report-programs`, with compilers that write empty files."""

import os
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PARTS = (
    "checks calibrate timings baselines forward_b4 forward_b1 forward_b16 ladder waterfall given sanitize ncu simt libs"
)
ALWAYS = {"build/tools/lessons", "build/tools/ops", "build/tools/gpu"}
# It refuses the file $BROKEN, and writes whatever follows -o and -MF.
COMPILER = """case "$*" in
*--version) echo "Cuda compilation tools, release 13.0, V13.0.99"; exit ;;
*--dryrun*) exit ;;
-dumpfullversion) echo 12.2.0; exit ;;
esac
case " $* " in *" ${BROKEN:-none} "*) echo "$BROKEN: error: broken" >&2; exit 1 ;; esac
while [ $# -gt 0 ]; do
    case $1 in -o | -MF) : >$2 ;; esac
    shift
done"""


def program(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o755)
    return path


class Tree:
    """The checkout's files with a build folder of its own, two compilers that compile nothing, and a card."""

    def __init__(self, folder: Path):
        self.root, self.bin = folder / "tree", folder / "bin"
        self.root.mkdir()
        for entry in ROOT.iterdir():
            if entry.name not in (".git", "build", ".venv", ".deps", "results"):
                (self.root / entry.name).symlink_to(entry)
        for name in ("nvcc", "cxx"):
            program(self.bin / name, COMPILER)
        program(self.root / "build/tools/gpu", "echo 90a")

    def make(self, *arguments: str, **variables: str) -> subprocess.CompletedProcess:
        ours = ("MAKEFLAGS", "MFLAGS", "MAKELEVEL", "MAKEOVERRIDES", "CUDA_HOME", "CUDA_PATH", "NVCC_CXX", "CUBLAS")
        environment = {name: value for name, value in os.environ.items() if name not in ours}
        places = {"SETUP_ROOT": str(self.bin), "SETUP_VENV": str(self.bin), "PATH": f"{self.bin}:{os.environ['PATH']}"}
        there = ["-o", "build/tools/gpu", "-o", "build/.setup", "CUBLAS="]
        return subprocess.run(
            ["make", *there, *arguments],
            cwd=self.root,
            env=environment | places | variables,
            capture_output=True,
            text=True,
            check=False,
        )

    def named(self, *arguments: str) -> set[str]:
        done = self.make("--eval=named: ; @printf '%s\\n' $(report_programs)", "named", *arguments)
        assert done.returncode == 0, done.stderr
        return set(done.stdout.split())


@pytest.fixture
def tree(tmp_path):
    return Tree(tmp_path)


# ---- the programs ----------------------------------------------------------------------------------------------------


def test_all_parts_are_taken_unless_parts_says_which(tree):
    assert tree.named() == tree.named(f"PARTS={PARTS}")
    always = tree.named("PARTS=baselines")
    assert always > ALWAYS
    assert {path.rpartition("/")[0] for path in always - ALWAYS} == {"build/tools/calls"}
    assert tree.named("PARTS=calibrate") == always | {"build/calibrate-gpu"}


@pytest.mark.parametrize(
    ("part", "has"),
    [
        ("checks", "build/tools/wrong build/gpu/wrong/commands build/gpu/check/lesson16"),
        ("timings", "build/gpu/check/lesson08 build/gpu/impl/solutions/07_tiled_matmul/matmul.so"),
        (
            "forward_b4",
            "build/gpu/gpt2-bench-17 build/gpu/gpt2-bench-16 build/gpu/gpt2-bench-10 build/gpu/gpt2-bench-05",
        ),
        ("ladder", "build/gpu/check/ladder build/gpu/impl/solutions/10_double_buffered_matmul/matmul.so"),
        ("given", "build/gpu/given/06_coalescing/transpose"),
        ("ncu", "build/gpu/simt/rules build/gpu/check/lesson05 build/gpu/impl/solutions/05_naive_forward/attention.so"),
        ("simt", "build/gpu/simt/correct/tiled_matmul"),
        ("libs", "build/gpu/simt/libraries/calls build/tests/simt/libraries/calls"),
    ],
)
def test_a_part_has_the_programs_that_it_runs_and_a_rehearsal_those_of_the_cpu_device(tree, part, has):
    assert set(has.split()) <= tree.named(f"PARTS={part}")
    rehearsed = tree.named(f"PARTS={part}", "DRY=1")
    assert not [name for name in rehearsed if name.startswith("build/gpu/")]
    instead = {name.replace("build/gpu/gpt2", "build/gpt2").replace("build/gpu/", "build/dry/") for name in has.split()}
    assert instead <= rehearsed


def test_of_every_program_make_knows_how_it_is_built(tree):
    for arguments in (["DEVICE=gpu", "LOCAL=gpu"], ["DEVICE=gpu", "DRY=1"]):
        planned = tree.make("-n", "-k", *arguments, "report-programs")
        assert (planned.returncode, planned.stderr) == (0, "")


def test_a_file_that_does_not_compile_costs_what_is_made_of_it_and_no_more(tree):
    wanted = tree.named("PARTS=timings ladder forward_b4")
    goal = ["-k", "-j2", "CXX=cxx", "DEVICE=gpu", "LOCAL=gpu", "report-programs", "PARTS=timings ladder forward_b4"]
    done = tree.make(*goal, BROKEN="solutions/07_tiled_matmul/matmul.cu")
    assert done.returncode != 0
    assert "solutions/07_tiled_matmul/matmul.cu: error: broken" in done.stderr
    built = {name for name in wanted if (tree.root / name).exists()}
    # Lesson 08 has a matmul of its own: its check and all after it are there, though it times that of lesson 07.
    assert wanted - built == {"build/gpu/impl/solutions/07_tiled_matmul/matmul.so"}
    assert tree.make(*goal).returncode == 0
    assert not [name for name in wanted if not (tree.root / name).exists()]


def test_an_unknown_part_is_refused_in_one_line(tree):
    done = tree.make("report-programs", "PARTS=checks foo")
    assert done.returncode == 2
    assert done.stderr.count("\n") == 1
    assert "PARTS=checks foo: each is one of checks calibrate" in done.stderr


@pytest.mark.parametrize("jobs", ["1", "3"])
def test_jobs_that_are_said_win_over_those_that_make_counts(tree, jobs):
    # Six recipes that note how many of them run: more than `jobs` never do, and `jobs` do.
    rule = "one two three four five six: ; @mkdir -p run; : >run/$@; ls run | wc -l >>most; sleep 0.2; rm run/$@"
    done = tree.make(f"-j{jobs}", f"--eval={rule}", *rule.partition(":")[0].split())
    assert done.returncode == 0, done.stderr
    assert max(int(line) for line in (tree.root / "most").read_text().split()) == int(jobs)
