# SPDX-License-Identifier: MIT
"""What a warp issues in each loop of a kernel: the control-flow graph of nvdisasm's text, its natural loops, and what
their instructions are."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path

Place = tuple[str, int]  # file and line


@dataclass
class Instruction:
    code: str  # "LDG.E.128"
    operands: str
    predicate: str = ""  # "@!P0"
    places: tuple[Place, ...] = ()  # of an inlined function's the innermost first
    labels: tuple[str, ...] = ()  # that stand before it

    @property
    def name(self) -> str:
        return self.code.partition(".")[0]

    @property
    def is_idle(self) -> bool:
        """nvcc puts three such LDS before copies into shared memory: they are issued, and access nothing."""
        return self.predicate in ("@!PT", "@!UPT")


PLACE = re.compile(r'//## File "([^"]*)", line (\d+)')
INSTRUCTION = re.compile(r"/\*[0-9a-f]{4,}\*/\s+(?:\{\s*)?(@!?U?P\w+\s+)?([A-Z][\w.]*)\s*([^;]*?)\s*;")
SECTION = re.compile(r"\s*\.section\s+\.text\.([^\s,]+)")
LABEL = re.compile(r"\s*([.$][\w.$]+):$")


def instructions_of(text: str) -> dict[str, list[Instruction]]:
    """By a kernel's mangled name, in the order of their addresses, without the NOPs that fill its end. What the
    compiler adds out of line, such as a division's slow path, has a label of its own that starts with $."""
    found: dict[str, list[Instruction]] = {}
    current: list[Instruction] | None = None
    places: list[Place] = []
    labels: list[str] = []
    fresh = True
    for line in text.splitlines():
        if section := SECTION.match(line):
            current = found.setdefault(section[1], [])
            places, labels, fresh = [], [], True
        elif label := LABEL.match(line):
            labels.append(label[1])
            if label[1].startswith("$"):
                places, fresh = [], True
        elif where := PLACE.search(line):
            places = [] if fresh else places
            places.append((where[1], int(where[2])))
            fresh = False
        elif current is not None and (code := INSTRUCTION.search(line)):
            fresh = True
            if code[2] != "NOP":
                current.append(Instruction(code[2], code[3], (code[1] or "").strip(), tuple(places), tuple(labels)))
                labels = []
    return found


# ---- blocks and loops ------------------------------------------------------------------------------------------------


@dataclass
class Block:
    """Instructions that run together."""

    instructions: list[Instruction]
    next: list[int] = field(default_factory=list)


JUMPS = ("BRA", "BRX", "JMP", "JMX")
ENDS = ("EXIT", "RET", "KILL", "BPT")
TARGET = re.compile(r"\.L_\w+")


def is_conditional(instruction: Instruction) -> bool:
    """Also `BRA.U !UP0, target` and `BRA P1, target`."""
    return bool(instruction.predicate) or re.match(r"!?U?P\w+\s*,", instruction.operands) is not None


def is_call_out_of_line(instruction: Instruction) -> bool:
    return instruction.name == "CALL" and "$" in instruction.operands


def is_jump(instruction: Instruction) -> bool:
    """Also CALL.REL.NOINC of one of the kernel's own labels, by which nvcc leaves some loops."""
    return instruction.name in JUMPS or (instruction.name == "CALL" and "`(.L_" in instruction.operands)


