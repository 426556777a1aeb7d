# SPDX-License-Identifier: MIT
"""The parts of a card's report and their items: how each is measured, with which programs, and what its result
depends on. Nothing here calls make: the programs are there, or the item says why not."""

from __future__ import annotations

import contextlib
import json
import os
import queue
import re
import subprocess
import threading
import time
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import cached_property, partial
from pathlib import Path
from typing import IO

from reference.gpu import beside_pytorch, counts, rungs, simt_vs_ncu, sources, tools
from reference.gpu.costs import PROGRAM as COSTS
from reference.gpu.costs import costs
from reference.gpu.impossible import refuse_impossible
from reference.gpu.lesson_shapes import PROGRAM as LESSONS
from reference.gpu.lesson_shapes import Lesson, all_lessons, implementing, is_branch
from reference.gpu.programs import Programs, error_line, run_sanitizer, with_json
from reference.gpu.tools import Card, ToolError, run
from reference.report import libs_vs_gpu, simt_vs_gpu

STATE = Path("build/gpu-report")  # for the next command: a copy of the report, the stamp of the build, caches
PYTORCH_CACHES = ("TORCHINDUCTOR_CACHE_DIR", "TRITON_CACHE_DIR")


# The errors after OSError mean that a program's answer has an unknown form.
FAILURES = (ToolError, OSError, LookupError, TypeError, ValueError, AttributeError)


def reason(error: Exception) -> str:
    return str(error) if isinstance(error, ToolError) else f"{type(error).__name__}: {tools.first_line(str(error))}"


class Failed(ToolError):
    """It ran, and its result is recorded, but it is not what it should be."""

    status = "failed"  # the record's

    def __init__(self, why: str, result: dict):
        super().__init__(why)
        self.result = result


class Stopped(Failed):
    """Its time was over; the result is what it had found by then."""

    status = "stopped"


Left = Callable[[], float]  # the seconds that are left


@dataclass(frozen=True)
class Item:
    name: str
    measure: Callable[[Left], dict]  # raises ToolError, Failed or Stopped
    made_of: tuple[Path, ...]  # the files that it is measured with: an edit of any other leaves the result valid
    programs: tuple[str, ...] = ()  # run by measure


@dataclass
class Work:
    """A part: its items, and what it says of itself in the file."""

    items: list[Item]
    unavailable: dict[str, str] = field(default_factory=dict)  # items that this card cannot run, and why
    versions: dict[str, str] = field(default_factory=dict)
    close: Callable[[], None] = lambda: None

    def sources(self, root: Path) -> dict[str, str]:
        """Returns by item the hash of what it would be measured with now."""
        return {item.name: sources.digest(root, item.made_of) for item in self.items}


# ---- the parts -------------------------------------------------------------------------------------------------------


@dataclass
class Setting:
    """The state that all parts share."""

    root: Path
    card: Card
    python: str
    programs: Programs
    scratch: Path

    built: str = ""  # output of make and the compilers
    warming: subprocess.Popen | None = None
    only_lists: bool = False  # at the desk: no card, no tool and no program is asked

    @property
    def without_card(self) -> bool:
        return self.programs.dry or self.only_lists

    def version(self, tool: str) -> dict[str, str]:
        """Returns a tool's version by its name. Raises ToolError where it is not there and needed."""
        return {} if self.only_lists else {tool: tools.version(tool)}

    @property
    def environment(self) -> dict[str, str]:
        """Returns what PyTorch's processes are started with. Its compilers' caches outlast them, where the user has
        not chosen others."""
        caches = self.scratch if self.programs.dry else STATE.absolute()
        chosen = {name: os.environ.get(name, str(caches / name.lower())) for name in PYTORCH_CACHES}
        return os.environ | {"TMPDIR": str(self.scratch)} | chosen

    def fill_caches(self) -> None:
        """Starts to fill the caches of PyTorch's compilers, until leave_caches()."""
        if not self.programs.dry:
            with contextlib.suppress(OSError):  # a Python that is not there is told by the part that needs it
                self.warming = subprocess.Popen(
                    [self.python, "-m", "reference.gpu.whole_forward", "4", "--warm"],
                    env=self.environment,
                    stdin=subprocess.DEVNULL,
                    stdout=subprocess.DEVNULL,
                    stderr=subprocess.DEVNULL,
                    start_new_session=True,
                )

    def leave_caches(self) -> None:
        """Ends that, before anything is timed."""
        if self.warming is not None:
            tools.end(self.warming)
            self.warming = None

    def demand(self, item: Item) -> None:
        """Raises ToolError where a program of the item is not there, with the compiler's error in one of its files if
        there is one."""
        for program in item.programs:
            if not (self.root / program).exists():
                own = [line for line in self.built.splitlines() if any(str(path) in line for path in item.made_of)]
                why = error_line("\n".join(own)) if any("error" in line for line in own) else error_line(self.built)
                raise ToolError(f"{program} was not built: {why}")

    @cached_property
    def lessons(self) -> tuple[list[Lesson], dict[str, str]]:
        """The device lessons that this card can run; the others with what they need."""
        lessons = [lesson for lesson in all_lessons(self.root) if lesson.track == "device"]
        if not lessons:
            raise ToolError("there is no lesson for the device here: start it in the folder of the course")
        unmet = {
            f"lesson{lesson.number}": f"needs {need}, this card is {self.card.compute_capability}"
            for lesson in lessons
            if (need := lesson.unmet(self.card.compute_capability))
        }
        return [lesson for lesson in lessons if f"lesson{lesson.number}" not in unmet], unmet


