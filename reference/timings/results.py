# SPDX-License-Identifier: MIT
"""What the learner's own runs left under results/. What is not there is a ToolError whose line says what to run."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path

from reference.gpu.tools import ToolError

ROOT = Path(__file__).resolve().parents[2]


def root() -> Path:
    """What holds results/: the repository, or the folder that RESULTS_ROOT names."""
    return Path(os.environ.get("RESULTS_ROOT") or ROOT)


def checks() -> list[dict]:
    """The lines that checks append, the oldest first. A line that is not a result is skipped, with a note."""
    try:
        lines = (root() / "results/results.jsonl").read_bytes().splitlines()
    except OSError:
        return []
    found, skipped = [], []
    for number, line in enumerate(lines, 1):
        try:
            row = json.loads(line)
        except ValueError:
            row = None
        if isinstance(row, dict):
            found.append(row)
        else:
            skipped.append(str(number))
    if skipped:
        print(
            f"note: results/results.jsonl: skipped, not a result of a check: line {', '.join(skipped)}", file=sys.stderr
        )
    return found


def newest(keep: str) -> dict[tuple[str, str, str], dict]:
    """By lesson, op and device the newest check that has the key `keep`: the learner's, else the solution's."""
    found: dict[tuple[str, str, str], dict] = {}
    for subject in ("solutions", "lessons"):
        for row in checks():
            if row.get("subject") == subject and row.get(keep) is not None:
                found[row["lesson"], row["op"], row["device"]] = row
    return dict(sorted(found.items()))


def whose(row: dict) -> str:
    """Of a check, as pictures name it."""
    return "yours" if row["subject"] == "lessons" else "solution"


def traffic(lesson: str) -> dict[str, list[dict]]:
    """By op who was counted: `make traffic-lessonNN`'s JSON. The first of an op is the learner's, or, with SOLUTION=1,
    the solution's; each has its `shape`, and `counted_at`."""
    path = root() / f"results/traffic-lesson{lesson}.json"
    command = f"make traffic-lesson{lesson} JSON=results/{path.name}"
    try:
        text, counted_at = path.read_text(), path.stat().st_mtime
    except OSError:
        raise ToolError(f"nothing is counted yet of your lesson {lesson}; in a terminal: {command}") from None
    try:
        ops = json.loads(text)["ops"]
        return {
            one["op"]: [side | {"shape": one["shape"], "counted_at": counted_at} for side in one["sides"]]
            for one in ops
        }
    except (ValueError, KeyError, TypeError):
        raise ToolError(f"{path} is not what the command writes; again: {command}") from None


def of_op(lesson: str, op: str) -> list[dict]:
    """The same of one op. The learner's has run to its end and touched memory."""
    path = f"results/traffic-lesson{lesson}.json"
    sides = traffic(lesson).get(op)
    if not sides:
        raise ToolError(f"{path} has no {op}; in a terminal: make traffic-lesson{lesson} JSON={path}")
    if sides[0]["failure"] or not sides[0]["lines"]:
        raise ToolError(
            f"your {op} of lesson {lesson} is not written yet or ends badly; first: make check-lesson{lesson}"
        )
    return [side for side in sides if not side["failure"]]
