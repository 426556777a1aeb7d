# SPDX-License-Identifier: MIT
"""report.py and inspect_op.py from end to end in a small course with one lesson, where make, the check program and
the GPU's tools are scripts."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from reference.gpu import beside_pytorch, simt_vs_ncu, sources, tools
from reference.gpu.lesson_shapes import PROGRAM as LESSONS
from reference.gpu.lesson_shapes import Lesson
from reference.gpu.programs import Programs, error_line
from reference.gpu.tools import NO_MEASUREMENT, STAND_INS, Card, ToolError
from reference.report import main as gpu_report
from reference.report import parts, simt_vs_gpu
from reference.report.main import REHEARSAL
from reference.report.parts import PART_NAMES
from reference.report.store import Store

ROOT = Path(__file__).parents[2]
PYTHON = f"#!{sys.executable}\n"
CARD_FILE = Path("reference/timings/nvidia-test-1.json")

MAKE = """
import os, pathlib, sys
programs = pathlib.Path(os.environ["PROGRAMS"])
with open("made", "a") as made:
    made.write(" ".join(sys.argv[1:]) + "\\n")
targets = [word for word in sys.argv[1:] if "=" not in word and not word.startswith("-")]
if "report-programs" in targets:
    folder = "build/dry" if "DRY=1" in sys.argv else "build/gpu"
    targets = [f"build/tools/{name}" for name in ("lessons", "ops", "gpu", "wrong")] + ["build/calibrate-gpu"]
    targets += [f"{folder}/{name}" for name in ("wrong/commands", "check/ladder", "simt/rules")]
    for kernel in sorted(pathlib.Path("solutions").glob("*/*.cu")):
        lesson = kernel.parent.name
        targets += [f"{folder}/check/lesson{lesson[:2]}", f"{folder}/impl/solutions/{lesson}/{kernel.stem}.so"]
        targets += [f"{folder.removesuffix('/dry')}/gpt2-bench-{lesson[:2]}"]
        given = [file for file in pathlib.Path("lessons", lesson).glob("*.cu")]
        targets += [f"{folder}/given/{lesson}/{file.stem}" for file in given]
    corpus = pathlib.Path("checker/simt/tests")
    targets += [f"{folder}/simt/{file.parent.name}/{file.stem}" for file in corpus.glob("kernels/*/*.cu")]
    for file in corpus.glob("libraries/*.cu"):
        targets += [f"{side}/simt/libraries/{file.stem}" for side in (folder, "build/tests")]
failed = 0
for target in dict.fromkeys(targets):
    if pathlib.Path("broken").exists() and pathlib.Path("broken").read_text() in target:
        print(f"x.cu(3): error: {target} has a typo\\nmake: *** [x] Error 1")
        failed = 2
        continue
    if pathlib.Path("stub").exists() and "impl/lessons" in target:
        print("lessons/04_first/a.cu(3): error: expected a ';'")
        continue
    path = pathlib.Path(target)
    path.parent.mkdir(parents=True, exist_ok=True)
    kind = "check" if path.parent.name == "check" else path.name
    source = programs / kind
    if source.exists():
        path.write_bytes(source.read_bytes())
        path.chmod(0o755)
    else:
        path.touch()
if failed:
    sys.exit(failed)
"""

CHECK = """
import json, pathlib, sys, time
def value(name):
    return sys.argv[sys.argv.index(name) + 1]
op = value("--only").split("/")[0]
with open("checked", "a") as checked:
    checked.write(" ".join(sys.argv[1:]) + "\\n")
plan = pathlib.Path(f"plan_{op}")
plan = plan.read_text() if plan.exists() else "ok"
if plan == "hang":
    time.sleep(100)
if plan == "crash" or (plan == "crash when timed" and "--timing-only" in sys.argv):
    sys.exit(print("terminate called") or 134)
if plan == "slow":
    time.sleep(1.2)
finding = [] if plan != "WRONG" else [{"kind": "mismatch", "id": "", "text": "7 of 9 elements are wrong"}]
row = {"op": op, "file": "x", "verdict": "WRONG" if plan == "WRONG" else "ok"}
row["cases"] = [{"case": "odd", "shape": "N=3", "budget_used": 0.25, "findings": finding}]
if "--timing-only" in sys.argv:
    shape = {"shape": "N=3", "median_ms": 1.5, "p10_ms": 1.0, "p90_ms": 2.0, "samples": 51, "findings": finding}
    shape |= {"flop_per_s": 2e12, "of_speed_of": {"library": {"share": 0.5}}, "verdict": row["verdict"]}
    row["timing"] = {"against": "copy", "verdict": row["verdict"], "medal": "gold", "share": 0.9, "shapes": [shape]}
    row["timing"]["library"] = "cuBLAS"
if "--json" in sys.argv:
    text = json.dumps({"device": "the device", "ops": [row]})
    pathlib.Path(value("--json")).write_text("no JSON" if plan == "garbage" else text)
"""

WRONG = """
import json, pathlib, sys
plan = pathlib.Path("plan_wrong")
missed = plan.exists()
rows = [{"lesson": "04_first", "op": "a", "id": "no_bounds_check", "expected": "out_of_bounds",
         "as_expected": True, "others": [], "rejected": True},
        {"lesson": "04_first", "op": "b", "id": "one_too_many", "expected": "mismatch",
         "as_expected": False, "others": [], "rejected": not missed}]
if missed and plan.read_text() == "not_asked":
    rows[1] = {"lesson": "04_first", "op": "b", "id": "one_too_many", "not_asked": "a race may go well"}
pathlib.Path(sys.argv[sys.argv.index("--json") + 1]).write_text(json.dumps(rows))
"""

OPS = """
import json, sys
calls = [word.split(" ")[0] for word in sys.argv[2:]]
print(json.dumps([{"op": op, "bytes": 8e6 if op != "b" else None, "flop": 4e9} for op in calls]))
"""

CALIBRATE = """
print("measuring ...\\n{\\n \\"copy_bytes_per_s\\": 3e12\\n}")
"""

CALLS = """
import pathlib, sys
here = "card" if pathlib.Path(sys.argv[0]).parts[1] == "gpu" else "cpu"
status = "SUCCESS" if pathlib.Path("plan_calls").exists() and here == "card" else "NOT_SUPPORTED"
print(f"cublasSgemm 1 x 2: CUBLAS_STATUS_SUCCESS\\nk differs: CUBLAS_STATUS_{status}\\ncalls: 0 of 2 are wrong")
sys.exit(1 if here == "card" else 0)
"""

BENCH = """
import json, os, pathlib, sys, time
names = ["a N=3 fp32 eager", "b N=3 fp32 eager", "c N=3 fp32 eager"]
if "reference.gpu.whole_forward" in sys.argv:
    B, program = sys.argv[3:5]
    if program == "--warm":
        pathlib.Path("warmed").write_text(os.environ["TORCHINDUCTOR_CACHE_DIR"])
        time.sleep(60)
    number = program[-2:]
    shape = f"B={B} T=1024 C=768 NH=12 L=12"
    def timed(way, theirs, ours):
        sides = {"pytorch": {"median_ms": theirs}, "ours": {"median_ms": ours}}
        task = sides | {"ours_over_pytorch": {"median": ours / theirs}}
        of = {"shape": shape, "precision": "tf32", "way": way, "step": number, "program": program}
        return of | {"forward": task, "predict": task}
    said = {"eager": timed("eager", 5.0, 3.0), "compile": timed("compile", 4.0, 3.6)}
    if pathlib.Path("plan_whole").exists():
        said["compile"] = {"error": "RuntimeError: out of memory", "lost": False}
    for line in sys.stdin:
        if line.strip() == "list":
            without = {f"step {number} {shape} eager, SDPA flash": "not for TF32"}
            items = [f"step {number} {shape} {way}" for way in said]
            print(json.dumps({"items": items, "without": without, "versions": {}}), flush=True)
        else:
            print(json.dumps(said[line.strip().removeprefix(f"step {number} {shape} ")]), flush=True)
    sys.exit()
for line in sys.stdin:
    name = line.strip()
    if name == "list" and pathlib.Path("plan_list").exists():
        said = {"things": 7}
    elif name == "list":
        said = {"items": names, "without": {"d N=3": "nobody wrote it"}, "versions": {"torch": "2.0"}}
    elif name.startswith("c") and pathlib.Path("plan_bench").exists():
        said = {"median_ms": float("nan")}
    elif name.startswith("b") and pathlib.Path("plan_bench").exists():
        sys.exit("CUDA error: an illegal memory access was encountered")
    else:
        said = {"median_ms": 2.0, "call": "a N=3", "peak": "fp32", "cache": "cold"}
        said["rate"] = "gb_per_s" if name.startswith("a") else "tflop_per_s"
    if name.startswith("a"):
        said |= {"op": "a", "of": "a", "shape": "N=3", "precision": "fp32", "mode": "eager"}
    print(json.dumps(said), flush=True)