def blocks_of(instructions: list[Instruction]) -> list[Block]:
    """The first is the kernel's entry. A branch that only warps take whose lanes have parted (BRA.DIV) is not followed,
    nor is a call."""
    starts = {0}
    for i, instruction in enumerate(instructions):
        if instruction.labels:
            starts.add(i)
        if is_jump(instruction) or instruction.name in (*ENDS, "BSYNC"):
            starts.add(i + 1)
    bounds = [*sorted(start for start in starts if start < len(instructions)), len(instructions)]
    blocks = [Block(instructions[begin:end]) for begin, end in pairwise(bounds)]
    labelled = {label: i for i, block in enumerate(blocks) for label in block.instructions[0].labels}
    meeting: dict[str, str] = {}  # where the lanes meet that wait at a convergence barrier: its BSSY says it
    for i, block in enumerate(blocks):
        for instruction in block.instructions:
            if instruction.name == "BSSY":
                register, _, target = instruction.operands.partition(",")
                meeting[register.strip()] = target
        last = block.instructions[-1]
        falls = i + 1 < len(blocks) and not any(label.startswith("$") for label in blocks[i + 1].instructions[0].labels)
        following = [i + 1] if falls else []
        named = [labelled[label] for label in TARGET.findall(last.operands) if label in labelled]
        if last.name == "BSYNC":
            met = [
                labelled[label] for label in TARGET.findall(meeting.get(last.operands.strip(), "")) if label in labelled
            ]
            block.next = met or following
        elif is_jump(last) and "DIV" in last.code.split("."):
            block.next = following
        elif is_jump(last):
            block.next = named + (following if is_conditional(last) else [])
        elif last.name in ENDS:
            block.next = following if is_conditional(last) else []
        else:
            block.next = following
    return blocks


Graph = dict[int, list[int]]


def reached(following: Graph, root: int) -> list[int]:
    """From the root, in an order in which a node comes before those that only it leads to."""
    order: list[int] = []
    seen = {root}
    stack = [(root, iter(following[root]))]
    while stack:
        at, left = stack[-1]
        for other in left:
            if other not in seen:
                seen.add(other)
                stack.append((other, iter(following[other])))
                break
        else:
            order.append(at)
            stack.pop()
    return order[::-1]


def reversed_of(following: Graph) -> Graph:
    before: Graph = {node: [] for node in following}
    for node, others in following.items():
        for other in others:
            before[other].append(node)
    return before


def dominators(following: Graph, root: int) -> dict[int, int]:
    """Of each node that is reached the last that every way to it passes; the root's is itself. Cooper, Harvey and
    Kennedy, "A Simple, Fast Dominance Algorithm"."""
    order = reached(following, root)
    rank = {node: i for i, node in enumerate(order)}
    before = reversed_of(following)
    of = {root: root}

    def common(a: int, b: int) -> int:
        while a != b:
            while rank[a] > rank[b]:
                a = of[a]
            while rank[b] > rank[a]:
                b = of[b]
        return a

    changed = True
    while changed:
        changed = False
        for node in order[1:]:
            known = [other for other in before[node] if other in of]
            last = known[0]
            for other in known[1:]:
                last = common(last, other)
            if of.get(node) != last:
                of[node], changed = last, True
    return of


def dominates(of: dict[int, int], a: int, b: int) -> bool:
    while b != a and b != of[b]:
        b = of[b]
    return a == b


def graph_of(blocks: list[Block]) -> Graph:
    return {i: block.next for i, block in enumerate(blocks)}


def loops_of(blocks: list[Block]) -> dict[int, set[int]]:
    """The natural loops by their first block, those with the same one together."""
    graph = graph_of(blocks)
    of = dominators(graph, 0)
    before = reversed_of(graph)
    loops: dict[int, set[int]] = {}
    for block in of:
        for head in blocks[block].next:
            if dominates(of, head, block):
                body = loops.setdefault(head, {head})
                left = [block]
                while left:
                    at = left.pop()
                    if at not in body:
                        body.add(at)
                        left += (other for other in before[at] if other in of)
    return loops


def equally_often(blocks: list[Block], head: int, body: set[int]) -> dict[int, int]:
    """Of each block in a loop, or of the whole kernel, the first one that runs whenever it does and only then: what a
    turn always runs has the loop's first. A warp that ends in `@P0 EXIT` is not followed."""
    sink = -1
    turn: Graph = {sink: []}
    for i in body:
        last = blocks[i].instructions[-1]
        ways = [other if other in body and other != head else sink for other in blocks[i].next]
        turn[i] = ways or [sink]
        if last.name in ENDS and last.predicate and len(ways) == 1:
            turn[i] = ways
    before = dominators(turn, head)
    after = dominators(reversed_of(turn), sink)
    first = {}
    for i in body:
        first[i] = at = i
        while at != before.get(at, at):
            at = before[at]
            if i in after and at in after and dominates(after, i, at):
                first[i] = at
    return first


