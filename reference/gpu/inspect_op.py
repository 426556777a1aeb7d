# SPDX-License-Identifier: MIT
"""`make profile-lesson05` and `make sanitize-lesson05`: Nsight Compute and compute-sanitizer on one op's kernels."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from reference.gpu import tools
from reference.gpu.lesson_shapes import Lesson
from reference.gpu.programs import Programs, run_sanitizer
from reference.gpu.tools import NO_MEASUREMENT, Kernel, Parser, ToolError, counted, three_digits

LIMIT = 540  # seconds for one tool


def find_lesson(programs: Programs, number: str) -> Lesson:
    """Of "05" or "5". Raises ToolError with what there is."""
    lessons = programs.lessons(Path())
    device = [lesson.number for lesson in lessons if lesson.track == "device"]
    have = f"the lessons with kernels are {', '.join(device)}"
    found = [lesson for lesson in lessons if lesson.number == number.zfill(2)]
    if not found:
        raise ToolError(f"there is no lesson {number}; {have}")
    if found[0].track != "device":
        raise ToolError(f"lesson {found[0].number} is plain C++ for the CPU; {have}")
    return found[0]


def find_op(lesson: Lesson, only: str) -> str:
    """The op that ONLY= names, or the lesson's first."""
    op = only.split("/")[0] or lesson.ops[0]
    if op not in lesson.ops:
        raise ToolError(f"ONLY={only}: lesson {lesson.number} has no {op}; it has: {' '.join(lesson.ops)}")
    return op


def source_of(lesson: Lesson, op: str, subject: str) -> Path:
    return Path(subject) / lesson.name / f"{op}.cu"


def find_kernels(lesson: Lesson, op: str, subject: str) -> tuple[Path, list[str]]:
    """The op's file and its kernels. Raises ToolError with the lesson's ops that have some."""
    source = source_of(lesson, op, subject)
    with_kernels = [name for name in lesson.ops if tools.has_kernels(source_of(lesson, name, "solutions"))]
    names = tools.kernels_of(source) if op in with_kernels else []
    if not names:
        raise ToolError(f"{source} has no kernel of its own; ONLY= takes one of {' '.join(with_kernels)}")
    return source, names


# ---- Nsight Compute --------------------------------------------------------------------------------------------------


def scaled(value: float | None, units: tuple[tuple[float, str], ...]) -> str:
    """With the largest unit that leaves at least 1; "-" where it was not counted."""
    if value is None:
        return "-"
    scale, unit = next((one for one in units if value >= one[0]), units[-1])
    return f"{three_digits(value / scale)} {unit}"


def duration(nanoseconds: float | None) -> str:
    return scaled(nanoseconds, ((1e6, "ms"), (1e3, "us"), (1, "ns")))


def size(amount: float | None) -> str:
    return scaled(amount, ((1e9, "GB"), (1e6, "MB"), (1e3, "kB"), (1, "B")))


def cell(value: float | None, unit: str = "") -> str:
    return "-" if value is None else three_digits(value) + unit


def total(kernel: Kernel, *names: str) -> float | None:
    values = [kernel.values.get(name) for name in names]
    return None if None in values else sum(values)


def profile_rows(kernel: Kernel) -> list[tuple[str, str]]:
    """A kernel's counters: what it is, and its value."""
    values = kernel.values
    loads = kernel.ratio("global_load_sectors", "global_load_requests")
    stores = kernel.ratio("global_store_sectors", "global_store_requests")
    conflicts = total(kernel, "shared_load_bank_conflicts", "shared_store_bank_conflicts")
    wavefronts = total(kernel, "shared_load_wavefronts", "shared_store_wavefronts")
    rows = [
        ("time", f"{duration(values.get('time_ns'))}, grid {kernel.grid}, block {kernel.block}"),
        ("DRAM", f"{size(values.get('dram_bytes_read'))} read, {size(values.get('dram_bytes_written'))} written"),
        ("sectors/request", f"{cell(loads)} in loads, {cell(stores)} in stores; 4 for neighbouring floats"),
    ]
    if wavefronts:
        rows.append(("shared memory", f"{cell(conflicts)} of {cell(wavefronts)} wavefronts are bank conflicts"))
    busy = f"SM {cell(values.get('sm_percent'), '%')} of its peak, memory {cell(values.get('memory_percent'), '%')}"
    possible = cell(values.get("occupancy_possible_percent"), "%")
    occupancy = f"{cell(values.get('occupancy_percent'), '%')} of the warps, {possible} possible"
    rows += [("busy", busy), ("occupancy", occupancy + (f" ({limit})" if (limit := kernel.limited_by()) else ""))]
    registers = values.get("registers")
    rows.append(("registers", "-" if registers is None else f"{registers:.0f} a thread"))
    return rows