"""


def program(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    path.chmod(0o755)


def target(op: str, shape: str) -> str:
    text = f'[target.{op}]\nagainst = "copy"\nbronze = 0.1\nsilver = 0.2\ngold = 0.3\n'
    return f'{text}shapes = ["{shape}"]\n'


class Course:
    def __init__(self, root: Path):
        self.root = root
        self.environment = os.environ | {
            "MAKE": str(root / "bin/make"),
            "PROGRAMS": str(root / "programs"),
            "PATH": f"{root / 'bin'}:/usr/bin:/bin",
            "PYTHONPATH": str(ROOT),
            "CUDA_HOME": str(root / "no-toolkit"),
            "TMPDIR": str(root / "tmp"),
        }
        for name in parts.PYTORCH_CACHES:  # set by PyTorch, if another test has imported it
            self.environment.pop(name, None)
        (root / "tmp").mkdir()
        toml = 'requires = ["sm_75"]\n' + target("a", "N=3")
        self.write("lessons/04_first/lesson.toml", toml)
        self.write("lessons/03_host/lesson.toml", "")
        self.write("solutions/03_host/x.cpp", "")
        for op in ("a", "b"):
            self.write(f"solutions/04_first/{op}.cu", f"__global__ void {op}_kernel(float* x) {{}}\n")
            self.write(f"lessons/04_first/{op}.cu", f"__global__ void {op}_kernel(float* x) {{}}\n")
        self.count("a", "b")
        self.kernel("correct/copy", "correct")
        self.kernel("buggy/softmax", "race shared softmax.cu:31 softmax.cu:33")
        self.kernel("buggy/far", "race global far.cu:9 far.cu:9")
        self.write("checker/simt/tests/libraries/calls.cu", "// calls of cuBLAS")
        program(root / "bin/make", PYTHON + MAKE)
        programs = {"check": CHECK, "wrong": WRONG, "calibrate-gpu": CALIBRATE, "ops": OPS, "calls": CALLS}
        for name, text in programs.items():
            program(root / "programs" / name, PYTHON + text)
        program(root / "programs/lessons", f'#!/bin/sh\nexec {ROOT / LESSONS} "$@"\n')
        program(root / "bin/bench", PYTHON + BENCH)

    def write(self, name: str, text: str) -> None:
        (self.root / name).parent.mkdir(parents=True, exist_ok=True)
        (self.root / name).write_text(text)

    def count(self, *ops: str) -> None:
        """What the CPU device has counted of these ops' kernels: the same as ncu's sample."""
        text = (Path(__file__).parent / "data/ncu-2025.3/counted.csv").read_text()
        (sample,) = tools.parse_ncu(text, {name: name for name in simt_vs_ncu.COUNTED})
        metrics = {simt_vs_ncu.ours_name(name): int(value) for name, value in sample.values.items() if value}
        counts = []
        for subject in simt_vs_ncu.subjects(self.root):
            kernels = subject.kernels(self.root) if subject.op in ops else []
            kernels = ["first_kernel", "second_kernel"] if subject.item == simt_vs_ncu.RULES else kernels
            for nth, kernel in enumerate(kernels):
                launch = (nth, subject.case or f"rule {nth}", kernel, [3, 1, 1], [64, 1, 1])
                counts.append(simt_vs_ncu.Counts(subject.item, subject.digest(self.root), *launch, metrics))
        (self.root / simt_vs_ncu.COUNTS).parent.mkdir(parents=True, exist_ok=True)
        simt_vs_ncu.write_counts(counts, self.root)

    def kernel(self, name: str, *verdicts: str, status: int = 0) -> None:
        """One of the CPU device's corpus, and the program that nvcc makes of it."""
        lines = "".join(f"// verdict: {verdict}\n" for verdict in verdicts)
        self.write(f"checker/simt/tests/kernels/{name}.cu", f"// a kernel\n{lines}int main() {{}}\n")
        program(self.root / "programs" / Path(name).name, f"#!/bin/sh\necho {name} >>ran\nexit {status}\n")

    def ran(self) -> list[str]:
        """The corpus' programs since the last time this was asked."""
        file = self.root / "ran"
        names = file.read_text().split() if file.exists() else []
        file.unlink(missing_ok=True)
        return names

    def sanitizer_that_finds(self, tool: str) -> None:
        """compute-sanitizer, of which one tool prints its sample of errors."""
        sample = Path(__file__).parent / f"data/compute-sanitizer-2025.3/{tool}.log"
        text = f'"{sys.executable}" {STAND_INS}/compute-sanitizer "$@" || exit\n'
        text += f'case "$*" in *"--tool {tool} "*) ;; *) exit 0;; esac\n'
        text += f'for word; do [ "$last" != --log-file ] || cp {sample} "$word"; last=$word; done; exit 86'
        program(self.root / "bin/compute-sanitizer", f"#!/bin/sh\n{text}\n")

    def add_gpu(self) -> None:
        for tool in ("ncu", "compute-sanitizer"):
            program(self.root / "bin" / tool, f'#!/bin/sh\nexec {sys.executable} {STAND_INS}/{tool} "$@"\n')
        program(self.root / "bin/nvcc", "#!/bin/sh\necho 'Cuda compilation tools, release 13.0, V13.0.88'\n")
        program(
            self.root / "programs/gpu", "#!/bin/sh\necho 'NVIDIA Test 1, sm_90a, driver for CUDA 13.0, nvcc 13.0'\n"
        )
        self.add_smi()

    def add_smi(self, name: str = "NVIDIA Test 1", driver: str = "580.1") -> None:
        text = f'case $* in *clocks.sm*) exec {sys.executable} {STAND_INS}/nvidia-smi "$@";; esac\n'
        text += f"echo '{name}, {driver}, 9.0, 81559, 1980, 3201, 700.00'\n"
        program(self.root / "bin/nvidia-smi", f"#!/bin/sh\n{text}")

    def run(self, *arguments: str, module: str = "report.main") -> subprocess.CompletedProcess:
        done = subprocess.run(
            [sys.executable, "-m", f"reference.{module}", *arguments],
            cwd=self.root,
            env=self.environment,
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )
        assert "Traceback" not in done.stderr
        assert list((self.root / "tmp").iterdir()) == []
        return done

    def report(self, *arguments: str) -> subprocess.CompletedProcess:
        return self.run("--python", str(self.root / "bin/bench"), *arguments)

    def data(self, path: Path = CARD_FILE) -> dict:
        return json.loads((self.root / path).read_text())

    def checked(self) -> list[str]:
        """The command lines of the check program since the last time this was asked."""
        file = self.root / "checked"
        lines = file.read_text().splitlines() if file.exists() else []
        file.unlink(missing_ok=True)
        return lines


@pytest.fixture
def course(tmp_path):
    return Course(tmp_path)


@pytest.fixture
def gpu(course):
    course.add_gpu()
    return course


# ---- on a GPU --------------------------------------------------------------------------------------------------------


def test_every_part_is_measured_into_one_file(gpu):
    done = gpu.report("--commit", "0123abc")
    assert done.returncode == 0, done.stdout + done.stderr
    data = gpu.data()
    assert list(data["parts"]) == list(PART_NAMES)
    assert (data["gpu"], data["rehearsal"], data["card"]["compute_capability"]) == ("NVIDIA Test 1", False, "9.0")
    ((begun, run),) = data["runs"].items()
    assert (run["driver"], run["cuda"], run["commit"]) == ("580.1", "13.0", "0123abc")
    assert run["versions"]["torch"] == "2.0"
    for part in data["parts"].values():
        assert part["not_done_yet"] == []
        assert {item["run"] for item in part["items"].values() if item["status"] == "ok"} <= {begun}
        assert {item["status"] for item in part["items"].values()} <= {"ok", "unavailable"}
    parts = data["parts"]
    assert parts["checks"]["items"]["lesson04/a"]["result"]["budget_used"] == 0.25
    assert parts["checks"]["items"]["lesson04/wrong solutions"]["result"]["rejected"] == 2
    assert parts["calibrate"]["items"]["roof"]["result"]["copy_bytes_per_s"] == 3e12
    assert parts["timings"]["items"]["lesson04/b"]["result"]["shapes"][0]["median_ms"] == 1.5
    timed = parts["baselines"]["items"]["a N=3 fp32 eager"]["result"]
    assert (timed["median_ms"], timed["gb_per_s"]) == (2.0, 4.0)
    assert parts["baselines"]["items"]["b N=3 fp32 eager"]["result"]["tflop_per_s"] == 2.0
    unavailable = {"status": "unavailable", "why": "nobody wrote it"}
    assert parts["baselines"]["items"]["d N=3"] == unavailable
    assert len(parts["sanitize"]["items"]) == 2 * 4
    assert parts["ncu"]["items"]["lesson04/a"]["result"]["kernels"][0]["sectors_per_load_request"] == 32
    assert parts["simt"]["items"]["correct/copy"]["result"]["outcome"] == "agrees"
    assert "timings/lesson04/a: 1.5 ms" in done.stdout
    assert "baselines/a N=3 fp32 eager: 2 ms" in done.stdout
    assert "forward_b4/step 04 B=4 T=1024 C=768 NH=12 L=12 eager: 5 ms, ours 3 ms" in done.stdout
    assert all(f"table in checker/simt/{page}\n" in done.stdout for page in ("VS_NCU.md", "VS_GPU.md"))
    assert f"written to {CARD_FILE}\n" in done.stdout
    assert done.stdout.splitlines()[-1] == "nothing left"


def test_a_card_that_the_course_does_not_know_is_asked_for(gpu):
    asks = (
        f"the course has no report of NVIDIA Test 1 yet: please send {CARD_FILE} (reference/timings/README.md says how)"
    )
    assert gpu.report("--part", "checks").stdout.splitlines()[-2] == asks
    for command in (["init", "-q"], ["add", str(CARD_FILE)]):
        subprocess.run(["git", *command], cwd=gpu.root, check=True)
    assert "please send" not in gpu.report("--part", "checks").stdout


@pytest.mark.parametrize(("has_headers", "place"), [(False, "not found"), (True, "nvcc's toolkit")])
def test_the_first_lines_name_what_was_found(gpu, has_headers, place):
    if has_headers:
        gpu.write("include/cublas_v2.h", "")
    (gpu.root / "include/cuda_runtime.h").parent.mkdir(exist_ok=True)
    gpu.write("include/cuda_runtime.h", "")
    said = gpu.report("--part", "checks").stdout.splitlines()
    assert said[0] == "NVIDIA Test 1, driver 580.1, CUDA 13.0"
    assert said[1] == f"nvcc: {gpu.root}/bin/nvcc; PyTorch by {gpu.root}/bin/bench"
    assert said[2] == f"cuBLAS: {place}"
    assert said[3].startswith("CUPTI: ")


def test_a_report_does_not_say_in_whose_folder_it_was_measured(gpu):
    gpu.environment["HOME"] = "/home/who"
    said = f"==ERROR== neither {gpu.root}/x.csv nor /home/who/y"
    text = f'#!/bin/sh\n[ "$1" = --version ] && echo Version 2025.3.1 && exit\necho "{said}"\nexit 1\n'
    program(gpu.root / "bin/ncu", text)
    gpu.report("--part", "ncu")
    text = (gpu.root / CARD_FILE).read_text()
    assert "ncu: neither ./x.csv nor ~/y" in text


def test_a_report_leaves_its_file_two_tables_and_what_was_built(gpu):
    def files() -> set[str]:
        return {str(path.relative_to(gpu.root)) for path in gpu.root.rglob("*") if path.is_file()}

    before = files()
    for part in ("checks", "ncu", "simt"):
        gpu.report("--part", part)
    notes = {"made", "checked", "ran"}  # of this test's programs
    left = {name for name in files() - before - notes if not name.startswith("build/")}
    assert left == {str(CARD_FILE), "checker/simt/VS_GPU.md", "checker/simt/VS_NCU.md"}


