# SPDX-License-Identifier: MIT
"""What lesson.toml says of each lesson, asked of build/tools/lessons; shapes. Needs nothing but Python 3.10."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from pathlib import Path

from reference.gpu.tools import ToolError, asked

PROGRAM = Path("build/tools/lessons")
# A rehearsal runs everything, on shapes that take no time.
TINY = {"B": 2, "T": 8, "C": 64, "NH": 4, "V": 101, "Vp": 128, "OC": 48, "N": 96, "L": 2}


@dataclass(frozen=True)
class Lesson:
    name: str  # "05_naive_forward"
    track: str = "host"
    ops: tuple[str, ...] = ()
    shapes: dict[str, tuple[str, ...]] = field(default_factory=dict)  # op to "B=4 T=1024 C=768", … that are judged
    timed: dict[str, tuple[str, ...]] = field(default_factory=dict)  # and those that are reported only
    requires: tuple[str, ...] = ()  # "sm_80", "sm_90a"
    ladder: dict | None = None  # of a rung of the ladder: random_shapes, multiple_of
    precision: dict[str, str] = field(default_factory=dict)  # op to "tf32", …, where it is not fp32

    @property
    def number(self) -> str:
        return self.name.split("_")[0]

    def unmet(self, compute_capability: str | None) -> str | None:
        """What the lesson asks for and a card of this compute capability ("9.0") lacks. sm_90a is exactly 9.0."""
        if compute_capability is None:
            return None
        capability = int(compute_capability.replace(".", ""))
        for word in self.requires:
            need, exactly = int(word.removeprefix("sm_").rstrip("a")), word.endswith("a")
            if capability < need or (exactly and capability != need):
                return word
        return None


def all_lessons(root: Path, program: Path = PROGRAM) -> list[Lesson]:
    """Of the course in `root`, in order."""
    return asked(program, [str(root)], lambda rows: [lesson_of(row) for row in rows])


def lesson_of(row: dict) -> Lesson:
    shapes = {op["op"]: tuple(one["shape"] for one in op["shapes"] if one["judged"]) for op in row["ops"]}
    timed = {op["op"]: tuple(one["shape"] for one in op["shapes"]) for op in row["ops"]}
    return Lesson(
        name=row["name"],
        track=row["track"],
        ops=tuple(shapes),
        shapes={op: judged for op, judged in shapes.items() if judged},
        timed={op: all_ for op, all_ in timed.items() if all_},
        requires=tuple(row["requires"]),
        ladder=row["ladder"],
        precision=row["precision"],
    )


def step_precision(lessons: list[Lesson], step: str) -> str:
    """In which precision step "12" multiplies: the newest lesson up to it that names its forward pass's says so."""
    named = [x.precision["forward"] for x in lessons if x.number <= step and "forward" in x.precision]
    return named[-1] if named else "fp32"


def device_lessons(root: Path, program: Path = PROGRAM) -> list[Lesson]:
    """The lessons whose ops are kernels, in order."""
    return [lesson for lesson in all_lessons(root, program) if lesson.track == "device"]


def is_branch(root: Path, lesson: str) -> bool:
    """Returns True if the lesson's ops serve no step, by its lesson.toml's line branch_of = "NN_name"."""
    toml = root / "lessons" / lesson / "lesson.toml"
    return toml.exists() and re.search(r"^branch_of = ", toml.read_text(), re.MULTILINE) is not None


def implementing(root: Path, lesson: str, op: str) -> list[Path]:
    """The lesson's solution of the op, and those of the ops that it calls, each the newest by then that serves it."""
    files = [path for suffix in ("cpp", "cu") for path in root.glob(f"solutions/[0-9][0-9]_*/*.{suffix}")]
    branches = {name for name in {path.parent.name for path in files} if name != lesson and is_branch(root, name)}
    served = [path for path in files if path.parent.name <= lesson and path.parent.name not in branches]
    newest = {path.stem: path for path in sorted(served)}
    found: dict[str, Path] = {}
    left = [op]
    while left:
        if (name := left.pop()) in newest and name not in found:
            found[name] = newest[name].relative_to(root)
            called = set(re.findall(r"(\w+)\(", newest[name].read_text()))
            left += [other for other in newest if other in called]
    return list(found.values())


def dims(shape: str) -> dict[str, int]:
    """{"B": 4, "T": 1024} of "B=4 T=1024"."""
    try:
        pairs = [word.split("=") for word in shape.split()]
        values = {name: int(value) for name, value in pairs}
    except ValueError:
        values = {}
    if not values or min(values.values()) < 1:
        raise ToolError(f"{shape!r} is no shape such as 'B=4 T=1024 C=768'")
    return values


def tiny(shape: str) -> str:
    return " ".join(f"{name}={min(value, TINY.get(name, 8))}" for name, value in dims(shape).items())