def demand_possible(setting: Setting, call: str, median_ms: float | None, precision: str, hot: bool = False) -> None:
    """Raises ToolError where this card cannot make the call in that time. `call` is an op with its sizes."""
    if not setting.programs.dry and median_ms is not None:
        refuse_impossible(call, median_ms, setting.card.name, costs([call])[0], precision, hot)


def first_finding(rows: list[dict]) -> str:
    said = (f"{row.get('case', row['shape'])}: {finding['text']}" for row in rows for finding in row["findings"])
    return next(said, "")


def asked(command: list[str], left: Left) -> tuple[dict, str]:
    """Returns what a check program says of the one op that its command line names, and the device that it ran on."""
    report, _ = with_json(command, left())
    (row,) = report["ops"]
    return row, report["device"]


def check_op(setting: Setting, lesson: Lesson, op: str, left: Left) -> dict:
    row, device = asked(setting.programs.right_or_wrong(lesson, op), left)
    cases, verdict = row["cases"], row["verdict"]
    used = [case["budget_used"] for case in cases if case["budget_used"] is not None]
    result = {"device": device, "verdict": verdict, "cases": len(cases), "budget_used": max(used, default=None)}
    if verdict != "ok":
        raise Failed(f"{verdict}: {first_finding(cases)}", result)
    return result


def time_op(setting: Setting, lesson: Lesson, op: str, left: Left) -> dict:
    said, device = asked(setting.programs.timing(lesson, op), left)
    timing = said.get("timing")
    if not timing:
        raise ToolError(f"{op} was not timed")
    result = {"device": device, "precision": lesson.precision.get(op, "fp32"), **timing}
    for row in timing["shapes"]:
        demand_possible(setting, f"{op} {row['shape']}", row["median_ms"], result["precision"])
    if timing["verdict"] not in ("ok", "no verdict"):
        raise Failed(f"{timing['verdict']}: {first_finding(timing['shapes'])}", result)
    return result


def check_wrong(setting: Setting, lesson: Lesson, left: Left) -> dict:
    rows, done = with_json(setting.programs.wrong(lesson), left())
    if not rows:
        raise ToolError("no wrong solution was run")
    not_asked = {f"{row['op']}: {row['id']}": row["not_asked"] for row in rows if "not_asked" in row}
    asked_of = [row for row in rows if "not_asked" not in row]
    missed = [f"{row['op']}: {row['id']}" for row in asked_of if not row["rejected"]]
    result = {"rejected": len(asked_of) - len(missed), "of": len(asked_of), "missed": missed, "not_asked": not_asked}
    if done.status is None:
        raise Stopped(f"{len(rows)} wrong solutions were run in its time", result)
    if missed:
        raise Failed(f"{len(missed)} of {len(asked_of)} were not rejected, first {missed[0]}", result)
    return result


# ---- what an item is measured with -----------------------------------------------------------------------------------

