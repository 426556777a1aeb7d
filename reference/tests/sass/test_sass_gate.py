# SPDX-License-Identifier: MIT
"""The gate on SASS: what nvcc emits for the solutions' kernels spills nothing, fits as often as launch bounds and pages
say, and has the instructions that pages count, on each architecture of the course's cards."""

import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from reference.gpu import nvcc, sass, sass_table
from reference.gpu.cards import LIMITS
from reference.gpu.tools import ToolError

ROOT = Path(__file__).parents[3]
FLAGS = ["-std=c++20", "-O3", "-lineinfo", "-I.", "-Isolutions"]  # as make says them
SOURCES = [source.as_posix() for source in sass_table.solutions(ROOT)]
every_row = pytest.mark.parametrize(
    ("source", "arch"),
    [(source, arch) for source in SOURCES for arch in sass_table.ARCHS],
    ids=[f"{source.split('/', 1)[1]}-{arch}" for source in SOURCES for arch in sass_table.ARCHS],
)


# ---- what a kernel takes ---------------------------------------------------------------------------------------------

PRODUCTS = ("fma", "tensor")


def loop_of(kernel: dict) -> dict:
    """The region with the most multiply-adds, or instructions on tensor cores: the inner loop."""
    return max(kernel["regions"], key=lambda region: sum(region["instructions"].get(kind, 0) for kind in PRODUCTS))


def accesses(region: dict, kind: str, size: int | None = None) -> int:
    """Loads or stores, by kind and by bytes per thread."""
    return sum(row["count"] for row in region["accesses"] if row["kind"] == kind and size in (None, row["bytes"]))


def threads_of(source: str, name: str, kernel: dict) -> int | None:
    return kernel.get("bounds") or sass.block_of((ROOT / source).read_text(), name.partition(" ")[0])


def blocks_of(arch: str, threads: int, kernel: dict, dynamic: int = 0) -> tuple[int, str]:
    """How many fit a multiprocessor, and what allows no more."""
    limits = LIMITS[int(re.sub(r"\D", "", arch))]
    blocks, _, by = sass.occupancy(limits, threads, kernel["registers"], kernel.get("shared", 0) + dynamic)
    return blocks, ", ".join(by)


def spilled(row: dict) -> list[str]:
    """What is wrong, a line a kernel."""
    found = []
    for name, kernel in row["kernels"].items():
        spills, inside = kernel.get("spills", 0), accesses(loop_of(kernel), "local_ld")
        if spills:
            found.append(f"{row['source']}: {name} spills {spills} bytes on {row['arch']}")
        if inside:
            found.append(f"{row['source']}: {name} has {inside} loads of local memory in its loop on {row['arch']}")
    return found


def crowded(row: dict) -> list[str]:
    """Of which fewer blocks fit than its __launch_bounds__ says; or none does, and each launch is refused."""
    found = []
    for name, kernel in row["kernels"].items():
        threads, wanted = threads_of(row["source"], name, kernel), kernel.get("resident", 1)
        blocks, by = blocks_of(row["arch"], threads, kernel)
        if blocks < wanted:
            fit = f"{wanted} block{'s' * (wanted != 1)} of {threads} threads"
            found.append(f"{row['source']}: {row['arch']} has no room for {fit} of {name}: {blocks} by {by}")
    return found


@every_row
def test_nothing_is_spilled(emitted, source, arch):
    assert spilled(emitted(source, arch)) == []


# Kernels of an instruction that the architecture lacks: they trap there, and their launch bounds are for other cards.
TRAPS = {("solutions/18_mma_tf32/matmul.cu", "sm_75")}


@every_row
def test_as_many_blocks_fit_as_the_launch_bounds_say(emitted, source, arch):
    row = emitted(source, arch)
    assert all(threads_of(source, name, kernel) for name, kernel in row["kernels"].items())
    assert (crowded(row) == []) == ((source, arch) not in TRAPS)


