# SPDX-License-Identifier: MIT
"""`make gpu-report`: what the course does on this machine's GPU, in one file: reference/timings/<gpu>.json.

A part's items are measured one after another and saved one by one, so that a part that is cut goes on where it
stopped. An item that fails is recorded with its reason, and the next one is measured.
"""

from __future__ import annotations

import argparse
import contextlib
import fcntl
import json
import math
import os
import queue
import re
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict, dataclass, field
from functools import cached_property, partial
from pathlib import Path
from typing import IO

from reference.gpu import beside_pytorch, counts, libs_vs_gpu, rungs, simt_vs_gpu, simt_vs_ncu, sources, tools
from reference.gpu.costs import PROGRAM as COSTS
from reference.gpu.costs import costs
from reference.gpu.lesson_shapes import PROGRAM as LESSONS
from reference.gpu.lesson_shapes import Lesson, implementing
from reference.gpu.programs import Programs, with_json
from reference.gpu.tools import Card, ClockLog, Parser, ToolError, run

FORMAT = 1
REHEARSAL = Path("build/dry/report.json")
BUDGET = 420  # seconds after which a part starts nothing more
MOST = 470  # seconds after which it is over
SHOWN = 3  # failures of a part in the summary
NO_MEASUREMENT = "rehearsal without a GPU: nothing in it is a measurement"


class Failed(ToolError):
    """It ran, and its result is recorded, but it is not what it should be."""

    def __init__(self, why: str, result: dict):
        super().__init__(why)
        self.result = result


Left = Callable[[], float]  # the seconds that are left


@dataclass(frozen=True)
class Item:
    name: str
    measure: Callable[[Left], dict]  # raises ToolError or Failed
    made_of: tuple[Path, ...]  # the files that it is measured with: an edit of any other leaves the result valid


@dataclass
class Work:
    """A part: its items, and what it says of itself in the file."""

    items: list[Item]
    unavailable: dict[str, str] = field(default_factory=dict)  # items that this card cannot run, and why
    versions: dict[str, str] = field(default_factory=dict)
    close: Callable[[], None] = lambda: None


def utc_now() -> str:
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())


# ---- what was measured: the commit ----------------------------------------------------------------------------------


def git(*words: str) -> str | None:
    try:
        done = subprocess.run(["git", *words], capture_output=True, text=True, check=False)
    except OSError:
        return None
    return done.stdout.strip() if done.returncode == 0 else None


def commit(given: str | None) -> dict:
    """The commit and whether files differ from it; what COMMIT= says where this folder is no git checkout."""
    head = git("rev-parse", "HEAD")
    if head is None:
        return {"commit": given, "dirty": None}
    return {"commit": head, "dirty": bool(git("status", "--porcelain", "--", ".", f":!{tools.TIMINGS}"))}


def known(path: Path) -> bool:
    """Whether a report of this card is part of the course."""
    return bool(git("ls-files", "--", str(path)))


# ---- the file --------------------------------------------------------------------------------------------------------


def without_folders(text: str) -> str:
    """A file that is sent to others does not say who measured it."""
    for folder, sign in ((Path.cwd(), "."), (Path.home(), "~")):
        if folder != Path(folder.anchor):
            text = text.replace(f"{folder}/", f"{sign}/")
    return text


