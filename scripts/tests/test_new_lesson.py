# SPDX-License-Identifier: MIT
"""make new-lesson, as its user meets it: in a copy of the tree, a lesson that replaces an op, and one with a new op.

The copy has the first lessons alone: what the others say cannot matter here.
"""

import os
import re
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
ENVIRONMENT = {k: v for k, v in os.environ.items() if k not in ("MAKEFLAGS", "MFLAGS", "MAKELEVEL", "MAKEOVERRIDES")}
# What the tree's build has that no lesson needs.
LEFT_OUT = ("course_test", "new_lesson_test", "local_test", "wrong", "tests", "test-results", "kept")

# Edits of the files of an op that adds to its in-out tensor: a file, a pattern, and the text in its place. After them
# the tensor and the input are of bfloat16, there are four outputs more, one of them in TF32, the scratch grows with the
# step, and the lesson's cases include a sequence of three steps.
ACCUMULATE = [
    ("lessons/gpt2/ops.h", r"#include <cstddef>\n", "#include <cstddef>\n#include <cstdint>\n"),
    (
        "lessons/gpt2/ops.h",
        r"void accumulate\(.*?\);",
        """void accumulate(std::uint16_t* total,      // (N), bfloat16, in-out
                float* product,            // (N), in TF32: inp[i] * inp[i]
                float* scaled,             // (N): step * inp[i]
                float* negated,            // (N): -inp[i]
                float* magnitude,          // (N): |inp[i]|
                const std::uint16_t* inp,  // (N), bfloat16
                void* scratch,             // accumulate_scratch_bytes(N, step)
                int N, int step, Context& ctx);
std::size_t accumulate_scratch_bytes(int N, int step);""",
    ),
    (
        "lessons/gpt2/check/accumulate.cpp",
        r'\{"inp", "N/i", normal\(\)\}',
        '{.name = "inp", .dims = "N/i", .draw = normal(1.0F, checker::Element::bf16), .element = '
        "checker::Element::bf16}",
    ),
    (
        "lessons/gpt2/check/accumulate.cpp",
        r"\.before = normal\(\)}",
        '.precision = "bf16", .element = checker::Element::bf16, .before = normal(1.0F, checker::Element::bf16)},\n'
        '                {.name = "product", .dims = "N/i", .precision = "tf32"},\n'
        '                {"scaled", "N/i"}, {"negated", "N/i"}, {"magnitude", "N/i"}',
    ),
    ("lessons/gpt2/check/accumulate.cpp", "defines<accumulate>", "defines<accumulate, accumulate_scratch_bytes>"),
    (
        "lessons/gpt2/check/accumulate.cpp",
        r'at\.f32\("total"\), at\.f32\("inp"\), d\["N"\]',
        'at.elements<std::uint16_t>("total", checker::Element::bf16), at.f32("product"), at.f32("scaled"), '
        'at.f32("negated"), at.f32("magnitude"), at.elements<std::uint16_t>("inp", checker::Element::bf16), '
        'at.scratch("scratch"), d["N"], d["step"]',
    ),
    (
        "lessons/gpt2/check/accumulate.cpp",
        r"\.cost =",
        ".scratch_bytes = [](const Library& library, const Sizes& d) {\n"
        '        return library.find<accumulate_scratch_bytes>()(d["N"], d["step"]);\n'
        "    },\n    .cost =",
    ),
    ("lessons/gpt2/check/accumulate.cpp", r"\.dry_run =", '.defaults = "step=1",\n    .dry_run ='),
    ("lessons/gpt2/check/accumulate.cpp", r"const Sizes& /\*d\*/", "const Sizes& d"),
    (
        "lessons/gpt2/check/accumulate.cpp",
        r"(?<=\+ inp\(i\); \}\))\}",
        ", of([&](std::size_t i) { return inp(i) * inp(i); }), "
        'of([&](std::size_t i) { return d["step"] * inp(i); }), '
        "of([&](std::size_t i) { return -inp(i); }), of([&](std::size_t i) { return std::abs(inp(i)); })}",
    ),
    (
        "reference/ops/accumulate.py",
        r"inp: Tensor\) -> Tensor:\n    return total \+ inp",
        "inp: Tensor, step: int) -> tuple[Tensor, ...]:\n"
        "    return total + inp, inp * inp, step * inp, -inp, inp.abs()",
    ),
    ("reference/ops/accumulate.py", r"inp: Tensor\) -> Tensor:", "inp: Tensor, step: int) -> tuple[Tensor, ...]:"),
    (
        "reference/ops/accumulate.py",
        r'U \* rows\(results\["total"\]\.abs\(\)\)',
        "tuple(U * rows(results[name].abs()) for name in OP.results)",
    ),
    ("reference/ops/accumulate.py", r"lambda total, inp:", "lambda total, inp, step:"),
    ("reference/ops/accumulate.py", r'm\.normal\(d\["N"\]\)\)', 'm.normal(d["N"]), 1)'),
    (
        "reference/ops/accumulate.py",
        r'results=\("total",\)',
        'results=("total", "product", "scaled", "negated", "magnitude"),\n    in_bf16=("total", "inp")',
    ),
    ("solutions/{folder}/cases.py", "op_call, op_case", "op_call, op_case, op_sequence"),
    ("solutions/{folder}/cases.py", r"1000\)}", '1000), "step": 1}'),
    ("solutions/{folder}/cases.py", r"37\)}", '37), "step": 2}'),
    ("solutions/{folder}/cases.py", r'"total", tuple', '" ".join(OPS["accumulate"].results), tuple'),
    ("solutions/{folder}/cases.py", r'"total", \(\)', '" ".join(OPS["accumulate"].results), ()'),
    (
        "solutions/{folder}/cases.py",
        r"\n    \]\n",
        """
        *op_sequence(
            "accumulate",
            "three steps",
            [
                ({"total": normal(rng, 1, 1000), "inp": normal(rng, 1, 1000), "step": 1}, ()),
                ({"inp": normal(rng, 1, 1000), "step": 2}, tuple(OPS["accumulate"].suspects)),
                ({"inp": normal(rng, 1, 1000), "step": 3}, ()),
            ],
            " ".join(OPS["accumulate"].results),
            case="three_steps",
        ),
    ]
""",
    ),
]
# Edits by sed that make a lesson's new ops GELU and an addition, on bfloat16: by op and by file.
TWO = "const __nv_bfloat16* inp1, const __nv_bfloat16* inp2,"
GELU_OF_X = "0.5f * x * (1.0f + tanhf(0.7978845608f * (x + 0.044715f * x * x * x)))"
IN_BF16 = {
    "gelu_bf16": {
        "lessons/gpt2/check/{op}.cpp": (
            r's/d\["N"\]}/d["N"], .flop = 9 * d.number("N")}/; '
            "s/of(inp)/of([\\&](std::size_t i) { const double x = inp(i); "
            "return 0.5 * x * (1 + std::tanh(std::sqrt(2 * M_1_PI) * (x + 0.044715 * x * x * x))); })/"
        ),
        "reference/ops/{op}.py": (
            r"s/^from reference.ops.common.op/from reference.model import gpt2\n&/; s/inp.clone()/gpt2.gelu(inp)/; "
            "s/lambda inp: -inp/lambda inp: -gpt2.gelu(inp)/"
        ),
        "solutions/{folder}/{op}.cu": (
            r"s/out.i. = inp.i.;/const float x = __bfloat162float(inp[i]);\n        "
            f"out[i] = __float2bfloat16({GELU_OF_X});/"
        ),
    },
    "residual_bf16": {
        "lessons/gpt2/ops.h": f"/^void residual_bf16/,/;/s/const __nv_bfloat16. inp,/{TWO}/",
        "lessons/gpt2/check/{op}.cpp": (
            r's/{.name = "inp", \(.*\)}}/{.name = "inp1", \1}, {.name = "inp2", \1}}/; '
            's/at.bf16("inp")/at.bf16("inp1"), at.bf16("inp2")/; '
            r's/2 . kBf16 . d\["N"\]}/3 * kBf16 * d["N"], .flop = d.number("N")}/; '
            r"s/of(inp)/of([\&](std::size_t i) { return read[1][i] + inp(i); })/"
        ),
        "reference/ops/{op}.py": (
            "s/inp: Tensor/inp1: Tensor, inp2: Tensor/; s/inp.clone()/inp1 + inp2/; "
            r's/lambda inp: -inp/lambda inp1, inp2: -inp1 - inp2/; s/at\["inp"\]/at["inp1"]/; '
            r's/("inp",)/("inp1", "inp2")/; s/(m.normal(d\["N"\]),)/(m.normal(d["N"]), m.normal(d["N"]))/'
        ),
        "solutions/{folder}/{op}.cu": (
            f"s/const __nv_bfloat16. inp,/{TWO}/; s/(out, inp, N)/(out, inp1, inp2, N)/; "
            "s/out.i. = inp.i.;/out[i] = __float2bfloat16(__bfloat162float(inp1[i]) + __bfloat162float(inp2[i]));/"
        ),
        "solutions/{folder}/cases.py": (
            r'/"residual_bf16"/s/"inp": normal(rng, 1, \([0-9]*\))/"inp1": normal(rng, 1, \1), '
            r'"inp2": normal(rng, 1, \1)/'
        ),
    },
}
LIBRARY = """// SPDX-License-Identifier: MIT
#pragma once

// A library as far as its user sees it: a handle that is made once and kept.
struct ToyLibrary {
    int made = 1;
    int calls = 0;  // a right op needs none
    int block() const { return 64 * made; }
};
"""
KERNEL = """// SPDX-License-Identifier: MIT
//
// total[i] += inp[i], and what else ops.h says of inp[i]. One thread per element.
#include <cuda_bf16.h>

#include "lessons/{folder}/toy_library.h"
#include "lessons/gpt2/launch.h"
#include "lessons/gpt2/ops.h"
#include "times.cuh"

namespace {{

__global__ void accumulate_kernel(__nv_bfloat16* total, float* product, float* scaled, float* negated, float* magnitude,
                                  const __nv_bfloat16* inp, float* scratch, int N, int step) {{
    const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
    // >>> solution
    //~ // TODO: the five outputs, for i < N.
    if (i < N) {{
        const float x = __bfloat162float(inp[i]);
        total[i] = __float2bfloat16(__bfloat162float(total[i]) + x);
        product[i] = times(x, x);
        for (int k = 0; k < step; k++) {{ scratch[k * N + i] = x; }}
        float sum = 0;
        for (int k = 0; k < step; k++) {{ sum += scratch[k * N + i]; }}
        scaled[i] = sum;
        negated[i] = -x;
        magnitude[i] = fabsf(x);
    }}
    // <<< solution
}}

}}  // namespace

std::size_t accumulate_scratch_bytes(int N, int step) {{
    return sizeof(float) * static_cast<std::size_t>(N) * static_cast<std::size_t>(step);
}}

void accumulate(std::uint16_t* total, float* product, float* scaled, float* negated, float* magnitude,
                const std::uint16_t* inp, void* scratch, int N, int step, Context& ctx) {{
    const int block = ctx.handle<ToyLibrary>().block();
    accumulate_kernel<<<ceil_div(N, block), block, 0, ctx.stream>>>(
        reinterpret_cast<__nv_bfloat16*>(total), product, scaled, negated, magnitude,
        reinterpret_cast<const __nv_bfloat16*>(inp), static_cast<float*>(scratch), N, step);
    check(cudaGetLastError());
}}
"""
HELPER = """// SPDX-License-Identifier: MIT
#pragma once

namespace {

__device__ inline float times(float a, float b) {
    float product = 0;
    // >>> solution
    //~ // TODO: a times b.
    product = a * b;
    // <<< solution
    return product;
}

}  // namespace
"""
WRONG = """
[[wrong]]
id = "helper_divides"
what = "the helper divides"
file = "times.cuh"
op = "accumulate"
find = "a * b"
replace = "a / b"
case = "{case}"
reason = "mismatch"

[[wrong]]
id = "overwrites"
what = "total is overwritten, not added to"
file = "accumulate.cu"
find = "__bfloat162float(total[i]) + x"
replace = "x"
case = "{case}"
reason = "suspect:total_overwritten"

[[wrong]]
id = "forgets"
what = "the later calls on a Context forget what the one before left in total"
file = "accumulate.cu"
find = ".block();"
replace = ".block(); if (ctx.handle<ToyLibrary>().calls++ > 0) check(cudaMemsetAsync(total, 0, 2 * N, ctx.stream));"
case = "three_steps"
reason = "suspect:total_overwritten"

[[wrong]]
id = "same_scratch"
what = "the later steps of a sequence ask for as much scratch as the first"
file = "accumulate.cu"
find = " * static_cast<std::size_t>(step)"
replace = ""
case = "three_steps"
reason = "out_of_bounds"

[[wrong]]
id = "factor_dropped"
what = "GELU without its factor x"
file = "gelu_bf16.cu"
find = "0.5f * x * (1.0f"
replace = "0.5f * (1.0f"
case = "{case}"
reason = "mismatch"

[[wrong]]
id = "first_twice"
what = "the first input is added twice"
file = "residual_bf16.cu"
find = "__bfloat162float(inp2[i])"
replace = "__bfloat162float(inp1[i])"
case = "{case}"
reason = "mismatch"
"""
WRONG_UPDATE = """
[[wrong]]
id = "overwrites"
what = "v is overwritten, not added to"
file = "update.cu"
find = "v[i] += inp[i];"
replace = "v[i] = inp[i];"
case = "{case}"
reason = "suspect:v_overwritten"
"""
WRONG_MATMUL = """
[[wrong]]
id = "bias_dropped"
what = "the bias is not added"
file = "matmul.cpp"
find = "bias != nullptr ? bias[o] : 0.0f"
replace = "0.0f"
case = "regular"
reason = "suspect:bias_dropped"
"""