# ---- what the pages say ----------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Loop:
    """A kernel on an architecture, and its inner loop with what a turn may pass by."""

    kernel: dict
    arch: str
    threads: int

    @property
    def parts(self) -> list[dict]:
        loop = loop_of(self.kernel)
        at = self.kernel["regions"].index(loop)
        return [loop, *(one for one in self.kernel["regions"] if one.get("arm") and one["parent"] == at)]

    @property
    def promised(self) -> tuple[int, int]:
        """Threads of a block, and blocks that a multiprocessor is to hold: its __launch_bounds__."""
        return self.kernel.get("bounds", 0), self.kernel.get("resident", 0)

    @property
    def registers(self) -> int:
        return self.kernel["registers"]

    @property
    def spills(self) -> int:
        return self.kernel.get("spills", 0)

    def issued(self, kind: str = "issued") -> int:
        return sum(part["instructions"].get(kind, 0) for part in self.parts)

    def count(self, kind: str, size: int | None = None) -> int:
        return sum(accesses(part, kind, size) for part in self.parts)

    def others(self, *kinds: str) -> int:
        """Instructions that make no products and are no such accesses."""
        return self.issued() - sum(map(self.issued, PRODUCTS)) - sum(map(self.count, kinds))

    def blocks(self, dynamic: int = 0) -> int:
        return blocks_of(self.arch, self.threads, self.kernel, dynamic)[0]

    def warps(self) -> int:
        return self.blocks() * self.threads // 32


ALL = sass_table.ARCHS
H100, A100, T4 = ("sm_90a",), ("sm_80",), ("sm_75",)
NUMBERS = {"one": 1, "two": 2, "three": 3, "four": 4}
ATTENTION_SHARED = 40960  # bytes of a block for heads of 64 channels, which its launch asks for
TF32_ATTENTION_SHARED = 37888
ROUNDING = 2 * 64  # lesson 18's loop: a comparison and an addition for each of a lane's 64 floats


@dataclass(frozen=True)
class Said:
    """What a page says: a pattern whose groups are numbers. What they must be on each of the architectures is found in
    the kernels of a lesson's op whose names have these words."""

    page: str
    lesson: str
    op: str
    words: str
    archs: tuple[str, ...]
    pattern: str
    found: Callable[[Loop], tuple[int, ...]]


def on(lesson: str, op: str = "matmul", words: str = "", page: str = "") -> Callable[..., Said]:
    return lambda archs, pattern, found: Said(page or lesson, lesson, op, words, archs, pattern, found)