def profile_text(op: str, shape: str, kernels: list[Kernel], need: int | None) -> str:
    """`need`: the bytes that the op must move at this shape; None where that is not known."""
    lines = [f"  {op}{f'  {shape}' if shape else ''}"]
    for kernel in kernels:
        lines += ["", f"  {kernel.name}", *(f"    {what:<15}  {value}" for what, value in profile_rows(kernel))]
    moved = [total(kernel, "dram_bytes_read", "dram_bytes_written") for kernel in kernels]
    if need and None not in moved:
        ratio = three_digits(sum(moved) / need)
        lines += ["", f"  {op} needs {size(need)} at least; DRAM moved {size(sum(moved))}, {ratio} times that"]
        lines += ["  Below 1: L2 held some of it."] * (sum(moved) < need)
    return "\n".join(line.rstrip() for line in lines).rstrip()


def profile(lesson: Lesson, op: str, subject: str, programs: Programs) -> int:
    source, names = find_kernels(lesson, op, subject)
    programs.build_lesson(lesson, subject, (op,))
    shape = next(iter(lesson.shapes.get(op, ())), "")
    need = programs.costs([f"{op} {shape}"])[0].bytes if shape else None
    report = Path("build/dry" if programs.dry else "results") / f"profile-lesson{lesson.number}-{op}.ncu-rep"
    report.parent.mkdir(parents=True, exist_ok=True)
    print(f"lesson {lesson.number} · {source} · Nsight Compute, the first launch of each kernel", flush=True)
    kernels, _ = tools.profile(names, programs.at_timed_shape(lesson, op, subject), LIMIT, report)
    print(f"\n{profile_text(op, shape, kernels, need)}\n")
    print(f"all of it  ncu-ui {report}")
    return 0


# ---- compute-sanitizer -----------------------------------------------------------------------------------------------


def sanitize(lesson: Lesson, op: str, subject: str, programs: Programs) -> int:
    programs.build_lesson(lesson, subject, (op,))
    source = source_of(lesson, op, subject)
    print(f"lesson {lesson.number} · {source} · compute-sanitizer on the small cases\n", flush=True)
    found = 0
    for tool in tools.SANITIZERS:
        report, row = run_sanitizer(programs, tool, lesson, op, subject, LIMIT)
        found += report.errors
        warnings = f", {counted(report.warnings, 'warning')}" if report.warnings else ""
        print(f"  {tool:<10} {counted(report.errors, 'error') if report.errors else 'ok'}{warnings}", flush=True)
        for what, times in report.distinct.items():
            print(f"    {what}{f'   {times} times printed' if times > 1 else ''}")
        if report.unended:
            print(f"    of a process, not of a kernel: {report.unended}")
    print(f"\nresult  {counted(found, 'error')}" if found else "\nall ok")
    if row["verdict"] != "ok":
        print(f"but the check says {row['verdict']}: make check-lesson{lesson.number} ONLY={op}")
    return 1 if found else 0


ACTS = {"profile": ("ncu", profile), "sanitize": ("compute-sanitizer", sanitize)}


def inspect(options: argparse.Namespace) -> int:
    programs = Programs(options.dry)
    lesson = find_lesson(programs, options.lesson)
    op = find_op(lesson, options.only)
    if options.dry:
        tools.rehearse()
        print(NO_MEASUREMENT)
    tool, act = ACTS[options.what]
    try:
        tools.read_card()
    except ToolError as error:
        without = f"; the CPU device's checks need no GPU: make check-lesson{lesson.number} DEVICE=cpu"
        raise ToolError(f"{error}{'' if 'DEVICE=cpu' in str(error) else without}") from None
    tools.find(tool)
    status = act(lesson, op, options.subject, programs)
    if options.dry:
        print(NO_MEASUREMENT)
    return status


def add_arguments(parser: Parser) -> None:
    parser.add_argument("lesson", help="a lesson's number")
    parser.add_argument("--only", default="", help="the op; the lesson's first where it is left out")
    parser.add_argument("--subject", choices=("lessons", "solutions"), default="lessons", help="whose files")


def main(arguments: list[str] | None = None) -> int:
    parser = Parser("gpu-inspect", __doc__)
    parser.add_argument("what", choices=ACTS)
    add_arguments(parser)
    parser.add_argument("--dry", action="store_true", help="a rehearsal without a GPU")
    options = parser.parse_args(arguments)
    return tools.run_main(f"{options.what}-lesson{options.lesson}", lambda: inspect(options))


if __name__ == "__main__":
    sys.exit(main())
