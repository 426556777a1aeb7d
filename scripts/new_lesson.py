# SPDX-License-Identifier: MIT
"""new_lesson.py NAME OP…: lays out the next lesson. `make new-lesson NAME=tf32 OPS=matmul` runs it.

An op of ops.h keeps its signature; its solution begins as a copy of the newest file that serves it. An op that ops.h
does not have gets its declaration there, its line in ops.def, lessons/gpt2/check/OP.cpp and reference/ops/OP.py, all of
an op that copies N floats: change them into yours. Nothing that exists is overwritten.
"""

from __future__ import annotations

import argparse
import json
import re
import subprocess
import sys
from pathlib import Path
from string import Template

OPS_H = Path("lessons/gpt2/ops.h")
OPS_DEF = Path("lessons/gpt2/ops.def")
LICENCE = "SPDX-License-Identifier: MIT"


class Refused(Exception):
    """One line: what is wrong, and the mend."""


def lessons() -> list[str]:
    return sorted(path.name for path in Path("lessons").glob("[0-9][0-9]_*"))


def declaration(op: str) -> str | None:
    """The declaration of an op in ops.h, with its comments and without the semicolon."""
    match = re.search(rf"^void {op}\([^;]*\)(?=;)", OPS_H.read_text(), re.MULTILINE)
    return match and match[0]


def newest_solution(op: str, extension: str) -> Path | None:
    files = sorted(Path("solutions").glob(f"[0-9][0-9]_*/{op}{extension}"))
    return files[-1] if files else None


def toml_of(op: dict) -> str:
    """The table [target.OP] that build/tools/lessons describes."""
    shapes = {"shapes": [], "reported": []}
    for row in op["shapes"]:
        shapes["shapes" if row["judged"] else "reported"].append(row["shape"])
    values = op["target"] | {key: found for key, found in shapes.items() if found}
    lines = [f"{key} = {json.dumps(value)}\n" for key, value in values.items()]
    return f"[target.{op['op']}]\n{''.join(lines)}"


