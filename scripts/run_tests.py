# SPDX-License-Identifier: MIT
"""Runs every test suite and prints a line for each and a closing line for all: one after another, and where there is a
second processor Python's beside them, then what is left in twos. So the long ones come first.

The arguments are NAME=WHAT: a GoogleTest program; `python…=TESTS,TESTS`, files and folders, for pytest; `ruff=DIR`.
NAME=WHAT@FILTER takes some of the tests, as --gtest_filter (with `;` for `:`) or pytest's -k has it. Counts come from
the runners' own XML under build/test-results; a runner that ends badly without writing any counts as one failure, and
so does a filter that leaves nothing.

NAME=WHAT:INPUT,INPUT names everything else that the tests read, files and folders. If all of them passed and neither
they nor an input has changed since, the suite is not run again: its stored XML is counted, and its line says
`unchanged`. With SOL_FRESH=1 in the environment every suite runs.
"""

import hashlib
import os
import subprocess
import sys
import time
import xml.etree.ElementTree as ET
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cache
from pathlib import Path

RESULTS = Path("build/test-results")
# Without make's, so that a program which starts make does not join this make's job server or names its goal. And what
# Python's tests import is compiled once, not in each of their processes: .venv has come without it.
NOT_FOR_SUITES = ("MAKEFLAGS", "MFLAGS", "MAKELEVEL", "MAKEOVERRIDES", "SOL_ON_CPU", "PYTHONDONTWRITEBYTECODE")
ENVIRONMENT = {k: v for k, v in os.environ.items() if k not in NOT_FOR_SUITES}


@dataclass
class Counts:
    passed: int = 0
    failed: int = 0
    skipped: int = 0
    kept: int = 0  # of the passed: those that did not run again

    def __add__(self, other: "Counts") -> "Counts":
        return Counts(*(getattr(self, name) + getattr(other, name) for name in ("passed", "failed", "skipped", "kept")))

    def __str__(self) -> str:
        return f"{self.passed} passed, {self.failed} failed, {self.skipped} skipped"


def count(xml: Path) -> Counts:
    """The test cases of a JUnit file, GoogleTest's or pytest's."""
    counts = Counts()
    for case in ET.parse(xml).getroot().iter("testcase"):
        if case.find("failure") is not None or case.find("error") is not None:
            counts.failed += 1
        elif case.find("skipped") is not None or case.get("status") == "notrun":
            counts.skipped += 1
        else:
            counts.passed += 1
            # A runner that keeps verdicts itself says so of each.
            counts.kept += any(of.get("name") == "kept" for of in case.iter("property"))
    return counts


def commands(name: str, what: str, chosen: str, xml: Path) -> list[list[str]]:
    """What to run for a suite; only the first writes XML."""
    if name == "ruff":
        ruff = str(Path(sys.executable).parent / "ruff")
        return [[ruff, "check", "--quiet", what], [ruff, "format", "--check", "--quiet", what]]
    if name.startswith("python"):
        tests = [tests for tests in what.split(",") if Path(tests).exists()]
        return [[sys.executable, "-m", "pytest", "-q", f"--junitxml={xml}", *tests, "-k", chosen]]
    chosen = chosen.replace(";", ":") or "*"
    return [[what, "--gtest_brief=1", f"--gtest_output=xml:{xml}", f"--gtest_filter={chosen}"]]


# Of a file that does not change while the suites run: it is read once.
@cache
def digest_of(file: Path) -> str:
    return hashlib.sha256(file.read_bytes()).hexdigest() if file.exists() else "is not there"


def key_of(names: list[str]) -> str:
    """Of the names and contents of files, those in folders too."""
    total = hashlib.sha256()
    for name in names:
        path = Path(name)
        files = [path]
        if path.is_dir():
            files = sorted(file for file in path.rglob("*") if file.is_file() and file.parent.name != "__pycache__")
        for file in files:
            total.update(f"{file}\0{digest_of(file)}\0".encode())
        total.update(f"{name}: {len(files)}\0".encode())
    return total.hexdigest()


def run_or_keep(name: str, what: str) -> Counts:
    """A skip may have reasons that are not among the inputs: where there was one, the suite runs again."""
    tests, _, inputs = what.partition(":")
    program, _, chosen = tests.partition("@")
    stamp, xml = RESULTS / f"{name}.key", RESULTS / f"{name}.xml"
    key = f"{chosen} {key_of([*program.split(','), *inputs.split(',')])}" if inputs else ""
    if key and not os.environ.get("SOL_FRESH") and stamp.exists() and stamp.read_text() == key and xml.exists():
        passed = count(xml).passed
        return Counts(passed=passed, kept=passed)
    stamp.unlink(missing_ok=True)
    counts = run_suite(name, program, chosen)
    if key and counts.passed and not counts.failed and not counts.skipped:
        stamp.write_text(key)
    return counts


def run_suite(name: str, what: str, chosen: str) -> Counts:
    xml = RESULTS / f"{name}.xml"
    xml.unlink(missing_ok=True)
    counts = Counts()
    for command in commands(name, what, chosen, xml):
        finished = subprocess.run(
            command,
            env=ENVIRONMENT,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
            check=False,
        )
        try:
            found = count(xml)
        except (OSError, ET.ParseError):
            # No XML: a linter, which is one test a command, or a runner that crashed.
            found = Counts(passed=1) if name == "ruff" and finished.returncode == 0 else Counts(failed=1)
        if (finished.returncode != 0 or (chosen and found == Counts())) and found.failed == 0:
            found.failed = 1
        if found.failed:
            print(finished.stdout.rstrip())
            print(f"(that was: {' '.join(command)}; exit status {finished.returncode})")
        counts += found
    return counts


def timed(argument: str) -> Counts:
    name, _, what = argument.partition("=")
    if sys.stdout.isatty():
        print(f"  {name} …", end="\r", flush=True)
    begin = time.monotonic()
    counts = run_or_keep(name, what)
    took = f"{time.monotonic() - begin:6.1f} s"
    if counts.kept:
        took = "unchanged" if counts.kept == counts.passed else f"{took}, {counts.kept} unchanged"
    print(f"  {name:<34} {counts!s:<38} {took}", flush=True)
    return counts


def main() -> int:
    RESULTS.mkdir(parents=True, exist_ok=True)
    suites = sorted(sys.argv[1:], key=lambda suite: not suite.startswith("python"))
    with ThreadPoolExecutor(min(2, len(os.sched_getaffinity(0)))) as pool:
        total = sum(pool.map(timed, suites), Counts())
    if total.kept:
        print(f"{total.kept} of those that passed did not run again: nothing that they read has changed")
    print(total)
    return 1 if total.failed or not total.passed else 0


if __name__ == "__main__":
    sys.exit(main())