def test_parts_measured_one_by_one_are_the_report_of_all(gpu):
    def lasting() -> dict:
        """Without times and clocks."""
        kept = ("status", "why", "result", "sources")
        return {
            name: {item: {key: one[key] for key in kept if key in one} for item, one in part["items"].items()}
            for name, part in gpu.data()["parts"].items()
        }

    gpu.report()
    at_once = lasting()
    for file in (CARD_FILE, gpu_report.STATE / CARD_FILE.name):
        (gpu.root / file).unlink()
    some = ("timings", "checks", "sanitize")
    for part in some:
        gpu.report("--part", part)
    assert lasting() == {part: at_once[part] for part in some}


def with_times(rehearsal: bool) -> dict:
    """A report in which an op was timed at two shapes, and PyTorch's at one of them, in several ways."""

    def baseline(name: str, shape: str, precision: str, mode: str, median: float) -> tuple[str, dict]:
        result = {"op": name, "of": "attention", "shape": shape, "precision": precision, "mode": mode}
        return f"{name} {shape} {precision} {mode}", {"status": "ok", "result": result | {"median_ms": median}}

    flash = ("attention_flash B=4 fp32 eager", {"status": "unavailable", "why": "not for fp32: it takes fp16"})
    other = {"op": "gelu", "of": "gelu", "shape": "B=4", "precision": "fp32", "mode": "eager", "median_ms": 1.0}
    items = [
        baseline("attention", "B=4", "fp32", "eager", 3.0),
        baseline("attention", "B=4", "fp32", "compile", 1.5),
        baseline("attention", "B=4", "tf32", "eager", 0.1),
        baseline("attention_math", "B=4", "fp32", "eager", 4.0),
        ("gelu B=4 fp32 eager", {"status": "ok", "result": other}),
        flash,
    ]
    shapes = [{"shape": "B=4", "median_ms": 2.0}, {"shape": "B=1", "median_ms": 1.0}]
    timing = {"status": "ok", "result": {"precision": "fp32", "shapes": shapes}}
    failed = {"status": "failed", "why": "WRONG"}
    timings = {"items": {"lesson16/attention": timing, "lesson05/gelu": failed}}
    return {"rehearsal": rehearsal, "parts": {"timings": timings, "baselines": {"items": dict(items)}}}


def test_a_solutions_time_stands_beside_each_of_pytorchs_of_its_precision_and_shape():
    (row,) = beside_pytorch.rows(with_times(rehearsal=False))
    assert (row["item"], row["shape"], row["precision"], row["median_ms"]) == ("lesson16/attention", "B=4", "fp32", 2.0)
    ratios = {way: of["times_as_fast"] for way, of in row["pytorch"].items()}
    assert ratios == {"eager": 1.5, "compile": 0.75, "math eager": 2}
    assert row["not_for"] == {"flash": "not for fp32: it takes fp16"}
    assert beside_pytorch.table([row]).splitlines() == [
        "PyTorch's times in ms; in brackets how many times as fast the solution is",
        "  lesson16/attention B=4 fp32: 2 ms",
        "      eager 3 (1.50), compile 1.5 (0.75), math eager 4 (2.00)",
        "      flash: not for fp32: it takes fp16",
    ]


def test_a_slow_solutions_time_stands_beside_pytorchs_too():
    data = with_times(rehearsal=False)
    timing = data["parts"]["timings"]["items"]["lesson16/attention"]
    timing["status"] = "failed"
    for verdict, rows in (("SLOW", 1), ("WRONG", 0)):
        timing["result"]["verdict"] = verdict
        assert len(beside_pytorch.rows(data)) == rows


def test_in_a_rehearsal_an_op_stands_beside_pytorchs_at_any_shape():
    data = with_times(rehearsal=True)
    data["parts"]["timings"]["items"]["lesson16/attention"]["result"]["shapes"][0]["shape"] = "B=1 T=16"
    again = data["parts"]["baselines"]["items"]["attention B=4 fp32 eager"]["result"] | {"shape": "B=2"}
    data["parts"]["baselines"]["items"]["attention B=2 fp32 eager"] = {"status": "ok", "result": again}
    (row,) = beside_pytorch.rows(data)
    assert list(row["pytorch"]) == ["eager", "compile", "math eager"]  # each once
    assert list(row["not_for"]) == ["flash"]


@pytest.mark.parametrize("part", ["timings", "baselines"])
def test_nothing_stands_beside_what_was_not_measured(part):
    data = with_times(rehearsal=False)
    del data["parts"][part]
    assert beside_pytorch.rows(data) == []


def test_the_report_has_the_comparison_and_prints_it(gpu):
    done = gpu.report("--part", "baselines")
    assert "beside_pytorch" not in gpu.data()
    assert "PyTorch's times" not in done.stdout
    done = gpu.report("--part", "timings")
    (row,) = gpu.data()["beside_pytorch"]
    assert (row["item"], row["pytorch"]["eager"]["times_as_fast"]) == ("lesson04/a", 2.0 / 1.5)
    assert "  lesson04/a N=3 fp32: 1.5 ms\n      eager 2 (1.33)\n" in done.stdout


# ---- the whole forward pass beside PyTorch's -------------------------------------------------------------------------


def test_the_newest_step_is_built_and_stands_beside_each_way_of_pytorch(gpu):
    done = gpu.report("--part", "forward_b4")
    assert done.returncode == 0, done.stdout
    data = gpu.data()
    items = data["parts"]["forward_b4"]["items"]
    assert items["step 04 B=4 T=1024 C=768 NH=12 L=12 eager"]["result"]["program"] == "build/gpu/gpt2-bench-04"
    forward, predict = data["whole_forward"]
    assert (forward["task"], predict["task"], forward["step"]) == ("forward", "predict", "04")
    assert (forward["best"], forward["ours_over_best"]) == ("compile", 0.9)
    assert forward["ways"]["eager"] == {"median_ms": 5.0, "ours_ms": 3.0, "ours_over_pytorch": 0.6}
    assert (forward["not_for"], forward["not_measured"]) == ({"eager, SDPA flash": "not for TF32"}, [])
    assert forward["verdict"] == "the goal, 0.95, is met"
    assert (
        "  forward B=4 T=1024 C=768 NH=12 L=12 tf32, step 04\n"
        "                                           PyTorch ms  ours ms   ratio\n"
        "      eager                                         5        3   0.600\n"
        "      compile                                       4      3.6   0.900  the best\n"
        "      eager, SDPA flash: not for TF32\n"
        "      the goal, 0.95, is met\n"
    ) in done.stdout


@pytest.mark.parametrize("chosen", [None, "mine"])
def test_pytorchs_caches_are_filled_until_something_is_timed(gpu, chosen):
    if chosen:
        gpu.environment["TORCHINDUCTOR_CACHE_DIR"] = chosen
    program(gpu.root / "bin/make", (gpu.root / "bin/make").read_text() + "import time; time.sleep(2)\n")
    begin = time.monotonic()
    assert gpu.report("--part", "forward_b4").returncode == 0
    assert time.monotonic() - begin < 50  # the process that fills them sleeps for 60 s
    own = str(gpu.root / gpu_report.STATE / "torchinductor_cache_dir")
    assert (gpu.root / "warmed").read_text() == (chosen or own)


def test_the_goal_is_of_four_sequences_and_what_failed_is_named(gpu):
    gpu.write("plan_whole", "")
    assert gpu.report("--part", "forward_b4").returncode == 1
    done = gpu.report("--part", "forward_b1")
    rows = {(row["shape"].split()[0], row["task"]): row for row in gpu.data()["whole_forward"]}
    assert list(rows) == [("B=4", "forward"), ("B=4", "predict"), ("B=1", "forward"), ("B=1", "predict")]
    assert rows["B=4", "forward"]["verdict"] == "the goal, 0.95, is met"
    assert rows["B=4", "forward"]["not_measured"] == ["compile"]
    assert rows["B=1", "forward"]["verdict"] is None
    assert "      not measured: compile\n" in done.stdout


def test_a_way_that_is_not_done_yet_may_be_the_best(gpu):
    gpu.report("--part", "forward_b4")
    data = gpu.data()
    part = data["parts"]["forward_b4"]
    del part["items"]["step 04 B=4 T=1024 C=768 NH=12 L=12 compile"]
    part["not_done_yet"] = ["step 04 B=4 T=1024 C=768 NH=12 L=12 compile"]
    row = beside_pytorch.whole_rows(data)[0]
    assert (row["best"], row["verdict"], row["not_measured"]) == ("eager", None, ["compile"])


@pytest.mark.parametrize(
    ("ratio", "said"),
    [
        (0.95, "the goal, 0.95, is met"),
        (0.96, "the goal, 0.95, is missed"),
        (1.0, "the goal, 0.95, is missed"),
        (1.01, "the goal, 0.95, is missed, the floor, 1, too"),
        (float("nan"), "the goal, 0.95, is missed, the floor, 1, too"),
    ],
)
def test_the_goal_and_the_floor_are_ours_over_the_best(ratio, said):
    assert beside_pytorch.verdict(ratio) == said


# ---- calls of libraries ----------------------------------------------------------------------------------------------


def test_calls_that_the_card_answers_otherwise_are_listed(gpu):
    assert gpu.report("--part", "libs").returncode == 0
    result = gpu.data()["parts"]["libs"]["items"]["calls"]["result"]
    assert result == {"rows": 2, "rows_on_card": 2, "differ": []}
    gpu.write("plan_calls", "")
    done = gpu.report("--part", "libs", "--fresh")
    differ = ["-k differs: CUBLAS_STATUS_NOT_SUPPORTED", "+k differs: CUBLAS_STATUS_SUCCESS"]
    assert gpu.data()["libraries"] == [{"calls": "calls", "rows": 2, "rows_on_card": 2, "differ": differ}]
    assert f"  calls: 1 of 2 rows the same\n    {differ[0]}\n    {differ[1]}\n" in done.stdout


def test_a_program_of_calls_that_crashes_is_a_failure(gpu):
    program(gpu.root / "programs/calls", "#!/bin/sh\necho no device; exit 2\n")
    assert gpu.report("--part", "libs").returncode == 1
    why = "build/tests/simt/libraries/calls ended with exit status 2: no device"
    assert gpu.data()["parts"]["libs"]["items"]["calls"]["why"] == why


# ---- programs that lessons give --------------------------------------------------------------------------------------


def test_the_programs_that_lessons_give_are_run_and_what_they_print_is_kept(gpu):
    gpu.write("lessons/04_first/look.cu", "int main() {}\n")
    program(gpu.root / "programs/look", "#!/bin/sh\necho 12 us\necho right\n")
    assert gpu.report("--part", "given").returncode == 0
    (name,), (item,) = zip(*gpu.data()["parts"]["given"]["items"].items(), strict=True)
    assert (name, item["result"]) == ("04_first/look", {"said": ["12 us", "right"]})
    gpu.write("lessons/04_first/look.cu", "int main(int, char**) {}\n")
    program(gpu.root / "programs/look", "#!/bin/sh\necho out of memory; exit 3\n")
    assert gpu.report("--part", "given").returncode == 1
    why = "build/gpu/given/04_first/look ended with exit status 3: out of memory"
    assert gpu.data()["parts"]["given"]["items"]["04_first/look"]["why"] == why


