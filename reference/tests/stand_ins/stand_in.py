#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Plays nvidia-smi, compute-sanitizer and Nsight Compute in a rehearsal: takes their command lines, runs the program
that they would run, and prints a sample written by hand in their format (reference/tests/data). Nothing that it says is
a measurement."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import time
from pathlib import Path

DATA = Path(__file__).parents[1] / "data"
CARD = {"name": "rehearsal without a GPU", "driver_version": "0", "compute_cap": "9.0"}
CLOCKS = ("clocks.sm", "clocks.mem", "power.draw", "temperature.gpu", "clocks_event_reasons.active")


def value_of(arguments: list[str], name: str) -> str | None:
    return arguments[arguments.index(name) + 1] if name in arguments else None


def program_of(arguments: list[str]) -> list[str]:
    """What follows the tool's own options: the first word that is a file and no option's value, with its arguments."""
    with_value = {"--tool", "--target-processes", "--check-exit-code", "--show-backtrace"}
    with_value |= {"--log-file", "--clock-control", "--metrics", "--kernel-id", "--set", "--import-source", "-o"}
    with_value |= {"--page", "--print-units", "--leak-check"}
    i = 0
    while i < len(arguments) and arguments[i].startswith("-"):
        i += 2 if arguments[i] in with_value else 1
    return arguments[i:]


def write(log: str | None, text: str) -> None:
    if log is None:
        print(text, end="")
    else:
        Path(log).write_text(text)


def nvidia_smi(arguments: list[str]) -> int:
    fields = next(word for word in arguments if word.startswith("--query-gpu=")).partition("=")[2].split(",")
    if not set(fields) & set(CLOCKS):
        print(", ".join(CARD.get(field, "[N/A]") for field in fields))
        return 0
    lines = (DATA / "nvidia-smi.csv").read_text().splitlines()
    period = value_of(arguments, "-lms")
    while period:
        for line in lines:
            print(line, flush=True)
            time.sleep(int(period) / 1e3)
    print(lines[0])
    return 0


def sanitizer(arguments: list[str]) -> int:
    tool = value_of(arguments, "--tool")
    status = subprocess.run(program_of(arguments), check=False).returncode
    sample = DATA / "compute-sanitizer-2025.3" / f"clean{'_racecheck' * (tool == 'racecheck')}.log"
    write(value_of(arguments, "--log-file"), sample.read_text())
    return status


def counted_launches(program: list[str]) -> list[tuple[str, list[int], list[int]]]:
    """A program's launches with block and grid, as the CPU device has them: the rehearsal's are the same."""
    item = "/".join(filter(None, (Path(program[0]).name, value_of(program, "--only"))))  # lesson07/matmul/odd, rules
    rows = json.loads(Path("checker/simt/vs_ncu.json").read_text())["launches"]
    return [(row["kernel"], row["block"], row["grid"]) for row in rows if row["item"] == item]


def ncu(arguments: list[str]) -> int:
    if report := value_of(arguments, "--import"):
        names = Path(report).read_text().split()
    else:
        kernels = value_of(arguments, "--kernel-id")
        names = re.search(r"\((.*)\)", kernels)[1].split("|") if kernels else []
        status = subprocess.run(program_of(arguments), check=False).returncode
        if status not in (0, 1):  # 1 is a verdict; more, and the program never came to its kernels
            print(f"==ERROR== The application returned an error code ({status}).")
            return 1
        if report := value_of(arguments, "-o"):
            Path(report).write_text("\n".join(names))
            return 0
    counted = "memory_l1_wavefronts_shared" in (value_of(arguments, "--metrics") or "")
    *head, row = (DATA / "ncu-2025.3" / f"{'counted' if counted else 'raw'}.csv").read_text().splitlines()
    launches = counted_launches(program_of(arguments)) if counted else []
    rows = []
    for i, (name, *extents) in enumerate(launches or [(name,) for name in names]):
        text = re.sub(r'^"0"', f'"{i}"', re.sub(r"\w+_forward_kernel", name, row))
        for sample, extent in zip(("(32, 32, 1)", "(8, 8, 1)"), extents, strict=False):
            text = text.replace(sample, str(tuple(extent)))
        rows.append(text)
    write(value_of(arguments, "--log-file"), "\n".join([*head, *rows, ""]))
    return 0


def main() -> int:
    tool, arguments = Path(sys.argv[0]).name, sys.argv[1:]
    if arguments == ["--version"]:
        print("Version 0.0.0 (a stand-in)")
        return 0
    return {"nvidia-smi": nvidia_smi, "compute-sanitizer": sanitizer, "ncu": ncu}[tool](arguments)


if __name__ == "__main__":
    sys.exit(main())
