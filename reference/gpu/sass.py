# SPDX-License-Identifier: MIT
"""`make sass-lesson05`: what nvcc makes of an op's kernels, by source line, and how many of their warps a
multiprocessor holds. Needs no GPU."""

from __future__ import annotations

import argparse
import re
import sys
import textwrap
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

from reference.gpu import nvcc, tools
from reference.gpu.cards import LIMITS, Limits
from reference.gpu.inspect_op import add_arguments, find_kernels, find_lesson, find_op
from reference.gpu.programs import Programs
from reference.gpu.sass_flow import instructions_of
from reference.gpu.tools import Parser, ToolError

REGISTERS = 65536  # 32-bit registers of a multiprocessor


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


# ---- what the disassembler prints --------------------------------------------------------------------


@dataclass
class Listing:
    lines: dict[int, Counter] = field(default_factory=dict)  # of the source file
    elsewhere: Counter = field(default_factory=Counter)

    def total(self) -> Counter:
        return sum(self.lines.values(), Counter(self.elsewhere))


def parse_sass(text: str, source: str) -> dict[str, Listing]:
    """By mangled name. An inlined function's instructions are its caller's."""
    found: dict[str, Listing] = {}
    for name, instructions in instructions_of(text).items():
        listing = found.setdefault(name, Listing())
        for instruction in instructions:
            here = [line for file, line in instruction.places if Path(file).as_posix().endswith(source)]
            counts = listing.lines.setdefault(here[-1], Counter()) if here else listing.elsewhere
            counts[instruction.code] += 1
    if not any(listing.total() for listing in found.values()):
        raise ToolError(f"nvdisasm listed no instruction; its last line: {tools.last_line(text) or 'none'}")
    return found


def constants_of(text: str) -> dict[str, str]:
    """What each `constexpr int kRows = 8, kSide = kTile / kRows;` of the text makes its names."""
    found = {}
    for declaration in re.findall(r"\bconstexpr\s+(?:unsigned\s+)?\w+\s+(\w+\s*=[^;{}]*);", text):
        for part in split(declaration):
            name, _, value = part.partition("=")
            found[name.strip()] = value.strip()
    return found


def split(text: str) -> list[str]:
    """At its commas, but for those within parentheses."""
    depth, parts = 0, [""]
    for letter in text:
        depth += (letter in "({") - (letter in ")}")
        if letter == "," and depth == 0:
            parts.append("")
        else:
            parts[-1] += letter
    return [part.strip() for part in parts]


def value_of(expression: str, constants: dict[str, str]) -> int | None:
    """Of whole numbers, + - * / % << >> and constants of the file; None where there is something else."""
    for _ in range(len(constants) + 1):
        expression = re.sub(r"\b[a-zA-Z_]\w*", lambda name: f"({constants.get(name[0], '?')})", expression)
    expression = re.sub(r"(?<=\d)[uU]\b", "", expression).replace("/", "//")
    try:
        return eval(expression) if re.fullmatch(r"(?:[\d\s()+*/%-]|<<|>>)+", expression) else None
    except (SyntaxError, ArithmeticError, TypeError):
        return None


def block_of(text: str, kernel: str) -> int | None:
    """Threads of a block in the kernel's launch, by its own name or a pointer's to it; None where constants of the file
    do not tell them."""
    text = re.sub(r"//.*", "", text)
    pointer = re.search(rf"\bauto\s+(\w+)\s*=[^;]*\b{kernel}\b[^;]*;", text)
    for name in (kernel, pointer[1] if pointer else kernel):
        if launch := re.search(rf"\b{name}(?:<[^<>]*>)?\s*<<<(.*?)>>>", text, re.DOTALL):
            break
    else:
        return None
    arguments = split(launch[1])
    block = arguments[1] if len(arguments) > 1 else ""
    if declared := re.search(rf"\bdim3\s+{re.escape(block)}\s*[({{]([^;]*)[)}}]\s*;", text) if block else None:
        block = declared[1]
    constants, threads = constants_of(text), 1
    for side in split(re.sub(r"^dim3\s*[({](.*)[)}]$", r"\1", block, flags=re.DOTALL)):
        threads *= value_of(side, constants) or 0
    return threads if 1 <= threads <= 1024 else None


# ---- what is printed -------------------------------------------------------------------------------------------------


