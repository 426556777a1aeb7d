# SPDX-License-Identifier: MIT
"""`make compare-lessonNN`: the learner's times beside those of recorded machines, as shares of each machine's own roof.

Of a lesson with kernels that no GPU has timed here it is counters: what the check counts of the learner's ops on the
CPU device, beside the solution's and the newest older solution's, as multiples of what is needed. The solution's times
on recorded GPUs follow. Needs nothing but
Python 3.10.
"""

from __future__ import annotations

import argparse
import sys
from dataclasses import dataclass
from pathlib import Path

from reference.gpu.machine import cpu
from reference.gpu.programs import with_json
from reference.gpu.tools import CLEAR, Parser, ToolError, asked, digits, is_measured, read_reports, run_main
from reference.timings import results

LIMIT = 300  # seconds for one check
# The bound of an op, by the name of what it was timed beside.
ROOFS = {"copy": "of a copy", "read": "of a read", "arithmetic": "of the roof"}
LABEL = 44  # columns
SHOWN_NAME = LABEL - len("    solution, ")


@dataclass(frozen=True)
class Row:
    """An op at one shape on one machine, as a check program's JSON has it."""

    who: str
    timing: dict  # of the op
    shape: dict

    def share(self, rival: str) -> str:
        found = self.shape["of_speed_of"].get(rival)
        return f"{100 * found['share']:.0f}%" if found else ""


def shortened(name: str) -> str:
    return name if len(name) <= SHOWN_NAME else f"{name[: SHOWN_NAME - 3].rstrip()}..."


# ---- times -----------------------------------------------------------------------------------------------------------


def own_timings(number: str, subject: str) -> dict[str, dict]:
    """By op the newest line of results.jsonl that has times."""
    found = {}
    for row in results.checks():
        if (row.get("lesson"), row.get("subject")) == (number, subject) and row.get("timing"):
            found[row["op"]] = row
    return found


def recorded(reports: list[dict], number: str) -> dict[str, dict[str, dict]]:
    """By op and machine the times of the solution."""
    found: dict[str, dict[str, dict]] = {}
    for data in reports:
        for name, item in data["parts"].get("timings", {}).get("items", {}).items():
            lesson, op = name.split("/")
            if lesson == f"lesson{number}" and is_measured(item):
                found.setdefault(op, {})[data.get("gpu") or data["cpu"]] = item["result"]
    return found


def rows_of(who: str, timing: dict) -> dict[str, Row]:
    return {shape["shape"]: Row(who, timing, shape) for shape in timing["shapes"]}


def table(op: str, machines: list[dict[str, Row]]) -> list[str]:
    """The shapes of the first machine that has any, each with a row a machine."""
    lines: list[str] = []
    for shape in machines[0] if machines else ():
        rows = [machine[shape] for machine in machines if shape in machine]
        rivals = {rival for row in rows for rival in row.shape["of_speed_of"]}
        columns = {rival: ROOFS[rival] for rival in ROOFS if rival in rivals}
        if "library" in rivals:
            names = {row.timing["library"] for row in rows if row.share("library")}
            columns["library"] = f"of {names.pop()}" if len(names) == 1 else "of library"
        if not columns:
            columns["solution"] = "of solution"
        lines.append(f"  {op} {shape}".ljust(LABEL) + f"{'ms':>8}" + "".join(f"{c:>14}" for c in columns.values()))
        for row in rows:
            cells = "".join(f"{row.share(rival):>14}" for rival in columns)
            lines.append((f"    {row.who}".ljust(LABEL) + f"{digits(row.shape['median_ms']):>8}" + cells).rstrip())
    return lines


def times(number: str, subject: str, only: str, reports: list[dict]) -> list[str]:
    """Empty where the learner has no times."""
    own, others = own_timings(number, subject), recorded(reports, number)
    lines: list[str] = []
    for op, row in own.items():
        if only and op != only:
            continue
        device = row["device"].removesuffix(", GPU")
        here = shortened(cpu().label if device == "CPU" else device)
        whose = "solution" if subject == "solutions" else "yours"
        machines = [rows_of(f"{whose}, {here}", row["timing"])]
        machines += [rows_of(f"solution, {shortened(name)}", timing) for name, timing in others.get(op, {}).items()]
        lines += ["", *table(op, machines)]
    return lines


def references(number: str, only: str, reports: list[dict]) -> list[str]:
    """The solution's times on recorded machines alone."""
    lines: list[str] = []
    for op, machines in recorded(reports, number).items():
        if not only or op == only:
            rows = [rows_of(f"solution, {shortened(name)}", timing) for name, timing in machines.items()]
            lines += ["", *table(op, rows)]
    return lines


# ---- counters --------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Counting:
    """A device lesson's check program, and who is counted."""

    check: Path
    impl: Path  # the subject's objects
    solutions: Path
    older: dict[str, Path]  # by op
    subject: str

    def op(self, op: str, folder: Path, subject: str, case: str = "", fp32: bool = False) -> dict:
        """What the check says of the op as the objects in `folder` have it."""
        environment = {"NVIDIA_TF32_OVERRIDE": "0"} if fp32 else {}
        if sys.stderr.isatty():
            print(f"{CLEAR}counting {op} in {folder} …", end="", file=sys.stderr, flush=True)
        command = [str(self.check), "--subject", subject, "--impl-dir", str(folder)]
        command += ["--reference-dir", str(self.solutions), "--no-timing", "--no-large"]
        command += ["--only", f"{op}/{case}" if case else op]
        report, _ = with_json(command, LIMIT, environment)
        print(CLEAR, end="", file=sys.stderr)
        (found,) = (one for one in report["ops"] if one["op"] == op)
        return found


