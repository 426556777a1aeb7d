# SPDX-License-Identifier: MIT
"""SASS by source line and the occupancy calculator, on samples written by hand in the tools' format."""

import itertools
import os
import re
import subprocess
from pathlib import Path

import pytest

from reference.gpu import inspect_op, kernel_sass, nvcc, sass, sass_table, tools
from reference.gpu.tools import ToolError

ROOT = Path(__file__).parents[2]
TOOLKIT = Path(os.environ.get("CUDA_HOME", "/usr/local/cuda")) / "include"
FLAGS = "--flags=-std=c++20 -O3 -lineinfo -I."  # as make says them


def no_other_toolkit(monkeypatch, folder: Path) -> None:
    """That of PATH, not those of this machine's usual folders and .venv."""
    for name in ("CUDA_HOME", "CUDA_PATH", "NVCC_CXX"):
        monkeypatch.delenv(name, raising=False)
    for name in ("SETUP_ROOT", "SETUP_VENV"):
        monkeypatch.setenv(name, str(folder))


def there(tool: str) -> bool:
    try:
        return bool(tools.find(tool))
    except ToolError:
        return False


PTXAS = """ptxas info    : Compiling entry function '_Z1kPf' for 'sm_80'
ptxas info    : Function properties for _Z1kPf
    8 bytes stack frame, 12 bytes spill stores, 16 bytes spill loads
ptxas info    : Used 40 registers, used 1 barriers, 8320 bytes smem, 400 bytes cmem[0]
"""
SASS = """\t.section\t.text._Z1kPf,"ax",@progbits
\t//## File "/x/lessons/07_t/a.cu", line 5
        /*0000*/                   LDS.128 R4, [R2] ;
        /*0010*/              @!P1 FFMA R1, R2, R3, R1 ;
        /*0020*/                   FFMA R1, R2, R3, R1 ;
\t//## File "/x/inner.h", line 90 inlined at "/x/lessons/07_t/a.cu", line 7
\t//## File "/x/lessons/07_t/a.cu", line 7
        /*0030*/                   LDG.E R1, [R2.64] ;
\t//## File "/x/inner.h", line 91
        /*0040*/                   EXIT ;
\t//## File "/x/lessons/07_t/a.cu", line 9
        /*0050*/                   BRA 0x0050 ;
        /*0060*/                   NOP;
$__internal_0_$__cuda_sm20_rcp:
        /*0070*/                   MUFU.RCP R1, R2 ;
"""

# A kernel whose block is its template's: only the launch bounds tell it.
TILES = """enum class Way { registers, async };
template <int kSize, Way kOnItsWay>
struct Tile {
    static constexpr int kThreads = kSize;
};
template <class Tile>
__global__ void __launch_bounds__(Tile::kThreads) copy_kernel(float* out, const float* inp) {
    out[threadIdx.x] = inp[threadIdx.x];
}
template <class Tile>
void launch(float* out, const float* inp) {
    copy_kernel<Tile><<<1, Tile::kThreads>>>(out, inp);
}
void copy(float* out, const float* inp) {
    launch<Tile<64, Way::registers>>(out, inp);
    launch<Tile<128, Way::async>>(out, inp);
}
"""


@pytest.mark.parametrize(
    ("arch", "threads", "registers", "shared", "expected"),
    [
        (80, 256, 128, 0, (2, 16, ["registers"])),
        (80, 1024, 32, 8320, (2, 64, ["threads", "registers"])),
        (90, 256, 32, 48 * 1024, (4, 32, ["shared memory"])),
        (80, 32, 16, 0, (32, 32, ["blocks"])),
        (86, 1024, 16, 0, (1, 32, ["threads"])),
        (80, 1024, 128, 0, (0, 0, ["registers"])),
        # The Best Practices Guide's own examples, "Calculating Occupancy": 75% and 63% of 64 warps.
        (80, 128, 37, 0, (12, 48, ["registers"])),
        (80, 320, 37, 0, (4, 40, ["registers"])),
    ],
)
def test_occupancy_is_set_by_the_scarcest_resource(arch, threads, registers, shared, expected):
    assert sass.occupancy(sass.LIMITS[arch], threads, registers, shared) == expected