class Store:
    """One report file. Every change is written at once, under another name that is then renamed."""

    def __init__(self, path: Path, card: Card, rehearsal: bool):
        self.path = path
        self.data = self.load()
        if self.data and self.data.get("gpu") != card.name:
            raise ToolError(f"{path} is about {self.data.get('gpu')}, this card is {card.name}: name another file")
        self.data = {
            "format": FORMAT,
            "gpu": card.name,
            "rehearsal": rehearsal,
            **({"note": NO_MEASUREMENT} if rehearsal else {}),
            "card": asdict(card),
            "parts": self.data.get("parts", {}),
        }

    def load(self) -> dict:
        try:
            data = json.loads(self.path.read_text())
        except FileNotFoundError:
            return {}
        except (OSError, ValueError) as error:
            raise ToolError(f"{self.path} cannot be read ({error}): move it away, then start again") from None
        known = isinstance(data, dict) and data.get("format") == FORMAT and isinstance(data.get("parts"), dict)
        if not known:
            raise ToolError(f"{self.path} is no report of format {FORMAT}: move it away, then start again")
        return data

    def save(self) -> None:
        text = without_folders(json.dumps(self.data, indent=1, ensure_ascii=False, allow_nan=False)) + "\n"
        temporary = self.path.with_name(f".{self.path.name}.{os.getpid()}.tmp")
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            temporary.write_text(text)
            temporary.replace(self.path)
        except OSError as error:
            with contextlib.suppress(OSError):
                temporary.unlink()
            raise ToolError(f"{self.path} cannot be written: {error.strerror}") from None

    def has_tried(self) -> bool:
        """Whether any item was measured, or failed."""
        items = [item for part in self.data["parts"].values() for item in part["items"].values()]
        return any(item["status"] in ("ok", "failed") for item in items)

    def begin(self, name: str, stamp: dict, fresh: bool, sources: Mapping[str, str]) -> dict:
        """The part, with those of the items in `sources` that were measured on these by the same software."""
        old = self.data["parts"].get(name, {})
        same = not fresh and all(old.get(key) == stamp[key] for key in ("driver", "cuda", "versions"))
        if not same:
            old = {}
        items = old.get("items", {})
        part = {
            "measured_at": old.get("measured_at", utc_now()),
            **stamp,
            "seconds": old.get("seconds", 0.0),
            "clocks": old.get("clocks"),
            "not_done_yet": [],
            "items": {item: record for item, record in items.items() if record.get("sources") == sources.get(item)},
        }
        self.data["parts"][name] = part
        return part

    def note_failure(self, name: str, stamp: dict, why: str) -> str:
        """The part could not begin. What it measured before stays."""
        part = self.data["parts"].setdefault(name, {"measured_at": utc_now(), **stamp, "versions": {}, "items": {}})
        part["why"] = why
        self.save()
        return why


# ---- the parts -------------------------------------------------------------------------------------------------------


@dataclass
class Setting:
    """What the parts share."""

    root: Path
    card: Card
    python: str
    programs: Programs
    scratch: Path

    @cached_property
    def lessons(self) -> tuple[list[Lesson], dict[str, str]]:
        """The device lessons that this card can run; the others with what they need."""
        lessons = [lesson for lesson in self.programs.lessons(self.root) if lesson.track == "device"]
        if not lessons:
            raise ToolError("there is no lesson for the device here: start it in the folder of the course")
        unmet = {
            f"lesson{lesson.number}": f"needs {need}, this card is {self.card.compute_capability}"
            for lesson in lessons
            if (need := lesson.unmet(self.card.compute_capability))
        }
        return [lesson for lesson in lessons if f"lesson{lesson.number}" not in unmet], unmet


def first_finding(rows: list[dict]) -> str:
    said = (f"{row.get('case', row['shape'])}: {finding['text']}" for row in rows for finding in row["findings"])
    return next(said, "")


def asked(setting: Setting, lesson: Lesson, command: list[str], left: Left) -> tuple[dict, str]:
    """What a check program says of the one op that its command line names, and the device that it ran on."""
    setting.programs.build_lesson(lesson, limit=left())
    report, _ = with_json(command, left())
    (row,) = report["ops"]
    return row, report["device"]


def check_op(setting: Setting, lesson: Lesson, op: str, left: Left) -> dict:
    row, device = asked(setting, lesson, setting.programs.right_or_wrong(lesson, op), left)
    cases, verdict = row["cases"], row["verdict"]
    used = [case["budget_used"] for case in cases if case["budget_used"] is not None]
    result = {"device": device, "verdict": verdict, "cases": len(cases), "budget_used": max(used, default=None)}
    if verdict != "ok":
        raise Failed(f"{verdict}: {first_finding(cases)}", result)
    return result