class Tree:
    """A copy of this tree, as `make course-reads` names it, with what is built."""

    def __init__(self, path: Path):
        self.path = path

    def run(self, command: str, status: int | None = 0) -> str:
        done = subprocess.run(
            command,
            shell=True,
            cwd=self.path,
            env=ENVIRONMENT,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
        )
        said = done.stdout + done.stderr
        assert status is None or done.returncode == status, f"{command}: exit status {done.returncode}\n{said}"
        return said

    def write(self, path: str, text: str) -> None:
        (self.path / path).write_text(text)

    def replace(self, path: str, pattern: str, text: str) -> None:
        file = self.path / path
        changed, count = re.subn(pattern, lambda _: text, file.read_text(), count=1, flags=re.DOTALL)
        assert count == 1, f"{path}: no {pattern}"
        file.write_text(changed)

    def changed(self) -> tuple[set[str], set[str]]:
        """Files that git knows and that differ, and new ones; folders of lessons as `lessons/NAME` and the like."""
        lines = self.run("git status --porcelain --untracked-files=all").splitlines()
        return {line[3:] for line in lines if line[:2] != "??"}, {line[3:] for line in lines if line[:2] == "??"}

    def commit(self) -> None:
        self.run("git add -A && git -c user.name=t -c user.email=t@example.org commit -qm tree")