@pytest.mark.skipif(not (TOOLKIT / "cuda_occupancy.h").exists(), reason="needs the toolkit's cuda_occupancy.h")
def test_occupancy_is_what_nvidias_own_calculator_says(tmp_path):
    source, program = Path(__file__).parent / "data/occupancy.cpp", tmp_path / "occupancy"
    subprocess.run(["g++", "-std=c++17", f"-I{TOOLKIT}", source, "-o", program], check=True)
    threads, registers = (32, 96, 256, 320, 1000, 1024), (16, 33, 64, 128, 255)
    shared = (0, 1, 100, 8320, 33000, 49152, 60000, 98000, 160000)
    kernels = [
        (arch, *kernel)
        for arch, limits in sass.LIMITS.items()
        for kernel in itertools.product(threads, registers, shared)
        if kernel[2] <= limits.shared - limits.shared_reserved
    ]
    lines = []
    for arch, *kernel in kernels:
        limits = sass.LIMITS[arch]
        lines.append(" ".join(map(str, (arch, limits.warps, limits.shared, limits.shared_reserved, *kernel))))
    said = subprocess.run([program], input="\n".join(lines), capture_output=True, text=True, check=True).stdout.split()
    ours = {kernel: sass.occupancy(sass.LIMITS[kernel[0]], *kernel[1:])[0] for kernel in kernels}
    assert ours == dict(zip(kernels, map(int, said), strict=True))


def test_registers_spills_and_shared_memory_are_read():
    assert nvcc.parse_ptxas(PTXAS) == {"_Z1kPf": nvcc.Usage(40, 8320, 12, 16)}


def test_instructions_are_counted_by_line_and_an_inlined_one_is_its_callers():
    listing = sass.parse_sass(SASS, "lessons/07_t/a.cu")["_Z1kPf"]
    assert listing.lines == {5: {"LDS.128": 1, "FFMA": 2}, 7: {"LDG.E": 1}, 9: {"BRA": 1}}
    assert listing.elsewhere == {"EXIT": 1, "MUFU.RCP": 1}


def test_a_kernel_is_shown_with_its_lines_and_its_ratio_of_loads():
    listing = sass.parse_sass(SASS, "lessons/07_t/a.cu")["_Z1kPf"]
    text = sass.kernel_text("k", listing, nvcc.Usage(128), [""] * 4 + ["x" * 99], "sm_80", 256, "assumed")
    assert "     5  " + "x" * 72 in text.splitlines()
    assert "LDS : FFMA     1 : 2, 0.50" in text
    assert "16 of 64 warps: 2 blocks, no more by registers" in text
    assert max(len(line) for line in text.splitlines()) <= 80


@pytest.mark.parametrize("read", [nvcc.parse_ptxas, lambda text: sass.parse_sass(text, "a.cu")])
def test_output_that_names_no_kernel_is_one_line(read):
    with pytest.raises(ToolError, match=r"its last line: odd$"):
        read("some\nodd\n")


@pytest.mark.parametrize(
    ("text", "threads"),
    [
        ("constexpr int kBlock = 128;\nk<<<f(n, 4), kBlock, 0, s>>>(x);", 128),
        ("constexpr int kTile = 16;\nconst dim3 block(kTile, kTile);\nk<<<grid, block>>>(x);", 256),
        (
            "constexpr int kTile = 128, kOut = 8;\nconstexpr int kSide = kTile / kOut;\ndim3 block(kSide, kSide / 2);\n"
            "const auto kernel = x ? k<true> : k<false>;\nkernel<<<grid, block>>>(x);",
            128,
        ),
        ("constexpr unsigned kBlock{4}, kRows = 32u;\nk<<<1, dim3(kRows, (1 << 2) + 4)>>>(x);", None),
        ("constexpr unsigned int kRows = 32u;\nk<<<1, dim3(kRows, (1 << 2) + 4)>>>(x);", 256),
        ("k<Tile><<<blocks, Tile::kThreads, 0, s>>>(x);", None),
        ("constexpr int kA = kB, kB = kA;\nk<<<1, kA>>>(x);", None),
        ("constexpr int kA = 2 / 0;\nk<<<1, kA>>>(x);", None),
        ("k<<<1, threads>>>(x);", None),
        ("// k<<<1, 32>>>(x);", None),
    ],
)
def test_the_block_is_taken_from_the_launch_where_it_is_told(text, threads):
    assert sass.block_of(text, "k") == threads