def time_op(setting: Setting, lesson: Lesson, op: str, left: Left) -> dict:
    row, device = asked(setting, lesson, setting.programs.timing(lesson, op), left)
    timing = row.get("timing")
    if not timing:
        raise ToolError(f"{op} was not timed")
    result = {"device": device, "precision": lesson.precision.get(op, "fp32"), **timing}
    if timing["verdict"] not in ("ok", "no verdict"):
        raise Failed(f"{timing['verdict']}: {first_finding(timing['shapes'])}", result)
    return result


def check_wrong(setting: Setting, lesson: Lesson, left: Left) -> dict:
    setting.programs.build(["gpu-wrong"], limit=left())
    rows, _ = with_json(setting.programs.wrong(lesson), left())
    if not rows:
        raise ToolError("no wrong solution was run")
    not_asked = {f"{row['op']}: {row['id']}": row["not_asked"] for row in rows if "not_asked" in row}
    asked_of = [row for row in rows if "not_asked" not in row]
    missed = [f"{row['op']}: {row['id']}" for row in asked_of if not row["rejected"]]
    result = {"rejected": len(asked_of) - len(missed), "of": len(asked_of), "missed": missed, "not_asked": not_asked}
    if missed:
        raise Failed(f"{len(missed)} of {len(asked_of)} were not rejected, first {missed[0]}", result)
    return result


# ---- what an item is measured with -----------------------------------------------------------------------------------

# Of a check program what times calls on a card, and what judges their results.
TIMED_BY = ("checker/gpu/device.h", "checker/gpu/event_stopwatch.h", "checker/gpu/gpu_*")
TIMED_BY += ("checker/clock/timing.*", "checker/worker/bench.*", "checker/worker/time_op.*")
JUDGED_BY = ("checker/gpu/device.h", "checker/gpu/gpu_side.cpp", "checker/cases/budget.*", "reference/dump/budget.toml")
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
        work.items.append(Item(name, partial(check_wrong, setting, lesson), made_of))
    return work


def timings(setting: Setting) -> Work:
    return each_op(setting, time_op, timed_with)


def calibrate_all(setting: Setting, left: Left) -> dict:
    program = "build/calibrate-gpu"
    setting.programs.build([program], limit=left())
    done = run([program], left())
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
    tools.find("nvcc")
    made_of = matching(
        setting.root, ("checker/gpu/calibrate_*", "checker/gpu/gpu_kernels.cuh", "checker/clock/timing.*")
    )
    return Work([Item("roof", partial(calibrate_all, setting), made_of)])


def time_rung(setting: Setting, rung: rungs.Rung, shape: str, left: Left) -> dict:
    folder = setting.programs.folder
    setting.programs.build([f"{folder}/check/ladder", f"{folder}/impl/solutions/{rung.lesson}/matmul.so"], left())
    return rungs.time_at(folder, rung, shape, left())


def ladder(setting: Setting) -> Work:
    lessons, unmet = setting.lessons
    here = {lesson.name for lesson in lessons}
    shapes = rungs.REHEARSED if setting.programs.dry else rungs.chosen_shapes(rungs.GPU_SHAPES)
    items = [
        Item(
            f"lesson{rung.number}/{shape}",
            partial(time_rung, setting, rung, shape),
            timed_with(setting.root, Lesson("ladder"), ())
            + with_headers(setting.root, [Path("solutions", rung.lesson, "matmul.cu")]),
        )
        for shape in shapes
        for rung in rungs.rungs(setting.root)
        if rung.lesson in here and rung.takes(shape)
    ]
    return Work(items, unmet)


# The pass whose ops are timed one by one, and that of a rehearsal: the model, B and T.
PASS = ("max_T=1024 V=50257 L=12 NH=12 C=768", 4, 1024)
REHEARSED_PASS = ("max_T=8 V=101 L=1 NH=2 C=64", 2, 8)


