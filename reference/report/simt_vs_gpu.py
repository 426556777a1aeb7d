# SPDX-License-Identifier: MIT
"""The CPU device's verdicts beside a GPU's: the part `simt` of `make gpu-report`. Each kernel of the device's corpus is
compiled by nvcc. One that is right must end well on the GPU and under compute-sanitizer's four tools; one with a bug
runs under the tool that looks for its kind. Tools that disagree are a result and no failure: the table in
checker/simt/VS_GPU.md, which the part writes, says where and how.
"""

from __future__ import annotations

import re
import time
from collections import Counter, defaultdict
from dataclasses import dataclass
from pathlib import Path

from reference.gpu import tools
from reference.gpu.programs import error_line
from reference.gpu.tools import ToolError, newest_run, run

KERNELS = Path("checker/simt/tests/kernels")
TABLE = Path("checker/simt/VS_GPU.md")  # there once a report holds verdicts
HEAD = Path(__file__).parent / "VS_GPU.head.txt"
LIMIT = 60  # seconds for one program

# Which tool looks for a kind of bug; with a space, only there.
TOOL = {
    **dict.fromkeys(("out_of_bounds", "misaligned", "null_pointer", "host_pointer", "read_only"), "memcheck"),
    **dict.fromkeys(("use_after_free", "double_free", "invalid_free", "leak", "bad_copy", "bad_launch"), "memcheck"),
    "bad_capture": "memcheck",  # it names calls that return errors
    **dict.fromkeys(("assertion", "trap", "stack_overflow"), "memcheck"),
    **dict.fromkeys(("barrier", "collective"), "synccheck"),
    "race shared": "racecheck",
    "uninitialised": "initcheck",
}
NO_COUNTERPART = {
    "race global": "racecheck watches shared memory only",
    "uninitialised shared": "initcheck watches global memory only",
    "device_memory": "no tool watches the host's own accesses",
    "race streams": "no tool watches what two streams share",
    "race graph": "no tool watches what two nodes of a graph share",
    "race host": "no tool watches what streams and the host share",
    **dict.fromkeys(("spin", "time_limit"), "it would not end, and is not run"),
    "unchecked_error": "no tool watches whether a program asks for its errors",
}


@dataclass(frozen=True)
class Kernel:
    name: str  # buggy/null_pointer
    kind: str  # "race shared"; "" for a right one
    lines: tuple[str, ...]  # null_pointer.cu:9
    seen: bool  # by the CPU device

    @property
    def path(self) -> Path:
        return KERNELS / f"{self.name}.cu"

    def entry(self, table: dict[str, str]) -> str | None:
        return table.get(self.kind) or table.get(self.kind.split(" ")[0])


def read_kernel(path: Path) -> Kernel:
    """Of the first lines of a kernel's file. Raises ToolError where they name no verdict."""
    name = f"{path.parent.name}/{path.stem}"
    words: dict[str, list[str]] = {"verdict": [], "bug": []}
    for line in path.read_text().splitlines():
        if not line.startswith("//"):
            break
        if found := re.match(r"// (verdict|bug): (.*)", line):
            words[found[1]].append(re.sub(r" called at \S+", "", found[2]))  # a tool names the helper's line
    if not words["verdict"]:
        raise ToolError(f"{path} names no verdict")
    first, *places = words["verdict"][0].split(" ")
    space = [place for place in places if ":" not in place]
    lines = tuple(place for verdict in words["verdict"] for place in verdict.split(" ") if ":" in place)
    kind = " ".join([first, *space])
    if first == "correct":
        kind = words["bug"][0] if words["bug"] else ""
    return Kernel(name, kind, lines, first != "correct")


def corpus(root: Path) -> list[Kernel]:
    files = sorted((root / KERNELS).glob("*/*.cu"))
    if not files:
        raise ToolError(f"{KERNELS} holds no kernel: start it in the folder of the course")
    return [read_kernel(file) for file in files]


# ---- one kernel ------------------------------------------------------------------------------------------------------


def watch(tool: str, program: Path, limit: float) -> dict:
    """What a tool says of a program: how many errors, of which sort and where."""
    leaks = ("--leak-check", "full") if tool == "memcheck" else ()
    try:
        report = tools.sanitize(tool, [str(program.resolve())], program.with_suffix(f".{tool}.log"), limit, *leaks)
    except ToolError as error:
        return {"tool": tool, "why": str(error)}
    return {"tool": tool, "errors": report.errors, "warnings": report.warnings, "said": list(report.distinct)[:3]}