def solution_text(tree: Tree, lesson_file: str) -> str:
    """What a learner would write."""
    return tree.run(f"build/tools/stubs --print solution {lesson_file.replace('lessons', 'solutions', 1)}")


@pytest.fixture(scope="module")
def tree(request: pytest.FixtureRequest) -> Iterator[Tree]:
    path = ROOT / "build/new_lesson_test/tree"
    shutil.rmtree(path.parent, ignore_errors=True)
    path.mkdir(parents=True)
    left_out = " ".join(f"--exclude=build/{name}" for name in LEFT_OUT)
    copy = (
        "git ls-files -z --cached --others --exclude-standard -- $(make -s course-reads) figures/draw.py "
        "figures/plots.mplstyle pyproject.toml | xargs -0 sh -c "
        '\'for f; do [ -e "$f" ] && echo "$f"; done\' sh | tar cf - -T - | tar xf - -C build/new_lesson_test/tree && '
        f"tar cf - {left_out} build | tar xf - -C build/new_lesson_test/tree"
    )
    subprocess.run(copy, shell=True, cwd=ROOT, env=ENVIRONMENT, check=True)
    for name in (".venv", ".deps"):
        if (ROOT / name).exists():
            (path / name).symlink_to(ROOT / name)
    tree = Tree(path)
    tree.run("git init --quiet")
    tree.commit()
    yield tree
    if not request.session.testsfailed:
        shutil.rmtree(path.parent)


