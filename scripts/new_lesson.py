# SPDX-License-Identifier: MIT
"""new_lesson.py NAME OP…: lays out the next lesson. `make new-lesson NAME=my_softmax OPS=softmax` runs it.

An op of ops.h keeps its signature; its solution begins as a copy of the newest file that serves it. An op that ops.h
does not have gets its declaration there, its line in ops.def, lessons/gpt2/check/OP.cpp and reference/ops/OP.py, all of
an op that copies N floats, or N __nv_bfloat16 if its name ends with _bf16: change them into yours. With
INOUT='OP.TENSOR …' the op adds them to those tensors, which it reads and updates. Nothing that exists is overwritten.
"""

from __future__ import annotations

import argparse
import json
import re
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from string import Template

OPS_H = Path("lessons/gpt2/ops.h")
OPS_DEF = Path("lessons/gpt2/ops.def")
TEMPLATES = Path(__file__).parent / "lesson"
TAKEN = ("inp", "ctx", "i", "results", "rows")  # names in the files of a new op
ESTIMATE = """
<!-- estimate -->
<!-- end estimate -->
"""


class Refused(Exception):
    """One line: what is wrong, and the mend."""


def lessons() -> list[str]:
    return sorted(path.name for path in Path("lessons").glob("[0-9][0-9]_*"))


def declaration(op: str) -> str | None:
    """The declaration of an op in ops.h, with its comments and without the semicolon."""
    match = re.search(rf"^void {op}\([^;]*\)(?=;)", OPS_H.read_text(), re.MULTILINE)
    return match and match[0]


def is_branch(lesson: str) -> bool:
    """Returns True if the lesson's ops serve no step, by its lesson.toml's line branch_of = "NN_name"."""
    toml = Path("lessons", lesson, "lesson.toml")
    return toml.exists() and re.search(r"^branch_of = ", toml.read_text(), re.MULTILINE) is not None


def newest_solution(op: str, extension: str) -> Path | None:
    files = sorted(Path("solutions").glob(f"[0-9][0-9]_*/{op}{extension}"))
    served = [file for file in files if not is_branch(file.parent.name)]
    return served[-1] if served else None


def toml_value(value: object) -> str:
    if isinstance(value, dict):
        return f"{{ {', '.join(f'{key} = {toml_value(one)}' for key, one in value.items())} }}"
    return json.dumps(value)


def toml_of(op: dict) -> str:
    """The table [target.OP] that build/tools/lessons describes."""
    shapes = {"shapes": [], "reported": []}
    for row in op["shapes"]:
        shapes["shapes" if row["judged"] else "reported"].append(row["shape"])
    values = op["target"] | {key: found for key, found in shapes.items() if found}
    lines = [f"{key} = {toml_value(value)}\n" for key, value in values.items()]
    return f"[target.{op['op']}]\n{''.join(lines)}"