def time_call(setting: Setting, call: counts.Call, files: tuple[str, ...], left: Left) -> dict:
    folder, step = setting.programs.folder, counts.newest(files)
    op = next(path.split("/")[1] for path in files if path.startswith(step))
    programs = [f"{folder}/check/lesson{files[0].split('_')[0]}", f"{folder}/impl/solutions/{step}/{op}.so"]
    setting.programs.build(programs, left())
    return counts.time_at(folder, call, files, setting.scratch, left())


def waterfall(setting: Setting) -> Work:
    """The calls of each step's forward pass, one by one."""
    lessons, unmet = setting.lessons
    here = {lesson.name for lesson in lessons}
    if any(setting.root.glob("solutions/*/forward.cpp")):
        setting.programs.build(["forward-calls"])
    items: dict[str, Item] = {}
    for step in counts.steps(setting.root, *(REHEARSED_PASS if setting.programs.dry else PASS)):
        for call in step.calls if step.lesson in here else ():
            files = step.files[call.op]
            made_of = with_headers(setting.root, [Path("solutions", f"{path}.cu") for path in files])
            made_of += (Path("lessons/gpt2/check", f"{call.op}.cpp"), *matching(setting.root, TIMED_BY))
            name = counts.item_name(files, call)
            items[name] = Item(name, partial(time_call, setting, call, files), made_of)
    return Work(list(items.values()), unmet)


class Bench:
    """bench.py, or whole_forward.py, as a process that measures one item at a time, started anew where the last one
    brought it down."""

    PATIENCE = 5  # seconds that it has to end by itself

    def __init__(self, setting: Setting, *command: str):
        self.command = [setting.python, "-m", *command, *(["--dry"] if setting.programs.dry else [])]
        self.errors = setting.scratch / "bench.log"
        caches = {name: str(setting.scratch / name) for name in ("TORCHINDUCTOR_CACHE_DIR", "TRITON_CACHE_DIR")}
        self.environment = os.environ | {"TMPDIR": str(setting.scratch)} | caches
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

    def stop(self) -> None:
        """Its input ends, and so does it; at once where it is at work or hangs."""
        if self.process is None:
            return
        with contextlib.suppress(subprocess.TimeoutExpired, OSError):
            self.process.stdin.close()
            self.process.wait(timeout=self.PATIENCE)
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
            self.stop()
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
        return self.rated(answer)

    def rated(self, answer: dict) -> dict:
        """With what the call must move or compute, over its time."""
        if "call" not in answer:
            return answer
        rate, (cost,) = answer.pop("rate"), costs([answer.pop("call")])
        amount = cost.flop / 1e12 if rate == "tflop_per_s" else cost.bytes / 1e9
        return answer | {rate: amount / (answer["median_ms"] * 1e-3)}


def baseline_of(root: Path, item: str) -> tuple[Path, ...]:
    """What a baseline's time depends on, of ours: the file of the op, those of ops that it imports, PyTorch's model."""
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
BASELINES_MADE_OF = (Path("reference/model/gpt2.py"), Path("reference/gpu/bench.py"))


def pytorchs(setting: Setting, bench: Bench, measure: Callable[..., dict], made_of: Callable[[str], tuple]) -> Work:
    """What the process offers; `measure` takes an item's name and what is left, `made_of` its name."""
    try:
        said = bench.ask("list", 120)
        items = [Item(name, partial(measure, name), made_of(name)) for name in said["items"]]
        return Work(items, said["without"], said["versions"], bench.stop)
    except OSError as error:
        raise ToolError(f"{setting.python}: {error.strerror}; PYTHON=… names the Python that has PyTorch") from None
    except (LookupError, ToolError):
        bench.stop()
        raise


def baselines(setting: Setting) -> Work:
    setting.programs.build([str(LESSONS), str(COSTS)])  # which are asked for its items and rates
    bench = Bench(setting, "reference.gpu.bench")
    return pytorchs(setting, bench, bench.measure, partial(baseline_of, setting.root))


PROGRAM_OF_STEP = ("lessons/gpt2/bench_main.cpp", "lessons/gpt2/placement_device.cpp", "reference/gpu/whole_forward.py")


