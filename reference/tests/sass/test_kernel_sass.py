# SPDX-License-Identifier: MIT
"""The JSON of what nvcc emits: kernels by the names that the CPU device prints, its digest, its refusals."""

import json
from pathlib import Path

import pytest

from reference.gpu import kernel_sass, nvcc, tools
from reference.gpu.tools import ToolError

ROOT = Path(__file__).parents[3]
LOOPS = Path(__file__).parent / "data/loops.cu"
FLAGS = ["-std=c++20", "-O3", "-lineinfo", "-I."]
TEMPLATES = """enum class Way { registers, async };
template <class Tile>
__global__ void __launch_bounds__(Tile::kThreads) copy_kernel(float* out, const float* inp) {}
template <int k, bool b = true, unsigned u, long l, class T>
__global__ void many(T* out) {}
template <class... X>
__global__ void pack(float* out) {}
template <class T>
struct Tile {};
__global__ void plain(float* out) {}
"""


def has(tool: str) -> bool:
    try:
        return bool(tools.find(tool))
    except ToolError:
        return False


needs_tools = pytest.mark.skipif(not (has("nvcc") and has("nvdisasm")), reason="needs nvcc and nvdisasm")


@pytest.mark.parametrize(
    ("full", "kernel", "name"),
    [
        ("plain(float*)", "plain", "plain"),
        ("ns::plain(float*)", "plain", "ns::plain"),
        ("(anonymous namespace)::plain(float*)", "plain", "plain"),
        (
            "void (anonymous namespace)::copy_kernel<(anonymous namespace)::Tile<64, (Way)1> >(float*, float const*)",
            "copy_kernel",
            "copy_kernel [Tile = Tile<64, Way::async>]",
        ),
        (
            "void many<3, true, 7u, -9l, float>(float*)",
            "many",
            "many [int k = 3; bool b = true; unsigned int u = 7; long int l = -9; T = float]",
        ),
        ("void pack<int, float4>(float*)", "pack", "pack [X = {int, float4}]"),
        ("_Z4manyIfEvPT_", "many", "many"),
    ],
)
def test_a_kernel_has_the_name_that_the_cpu_device_prints(full, kernel, name):
    assert kernel_sass.device_name(full, kernel, TEMPLATES) == name


def test_the_digest_moves_with_a_line_and_with_a_helper(tmp_path):
    (tmp_path / "helper.cuh").write_text("// one\n")
    (tmp_path / "k.cu").write_text('#include "helper.cuh"\n')
    source = Path("k.cu")
    first = kernel_sass.digest(tmp_path, source)
    assert first == kernel_sass.digest(tmp_path, source)
    (tmp_path / "helper.cuh").write_text("\n// one\n")
    second = kernel_sass.digest(tmp_path, source)
    assert second != first
    (tmp_path / "k.cu").write_text('\n#include "helper.cuh"\n')
    assert kernel_sass.digest(tmp_path, source) not in (first, second)


def test_the_digest_is_fnv_1a(tmp_path):
    (tmp_path / "k.cu").write_text("foobar")
    assert kernel_sass.digest(tmp_path, Path("k.cu")) == "85944171f73967e8"  # of the algorithm's own test vectors


def test_the_blocks_that_launch_bounds_ask_for_are_read():
    ptx = """.visible .entry _Z1kPf(
\t.param .u64 _Z1kPf_param_0
)
.maxntid 256, 1, 1
.minnctapersm 2
{
}
.entry _Z1lv(
)
{
}
"""
    assert nvcc.parse_resident(ptx) == {"_Z1kPf": 2}


def test_an_architecture_that_nvcc_does_not_know_is_named_with_those_that_it_knows(monkeypatch, tmp_path):
    program = tmp_path / "nvcc"
    program.write_text(
        '#!/bin/sh\n[ "$1" = --version ] && echo "Cuda compilation tools, release 13.0, V13.0.88" && exit\n'
        "printf 'sm_75\\nsm_80\\nsm_121\\nsm_100\\n'\n"
    )
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    with pytest.raises(ToolError, match=r"^nvcc 13\.0 does not know sm_70: it knows sm_75 to sm_121$"):
        nvcc.require("sm_70")
    nvcc.require("sm_100a")


def test_what_is_no_architecture_is_said():
    with pytest.raises(ToolError, match=r"^ARCH=86: it is sm_ and a number"):
        nvcc.require("86")


def test_a_file_that_is_not_there_is_one_line(capsys, tmp_path):
    assert kernel_sass.main([str(tmp_path / "no.cu"), "--arch", "sm_86"]) == 1
    assert capsys.readouterr().err.startswith(f"kernel-sass: {tmp_path}/no.cu is not there")


@needs_tools
@pytest.mark.parametrize("arch", ["sm_75", "sm_86", "sm_90a"])
def test_a_files_kernels_are_written_with_their_registers_and_loops(tmp_path, arch):
    out = tmp_path / "loops.json"
    assert kernel_sass.main([str(LOOPS), "--arch", arch, "--flags", " ".join(FLAGS), "--out", str(out)]) == 0
    found = json.loads(out.read_text())
    assert found["arch"] == arch
    kernels = found["kernels"]
    assert sorted(kernels) == ["copied", "divided", "merged", "nested", "shuffled", "sum_unrolled"]
    assert kernels["nested"]["shared"] == 128
    assert [region["parent"] for region in kernels["nested"]["regions"]] == [-1, 0, 1]
    widths = [(row["kind"], row["bytes"]) for row in kernels["merged"]["regions"][0]["accesses"]]
    assert widths == [("global_ld", 16), ("global_st", 4)]