def test_a_program_that_is_given_a_size_on_a_card_is_there():
    assert all((ROOT / "lessons" / f"{name}.cu").exists() for name in parts.AT_SIZE)


# ---- what is said before and kept ------------------------------------------------------------------------------------


def test_the_time_that_is_left_to_measure_is_said_first_by_what_it_took_before(gpu):
    gpu.write("plan_a", "slow")
    done = gpu.report("--part", "checks")
    assert "\n3 items, about 1 min\n" in done.stdout
    store = Store([gpu.root / CARD_FILE], CARD)
    assert gpu_report.took_before(store)["checks", "lesson04/a"] >= 1.2
    assert ("checks", "lesson04/z") not in gpu_report.took_before(store)


def test_clocks_are_recorded_while_a_part_runs(gpu):
    gpu.write("plan_a", "slow")
    assert gpu.report("--part", "timings").returncode == 0
    clocks = gpu.data()["parts"]["timings"]["items"]["lesson04/a"]["clocks"]
    assert clocks["sm_mhz"]["max"] == 1980
    assert "power cap" in clocks["held_back_by"]
    assert clocks["samples"] >= 2


def test_what_is_done_is_not_measured_again_unless_asked(gpu):
    gpu.report("--part", "checks")
    assert len(gpu.checked()) == 2
    done = gpu.report("--part", "checks")
    assert done.returncode == 0
    assert gpu.checked() == []
    assert len(gpu.data()["parts"]["checks"]["items"]) == 3
    gpu.report("--part", "checks", "--fresh")
    assert len(gpu.checked()) == 2


def test_another_driver_begins_a_part_anew(gpu):
    gpu.report("--part", "timings")
    gpu.report("--part", "checks")
    gpu.checked()
    gpu.add_smi(driver="590.2")
    gpu.report("--part", "checks")
    assert len(gpu.checked()) == 2
    assert "lesson04/a" in gpu.data()["parts"]["timings"]["items"]  # of its own driver and sources


def asked(gpu) -> list[str]:
    return [line.split()[line.split().index("--only") + 1] for line in gpu.checked()]


def test_another_kernel_or_a_header_of_its_is_measured_again_and_no_other(gpu):
    gpu.write("lessons/04_first/tile.cuh", "constexpr int kTile = 8;\n")
    gpu.write(
        "solutions/04_first/a.cu", '#include "lessons/04_first/tile.cuh"\n__global__ void a_kernel(float* x) {}\n'
    )
    gpu.report("--part", "timings")
    assert asked(gpu) == ["a", "b"]
    gpu.write("solutions/04_first/b.cu", "__global__ void b_kernel(float* y) {}\n")
    gpu.report("--part", "timings")
    assert asked(gpu) == ["b"]
    gpu.write("lessons/04_first/tile.cuh", "constexpr int kTile = 16;\n")
    gpu.report("--part", "timings")
    assert asked(gpu) == ["a"]
    gpu.write("solutions/05_other/c.cu", "__global__ void c_kernel(float* y) {}\n")
    gpu.write("make/other.mk", "all:\n")
    gpu.report("--part", "timings")
    assert asked(gpu) == []


def test_an_op_is_measured_again_where_one_that_it_calls_is_another(gpu):
    gpu.write("solutions/04_first/a.cu", "__global__ void a_kernel(float* x) {}\nvoid a() { x(1); }\n")
    gpu.write("solutions/03_host/x.cpp", "void x(int) {}\n")
    gpu.report("--part", "timings")
    assert asked(gpu) == ["a", "b"]
    gpu.write("solutions/03_host/x.cpp", "void x(int y) {}\n")
    gpu.report("--part", "timings")
    assert asked(gpu) == ["a"]
    gpu.write("solutions/05_later/x.cu", "void x(int z) {}\n")  # no part of lesson 04
    gpu.report("--part", "timings")
    assert asked(gpu) == []


def test_the_check_program_is_part_of_what_was_measured(gpu):
    gpu.write("lessons/04_first/check.cpp", '#include "checker/clock/timing.h"\n')
    gpu.write("checker/clock/timing.h", "int samples();\n")
    gpu.write("checker/clock/timing.cpp", "int samples() { return 50; }\n")
    gpu.report("--part", "timings")
    assert asked(gpu) == ["a", "b"]
    gpu.write("checker/clock/timing.cpp", "int samples() { return 100; }\n")
    gpu.report("--part", "timings")
    assert asked(gpu) == ["a", "b"]


