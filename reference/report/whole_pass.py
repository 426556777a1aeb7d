# SPDX-License-Identifier: MIT
"""The whole forward pass beside PyTorch's, as the cards' reports have it, between two markers of the README.

`make report-pages` writes it.
"""

from __future__ import annotations

import sys
from pathlib import Path

from reference.gpu import beside_pytorch, reported
from reference.gpu.pages import put
from reference.gpu.tools import Parser, newest_run, read_reports, run_main, three_digits

PAGE = Path("README.md")
BLOCK = "whole forward"
PART = beside_pytorch.JUDGED
OTHER = "bf16"  # another precision than the pass has


def row_of(data: dict) -> dict | None:
    """Returns what beside_pytorch.whole_rows says of the forward pass at B=4; None if nothing was measured."""
    rows = [
        row for row in data.get("whole_forward", []) if row["task"] == "forward" and row["shape"].startswith("B=4 ")
    ]
    return rows[0] if rows and rows[0]["ways"] else None


def times_as_long(ratios: list[float]) -> str:
    """Returns "0.77 times" or "0.93 to 0.94 times"."""
    least, most = f"{min(ratios):.2f}", f"{max(ratios):.2f}"
    return f"{least} times" if least == most else f"{least} to {most} times"


def verdict(row: dict) -> str:
    """Says in words how long ours takes beside eager, beside compiled ways, and beside PyTorch's fastest one."""
    ratio = {way: of["ours_over_pytorch"] for way, of in row["ways"].items()}
    best = row["best"]
    said = []
    if "eager" in ratio and best != "eager":
        said.append(f"{times_as_long([ratio['eager']])} as long as PyTorch's eager pass")
    if compiled := [of for way, of in ratio.items() if way.startswith("compile") and way != best]:
        said.append(f"{times_as_long(compiled)} as long as `torch.compile`'s")
    fastest = f"{times_as_long([ratio[best]])} as long as its fastest way, {best.replace(', ', ' with ')}"
    faster = "that way is faster than ours" if ratio[best] > 1 else "ours is faster than all of them"
    return f"Step {row['step']}'s pass takes {', '.join([*said, f'and {fastest}' if said else fastest])}: **{faster}**."


def other_precision(data: dict, shape: str) -> list[dict]:
    """Returns PyTorch's own times of the pass in OTHER."""
    times = beside_pytorch.times_of(data, "baselines").values()
    return [time for time in times if (time.get("of"), time["shape"], time["precision"]) == ("forward", shape, OTHER)]


def table(data: dict, row: dict) -> list[str]:
    """Returns a row per way, the fastest first, and PyTorch's times in another precision, which are not compared."""
    lines = ["| PyTorch's way | its ms | ours, ms | ours over PyTorch's |", "|---|--:|--:|--:|"]
    for way, of in sorted(row["ways"].items(), key=lambda pair: pair[1]["median_ms"]):
        times = f"{three_digits(of['median_ms'])} | {three_digits(of['ours_ms'])}"
        lines.append(f"| {way} | {times} | {of['ours_over_pytorch']:.2f} |")
    for time in other_precision(data, row["shape"]):
        lines.append(f"| {time['mode']} in {OTHER} | {three_digits(time['median_ms'])} | not the same precision | |")
    return lines


def changes(root: Path, data: dict, step: str) -> list[str]:
    """Returns what has changed of the step's pass since it was timed, in a sentence."""
    commit = newest_run(data, PART)[1]["commit"]
    found = [one.what for one in reported.changes_since(root, commit) if step in one.steps]
    return [f"Timed at commit {commit[:7]}; since then {'; '.join(found)}."] if found else []


def section(root: Path, data: dict) -> str:
    """Returns what stands in the README of one card, or "" if its report has no whole pass."""
    row = row_of(data)
    if row is None:
        return ""
    run = newest_run(data, PART)[1]
    versions = f"driver {run['driver']}, CUDA {run['cuda']}, PyTorch {run['versions']['torch']}"
    size = " ".join(row["shape"].split()[:2])
    precision = row["precision"].upper()
    how = f"GPT-2 124M, {size}, tokens to the logits of all rows, {precision}, both sides pass by pass in turn: `make "
    how += f"gpu-report PART={PART}` on one {data['gpu']} ({versions})."
    left = [f"Not measured: {', '.join(row['not_measured'])}."] * bool(row["not_measured"])
    left += changes(root, data, row["step"])
    return "\n".join([f"{verdict(row)} {how}", "", *table(data, row), *([""] if left else []), *left, ""])


def page(root: Path) -> str:
    """Returns the README with what every card's report says; with an empty block while there is none."""
    found = [text for data in read_reports(root) if (text := section(root, data))]
    return put((root / PAGE).read_text(), BLOCK, "\n".join(found), PAGE)


def write_page(root: Path) -> Path:
    """Writes page(). Returns where it is."""
    (root / PAGE).write_text(page(root))
    return PAGE


def main(arguments: list[str] | None = None) -> int:
    Parser("whole_pass", __doc__).parse_args(arguments)
    return run_main("whole_pass", lambda: print(f"written to {write_page(Path())}") or 0)


if __name__ == "__main__":
    sys.exit(main())