@pytest.fixture(scope="module")
def laid_out(tree: Tree) -> dict[str, str]:
    """The folders of a lesson that replaces matmul and of one with an op that updates two tensors, as they are laid
    out, and of one whose ops are written, two of them on bfloat16."""
    newest = max(path.name for path in (tree.path / "lessons").glob("[0-9][0-9]_*"))
    names = ("replaces", "updates", "adds")
    replaces, updates, adds = (f"{int(newest[:2]) + i:02}_{name}" for i, name in enumerate(names, 1))
    said = tree.run("make new-lesson NAME=replaces OPS=matmul TRACK=host")
    assert f"lesson {replaces[:2]} is laid out" in said
    edited, new = tree.changed()
    assert edited == set()
    assert {path.split("/")[0] for path in new} == {"lessons", "solutions", "figures"}
    assert all(replaces in path or path == f"figures/lesson{replaces[:2]}.py" for path in new), new
    tree.write(f"solutions/{replaces}/wrong.toml", WRONG_MATMUL)
    tree.commit()

    tree.run("make new-lesson NAME=updates OPS=update INOUT='update.m update.v'")
    tree.write(f"solutions/{updates}/wrong.toml", WRONG_UPDATE.format(case=f"lesson{updates[:2]}"))
    tree.commit()

    tree.run(f"make new-lesson NAME=adds OPS='accumulate {' '.join(IN_BF16)}' INOUT=accumulate.total")
    for op, edits in IN_BF16.items():
        for path, script in edits.items():
            named = path.format(folder=adds, op=op)
            before = (tree.path / named).read_text()
            tree.run(f"sed -i '{script}' {named}")
            assert (tree.path / named).read_text() != before, f"{named}: {script}"
    for path, pattern, text in ACCUMULATE:
        tree.replace(path.format(folder=adds), pattern, text)
    tree.write(f"lessons/{adds}/toy_library.h", LIBRARY)
    tree.write(f"solutions/{adds}/accumulate.cu", KERNEL.format(folder=adds))
    tree.write(f"solutions/{adds}/times.cuh", HELPER)
    tree.write(f"solutions/{adds}/wrong.toml", WRONG.format(case=f"lesson{adds[:2]}"))
    edited, new = tree.changed()
    assert edited == {"lessons/gpt2/ops.h", "lessons/gpt2/ops.def"}
    outside = {path for path in new if adds not in path}
    assert outside == {
        *(f"lessons/gpt2/check/{op}.cpp" for op in ("accumulate", *IN_BF16)),
        *(f"reference/ops/{op}.py" for op in ("accumulate", *IN_BF16)),
        f"figures/lesson{adds[:2]}.py",
    }
    tree.run(".venv/bin/python -m reference.dump --draws 1")
    tree.run("make stubs")
    return {"replaces": replaces, "updates": updates, "adds": adds}