def whole_forward(B: int, setting: Setting) -> Work:
    """The newest step that this card can run beside each of PyTorch's ways, at B sequences."""
    newest = setting.lessons[0][-1]
    program = setting.programs.bench_of_step(newest)
    bench = Bench(setting, "reference.gpu.whole_forward", str(B), program)

    def measure(name: str, left: Left) -> dict:
        setting.programs.build([program, f"STEP={newest.number}"], limit=left())
        return {"step": newest.number, **bench.measure(name, left)}

    made_of = (*BASELINES_MADE_OF, *(Path(file) for file in PROGRAM_OF_STEP))
    for op in ("forward", "predict"):
        made_of += with_headers(setting.root, implementing(setting.root, newest.name, op))
    return pytorchs(setting, bench, measure, lambda _: made_of)


def run_sanitizer(
    programs: Programs, tool: str, lesson: Lesson, op: str, subject: str, limit: float
) -> tuple[tools.SanitizerReport, dict]:
    """compute-sanitizer's report, and what the check said of the op: that its cases ran at all is known from there."""
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder, "watched.json")
        program = [*programs.right_or_wrong(lesson, op, subject), "--no-large", "--json", str(out)]
        report = tools.sanitize(tool, program, Path(folder, "sanitizer.log"), limit)
        if not out.exists():
            raise ToolError(f"the check program ran nothing under {tool}: {report.said}")
        (row,) = json.loads(out.read_text())["ops"]
    if not row["cases"]:
        raise ToolError(f"no case of {op} ran under {tool}")
    return report, row


def sanitize_op(tool: str, setting: Setting, lesson: Lesson, op: str, left: Left) -> dict:
    setting.programs.build_lesson(lesson, limit=left())
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
    version = tools.version("compute-sanitizer")
    works = [each_op(setting, partial(sanitize_op, tool), checked_with, f"/{tool}") for tool in tools.SANITIZERS]
    return Work([item for work in works for item in work.items], setting.lessons[1], {"compute-sanitizer": version})


def profile_op(setting: Setting, lesson: Lesson, op: str, left: Left) -> dict:
    names = tools.kernels_of(setting.root / "solutions" / lesson.name / f"{op}.cu")
    setting.programs.build_lesson(lesson, limit=left())
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
    version, work = tools.version("ncu"), each_op(setting, profile_op, judged_at)
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
        )
        for subject in subjects
    ]
    return Work(items, unmet, {"ncu": version})


def beside(root: Path, file: Path) -> tuple[Path, ...]:
    """A program of the CPU device's tests, and what it includes of their folder."""
    return tuple(found for found in sources.closure(root, [file]) if found.parts[:3] == file.parts[:3])


def simt(setting: Setting) -> Work:
    version, kernels = tools.version("compute-sanitizer"), simt_vs_gpu.corpus(setting.root)
    items = [
        Item(kernel.name, partial(batch.measure, kernel), beside(setting.root, kernel.path))
        for kernel, batch in simt_vs_gpu.batches(kernels, setting.programs)
    ]
    return Work(items, versions={"compute-sanitizer": version})


def libs(setting: Setting) -> Work:
    """Calls of cuBLAS and cuBLASLt by the card's libraries, and by the CPU device's."""
    files = libs_vs_gpu.calls(setting.root)
    compare = partial(libs_vs_gpu.compare, setting.programs)
    return Work([Item(file.stem, partial(compare, file.stem), beside(setting.root, file)) for file in files])


# On a card that has room, and where the first words of the file say so.
AT_SIZE = {"06_coalescing/transpose": ["65536"], "07_tiled_matmul/transpose": ["65536"]}


def run_given(setting: Setting, name: str, left: Left) -> dict:
    program = f"{setting.programs.folder}/given/{name}"
    setting.programs.build([program], limit=left())
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
                items.append(Item(name, partial(run_given, setting, name), with_headers(setting.root, [path])))
    return Work(items, unmet)