def of_kind(counts: Counter, kind: str) -> int:
    return sum(count for name, count in counts.items() if name.split(".")[0] == kind)


def listing_text(listing: Listing, source: list[str]) -> list[str]:
    lines = []
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
    return lines


def kernel_text(
    name: str, listing: Listing | None, usage: nvcc.Usage, source: list[str], arch: str, block: int, how: str
) -> str:
    """Without a disassembler there is no listing."""
    lines = textwrap.wrap(name, 80, initial_indent="  ", subsequent_indent="    ")
    lines += listing_text(listing, source) if listing else []
    lines.append(f"    registers      {usage.registers} a thread")
    lines.append(f"    spills         {usage.stores} bytes stored, {usage.loads} bytes loaded")
    lines.append(f"    shared memory  {usage.shared} bytes a block, static, without what a launch adds")
    limits = LIMITS.get(int(re.sub(r"\D", "", arch)))
    if limits is None:
        return "\n".join([*lines, f"    occupancy      the limits of {arch} are not known here"])
    blocks, warps, by = occupancy(limits, block, usage.registers, usage.shared)
    held = f"{warps} of {limits.warps} warps: {blocks} block{'s' * (blocks != 1)}"
    lines.append(f"    occupancy      {held}, no more by {', '.join(by)}")
    return "\n".join([*lines, f"                   at {block} threads a block, {how}"])


def default_arch() -> str:
    try:
        capability = tools.read_card().compute_capability
    except ToolError:
        capability = None
    return f"sm_{capability.replace('.', '')}" if capability else "sm_80"


def show(options: argparse.Namespace) -> int:
    if options.block is not None and not 1 <= options.block <= 1024:
        raise ToolError(f"BLOCK={options.block}: a block has 1 to 1024 threads")
    arch = options.arch or default_arch()
    lesson = find_lesson(Programs(), options.lesson)
    source, kernels = find_kernels(lesson, find_op(lesson, options.only), options.subject)
    nvcc.require(arch)
    nvdisasm, mend = None, ""
    try:
        nvdisasm = tools.find("nvdisasm")
    except ToolError as error:
        if options.full:
            raise
        mend = str(error)
    cubin = Path("build/sass") / options.subject / source.parent.name / f"{source.stem}.{arch}.cubin"
    said = nvcc.compiled(source, arch, options.flags.split(), cubin)
    text, usages = source.read_text(), nvcc.parse_ptxas(said)
    names = nvcc.names_of(usages, kernels)
    listings, bounds = dict.fromkeys(usages), {}
    if nvdisasm:
        listed = nvcc.disassembled(nvdisasm, cubin, "-c", "--print-line-info-inline")
        listings = parse_sass(listed, source.as_posix())
        bounds = nvcc.parse_bounds(nvcc.disassembled(nvdisasm, cubin))
    what = "SASS" if nvdisasm else "what ptxas says"
    print(f"lesson {lesson.number} · {source} · {what} for {arch}\n", flush=True)
    if options.full:
        print(re.sub("|".join(map(re.escape, names)), lambda found: names[found[0]], listed), end="")
        return 0
    for mangled, listing in listings.items():
        name = names.get(mangled, mangled)
        ways = (
            (options.block, "as BLOCK= says"),
            (block_of(text, name.partition("<")[0]), "as the launch says"),
            (bounds.get(mangled), "as many as __launch_bounds__ allows"),
            (256, "assumed: BLOCK=… says it"),
        )
        block, how = next((block, how) for block, how in ways if block)
        usage = usages.get(mangled, nvcc.Usage())
        print(kernel_text(name, listing, usage, text.splitlines(), arch, block, how) + "\n")
    if mend:
        print(f"no instructions: {mend}")
    return 0


def main(arguments: list[str] | None = None) -> int:
    parser = Parser("gpu-sass", __doc__)
    add_arguments(parser)
    parser.add_argument("--arch", default="", help="such as sm_90a; the card's, else sm_80")
    parser.add_argument("--block", type=int, help="threads of a block")
    parser.add_argument("--flags", required=True, help="the flags of the build for a GPU, but for -arch")
    parser.add_argument("--full", action="store_true", help="the whole disassembly, in order")
    options = parser.parse_args(arguments)
    return tools.run_main(f"sass-lesson{options.lesson}", lambda: show(options))


if __name__ == "__main__":
    sys.exit(main())