# Files of a check program that time calls on a card, and files that judge their results.
TIMED_BY = ("checker/device.h", "checker/devices/gpu/event_stopwatch.h", "checker/devices/gpu/gpu_*")
TIMED_BY += ("checker/clock/timing.*", "checker/worker/bench.*", "checker/worker/time_op.*")
JUDGED_BY = (
    "checker/device.h",
    "checker/devices/gpu/gpu_backend.cpp",
    "checker/cases/budget.*",
    "reference/dump/budget.toml",
)
JUDGED_BY += tuple(f"checker/judge/{name}.*" for name in ("compare", "displaced", "judge", "verdict"))
ALL_LESSONS = ("ops.h", "ops.def")  # each new op is declared there; a kernel's own files say which it is


def matching(root: Path, patterns: Iterable[str]) -> tuple[Path, ...]:
    return tuple(path.relative_to(root) for pattern in patterns for path in sorted(root.glob(pattern)))


def with_headers(root: Path, files: Iterable[Path]) -> tuple[Path, ...]:
    """Kernel files, and what they include of the lessons and solutions."""
    found = sources.closure(root, files)
    return tuple(file for file in found if file.parts[0] in ("lessons", "solutions") and file.name not in ALL_LESSONS)


def judged_at(root: Path, lesson: Lesson, ops: Iterable[str]) -> tuple[Path, ...]:
    """An op's calls, and what the lesson says of them: shapes, targets, cases of its own."""
    folder = Path("lessons", lesson.name)
    files = [folder / "check.cpp", folder / "lesson.toml", *(Path("lessons/gpt2/check", f"{op}.cpp") for op in ops)]
    for op in ops:
        files += with_headers(root, implementing(root, lesson.name, op))
    return tuple(files)


def timed_with(root: Path, lesson: Lesson, ops: Iterable[str]) -> tuple[Path, ...]:
    return (*judged_at(root, lesson, ops), *matching(root, TIMED_BY))


def checked_with(root: Path, lesson: Lesson, ops: Iterable[str]) -> tuple[Path, ...]:
    """With the case files that all lessons share, and its own."""
    cases = [path for path in matching(root, [f"{CASES}/*.safetensors"]) if not path.name.startswith("lesson")]
    own = matching(root, [f"{CASES}/lesson{lesson.number}.safetensors"])
    return (*judged_at(root, lesson, ops), *matching(root, JUDGED_BY), *cases, *own)


CASES = Path("reference/cases")


def each_op(setting: Setting, measure: Callable[..., dict], made_of: Callable[..., tuple], more: str = "") -> Work:
    """An item an op: `measure` takes the setting, the lesson, the op and what is left. `more` goes behind its name."""
    lessons, unmet = setting.lessons
    items = [
        Item(
            f"lesson{lesson.number}/{op}{more}",
            partial(measure, setting, lesson, op),
            made_of(setting.root, lesson, [op]),
            setting.programs.of_lesson(lesson, [op]),
        )
        for lesson in lessons
        for op in lesson.ops
    ]
    return Work(items, unmet)


def checks(setting: Setting) -> Work:
    work = each_op(setting, check_op, checked_with)
    for lesson in setting.lessons[0]:
        made_of = checked_with(setting.root, lesson, lesson.ops)
        made_of += (Path("solutions", lesson.name, "wrong.toml"), Path("checker/tools/wrong.cpp"))
        made_of += matching(setting.root, [f"solutions/{lesson.name}/wrong/*"])
        name = f"lesson{lesson.number}/wrong solutions"
        programs = (*setting.programs.of_lesson(lesson), *setting.programs.of_wrong())
        work.items.append(Item(name, partial(check_wrong, setting, lesson), made_of, programs))
    return work


def timings(setting: Setting) -> Work:
    return each_op(setting, time_op, timed_with)


CALIBRATE = "build/calibrate-gpu"


def calibrate_all(left: Left) -> dict:
    done = run([CALIBRATE], left())
    try:
        roof = json.loads(done.output[done.output.index("{\n") :])
    except ValueError:
        raise ToolError(f"calibrate: {tools.last_line(done.output) or 'it said nothing'}") from None
    if done.status != 0:
        raise ToolError(f"calibrate ended with exit status {done.status}")
    return roof