of_07, of_08, of_09, of_10 = on("07"), on("08"), on("09"), on("10")
vectors_08, vectors_09 = on("08", words="kVectors = true"), on("09", words="kVectors = true")
vectors_18 = on("18", words="kVector = 4")
layernorm_12 = on("12", "layernorm", "Piece = float4; int kKept = 6")
residual_12 = on("12", "residual_layernorm", "Piece = float4; int kKept = 6")
of_13 = on("13", "causal_softmax")
long_14, of_16 = on("14", "softmax", "kThreads = 512"), on("16", "attention", "kHS = 64")
of_19 = on("19", "attention", "kHS = 64")
SAID = (
    on("04", "gelu")(
        ALL,
        r"lets nvcc emit (four) loads of `gelu` and then (four) stores",
        lambda k: (loop_of(k.kernel)["loads_in_flight"], k.count("global_st")),
    ),
    on("04", "encoder")(
        ALL[:-1],
        r"only then does it put (four) turns side by side",
        lambda k: (max(accesses(region, "global_st") for region in k.kernel["regions"]),),
    ),
    of_07(
        ALL,
        r"For (\d+) products nvcc 13 emits (\d+) FMAs, (\d+) loads of one float of `weight_tile`, and (\d+) loads of",
        lambda k: (32, k.issued("fma"), k.count("shared_ld", 4), k.count("shared_ld", 16)),
    ),
    of_07(H100, r"multiprocessor of an H100 holds (two) such", lambda k: (k.blocks(),)),
    of_07(T4, r"such blocks,[^.;]*; a T4's holds (one)\b", lambda k: (k.blocks(),)),
    on("07", page="08")(H100, r"\(lesson 07\) \|.*\| (\d+) \| (\d+) \|", lambda k: (k.registers, k.warps())),
    vectors_08(
        ALL,
        r"(\d+) `LDS\.128` \(16 bytes[^)]*\), (\d+) `FFMA`",
        lambda k: (k.count("shared_ld", 16), k.issued("fma")),
    ),
    vectors_08(H100, r"`FFMA` \(multiply-adds\) and (\d+) more", lambda k: (k.others("shared_ld"),)),
    vectors_08(H100, r"\| 8 × 8 \|.*\| (\d+) \| (\d+) \|", lambda k: (k.registers, k.warps())),
    vectors_08(A100, r"(\d+) registers on sm_80", lambda k: (k.registers,)),
    vectors_08(H100, r"(\d+) on sm_90a, no spills", lambda k: (k.registers,)),
    of_08(ALL, r"`__launch_bounds__\((\d+), (\d+)\)`", lambda k: k.promised),
    of_08(ALL, r"so (two) blocks fit and a third does not", lambda k: (k.blocks(),)),
    vectors_09(
        ALL,
        r"([\d,]+) multiply-adds \(`FFMA`\), (\d+) for shared memory \(`LDS\.128`, `STS`\), (\d+) for global memory",
        lambda k: (k.issued("fma"), k.count("shared_ld", 16) + k.count("shared_st"), k.count("global_ld", 16)),
    ),
    vectors_09(
        H100,
        r"emits ([\d,]+) instructions on sm_90a.*and (\d+) for addresses, bounds, barriers",
        lambda k: (k.issued(), k.others("shared_ld", "shared_st", "global_ld")),
    ),
    vectors_09(("sm_75", "sm_80"), r"(\d+) registers on sm_75 and sm_80", lambda k: (k.registers,)),
    vectors_09(H100, r"(\d+) on sm_90a, with nothing spilled", lambda k: (k.registers,)),
    of_09(ALL, r"(Two) blocks of (\d+) threads fit", lambda k: (k.blocks(), k.threads)),
    of_10(ALL, r"`FFMA`, the multiply-adds \| ([\d,]+) \|", lambda k: (k.issued("fma"),)),
    of_10(ALL, r"`LDS\.128`, 16 bytes from shared memory \| (\d+) \|", lambda k: (k.count("shared_ld", 16),)),
    of_10(ALL[1:], r"`LDGSTS`, the asynchronous copies \| (\d+) \|", lambda k: (k.count("async_copy"),)),
    of_10(
        A100,
        r"branch \| (\d+) \| .*\n\| in all \| ([\d,]+) \|.*\n\| registers, spilled bytes \| (\d+), (\d+) \|",
        lambda k: (k.others("shared_ld", "async_copy"), k.issued(), k.registers, k.spills),
    ),
    of_10(
        H100,
        r"branch \|.*\| (\d+) \|\n\| in all \|.*\| ([\d,]+) \|\n\| registers, spilled bytes \|.*\| (\d+), (\d+) \|",
        lambda k: (k.others("shared_ld", "async_copy"), k.issued(), k.registers, k.spills),
    ),
    of_10(T4, r"nvcc 13.0 takes (\d+) of them, with nothing spilled", lambda k: (k.registers,)),
    of_10(T4, r"Two blocks of ([\d,]+) bytes do not fit", lambda k: (k.kernel["shared"],)),
    of_10(T4, r"so (one) block fits a multiprocessor", lambda k: (k.blocks(),)),
    on("12", "matmul_gelu")(ALL[1:], r"kernel of `matmul_gelu` the (\d+) registers", lambda k: (k.registers,)),
    layernorm_12(H100, r"shows (\d+) per thread, without spills", lambda k: (k.registers,)),
    layernorm_12(H100, r"room for 65,536 / 64 = [\d,]+ threads: (\d+) of its", lambda k: (k.warps(),)),
    residual_12(
        ALL[1:], r"holds nvcc to (\d+) registers: [\d,]+ threads, so (four) b", lambda k: (k.registers, k.blocks())
    ),
    of_13(H100, r"nvcc gives the kernel (\d+) registers, so (\d+) blocks fit", lambda k: (k.registers, k.blocks())),
    long_14(
        H100,
        r"\| \*\*(\d+)\*\* \| \*\*(\d+)\*\* \| \*\*(\d+)\*\* \| \*\*(\d+)\*\* \|",
        lambda k: (k.threads, k.count("global_ld", 16), k.registers, k.spills),
    ),
    long_14(
        ALL, r"(\d+) threads of \d+ registers fill a multiprocessor: (one) block", lambda k: (k.threads, k.blocks())
    ),
    of_16(
        H100,
        r"turns of (\d+), each with (\d+) `FFMA` and (\d+) `LDS\.128`",
        lambda k: (k.issued(), k.issued("fma"), k.count("shared_ld", 16)),
    ),
    of_16(ALL, r"each with (\d+) `FFMA` and (\d+) `LDS", lambda k: (k.issued("fma"), k.count("shared_ld", 16))),
    of_16(H100, r"A thread has (\d+) registers and spills none", lambda k: (k.registers,)),
    of_16(ALL, r"a block has ([\d,]+) bytes of shared memory", lambda k: (ATTENTION_SHARED,)),
    of_16(H100, r"An H100 holds (\d+) blocks of 2 warps", lambda k: (k.blocks(ATTENTION_SHARED),)),
    of_16(A100, r"of 2 warps, an A100 (\d+)", lambda k: (k.blocks(ATTENTION_SHARED),)),
    of_16(("sm_86", "sm_89"), r"an RTX 3090 or 4090 (\d+)", lambda k: (k.blocks(ATTENTION_SHARED),)),
    of_16(T4, r"a card of sm_75 only (\d+)", lambda k: (k.blocks(ATTENTION_SHARED),)),
    vectors_18(ALL[1:], r"`HMMA`, 1,024 multiply-adds each \| (\d+) \|", lambda k: (k.issued("tensor"),)),
    vectors_18(ALL[1:], r"`LDS\.128`, 16 bytes from shared memory \| (\d+) \|", lambda k: (k.count("shared_ld", 16),)),
    vectors_18(ALL[1:], r"`LDGSTS`, the asynchronous copies \| (\d+) \|", lambda k: (k.count("async_copy", 16),)),
    vectors_18(
        A100,
        r"branch \| (\d+) \| .*\n\| in all \| (\d+) \|",
        lambda k: (k.others("shared_ld", "async_copy") - ROUNDING, k.issued()),
    ),
    vectors_18(
        H100,
        r"branch \|.*\| (\d+) \|\n\| in all \|.*\| (\d+) \|",
        lambda k: (k.others("shared_ld", "async_copy") - ROUNDING, k.issued()),
    ),
    vectors_18(ALL[1:], r"`__launch_bounds__\((\d+), (\d+)\)`", lambda k: k.promised),
    vectors_18(A100, r"takes (\d+) on sm_80", lambda k: (k.registers,)),
    vectors_18(H100, r"and (\d+) on sm_90a", lambda k: (k.registers,)),
    vectors_18(H100, r"A block of 4 warps issues 4 · (\d+)", lambda k: (k.issued(),)),
    vectors_18(H100, r"on sm_90a (\d+) of the loop's (\d+)", lambda k: (k.others(), k.issued())),
    of_19(H100, r"executes (\d+) instructions for scores and softmax", lambda k: (k.issued(),)),
    of_19(ALL[1:], r"(\d+) of them are `HMMA`", lambda k: (2 * k.issued("tensor"),)),
    of_19(ALL[1:-1], r"(\d+) registers on sm_80 to sm_90a and spills none", lambda k: (k.registers,)),
    of_19(ALL[1:], r"With ([\d,]+) bytes of shared memory each", lambda k: (TF32_ATTENTION_SHARED,)),
    of_19(ALL[1:], r"each, (two) blocks of 4 warps fit", lambda k: (k.blocks(TF32_ATTENTION_SHARED),)),
    on("20", "loss", "kThreads = 512")(
        A100 + H100, r"kernel (\d+) registers \(sm_80 and sm_90a\)", lambda k: (k.registers,)
    ),
    on("20", "loss", "kThreads = 512")(H100, r"(Four) blocks share a multiprocessor", lambda k: (k.blocks(),)),
)