def counted_case(verdict: dict) -> dict | None:
    """The case with most counters, and of these the one that needs most."""
    cases = [case for case in verdict["cases"] if case["counters"]]
    return max(cases, key=lambda c: (len(c["counters"]), c["counters"][0]["needed"]), default=None)


BY_ITS_OWN = "by its own"


FEW = 100  # needed: so few are shown as they are, two calls of a token as 2


def amount(value: float, needed: float) -> str:
    """Returns a count as a multiple of what is needed, or as a number if little or nothing is."""
    return f"{digits(value / needed)}x" if needed >= FEW else f"{value:,.0f}"


def cell(counters: dict[str, dict], name: str) -> str:
    one = counters.get(name)
    return "-" if one is None else amount(one["value"], one["needed"])


def count_op(counting: Counting, lesson: str, op: str, fp32: bool) -> list[str]:
    verdict = counting.op(op, counting.impl, counting.subject)
    chosen = counted_case(verdict)
    is_solution = counting.subject == "solutions"
    if chosen is None:
        whole = counting.op(op, counting.solutions, "solutions") if not is_solution else verdict
        chosen = counted_case(whole)
    if chosen is None:
        return []
    name = chosen["case"]
    sides: dict[str, dict[str, dict]] = {}

    def add(who: str, found: dict) -> None:
        case = next((case for case in found["cases"] if case["case"] == name), {"counters": []})
        sides[who] = {one["counter"]: one for one in case["counters"]}

    add("solution" if is_solution else "yours", verdict)
    if not is_solution:
        add("solution", counting.op(op, counting.solutions, "solutions", name))
    if older := counting.older.get(op):
        number = older.parent.name.split("_")[0]
        add(f"lesson {number}", counting.op(op, older.parent, "solutions", name, fp32))
    lines = [f"  {op} {chosen['shape']} ({name})"]
    lines.append(f"    {'':26}{'needed':>13}{''.join(f'{who:>10}' for who in sides)}{'limit':>7}")
    for counter, one in ((one["counter"], one) for one in chosen["counters"]):
        most = amount(one["at_most"] * one["needed"], one["needed"])
        cells = "".join(f"{cell(counted, counter):>10}" for counted in sides.values())
        # Of `sectors` that is what a version's own requests would take side by side, and no two may ask alike.
        needs = {counted[counter]["needed"] for counted in sides.values() if counter in counted}
        needed = f"{one['needed']:,.0f}" if len(needs) < 2 else BY_ITS_OWN
        lines.append(f"  {counter:<28}{needed:>13}{cells}{most:>7}")
    if any(BY_ITS_OWN in line for line in lines):
        lines.append(f"    {BY_ITS_OWN}: what each one's own requests need at least")
    if not next(iter(sides.values())):
        lines.append(f"    yours is not counted: {verdict['verdict']}; make check-lesson{lesson} ONLY={op}")
    return lines


def counters(counting: Counting, number: str, only: str) -> list[str]:
    lesson = asked(counting.check, ["--describe"], lambda found: found)
    targets = {op["op"]: op["counters"] for op in lesson["ops"] if op["counters"]}
    if only and targets and only not in targets:
        raise ToolError(f"ONLY={only}: lesson {number} has targets on counters for {', '.join(targets)}")
    lines: list[str] = []
    for op in [only] if only and targets else targets:
        lines += ["", *count_op(counting, number, op, op not in lesson["precision"])]
    return lines


# ---- the command -----------------------------------------------------------------------------------------------------


def say(text: str) -> str:
    """In plain ASCII where the terminal has no more."""
    return text if "utf" in (sys.stdout.encoding or "").lower() else text.replace("·", "-")


def compare(options: argparse.Namespace) -> str:
    number, title = options.lesson.split("_", 1)
    reports = read_reports(Path(), "cpu", "gpu")
    lines = times(number, options.subject, options.only, reports)
    what = "times as shares of each machine's own roof"
    last = f"times are the newest of make time-lesson{number}; recorded ones: reference/timings"
    if not lines and not options.check:
        command = f"make time-lesson{number}{' SOLUTION=1' if options.subject == 'solutions' else ''}"
        return f"nothing of lesson {number}{f', {options.only},' if options.only else ''} is timed here yet: {command}"
    if not lines:
        older = {path.stem: path for path in map(Path, options.older)}
        solutions = Path("build/impl/solutions", options.lesson)
        impl = Path("build/impl", options.subject, options.lesson)
        counting = Counting(options.check, impl, solutions, older, options.subject)
        lines = counters(counting, number, options.only)
        if not lines:
            return f"lesson {number} has targets on times alone: on a GPU, make time-lesson{number}"
        lines += references(number, options.only, reports)
        what = "counted on the CPU device, times what is needed"
        last = f"next    make traffic-lesson{number}   line by line; on a GPU: make time-lesson{number}"
    return say("\n".join([f"lesson {number} · {title} · {what}", *lines, "", last]))


def parse(arguments: list[str] | None) -> argparse.Namespace:
    parser = Parser("compare", __doc__)
    parser.add_argument("lesson", help="07_tiled_matmul")
    parser.add_argument("--subject", choices=("lessons", "solutions"), default="lessons")
    parser.add_argument("--only", default="", help="one op")
    parser.add_argument("--check", type=Path, help="of a lesson with kernels: its check program")
    parser.add_argument("--older", nargs="*", default=[], help="OP.so of the newest older solutions")
    return parser.parse_args(arguments)


def main(arguments: list[str] | None = None) -> int:
    options = parse(arguments)

    def act() -> int:
        print(compare(options))
        return 0

    return run_main("compare", act)


if __name__ == "__main__":
    sys.exit(main())
