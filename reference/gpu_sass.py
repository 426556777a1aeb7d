# SPDX-License-Identifier: MIT
"""`make sass-lesson05`: what nvcc makes of an op's kernels, by source line, and how many of their warps a
multiprocessor holds. Needs no GPU."""

from __future__ import annotations

import re
import sys
import textwrap
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

from reference import gpu_tools as tools
from reference.gpu_inspect import find_lesson, find_op, source_of
from reference.gpu_tools import Parser, ToolError, run
from reference.lesson_shapes import ShapeError

LIMIT = 300  # seconds for one tool
REGISTERS = 65536  # 32-bit registers of a multiprocessor


@dataclass(frozen=True)
class Limits:
    """Of a multiprocessor. CUDA C++ Programming Guide, "Technical Specifications per Compute Capability". The last two,
    in bytes: the allocation unit of shared memory (the toolkit's cuda_occupancy.h), and what the system takes of it for
    each block (Programming Guide, "Shared Memory" of compute capability 8.x)."""

    warps: int
    blocks: int
    shared: int
    shared_unit: int = 128
    shared_reserved: int = 1024


LIMITS = {
    75: Limits(32, 16, 64 * 1024, 256, 0),
    80: Limits(64, 32, 164 * 1024),
    86: Limits(48, 16, 100 * 1024),
    87: Limits(48, 16, 164 * 1024),
    89: Limits(48, 24, 100 * 1024),
    90: Limits(64, 32, 228 * 1024),
    100: Limits(64, 32, 228 * 1024),
    110: Limits(48, 24, 228 * 1024),
    120: Limits(48, 24, 100 * 1024),
}