def page_of(lesson: str) -> Path:
    [path] = ROOT.glob(f"lessons/{lesson}_*/README.md")
    return path


def numbers(said: Said, page: str) -> tuple[int, ...] | None:
    """As the page has them; None where it has no such sentence."""
    found = re.search(said.pattern, page)
    return found and tuple(NUMBERS.get(group.lower()) or int(group.replace(",", "")) for group in found.groups())


@pytest.mark.parametrize(
    ("said", "arch"),
    [pytest.param(said, arch, id=f"{said.lesson}-{arch}-{i}") for i, said in enumerate(SAID) for arch in said.archs],
)
def test_a_pages_numbers_are_those_of_the_code(emitted, table, said, arch):
    source = next(path for path in SOURCES if re.search(rf"/{said.lesson}_\w+/{said.op}\.cu$", path))
    row, page = emitted(source, arch), page_of(said.page)
    if row["nvcc"] != table[source, arch]["nvcc"]:
        pytest.skip(f"the pages' numbers are of nvcc {table[source, arch]['nvcc']}, and nvcc {row['nvcc']} is here")
    on_page = numbers(said, page.read_text())
    assert on_page, f"{page.relative_to(ROOT)} has no sentence like {said.pattern}: mend the page, or this gate"
    kernels = {name: kernel for name, kernel in row["kernels"].items() if said.words in name}
    assert kernels, f"{source} has no kernel with {said.words}"
    for name, kernel in kernels.items():
        loop = Loop(kernel, arch, threads_of(source, name, kernel))
        assert said.found(loop) == on_page, f"{name} on {arch}, against the page's: {said.pattern}"