def slow_paths(blocks: list[Block]) -> set[int]:
    """Blocks around a call of what the compiler adds out of line: a branch skips them for ordinary operands."""
    found = set()
    for i, block in enumerate(blocks):
        if any(map(is_call_out_of_line, block.instructions)):
            ways = [other for other in blocks if i in other.next]
            if ways and all(len(other.next) > 1 for other in ways):
                found.add(i)
    return found


# ---- what instructions are -------------------------------------------------------------------------------------------

# By pipe, as Nsight Compute's documentation names them under "Pipelines": FMA takes FFMA, FMUL, FADD and the integer
# products; ALU the other integer and logic instructions, comparisons, minimum and maximum of floats too; XU special
# functions and conversions.
FP = ("FADD", "FMUL", "FSWZADD", "HADD2", "HFMA2", "HMUL2", "FADD2", "FMUL2", "FADD32I", "FMUL32I")
XU = ("MUFU", "F2F", "F2I", "I2F", "FRND", "POPC", "FLO", "BREV")
IMAD = ("IMAD", "IMUL", "IDP", "IMAD32I", "IMUL32I", "XMAD")
LSU = ("LD", "LDG", "LDS", "LDL", "LDSM", "LDGSTS", "ST", "STG", "STS", "STL", "STSM", "ATOM", "ATOMG", "ATOMS", "RED")
LSU += ("REDG", "REDS", "SHFL", "MATCH")
ALU = (
    "IADD",
    "IADD3",
    "IADD32I",
    "VIADD",
    "VIADDMNMX",
    "VIMNMX",
    "VIMNMX3",
    "IABS",
    "IMNMX",
    "ISCADD",
    "ISETP",
    "ISET",
)
ALU += (
    "LEA",
    "LOP",
    "LOP3",
    "LOP32I",
    "PLOP3",
    "PRMT",
    "SEL",
    "SHF",
    "SHL",
    "SHR",
    "BMSK",
    "SGXT",
    "BFE",
    "BFI",
    "MOV",
)
ALU += ("MOV32I", "P2R", "R2P", "CS2R", "FMNMX", "FMNMX3", "FSETP", "FSET", "FSEL", "FCHK", "I2FP", "F2FP", "HSETP2")
ALU += ("HMNMX2", "HSET2", "VABSDIFF", "VABSDIFF4", "VHMNMX", "I2I", "I2IP", "F2IP", "VOTE", "PSETP")
KINDS = {
    "fma": ("FFMA", "FFMA2", "FFMA32I"),
    "fp": FP,
    "imad": IMAD,
    "int": ALU,
    "sfu": XU,
    "lsu": LSU,
    "fp64": ("DADD", "DMUL", "DFMA", "DSETP", "DMNMX", "DSET"),
}
KIND = {name: kind for kind, names in KINDS.items() for name in names}


def kind_of(instruction: Instruction) -> str:
    """ "other" where it has a pipe of its own or that of what controls a warp: branches, barriers, uniform ones."""
    if "MMA" in instruction.name:
        return "tensor"
    return "other" if instruction.is_idle else KIND.get(instruction.name, "other")


MEMORY = {
    "LDG": "global_ld",
    "LD": "global_ld",
    "STG": "global_st",
    "ST": "global_st",
    "ATOM": "global_atom",
    "ATOMG": "global_atom",
    "RED": "global_atom",
    "REDG": "global_atom",
    "LDS": "shared_ld",
    "LDSM": "shared_ld",
    "STS": "shared_st",
    "STSM": "shared_st",
    "ATOMS": "shared_atom",
    "REDS": "shared_atom",
    "LDL": "local_ld",
    "STL": "local_st",
    "LDGSTS": "async_copy",
    "SHFL": "shuffle",
}
WIDTHS = {"U8": 1, "S8": 1, "U16": 2, "S16": 2, "F16": 2, "64": 8, "128": 16, "256": 32, "M88": 4, "2": 8, "4": 16}