def calibrate(setting: Setting) -> Work:
    if setting.programs.dry:
        return Work([], {"roof": "only a GPU has one"})
    if not setting.only_lists:
        tools.find("nvcc")
    made_of = matching(
        setting.root,
        ("checker/devices/gpu/calibrate_*", "checker/devices/gpu/gpu_kernels.cuh", "checker/clock/timing.*"),
    )
    return Work([Item("roof", calibrate_all, made_of, (CALIBRATE,))])


def time_rung(setting: Setting, rung: rungs.Rung, precision: str, shape: str, left: Left) -> dict:
    timed = rungs.time_at(setting.programs.folder, rung, shape, left())
    demand_possible(setting, f"matmul {shape}", timed["median_ms"], precision)
    return timed


def ladder(setting: Setting) -> Work:
    lessons, unmet = setting.lessons
    precision = {lesson.name: lesson.precision.get("matmul", "fp32") for lesson in lessons}
    folder = setting.programs.folder
    shapes = rungs.REHEARSED if setting.programs.dry else rungs.chosen_shapes(rungs.GPU_SHAPES)
    items = [
        Item(
            f"lesson{rung.number}/{shape}",
            partial(time_rung, setting, rung, precision[rung.lesson], shape),
            timed_with(setting.root, Lesson("ladder"), ())
            + with_headers(setting.root, [Path("solutions", rung.lesson, "matmul.cu")]),
            (f"{folder}/check/ladder", f"{folder}/impl/solutions/{rung.lesson}/matmul.so"),
        )
        for shape in shapes
        for rung in rungs.rungs(setting.root)
        if rung.lesson in precision and rung.takes(shape)
    ]
    return Work(items, unmet)


REHEARSED_PASS = ("max_T=8 V=101 L=1 NH=2 C=64", 2, 8)  # as counts.PASS


HOT = ", L2 hot"  # after the name of a call that finds its data in L2


def time_call(
    setting: Setting, call: counts.Call, files: tuple[str, ...], precision: str, hot: bool, left: Left
) -> dict:
    """Times a call; names the kernels that it launches, where CUPTI is there."""
    kernels = setting.scratch / "kernels.json"
    kernels.unlink(missing_ok=True)
    more = {"SOL_KERNELS": str(kernels)} | ({"SOL_CACHE": "hot"} if hot else {})
    timed = counts.time_at(setting.programs.folder, call, files, setting.scratch, left(), more)
    demand_possible(setting, str(call), timed["median_ms"], precision, hot)
    said = json.loads(kernels.read_text()) if kernels.exists() else {}
    return timed | {name: said[name] for name in ("kernels",) if name in said}


def waterfall(setting: Setting) -> Work:
    """The calls of each step's forward pass, one by one; of the newest step layernorm with its data in L2 too."""
    lessons, unmet = setting.lessons
    here = {lesson.name for lesson in lessons}
    steps = [
        step
        for step in counts.steps(setting.root, *(REHEARSED_PASS if setting.programs.dry else counts.PASS))
        if step.lesson in here
    ]
    items: dict[str, Item] = {}

    def add(step: counts.Step, call: counts.Call, hot: bool = False) -> None:
        files, precision = step.files[call.op], step.precision.get(call.op, "fp32")
        made_of = with_headers(setting.root, [Path("solutions", f"{path}.cu") for path in files])
        made_of += (Path("lessons/gpt2/check", f"{call.op}.cpp"), *matching(setting.root, TIMED_BY))
        name = f"{counts.item_name(files, call)}{HOT if hot else ''}"
        folder, newest = setting.programs.folder, counts.newest(files)
        op = next(path.split("/")[1] for path in files if path.startswith(newest))
        programs = (f"{folder}/check/lesson{files[0].split('_')[0]}", f"{folder}/impl/solutions/{newest}/{op}.so")
        items[name] = Item(name, partial(time_call, setting, call, files, precision, hot), made_of, programs)

    for step in steps:
        for call in step.calls:
            add(step, call)
    for call in steps[-1].calls if steps else ():
        if call.op == "layernorm":
            add(steps[-1], call, hot=True)
    return Work(list(items.values()), unmet)