# Page 14's three ways to spread a row, of which the solution has one; the others are compiled from its template.
WAYS = ((1024, 13), (512, 25), (256, 50))  # threads, and float4s in each
PARAMETERS = "float*, const float*, int, int, int, bool"
INSTANCES = "".join(
    f"template __global__ void softmax_forward_kernel<{threads}, 1, {vectors}>({PARAMETERS});"
    for threads, vectors in WAYS
    if threads != 512
)


def nvcc_here() -> str:
    try:
        return nvcc.version()
    except ToolError:
        return ""


def test_page_14s_ways_to_spread_a_row_take_the_registers_and_spills_that_it_says(table, monkeypatch, tmp_path):
    source = "solutions/14_block_reduction/softmax.cu"
    if nvcc_here() != table[source, "sm_90a"]["nvcc"]:
        pytest.skip(f"nvcc {table[source, 'sm_90a']['nvcc']} is not here")
    monkeypatch.chdir(ROOT)
    file = tmp_path / "ways.cu"
    file.write_text(f'#include "{source}"\nnamespace {{ {INSTANCES} }}\n')
    usages = nvcc.parse_ptxas(nvcc.compiled(file, "sm_90a", FLAGS, tmp_path / "ways.cubin"))
    page = page_of("14").read_text().replace("*", "")
    for threads, vectors in WAYS:
        [usage] = [usage for name, usage in usages.items() if f"ILi{threads}ELi1ELi{vectors}E" in name]
        row = f"| {threads:,} | {vectors} | {usage.registers} | {usage.stores} |"
        assert row in page, f"{page_of('14').relative_to(ROOT)} has no row {row}"


# ---- that the gate closes --------------------------------------------------------------------------------------------

SOURCE = "solutions/08_register_tiled_matmul/matmul.cu"


def spoiled(table: dict, arch: str = "sm_86", **changes) -> dict:
    """A recorded row whose kernels differ."""
    row = table[SOURCE, arch]
    return row | {"kernels": {"k": next(iter(row["kernels"].values())) | {"bounds": 256, "resident": 2} | changes}}


def test_a_kernel_that_spills_is_named_with_its_bytes(table):
    assert spilled(spoiled(table, spills=8)) == [f"{SOURCE}: k spills 8 bytes on sm_86"]


def test_a_load_of_local_memory_in_the_loop_is_named(table):
    loop = {"parent": -1, "instructions": {"fma": 9}, "accesses": [{"kind": "local_ld", "bytes": 4, "count": 3}]}
    said = spilled(spoiled(table, regions=[loop]))
    assert said == [f"{SOURCE}: k has 3 loads of local memory in its loop on sm_86"]


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"registers": 129}, "2 blocks of 256 threads of k: 1 by registers"),
        ({"shared": 51201}, "2 blocks of 256 threads of k: 1 by shared memory"),
        ({"bounds": 1024}, "2 blocks of 1024 threads of k: 0 by registers"),
        ({"resident": 7}, "7 blocks of 256 threads of k: 2 by registers"),
    ],
)
def test_a_kernel_that_does_not_fit_is_named_with_what_it_lacks(table, changes, said):
    assert crowded(spoiled(table, registers=120) | {}) == []
    assert crowded(spoiled(table, **({"registers": 120} | changes))) == [f"{SOURCE}: sm_86 has no room for {said}"]


def test_a_page_without_the_sentence_has_no_numbers():
    assert numbers(SAID[0], "For 32 products nvcc 13 emits 32 FMAs.") is None