@pytest.mark.parametrize("which", ["replaces", "updates", "adds"])
def test_a_new_lesson_is_red_on_its_stub_and_green_on_its_solution(tree: Tree, laid_out: dict[str, str], which: str):
    number = laid_out[which][:2]
    assert "not written yet" in tree.run(f"make check-lesson{number}", status=2)
    tree.run(f"make build/check/lesson{number} check-lesson{number} SOLUTION=1", status=None)
    said = tree.run(f"build/check/lesson{number} --subject solutions --no-timing")
    assert "all ok" in said, said
    if which == "adds":
        assert all(re.search(rf"^  {op} +ok ", said, re.MULTILINE) for op in ("accumulate", *IN_BF16)), said


@pytest.mark.parametrize(("which", "rows"), [("replaces", 1), ("updates", 1), ("adds", 6)])
def test_a_new_lesson_rejects_its_wrong_solutions_for_their_reasons(
    tree: Tree, laid_out: dict[str, str], which: str, rows: int
):
    tree.run("make build/tools/wrong build/wrong/commands")
    rejects = f"SOL_FRESH= build/tools/wrong --lesson {laid_out[which]}"  # make test-all keeps nothing
    said = tree.run(rejects)
    assert f"[  PASSED  ] {rows} test" in said, said
    if which == "adds":  # a row's verdict comes from its lesson's helper too
        kept = tree.path / "build/wrong" / laid_out[which] / "overwrites/kept.json"
        before = kept.stat().st_mtime_ns
        assert {file.suffix for file in kept.parent.iterdir()} & {".o", ".so"} == set(), "objects stay"
        tree.run(rejects)
        assert kept.stat().st_mtime_ns == before
        helper = tree.path / "solutions" / laid_out[which] / "times.cuh"
        helper.write_text(HELPER.replace("a * b", "b * a"))
        tree.run(rejects, status=None)
        helper.write_text(HELPER)
        assert kept.stat().st_mtime_ns != before