def test_a_template_kernel_is_named_with_its_arguments():
    first, second = "_ZN12_GLOBAL__N_11kI4TileILi64EEEEvPf", "_ZN12_GLOBAL__N_11kILb1EEEvPf"
    assert nvcc.names_of([first, second, "_Z1kPf", "_Z5otherPf"], ["k"]) == {
        first: "k<Tile<64>>",
        second: "k<true>",
        "_Z1kPf": "k",
        "_Z5otherPf": "_Z5otherPf",
    }


def test_without_a_demangler_a_kernel_has_its_bare_name(monkeypatch, tmp_path):
    monkeypatch.setenv("PATH", str(tmp_path))
    assert nvcc.names_of(["_Z1kILb1EEvPf"], ["k"]) == {"_Z1kILb1EEvPf": "k"}


def test_the_launch_bounds_are_read():
    text = """\t.section\t.nv.info._Z1kPf,"",@"SHT_CUDA_INFO"
\t//----- nvinfo : EIATTR_CUDA_API_VERSION
        /*0004*/ \t.word\t0x00000082
\t//----- nvinfo : EIATTR_MAX_THREADS
        /*00c8*/ \t.byte\t0x04, 0x05
        /*00ca*/ \t.short\t(.L_53 - .L_52)
        /*00cc*/ \t.word\t0x00000040
        /*00d0*/ \t.word\t0x00000002
        /*00d4*/ \t.word\t0x00000001
\t//----- nvinfo : EIATTR_CRS_STACK_SIZE
        /*00e0*/ \t.word\t0x00000000
\t.section\t.nv.info._Z1lPf,"",@"SHT_CUDA_INFO"
"""
    assert nvcc.parse_bounds(text) == {"_Z1kPf": 128}


def test_without_the_disassembler_the_mend_is_named(monkeypatch, tmp_path):
    monkeypatch.setenv("PATH", str(tmp_path))
    no_other_toolkit(monkeypatch, tmp_path)
    with pytest.raises(ToolError, match=r"^nvdisasm is not there: make setup NVCC=1"):
        tools.find("nvdisasm")


def test_without_the_disassembler_registers_spills_and_shared_memory_are_ptxas_own(monkeypatch, tmp_path, capsys):
    monkeypatch.chdir(ROOT)
    said = """ptxas info    : Compiling entry function '_Z21matmul_forward_kernelPfPKfS1_S1_iiii' for 'sm_80'
ptxas info    : Function properties for _Z21matmul_forward_kernelPfPKfS1_S1_iiii
    8 bytes stack frame, 4 bytes spill stores, 12 bytes spill loads
ptxas info    : Used 40 registers, used 1 barriers, 8320 bytes smem, 400 bytes cmem[0]
"""
    nvcc = tmp_path / "nvcc"
    nvcc.write_text(f"#!/bin/sh\ncat <<'SAID' >&2\n{said}SAID\n")
    nvcc.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    no_other_toolkit(monkeypatch, tmp_path)
    assert sass.main(["07", FLAGS, "--subject", "solutions", "--arch", "sm_80"]) == 0
    printed = capsys.readouterr().out
    assert "what ptxas says for sm_80" in printed
    assert "    registers      40 a thread\n    spills         4 bytes stored, 12 bytes loaded\n" in printed
    assert "    shared memory  8320 bytes a block" in printed
    assert "at 1024 threads a block, as the launch says" in printed
    assert "no instructions: nvdisasm is not there: make setup NVCC=1" in printed
    assert sass.main(["07", FLAGS, "--subject", "solutions", "--arch", "sm_80", "--full"]) == 1
    assert capsys.readouterr().err.startswith("sass-lesson07: nvdisasm is not there")


