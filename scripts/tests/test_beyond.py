# SPDX-License-Identifier: MIT
"""Each size limit of a solution has a case just beyond it: [beyond] of lesson.toml against constants and cases."""

import json
import re
import subprocess
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
FOLDERS = sorted(file.parent for file in (ROOT / "solutions").glob("[0-9]*/wrong.toml"))
LESSONS = [folder.name for folder in FOLDERS if any(folder.glob("*.cu"))]
# kPad: unused floats. kLargest: a longer head is refused.
NO_SIZES = {"kPad", "kLargest"}


def text_of(op_file: Path) -> str:
    """Returns a kernel file and the lessons' headers that it includes, without comments."""
    text = op_file.read_text()
    for header in re.findall(r'#include "((?:lessons/)?\d\d_\w+/\w+\.cuh)"', text):
        path = ROOT / header if header.startswith("lessons/") else ROOT / "solutions" / header
        text += path.read_text()
    return re.sub(r"//.*", "", text)


def constants(text: str) -> dict[str, int]:
    """Returns the integers that a file names, at the left margin, by plain numbers."""
    declared = re.findall(r"^constexpr (?:unsigned )?int ([^;]*);", text, re.MULTILINE)
    return {name: int(value) for all_of in declared for name, value in re.findall(r"(k\w+) = (\d+)(?=,|$)", all_of)}


def template_numbers(text: str) -> set[int]:
    """Returns the numbers above 1 in the template arguments of launches: launch<128, 1, 25>."""
    arguments = " ".join(re.findall(r"\blaunch<([^<>]*)>", text))
    return {int(number) for number in re.findall(r"\b\d+\b", arguments)} - {1}


def sizes(shape: str) -> dict[str, int]:
    return {name: int(value) for name, value in re.findall(r"(\w+)=(\d+)(?=\s|$)", shape)}


def value(expression: str, names: dict[str, int]) -> float | None:
    """Returns a product or quotient of numbers and names, or None if a name is not known."""
    try:
        return eval(expression, {"__builtins__": {}}, names)
    except NameError:
        return None


def missing(wanted: list[str], op: str, text: str, shapes: list[str]) -> list[str]:
    """Returns what is wrong: limits without a case, and constants without a limit."""
    known = constants(text)
    found = [
        f"no expression names {name}"
        for name in known
        if name not in NO_SIZES and not re.search(rf"\b{name}\b", " ".join(wanted))
    ]
    numbers = template_numbers(text) - {known.get(name) for name in NO_SIZES}
    found += [
        f"no expression has the {number} of a launch"
        for number in sorted(numbers)
        if not re.search(rf"\b{number}\b", " ".join(wanted))
    ]
    for limit in wanted:
        size, most = limit.split(" > ")
        end = value(most, known)
        assert end is not None, f"{op}: {limit} names what is no constant of its files"
        at = []
        for shape in shapes:
            dims = sizes(shape)
            if {"B", "T", "C"} <= dims.keys() and "NH" not in dims and "N" not in dims:
                dims["N"] = dims["B"] * dims["T"] * (1 if op == "matmul" else dims["C"])
            at.append(value(size, dims))
        if not any(one is not None and end < one <= end * 9 / 8 for one in at):
            found.append(f"no case has {limit}, {end:g}, by at most an eighth")
    return found


@pytest.mark.parametrize("lesson", LESSONS)
def test_a_case_lies_just_beyond_each_limit(lesson: str):
    told = tomllib.loads((ROOT / "lessons" / lesson / "lesson.toml").read_text()).get("beyond", {})
    program = [f"build/check/lesson{lesson[:2]}", "--describe"]
    ops = json.loads(subprocess.run(program, cwd=ROOT, check=True, capture_output=True).stdout)["ops"]
    assert told.keys() <= {op["op"] for op in ops}
    found = {}
    for op in ops:
        file = ROOT / "solutions" / lesson / f"{op['op']}.cu"
        if file.exists():
            shapes = [case["shape"] for case in op["cases"]]
            found[op["op"]] = missing(told.get(op["op"], []), op["op"], text_of(file), shapes)
    assert found == {op: [] for op in found}


KERNEL = "constexpr int kRows = 8, kPad = 4;  // rows\nconstexpr int kAll = 2 * kRows;\nlaunch<6, 1>(x);\n"


@pytest.mark.parametrize(
    ("limits", "shapes", "found"),
    [
        (["B * T > kRows", "C > 6 * 32"], ["B=3 T=3 C=193"], []),
        (["B * T > kRows", "C > 6 * 32"], ["B=3 T=3 C=300"], ["no case has C > 6 * 32, 192, by at most an eighth"]),
        (["B * T > kRows", "C > 6 * 32"], ["B=2 T=4 C=193"], ["no case has B * T > kRows, 8, by at most an eighth"]),
        (["C > 6 * 32"], ["C=193 and others in turn"], ["no expression names kRows"]),
        (["N > kRows"], ["N=9"], ["no expression has the 6 of a launch"]),
    ],
)
def test_what_no_case_reaches_is_named(limits: list[str], shapes: list[str], found: list[str]):
    assert missing(limits, "layernorm", re.sub(r"//.*", "", KERNEL), shapes) == found


def test_a_name_that_is_no_constant_is_refused():
    with pytest.raises(AssertionError, match="names what is no constant"):
        missing(["N > kColumns"], "gelu", "", ["N=3"])