def test_a_new_op_is_timed_by_pytorch_as_the_others_are(tree: Tree, laid_out: dict[str, str]):
    test = "reference/tests/test_bench_gpu.py::test_every_op_runs_at_a_tiny_shape[accumulate]"
    said = tree.run(f".venv/bin/python -m pytest -q '{test}'", status=None)
    assert "1 passed" in said, said


def test_a_new_op_passes_the_tests_of_every_op(tree: Tree, laid_out: dict[str, str]):
    tree.run("make build/tests/gpt2/check_test")
    filters = ":".join(f"Ops/EveryOp.*/{op}" for op in ("update", "accumulate", *IN_BF16))
    said = tree.run(f"build/tests/gpt2/check_test --gtest_filter='{filters}'", status=None)
    assert "FAILED" not in said, said
    assert said.count("[       OK ] Ops/EveryOp.IsComputedAsTheDumpComputesIt/") == 4, said


def test_a_helper_is_judged_with_its_ops_and_serves_later_lessons(tree: Tree, laid_out: dict[str, str]):
    adds = laid_out["adds"]
    number, later = adds[:2], f"{int(adds[:2]) + 1:02}"
    helper, op = f"lessons/{adds}/times.cuh", f"lessons/{adds}/accumulate.cu"
    stubs = {path: (tree.path / path).read_text() for path in (helper, op)}
    solved = {path: solution_text(tree, path) for path in (helper, op)}
    check = f"make check-lesson{number} DEVICE=cpu ONLY=accumulate/lesson{number}"

    # The op is written, the helper is not: that is what is said, and it counts as an exercise.
    tree.write(op, solved[op])
    said = tree.run(check, status=2)
    assert f"accumulate  not written yet   {helper}" in said, said
    assert f"next    edit {helper}" in said, said
    assert re.search(r"\n  times +not written yet\n", tree.run("make progress"))
    assert "times: yours does not pass yet" in tree.run(f"make diff-lesson{number} ONLY=times", status=2)
    assert "has no hints for times" in tree.run(f"make hint-lesson{number} ONLY=times")
    assert "a helper is judged with what includes it: ONLY=accumulate" in tree.run(
        f"{check[: -len('accumulate/lesson00')]}times", status=2
    )

    # A wrong one: the op is checked again, and the helper is named beside it.
    tree.write(helper, solved[helper].replace("a * b", "a + b"))
    said = tree.run(check, status=2)
    assert "accumulate  WRONG" in said, said
    assert f"with      {helper}, yours too" in said, said

    # A lesson after it takes the solution's while this one's is the stub, and says so; then the learner's.
    tree.run("make new-lesson NAME=later OPS=accumulate")
    later_op = f"lessons/{later}_later/accumulate.cu"
    assert f'#include "{adds}/times.cuh"' in (tree.path / f"solutions/{later}_later/accumulate.cu").read_text()
    tree.run("make stubs", status=None)  # it refuses the edited ones
    shutil.copy(tree.path / f"solutions/{adds}/cases.py", tree.path / f"solutions/{later}_later/cases.py")
    tree.run(".venv/bin/python -m reference.dump --draws 1")
    later_check = f"make check-lesson{later} DEVICE=cpu ONLY=accumulate/lesson{later}"
    tree.write(later_op, solution_text(tree, later_op))
    said = tree.run(later_check, status=2)
    assert "accumulate  WRONG" in said, said
    assert f"with      {helper}, yours too" in said, said
    assert "all ok" in tree.run(later_check + " SOLUTION=1"), "the solution has the solution's"
    tree.write(helper, stubs[helper])
    said = tree.run(later_check)
    assert "all ok" in said, said
    assert f"with solutions/{adds}/times.cuh: {helper} is not" in said, said
    tree.write(helper, solved[helper])
    said = tree.run(later_check)
    assert "all ok" in said, said
    assert "is not written yet" not in said, said

    # Right: the diff is shown, and the stub comes back.
    tree.run(f"make check-lesson{number} DEVICE=cpu ONLY=accumulate")
    assert re.search(r"\n  times +ok\n", tree.run("make progress"))
    assert "times: yours is the solution, letter for letter" in tree.run(f"make diff-lesson{number} ONLY=times")
    assert f"{helper} is the stub again; yours is kept in" in tree.run(f"make reset-lesson{number} ONLY=times")
    assert (tree.path / helper).read_text() == stubs[helper]
    (tree.path / helper).unlink()
    assert f"the stub comes back with: make reset-lesson{number} ONLY=times" in tree.run(later_check, status=2)
    tree.run(f"make reset-lesson{number}")
    assert (tree.path / helper).read_text() == stubs[helper]
    tree.run(f"rm -r */{later}_later figures/lesson{later}.py reference/cases/lesson{later}.* results")