@pytest.mark.skipif(not (there("nvcc") and there("nvdisasm")), reason="needs nvcc and nvdisasm")
def test_a_solutions_kernel_has_its_products_on_one_line(monkeypatch, capsys):
    monkeypatch.chdir(ROOT)
    assert sass.main(["07", FLAGS, "--subject", "solutions", "--arch", "sm_80"]) == 0
    said = capsys.readouterr().out
    assert "8320 bytes a block" in said
    assert "at 1024 threads a block, as the launch says" in said


@pytest.mark.skipif(not (there("nvcc") and there("nvdisasm")), reason="needs nvcc and nvdisasm")
def test_each_of_a_templates_kernels_is_shown_by_name_with_its_own_block(monkeypatch, tmp_path, capsys):
    source = tmp_path / "matmul.cu"
    source.write_text(TILES)
    monkeypatch.chdir(ROOT)
    monkeypatch.setattr(inspect_op, "source_of", lambda lesson, op, subject: source)
    assert sass.main(["09", FLAGS, "--subject", "solutions", "--arch", "sm_80"]) == 0
    said = capsys.readouterr().out
    shown = re.findall(r"^  (\w+<Tile<[^\n]*>>)$.*?at (\d+) threads", said, re.DOTALL | re.MULTILINE)
    assert dict(shown) == {
        "copy_kernel<Tile<64, (Way)0>>": "64",
        "copy_kernel<Tile<128, (Way)1>>": "128",
    }
    assert "assumed" not in said


@pytest.mark.skipif(not there("nvcc"), reason="needs nvcc")
@pytest.mark.parametrize("file", sorted(ROOT.glob("solutions/*/*.cu")), ids=lambda file: "/".join(file.parts[-2:]))
def test_every_kernel_file_compiles_for_cards(file):
    compiled = (ROOT / "build/nvcc/ops" / file.relative_to(ROOT)).with_suffix(".o")
    if re.search(r"include .(checker/)?cublas", file.read_text()) and not compiled.exists():
        pytest.skip(f"{file.relative_to(ROOT)}: nvcc has no cublas_v2.h; make test CUBLAS=DIR, or make test-all")
    assert compiled.exists(), f"no {compiled.relative_to(ROOT)}; make test builds it"


@pytest.mark.skipif(not there("nvcc"), reason="needs nvcc")
@pytest.mark.parametrize("arch", ["sm_80", "sm_90a"])
@pytest.mark.parametrize("file", sass_table.solutions(ROOT), ids=lambda file: "/".join(file.parts[-2:]))
def test_a_solution_that_the_build_compiles_spills_nothing_and_takes_what_is_recorded(file, arch):
    said = (ROOT / "build/nvcc/ops" / file).with_suffix(".ptxas")
    if not said.exists():
        pytest.skip(f"no {said.relative_to(ROOT)}; make test builds it")
    parts = re.split(r"(?=ptxas info\s+: Compiling entry function)", said.read_text())
    usages = nvcc.parse_ptxas("".join(part for part in parts if f"for '{arch}'" in part))
    names = kernel_sass.names_of(ROOT, file, usages)
    assert {names[it]: (usage.stores, usage.loads) for it, usage in usages.items() if usage.stores or usage.loads} == {}
    row = sass_table.read(ROOT)[file.as_posix(), arch]
    if row["nvcc"] == nvcc.version() and row["digest"] == kernel_sass.digest(ROOT, file):
        recorded = {name: (kernel["registers"], kernel.get("shared", 0)) for name, kernel in row["kernels"].items()}
        assert {names[it]: (usage.registers, usage.shared) for it, usage in usages.items()} == recorded


def test_a_file_without_kernels_names_the_ops_that_have_some(monkeypatch, tmp_path, capsys):
    monkeypatch.chdir(ROOT)
    monkeypatch.setattr(tools, "find", lambda tool: [str(tmp_path / tool)])
    assert sass.main(["05", FLAGS, "--only", "forward", "--subject", "solutions", "--arch", "sm_80"]) == 1
    said = capsys.readouterr().err
    assert "forward.cu has no kernel of its own; ONLY= takes one of layernorm matmul" in said
    assert "forward" not in said.partition("ONLY=")[2]
