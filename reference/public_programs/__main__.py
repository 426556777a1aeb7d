# SPDX-License-Identifier: MIT
"""Counts the unmodified public CUDA programs that the CPU device judges rightly: of all, and of those that need nothing
that the device leaves out. Prints the block of `checker/simt/README.md`, or writes it there."""

from __future__ import annotations

import argparse
import sys
from collections import defaultdict
from dataclasses import dataclass
from pathlib import Path

from reference.gpu import pages
from reference.gpu.tools import ToolError
from reference.public_programs import needs, suites
from reference.public_programs.judge import Device, Verdict, judge, look, the_device
from reference.public_programs.suites import Program, Suite

PAGE = Path("checker/simt/README.md")
BLOCK = "public programs"
KEPT = Path("build/public-programs")


@dataclass(frozen=True)
class Row:
    program: Program
    needs: dict[str, str]  # a name of needs.ALL -> the name in the sources that shows it
    verdict: Verdict


def needs_of(program: Program, device: Device) -> dict[str, str]:
    inside = program.folder / program.inside
    found = needs.needs([inside / name for name in program.sources], inside, device.include)
    kept = {need: shown for need, shown in {**found, **program.needs}.items() if need not in program.not_needs}
    if unknown := kept.keys() - set(needs.ALL):
        raise ToolError(f"{suites.TABLE.name}: {program.name} needs {unknown}; known: {', '.join(needs.ALL)}")
    return kept


def share(right: int, of: int) -> str:
    return f"{right} of {of} ({100 * right / of:.0f}%)" if of else "0 of 0"


def count_row(name: str, rows: list[Row]) -> str:
    alone = [row for row in rows if not row.needs]
    right = [row for row in alone if row.verdict.right]
    full = sum(row.verdict.size == "full" for row in right)
    everywhere = sum(row.verdict.right for row in rows)
    return (
        f"| {name} | {share(everywhere, len(rows))} | {share(len(right), len(alone))} "
        f"| {full} | {len(right) - full} |\n"
    )


def listed(names: list[str]) -> str:
    return ", ".join(sorted(names, key=str.lower))


def generated(rows: list[Row], found: list[Suite], seconds: float) -> str:
    """Returns the block: both counts, and every program that is not right, with the reason."""
    commits = ", ".join(f"{suite.name} {suite.commit}" for suite in found)
    text = f"Programs of {commits}, as they are, each at most {seconds:g} s of processor time checked.\n\n"
    text += "| | right, of all | right, of those that need none of the list below | at full size | smaller |\n"
    text += "|---|--:|--:|--:|--:|\n"
    for suite in found:
        text += count_row(suite.name, [row for row in rows if row.program.suite == suite.name])
    if len(found) > 1:
        text += count_row("all", rows)
    if small := [row.program.name for row in rows if row.verdict.size == "smaller"]:
        text += f"\nRight at a smaller size: {listed(small)}.\n"
    if wrong := [row for row in rows if not row.needs and not row.verdict.right]:
        text += "\nNot right, and they need none of it:\n\n| program | why |\n|---|---|\n"
        text += "".join(f"| {row.program.name} | {row.verdict.reason} |\n" for row in wrong)
    by_need: dict[str, list[str]] = defaultdict(list)
    for row in rows:
        if row.needs:
            by_need[next(need for need in needs.ALL if need in row.needs)].append(row.program.name)
    if by_need:
        text += "\nPut aside, by the first thing that they need:\n\n| needs | n | programs |\n|---|--:|---|\n"
    for need in (need for need in needs.ALL if need in by_need):
        text += f"| {need} | {len(by_need[need])} | {listed(by_need[need])} |\n"
    return text


def say(what: str) -> None:
    print(what, file=sys.stderr, flush=True)


def counted(found: list[Suite], device: Device, kept: Path, seconds: float, only: list[str]) -> list[Row]:
    rows = []
    programs = [program for suite in found for program in suite.programs if not only or program.name in only]
    for number, program in enumerate(programs, 1):

        def progress(what: str, number: int = number) -> None:
            say(f"[{number}/{len(programs)}] {what}")

        verdict = judge(program, look(program, device, kept, seconds, progress), seconds)
        rows.append(Row(program, needs_of(program, device), verdict))
        if not verdict.right and not rows[-1].needs:
            progress(f"{program.name} is not right: {verdict.reason}")
    return rows


def main() -> int:
    parser = argparse.ArgumentParser(prog="public_programs", description=__doc__)
    parser.add_argument("folder", type=Path, help="holds the suites' clones")
    parser.add_argument("--write", action="store_true", help=f"writes the block of {PAGE}")
    parser.add_argument("--only", default="", help="names of programs, separated by spaces or commas")
    arguments = parser.parse_args()
    try:
        seconds, found = suites.read(arguments.folder.resolve())
        for suite in found:
            if suite.found_commit and not suite.found_commit.startswith(suite.commit):
                raise ToolError(f"{suite.folder} is at {suite.found_commit[:8]}; the table is of {suite.commit}")
        only = arguments.only.replace(",", " ").split()
        if unknown := set(only) - {program.name for suite in found for program in suite.programs}:
            raise ToolError(f"no program {', '.join(sorted(unknown))}")
        if only and arguments.write:
            raise ToolError("a count of some programs is not written: leave out ONLY")
        text = generated(counted(found, the_device(Path.cwd()), KEPT, seconds, only), found, seconds)
        if arguments.write:
            PAGE.write_text(pages.put(PAGE.read_text(), BLOCK, text, PAGE))
            print(PAGE)
        else:
            print(text, end="")
    except ToolError as error:
        print(f"public-programs: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
