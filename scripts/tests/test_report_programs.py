# SPDX-License-Identifier: MIT
"""`make report-programs` and `make gpu-report`, with compilers that write empty files."""

import os
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from reference.gpu.programs import Programs
from reference.gpu.tools import Card
from reference.report.parts import PART_NAMES, Setting, steps_beside_pytorch
from reference.report.parts import PARTS as REPORT_PARTS

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
        self.up_to_date = ["build/.setup", "build/tools/gpu"]
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
        there = [*(f"--old-file={name}" for name in self.up_to_date), "CUBLAS="]
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


def flat(planned: str) -> str:
    return " ".join(planned.replace("\\\n", " ").split())


# ---- the programs ----------------------------------------------------------------------------------------------------


def test_all_parts_are_taken_unless_parts_says_which(tree):
    assert tree.named() == tree.named(f"PARTS={' '.join(PART_NAMES)}")
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
            "build/gpu/gpt2-bench-20 build/gpu/gpt2-bench-16 build/gpu/gpt2-bench-10 build/gpu/gpt2-bench-05",
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


@pytest.mark.parametrize("dry", [False, True])
def test_the_programs_that_the_report_runs_are_among_those_of_their_part(dry, tmp_path):
    rule = "named: ; @: $(foreach part,$(report_parts),$(info $(part) $(programs_always) $(programs_$(part))))"
    command = ["make", "-s", f"--eval={rule}", "named", *(["DRY=1"] if dry else [])]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    built = {part: set(names) for part, *names in map(str.split, done.stdout.splitlines())}
    assert tuple(built) == PART_NAMES
    card = Card("NVIDIA H100 80GB HBM3", "580.65", "9.0")
    setting = Setting(ROOT, card, sys.executable, Programs(dry), tmp_path, only_lists=True)
    for part, programs in built.items():
        if part == "baselines" or part.startswith("forward"):  # PyTorch names their items
            continue
        run = {program for item in REPORT_PARTS[part](setting).items for program in item.programs}
        assert run <= programs, part
    steps = {setting.programs.bench_of_step(lesson) for lesson in steps_beside_pytorch(setting).values()}
    assert steps <= built["forward_b4"]


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


# ---- the report ------------------------------------------------------------------------------------------------------


def planned_report(tree: Tree, *arguments: str) -> str:
    done = tree.make("-n", "gpu-report", *arguments)
    assert done.returncode == 0, done.stderr
    return flat(done.stdout)


def test_the_report_gets_what_was_said(tree):
    said = planned_report(tree, "PART=ncu", "FRESH=1", "COMMIT=0123456", "OUT=a folder", "DRY=1", "PYTHON=sh")
    assert said.endswith("-m reference.report.main --part='ncu' --dry --fresh --commit='0123456' --out='a folder'")
    begun = planned_report(tree, "LEASE=9m30s").partition("--lease='9m30s' --begun=")[2]
    assert abs(int(begun) - (tree.root / "build").stat().st_mtime) < 3600
    assert "--begun" not in planned_report(tree)


def test_a_plan_and_a_merge_need_no_card(tree):
    seen, building = "gpu_seen=/dev/nvidia0", "-o build/tools/gpu "
    tree.up_to_date.remove("build/tools/gpu")
    (tree.root / "build/tools/gpu").unlink()
    assert building in planned_report(tree, seen)
    merge = planned_report(tree, seen, "MERGE=x/report.json")
    assert building not in merge
    assert merge.endswith("main --merge='x/report.json'")
    plan = planned_report(tree, seen, "PLAN=1", "LEASE=3m", "WRITE=1")
    assert building not in plan
    assert plan.endswith("--plan --write")
    assert {f"-o {name} " in plan for name in ("build/tools/lessons", "build/tools/ops")} == {True}
    assert "build/tools/calls/" in plan


def test_within_a_lease_make_builds_nothing_before_the_report_where_nvidia_smi_names_the_card(tree):
    tree.up_to_date.remove("build/tools/gpu")
    (tree.root / "build/tools/gpu").unlink()
    lease = ("gpu_seen=/dev/nvidia0", "LEASE=3m")
    if not shutil.which("nvidia-smi"):
        assert "-o build/tools/gpu " in planned_report(tree, *lease)
    program(tree.bin / "nvidia-smi", "")
    assert " -o " not in planned_report(tree, *lease)


@pytest.mark.parametrize(("gone", "now"), [("REPORT=x.json", "OUT=DIR"), ("BUDGET=200", "LEASE=9m30s")])
def test_options_that_are_gone_are_answered_with_those_that_are_there(tree, gone, now):
    done = tree.make("gpu-report", gone)
    assert done.returncode == 2
    assert done.stderr.count("\n") == 1
    assert f"{shlex.split(gone)[0].partition('=')[0]}= is no longer known: {now}" in done.stderr
