# SPDX-License-Identifier: MIT
"""What nvcc compiles is compiled anew by another toolkit, and by no other reason: make against an nvcc of its own."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
RELEASE = "12.4"


def program(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o755)
    return path


class Tree:
    """The checkout's files with a build folder of its own, an nvcc that writes down what it compiles, and a card."""

    def __init__(self, folder: Path):
        self.root, self.bin, self.log = folder / "tree", folder / "bin", folder / "log"
        self.libraries = folder / "lib64"
        self.root.mkdir()
        for entry in ROOT.iterdir():
            if entry.name not in (".git", "build", ".venv", ".deps"):
                (self.root / entry.name).symlink_to(entry)
        self.use_nvcc("12.4")
        program(self.bin / "g++-13", "echo g++-13 13.3.0")
        self.use_card("75")

    def use_nvcc(self, release: str, does: str = "") -> None:
        program(
            self.bin / "nvcc",
            f"""case "$*" in
*--version) echo "Cuda compilation tools, release {release}, V{release}.99"; exit ;;
*--dryrun*) echo '#$ LIBRARIES=  "-L{self.libraries}/stubs" "-L{self.libraries}"'; exit ;;
esac
{does}
while [ $# -gt 0 ]; do
    case $1 in -o) : >$2 ;; -ccbin) host=$2 ;; -arch=*) arch=$1 ;; *.cu) file=${{1##*/}} ;; esac
    shift
done
echo "$file $arch $host" >>{self.log}""",
        )

    def use_card(self, architecture: str) -> None:
        program(self.root / "build/tools/gpu", f"echo {architecture}")

    def make(self, *arguments: str) -> subprocess.CompletedProcess:
        ours = ("MAKEFLAGS", "MFLAGS", "MAKELEVEL", "MAKEOVERRIDES", "CUDA_HOME", "CUDA_PATH", "NVCC_CXX", "CUBLAS")
        environment = {name: value for name, value in os.environ.items() if name not in ours}
        places = {"SETUP_ROOT": str(self.bin), "SETUP_VENV": str(self.bin), "PATH": f"{self.bin}:{os.environ['PATH']}"}
        return subprocess.run(
            ["make", "-o", "build/tools/gpu", *arguments],
            cwd=self.root,
            env=environment | places,
            capture_output=True,
            text=True,
            check=False,
        )

    def compiled(self, *arguments: str) -> list[str]:
        """What nvcc is asked for, but for the empty file that it is tried with."""
        self.log.write_text("")
        done = self.make(*arguments)
        assert done.returncode == 0, done.stderr
        return [line.strip() for line in self.log.read_text().splitlines() if not line.startswith("empty.cu")]


@pytest.fixture
def tree(tmp_path):
    return Tree(tmp_path)


def test_what_another_nvcc_or_host_compiler_compiled_is_compiled_anew(tree):
    wanted = "build/nvcc/rules.o"
    assert tree.compiled(wanted) == ["rules.cu"]
    assert tree.compiled(wanted) == []
    tree.use_nvcc("13.0")
    assert tree.compiled(wanted) == ["rules.cu"]
    assert tree.compiled(wanted, "NVCC_CXX=g++-13") == ["rules.cu  g++-13"]
    assert tree.compiled(wanted, "NVCC_CXX=g++-13") == []


def test_the_programs_for_a_card_are_compiled_anew_for_another_card_and_by_another_nvcc(tree):
    wanted = "build/gpu/simt/rules"
    assert tree.compiled(wanted) == ["rules.cu -arch=sm_75"]
    assert tree.compiled(wanted) == []
    tree.use_card("90a")
    assert tree.compiled(wanted) == ["rules.cu -arch=sm_90a"]
    tree.use_nvcc("13.0")
    assert tree.compiled(wanted) == ["rules.cu -arch=sm_90a"]
    assert tree.compiled(wanted) == []


def test_where_nvcc_and_its_host_compiler_do_not_go_together_nothing_is_compiled_and_one_line_says_so(tree):
    unsupported = "host_config.h:143:2: error: #error -- unsupported GNU version! gcc versions later than 13 are not"
    tree.use_nvcc(RELEASE, f"echo '{unsupported} supported!' >&2; exit 1")
    for _ in range(2):
        done = tree.make("build/nvcc/rules.o")
        assert done.returncode != 0
        said = [line for line in done.stderr.splitlines() if not line.startswith("make: ***")]
        assert len(said) == 1, done.stderr
        assert said[0].startswith("nvcc 12.4 takes g++ up to 13, and this is g++ ")
        assert said[0].endswith(": make … NVCC_CXX=g++-13")
        assert not (tree.root / "build/nvcc/rules.o").exists()


@pytest.mark.parametrize("stub", ["04_first_kernel/encoder", "05_naive_forward/matmul"])
def test_of_a_stub_nvcc_says_nothing(tree, stub):
    nvcc = subprocess.run(
        ["scripts/cuda.sh", "nvcc"], cwd=ROOT, capture_output=True, text=True, check=False
    ).stdout.strip()
    if not nvcc:
        pytest.skip("nvcc is not there")
    program(tree.bin / "nvcc", f'exec {nvcc} "$@"')
    done = tree.make("-s", f"build/gpu/ops/lessons/{stub}.o")
    assert done.returncode == 0, done.stderr
    assert "warning" not in done.stdout + done.stderr