@pytest.fixture
def keys(tmp_path):
    """Of the results of lesson 04's ops `a` and `b`, by what makes them, once a file of a small course is another."""
    lesson = Lesson("04_first", "device", ("a", "b"))

    def keys_with(name: str = "", text: str = "") -> dict[str, str]:
        if name:
            (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
            (tmp_path / name).write_text(text)
        made_of = {"timed": parts.timed_with, "checked": parts.checked_with}
        return {
            f"{op} {what}": sources.digest(tmp_path, of(tmp_path, lesson, [op]))
            for what, of in made_of.items()
            for op in lesson.ops
        }

    for op in lesson.ops:
        keys_with(f"solutions/04_first/{op}.cu", f'#include "lessons/gpt2/ops.h"\nvoid {op}() {{}}\n')
    keys_with("checker/devices/gpu/event_stopwatch.h", '#include "checker/simt/device.h"\n')
    return keys_with


@pytest.mark.parametrize(
    "name",
    [
        "checker/simt/device.h",
        "checker/worker/worker_process.cpp",
        "checker/program/run_lesson.cpp",
        "lessons/gpt2/ops.h",
        "lessons/04_first/a.cu",
        "lessons/05_next/lesson.toml",
        "solutions/05_next/c.cu",
        "reference/cases/lesson09.safetensors",
        "make/gpu.mk",
    ],
)
def test_an_edit_elsewhere_leaves_results_valid(keys, name):
    assert keys(name, "int now;") == keys(name, "int another;")


@pytest.mark.parametrize(
    ("name", "stale"),
    [
        ("checker/devices/gpu/event_stopwatch.h", ["a timed", "b timed"]),
        ("checker/worker/time_op.cpp", ["a timed", "b timed"]),
        ("checker/judge/compare.cpp", ["a checked", "b checked"]),
        ("checker/devices/gpu/gpu_backend.cpp", ["a checked", "a timed", "b checked", "b timed"]),
        ("lessons/04_first/lesson.toml", ["a checked", "a timed", "b checked", "b timed"]),
        ("lessons/gpt2/check/a.cpp", ["a checked", "a timed"]),
        ("solutions/04_first/a.cu", ["a checked", "a timed"]),
        ("reference/cases/odd.safetensors", ["a checked", "b checked"]),
        ("reference/cases/lesson04.safetensors", ["a checked", "b checked"]),
    ],
)
def test_an_edit_of_what_it_was_measured_with_makes_it_stale(keys, name, stale):
    before, after = keys(name, "int now;"), keys(name, "int another;")
    assert sorted(key for key in before if before[key] != after[key]) == stale


def test_a_baseline_depends_on_the_file_of_its_op_and_of_those_that_it_imports(tmp_path):
    for name, text in {"attention": "", "linear": "from reference.ops import matmul\n", "matmul": ""}.items():
        (tmp_path / "reference/ops").mkdir(parents=True, exist_ok=True)
        (tmp_path / f"reference/ops/{name}.py").write_text(text)

    def ops(item: str) -> list[str]:
        return [path.stem for path in parts.baseline_of(tmp_path, item) if path.parent.name == "ops"]

    assert ops("attention_flash B=4 fp32 eager") == ["attention"]
    assert ops("linear N=3 fp32 eager") == ["linear", "matmul"]
    assert ops("predict B=4 fp32 eager") == ["attention", "linear", "matmul"]  # any op


def test_a_learners_file_a_page_and_a_comment_change_nothing(gpu):
    gpu.report("--part", "checks")
    gpu.checked()
    gpu.write("lessons/04_first/a.cu", "// TODO")
    gpu.write("lessons/04_first/README.md", "# A page")
    gpu.write("solutions/04_first/a.cu", "// Another comment.\n__global__ void a_kernel(\n    float* x) {}\n")
    gpu.report("--part", "checks")
    assert gpu.checked() == []


@pytest.mark.parametrize(
    ("plan", "why"),
    [
        ("WRONG", "WRONG: odd: 7 of 9 elements are wrong"),
        ("crash", "lesson04 wrote no result, exit status 134: terminate called"),
        ("garbage", "lesson04 wrote something that is not JSON"),
    ],
)
def test_a_failing_item_is_recorded_and_the_next_is_measured(gpu, plan, why):
    gpu.write("plan_a", plan)
    done = gpu.report("--part", "checks")
    assert done.returncode == 1
    items = gpu.data()["parts"]["checks"]["items"]
    assert items["lesson04/a"]["status"] == "failed"
    assert items["lesson04/a"]["why"].startswith(why)
    assert items["lesson04/b"]["status"] == items["lesson04/wrong solutions"]["status"] == "ok"
    assert f"failed  checks/lesson04/a: {why}" in done.stdout


def test_a_failed_item_is_tried_again_and_only_it(gpu):
    gpu.write("plan_a", "crash")
    gpu.report("--part", "checks")
    gpu.checked()
    (gpu.root / "plan_a").unlink()
    assert gpu.report("--part", "checks").returncode == 0
    assert [line.split()[line.split().index("--only") + 1] for line in gpu.checked()] == ["a"]


def test_what_failed_before_is_tried_after_what_was_never_measured(gpu):
    gpu.write("plan_a", "crash")
    gpu.report("--part", "checks")
    gpu.checked()
    gpu.write("solutions/04_first/b.cu", "__global__ void b_kernel(float* another) {}\n")
    gpu.report("--part", "checks")
    assert asked(gpu) == ["b", "a"]


def test_an_item_that_there_was_no_time_for_is_no_failure(gpu):
    gpu.write("plan_b", "hang")
    begin = time.monotonic()
    done = gpu.report("--part", "timings", "--lease", "17s")
    assert time.monotonic() - begin < 17
    assert done.returncode == 0
    part = gpu.data()["parts"]["timings"]
    assert list(part["items"]) == ["lesson04/a"]
    assert part["not_done_yet"] == ["lesson04/b"]
    assert done.stdout.splitlines()[-1] == "1 item left; go on with: make gpu-report PART=timings LEASE=17s"


def test_a_report_that_is_killed_has_what_was_measured(gpu):
    gpu.write("plan_b", "hang")
    with subprocess.Popen(
        [sys.executable, "-m", "reference.report.main", "--part", "checks"],
        cwd=gpu.root,
        env=gpu.environment,
        stdout=subprocess.DEVNULL,
        start_new_session=True,
    ) as process:
        until = time.monotonic() + 60
        begun = asked(gpu)
        while len(begun) < 2 and time.monotonic() < until:
            time.sleep(0.1)
            begun += asked(gpu)  # names each call once
        os.killpg(process.pid, signal.SIGKILL)
    part = gpu.data()["parts"]["checks"]
    assert part["items"]["lesson04/a"]["status"] == "ok"
    assert part["not_done_yet"] == ["lesson04/b", "lesson04/wrong solutions"]


def test_a_file_that_does_not_compile_is_its_compilers_first_error(gpu):
    gpu.write("broken", "tools/wrong")
    done = gpu.report("--part", "checks")
    assert done.returncode == 1
    items = gpu.data()["parts"]["checks"]["items"]
    assert items["lesson04/wrong solutions"]["why"] == (
        "build/tools/wrong was not built: x.cu(3): error: build/tools/wrong has a typo"
    )
    assert items["lesson04/a"]["status"] == "ok"


def test_a_wrong_solution_that_passes_is_a_failure_with_its_name(gpu):
    gpu.write("plan_wrong", "")
    assert gpu.report("--part", "checks").returncode == 1
    item = gpu.data()["parts"]["checks"]["items"]["lesson04/wrong solutions"]
    assert item["why"] == "1 of 2 were not rejected, first b: one_too_many"
    assert item["result"]["rejected"] == 1


def test_a_wrong_solution_that_only_the_cpu_device_sees_is_not_asked_of_a_gpu(gpu):
    gpu.write("plan_wrong", "not_asked")
    assert gpu.report("--part", "checks").returncode == 0
    result = gpu.data()["parts"]["checks"]["items"]["lesson04/wrong solutions"]["result"]
    assert (result["rejected"], result["of"], result["missed"]) == (1, 1, [])
    assert result["not_asked"] == {"b: one_too_many": "a race may go well"}


def test_one_parts_failure_does_not_stop_another(gpu):
    (gpu.root / "bin/ncu").unlink()
    (gpu.root / "bin/compute-sanitizer").unlink()
    done = gpu.report()
    assert done.returncode == 1
    parts = gpu.data()["parts"]
    assert parts["ncu"]["why"].startswith("ncu is not there: a whole CUDA toolkit has it")
    assert parts["sanitize"]["why"].startswith("compute-sanitizer is not there")
    assert {item["status"] for item in parts["baselines"]["items"].values()} == {"ok", "unavailable"}


def test_a_tool_that_has_gone_leaves_what_it_measured(gpu):
    gpu.report("--part", "ncu")
    before = gpu.data()["parts"]["ncu"]
    (gpu.root / "bin/ncu").unlink()
    assert gpu.report("--part", "ncu").returncode == 1
    part = gpu.data()["parts"]["ncu"]
    assert part.pop("why").startswith("ncu is not there")
    assert part == before


def test_a_part_that_is_asked_for_again_keeps_its_records(gpu):
    gpu.report("--part", "timings")
    before = gpu.data()["parts"]["timings"]
    gpu.report("--part", "timings")
    assert gpu.data()["parts"]["timings"] == before


def test_a_benchmark_that_brings_its_process_down_costs_only_its_own_item(gpu):
    gpu.write("plan_bench", "")
    done = gpu.report("--part", "baselines")
    assert done.returncode == 1
    items = gpu.data()["parts"]["baselines"]["items"]
    assert items["b N=3 fp32 eager"]["why"] == "CUDA error: an illegal memory access was encountered"
    assert items["a N=3 fp32 eager"]["status"] == items["c N=3 fp32 eager"]["status"] == "ok"
    assert items["c N=3 fp32 eager"]["result"] == {"median_ms": None}  # NaN


@pytest.mark.parametrize(
    ("python", "why"),
    [
        ("no/such/python", "no/such/python: No such file or directory; PYTHON=… names the Python that has PyTorch"),
        ("/bin/false", "it ended with exit status 1"),
    ],
)
def test_a_python_that_cannot_measure_is_the_parts_failure(gpu, python, why):
    done = gpu.run("--part", "baselines", "--python", python)
    assert done.returncode == 1
    assert f"  baselines: {why}\n" in done.stdout
    assert done.stdout.splitlines()[-1] == "nothing was measured, and nothing is written"
    assert not (gpu.root / CARD_FILE).exists()


def test_a_part_that_cannot_begin_is_noted_beside_what_was_measured(gpu):
    gpu.report("--part", "calibrate")
    assert gpu.run("--part", "baselines", "--python", "/bin/false").returncode == 1
    assert gpu.data()["parts"]["baselines"]["why"] == "it ended with exit status 1"
    assert gpu.data()["parts"]["calibrate"]["items"]["roof"]["status"] == "ok"


def test_an_answer_of_another_form_is_the_parts_failure(gpu):
    gpu.write("plan_list", "")
    done = gpu.report("--part", "baselines")
    assert done.returncode == 1
    assert "  baselines: KeyError: 'items'\n" in done.stdout


@pytest.mark.parametrize("said", ["", "printf '{\"items\": '; "], ids=["nothing", "half a line"])
def test_a_benchmark_that_does_not_answer_is_ended(gpu, monkeypatch, said):
    program(gpu.root / "bin/bench", f"#!/bin/sh\n{said}exec sleep 60\n")
    monkeypatch.setattr(os, "environ", gpu.environment)
    setting = parts.Setting(gpu.root, CARD, str(gpu.root / "bin/bench"), Programs(), gpu.root / "tmp")
    bench = parts.Bench(setting)
    monkeypatch.setattr(bench, "PATIENCE", 0.1)
    begin = time.monotonic()
    with pytest.raises(ToolError, match="no answer within 0 s"):
        bench.ask("list", 0.2)
    assert bench.process is None
    assert time.monotonic() - begin < 30


def test_what_was_said_on_makes_command_line_holds_for_the_builds(gpu, monkeypatch):
    program(gpu.root / "bin/make", '#!/bin/sh\necho "$MAKEFLAGS | $*" >said\n')
    monkeypatch.setenv("MAKEFLAGS", "s -j4 --jobserver-auth=3,4 -- CXX=g++-12 PART=checks")
    monkeypatch.chdir(gpu.root)
    Programs(dry=True, make=str(gpu.root / "bin/make")).build(["target"])
    assert (gpu.root / "said").read_text() == "-- CXX=g++-12 PART=checks | DEVICE=gpu DRY=1 target\n"


def test_a_build_that_takes_too_long_says_that_it_can_go_on(gpu):
    program(gpu.root / "bin/make", "#!/bin/sh\nexec sleep 60\n")
    with pytest.raises(ToolError, match="make target took more than 0 s; it goes on where it stopped"):
        Programs(make=str(gpu.root / "bin/make")).build(["target"], limit=0.2)


def test_a_command_ends_with_its_budget_and_the_next_goes_on(gpu):
    gpu.write("plan_b", "hang")
    out = gpu.root / "out"
    done = gpu.report("--part", "checks", "--lease", "20s", "--out", "out", "--commit", "0123abc")
    assert done.returncode == 0, done.stdout
    goes_on = "make gpu-report PART=checks LEASE=20s OUT=out COMMIT=0123abc"
    assert done.stdout.splitlines()[-1].endswith(f"left; go on with: {goes_on}")
    assert sorted(path.name for path in out.iterdir()) == ["build.log", CARD_FILE.name]
    assert json.loads((out / CARD_FILE.name).read_text()) == gpu.data()
    assert "lesson04/b" in gpu.data()["parts"]["checks"]["not_done_yet"]
    (gpu.root / "plan_b").unlink()
    gpu.checked()
    # The second command: an empty folder, and a tree that was sent again without what the first one wrote.
    for path in (CARD_FILE, *out.iterdir()):
        (gpu.root / path).unlink()
    done = gpu.report("--part", "checks", "--lease", "5m", "--out", "out")
    assert done.returncode == 0, done.stdout
    assert done.stdout.splitlines()[-1] == "nothing left"
    assert "the programs are built" in done.stdout
    assert len((gpu.root / "made").read_text().splitlines()) == 1  # make was called once
    assert asked(gpu) == ["b"]
    assert json.loads((out / CARD_FILE.name).read_text()) == gpu.data()
    assert len(gpu.data()["parts"]["checks"]["items"]) == 3


def on_another_machine(gpu, name: str) -> None:
    """Moves the card's file away, and forgets what was measured and built."""
    (gpu.root / CARD_FILE).rename(gpu.root / name)
    for path in (gpu.root / gpu_report.STATE).iterdir():
        path.unlink()


def test_a_report_from_elsewhere_is_taken_in_at_the_desk(gpu):
    gpu.report("--part", "checks")
    on_another_machine(gpu, "other.json")
    gpu.report("--part", "timings")
    (gpu.root / "bin/nvidia-smi").unlink()  # no card at the desk
    done = gpu.report("--merge", "other.json")
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.splitlines()[-1] == f"3 items of other.json taken into {CARD_FILE}"
    assert [len(gpu.data()["parts"][part]["items"]) for part in ("checks", "timings")] == [3, 2]
    gpu.add_smi()
    gpu.checked()
    for part in ("checks", "timings"):
        assert gpu.report("--part", part).stdout.splitlines()[-1] == "nothing left"
    assert gpu.checked() == []


def test_a_merged_result_of_other_sources_does_not_replace_one_of_todays(gpu):
    gpu.report("--part", "timings")
    before = gpu.data()["parts"]["timings"]["items"]
    on_another_machine(gpu, "mine.json")
    (gpu.root / "solutions/04_first/a.cu").write_text("__global__ void a_kernel(float* y) {}\n")
    gpu.report("--part", "timings")
    (gpu.root / CARD_FILE).rename(gpu.root / "later.json")
    (gpu.root / "mine.json").rename(gpu.root / CARD_FILE)
    gpu.write("solutions/04_first/a.cu", "__global__ void a_kernel(float* x) {}\n")  # as it was
    assert gpu.report("--merge", "later.json").returncode == 0
    assert gpu.data()["parts"]["timings"]["items"]["lesson04/a"] == before["lesson04/a"]


@pytest.mark.parametrize(
    ("text", "why"),
    [
        (None, "MERGE=other.json: there is no such file"),
        ("{}", "other.json is no report of format 2: move it away, then start again"),
        (
            '{"format": 2, "rehearsal": true, "runs": {}, "parts": {}}',
            "MERGE=other.json: it is a rehearsal, in which nothing is a measurement",
        ),
    ],
)
def test_what_cannot_be_merged_is_one_line(course, text, why):
    if text is not None:
        course.write("other.json", text)
    done = course.report("--merge", "other.json")
    assert (done.returncode, done.stdout, done.stderr) == (1, "", f"gpu-report: {why}\n")


def test_a_plan_needs_no_card_and_a_second_one_goes_on(course):
    for tool in ("lessons", "ops"):
        program(course.root / "build/tools" / tool, (course.root / "programs" / tool).read_text())
    first = course.report("--plan", "--lease", "2m10s").stdout.splitlines()
    assert first[0] == "LEASE=2m10s by a simulated clock, with 16 processors: nothing here was measured"
    assert "  the roof                                          1 of 1    0:45   1:30" in first
    assert first[-1].endswith("left; go on with: make gpu-report LEASE=3m PLAN=1; FRESH=1 begins anew")
    second = course.report("--plan", "--lease", "2m10s").stdout.splitlines()
    assert "  the roof                                            done" in second
    assert course.report("--plan", "--lease", "2m10s", "--fresh").stdout.splitlines() == first
    assert not (course.root / "made").exists()
    assert course.report("--plan").stderr == "gpu-report: PLAN=1 needs a budget, such as LEASE=9m30s\n"


def test_another_source_is_built_again(gpu):
    gpu.report("--part", "checks")
    gpu.write("solutions/04_first/b.cu", "__global__ void b_kernel(float* y) {}\n")
    assert "the programs are built" not in gpu.report("--part", "checks").stdout
    assert len((gpu.root / "made").read_text().splitlines()) == 2


def test_a_build_that_does_not_end_leaves_everything(gpu):
    program(gpu.root / "bin/make", "#!/bin/sh\nexec sleep 60\n")
    program(gpu.root / "build/tools/gpu", "#!/bin/sh\n")
    program(gpu.root / "build/tools/lessons", f'#!/bin/sh\nexec {ROOT / LESSONS} "$@"\n')
    done = gpu.report("--part", "checks", "--lease", "13s")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "stopped at the end of the budget" in done.stdout
    assert done.stdout.splitlines()[-1].startswith("3 items left")


def test_an_interrupt_loses_nothing_that_is_measured(gpu):
    gpu.write("plan_b", "hang")
    command = [sys.executable, "-m", "reference.report.main", "--part", "checks"]
    with subprocess.Popen(
        command,
        cwd=gpu.root,
        env=gpu.environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),  # a shell's background job ignores interrupts
    ) as process:
        deadline = time.monotonic() + 60
        while time.monotonic() < deadline:
            if (gpu.root / "checked").exists() and len((gpu.root / "checked").read_text().splitlines()) == 2:
                break
            time.sleep(0.05)
        process.send_signal(signal.SIGTERM)
        _, error = process.communicate(timeout=60)
    assert process.returncode == 130
    assert error.splitlines()[-1] == "gpu-report: interrupted; the same command goes on where it stopped"
    part = gpu.data()["parts"]["checks"]
    assert list(part["items"]) == ["lesson04/a"]
    assert "lesson04/wrong solutions" in part["not_done_yet"]
    assert list((gpu.root / "tmp").iterdir()) == []


