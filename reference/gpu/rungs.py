# SPDX-License-Identifier: MIT
"""The matmuls of the course, a rung each: what the CPU device counts of it and how long it takes at a shape, by the
program of lessons/ladder. Needs nothing but Python 3.10."""

from __future__ import annotations

import math
import os
from dataclasses import dataclass, field
from pathlib import Path

from reference.gpu.lesson_shapes import all_lessons, dims
from reference.gpu.programs import with_json
from reference.gpu.tools import ToolError, last_line, read_reports

SQUARE = 256  # N = C = OC where it is counted, if it takes that: kSquare of lessons/gpt2/check/cases.h
CPU_SHAPES = ("N=256 C=768 OC=3072",)  # the first matmul of the MLP at B=4, T=64
# At B=4, T=1024 the model's own, and the square that write-ups take, in order of FLOPs.
GPU_SHAPES = (
    "N=4096 C=768 OC=768",
    "N=4096 C=768 OC=2304",
    "N=4096 C=768 OC=3072",
    "N=4096 C=3072 OC=768",
    "N=4096 C=4096 OC=4096",
    "N=4096 C=768 OC=50257",
)
REHEARSED = ("N=96 C=64 OC=48",)
LIMIT = 300  # seconds for one program


@dataclass(frozen=True)
class Rung:
    lesson: str  # "07_tiled_matmul"
    kernel: bool  # or plain C++ for the CPU
    random_shapes: int = 0  # at which `make test` checks it
    multiple_of: dict[str, int] = field(default_factory=dict)  # of "N", "C", "OC", "out_stride": what it takes
    precision: str = "fp32"  # precision of the factors of its products

    @property
    def number(self) -> str:
        return self.lesson.split("_")[0]

    @property
    def title(self) -> str:
        return self.lesson.split("_", 1)[1]

    @property
    def counted_at(self) -> dict[str, int]:
        """N, C and OC: SQUARE, or the next that it takes."""
        of = {size: self.multiple_of.get(size, 1) for size in ("N", "C", "OC", "out_stride")}
        of["OC"] = math.lcm(of["OC"], of.pop("out_stride"))
        return {size: math.ceil(SQUARE / one) * one for size, one in of.items()}

    @property
    def sizes_taken(self) -> dict[str, str]:
        """The environment that tells lessons/ladder."""
        return {"SOL_LADDER_MULTIPLE_OF": " ".join(f"{size}={of}" for size, of in self.multiple_of.items())}

    def takes(self, shape: str) -> bool:
        """Whether its matmul can be called at "N=4096 C=768 OC=768", whose rows of out are OC floats long."""
        d = dims(shape)
        d |= {"out_stride": d["OC"]}
        return all(d[size] % of == 0 for size, of in self.multiple_of.items())


def rungs(root: Path) -> list[Rung]:
    """The lessons whose lesson.toml has [ladder], in order."""
    lessons = [lesson for lesson in all_lessons(root) if lesson.ladder is not None]
    return [
        Rung(lesson.name, lesson.track == "device", **lesson.ladder, precision=lesson.precision.get("matmul", "fp32"))
        for lesson in lessons
    ]


def shapes(wanted: str | None, default: tuple[str, ...]) -> tuple[str, ...]:
    """Of "N=4096 C=768 OC=768; N=…", or the default ones; in order of FLOPs."""
    if not wanted:
        return default
    found = {}
    for text in filter(None, (part.strip() for part in wanted.split(";"))):
        try:
            d = dims(text)
        except ToolError:
            d = {}
        if set(d) != {"N", "C", "OC"}:
            raise ToolError(f"SHAPES={wanted}: {text!r} is no shape such as 'N=4096 C=768 OC=3072'; a ; sets two apart")
        found[" ".join(f"{name}={d[name]}" for name in ("N", "C", "OC"))] = d["N"] * d["C"] * d["OC"]
    return tuple(sorted(found, key=found.__getitem__))


def chosen_shapes(default: tuple[str, ...]) -> tuple[str, ...]:
    return shapes(os.environ.get("SHAPES"), default)


def program(folder: str, rung: Rung, check: str = "ladder") -> list[str]:
    """The command line of lessons/ladder with that lesson's matmul. `folder` is build, build/gpu or build/dry."""
    objects = f"{folder}/impl/solutions/{rung.lesson}"
    command = [f"{folder}/check/{check}", "--subject", "solutions", "--impl-dir", objects, "--reference-dir", objects]
    if rung.precision != "fp32":
        command += ["--lesson-dir", f"lessons/ladder/{rung.precision}"]
    return [*command, "--roof", "results/roof.json"] if folder == "build" else command


def one_timed(
    what: str, command: list[str], op: str, limit: float, environment: dict[str, str]
) -> tuple[dict, str | None]:
    """What a check program says of the one call of an op that the environment asks for: its times, and the library
    beside it. Raises ToolError, which says what was to be timed, where it was not or its result is wrong."""
    report, done = with_json([*command, "--only", op, "--timing-only"], limit, environment)
    (said,) = report["ops"]
    timing = said.get("timing")
    if not timing or not timing["shapes"]:
        raise ToolError(f"{what}: {'; '.join(said.get('not_timed', [])) or last_line(done.output)}")
    (row,) = timing["shapes"]
    if row["verdict"] in ("WRONG", "IMPOSSIBLE"):
        raise ToolError(f"{what}: {row['verdict']}: {row['findings'][0]['text']}")
    return row, timing.get("library")


def time_at(folder: str, rung: Rung, shape: str, limit: float = LIMIT) -> dict:
    """The times of one call: median_ms, flop_per_s, shares of the library's speed and of the roof in the same run. On
    the CPU it is processor time, so that what other programs take is not counted."""
    clock = {} if rung.kernel else {"SOL_CLOCK": "processor"}
    what = f"lesson {rung.number} at {shape}"
    row, library = one_timed(what, program(folder, rung), "matmul", limit, {"SOL_LADDER": shape, **clock})
    share = {name: one["share"] for name, one in row["of_speed_of"].items()}
    return {
        "median_ms": row["median_ms"],
        "flop_per_s": row["flop_per_s"],
        "library": library if "library" in share else None,
        "of_library": share.get("library"),
        "of_roof": share.get("arithmetic"),
    }


def count(rung: Rung) -> dict[str, int]:
    """What the CPU device counts of it at `counted_at`, by Nsight Compute's names (checker/simt/COUNTERS.md)."""
    command = [*program("build", rung, "ladder-device"), "--traffic", "--only", "matmul/square"]
    # Beside a folder of this name lies no older lesson, which would be counted too.
    command[command.index("--reference-dir") + 1] = "build/impl/solutions/00"
    report, _ = with_json(command, LIMIT, rung.sizes_taken)
    (op,) = report["ops"]
    (side,) = op["sides"]
    if side["failure"]:
        raise ToolError(f"lesson {rung.number} was not counted: {side['failure']}")
    return side["metrics"]


def gpu_reports(root: Path) -> dict[str, dict[str, dict[str, dict]]]:
    """Of each card's report that has the part `ladder`: its name, then by lesson number and shape what was timed."""
    found: dict[str, dict[str, dict[str, dict]]] = {}
    for data in read_reports(root):
        for name, record in data["parts"].get("ladder", {}).get("items", {}).items():
            if record["status"] == "ok":
                number, shape = name.removeprefix("lesson").split("/")
                found.setdefault(data["gpu"], {}).setdefault(number, {})[shape] = record["result"]
    return found
