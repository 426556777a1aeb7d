# SPDX-License-Identifier: MIT
"""How the report's programs are built and called: the check programs of the device lessons, the wrong solutions, the
GPU's calibration. On a GPU they are under build/gpu, in a rehearsal, on the CPU device, under build/dry."""

from __future__ import annotations

import json
import os
import re
import tempfile
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from reference.gpu import lesson_shapes, tools
from reference.gpu.costs import PROGRAM, Cost, costs
from reference.gpu.lesson_shapes import Lesson, all_lessons
from reference.gpu.tools import Finished, ToolError, last_line, run

BUILD_LIMIT = 300  # seconds
WRONG = "build/tools/wrong"


@dataclass(frozen=True)
class Programs:
    dry: bool = False
    make: str = os.environ.get("MAKE", "make")

    @property
    def folder(self) -> str:
        return "build/dry" if self.dry else "build/gpu"

    @property
    def device(self) -> list[str]:
        """Returns make's variables. LOCAL=gpu: only the packages of a build for a GPU are asked for."""
        return ["DEVICE=gpu", "DRY=1" if self.dry else "LOCAL=gpu"]

    @property
    def said(self) -> dict[str, str] | None:
        """Returns the environment that hands on what the command line of the make that started us said: CXX=g++-12."""
        said = os.environ.get("MAKEFLAGS", "").partition("-- ")[2]
        return {"MAKEFLAGS": f"-- {said}"} if said else None

    def build(self, targets: list[str], limit: float = BUILD_LIMIT) -> str:
        """What make and the compiler said. Raises ToolError with the line that says why it failed."""
        done = run([self.make, *self.device, *targets], limit, self.said)
        if done.status is None:
            raise ToolError(f"make {targets[0]} took more than {limit:.0f} s; it goes on where it stopped")
        if done.status != 0:
            raise ToolError(f"make {targets[0]}: {error_line(done.output)}")
        return done.output

    def build_report(self, parts: Iterable[str], limit: float) -> Finished:
        """Builds all that these parts of a report run, as far as it compiles, by a job for each processor."""
        targets = ["report-programs", f"PARTS={' '.join(parts)}"]
        return run([self.make, "-k", f"-j{os.cpu_count() or 1}", *self.device, *targets], limit, self.said)

    def costs(self, calls: list[str]) -> list[Cost]:
        self.build([str(PROGRAM)])
        return costs(calls)

    def lessons(self, root: Path) -> list[Lesson]:
        self.build([str(lesson_shapes.PROGRAM)])
        return all_lessons(root)

    def build_lesson(
        self, lesson: Lesson, subject: str = "solutions", ops: tuple[str, ...] = (), limit: float = BUILD_LIMIT
    ) -> None:
        """The check program, the solution's ops, and those of the learner's that are asked for."""
        targets = list(self.of_lesson(lesson))
        if subject == "lessons":
            targets += self.of_lesson(lesson, ops or lesson.ops, subject)[1:]
        said = self.build(targets, limit)
        # A learner's file that does not compile is no failure of make's: its object is not there then.
        for target in targets:
            if not Path(target).exists():
                source = f"{subject}/{lesson.name}/{Path(target).stem}.cu"
                raise ToolError(f"{source} does not compile: {error_line(said)}")

    def of_lesson(
        self, lesson: Lesson, ops: Iterable[str] | None = None, subject: str = "solutions"
    ) -> tuple[str, ...]:
        """Returns the check program and the shared objects of these ops, of all where none are named."""
        objects = (f"{self.folder}/impl/{subject}/{lesson.name}/{op}.so" for op in (ops or lesson.ops))
        return (f"{self.folder}/check/lesson{lesson.number}", *objects)

    def of_wrong(self) -> tuple[str, ...]:
        """Returns what wrong solutions are compiled and checked with, beside their lesson's programs."""
        return (WRONG, f"{self.folder}/wrong/commands")

    def bench_of_step(self, newest: Lesson) -> str:
        """Returns the program that takes forward passes when told to."""
        return f"build/{'' if self.dry else 'gpu/'}gpt2-bench-{newest.number}"

    def check(self, lesson: Lesson, only: str, *options: str, subject: str = "solutions") -> list[str]:
        """The check program's command line; `only` is OP, OP/CASE or OP/timing."""
        command = [f"{self.folder}/check/lesson{lesson.number}", "--subject", subject]
        command += ["--impl-dir", f"{self.folder}/impl/{subject}/{lesson.name}"]
        command += ["--reference-dir", f"{self.folder}/impl/solutions/{lesson.name}"]
        return [*command, "--only", only, *options]

    def right_or_wrong(self, lesson: Lesson, op: str, subject: str = "solutions") -> list[str]:
        """Only the committed cases, which are small: what compute-sanitizer watches."""
        return self.check(lesson, op, "--no-timing", subject=subject)

    def at_timed_shape(self, lesson: Lesson, op: str, subject: str = "solutions") -> list[str]:
        """What Nsight Compute watches: its first launch of each kernel must be the subject's."""
        return self.check(lesson, f"{op}/timing", "--timing-only", subject=subject)

    def timing(self, lesson: Lesson, op: str) -> list[str]:
        return self.check(lesson, op, "--timing-only")

    def wrong(self, lesson: Lesson) -> list[str]:
        """Returns the command line that checks a lesson's wrong solutions."""
        dry = ["--dry"] if self.dry else []
        return [WRONG, "--device", "gpu", *dry, "--lesson", lesson.name]


def error_line(output: str) -> str:
    """The line of make's output that says what is wrong: a compiler's first error, else what was said last before make
    gave up, else make's own word."""
    lines = [line.strip() for line in output.splitlines() if line.strip()]
    for sign in (": error", "error:"):
        found = [line for line in lines if sign in line]
        if found:
            return found[0]
    end = next((at for at, line in enumerate(lines) if "***" in line), None)
    if end is None:
        return lines[-1] if lines else "it said nothing"
    # Of a recipe that failed make says no more than where it stands: "[x.mk:24: target] Error 1".
    of_recipe = re.match(r"make(\[\d+\])?: \*\*\* \[", lines[end])
    others = [line for line in lines[:end] if not re.match(r"make(\[\d+\])?: ", line) and not line.endswith("…")]
    return others[-1] if of_recipe and others else lines[end]


def with_json(command: list[str], limit: float, extra: dict[str, str] | None = None) -> tuple[Any, Finished]:
    """What a command writes where its option --json says, and how it ended; raises ToolError where it wrote nothing.
    `extra` is added to its environment."""
    name = Path(command[0]).name
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder, "out.json")
        done = run([*command, "--json", str(out)], limit, extra)
        try:
            return json.loads(out.read_text()), done
        except FileNotFoundError:
            if done.status is None:
                raise ToolError(f"{name} did not end within {limit:.0f} s") from None
            raise ToolError(f"{name} wrote no result, exit status {done.status}: {last_line(done.output)}") from None
        except ValueError as error:
            raise ToolError(f"{name} wrote something that is not JSON: {error}") from None


def run_sanitizer(
    programs: Programs, tool: str, lesson: Lesson, op: str, subject: str, limit: float
) -> tuple[tools.SanitizerReport, dict]:
    """Returns compute-sanitizer's report, and what the check said of the op, from which it is known that cases ran."""
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