def test_the_gpus_roof_is_measured_by_code_for_the_card_that_is_here_else_for_those_of_the_course(tree):
    wanted, seen = "build/nvcc/calibrate/gpu_launch.o", "gpu_seen=/dev/nvidia0"
    (tree.root / "build/.setup").touch()
    assert tree.compiled(wanted) == ["gpu_launch.cu"]
    assert "compute_80" in (tree.root / "build/nvcc/calibrate/card").read_text()
    assert tree.compiled(wanted) == []
    tree.use_card("120a")
    assert tree.compiled(wanted, seen) == ["gpu_launch.cu -arch=sm_120a"]
    assert tree.compiled(wanted, seen) == []
    program(tree.root / "build/tools/gpu", "echo the driver hangs >&2; exit 1")
    assert tree.compiled(wanted, seen) == ["gpu_launch.cu"]


def test_the_cpus_roof_is_measured_whatever_is_wrong_with_the_gpus_which_is_one_line(tree):
    program(tree.root / "build/calibrate", 'echo "calibrate $*"')

    def calibrate(*arguments: str) -> tuple[str, str]:
        done = tree.make("-o", "build/calibrate", "calibrate", *arguments)
        assert done.returncode == 0, done.stderr
        return done.stdout, done.stderr

    left_out = "the GPU's roof is left out: "
    assert calibrate() == ("calibrate --gpu none\n", f"{left_out}no GPU is here\n")
    seen = "gpu_seen=/dev/nvidia0"
    assert calibrate(seen, "MAKE=echo") == ("build/calibrate-gpu\ncalibrate --gpu build/calibrate-gpu\n", "")
    assert calibrate(seen, "MAKE=false") == ("calibrate --gpu none\n", f"{left_out}its program was not built\n")
    program(tree.root / "build/tools/gpu", "echo nvcc 11.5 cannot compile an empty file >&2; exit 1")
    tree.use_nvcc("11.5", "exit 1")
    assert calibrate(seen) == ("calibrate --gpu none\n", f"{left_out}nvcc 11.5 cannot compile an empty file\n")


LINKED = ("build/calibrate-gpu", "build/tune/gpu/solutions/lesson10", "build/gpu/simt/libraries/calls")
LINKED += ("build/gpu/check/lesson05", "build/gpu/impl/solutions/05_naive_forward/matmul.so")


def test_every_program_finds_cudas_libraries_where_nvcc_has_them(tree):
    tree.libraries.mkdir()
    (tree.libraries / "libcudart.so").touch()
    planned = tree.make("-n", "CUBLAS=", *LINKED)
    assert planned.returncode == 0, planned.stderr
    for program_linked in LINKED:
        linking = [line for line in planned.stdout.splitlines() if f"-o {program_linked} " in line]
        assert len(linking) == 1, planned.stdout
        assert any(f"{option}{tree.libraries}" in linking[0] for option in ("-rpath,", "-rpath=")), linking[0]


def test_nothing_empty_is_passed_where_nvccs_files_lie_with_the_systems(tree):
    planned = tree.make("-n", "build/gpu/obj/checker/devices/gpu/gpu_backend.o").stdout
    compiling = next(line for line in planned.splitlines() if "gpu_backend.cpp" in line)
    assert "-isystem -" not in compiling
    assert "-MMD" in compiling


# ---- cuBLAS and CUPTI in the packages of a Python -------------------------------------------------------------------

CUBLAS_FILES = ("include/cublas_v2.h", "lib/libcublas.so.13", "lib/libcublasLt.so.13")
CUPTI_FILE = "lib/libcupti.so.13"


def touch(*paths: Path) -> None:
    for path in paths:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch()


@pytest.fixture
def python(tree, tmp_path):
    """A Python that writes down its calls and has the packages of two folders; nvcc is of CUDA 13 and has no cuBLAS."""
    tree.use_nvcc("13.0")
    sites = f"{tmp_path}/site1:{tmp_path}/site2"
    touch(tmp_path / "site1/nvidia/another/include/other.h")
    return program(
        tmp_path / "python", f'echo called >>{tmp_path}/calls; PYTHONPATH={sites} exec {sys.executable} "$@"'
    )


def ask(tree: Tree, option: str, python: Path) -> tuple[int, str]:
    environment = {"SETUP_ROOT": str(tree.bin), "SETUP_VENV": str(tree.bin), "PATH": f"{tree.bin}:{os.environ['PATH']}"}
    command = [ROOT / "scripts/cuda.sh", option, python]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    return done.returncode, done.stdout.strip()


@pytest.mark.parametrize("package", ["cu13", "cublas"])
def test_cublas_is_found_among_the_packages_of_python_where_the_toolkit_has_none(tree, python, tmp_path, package):
    assert ask(tree, "--cublas", python) == (1, "")
    folder = tmp_path / "site2/nvidia" / package
    touch(*(folder / file for file in CUBLAS_FILES))
    assert ask(tree, "--cublas", python) == (0, str(folder))
    tree.use_nvcc("12.4")
    assert ask(tree, "--cublas", python) == (1, "")


