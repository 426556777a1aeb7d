# SPDX-License-Identifier: MIT
"""A source's hash follows its tokens: comments and layout do not move it, and everything else does."""

import os
from pathlib import Path

import pytest

from reference.gpu.sources import closure, digest, tokens

KERNEL = """// Adds.
#define TWO 2
__global__ void add(float* x) {
    x[threadIdx.x] += TWO * 1'000.0F;  // here
    printf("// %d /* %c\\n", 3, '"');
}
"""


@pytest.mark.parametrize(
    "same",
    [
        KERNEL.replace("// Adds.", "/* Sums.\n   Two lines. */"),
        KERNEL.replace("  // here", ""),
        KERNEL.replace("(float* x) {", "(\n    float *x)\n{"),
        KERNEL.replace("// here", "// 'tis here, a \" too"),
    ],
)
def test_a_comment_or_the_layout_is_no_other_source(same):
    assert tokens(same) == tokens(KERNEL)


@pytest.mark.parametrize(
    ("old", "new"),
    [("TWO *", "TWO +"), ("TWO 2", "TWO 3"), ("// %d", "//  %d"), ("1'000", "1'001"), ("2\n", "2 "), ("'\"'", "'''")],
)
def test_any_token_is(old, new):
    assert old in KERNEL
    assert tokens(KERNEL.replace(old, new, 1)) != tokens(KERNEL)


def write(path, text):
    path.parent.mkdir(parents=True, exist_ok=True)
    before = path.stat().st_mtime_ns if path.exists() else 0
    path.write_text(text)
    os.utime(path, ns=(before + 1, before + 1))


def test_a_result_depends_on_what_is_compiled_with_it_and_on_nothing_else(tmp_path):
    write(tmp_path / "lessons/05/op.cu", '#include "lessons/05/tile.cuh"\n#include <cuda.h>\n')
    write(tmp_path / "lessons/05/tile.cuh", '#include "checker/timing.h"\n')
    write(tmp_path / "checker/timing.h", "int now();")
    write(tmp_path / "checker/timing.cpp", "int now() { return 1; }")
    write(tmp_path / "checker/judge.cpp", "int judge();")
    found = [str(path) for path in closure(tmp_path, ["lessons/05/op.cu"])]
    assert found == ["checker/timing.cpp", "checker/timing.h", "lessons/05/op.cu", "lessons/05/tile.cuh"]
    before = digest(tmp_path, closure(tmp_path, ["lessons/05/op.cu"]))
    write(tmp_path / "checker/judge.cpp", "int judge(int);")
    write(tmp_path / "checker/timing.h", "int now();  // seconds")
    assert digest(tmp_path, closure(tmp_path, ["lessons/05/op.cu"])) == before
    write(tmp_path / "checker/timing.cpp", "int now() { return 2; }")
    assert digest(tmp_path, closure(tmp_path, ["lessons/05/op.cu"])) != before


def test_a_helper_is_found_beside_the_file_and_in_the_folder_of_lessons_that_it_is_in(tmp_path):
    write(tmp_path / "lessons/05/op.cu", '#include "sum.cuh"\n')
    write(tmp_path / "lessons/06/op.cu", '#include "05/sum.cuh"\n')
    write(tmp_path / "lessons/05/sum.cuh", "float sum();")
    for op in ("lessons/05/op.cu", "lessons/06/op.cu"):
        assert [str(path) for path in closure(tmp_path, [op])] == sorted([op, "lessons/05/sum.cuh"])


@pytest.mark.parametrize(
    ("name", "text", "same"), [("a.toml", "a = 1\n", "# x\na = 1\n"), ("a.py", "a=1", "a = 1  # x")]
)
def test_other_languages_comments_do_not_count_either(tmp_path, name, text, same):
    write(tmp_path / name, text)
    before = digest(tmp_path, [Path(name)])
    write(tmp_path / name, same)
    assert digest(tmp_path, [Path(name)]) == before
    write(tmp_path / name, text.replace("1", "2"))
    assert digest(tmp_path, [Path(name)]) != before
