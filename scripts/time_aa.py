# SPDX-License-Identifier: MIT
"""Judges solutions against themselves: a clock that favours neither side gives each op an interval that holds 100%.

    time_aa.py REPETITIONS CHECK...

CHECK is the command of a lesson's check, its program and options. Each repetition starts it anew, as places in memory
last as long as a process. Prints a row for each op and shape, and with VERBOSE=1 all shares. The exit status is 1 where
the interval of an op holds 100% in less than nine of ten repetitions: a right 95% interval misses it in one of twenty.
"""

import json
import os
import shlex
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import NamedTuple

LEAST = 0.9  # of the repetitions


class Share(NamedTuple):
    value: float
    low: float
    high: float

    def holds(self) -> bool:
        return self.low <= 1 <= self.high

    def __str__(self) -> str:
        return f"{self.value:5.1%} [{self.low:5.1%} {self.high:5.1%}]"


def shares_of(check: str) -> dict[tuple[str, str], Share]:
    """By op and judged shape, from one run of a lesson's check."""
    with tempfile.TemporaryDirectory() as folder:
        verdict = Path(folder) / "verdict.json"
        command = [*shlex.split(check), "--subject", "solutions", "--timing-only", "--json", str(verdict)]
        finished = subprocess.run(command, capture_output=True, text=True, check=False)
        if not verdict.exists():
            sys.exit(f"time-aa: {check} gave no verdict:\n{finished.stdout}{finished.stderr}")
        ops = json.loads(verdict.read_text())["ops"]
    shares = {}
    for op in ops:
        if "timing" not in op:
            sys.exit(f"time-aa: {check} did not time {op['op']}: {'; '.join(op.get('not_timed', [])) or op['verdict']}")
        for shape in op["timing"]["shapes"]:
            share = shape["of_speed_of"]["solution"]
            if shape["judged"]:
                shares[op["op"], shape["shape"]] = Share(share["share"], *share["interval"])
    return shares


def row(op: str, shape: str, shares: list[Share]) -> tuple[str, bool]:
    """A line of the table, and whether the clock was fair."""
    middle = Share(*(statistics.median(values) for values in zip(*shares, strict=True)))
    holds = sum(share.holds() for share in shares)
    fair = holds >= LEAST * len(shares)
    word = "ok" if fair else "UNFAIR"
    least, most = min(share.value for share in shares), max(share.value for share in shares)
    return f"{op:<15}{shape:<24}{middle}  {least:6.1%} {most:6.1%}  {holds:3} of {len(shares):<3} {word}", fair


def note(text: str) -> None:
    """What is being done, on a line of its own that the next one replaces."""
    if sys.stderr.isatty():
        print(f"\r\033[K{text}", end="", file=sys.stderr, flush=True)


def main() -> int:
    repetitions, checks = int(sys.argv[1]), sys.argv[2:]
    print(f"{'op':<15}{'shape':<24}share [interval]      least   most  100% held by", flush=True)
    all_fair = True
    for check in checks:
        measured: dict[tuple[str, str], list[Share]] = {}
        for i in range(repetitions):
            note(f"  {shlex.split(check)[0]}: {i + 1} of {repetitions} ")
            for key, share in shares_of(check).items():
                measured.setdefault(key, []).append(share)
        note("")
        for (op, shape), shares in measured.items():
            line, fair = row(op, shape, shares)
            all_fair = all_fair and fair
            print(line, flush=True)
            if os.environ.get("VERBOSE", "0") not in ("", "0"):
                print("".join(f"    {share}\n" for share in shares), end="", flush=True)
    print(
        "share and interval are the medians of the repetitions"
        + ("" if all_fair else "; UNFAIR: less than nine of ten intervals hold 100%, the clock favours one side")
    )
    return 0 if all_fair else 1


if __name__ == "__main__":
    sys.exit(main())