def newest_target(op: str, track: str) -> str | None:
    """The table [target.OP] of the newest lesson that has one on the track."""
    done = subprocess.run(["build/tools/lessons"], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise Refused(done.stderr.strip())
    for lesson in reversed(json.loads(done.stdout)):
        for row in lesson["ops"]:
            if lesson["track"] == track and not lesson["branch_of"] and row["op"] == op and row["target"]:
                return toml_of(row)
    return None


# ---- what is laid out ------------------------------------------------------------------------------------------------


def filled(template: str, **values: str) -> str:
    """A file of scripts/lesson with its ${names} filled in."""
    return Template((TEMPLATES / f"{template}.txt").read_text()).substitute(values)


def tuple_of(words: list[str]) -> str:
    """The words as a tuple in Python."""
    return f"({', '.join(words)}{',' if len(words) == 1 else ''})"


@dataclass(frozen=True)
class Element:
    """The elements of an op's tensors, as its files name them."""

    type: str  # in C++
    view: str  # the member of checker::Buffers
    bytes: str  # in lessons/gpt2/check/op_spec.h
    input: str
    output: str
    inout: str
    sum: str
    include: str = ""


FLOAT = Element(
    "float",
    "f32",
    "kFloat",
    input='{"inp", "N/i", normal()}',
    output='{"out", "N/i"}',
    inout='{{.name = "{t}", .dims = "N/i", .before = normal()}}',
    sum="{t}[i] += inp[i]",
)
IN_BF16 = ".element = checker::Element::bf16"
DRAWN_IN_BF16 = "normal(1.0F, checker::Element::bf16)"
BF16 = Element(
    "__nv_bfloat16",
    "bf16",
    "kBf16",
    input=f'{{.name = "inp", .dims = "N/i", .draw = {DRAWN_IN_BF16}, {IN_BF16}}}',
    output=f'{{.name = "out", .dims = "N/i", .precision = "bf16", {IN_BF16}}}',
    inout=f'{{{{.name = "{{t}}", .dims = "N/i", .precision = "bf16", {IN_BF16}, .before = {DRAWN_IN_BF16}}}}}',
    sum="{t}[i] = __float2bfloat16(__bfloat162float({t}[i]) + __bfloat162float(inp[i]))",
    include="#include <cuda_bf16.h>\n\n",
)


def is_bf16(op: str) -> bool:
    return op.endswith("_bf16")


def values_of(op: str, inouts: list[str]) -> dict[str, str]:
    """Returns what an op's templates take: it does `out[i] = inp[i]`, or `t[i] += inp[i]` for each in-out tensor."""
    element = BF16 if is_bf16(op) else FLOAT
    outputs, arguments = inouts or ["out"], [*inouts, "inp"]
    formulas = [f"{t}[i] {'+=' if inouts else '='} inp[i]" for t in outputs]
    assignments = [element.sum.format(t=t) for t in inouts] or formulas
    declared = [f"{element.type}* {t}," for t in outputs] + [f"const {element.type}* inp,"]
    width = max(map(len, declared))
    shapes = ["(N), in-out" if inouts else "(N)"] * len(outputs) + ["(N)"]
    statements = "\n".join(f"        {assignment};" for assignment in assignments)
    pad = " " * len(op)
    specs = [element.inout.format(t=t) for t in inouts] or [element.output]
    taken = tuple_of([f'"{t}"' for t in arguments])
    wrong = [
        f'        "{t}_overwritten": Suspect("{t} was overwritten, not added to", '
        f'lambda {", ".join(arguments)}: {{"{t}": inp}}),'
        for t in inouts
    ] or ['        "negated": Suspect("the sign is the other one", lambda inp: -inp),']
    return {
        "op": op,
        "pad": pad,
        "formula": ", ".join(formulas),
        "formulas": "\n".join(f"// {formula}" for formula in formulas),
        "declared": f"\n     {pad} ".join(
            f"{one:<{width}}  // {shape}" for one, shape in zip(declared, shapes, strict=True)
        ),
        "left": ", ".join(f"{t}[i]" for t in outputs),
        "statements": statements,
        "body": f" {formulas[0]}; " if len(formulas) == 1 else f"\n{statements}\n    ",
        "include": element.include,
        "parameters": ", ".join([*(f"{element.type}* {t}" for t in outputs), f"const {element.type}* inp"]),
        "names": ", ".join(outputs),
        "specs": (",\n" + " " * 16).join(specs),
        "input": element.input,
        "buffers": ", ".join(f'at.{element.view}("{t}")' for t in [*outputs, "inp"]),
        # An op reads its inputs, then what its in-out tensors hold.
        "computed": ", ".join(
            f"of([&](std::size_t i) {{ return read[{k}][i] + inp(i); }})" for k in range(1, 1 + len(inouts))
        )
        or "of(inp)",
        "cost": f'.bytes = {1 + len(outputs) + len(inouts)} * {element.bytes} * d["N"]'
        + (f', .flop = {len(inouts)} * d.number("N")' if inouts else ""),
        "tensors": ", ".join(f"{t}: Tensor" for t in arguments),
        "type": f"tuple[{', '.join(['Tensor'] * len(outputs))}]" if len(outputs) > 1 else "Tensor",
        "exact": ", ".join(f"{t} + inp" for t in inouts) or "inp.clone()",
        "floors": ", ".join(f'U * rows(results["{t}"].abs())' for t in outputs),
        "drawn": tuple_of(['m.normal(d["N"])'] * len(arguments)),
        "quoted": tuple_of([f'"{t}"' for t in outputs]),
        "in_bf16": f"    in_bf16={taken},\n" if is_bf16(op) else "",
        "precisions": ', precisions=("bf16",)' if is_bf16(op) else "",
        "suspects": "\n".join(wrong),
        "args": ", ".join(f'"{t}": normal(rng, 1, 1000)' for t in arguments),
        "odd_args": ", ".join(f'"{t}": normal(rng, 1, 37)' for t in arguments),
        "results": " ".join(outputs),
    }


class Layout:
    """The files to write, and two edits; nothing is touched before all is known."""

    def __init__(self, name: str, ops: list[str], inouts: list[str], host: bool):
        self.name, self.ops = name, ops
        self.track, self.extension = ("host", ".cpp") if host else ("device", ".cu")
        before = lessons()[-1]
        self.before, self.number = before[:2], f"{int(before[:2]) + 1:02}"
        self.folder = f"{self.number}_{name}"
        self.new_ops = [op for op in ops if declaration(op) is None]
        self.require_new(inouts)
        if narrow := [op for op in self.new_ops if is_bf16(op) and host]:
            raise Refused(
                f"{narrow[0]}: a lesson for the CPU has floats alone; leave TRACK=host out, or choose another name"
            )
        self.values = {
            op: values_of(op, [word.split(".")[1] for word in inouts if word.split(".")[0] == op])
            for op in self.new_ops
        }
        self.files: dict[Path, str] = {}
        self.edits: dict[Path, str] = {}
        self.lay_out()
        for path in self.files:
            if path.exists():
                raise Refused(f"{path} is there already; choose another name, or remove it first")

    def require_new(self, inouts: list[str]) -> None:
        """Refuses INOUT of another op than a new one of OPS."""
        for word in inouts:
            op = word.split(".")[0]
            if op not in self.new_ops:
                what = f"{OPS_H} declares {op} already" if op in self.ops else f"OPS has no {op}"
                raise Refused(f"INOUT={word}: {what}; INOUT names tensors of an op that is new in OPS")

    def lay_out(self) -> None:
        for op in self.new_ops:
            self.files[Path(f"lessons/gpt2/check/{op}.cpp")] = filled("check.cpp", **self.values[op])
            self.files[Path(f"reference/ops/{op}.py")] = filled("op.py", **self.values[op])
            self.edits[OPS_H] = self.edits.get(OPS_H, OPS_H.read_text()) + self.new_declaration(op)
            self.edits[OPS_DEF] = self.edits.get(OPS_DEF, OPS_DEF.read_text()) + f"OP({op})\n"
        lesson, solution = Path("lessons") / self.folder, Path("solutions") / self.folder
        for op in self.ops:
            self.files[solution / f"{op}{self.extension}"] = self.solution_of(op)
        first = self.ops[0]
        values = {
            "name": self.name,
            "number": self.number,
            "before": self.before,
            "folder": self.folder,
            "op": first,
            "file": f"{first}{self.extension}",
            "case": f"lesson{self.number}" if first in self.new_ops else "regular",
            "targets": "\n".join(newest_target(op, self.track) or filled("target.toml", op=op) for op in self.ops),
            "requires": "" if self.track == "host" else '"sm_75"',
            "files": ", ".join(f"`{op}{self.extension}`" for op in self.ops),
            "rows": "".join(f"| `{op}{self.extension}` | TODO | TODO |\n" for op in self.ops),
            # Steps of the device's track have their places for what make waterfall writes.
            "waterfall": "" if self.track == "host" else "\n<!-- waterfall -->\n<!-- end waterfall -->\n",
            "estimate": "" if self.track == "host" else ESTIMATE,
            "hints": "\n".join(filled("hints.md", op=op) for op in self.ops),
            "parts": "".join(filled("case.py", **self.values[op]) for op in self.new_ops),
        }
        self.files[lesson / "lesson.toml"] = filled("lesson.toml", **values)
        self.files[lesson / "README.md"] = filled("README.md", **values)
        if self.new_ops:
            self.files[solution / "cases.py"] = filled("cases.py", **values)
        self.files[solution / "wrong.toml"] = filled("wrong.toml", **values)
        self.files[Path(f"figures/lesson{self.number}.py")] = filled("figure.py", **values)

    def new_declaration(self, op: str) -> str:
        return filled("declaration.h", **self.values[op])

    def solution_of(self, op: str) -> str:
        if op in self.new_ops:
            declared = self.new_declaration(op)
            declared = declared[declared.index(f"void {op}(") :].strip().rstrip(";")
            return filled(f"op{self.extension}", **self.values[op], declaration=declared)
        newest = newest_solution(op, self.extension)
        if newest is None:
            raise Refused(
                f"no lesson has {op}{self.extension} yet, only the other track has; copy its file to "
                f"solutions/{self.folder}/{op}{self.extension} by hand, then run this again"
            )
        return self.with_helpers_of(newest)

    @staticmethod
    def with_helpers_of(solution: Path) -> str:
        """Its text for another lesson: a helper beside it, "X.cuh", is "NN_name/X.cuh" from there."""
        lesson = solution.parent

        def from_elsewhere(include: re.Match) -> str:
            return f'#include "{lesson.name}/{include[1]}"' if (lesson / include[1]).exists() else include[0]

        return re.sub(r'#include "([^"]+\.cuh)"', from_elsewhere, solution.read_text())

    def write(self) -> None:
        for path, text in (self.edits | self.files).items():
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        # Names of any length are in the lines. Without ruff, make format does it later.
        python = [str(path) for path in self.files if path.suffix == ".py"]
        subprocess.run([sys.executable, "-m", "ruff", "format", *python], capture_output=True, check=False)


def next_steps(layout: Layout) -> str:
    number, folder = layout.number, layout.folder
    lines = [
        f"lesson {number} is laid out; what to do, in this order:",
        f"  solutions/{folder}/: solve it between the markers; then make stubs",
    ]
    for op in layout.new_ops:
        lines += [
            f"  {OPS_H}: the declaration of {op}, with a shape comment on every pointer",
            f"  lessons/gpt2/check/{op}.cpp: its tensors, call, bytes and FLOP",
            f"  reference/ops/{op}.py: what it computes, floors, suspects; solutions/{folder}/cases.py: its case",
        ]
    if layout.new_ops:
        lines.append("  make reference")
    return "\n".join(
        [
            *lines,
            f"  make check-lesson{number}              not written yet; with SOLUTION=1 ok",
            f"  lessons/{folder}/lesson.toml: idea and targets",
            f"  lessons/{folder}/check.cpp: only where the lesson has cases or counters of its own",
            f"  solutions/{folder}/wrong.toml: at least five, and one slow; then make kill-table",
            f"  lessons/{folder}/README.md: the page; figures/lesson{number}.py: its picture; make figures",
            "  README.md: the lesson's row in the table, and how many are ready",
            *(
                ["  make waterfall WRITE=1               its bar and its estimate, on the pages"]
                if layout.track == "device"
                else []
            ),
            "  make test",
        ]
    )


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--host", action="store_true", help="plain C++ for the CPU instead of CUDA C++")
    parser.add_argument("--inout", default="", help="in-out tensors of new ops: 'adamw.params adamw.m'")
    parser.add_argument("name", help="the folder's name after its number, such as my_softmax")
    parser.add_argument("ops", nargs="*", help="the exercise's files, such as matmul")
    args = parser.parse_args()
    try:
        if not args.name or not args.ops:
            raise Refused("which name, and which exercises? For example: make new-lesson NAME=my_softmax OPS=softmax")
        for word in (args.name, *args.ops):
            if not re.fullmatch(r"[a-z][a-z0-9_]*", word):
                raise Refused(f"'{word}': names are of a to z, 0 to 9 and _, as in NAME=my_softmax OPS='softmax gelu'")
        inouts = list(dict.fromkeys(args.inout.split()))
        for word in inouts:
            if not re.fullmatch(r"[a-z][a-z0-9_]*\.[a-z][a-z0-9_]*", word):
                raise Refused(f"INOUT={word}: an in-out tensor is OP.TENSOR, as in INOUT='adamw.params adamw.m'")
            if (tensor := word.split(".")[1]) in TAKEN:
                raise Refused(f"INOUT={word}: the op has a parameter {tensor} already; choose another name")
        if taken := [lesson for lesson in lessons() if lesson[3:] == args.name]:
            raise Refused(f"lessons/{taken[0]} has that name; choose another")
        layout = Layout(args.name, list(dict.fromkeys(args.ops)), inouts, args.host)
        layout.write()
    except Refused as refusal:
        print(f"new-lesson: {refusal}", file=sys.stderr)
        return 2
    for path in layout.edits:
        print(f"  edited  {path}")
    for path in layout.files:
        print(f"  new     {path}")
    print(next_steps(layout))
    return 0


if __name__ == "__main__":
    sys.exit(main())