def compare(kernel: Kernel, program: Path, deadline: float) -> dict:
    """The record. Its `outcome` is both, cpu, gpu or neither: who finds the bug; of a right one agrees or differs; or
    none: no tool looks for it, or it gave no answer."""
    if reason := kernel.entry(NO_COUNTERPART):
        return {"outcome": "none", "why": reason}
    if not program.exists():
        log = Path(f"{program}.log")
        raise ToolError(f"does not compile: {error_line(log.read_text() if log.exists() else '')}")

    def left() -> float:
        if deadline <= time.monotonic():
            raise ToolError("no time was left for it; the same command goes on here")
        return min(LIMIT, deadline - time.monotonic())

    if kernel.kind:
        tool = kernel.entry(TOOL)
        if tool is None:
            raise ToolError(f"no tool is named for the kind {kernel.kind}")
        said = watch(tool, program, left())
        if "why" in said:
            return {"outcome": "none", **said}
        outcome = {(True, True): "both", (True, False): "cpu", (False, True): "gpu", (False, False): "neither"}
        same_line = any(re.search(rf"\b{re.escape(line)}\b", text) for line in kernel.lines for text in said["said"])
        return {"outcome": outcome[kernel.seen, said["errors"] > 0], **said, "same_line": same_line}
    done = run([str(program.resolve())], left())
    if done.status != 0:
        how = "did not end" if done.status is None else f"ended with exit status {done.status}"
        raise ToolError(f"it is right, and {how} on the GPU: {tools.last_line(done.output) or 'it said nothing'}")
    said = [watch(tool, program, left()) for tool in tools.SANITIZERS]
    clean = all(answer.get("errors") == 0 for answer in said)
    return {"outcome": "agrees" if clean else "differs", "tools": [s for s in said if s.get("errors") != 0]}


# ---- the table -------------------------------------------------------------------------------------------------------


def counted(rows: list[tuple[Kernel, dict]]) -> list[str]:
    by_kind: dict[str, Counter] = defaultdict(Counter)
    for kernel, record in rows:
        by_kind[kernel.kind][record["result"]["outcome"]] += 1
    right = by_kind.pop("", Counter())
    tool_of = {kernel.kind: kernel.entry(TOOL) or "" for kernel, _ in rows}
    lines = ["| kind | kernels | tool | both | only the CPU device | only the tool | neither | no counterpart |"]
    lines.append("|---|--:|---|--:|--:|--:|--:|--:|")
    for kind, count in sorted(by_kind.items()):
        outcomes = [count[outcome] for outcome in ("both", "cpu", "gpu", "neither", "none")]
        cells = [f"`{kind}`", count.total(), tool_of[kind], *outcomes]
        lines.append(f"| {' | '.join(str(cell) for cell in cells)} |")
    lines += ["", f"Of {right.total()} right kernels {right['agrees']} end well on the GPU without a word of any tool."]
    return lines


def difference(kernel: Kernel, result: dict) -> str | None:
    """A line of the list below the table; nothing where both say the same."""
    said = "; ".join(result.get("said", [])) or "nothing"
    if result["outcome"] in ("cpu", "gpu"):
        return f"{result['tool']} says: {said}"
    if result["outcome"] == "both" and kernel.lines and not result["same_line"]:
        return f"found by both, {result['tool']} names another place: {said}"
    if result["outcome"] == "differs":
        words = [f"{t['tool']}: {t.get('why') or '; '.join(t['said']) or t['errors']}" for t in result["tools"]]
        return f"right, but {', '.join(words)}"
    if result["outcome"] == "none":
        return " ".join(filter(None, (f"{result['tool']}:" if "tool" in result else "", result["why"])))
    return None


def measured(data: dict, kernels: list[Kernel]) -> list[tuple[Kernel, dict]]:
    items = data["parts"].get("simt", {}).get("items", {})
    return [(kernel, items[kernel.name]) for kernel in kernels if "result" in items.get(kernel.name, {})]


def table(data: dict, kernels: list[Kernel]) -> str:
    """What the report `data` of a card says of the corpus."""
    part, rows = data["parts"]["simt"], measured(data, kernels)
    when, made_by = newest_run(data, "simt")
    versions = f"driver {made_by['driver']}, CUDA {made_by['cuda']}"
    versions += f", compute-sanitizer {made_by['versions'].get('compute-sanitizer')}"
    lines = [f"{data['gpu']}, {versions}, {when[:10]}: {len(rows)} of {len(kernels)} kernels.", ""]
    lines += counted(rows)
    notes: dict[str, list[str]] = defaultdict(list)
    for kernel, record in rows:
        if note := difference(kernel, record["result"]):
            notes[note].append(kernel.name.partition("/")[2])
    for name, item in part["items"].items():
        if item["status"] == "failed":
            notes[f"not compared: {item['why']}"].append(name.partition("/")[2])
    lines += ["", "| kernels | where they differ, or have no counterpart |", "|---|---|"] if notes else []
    for note, names in sorted(notes.items(), key=lambda entry: entry[1]):
        lines.append(f"| {', '.join(f'`{name}`' for name in names)} | {note.replace('|', '/')} |")
    return "\n".join(lines) + "\n"


def write_table(data: dict, root: Path) -> Path | None:
    """The page, where the report of a card says anything of the corpus."""
    kernels = corpus(root)
    if not measured(data, kernels):
        return None
    (root / TABLE).write_text(f"{HEAD.read_text().rstrip()}\n\n{table(data, kernels)}")
    return TABLE