def newest_target(op: str, track: str) -> str | None:
    """The table [target.OP] of the newest lesson that has one on the track."""
    done = subprocess.run(["build/tools/lessons"], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise Refused(done.stderr.strip())
    for lesson in reversed(json.loads(done.stdout)):
        for row in lesson["ops"]:
            if lesson["track"] == track and row["op"] == op and row["target"]:
                return toml_of(row)
    return None


# ---- what is laid out ------------------------------------------------------------------------------------------------

NEW_DECLARATION = Template("""
// out[i] = inp[i]
void ${op}(float* out,        // (N)
     ${pad} const float* inp,  // (N)
     ${pad} int N, Context& ctx);
""")

NEW_CHECK = Template("""// ${licence}
#include "lessons/gpt2/check/op_spec.h"

namespace cases {

const OpSpec ${op}_spec{
    .name = "${op}",
    .shape = "N",
    .inputs = {{"inp", "N/i", normal()}},
    .outputs = {{"out", "N/i"}},
    .defined = defines<${op}>,
    .run =
        [](const Library& library, const Buffers& at, const Sizes& d, Context& ctx) {
            library.find<${op}>()(at.f32("out"), at.f32("inp"), d["N"], ctx);
        },
    .cost = [](const Sizes& d) -> Cost { return {.bytes = 2 * kFloat * d["N"]}; },
    .bound = Bound::copy};

}  // namespace cases
""")

NEW_REFERENCE = Template('''# ${licence}
from __future__ import annotations

from torch import Tensor

from reference.ops.common.op import Op, Suspect
from reference.ops.common.rounding import U, rows


def run(inp: Tensor) -> Tensor:
    return inp.clone()


def floors(results: dict[str, Tensor], inp: Tensor) -> Tensor:
    """The error of the plainest right float32 algorithm: see reference/BUDGET.md."""
    return U * rows(results["out"].abs())


OP = Op(
    results=("out",),
    run=run,
    floors=floors,
    dims=lambda at: {"N": at["out"][0]},
    suspects={"negated": Suspect("the sign is the other one", lambda inp: -inp)},
)
''')

NEW_BODY = {
    ".cu": Template("""#include "lessons/gpt2/launch.h"
#include "lessons/gpt2/ops.h"

namespace {

// One thread per element.
__global__ void ${op}_kernel(float* out, const float* inp, int N) {
    const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
    // >>> solution
    //~ // TODO: out[i], for i < N.
    if (i < N) {
        out[i] = inp[i];
    }
    // <<< solution
}

}  // namespace

${declaration} {
    constexpr int kBlock = 256;
    ${op}_kernel<<<ceil_div(N, kBlock), kBlock, 0, ctx.stream>>>(out, inp, N);
    check(cudaGetLastError());
}
"""),
    ".cpp": Template("""#include "lessons/gpt2/ops.h"

${declaration} {
    // >>> solution
    //~ // TODO: out[i], for i < N.
    for (int i = 0; i < N; i++) { out[i] = inp[i]; }
    // <<< solution
}
"""),
}

CASES = Template('''# ${licence}
"""TODO: what is awkward about this case."""

from reference.dump.cases import Case, generator, normal, op_call, op_case
from reference.ops import OPS


def build(name: str, seed: int) -> Case:
    rng = generator(name, seed)
    parts = [
${parts}    ]
    return op_case(name, {}, parts)
''')

PART = Template("""        op_call("${op}", {"inp": normal(rng, 1, 1000)}, "out", tuple(OPS["${op}"].suspects)),
""")

TOML = Template("""# ${licence}
title = "${name}"
idea = "TODO: the one idea, in a line; the README's table shows it"
requires = [${requires}]

# Shares of another's speed in the same run: against = "copy", "solution" or "library". Bronze passes.
${targets}
# What the CPU device may count at most, times what check.cpp says that a call needs (checker/simt/COUNTERS.md):
# [counters]
# ${op} = { bytes_moved = 1.1 }
""")

NEW_TARGET = Template("""[target.${op}]
against = "solution"
bronze = 0.67
silver = 0.8
gold = 0.9
shapes = ["N=1048576"]
""")

WRONG = Template("""# ${licence}
#
# Mistakes put into the solution. Each must be rejected on its case for its reason, or the test fails. At least five,
# and one slow. find: exactly one match in the solution's file; edits = [{ find = "…", replace = "…" }, …] for several.

# [[wrong]]
# id = "bias_dropped"
# what = "the bias is not added"
# file = "${file}"
# find = "bias[o]"
# replace = "0.0f"
# case = "${case}"
# reason = "mismatch"
""")

HINTS = Template("""### ${op}

<details><summary>Hint 1: a question</summary>

TODO
</details>

<details><summary>Hint 2: an idea</summary>

TODO
</details>

<details><summary>Hint 3: the shape of the code</summary>

TODO
</details>
""")

PAGE = Template("""# ${number} · TODO: the lesson's claim in one line

## TODO: where we are

TODO: the steps so far, a line each, and what this one changes.

## TODO: today's bottleneck, with its evidence

TODO: what `make traffic-lesson${before}` or a time shows; which number is too large.

## TODO: the one concept, as a statement

TODO: define each term where it is first needed. One picture with GPT-2's real shapes.

![TODO: what the picture says](figure.svg)

## TODO: bytes, FLOPs, and the bound that they give

TODO: the line of arithmetic beside each number; what each limit is a limit of.

## Predict before you measure

TODO: one number to write down. The page answers it after the fold.

## The task: ${files}, TODO lines

| file | what you write | lines |
|---|---|---:|
${rows}
## The check says 'not written yet' until there is a launch

```
make check-lesson${number}
```

TODO: what it prints, as it prints it.

## Hints

${hints}
## After it passes: TODO, what has changed

<details><summary>The solution, walked through</summary>

TODO
</details>

<!-- measured: make time-lesson${number} SOLUTION=1 -->
<!-- end measured -->

## Break it

TODO: two sabotages, and what the check says to each.

## What still hurts

TODO: which is the next lesson.
""")

FIGURE = Template('''# ${licence}
"""Lesson ${number}: TODO, what the picture says in a sentence."""

from draw import Figure

PATH = "lessons/${folder}/figure.svg"


def figure() -> Figure:
    f = Figure(160, "TODO: the title", "TODO: what somebody is told who cannot see it")
    f.text(24, 40, "TODO: one idea, real indices", bold=True)
    return f


def main() -> None:
    figure().write(PATH)


if __name__ == "__main__":
    main()
''')


class Layout:
    """The files to write, and two edits; nothing is touched before all is known."""

    def __init__(self, name: str, ops: list[str], host: bool):
        self.name, self.ops, self.host = name, ops, host
        self.extension = ".cpp" if host else ".cu"
        before = lessons()[-1]
        self.before, self.number = before[:2], f"{int(before[:2]) + 1:02}"
        self.folder = f"{self.number}_{name}"
        self.new_ops = [op for op in ops if declaration(op) is None]
        self.files: dict[Path, str] = {}
        self.edits: dict[Path, str] = {}
        self.lay_out()
        for path in self.files:
            if path.exists():
                raise Refused(f"{path} is there already; choose another name, or remove it first")

    def lay_out(self) -> None:
        for op in self.new_ops:
            self.lay_out_op(op)
        lesson, solution = Path("lessons") / self.folder, Path("solutions") / self.folder
        for op in self.ops:
            self.files[solution / f"{op}{self.extension}"] = self.solution_of(op)
        first = self.ops[0]
        values = {
            "licence": LICENCE,
            "name": self.name,
            "number": self.number,
            "before": self.before,
            "folder": self.folder,
            "op": first,
            "file": f"{first}{self.extension}",
            "case": f"lesson{self.number}" if first in self.new_ops else "regular",
            "targets": "\n".join(self.target_of(op) for op in self.ops),
            "requires": "" if self.host else '"sm_75"',
            "files": ", ".join(f"`{op}{self.extension}`" for op in self.ops),
            "rows": "".join(f"| `{op}{self.extension}` | TODO | TODO |\n" for op in self.ops),
            "hints": "\n".join(HINTS.substitute(op=op) for op in self.ops),
        }
        self.files[lesson / "lesson.toml"] = TOML.substitute(values)
        self.files[lesson / "README.md"] = PAGE.substitute(values)
        if self.new_ops:
            parts = "".join(PART.substitute(op=op) for op in self.new_ops)
            self.files[solution / "cases.py"] = CASES.substitute(licence=LICENCE, parts=parts)
        self.files[solution / "wrong.toml"] = WRONG.substitute(values)
        self.files[Path(f"figures/lesson{self.number}.py")] = FIGURE.substitute(values)

    def lay_out_op(self, op: str) -> None:
        self.files[Path(f"lessons/gpt2/check/{op}.cpp")] = NEW_CHECK.substitute(op=op, licence=LICENCE)
        self.files[Path(f"reference/ops/{op}.py")] = NEW_REFERENCE.substitute(op=op, licence=LICENCE)
        header = self.edits.get(OPS_H, OPS_H.read_text())
        self.edits[OPS_H] = header + NEW_DECLARATION.substitute(op=op, pad=" " * len(op))
        self.edits[OPS_DEF] = self.edits.get(OPS_DEF, OPS_DEF.read_text()) + f"OP({op})\n"

    def solution_of(self, op: str) -> str:
        if op in self.new_ops:
            declared = NEW_DECLARATION.substitute(op=op, pad=" " * len(op)).strip().split("\n", 1)[1].rstrip(";")
            body = NEW_BODY[self.extension].substitute(op=op, declaration=declared)
            return f"// {LICENCE}\n//\n// out[i] = inp[i]. TODO: the formula, which thread does what, and why.\n{body}"
        newest = newest_solution(op, self.extension)
        if newest is None:
            raise Refused(
                f"no lesson has {op}{self.extension} yet, only the other track has; copy its file to "
                f"solutions/{self.folder}/{op}{self.extension} by hand, then run this again"
            )
        return newest.read_text()

    def target_of(self, op: str) -> str:
        return newest_target(op, "host" if self.extension == ".cpp" else "device") or NEW_TARGET.substitute(op=op)

    def write(self) -> None:
        for path, text in (self.edits | self.files).items():
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)


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
            "  README.md: the lesson's row in the ladder",
            "  make test",
        ]
    )


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--host", action="store_true", help="plain C++ for the CPU instead of CUDA C++")
    parser.add_argument("name", help="the folder's name after its number, such as tf32")
    parser.add_argument("ops", nargs="*", help="the exercise's files, such as matmul")
    args = parser.parse_args()
    try:
        if not args.name or not args.ops:
            raise Refused("which name, and which exercises? For example: make new-lesson NAME=tf32 OPS=matmul")
        for word in (args.name, *args.ops):
            if not re.fullmatch(r"[a-z][a-z0-9_]*", word):
                raise Refused(f"'{word}': names are of a to z, 0 to 9 and _, as in NAME=tf32 OPS='matmul gelu'")
        if taken := [lesson for lesson in lessons() if lesson[3:] == args.name]:
            raise Refused(f"lessons/{taken[0]} has that name; choose another")
        layout = Layout(args.name, list(dict.fromkeys(args.ops)), args.host)
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