class Bench:
    """bench.py, or whole_forward.py, as a process that measures one item at a time, started again if the last item
    brought it down."""

    PATIENCE = 5  # seconds that it has to end by itself

    def __init__(self, setting: Setting, *command: str):
        self.command = [setting.python, "-m", *command, *(["--dry"] if setting.without_card else [])]
        self.setting = setting
        self.errors = setting.scratch / "bench.log"
        self.environment = setting.environment
        self.process: subprocess.Popen | None = None

    def start(self) -> None:
        with self.errors.open("w") as errors:
            self.process = subprocess.Popen(
                self.command,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=errors,
                text=True,
                errors="replace",
                env=self.environment,
                start_new_session=True,
            )
        self.lines: queue.SimpleQueue[str] = queue.SimpleQueue()
        threading.Thread(target=self.read, args=(self.process.stdout, self.lines), daemon=True).start()

    @staticmethod
    def read(stdout: IO[str], lines: queue.SimpleQueue[str]) -> None:
        for line in stdout:
            lines.put(line)
        lines.put("")

    def stop(self, patience: float = PATIENCE) -> None:
        """Closes its input, which ends it; ends it by a signal where it is at work or hangs."""
        if self.process is None:
            return
        with contextlib.suppress(subprocess.TimeoutExpired, OSError):
            self.process.stdin.close()
            self.process.wait(timeout=patience)
        tools.end(self.process)
        self.process.wait()
        self.process = None

    def ask(self, line: str, limit: float) -> dict:
        if self.process is None:
            self.start()
        with contextlib.suppress(BrokenPipeError):  # then there is no answer either
            print(line, file=self.process.stdin, flush=True)
        process, answer = self.process, ""
        try:
            answer = self.lines.get(timeout=max(limit, 0.1))
            return json.loads(answer)
        except queue.Empty:
            self.stop(patience=0)
            raise ToolError(f"no answer within {limit:.0f} s") from None
        except ValueError:
            self.stop()
            said = answer.strip() or tools.last_line(self.errors.read_text(errors="replace"))
            raise ToolError(said or f"it ended with exit status {process.returncode}") from None

    def measure(self, name: str, left: Left) -> dict:
        answer = self.ask(name, left())
        if answer.get("lost"):
            self.stop()
        if "error" in answer:
            raise ToolError(answer["error"])
        for side in ("pytorch", "ours") if "forward" in answer else ():
            median = answer["forward"][side]["median_ms"]
            demand_possible(self.setting, f"forward {answer['shape']}", median, answer["precision"], hot=True)
        return self.rated(answer)

    def rated(self, answer: dict) -> dict:
        """Adds the rate at which the call moves or computes what it must."""
        if "call" not in answer:
            return answer
        rate, peak, call = (answer.pop(name) for name in ("rate", "peak", "call"))
        demand_possible(self.setting, call, answer["median_ms"], peak, answer["cache"] == "hot")
        (cost,) = costs([call])
        amount = cost.flop / 1e12 if rate == "tflop_per_s" else cost.bytes / 1e9
        return answer | {rate: amount / (answer["median_ms"] * 1e-3)}


def baseline_of(root: Path, item: str) -> tuple[Path, ...]:
    """Returns our files that a baseline's time depends on: its op's, those of ops that it imports, the model."""
    stems = {path.stem: path.relative_to(root) for path in (root / "reference/ops").glob("*.py")}
    op = item.split()[0]
    own = max((stem for stem in stems if op == stem or op.startswith(f"{stem}_")), key=len, default=None)
    found: set[str] = set()
    left = [own] if own else list(stems)
    while left:
        stem = left.pop()
        if stem in stems and stem not in found:
            found.add(stem)
            text = (root / stems[stem]).read_text()
            left += [name for names in OPS_IMPORTED.findall(text) for name in re.findall(r"\w+", names)]
    return tuple(stems[stem] for stem in sorted(found)) + BASELINES_MADE_OF


OPS_IMPORTED = re.compile(r"^from reference\.ops import (.+)$", re.MULTILINE)
BASELINES_MADE_OF = tuple(map(Path, ("reference/model/gpt2.py", "reference/gpu/bench.py", "reference/gpu/timing.py")))


def pytorchs(
    setting: Setting, bench: Bench, made_of: Callable[[str], tuple], programs: Callable[[str], tuple] = lambda _: ()
) -> Work:
    """Returns what the process offers; `made_of` and `programs` take an item's name."""
    try:
        said = bench.ask("list", 120)
        items = [Item(name, partial(bench.measure, name), made_of(name), programs(name)) for name in said["items"]]
        return Work(items, said["without"], said["versions"], bench.stop)
    except OSError as error:
        raise ToolError(f"{setting.python}: {error.strerror}; PYTHON=… names the Python that has PyTorch") from None
    except (LookupError, ToolError):
        bench.stop()
        raise