def bytes_of(instruction: Instruction) -> int:
    """That a thread asks for. A matrix of LDSM has 4 bytes of each thread."""
    parts = instruction.code.split(".")[1:]
    if instruction.name in ("LDSM", "STSM"):
        return 4 * max((int(part) for part in parts if part in ("2", "4")), default=1)
    return next((WIDTHS[part] for part in parts if part in WIDTHS and part not in ("2", "4", "M88")), 4)


REGISTER = re.compile(r"\bR(\d+)\b")


def wide(registers: Iterable[str], count: int) -> set[int]:
    return {int(register) + i for register in registers for i in range(count)}


def loaded(instruction: Instruction) -> set[int]:
    """The registers that a load of global memory fills; those of a copy into shared memory are none."""
    if MEMORY.get(instruction.name) not in ("global_ld", "global_atom") or instruction.name in ("RED", "REDG"):
        return set()
    first = next((part for part in instruction.operands.split(",") if re.fullmatch(r"\s*R\d+\s*", part)), "")
    return wide(REGISTER.findall(first), max(1, bytes_of(instruction) // 4))


def used(instruction: Instruction) -> set[int]:
    """The registers that it reads."""
    kind = MEMORY.get(instruction.name, "")
    parts = instruction.operands.split(",")
    if kind.endswith("_st"):
        address, _, value = instruction.operands.partition("]")
        return wide(REGISTER.findall(address), 1) | wide(REGISTER.findall(value), max(1, bytes_of(instruction) // 4))
    sources = parts[1:] if re.match(r"\s*!?U?(?:R|P)[\dTZ]", parts[0]) else parts
    more = 4 if kind_of(instruction) == "tensor" else 1
    return wide(REGISTER.findall(",".join(sources)), more)


def waits_of(instructions: Iterable[tuple[Instruction, int]]) -> dict[int, tuple[int, int]]:
    """Of the loads of global memory that are issued before the first instruction that uses one of their results, the
    most that are so on their way together; and how often results are waited for: by the arm of the first of such loads.
    Each instruction comes with its arm. Copies into shared memory are waited for by DEPBAR or at a barrier."""
    found: dict[int, tuple[int, int]] = {}
    flying = copies = of = 0
    missing: set[int] = set()

    def waited() -> None:
        most, waits = found.get(of, (0, 0))
        found[of] = (max(most, flying), waits + 1)

    for instruction, arm in instructions:
        if missing & used(instruction) or (copies and instruction.name in ("DEPBAR", "BAR", "SYNCS")):
            waited()
            flying = copies = 0
            missing = set()
        registers = loaded(instruction)
        if registers or instruction.name == "LDGSTS":
            of = of if flying else arm
            flying += 1
            copies += not registers
            missing |= registers
    if flying:
        waited()
    return found


# ---- regions ---------------------------------------------------------------------------------------------------------


@dataclass
class Region:
    """What runs equally often: a loop without the loops in it, or what lies in none, the first of a kernel; without the
    blocks that a turn may pass by and that access something. These are regions too, together where they access the same
    in the same lines."""

    parent: int  # -1: none
    instructions: list[Instruction]
    loads_in_flight: int = 0
    waits: int = 0
    is_arm: bool = False

    def kinds(self) -> dict[str, int]:
        counts = Counter(kind_of(instruction) for instruction in self.instructions)
        return {"issued": len(self.instructions), **dict(sorted(counts.items()))}


def sites_of(block: Block) -> set[tuple[Place, str]]:
    """What it accesses, evaluates and waits at, and where: what the CPU device counts."""
    return {
        (place, MEMORY.get(one.name, one.name))
        for one in block.instructions
        if (one.name in MEMORY or one.name in ("BAR", "MUFU")) and not one.is_idle
        for place in one.places[:1]
    }


def arms_of(blocks: list[Block], head: int, body: set[int], own: list[int]) -> dict[int, frozenset]:
    """Of each of a region's own blocks the sites of the arm that it belongs to; an empty set for what a turn always
    runs. A block that accesses nothing belongs to where it branches off."""
    first = equally_often(blocks, head, body)
    sites: dict[int, set] = {}
    for i in own:
        sites.setdefault(first[i], set()).update(sites_of(blocks[i]))
    before = dominators(graph_of(blocks), 0)
    arms = {}
    for i in own:
        at = first[i]
        while at != head and not sites.get(at):
            at = first.get(before[at], head)
        arms[i] = frozenset() if at == head else frozenset(sites[at])
    return arms


def regions_of(instructions: list[Instruction]) -> list[Region]:
    """A region's parent comes before it."""
    if not instructions:
        return [Region(-1, [])]
    blocks = blocks_of(instructions)
    whole = (0, set(reached(graph_of(blocks), 0)))
    bodies = [whole, *sorted(loops_of(blocks).items(), key=lambda one: (-len(one[1]), one[0]))]
    skipped = slow_paths(blocks)
    regions: list[Region] = []
    number: list[int] = []  # of each body's region
    for i, (head, body) in enumerate(bodies):
        around = [j for j, (_, other) in enumerate(bodies[:i]) if body <= other]
        inside = [other for _, other in bodies[i + 1 :] if other <= body]
        own = sorted(body.difference(*inside) - skipped)
        parent = min(around, key=lambda j: len(bodies[j][1]), default=-1)
        arms = arms_of(blocks, head, body, own)
        order = [frozenset(), *sorted({arm for arm in arms.values() if arm}, key=sorted)]
        waits = waits_of((one, order.index(arms[block])) for block in own for one in blocks[block].instructions)
        number.append(len(regions))
        for k, arm in enumerate(order):
            of_arm = [one for block in own if arms[block] == arm for one in blocks[block].instructions]
            above = number[-1] if k else number[parent] if parent >= 0 else -1
            regions.append(Region(above, of_arm, *waits.get(k, (0, 0)), is_arm=k > 0))
    return regions


def place_in(instruction: Instruction, files: dict[str, str]) -> tuple[str, int]:
    """The innermost of its places in one of the files, by the name that `files` gives it; else ("", 0)."""
    for file, line in instruction.places:
        if file in files:
            return files[file], line
    return "", 0


def as_json(region: Region, files: dict[str, str], source: str) -> dict:
    """`files`: what the names in the text are called, of the source and the helpers that it includes. An access in a
    helper says its file."""
    accesses: Counter = Counter()
    barriers: Counter = Counter()
    special: Counter = Counter()
    for instruction in region.instructions:
        place = place_in(instruction, files)
        if instruction.is_idle:
            continue
        if kind := MEMORY.get(instruction.name):
            accesses[place, kind, bytes_of(instruction)] += 1
        elif instruction.name == "BAR":
            barriers[place] += 1
        elif instruction.name == "MUFU":
            special[place] += 1

    def at(place: Place) -> dict:
        return ({"file": place[0]} if place[0] not in ("", source) else {}) | {"line": place[1]}

    row: dict = {"parent": region.parent, "arm": region.is_arm, "instructions": region.kinds()}
    row["accesses"] = [
        at(place) | {"kind": kind, "bytes": size, "count": count}
        for (place, kind, size), count in sorted(accesses.items())
    ]
    row["barriers"] = [at(place) | {"count": count} for place, count in sorted(barriers.items())]
    row["special"] = [at(place) | {"count": count} for place, count in sorted(special.items())]
    return row | {"loads_in_flight": region.loads_in_flight, "waits": region.waits}


def resolved(text: str, known: dict[Path, str]) -> dict[str, str]:
    """The names of files in nvdisasm's text that are one of the known ones, which are absolute, with what they are
    called."""
    named = {found[0] for found in PLACE.findall(text)}
    return {name: known[path] for name in named if (path := Path(name).resolve()) in known}
