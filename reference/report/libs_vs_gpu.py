# SPDX-License-Identifier: MIT
"""Calls of cuBLAS and cuBLASLt by a card's libraries beside the CPU device's: results, statuses, how inputs are
rounded. The report's part `libs`. Needs nothing but Python 3.10."""

from __future__ import annotations

import difflib
from collections.abc import Callable
from pathlib import Path

from reference.gpu.programs import Programs
from reference.gpu.tools import ToolError, counted, last_line, run

CALLS = Path("checker/simt/tests/libraries")  # a program each, which prints a row for each call
SHOWN = 40  # lines of a table


def calls(root: Path) -> list[Path]:
    return [path.relative_to(root) for path in sorted((root / CALLS).glob("*.cu"))]


def rows_of(program: str, name: str, limit: float) -> list[str]:
    done = run([program, "--rows"], limit)
    if done.status not in (0, 1):  # 1: some are not what the CPU device should give
        raise ToolError(f"{program} ended with exit status {done.status}: {last_line(done.output)}")
    return [line for line in done.output.splitlines() if line and not line.startswith(f"{name}: ")]


def sides(programs: Programs, name: str) -> tuple[str, ...]:
    """Returns the CPU device's program and the card's."""
    return tuple(f"{folder}/simt/libraries/{name}" for folder in ("build/tests", programs.folder))


def compare(sides: tuple[str, ...], name: str, left: Callable[[], float]) -> dict:
    on_cpu, on_card = (rows_of(side, name, left()) for side in sides)
    differ = [line for line in difflib.unified_diff(on_cpu, on_card, n=0, lineterm="") if line[:2] not in ("--", "++")]
    differ = [line for line in differ if not line.startswith("@@")]
    return {"rows": len(on_cpu), "rows_on_card": len(on_card), "differ": differ}


def rows(data: dict) -> list[dict]:
    items = data["parts"].get("libs", {}).get("items", {})
    return [{"calls": name, **record["result"]} for name, record in items.items() if record["status"] == "ok"]


def table(found: list[dict]) -> str:
    lines = ["Calls of cuBLAS and cuBLASLt: - the CPU device's rows, + the card's, where they differ"]
    for row in found:
        fewer = sum(line.startswith("-") for line in row["differ"])
        lines.append(f"  {row['calls']}: {row['rows'] - fewer:,} of {counted(row['rows'], 'row')} the same")
        lines += [f"    {line}" for line in row["differ"][:SHOWN]]
        if len(row["differ"]) > SHOWN:
            lines.append(f"    {len(row['differ']) - SHOWN:,} lines more: in the file")
    return "\n".join(lines)