def baselines(setting: Setting) -> Work:
    programs = (str(LESSONS), str(COSTS))  # they know the items and rates
    return pytorchs(
        setting, Bench(setting, "reference.gpu.bench"), partial(baseline_of, setting.root), lambda _: programs
    )


PROGRAM_OF_STEP = ("lessons/gpt2/bench_main.cpp", "lessons/gpt2/placement_device.cpp")
PROGRAM_OF_STEP += tuple(f"reference/gpu/{name}.py" for name in ("whole_forward", "ways", "step"))
OLDER_STEPS = ("fused_attention", "cublaslt_fusion", "double_buffered_matmul", "naive_forward")  # beside PyTorch too


def steps_beside_pytorch(setting: Setting) -> dict[str, Lesson]:
    """Returns by number the newest step that this card can run, then the older ones of OLDER_STEPS."""
    lessons = {one.name[3:]: one for one in setting.lessons[0] if not is_branch(setting.root, one.name)}
    newest = list(lessons.values())[-1]
    older = [lessons[name] for name in OLDER_STEPS if name in lessons]
    return {lesson.number: lesson for lesson in (newest, *older)}


def whole_forward(B: int, setting: Setting) -> Work:
    """The newest step that this card can run beside each of PyTorch's ways, at B sequences; at B=4 older steps too."""
    steps = steps_beside_pytorch(setting)
    if B != 4:
        steps = dict(list(steps.items())[:1])
    programs = {number: setting.programs.bench_of_step(lesson) for number, lesson in steps.items()}

    def number_of(name: str) -> str:
        return name.split()[1]  # step 17 B=4 ...

    def made_of(name: str) -> tuple[Path, ...]:
        files = (*BASELINES_MADE_OF, *(Path(file) for file in PROGRAM_OF_STEP))
        for op in ("forward", "predict"):
            files += with_headers(setting.root, implementing(setting.root, steps[number_of(name)].name, op))
        return files

    bench = Bench(setting, "reference.gpu.whole_forward", str(B), *programs.values())
    return pytorchs(setting, bench, made_of, lambda name: (programs[number_of(name)],))


def sanitize_op(tool: str, setting: Setting, lesson: Lesson, op: str, left: Left) -> dict:
    report, row = run_sanitizer(setting.programs, tool, lesson, op, "solutions", left())
    result = {"errors": report.errors, "warnings": report.warnings, "distinct": report.distinct}
    result |= {"verdict": row["verdict"], "cases": len(row["cases"])}
    result |= {"unended": report.unended} if report.unended else {}
    if report.errors:
        what = next(iter(report.distinct), "")
        raise Failed(f"{tools.counted(report.errors, 'error')}, first: {what}", result)
    if row["verdict"] != "ok":
        raise Failed(f"no error, but the check says {row['verdict']}: {first_finding(row['cases'])}", result)
    return result


def sanitize(setting: Setting) -> Work:
    version = setting.version("compute-sanitizer")
    works = [each_op(setting, partial(sanitize_op, tool), checked_with, f"/{tool}") for tool in tools.SANITIZERS]
    return Work([item for work in works for item in work.items], setting.lessons[1], version)


def profile_op(setting: Setting, lesson: Lesson, op: str, left: Left) -> dict:
    names = tools.kernels_of(setting.root / "solutions" / lesson.name / f"{op}.cu")
    program = setting.programs.at_timed_shape(lesson, op)
    kernels, _ = tools.profile(names, program, left(), setting.scratch / "ncu.csv")
    return {
        "shape": next(iter(lesson.shapes.get(op, ())), None),
        "kernels": [
            {
                "name": kernel.name,
                "grid": kernel.grid,
                "block": kernel.block,
                "sectors_per_load_request": kernel.ratio("global_load_sectors", "global_load_requests"),
                "sectors_per_store_request": kernel.ratio("global_store_sectors", "global_store_requests"),
                "occupancy_limited_by": kernel.limited_by(),
                **kernel.values,
            }
            for kernel in kernels
        ],
    }


