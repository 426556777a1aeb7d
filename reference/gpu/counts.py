# SPDX-License-Identifier: MIT
"""What the CPU device counts of each op of a forward pass, as each step's own kernels serve it: what estimates.py turns
into times. Needs nothing but Python 3.10.

Which ops a pass calls, and with which sizes, the step's own forward says (build/tools/calls). An op is counted at these
sizes, of large launches some blocks (checker/simt/runtime/counting/sampled_traffic.h).
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from reference.gpu import sources
from reference.gpu.lesson_shapes import PROGRAM as LESSONS
from reference.gpu.lesson_shapes import Lesson, all_lessons, dims, implementing, is_branch
from reference.gpu.programs import with_json
from reference.gpu.rungs import LIMIT, one_timed
from reference.gpu.tools import ToolError, asked, last_line

CALLS = Path("build/tools/calls")
# The forward pass whose calls are timed and predicted one by one: the model, B and T.
PASS = ("max_T=1024 V=50257 L=12 NH=12 C=768", 4, 1024)


# ---- the calls of a pass ---------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Call:
    op: str
    sizes: tuple[tuple[str, int], ...]
    null: tuple[str, ...] = ()  # parameters

    @staticmethod
    def of(text: str) -> Call:
        """Of "matmul N=4096 C=768 OC=50257 out_stride=50304 -bias"."""
        op, *words = text.split()
        sizes = dims(" ".join(word for word in words if not word.startswith("-")))
        return Call(op, tuple(sizes.items()), tuple(word[1:] for word in words if word.startswith("-")))

    def __str__(self) -> str:
        words = [*(f"{name}={value}" for name, value in self.sizes), *(f"-{name}" for name in self.null)]
        return " ".join([self.op, *words])


# By the columns of a product's output over those of its input: which of the model's it is (lessons/gpt2/tensors.h).
PLACES = {3: "qkv", 1: "proj", 4: "fc", 1 / 4: "fcproj"}


def op_name(call: Call) -> str:
    """The op, and of a product its place in the model: "matmul qkv"."""
    d = dict(call.sizes)
    if "OC" not in d:
        return call.op
    place = "logits" if "bias" in call.null else PLACES.get(d["OC"] / d["C"], f"{d['C']} to {d['OC']}")
    return f"{call.op} {place}"


def item_name(files: tuple[str, ...], call: Call) -> str:
    """What a GPU's report calls the time of a call, as these files serve it."""
    return f"{' '.join(files)}: {call}"


# Ops that a step calls only if there are targets.
LOSS_OPS = ("softmax", "crossentropy", "loss")


@dataclass(frozen=True)
class Step:
    """A whole model on the device: the ops that its pass calls, how often, and the files that serve them."""

    lesson: str  # "16_fused_attention"
    calls: dict[Call, int]
    files: dict[
        str, tuple[str, ...]
    ]  # op to its own file, "16_fused_attention/attention", and those of ops that it calls
    precision: dict[str, str]  # of ops that are not fp32

    @property
    def number(self) -> str:
        return self.lesson.split("_")[0]


def forward_calls(root: Path, lesson: str, config: str, B: int, T: int) -> Counter[Call]:
    """Of a lesson's forward; config as "max_T=1024 V=50257 L=12 NH=12 C=768"."""
    return asked(
        root / CALLS / lesson,
        ["--config", config, "-B", str(B), "-T", str(T)],
        lambda calls: Counter(Call.of(call) for call in calls),
    )


def host_calls(root: Path, config: str, B: int, T: int) -> Counter[Call]:
    """Returns the calls of the newest forward of the host's track, which calls each op by itself."""
    lessons = all_lessons(root, root / LESSONS)
    writer = [one.name for one in lessons if one.track == "host" and "forward" in one.ops][-1]
    return forward_calls(root, writer, config, B, T)


def steps(root: Path, config: str, B: int, T: int) -> list[Step]:
    """Of the device's track, in order: lessons by which every op of the pass is a kernel."""
    lessons = all_lessons(root)
    passes: dict[str, Counter[Call]] = {}
    found = []
    for lesson in lessons:
        forward = implementing(root, lesson.name, "forward")
        if lesson.track != "device" or not forward or is_branch(root, lesson.name):
            continue
        writer = forward[0].parent.name
        if writer not in passes:
            passes[writer] = forward_calls(root, writer, config, B, T)
        files = {op: implementing(root, lesson.name, op) for op in sorted({call.op for call in passes[writer]})}
        if all(path.suffix == ".cu" for paths in files.values() for path in paths):
            named = {op: tuple(f"{path.parent.name}/{path.stem}" for path in paths) for op, paths in files.items()}
            found.append(Step(lesson.name, dict(passes[writer]), named, precisions(lessons, named)))
    return found