def test_a_lesson_that_the_card_cannot_run_is_unavailable_and_no_failure(gpu):
    gpu.write("lessons/30_clusters/lesson.toml", 'requires = ["sm_100"]\n')
    gpu.write("solutions/30_clusters/z.cu", "")
    assert gpu.report("--part", "checks").returncode == 0
    items = gpu.data()["parts"]["checks"]["items"]
    assert items["lesson30"] == {"status": "unavailable", "why": "needs sm_100, this card is 9.0"}


def test_two_reports_do_not_run_at_once(gpu):
    with gpu_report.alone(gpu.root / "build/gpu-report.lock"):
        done = gpu.report("--part", "checks")
    assert done.returncode == 1
    assert done.stderr == "gpu-report: another gpu-report is running here; wait until it is done\n"


def test_a_file_about_another_card_is_not_mixed_with_this_one(tmp_path):
    Store([tmp_path / "x.json"], CARD).save()
    with pytest.raises(ToolError, match=r"x.json is about NVIDIA Test 1, this card is nvidia test 1: name"):
        Store([tmp_path / "x.json"], Card("nvidia test 1", "580.1"))


@pytest.mark.parametrize(
    ("plan", "why"),
    [
        ("crash", "the check program ran nothing under memcheck: terminate called"),
        ("WRONG", "no error, but the check says WRONG: odd: 7 of 9 elements are wrong"),
    ],
)
def test_a_sanitizer_without_errors_is_not_enough_where_the_check_did_not_pass(gpu, plan, why):
    gpu.write("plan_a", plan)
    done = gpu.report("--part", "sanitize")
    assert done.returncode == 1
    items = gpu.data()["parts"]["sanitize"]["items"]
    assert items["lesson04/a/memcheck"]["why"] == why
    assert items["lesson04/b/memcheck"]["result"] == {
        "errors": 0,
        "warnings": 0,
        "distinct": {},
        "verdict": "ok",
        "cases": 1,
    }


def a_rung(gpu) -> None:
    gpu.write("solutions/04_first/matmul.cu", "__global__ void matmul_kernel(float* x) {}\n")
    toml = gpu.root / "lessons/04_first/lesson.toml"
    toml.write_text(toml.read_text() + "[ladder]\n")


def test_every_lessons_matmul_is_timed_at_the_shapes_that_are_asked_for(gpu):
    a_rung(gpu)
    gpu.environment["SHAPES"] = "N=8 C=8 OC=8; N=4 C=4 OC=4"
    assert gpu.report("--part", "ladder").returncode == 0
    items = gpu.data()["parts"]["ladder"]["items"]
    assert list(items) == ["lesson04/N=4 C=4 OC=4", "lesson04/N=8 C=8 OC=8"]
    result = items["lesson04/N=4 C=4 OC=4"]["result"]
    assert result == {"median_ms": 1.5, "flop_per_s": 2e12, "library": "cuBLAS", "of_library": 0.5, "of_roof": None}
    assert all("--impl-dir build/gpu/impl/solutions/04_first" in line for line in gpu.checked())


def test_a_matmul_that_is_wrong_has_no_place_on_the_ladder(gpu):
    a_rung(gpu)
    gpu.write("plan_matmul", "WRONG")
    gpu.environment["SHAPES"] = "N=8 C=8 OC=8"
    assert gpu.report("--part", "ladder").returncode == 1
    (record,) = gpu.data()["parts"]["ladder"]["items"].values()
    assert record["why"] == "lesson 04 at N=8 C=8 OC=8: WRONG: 7 of 9 elements are wrong"


def test_a_program_that_crashes_under_ncu_has_no_counters(gpu):
    gpu.write("plan_a", "crash when timed")
    assert gpu.report("--part", "ncu").returncode == 1
    items = gpu.data()["parts"]["ncu"]["items"]
    assert items["lesson04/a"]["why"] == "the program ended with exit status 134 under ncu"
    assert items["lesson04/b"]["status"] == "ok"


# ---- the CPU device's counters beside Nsight Compute's ---------------------------------------------------------------


def test_the_launches_that_the_cpu_device_counts_are_measured_and_set_beside_it(gpu):
    done = gpu.report("--part", "ncu")
    assert done.returncode == 0, done.stdout
    items = gpu.data()["parts"]["ncu"]["items"]
    watched = ["lesson04/b/head64", "lesson04/a/head64"]
    assert list(items) == [*watched, "lesson04/a", "lesson04/b", "lesson04/a/odd", "lesson04/b/odd"]
    result = items["lesson04/a/odd"]["result"]
    assert result["metrics_unknown"] == []
    (launch,) = result["launches"]
    assert (launch["kernel"], launch["grid"], launch["block"]) == ("a_kernel", [3, 1, 1], [64, 1, 1])
    assert set(launch["metrics"]) == set(simt_vs_ncu.COUNTED)
    checks = [line for line in gpu.checked() if "--no-timing" in line]
    assert [line.split()[line.split().index("--only") + 1] for line in checks] == [
        "b/head64", "a/head64", "a/odd", "b/odd"
    ]  # fmt: skip
    page = (gpu.root / "checker/simt/VS_NCU.md").read_text()
    assert page.startswith("# The CPU device's counters beside Nsight Compute's\n")
    assert "\n\n## NVIDIA Test 1\n\nDriver 580.1, CUDA 13.0, " in page
    assert "20 of 20 comparable rows are the same, 0 have a known difference" in page
    assert (
        "| 04 `b_kernel`, head64 | shared stores | 32,768 | 32,768 | 33,102 | 33,102 | 1.00 | 334 | 334 | same |"
        in page
    )


def test_the_rules_are_one_program_of_which_every_launch_is_measured(gpu):
    for source in simt_vs_ncu.RULE_SOURCES:
        gpu.write(str(source), "// kernels")
    gpu.count("a", "b")
    program(gpu.root / "programs/rules", "#!/bin/sh\necho rules >>ran\n")
    assert gpu.report("--part", "ncu").returncode == 0
    assert gpu.ran() == ["rules"]
    launches = gpu.data()["parts"]["ncu"]["items"]["rules"]["result"]["launches"]
    assert [launch["kernel"] for launch in launches] == ["first_kernel", "second_kernel"]
    page = (gpu.root / "checker/simt/VS_NCU.md").read_text()
    assert "| rule 1 | shared stores | 32,768 | 32,768 | 33,102 | 33,102 | 1.00 | 334 | 334 | same |" in page


def test_a_metric_that_ncu_does_not_know_is_left_out_and_named(gpu):
    """As Nsight Compute does it: for the one name it measures nothing at all."""
    unknown = "sm__sass_l1tex_t_requests_pipe_lsu_mem_global_op_ldgsts"
    text = (
        f'case "$*" in *{unknown}*) echo "==ERROR== Failed to find metric regex:^{unknown}\\.(sum|min)$"; exit 1;; esac'
    )
    program(gpu.root / "bin/ncu", f'#!/bin/sh\n{text}\nexec {sys.executable} {STAND_INS}/ncu "$@"\n')
    assert gpu.report("--part", "ncu").returncode == 0
    result = gpu.data()["parts"]["ncu"]["items"]["lesson04/a/odd"]["result"]
    assert result["metrics_unknown"] == [f"{unknown}.sum"]
    assert set(result["launches"][0]["metrics"]) == set(simt_vs_ncu.COUNTED) - {f"{unknown}.sum"}


