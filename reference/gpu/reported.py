# SPDX-License-Identifier: MIT
"""Times of the course's own calls and forward passes in a card's report, by the names that all its readers share. Needs
nothing but Python 3.10."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from reference.gpu import beside_pytorch, counts, sources
from reference.gpu.counts import Call, Key
from reference.gpu.lesson_shapes import dims, implementing
from reference.gpu.tools import ToolError, is_measured, newest_run

PASSES = ("forward", "predict")  # ops that are a whole pass
NULL = re.compile(r'(\w+)(?:"\))?\.time_with_null\("(\w+)"\)')  # `matmul.…`, `lesson.op("matmul").…`


# ---- which call was timed --------------------------------------------------------------------------------------------


def null_parameters(root: Path, number: str) -> dict[str, tuple[str, ...]]:
    """Returns by op the parameters that are null pointers where the lesson's check times it: {"matmul": ("bias",)}.
    Raises ToolError if check.cpp says so of something that is no op."""
    found: dict[str, tuple[str, ...]] = {}
    for path in sorted(root.glob(f"lessons/{number}_*/check.cpp")):
        text = path.read_text()
        pairs = NULL.findall(text)
        no_ops = [op for op, _ in pairs if not implementing(root, path.parent.name, op)]
        if no_ops or len(pairs) != text.count("time_with_null("):
            raise ToolError(f'{path.relative_to(root)}: write lesson.op("matmul").time_with_null("bias")')
        for op, parameter in pairs:
            found[op] = (*found.get(op, ()), parameter)
    return found


def suffix(null: tuple[str, ...]) -> str:
    """Returns " -bias" for ("bias",), as a call is written."""
    return "".join(f" -{parameter}" for parameter in null)


def own_files(root: Path, lesson: str, op: str) -> tuple[str, ...]:
    """Returns the lesson's file of the op and those of the ops that it calls: "05_naive_forward/attention", …"""
    return tuple(f"{path.parent.name}/{path.stem}" for path in implementing(root, lesson, op))


def call_at(op: str, shape: str, null: tuple[str, ...] = ()) -> Call:
    """Returns the call that a check program times at "N=4096 C=768 OC=768"."""
    stride = f" out_stride={dims(shape)['OC']}" if op == "matmul" else ""
    if op == "linear_gelu" and dims(shape).get("outputs") == 1:
        null = (*null, "pre_gelu")
    return Call.of(f"{op} {shape}{stride}{suffix(null)}")


# ---- what a report holds ---------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Result:
    """An item of a report that was measured."""

    item: str  # "lesson09/matmul"
    values: dict
    date: str  # "2026-12-01T12:00:00Z"


def results_of(data: dict, part: str) -> Iterator[Result]:
    """Yields each item of a part that was measured."""
    for item, record in data["parts"].get(part, {}).get("items", {}).items():
        if is_measured(record):
            yield Result(item, record["result"], record.get("measured_at", ""))


@dataclass(frozen=True)
class TimedOp:
    """A time of a lesson's op at a shape, of the part `timings` or `ladder`."""

    item: str  # "lesson11/matmul"
    number: str  # "11"
    op: str
    shape: str
    null: tuple[str, ...]
    ms: float
    date: str

    def key(self, root: Path) -> Key | None:
        """Returns the call and the files that serve it; None for a whole pass and an op that has left its lesson."""
        found = list(root.glob(f"solutions/{self.number}_*/{self.op}.c*"))
        if self.op in PASSES or not found:
            return None
        return call_at(self.op, self.shape, self.null), own_files(root, found[0].parent.name, self.op)


def timed_ops(root: Path, data: dict) -> Iterator[TimedOp]:
    """Yields what the part `timings` holds."""
    for result in results_of(data, "timings"):
        number, op = result.item.removeprefix("lesson").split("/")
        null = null_parameters(root, number).get(op, ())
        for row in result.values["shapes"]:
            yield TimedOp(result.item, number, op, row["shape"], null, row["median_ms"], result.date)


def ladder_ops(data: dict) -> Iterator[TimedOp]:
    """Yields what the part `ladder` holds. There every parameter is given."""
    for result in results_of(data, "ladder"):
        number, shape = result.item.removeprefix("lesson").split("/")
        yield TimedOp(result.item, number, "matmul", shape, (), result.values["median_ms"], result.date)


def call_seconds(root: Path, data: dict) -> dict[str, float]:
    """Returns seconds by counts.item_name. A call that the part `waterfall` lacks has the time of `timings`, else of
    `ladder`, if the same files were timed with the same sizes and null parameters there."""
    found = {result.item: result.values["median_ms"] / 1e3 for result in results_of(data, "waterfall")}
    for timed in (*timed_ops(root, data), *ladder_ops(data)):
        if key := timed.key(root):
            call, files = key
            found.setdefault(counts.item_name(files, call), timed.ms / 1e3)
    return found


@dataclass(frozen=True)
class Since:
    """An entry of FORMS: a change of some steps' forward passes since a commit's were timed."""

    commit: str  # its first digits
    steps: tuple[str, ...]
    what: str
    another: bool  # the pass makes other calls by now, so that its time is not shown


FORMS = Path("reference/timings/forms.toml")


def changes_since(root: Path, commit: str) -> list[Since]:
    """Returns what FORMS says of a report of that commit."""
    if not (root / FORMS).exists():
        return []
    rows = tomllib.loads((root / FORMS).read_text()).get("since", [])
    found = [Since(row["commit"], tuple(row["steps"]), row["what"], row["another"]) for row in rows]
    return [one for one in found if commit.startswith(one.commit)]


def form_of(root: Path, lesson: str) -> str:
    """Returns a digest of the files that the lesson's forward pass is made of, without their comments."""
    found = sources.closure(root, implementing(root, lesson, "forward"))
    return sources.digest_alone(root, [file for file in found if re.match(r"(solutions|lessons)/\d", str(file))])


@dataclass(frozen=True)
class WholePass:
    """Seconds of a forward pass that was timed as one; None if it was not."""

    with_loss: float | None = None
    logits: float | None = None  # without softmax and loss
    earlier: str = ""  # the change of its files since then, if there is one


NOT_TIMED = WholePass()


def pass_seconds(root: Path, data: dict, shape: str) -> dict[str, WholePass]:
    """Returns by step's number what was timed of its pass at "B=4 T=1024 C=768 NH=12 L=12". A step that makes other
    calls by now has none."""
    logits, with_loss = {}, {}
    since: list[Since] = []
    for part in (*beside_pytorch.PARTS, "timings"):
        since += changes_since(root, newest_run(data, part)[1].get("commit", ""))
    for part in beside_pytorch.PARTS:
        for result in results_of(data, part):
            step = result.values.get("step")
            # Ours is timed beside each of PyTorch's ways; one of these times is enough.
            if step and result.item == beside_pytorch.item_name(step, shape, "eager"):
                logits[step] = result.values["forward"]["ours"]["median_ms"] / 1e3
    for result in results_of(data, "timings"):
        step, _, op = result.item.removeprefix("lesson").partition("/")
        for row in result.values["shapes"]:
            if (op, row["shape"]) == ("forward", shape):
                with_loss[step] = row["median_ms"] / 1e3
    gone = {step for one in since if one.another for step in one.steps}
    earlier = {step: one.what for one in since for step in one.steps}
    return {
        step: WholePass(with_loss.get(step), logits.get(step), earlier.get(step, ""))
        for step in sorted(logits.keys() | with_loss.keys())
        if step not in gone
    }
