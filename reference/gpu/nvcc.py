# SPDX-License-Identifier: MIT
"""nvcc and nvdisasm: how a kernel file is compiled for an architecture, and what they say of its kernels."""

from __future__ import annotations

import re
import shutil
import sys
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from reference.gpu import tools
from reference.gpu.tools import ToolError, run

LIMIT = 300  # seconds for one tool


def version() -> str:
    """All of it: "13.0.88"."""
    found = re.search(r"\bV(\d+\.\d+\.\d+)", run([*tools.find("nvcc"), "--version"], LIMIT).output)
    if not found:
        raise ToolError("nvcc --version printed no version")
    return found[1]


def require(arch: str) -> None:
    """Raises ToolError where it is no architecture, or one that nvcc does not know: with those that it knows."""
    if not re.fullmatch(r"sm_\d+[af]?", arch):
        raise ToolError(f"ARCH={arch}: it is sm_ and a number, such as sm_80 or sm_90a")
    listed = run([*tools.find("nvcc"), "--list-gpu-code"], LIMIT).output
    known = sorted(map(int, re.findall(r"^sm_(\d+)$", listed, re.MULTILINE)))
    if known and int(re.sub(r"\D", "", arch)) not in known:
        release = ".".join(version().split(".")[:2])
        raise ToolError(f"nvcc {release} does not know {arch}: it knows sm_{known[0]} to sm_{known[-1]}")


def compiled(source: Path, arch: str, flags: list[str], cubin: Path) -> str:
    """Writes the cubin; gives what ptxas said."""
    cubin.parent.mkdir(parents=True, exist_ok=True)
    more = [f"-arch={arch}", "-cubin", "-Xptxas", "-v"]
    built = run([*tools.find("nvcc"), *flags, *more, str(source), "-o", str(cubin)], LIMIT)
    if built.status != 0:
        require(arch)
        print(built.output, end="", file=sys.stderr)
        if missing := re.search(r"(cublas\w*\.h): No such file", built.output):
            raise ToolError(f"{source} calls cuBLAS, and nvcc has no {missing[1]}: CUBLAS=DIR names a folder with it")
        raise ToolError(f"{source} does not compile for {arch}")
    return built.output


def disassembled(nvdisasm: list[str], cubin: Path, *more: str) -> str:
    listed = run([*nvdisasm, *more, str(cubin)], LIMIT)
    if listed.status != 0:
        raise ToolError(f"nvdisasm: {tools.last_line(listed.output) or 'it said nothing'}")
    return listed.output


@dataclass
class Usage:
    registers: int = 0
    shared: int = 0
    stores: int = 0  # bytes of spills
    loads: int = 0


def parse_ptxas(output: str) -> dict[str, Usage]:
    """By mangled name."""
    found: dict[str, Usage] = {}
    current = None
    for line in output.splitlines():
        if name := re.search(r"Compiling entry function '(\S+)'", line):
            current = found.setdefault(name[1], Usage())
        elif current and (spills := re.search(r"(\d+) bytes spill stores, (\d+) bytes spill loads", line)):
            current.stores, current.loads = int(spills[1]), int(spills[2])
        elif current and (used := re.search(r"Used (\d+) registers", line)):
            current.registers = int(used[1])
            shared = re.search(r"(\d+) bytes smem", line)
            current.shared = int(shared[1]) if shared else 0
    if not found:
        raise ToolError(f"ptxas named no kernel; its last line: {tools.last_line(output) or 'none'}")
    return found


def parse_bounds(text: str) -> dict[str, int]:
    """Threads of the largest block that a kernel may have, by mangled name, where its __launch_bounds__ says it."""
    found: dict[str, int] = {}
    current, words = None, 0
    for line in text.splitlines():
        if section := re.match(r"\s*\.section\s+\.nv\.info\.([^\s,]+)", line):
            current, words = section[1], 0
        elif "EIATTR_" in line:
            words = 3 if "EIATTR_MAX_THREADS" in line else 0
        elif current and words and (word := re.search(r"\.word\s+0x([0-9a-f]+)", line)):
            found[current] = found.get(current, 1) * int(word[1], 16)
            words -= 1
    return found


def parse_resident(ptx: str) -> dict[str, int]:
    """Blocks that a multiprocessor is to hold at least, by mangled name, where __launch_bounds__ says it."""
    found = re.findall(r"\.entry\s+(\w+)\([^)]*\)([^{]*)\{", ptx)
    said = {name: re.search(r"\.minnctapersm\s+(\d+)", directives) for name, directives in found}
    return {name: int(blocks[1]) for name, blocks in said.items() if blocks}


def demangled(mangled: Iterable[str]) -> dict[str, str]:
    """Whole signatures; without c++filt, which comes with the compiler, the names as they are."""
    mangled = list(mangled)
    filter_path = shutil.which("c++filt")
    full = run([filter_path, *mangled], LIMIT).output.splitlines() if filter_path else mangled
    return dict(zip(mangled, full if len(full) == len(mangled) else mangled, strict=True))


def names_of(mangled: Iterable[str], kernels: list[str]) -> dict[str, str]:
    """A kernel's name with its template's arguments, `k<Tile<128, 8>, true>`, by mangled name; its bare name where that
    is not known."""
    names = {}
    for symbol, text in demangled(mangled).items():
        kernel = next((kernel for kernel in kernels if f"{len(kernel)}{kernel}" in symbol), "")
        found = re.search(rf"\b{kernel}(?:<.*?>)?(?=\()", text) if kernel else None
        names[symbol] = found[0].replace("> >", ">>") if found else kernel or symbol
    return names
