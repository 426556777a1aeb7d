# SPDX-License-Identifier: MIT
"""Runs every test suite and prints a line for each and a closing line for all: one after another, and where there is a
second processor Python's beside them, then what is left in twos. So the long ones come first.

The arguments are NAME=WHAT: a GoogleTest program; `python=DIR,DIR` for pytest; `ruff=DIR`. Counts come from the
runners' own XML under build/test-results; a runner that ends badly without writing any counts as one failure.

NAME=PROGRAM:INPUT,INPUT names everything that a program reads, files and folders. If all its tests passed and neither
it nor an input has changed since, the suite is not run again: its stored XML is counted, and its line says `unchanged`.
With SOL_FRESH=1 in the environment every suite runs.
"""

import hashlib
import os
import subprocess
import sys
import time
import xml.etree.ElementTree as ET
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

RESULTS = Path("build/test-results")
# So that a program which starts make does not join this make's job server.
ENVIRONMENT = {k: v for k, v in os.environ.items() if k not in ("MAKEFLAGS", "MFLAGS", "MAKELEVEL", "MAKEOVERRIDES")}


@dataclass
class Counts:
    passed: int = 0
    failed: int = 0
    skipped: int = 0

    def __add__(self, other: "Counts") -> "Counts":
        return Counts(self.passed + other.passed, self.failed + other.failed, self.skipped + other.skipped)

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
    return counts


def commands(name: str, what: str, xml: Path) -> list[list[str]]:
    """What to run for a suite; only the first writes XML."""
    if name == "python":
        directories = [d for d in what.split(",") if Path(d).is_dir()]
        return [[sys.executable, "-m", "pytest", "-q", f"--junitxml={xml}", *directories]]
    if name == "ruff":
        ruff = str(Path(sys.executable).parent / "ruff")
        return [[ruff, "check", "--quiet", what], [ruff, "format", "--check", "--quiet", what]]
    return [[what, "--gtest_brief=1", f"--gtest_output=xml:{xml}"]]


def key_of(program: str, inputs: list[str]) -> str:
    """Of the names and contents of the program and of all its inputs."""
    total = hashlib.sha256()
    for name in [program, *inputs]:
        path = Path(name)
        files = sorted(file for file in path.rglob("*") if file.is_file()) if path.is_dir() else [path]
        for file in files:
            content = hashlib.sha256(file.read_bytes()).hexdigest() if file.exists() else "is not there"
            total.update(f"{file}\0{content}\0".encode())
        total.update(f"{name}: {len(files)}\0".encode())
    return total.hexdigest()


def run_or_keep(name: str, what: str) -> tuple[Counts, bool]:
    """The counts, and whether they are an earlier run's. A skip may have reasons that are not among the inputs."""
    program, _, inputs = what.partition(":")
    stamp, xml = RESULTS / f"{name}.key", RESULTS / f"{name}.xml"
    key = key_of(program, inputs.split(",")) if inputs else ""
    if key and not os.environ.get("SOL_FRESH") and stamp.exists() and stamp.read_text() == key and xml.exists():
        return count(xml), True
    stamp.unlink(missing_ok=True)
    counts = run_suite(name, program)
    if key and counts.passed and not counts.failed and not counts.skipped:
        stamp.write_text(key)
    return counts, False


def run_suite(name: str, what: str) -> Counts:
    xml = RESULTS / f"{name}.xml"
    xml.unlink(missing_ok=True)
    counts = Counts()
    for command in commands(name, what, xml):
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
        if finished.returncode != 0 and found.failed == 0:
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
    counts, kept = run_or_keep(name, what)
    took = "unchanged" if kept else f"{time.monotonic() - begin:6.1f} s"
    print(f"  {name:<34} {counts!s:<38} {took}", flush=True)
    return counts


def main() -> int:
    RESULTS.mkdir(parents=True, exist_ok=True)
    suites = sorted(sys.argv[1:], key=lambda suite: not suite.startswith("python="))
    with ThreadPoolExecutor(min(2, len(os.sched_getaffinity(0)))) as pool:
        total = sum(pool.map(timed, suites), Counts())
    print(total)
    return 1 if total.failed or not total.passed else 0


if __name__ == "__main__":
    sys.exit(main())