PARTS: dict[str, Callable[[Setting], Work]] = {
    **{part.__name__: part for part in (checks, calibrate, timings, baselines)},
    **{f"forward_b{B}": partial(whole_forward, B) for B in beside_pytorch.BATCHES},
    **{part.__name__: part for part in (ladder, waterfall, given, sanitize, ncu, simt, libs)},
}
PART_NAMES = tuple(PARTS)
# Seconds for an item of each part, of which builds take some: a guess until a card's own are in its file.
ABOUT = {
    "checks": 10,
    "calibrate": 60,
    "timings": 6,
    "baselines": 4,
    "forward_b4": 30,
    "forward_b1": 25,
    "forward_b16": 40,
    "ladder": 3,
    "waterfall": 6,
    "given": 15,
    "sanitize": 8,
    "ncu": 8,
    "simt": 4,
    "libs": 40,
}


def expected_seconds(name: str, part: dict, wanted: int) -> float:
    """For so many items of a part; the mean of those that are measured, where any are."""
    known = [record["seconds"] for record in part["items"].values() if "seconds" in record]
    return wanted * (sum(known) / len(known) if known else ABOUT[name])


# ---- running them ----------------------------------------------------------------------------------------------------


@dataclass
class Outcome:
    part: str
    done: int = 0
    failed: dict[str, str] = field(default_factory=dict)  # item to its reason; "" is the part itself
    left: list[str] = field(default_factory=list)
    seconds: float = 0.0


def headline(record: dict) -> str:
    """The time that was measured, or what two verdicts have in common."""
    result = record.get("result", {})
    if "forward" in result:
        theirs, ours = (result["forward"][side]["median_ms"] for side in ("pytorch", "ours"))
        return f"{theirs:.4g} ms, ours {ours:.4g} ms"
    row = next(iter(result.get("shapes", [])), result)
    median = row.get("median_ms")
    return f"{median:.4g} ms" if median is not None else result.get("outcome", "")


CLEAR = "\r\033[K" if sys.stdout.isatty() else ""  # what is at work stands in the line, on a terminal


def say(status: str, seconds: float | None, part: str, item: str, why: str = "") -> None:
    took = f"{seconds:6.1f} s" if seconds is not None else " " * 8
    name = "/".join(filter(None, (part, item)))
    print(f"{CLEAR}  {status:<8} {took}  {name}{why and ': '}{why}", flush=True)


def shortened(text: str, width: int) -> str:
    return text if len(text) <= width else text[: width - 1] + "…"


# Those after OSError: a program's answer has another form than we know.
FAILURES = (ToolError, OSError, LookupError, TypeError, ValueError, AttributeError)


def reason(error: Exception) -> str:
    return str(error) if isinstance(error, ToolError) else f"{type(error).__name__}: {tools.first_line(str(error))}"


def plan(seconds: float, items: int) -> str:
    """How long a part takes, and in how many runs."""
    runs = math.ceil(seconds / BUDGET)
    minutes = f"about {max(1, round(seconds / 60))} min"
    return f"{tools.counted(items, 'item')}, {minutes}{f', {runs} runs' if runs > 1 else ''}"


