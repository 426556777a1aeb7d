# SPDX-License-Identifier: MIT
"""What lesson.toml says of a lesson: its ops and the shapes at which they are timed. Needs nothing but Python 3.10."""

from __future__ import annotations

import ast
import re
from dataclasses import dataclass, field
from pathlib import Path

# A rehearsal runs everything, on shapes that take no time.
TINY = {"B": 2, "T": 8, "C": 64, "NH": 4, "V": 101, "Vp": 128, "OC": 48, "N": 96, "L": 2}


class ShapeError(Exception):
    """One line for the user."""


@dataclass(frozen=True)
class Lesson:
    name: str  # "05_naive_forward"
    track: str = "host"
    ops: tuple[str, ...] = ()
    shapes: dict[str, tuple[str, ...]] = field(default_factory=dict)  # op to "B=4 T=1024 C=768", …
    requires: tuple[str, ...] = ()  # "sm_80", "sm_90a"
    rung: bool = False  # of the ladder of matmuls
    random_shapes: int = 0  # at which the rung is checked

    @property
    def number(self) -> str:
        return self.name.split("_")[0]

    def unmet(self, compute_capability: str | None) -> str | None:
        """What the lesson asks for and a card of this compute capability ("9.0") lacks. sm_90a is exactly 9.0."""
        if compute_capability is None:
            return None
        capability = int(compute_capability.replace(".", ""))
        for word in self.requires:
            need = re.fullmatch(r"sm_(\d+)(a?)", word)
            if need and (capability < int(need[1]) or (need[2] and capability != int(need[1]))):
                return word
        return None


def strings(text: str, where: str) -> tuple[str, ...]:
    """The strings of a TOML array, which is written as Python writes a list."""
    try:
        values = ast.literal_eval(text.strip())
        if not isinstance(values, list) or not all(isinstance(value, str) for value in values):
            raise ValueError
        return tuple(values)
    except (ValueError, SyntaxError):
        raise ShapeError(f"{where}: not a list of strings: {' '.join(text.split())}") from None


def read_lesson(folder: Path) -> Lesson:
    path = folder / "lesson.toml"
    try:
        text = path.read_text()
    except OSError as error:
        raise ShapeError(f"{path}: {error.strerror}") from None
    requires, ops, shapes, table, rung, random_shapes = (), [], {}, "", False, 0
    # A table's header; or a key with its value, which is an array, maybe on several lines, or the rest of the line.
    for entry in re.finditer(r"^\s*(?:\[([\w.]+)\]|(\w+)\s*=\s*(\[[^\]]*\]|.*))", text, re.MULTILINE):
        where = f"{path}:{text.count(chr(10), 0, entry.end()) + 1}"
        header, key, value = entry.groups()
        if header:
            table = header
            rung = rung or table == "ladder"
            ops += [table.removeprefix("target.")] if table.startswith("target.") else []
        elif table == "" and key == "requires":
            requires = strings(value, where)
        elif table.startswith("target.") and key == "shapes":
            shapes[table.removeprefix("target.")] = strings(value, where)
        elif table == "ladder" and key == "random_shapes":
            if not value.split("#")[0].strip().isdigit():
                raise ShapeError(f"{where}: random_shapes is {value}, no whole number")
            random_shapes = int(value.split("#")[0])
    # The solution's files say what else it has, and whether they are kernels.
    files = sorted((folder.parents[1] / "solutions" / folder.name).glob("*.c*"))
    track = "device" if any(file.suffix == ".cu" for file in files) else "host"
    ops += [file.stem for file in files if file.suffix in (".cpp", ".cu") and file.stem not in ops]
    return Lesson(folder.name, track, tuple(ops), shapes, requires, rung, random_shapes)


def all_lessons(root: Path) -> list[Lesson]:
    return [read_lesson(path.parent) for path in sorted(root.glob("lessons/[0-9][0-9]_*/lesson.toml"))]


def device_lessons(root: Path) -> list[Lesson]:
    """The lessons whose ops are kernels, in order."""
    return [lesson for lesson in all_lessons(root) if lesson.track == "device"]


def dims(shape: str) -> dict[str, int]:
    """{"B": 4, "T": 1024} of "B=4 T=1024"."""
    try:
        pairs = [word.split("=") for word in shape.split()]
        values = {name: int(value) for name, value in pairs}
    except ValueError:
        values = {}
    if not values or min(values.values()) < 1:
        raise ShapeError(f"{shape!r} is no shape such as 'B=4 T=1024 C=768'")
    return values


def tiny(shape: str) -> str:
    return " ".join(f"{name}={min(value, TINY.get(name, 8))}" for name, value in dims(shape).items())