def ncu(setting: Setting) -> Work:
    """Each op at its timed shape; and the launches that the CPU device counts too, for make ncu-table."""
    version, work = setting.version("ncu"), each_op(setting, profile_op, judged_at)
    lessons, unmet = setting.lessons
    log = setting.scratch / "ncu.csv"
    subjects = [
        subject for subject in simt_vs_ncu.subjects(setting.root) if subject.lesson is None or subject.lesson in lessons
    ]
    with_kernels = {f"lesson{subject.lesson.number}/{subject.op}" for subject in subjects if subject.lesson}
    items = [item for item in work.items if item.name in with_kernels]
    items += [
        Item(
            subject.item,
            partial(simt_vs_ncu.measure, setting.root, subject, setting.programs, log),
            tuple(subject.files(setting.root)),
            subject.programs(setting.programs),
        )
        for subject in subjects
    ]
    return Work(items, unmet, version)


def beside(root: Path, file: Path) -> tuple[Path, ...]:
    """A program of the CPU device's tests, and what it includes of their folder."""
    return tuple(found for found in sources.closure(root, [file]) if found.parts[:3] == file.parts[:3])


def compared(kernel: simt_vs_gpu.Kernel, program: Path, left: Left) -> dict:
    return simt_vs_gpu.compare(kernel, program, time.monotonic() + left())


def simt(setting: Setting) -> Work:
    """The CPU device's corpus; of a kernel that nvcc does not take the comparison says so."""
    version = setting.version("compute-sanitizer")
    items = [
        Item(
            kernel.name,
            partial(compared, kernel, Path(setting.programs.folder, "simt", kernel.name)),
            beside(setting.root, kernel.path),
        )
        for kernel in simt_vs_gpu.corpus(setting.root)
    ]
    return Work(items, versions=version)


def libs(setting: Setting) -> Work:
    """Calls of cuBLAS and cuBLASLt by the card's libraries, and by the CPU device's."""
    items = []
    for file in libs_vs_gpu.calls(setting.root):
        sides = libs_vs_gpu.sides(setting.programs, file.stem)
        compare = partial(libs_vs_gpu.compare, sides, file.stem)
        items.append(Item(file.stem, compare, beside(setting.root, file), sides))
    return Work(items)


# On a card that has room, and where the first words of the file say so.
AT_SIZE = {"06_coalescing/transpose": ["65536"], "07_tiled_matmul/transpose": ["65536"]}


def run_given(setting: Setting, name: str, left: Left) -> dict:
    program = f"{setting.programs.folder}/given/{name}"
    done = run([program, *([] if setting.programs.dry else AT_SIZE.get(name, []))], left())
    if done.status != 0:
        raise ToolError(f"{program} ended with exit status {done.status}: {tools.last_line(done.output)}")
    return {"said": done.output.splitlines()}


def given(setting: Setting) -> Work:
    """The programs that lessons give to run and look at: what they print."""
    lessons, unmet = setting.lessons
    items = []
    for lesson in lessons:
        for file in sorted((setting.root / "lessons" / lesson.name).glob("*.cu")):
            path = file.relative_to(setting.root)
            if not (setting.root / "solutions" / lesson.name / file.name).exists():
                name = f"{lesson.name}/{file.stem}"
                programs = (f"{setting.programs.folder}/given/{name}",)
                items.append(
                    Item(name, partial(run_given, setting, name), with_headers(setting.root, [path]), programs)
                )
    return Work(items, unmet)


PARTS: dict[str, Callable[[Setting], Work]] = {
    **{part.__name__: part for part in (checks, calibrate, timings, baselines)},
    **{f"forward_b{B}": partial(whole_forward, B) for B in beside_pytorch.BATCHES},
    **{part.__name__: part for part in (ladder, waterfall, given, sanitize, ncu, simt, libs)},
}
PART_NAMES = tuple(PARTS)


def listed(setting: Setting, names: Sequence[str]) -> dict[str, Work | str]:
    """Returns each part's items, or why it has none. PyTorch takes seconds to start, so all parts are asked at once."""

    def one(name: str) -> Work | str:
        try:
            return PARTS[name](setting)
        except FAILURES as error:
            return reason(error)

    with ThreadPoolExecutor(len(names)) as pool:
        return dict(zip(names, pool.map(one, names), strict=True))