@pytest.mark.parametrize("headers", ["include", "targets/x86_64-linux/include"])
def test_cublas_of_the_toolkit_comes_before_that_of_python_which_is_not_started_then(tree, python, tmp_path, headers):
    touch(*(tmp_path / "site2/nvidia/cu13" / file for file in CUBLAS_FILES), tmp_path / headers / "cublas_v2.h")
    assert ask(tree, "--cublas", python) == (0, "")
    assert not (tmp_path / "calls").exists()


def test_the_toolkit_of_an_nvcc_that_is_a_script_is_the_one_that_it_executes(tree, python, tmp_path):
    elsewhere = tmp_path / "elsewhere/toolkit"
    touch(elsewhere / "include/cublas_v2.h")
    program(tree.bin / "nvcc", f"case $* in *--dryrun*) echo '#$ TOP={elsewhere}';; *) echo release 13.0, ;; esac")
    assert ask(tree, "--cublas", python) == (0, "")
    (elsewhere / "include/cublas_v2.h").unlink()
    assert ask(tree, "--cublas", python) == (1, "")


def test_cupti_is_found_beside_nvccs_libraries_in_extras_or_among_the_packages(tree, python, tmp_path):
    assert ask(tree, "--cupti", python) == (1, "")
    of_python, of_extras = tmp_path / "site2/nvidia/cu13" / CUPTI_FILE, tmp_path / "extras/CUPTI/lib64/libcupti.so.13"
    touch(of_python)
    assert ask(tree, "--cupti", python) == (0, str(of_python))
    touch(of_extras)
    assert ask(tree, "--cupti", python) == (0, str(of_extras))
    touch(tree.libraries / "libcupti.so.13")
    assert ask(tree, "--cupti", python) == (0, "")


ON_A_CARD = ("time-lesson05", "gpu-report", "profile-lesson05", "sanitize-lesson05")


def test_what_python_has_of_cublas_and_cupti_is_compiled_with_and_loaded(tree, python, tmp_path):
    folder = tmp_path / "site2/nvidia/cu13"
    touch(*(folder / file for file in (*CUBLAS_FILES, CUPTI_FILE)))
    planned = tree.make("-n", f"PYTHON={python}", "build/gpu/ops/solutions/11_tf32/matmul.o", "time-lesson11")
    assert planned.returncode == 0, planned.stderr
    compiling = [line for line in planned.stdout.splitlines() if " -c solutions/11_tf32/matmul.cu" in line]
    assert len(compiling) == 1
    assert f"-isystem {folder}/include" in compiling[0]
    linking = next(
        line for line in planned.stdout.splitlines() if "-o build/gpu/impl/solutions/11_tf32/matmul.so" in line
    )
    assert f"{folder}/lib/libcublas.so.13 {folder}/lib/libcublasLt.so.13" in linking
    named = f"SOL_CUBLAS={folder}/lib/libcublas.so.13 SOL_CUPTI={folder}/{CUPTI_FILE}"
    for goal in ON_A_CARD:
        assert named in tree.make("-n", f"PYTHON={python}", goal).stdout, goal
    rehearsed = tree.make("-n", f"PYTHON={python}", "DRY=1", "gpu-report")
    assert rehearsed.returncode == 0
    assert "SOL_CU" not in rehearsed.stdout
    said = tree.make("-n", f"PYTHON={python}", "gpu-report", "SOL_CUBLAS=mine", "SOL_CUPTI=mine")
    assert f"SOL_CUBLAS={folder}" not in said.stdout


def test_without_cublas_lessons_04_to_10_build_and_lesson_11_says_what_is_missing(tree, python):
    lessons = [f"{number:02}" for number in range(4, 11)]
    programs = [f"build/gpu/check/lesson{number}" for number in lessons]
    programs += [
        f"build/gpu/impl/solutions/{file.parent.name}/{file.stem}.so"
        for number in lessons
        for file in sorted(ROOT.glob(f"solutions/{number}_*/*.cu"))
    ]
    planned = tree.make("-n", f"PYTHON={python}", *programs)
    assert planned.returncode == 0, planned.stderr
    assert "cublas" not in planned.stdout
    assert "-o build/gpu/impl/solutions/10_double_buffered_matmul/matmul.so" in planned.stdout
    refused = tree.make("-n", f"PYTHON={python}", "time-lesson11")
    assert "lesson 11 calls cuBLAS, and nvcc has no cublas_v2.h: CUBLAS=DIR" in refused.stderr


def test_commands_for_the_cpu_do_not_start_python(tree, python, tmp_path):
    for goal in ("help", "progress", "gpt2", "check-lesson01", "check-lesson05", "time-lesson03", "traffic-lesson05"):
        planned = tree.make("-n", f"PYTHON={python}", goal)
        assert planned.returncode == 0, planned.stderr
    assert not (tmp_path / "calls").exists()
    assert tree.make("-n", f"PYTHON={python}", "time-lesson05").returncode == 0
    assert (tmp_path / "calls").exists()