def test_a_case_that_could_not_be_measured_says_so_in_the_table(gpu):
    gpu.write("plan_a", "crash")
    assert gpu.report("--part", "ncu").returncode == 1
    page = (gpu.root / "checker/simt/VS_NCU.md").read_text()
    why = "not measured: the program ended with exit status 134 under ncu"
    assert f"- Of the lessons' kernels: 2 of 4 launches are here; 2 {why}.\n" in page
    assert "| 04 `a_kernel`" not in page
    assert "10 of 10 comparable rows are the same" in page


def test_another_cards_table_stays(gpu):
    gpu.report("--part", "ncu")
    gpu.add_smi("NVIDIA Test 0")
    gpu.report("--part", "ncu")
    page = (gpu.root / "checker/simt/VS_NCU.md").read_text()
    assert page.index("## NVIDIA Test 0") < page.index("## NVIDIA Test 1")


def test_a_rehearsed_comparison_is_a_page_of_its_own(course):
    done = course.report("--dry", "--part", "ncu")
    assert done.returncode == 0, done.stdout
    assert "table in build/dry/VS_NCU.md" in done.stdout
    page = (course.root / "build/dry/VS_NCU.md").read_text()
    assert page.startswith(f"{NO_MEASUREMENT}\n\n## rehearsal without a GPU\n\nDriver None, ")
    assert "20 of 20 comparable rows are the same" in page
    assert not (course.root / "checker/simt/VS_NCU.md").exists()


# ---- the CPU device's verdicts beside compute-sanitizer's ------------------------------------------------------------


def outcomes(gpu) -> dict:
    items = gpu.data()["parts"]["simt"]["items"]
    return {name: item.get("result", {}).get("outcome", item.get("why")) for name, item in items.items()}


def test_a_bug_is_looked_for_by_the_tool_of_its_kind(gpu):
    gpu.sanitizer_that_finds("racecheck")
    gpu.kernel("buggy/wide", "race shared wide.cu:7 wide.cu:8")
    gpu.kernel("buggy/hole", "uninitialised global hole.cu:9")
    gpu.kernel("buggy/empty", "leak empty.cu:3")
    assert gpu.report("--part", "simt").returncode == 0
    items = gpu.data()["parts"]["simt"]["items"]
    results = {name: item["result"] for name, item in items.items()}
    assert results["buggy/softmax"] | {"said": []} == {
        "outcome": "both", "tool": "racecheck", "errors": 1, "warnings": 1, "said": [], "same_line": True,
    }  # fmt: skip
    assert (results["buggy/wide"]["outcome"], results["buggy/wide"]["same_line"]) == ("both", False)
    assert (results["buggy/hole"]["outcome"], results["buggy/hole"]["tool"]) == ("cpu", "initcheck")
    assert (results["buggy/empty"]["outcome"], results["buggy/empty"]["tool"]) == ("cpu", "memcheck")
    assert results["buggy/far"] == {"outcome": "none", "why": "racecheck watches shared memory only"}
    assert results["correct/copy"]["outcome"] == "differs"
    assert [answer["tool"] for answer in results["correct/copy"]["tools"]] == ["racecheck"]


def test_what_no_tool_looks_for_is_not_run(gpu):
    gpu.kernel("buggy/forever", "spin forever.cu:5")
    assert gpu.report("--part", "simt").returncode == 0
    assert sorted(gpu.ran()) == ["buggy/softmax"] + ["correct/copy"] * 5
    assert outcomes(gpu)["buggy/forever"] == "none"


def test_a_bug_that_the_cpu_device_misses_may_be_the_tools(gpu):
    gpu.sanitizer_that_finds("initcheck")
    gpu.kernel("missed/late", "correct")
    text = "// verdict: correct\n// bug: uninitialised\nint main() {}\n"
    gpu.write("checker/simt/tests/kernels/missed/late.cu", text)
    assert gpu.report("--part", "simt").returncode == 0
    assert outcomes(gpu)["missed/late"] == "gpu"


def test_a_right_kernel_that_fails_on_the_gpu_is_a_failure(gpu):
    gpu.kernel("correct/copy", "correct", status=3)
    done = gpu.report("--part", "simt")
    assert done.returncode == 1
    assert outcomes(gpu)["correct/copy"].startswith("it is right, and ended with exit status 3 on the GPU")
    assert outcomes(gpu)["buggy/softmax"] == "cpu"


def test_a_kernel_that_nvcc_does_not_take_is_its_first_error(gpu):
    gpu.kernel("buggy/far", "leak far.cu:1")
    (gpu.root / "programs/far").unlink()
    program(gpu.root / "bin/make", (gpu.root / "bin/make").read_text().replace("path.touch()", "pass"))
    gpu.write("build/gpu/simt/buggy/far.log", "far.cu(3): error: expected a ';'\n")
    done = gpu.report("--part", "simt")
    assert done.returncode == 1
    assert outcomes(gpu)["buggy/far"] == "does not compile: far.cu(3): error: expected a ';'"


def test_only_another_kernel_begins_the_comparison_anew(gpu):
    gpu.report("--part", "simt")
    gpu.ran()
    gpu.report("--part", "simt")
    assert gpu.ran() == []
    gpu.kernel("correct/more", "correct")
    gpu.report("--part", "simt")
    assert "correct/more" in gpu.ran()


def test_a_tool_that_does_not_end_gives_no_verdict(gpu, monkeypatch):
    program(gpu.root / "bin/compute-sanitizer", "#!/bin/sh\nexec sleep 60\n")
    monkeypatch.setenv("PATH", f"{gpu.root / 'bin'}:{os.environ['PATH']}")
    answer = simt_vs_gpu.watch("memcheck", gpu.root / "programs/far", 0.2)
    assert answer == {"tool": "memcheck", "why": "memcheck did not end within 0 s"}


def test_the_table_counts_by_kind_and_names_the_differences(gpu):
    gpu.sanitizer_that_finds("racecheck")
    gpu.kernel("buggy/hole", "uninitialised global hole.cu:9")
    gpu.report("--part", "simt")
    page = (gpu.root / "checker/simt/VS_GPU.md").read_text()
    assert page.startswith("# The CPU device beside a GPU\n")
    assert "\n\nNVIDIA Test 1, driver 580.1, CUDA 13.0, compute-sanitizer " in page
    assert "4 of 4 kernels." in page
    assert "| `race shared` | 1 | racecheck | 1 | 0 | 0 | 0 | 0 |" in page
    assert "| `race global` | 1 |  | 0 | 0 | 0 | 0 | 1 |" in page
    assert "| `uninitialised global` | 1 | initcheck | 0 | 1 | 0 | 0 | 0 |" in page
    assert "Of 1 right kernels 0 end well on the GPU without a word of any tool." in page
    assert "| `far` | racecheck watches shared memory only |" in page
    assert "| `hole` | initcheck says: nothing |" in page
    assert "softmax.cu:31" in page


def test_without_a_measurement_there_is_no_page(tmp_path, monkeypatch):
    monkeypatch.setattr(simt_vs_gpu, "corpus", lambda _: [simt_vs_gpu.Kernel("correct/copy", "", (), True)])
    assert simt_vs_gpu.write_table({"gpu": "x", "parts": {"simt": {"items": {}}}}, tmp_path) is None
    assert list(tmp_path.iterdir()) == []


def test_every_kernel_of_the_corpus_has_a_tool_or_a_reason_why_there_is_none():
    kernels = simt_vs_gpu.corpus(ROOT)
    without = [k.name for k in kernels if k.kind and not k.entry(simt_vs_gpu.TOOL | simt_vs_gpu.NO_COUNTERPART)]
    assert without == []
    assert {k.seen for k in kernels if k.name.startswith("buggy/")} == {True}
    assert {bool(k.kind) for k in kernels if k.name.startswith("correct/")} == {False}


# ---- without a GPU ---------------------------------------------------------------------------------------------------


def test_without_a_gpu_it_says_why_and_how_to_rehearse(course):
    done = course.report()
    assert done.returncode == 1
    assert done.stdout == ""
    assert done.stderr.startswith("gpu-report: nvidia-smi is not there")
    assert done.stderr.endswith("To rehearse without a GPU: make gpu-report DRY=1\n")
    assert not (course.root / "reference").exists()


def test_where_driver_toolkit_and_card_do_not_go_together_it_says_so_once_and_writes_nothing(gpu):
    why = "the driver is for CUDA 12.4 and nvcc is 13.0: update the driver"
    program(gpu.root / "programs/gpu", f"#!/bin/sh\necho '{why}' >&2\nexit 1\n")
    done = gpu.report()
    assert (done.returncode, done.stderr) == (1, f"gpu-report: {why}\n")
    assert len((gpu.root / "made").read_text().splitlines()) == 1
    assert not (gpu.root / CARD_FILE).exists()


def test_what_a_build_needs_and_is_missing_is_said_once(gpu):
    why = "missing: libfmt-dev. Install with: make setup"
    program(
        gpu.root / "bin/make", f"#!/bin/sh\necho '{why}'\necho 'make: *** [m.mk:9: build/.setup] Error 1'\nexit 2\n"
    )
    done = gpu.report()
    assert done.returncode == 1
    assert done.stderr == f"gpu-report: make report-programs: {why}\n"


def test_a_rehearsal_takes_every_part_and_writes_no_measurement(course):
    done = course.report("--dry")
    assert done.returncode == 0, done.stdout + done.stderr
    lines = done.stdout.splitlines()
    assert lines[0] == lines[-1] == NO_MEASUREMENT
    data = course.data(REHEARSAL)
    assert data["rehearsal"] is True
    assert data["note"] == NO_MEASUREMENT
    assert list(data["parts"]) == list(PART_NAMES)
    assert {i["status"] for part in data["parts"].values() for i in part["items"].values()} == {"ok", "unavailable"}
    assert not (course.root / "reference").exists()
    assert all("DRY=1" in line for line in (course.root / "made").read_text().splitlines())