def up(value: int, unit: int) -> int:
    return -(-value // unit) * unit


def occupancy(limits: Limits, threads: int, registers: int, shared: int) -> tuple[int, int, list[str]]:
    """Resident blocks and warps of a multiprocessor, and what allows no more blocks. A warp's registers are allocated
    in units of 256 (CUDA C++ Best Practices Guide, "Calculating Occupancy"), each warp in one of the multiprocessor's
    four parts (cuda_occupancy.h)."""
    warps = up(threads, 32) // 32
    of_warp = up(registers * 32, 256)
    allowed = {"threads": limits.warps // warps, "blocks": limits.blocks}
    if registers:
        allowed["registers"] = REGISTERS // 4 // of_warp * 4 // warps
    if shared + limits.shared_reserved:
        allowed["shared memory"] = limits.shared // up(shared + limits.shared_reserved, limits.shared_unit)
    blocks = min(allowed.values())
    return blocks, blocks * warps, [what for what, count in allowed.items() if count == blocks]


# ---- what the compiler and the disassembler print --------------------------------------------------------------------


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


@dataclass
class Listing:
    lines: dict[int, Counter] = field(default_factory=dict)  # of the source file
    elsewhere: Counter = field(default_factory=Counter)

    def total(self) -> Counter:
        return sum(self.lines.values(), Counter(self.elsewhere))


PLACE = re.compile(r'//## File "([^"]*)", line (\d+)')
INSTRUCTION = re.compile(r"/\*[0-9a-f]{4,}\*/\s+(?:\{\s*)?(?:@!?U?P\w+\s+)?([A-Z][\w.]*)")


def parse_sass(text: str, source: str) -> dict[str, Listing]:
    """By mangled name. An inlined function's instructions are its caller's: the places are listed from the inside out.
    NOPs only fill the end of a kernel, and are left out."""
    found: dict[str, Listing] = {}
    current, place, fresh = None, 0, True
    for text_line in text.splitlines():
        if section := re.match(r"\s*\.section\s+\.text\.([^\s,]+)", text_line):
            current, place = found.setdefault(section[1], Listing()), 0
        elif re.match(r"\s*\$\S+:$", text_line):  # a function that the compiler adds, such as a division
            place, fresh = 0, True
        elif where := PLACE.search(text_line):
            place = 0 if fresh else place
            place = int(where[2]) if Path(where[1]).as_posix().endswith(source) else place
            fresh = False
        elif current and (code := INSTRUCTION.search(text_line)):
            fresh = True
            if code[1] != "NOP":
                counts = current.lines.setdefault(place, Counter()) if place else current.elsewhere
                counts[code[1]] += 1
    if not any(listing.total() for listing in found.values()):
        raise ToolError(f"nvdisasm listed no instruction; its last line: {tools.last_line(text) or 'none'}")
    return found


def block_of(text: str, kernel: str) -> int | None:
    """Threads of a block in the kernel's launch; None where the text does not tell them by plain numbers."""
    text = re.sub(r"//.*", "", text)
    launch = re.search(rf"\b{kernel}(?:<[^<>]*>)?\s*<<<(.*?)>>>", text, re.DOTALL)
    if not launch:
        return None
    depth, arguments = 0, [""]
    for letter in launch[1]:
        depth += (letter in "({") - (letter in ")}")
        if letter == "," and depth == 0:
            arguments.append("")
        else:
            arguments[-1] += letter
    block = arguments[1].strip() if len(arguments) > 1 else ""
    if declared := re.search(rf"\bdim3\s+{re.escape(block)}\s*[({{]([^(){{}}]*)[)}}]", text) if block else None:
        block = declared[1]
    threads = 1
    for word in re.sub(r"^dim3\s*[({]|[)}]$", "", block).split(","):
        constant = re.search(rf"\bconstexpr\s+\w+\s+{re.escape(word.strip())}\s*=\s*(\d+)\s*;", text)
        value = constant[1] if constant else word.strip()
        if not value.isdecimal():
            return None
        threads *= int(value)
    return threads if 1 <= threads <= 1024 else None


# ---- what is printed -------------------------------------------------------------------------------------------------


def of_kind(counts: Counter, kind: str) -> int:
    return sum(count for name, count in counts.items() if name.split(".")[0] == kind)


def kernel_text(name: str, listing: Listing, usage: Usage, source: list[str], arch: str, block: int, how: str) -> str:
    lines = [f"  {name}"]
    for number, counts in [*sorted(listing.lines.items()), (0, listing.elsewhere)]:
        if not counts:
            continue
        code = source[number - 1].strip() if 0 < number <= len(source) else "(no line of this file)"
        lines.append(f"{number or '-':>6}  {code}"[:80])
        words = ", ".join(f"{count} {what}" for what, count in counts.most_common())
        lines += textwrap.wrap(words, 80, initial_indent=f"{sum(counts.values()):>12}  ", subsequent_indent=" " * 14)
    total = listing.total()
    lds, ffma = of_kind(total, "LDS"), of_kind(total, "FFMA")
    lines += ["", f"    instructions   {sum(total.values())}"]
    if lds and ffma:
        lines.append(f"    LDS : FFMA     {lds} : {ffma}, {lds / ffma:.2f}, as listed (a loop counts once)")
    lines.append(f"    registers      {usage.registers} a thread")
    lines.append(f"    spills         {usage.stores} bytes stored, {usage.loads} bytes loaded")
    lines.append(f"    shared memory  {usage.shared} bytes a block, static; what a launch adds is not counted")
    limits = LIMITS.get(int(re.sub(r"\D", "", arch)))
    if limits is None:
        return "\n".join([*lines, f"    occupancy      the limits of {arch} are not known here"])
    blocks, warps, by = occupancy(limits, block, usage.registers, usage.shared)
    lines.append(f"    occupancy      {warps} of {limits.warps} warps: {blocks} blocks, no more by {', '.join(by)}")
    return "\n".join([*lines, f"                   at {block} threads a block, {how}"])


def default_arch() -> str:
    try:
        capability = tools.read_card(tools.find("nvidia-smi")).compute_capability
    except ToolError:
        capability = None
    return f"sm_{capability.replace('.', '')}" if capability else "sm_80"


def main(arguments: list[str] | None = None) -> int:
    parser = Parser(prog="gpu-sass", description=__doc__)
    parser.add_argument("lesson", help="a lesson's number")
    parser.add_argument("--only", default="", help="the op; the lesson's first where it is left out")
    parser.add_argument("--subject", choices=("lessons", "solutions"), default="lessons", help="whose files")
    parser.add_argument("--arch", default="", help="such as sm_90a; the card's, else sm_80")
    parser.add_argument("--block", type=int, help="threads of a block")
    parser.add_argument("--flags", required=True, help="the flags of the build for a GPU, but for -arch")
    parser.add_argument("--full", action="store_true", help="the whole disassembly, in order")
    options = parser.parse_args(arguments)
    try:
        if options.block is not None and not 1 <= options.block <= 1024:
            raise ToolError(f"BLOCK={options.block}: a block has 1 to 1024 threads")
        arch = options.arch or default_arch()
        if not re.fullmatch(r"sm_\d+[af]?", arch):
            raise ToolError(f"ARCH={arch}: it is sm_ and a number, such as sm_80 or sm_90a")
        lesson = find_lesson(Path(), options.lesson)
        source = source_of(lesson, find_op(lesson, options.only), options.subject)
        nvcc, nvdisasm = tools.find("nvcc"), tools.find("nvdisasm")
        names = tools.kernels_of(source)
        if not names:
            others = [op for op in lesson.ops if tools.kernels_of(source_of(lesson, op, "solutions"))]
            raise ToolError(f"{source} has no kernel of its own; ONLY= takes one of {' '.join(others)}")
        cubin = Path("build/sass") / options.subject / lesson.name / f"{source.stem}.{arch}.cubin"
        cubin.parent.mkdir(parents=True, exist_ok=True)
        flags = [*options.flags.split(), f"-arch={arch}", "-cubin", "-Xptxas", "-v"]
        built = run([*nvcc, *flags, str(source), "-o", str(cubin)], LIMIT)
        if built.status != 0:
            print(built.output, end="", file=sys.stderr)
            raise ToolError(f"{source} does not compile for {arch}")
        listed = run([*nvdisasm, "-c", "--print-line-info-inline", str(cubin)], LIMIT)
        if listed.status != 0:
            raise ToolError(f"nvdisasm: {tools.last_line(listed.output) or 'it said nothing'}")
        print(f"lesson {lesson.number} · {source} · SASS for {arch}\n")
        if options.full:
            print(listed.output, end="")
            return 0
        text, usages = source.read_text(), parse_ptxas(built.output)
        for mangled, listing in parse_sass(listed.output, source.as_posix()).items():
            name = next((name for name in names if f"{len(name)}{name}" in mangled), mangled)
            told = block_of(text, name)
            how = "as BLOCK= says" if options.block else "as the launch says" if told else "assumed: BLOCK=… says it"
            block = options.block or told or 256
            usage = usages.get(mangled, Usage())
            print(kernel_text(name, listing, usage, text.splitlines(), arch, block, how) + "\n")
        return 0
    except (ToolError, ShapeError, OSError) as error:
        print(f"sass-lesson{options.lesson}: {error}", file=sys.stderr)
        return 1


if __name__ == "__main__":
    sys.exit(main())