def finite(value: object) -> object:
    """JSON has no infinity and no NaN: null stands for them."""
    if isinstance(value, dict):
        return {key: finite(inner) for key, inner in value.items()}
    if isinstance(value, list):
        return [finite(inner) for inner in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value


def measure(item: Item, limit: float, clocks: ClockLog) -> dict:
    """The item's record."""
    begin, samples = time.monotonic(), len(clocks.samples)
    record: dict = {"status": "ok", "measured_at": utc_now()}
    try:
        record["result"] = item.measure(lambda: limit - (time.monotonic() - begin))
    except Failed as error:
        record |= {"status": "failed", "why": str(error), "result": error.result}
    except FAILURES as error:
        record |= {"status": "failed", "why": reason(error)}
    record["seconds"] = round(time.monotonic() - begin, 2)
    record["clocks"] = clocks.since(samples)
    return finite(record)


def run_part(name: str, setting: Setting, store: Store, stamp: dict, options: argparse.Namespace) -> Outcome:
    outcome, begin = Outcome(name), time.monotonic()
    try:
        work = PARTS[name](setting)
    except FAILURES as error:
        outcome.failed[""] = store.note_failure(name, stamp, reason(error))
        say("FAILED", None, name, "", outcome.failed[""])
        return outcome
    made_of = {item.name: sources.digest(setting.root, item.made_of) for item in work.items}
    part = store.begin(name, stamp | {"versions": work.versions}, options.fresh, made_of)
    before = part["seconds"]
    wanted = [item for item in work.items if part["items"].get(item.name, {}).get("status") != "ok"]
    wanted.sort(key=lambda item: item.name in part["items"])  # what failed before comes last
    outcome.done = len(work.items) - len(wanted)
    outcome.left = part["not_done_yet"] = [item.name for item in wanted]
    if wanted and not options.dry:
        print(f"  {name}: {plan(expected_seconds(name, part, len(wanted)), len(wanted))}", flush=True)
    for item, why in work.unavailable.items():
        part["items"][item] = {"status": "unavailable", "why": why}
        say("not here", None, name, item, why)
    try:
        with ClockLog() as clocks:
            for item in wanted:
                elapsed = time.monotonic() - begin
                if elapsed >= options.budget:
                    break
                if CLEAR:
                    print(f"{CLEAR}  … {name}/{item.name}", end="", flush=True)
                limit = max(options.budget + MOST - BUDGET - elapsed, 1)
                record = measure(item, limit, clocks)
                if record["status"] == "failed" and record["seconds"] >= limit and item is not wanted[0]:
                    say("not done", record["seconds"], name, item.name, "no time was left; it begins there next time")
                    break
                del outcome.left[0]
                part["items"][item.name] = record | {"sources": made_of[item.name]}
                if record["status"] == "ok":
                    outcome.done += 1
                    say("ok", record["seconds"], name, item.name, "" if options.dry else headline(record))
                else:
                    outcome.failed[item.name] = record["why"]
                    say("FAILED", record["seconds"], name, item.name, record["why"])
                part["seconds"] = round(before + time.monotonic() - begin, 1)
                part["clocks"] = clocks.since(0)
                store.save()
    finally:
        work.close()
    outcome.seconds = time.monotonic() - begin
    store.save()
    return outcome


def summary(outcomes: list[Outcome], dry: bool) -> str:
    lines = [f"{'':12}{'ok':>6}{'failed':>8}{'not done yet':>14}{'seconds':>9}"]
    for o in outcomes:
        lines.append(f"  {o.part:10}{o.done:>6}{len(o.failed):>8}{len(o.left):>14}{o.seconds:>9.1f}")
    for o in outcomes:
        for item, why in list(o.failed.items())[:SHOWN]:
            lines.append(shortened(f"failed  {'/'.join(filter(None, (o.part, item)))}: {why}", 160))
        if len(o.failed) > SHOWN:
            lines.append(f"        {len(o.failed) - SHOWN} more of {o.part}: see above, or the file")
    unfinished = [o.part for o in outcomes if o.left]
    if unfinished:
        part = unfinished[0] if len(unfinished) == 1 else "all"
        lines.append(f"next    make gpu-report PART={part}{' DRY=1' if dry else ''}   goes on where it stopped")
    return "\n".join(lines)


@contextlib.contextmanager
def alone(path: Path):
    """Two reports at once would time each other."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            raise ToolError("another gpu-report is running here; wait until it is done") from None
        yield


def describe(options: argparse.Namespace) -> tuple[Card, dict]:
    """The card, and what every part's record says of this run."""
    if options.dry:
        tools.rehearse()
        return tools.read_card(), {"driver": None, "cuda": None, **commit(options.commit)}
    try:
        card = tools.read_card()
    except ToolError as error:
        raise ToolError(f"{error}. To rehearse without a GPU: make gpu-report DRY=1") from None
    # Whether driver, toolkit, compiler and card go together: else every item would say why they do not.
    Programs().build([str(tools.GPU_TOOL)])
    asked_of = run([str(tools.GPU_TOOL)], BUDGET)
    if asked_of.status != 0:
        raise ToolError(tools.last_line(asked_of.output) or f"{tools.GPU_TOOL} said nothing")
    return card, {"driver": card.driver, "cuda": tools.version("nvcc"), **commit(options.commit)}


def report(options: argparse.Namespace) -> int:
    card, stamp = describe(options)
    path = options.out or (REHEARSAL if options.dry else tools.TIMINGS / f"{card.slug}.json")
    store, is_new = Store(path, card, options.dry), not path.exists()
    if options.dry:
        print(NO_MEASUREMENT)
    software = [] if options.dry else [f"driver {card.driver}", f"CUDA {stamp['cuda']}"]
    print(", ".join([card.name, *software]), flush=True)
    names = PART_NAMES if options.part == "all" else (options.part,)
    with tempfile.TemporaryDirectory(prefix="gpu-report-", ignore_cleanup_errors=True) as scratch:
        setting = Setting(Path(), card, options.python, Programs(options.dry), Path(scratch))
        outcomes = [run_part(name, setting, store, dict(stamp), options) for name in names]
    for key, rows, table, of_parts in (
        ("beside_pytorch", beside_pytorch.rows, beside_pytorch.table, {"timings", "baselines"}),
        ("whole_forward", beside_pytorch.whole_rows, beside_pytorch.whole_table, set(beside_pytorch.PARTS)),
        ("libraries", libs_vs_gpu.rows, libs_vs_gpu.table, {"libs"}),
    ):
        if compared := rows(store.data):
            store.data[key] = compared
            store.save()
            if of_parts & set(names):
                print(f"\n{table(compared)}")
    print(f"\n{summary(outcomes, options.dry)}")
    if is_new and not store.has_tried():
        path.unlink(missing_ok=True)
        print("nothing was measured, and nothing is written")
        return 1
    print(f"written to {path}")
    if "ncu" in names and (page := simt_vs_ncu.write_page(Path(), store.data)):
        print(f"table in {page}")
    if "simt" in names and not options.dry and (page := simt_vs_gpu.write_table(store.data, Path())):
        print(f"table in {page}")
    if options.dry:
        print(NO_MEASUREMENT)
    elif any(o.done for o in outcomes) and not known(path):
        print(f"the course has no report of {card.name} yet: please send {path} ({tools.TIMINGS}/README.md says how)")
    return 1 if any(o.failed for o in outcomes) else 0


def parse(arguments: list[str] | None) -> argparse.Namespace:
    parser = Parser("gpu-report", __doc__)
    parser.add_argument("--part", choices=(*PART_NAMES, "all"), default="all", help="all is the default")
    parser.add_argument("--dry", action="store_true", help="a rehearsal without a GPU, into build/dry/report.json")
    parser.add_argument("--fresh", action="store_true", help="measure again what is there already")
    parser.add_argument("--out", type=Path, help="the file, instead of one named after the card")
    parser.add_argument("--budget", type=float, default=BUDGET, help="seconds after which a part starts nothing more")
    parser.add_argument("--commit", help="what is measured, where this folder is no git checkout")
    parser.add_argument("--python", default=sys.executable, help="the Python that has PyTorch")
    options = parser.parse_args(arguments)
    if not 0 < options.budget <= BUDGET:
        parser.error(f"budget: {options.budget:g} s; a part may take up to {BUDGET} s")
    if options.commit and not re.fullmatch(r"[0-9a-f]{7,40}", options.commit):
        parser.error(f"COMMIT={options.commit}: not a commit's hash")
    if options.dry and options.out and tools.TIMINGS.resolve() in options.out.resolve().parents:
        parser.error(f"{options.out}: a rehearsal measures nothing, and {tools.TIMINGS} is for measurements")
    return options


def report_alone(options: argparse.Namespace) -> int:
    with alone(Path("build/gpu-report.lock")):
        return report(options)


def main(arguments: list[str] | None = None) -> int:
    options = parse(arguments)
    where = "interrupted; the same command goes on where it stopped"
    return tools.run_main("gpu-report", lambda: report_alone(options), where)


if __name__ == "__main__":
    sys.exit(main())