def test_a_rehearsals_baselines_are_pytorchs_own(course):
    toml = target("layernorm", "B=4 T=1024 C=768") + target("swiglu", "N=3")
    course.write("lessons/04_first/lesson.toml", toml)
    done = course.run("--dry", "--part", "baselines")
    assert done.returncode == 0, done.stdout + done.stderr
    items = course.data(REHEARSAL)["parts"]["baselines"]["items"]
    item = items["layernorm B=4 T=1024 C=768 fp32 compile"]["result"]
    assert item["shape"] == "B=2 T=8 C=64"
    assert item["cache"] == "none: a rehearsal on the CPU"
    assert items["swiglu N=3"] == {"status": "unavailable", "why": "no baseline is written for it"}


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--part", "foo"], "'foo'"),
        (["--dry", "--out", "reference/timings"], "a rehearsal measures nothing"),
        (["--lease", "0"], "LEASE=0: more than 10 s, which are kept for the end"),
        (["--lease", "long"], "LEASE=long: minutes and seconds, such as 9m30s, 3m or 200s"),
        (["--lease", ""], "LEASE=: minutes and seconds"),
        (["--out", __file__], "it is a file; name a folder"),
        (["--commit", "HEAD"], "COMMIT=HEAD: not a commit's hash"),
        (["--gpu"], "--gpu"),
    ],
)
def test_bad_input_is_one_clear_line(arguments, message, capsys):
    with pytest.raises(SystemExit) as stopped:
        gpu_report.parse(arguments)
    assert stopped.value.code == 2
    error = capsys.readouterr().err
    assert error.startswith("gpu-report: ")
    assert message in error
    assert len(error.splitlines()) == 1


# ---- the file --------------------------------------------------------------------------------------------------------


CARD = Card("NVIDIA Test 1", "580.1")


@pytest.mark.parametrize(
    "text", ["", "{", "[]", '{"format": 1, "parts": {}}', '{"format": 2, "runs": {}, "parts": []}']
)
def test_a_file_that_is_no_report_is_left_alone(tmp_path, text):
    path = tmp_path / "x.json"
    path.write_text(text)
    with pytest.raises(ToolError, match="move it away, then start again"):
        Store([path], CARD)
    assert path.read_text() == text


def test_a_file_that_cannot_be_written_is_one_line_and_the_old_one_stays(tmp_path):
    path = tmp_path / "x.json"
    store = Store([path], CARD)
    store.save()
    before = path.read_text()
    store.paths = [tmp_path / "x.json" / "y.json"]
    with pytest.raises(ToolError, match="cannot be written"):
        store.save()
    assert path.read_text() == before


def test_a_number_that_json_has_not_is_refused(tmp_path):
    store = Store([tmp_path / "x.json"], CARD)
    store.data["card"] = {"x": float("nan")}
    with pytest.raises(ValueError, match="not JSON compliant"):
        store.save()
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("output", "line"),
    [
        ("a\nx.cu(3): error: y\nmake: *** [z] Error 1", "x.cu(3): error: y"),
        ("make: *** No rule to make target 'x'.  Stop.", "make: *** No rule to make target 'x'.  Stop."),
        ("a\nm.mk:9: *** ONLY=b: there is no b.  Stop.", "m.mk:9: *** ONLY=b: there is no b.  Stop."),
        (
            "building the checker (3 files) …\nnvcc is not there: make setup NVCC=1\nmake[1]: Entering directory 'x'\n"
            "make: *** [make/gpu.mk:24: build/gpu/card] Error 1\nmake: *** Waiting for unfinished jobs....\nlater\n",
            "nvcc is not there: make setup NVCC=1",
        ),
        ("building x (1 file) …\nmake: *** [m.mk:9: x] Error 1", "make: *** [m.mk:9: x] Error 1"),
        ("last words\n", "last words"),
        ("", "it said nothing"),
    ],
)
def test_of_a_builds_output_the_line_that_says_why(output, line):
    assert error_line(output) == line


# ---- profile and sanitize --------------------------------------------------------------------------------------------


def test_a_kernels_profile_is_a_table_and_a_report_to_open(gpu):
    done = gpu.run("profile", "4", "--only", "a", module="gpu.inspect_op")
    assert done.returncode == 0, done.stderr
    assert "lesson 04 · lessons/04_first/a.cu · Nsight Compute" in done.stdout
    assert "  a_kernel" in done.stdout
    assert "32.0 in loads" in done.stdout
    assert "9.98 us, grid (128, 1, 1), block (32, 1, 1)" in done.stdout
    assert "1.56% of the warps, 50.0% possible (shared memory, blocks)" in done.stdout
    report = gpu.root / "results/profile-lesson04-a.ncu-rep"
    assert report.exists()
    assert done.stdout.splitlines()[-1] == "all of it  ncu-ui results/profile-lesson04-a.ncu-rep"
    (check,) = gpu.checked()
    assert "--subject lessons" in check
    assert "--only a/timing" in check


def test_a_clean_kernel_passes_all_four_tools(gpu):
    done = gpu.run("sanitize", "04", "--subject", "solutions", module="gpu.inspect_op")
    assert done.returncode == 0, done.stderr
    rows = [line.split() for line in done.stdout.splitlines() if line.startswith("  ")]
    assert rows == [[tool, "ok"] for tool in ("memcheck", "racecheck", "initcheck", "synccheck")]
    assert all("--subject solutions" in line and "--no-timing --no-large" in line for line in gpu.checked())


def test_a_kernels_errors_are_named_once_with_their_line(gpu):
    gpu.sanitizer_that_finds("memcheck")
    done = gpu.run("sanitize", "04", module="gpu.inspect_op")
    assert done.returncode == 1
    assert "  memcheck   252 errors" in done.stdout
    where = "    Invalid __global__ read of size 4 bytes at residual.cu:19 in residual_forward_kernel   2 times printed"
    assert done.stdout.splitlines().count(where) == 1
    assert done.stdout.splitlines()[-1] == "result  252 errors"


def test_a_process_that_did_not_end_well_is_said_beside_a_clean_kernel(gpu):
    text = f'{sys.executable} {STAND_INS}/compute-sanitizer "$@"\n'
    text += 'for word; do [ "$last" != --log-file ] || log=$word; last=$word; done\n'
    text += """echo "========= Error: process didn't terminate successfully" >>"$log"\n"""
    program(gpu.root / "bin/compute-sanitizer", f"#!/bin/sh\n{text}")
    done = gpu.run("sanitize", "04", "--subject", "solutions", module="gpu.inspect_op")
    assert done.returncode == 0, done.stderr
    said = "    of a process, not of a kernel: process didn't terminate successfully"
    assert done.stdout.splitlines().count(said) == 4
    assert done.stdout.splitlines()[-1] == "all ok"


@pytest.mark.parametrize("what", ["profile", "report"])
def test_a_metric_that_a_card_does_not_have_costs_no_other(gpu, what):
    text = (
        'case "$*" in *dram__bytes_read*) echo "==ERROR== Failed to find metric regex:^dram__bytes_read"; exit 1;; esac'
    )
    program(gpu.root / "bin/ncu", f'#!/bin/sh\n{text}\nexec {sys.executable} {STAND_INS}/ncu "$@"\n')
    if what == "profile":
        done = gpu.run("profile", "4", "--only", "a", module="gpu.inspect_op")
        assert "DRAM             - read, 1.05 MB written" in done.stdout
        assert "32.0 in loads" in done.stdout
    else:
        done = gpu.report("--part", "ncu")
        (kernel,) = gpu.data()["parts"]["ncu"]["items"]["lesson04/a"]["result"]["kernels"]
        assert "dram_bytes_read" not in kernel
        assert kernel["dram_bytes_written"] == 1048576
    assert done.returncode == 0, done.stderr


def test_counters_that_are_kept_to_root_are_one_line_with_the_mend(gpu):
    denied = Path(__file__).parent / "data/ncu-2025.3/denied.txt"
    program(gpu.root / "bin/ncu", f"#!/bin/sh\ncat {denied}; exit 1\n")
    done = gpu.run("profile", "04", module="gpu.inspect_op")
    assert done.returncode == 1
    assert done.stderr.startswith("profile-lesson04: the driver keeps the counters to root (ERR_NVGPUCTRPERM)")
    assert len(done.stderr.splitlines()) == 1


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["profile", "99"], "profile-lesson99: there is no lesson 99; the lessons with kernels are 04"),
        (["sanitize", "3"], "sanitize-lesson3: lesson 03 is plain C++ for the CPU; the lessons with kernels are 04"),
        (["profile", "04", "--only", "zz"], "profile-lesson04: ONLY=zz: lesson 04 has no zz; it has: a b"),
    ],
)
def test_a_lesson_or_op_that_is_not_there_is_named_with_those_that_are(gpu, arguments, message):
    done = gpu.run(*arguments, module="gpu.inspect_op")
    assert done.returncode == 1
    assert done.stderr == f"{message}\n"


@pytest.mark.parametrize("what", ["profile", "sanitize"])
def test_without_a_gpu_inspection_is_one_line(course, what):
    done = course.run(what, "04", module="gpu.inspect_op")
    assert done.returncode == 1
    assert done.stderr.startswith(f"{what}-lesson04: nvidia-smi is not there")
    assert done.stderr.endswith("; the CPU device's checks need no GPU: make check-lesson04 DEVICE=cpu\n")
    assert len(done.stderr.splitlines()) == 1
    said = "no NVIDIA driver; without a GPU: make check-lesson04 DEVICE=cpu"
    program(course.root / "build/tools/gpu", f"#!/bin/sh\necho '{said}' >&2\nexit 1\n")
    assert course.run(what, "04", module="gpu.inspect_op").stderr == f"{what}-lesson04: {said}\n"


@pytest.mark.parametrize("what", ["profile", "sanitize"])
def test_a_rehearsed_inspection_says_so_first_and_last(course, what):
    done = course.run(what, "04", "--dry", module="gpu.inspect_op")
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    assert lines[0] == lines[-1] == NO_MEASUREMENT
    assert not (course.root / "results").exists()


@pytest.mark.parametrize("what", ["profile", "sanitize"])
def test_a_learners_file_that_does_not_compile_is_named_with_its_error(gpu, what):
    gpu.write("stub", "")
    done = gpu.run(what, "04", module="gpu.inspect_op")
    assert done.returncode == 1
    error = "lessons/04_first/a.cu does not compile: lessons/04_first/a.cu(3): error: expected a ';'"
    assert done.stderr == f"{what}-lesson04: {error}\n"


def test_a_file_without_kernels_cannot_be_profiled(gpu):
    gpu.write("lessons/04_first/a.cu", "void a() {}\n")
    done = gpu.run("profile", "04", module="gpu.inspect_op")
    assert done.returncode == 1
    assert "lessons/04_first/a.cu has no kernel of its own; ONLY= takes one of a b" in done.stderr