def test_a_file_that_no_target_names_is_refused(tree: Tree, laid_out: dict[str, str]):
    folder = laid_out["replaces"]
    toml = tree.path / "lessons" / folder / "lesson.toml"
    text = toml.read_text()
    toml.write_text(text[: text.index("[target.matmul]")])
    said = tree.run(f"build/check/lesson{folder[:2]} --subject solutions --no-timing", status=2)
    toml.write_text(text)
    assert (
        f"nothing would check solutions/{folder}/matmul.cpp: lessons/{folder}/lesson.toml has no [target.matmul]"
        in said
    )


def test_the_figure_of_a_new_lesson_is_drawn(tree: Tree, laid_out: dict[str, str]):
    number = laid_out["adds"][:2]
    tree.run(f".venv/bin/python figures/lesson{number}.py")
    assert (tree.path / "lessons" / laid_out["adds"] / "figure.svg").exists()


@pytest.mark.parametrize(
    ("words", "refusal"),
    [
        ("", "which name, and which exercises?"),
        ("NAME=tf32", "which name, and which exercises?"),
        ("NAME=Tf-32 OPS=matmul", "'Tf-32': names are of a to z"),
        ("NAME=layers OPS=gelu", "lessons/01_layers has that name"),
        ("NAME=more OPS=attention TRACK=card", "TRACK=card"),
        ("NAME=more OPS=tanh_bf16 TRACK=host", "tanh_bf16: a lesson for the CPU has floats alone"),
        ("NAME=more OPS=adamw INOUT=params", "INOUT=params: an in-out tensor is OP.TENSOR"),
        ("NAME=more OPS=adamw INOUT=adamw.M", "INOUT=adamw.M: an in-out tensor is OP.TENSOR"),
        ("NAME=more OPS=adamw INOUT=adam.m", "INOUT=adam.m: OPS has no adam"),
        ("NAME=more OPS=adamw INOUT=adamw.inp", "INOUT=adamw.inp: the op has a parameter inp already"),
        ("NAME=more OPS=gelu INOUT=gelu.out", "INOUT=gelu.out: lessons/gpt2/ops.h declares gelu already"),
    ],
)
def test_what_cannot_be_laid_out_is_refused_in_one_line_and_writes_nothing(tree: Tree, words: str, refusal: str):
    before = tree.changed()
    said = tree.run(f"make new-lesson {words}", status=2)
    assert refusal in said
    assert tree.changed() == before