def precisions(lessons: list[Lesson], files: Mapping[str, tuple[str, ...]]) -> dict[str, str]:
    by_name = {lesson.name: lesson for lesson in lessons}
    said = {op: by_name[paths[0].split("/")[0]].precision.get(op) for op, paths in files.items()}
    return {op: precision for op, precision in said.items() if precision}


# ---- what is counted -------------------------------------------------------------------------------------------------


def program(folder: str, call: Call, files: tuple[str, ...], scratch: Path) -> list[str]:
    """The check program of the lesson that serves the op, with a shared object of the step that has all these files.
    `folder` is build, build/gpu or build/dry."""
    objects = sorted(Path(folder, "impl/solutions", newest(files)).glob("*.so"))
    if not objects:
        raise ToolError(
            f"{newest(files)} is not built in {folder}: make waterfall WRITE=1 builds it for the CPU device"
        )
    here = scratch / "00_call"
    here.mkdir(exist_ok=True)
    link = here / f"{call.op}.so"  # every object of a lesson has all ops of its step
    link.unlink(missing_ok=True)
    link.symlink_to(objects[0].resolve())
    check = f"{folder}/check/lesson{files[0].split('_')[0]}"
    return [check, "--subject", "solutions", "--impl-dir", str(here), "--reference-dir", str(here)]


def newest(files: tuple[str, ...]) -> str:
    """The lesson by which all of them are there."""
    return max(path.split("/")[0] for path in files)


def count(call: Call, files: tuple[str, ...], scratch: Path) -> list[dict]:
    """Its launches and calls of libraries on the CPU device, each as SIMT_TRAFFIC has it."""
    counted = scratch / "counts.json"
    counted.unlink(missing_ok=True)
    command = [*program("build", call, files, scratch), "--estimate", "--only", call.op, "--counts", str(counted)]
    _, done = with_json(command, LIMIT, {"SOL_CALL": str(call)})
    if not counted.exists():
        raise ToolError(f"{call} of {files[0]} was not counted: {last_line(done.output)}")
    return json.loads(counted.read_text())["launches"]


def time_at(
    folder: str,
    call: Call,
    files: tuple[str, ...],
    scratch: Path,
    limit: float = LIMIT,
    more: Mapping[str, str] | None = None,
) -> dict:
    """Returns the median of a call on a GPU, or in its rehearsal, on data that is not in L2. `more` is added to the
    environment."""
    command = program(folder, call, files, scratch)
    row, _ = one_timed(f"{call} of {files[0]}", command, call.op, limit, {"SOL_CALL": str(call)} | dict(more or {}))
    return {name: row[name] for name in ("median_ms", "p10_ms", "p90_ms")}


# ---- what is recorded ------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Counted:
    """A call as files serve it."""

    call: Call
    files: tuple[str, ...]
    sources: str  # a hash of what was counted
    launches: list[dict] = field(hash=False)

    @property
    def key(self) -> Key:
        return self.call, self.files


Key = tuple[Call, tuple[str, ...]]


def digest(root: Path, files: tuple[str, ...]) -> str:
    """Of the kernels and of the lessons' headers that they include."""
    found = sources.closure(root, [Path("solutions", f"{path}.cu") for path in files])
    return sources.digest_alone(root, [file for file in found if re.match(r"(solutions|lessons)/\d", str(file))])


def counted_anew(root: Path, call: Call, files: tuple[str, ...], scratch: Path) -> Counted:
    return Counted(call, files, digest(root, files), count(call, files, scratch))


def to_json(counted: Iterable[Counted]) -> str:
    """A line a launch, so that a change shows where it is."""
    blocks = []
    for one in counted:
        head = json.dumps({"call": str(one.call), "files": one.files, "sources": one.sources})
        lines = ",\n".join(f" {json.dumps(launch, separators=(',', ':'))}" for launch in one.launches)
        blocks.append(f'{head[:-1]}, "launches": [\n{lines}]}}')
    return "[\n" + ",\n".join(blocks) + "\n]\n"


def read(path: Path) -> dict[Key, Counted]:
    try:
        found = [
            Counted(Call.of(row["call"]), tuple(row["files"]), row["sources"], row["launches"])
            for row in json.loads(path.read_text())
        ]
    except (OSError, ValueError, LookupError, TypeError, AttributeError) as error:
        raise ToolError(f"{path} cannot be read ({error}): make waterfall WRITE=1 writes it anew") from None
    return {one.key: one for one in found}
