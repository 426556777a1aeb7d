# SPDX-License-Identifier: MIT
"""The lessons' pages: what binds a lesson's kernels, and what they gain.

`make waterfall WRITE=1` writes both. A page says itself which calls it shows, and by which steps they are served:

    <!-- estimate: residual N=3145728 | 04 06; gelu N=12582912 | 04 06 -->
    <!-- end estimate -->
    <!-- gain: residual N=3145728 | 04 06; pass | 05 06 -->
    <!-- end gain -->

The first stands before the fold: what each resource of one card needs at least. With `<!-- estimate -->` alone it says
what an estimate is. The second stands after it: the counters that have changed, and the times on each card at least; of
`pass` those of the whole forward pass.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path

from reference.gpu import estimates
from reference.gpu.costs import PROGRAM, costs
from reference.gpu.counts import Call, Key
from reference.gpu.estimates import Band, Estimate, OnCard
from reference.gpu.lesson_shapes import implementing
from reference.gpu.tools import ToolError, digits, three_digits

CARDS = "T4,RTX-4090,H100-SXM"  # the last by resource
SMALL = 0.1  # of the limit: what takes less in every column is left out
PASS = "pass"
MARKER = re.compile(r"^<!-- (estimate|(?:estimate|gain): ([^\n]*)) -->$", re.MULTILINE)
RATED = ("matmul", "attention", "linear", "linear_gelu")  # whose FLOP/s say something


# ---- what a page shows -----------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Column:
    """A call, by the step of a lesson; or the whole pass."""

    call: Call | None
    lesson: str  # "08_register_tiled_matmul"

    def key(self, root: Path) -> Key | None:
        if not self.call:
            return None
        files = implementing(root, self.lesson, self.call.op)
        return self.call, tuple(f"{path.parent.name}/{path.stem}" for path in files if path.suffix == ".cu")

    @property
    def number(self) -> str:
        return self.lesson.split("_")[0]


@dataclass(frozen=True)
class Pass:
    """A step's forward pass: how it is launched, and its seconds by card; None on one that lacks an instruction."""

    launches: str  # "149", "1 graph"
    seconds: dict[str, float | None]


@dataclass(frozen=True)
class Block:
    page: Path
    name: str  # as it stands in its marker
    columns: tuple[Column, ...]
    first: bool  # of the page


def columns_of(text: str, lessons: dict[str, str], page: Path) -> tuple[Column, ...]:
    """Of "residual N=3145728 | 04 06; …"; `lessons` by number."""
    found = []
    for part in text.split(";"):
        call, bar, steps = part.partition("|")
        names = [lessons.get(step) for step in steps.split()]
        if not bar or not names or None in names:
            raise ToolError(
                f"{page}: <!-- estimate: {text} --> is not of the form 'residual N=3145728 | 04 06; …', a call and the "
                "steps that serve it"
            )
        called = None if call.strip() == PASS else Call.of(call.strip())
        found += [Column(called, name) for name in names if name]
    return tuple(found)


def blocks(root: Path) -> list[Block]:
    lessons = {path.name.split("_")[0]: path.name for path in sorted(root.glob("lessons/[0-9][0-9]_*"))}
    found = []
    for lesson in lessons.values():
        page = Path("lessons", lesson, "README.md")
        text = (root / page).read_text() if (root / page).exists() else ""
        for i, mark in enumerate(MARKER.finditer(text)):
            columns = columns_of(mark[2], lessons, page) if mark[2] else ()
            found.append(Block(page, mark[1], columns, i == 0))
    return found


def keys(root: Path) -> list[Key]:
    found = [column.key(root) for block in blocks(root) for column in block.columns]
    return [key for key in found if key]


# ---- words -----------------------------------------------------------------------------------------------------------


def microseconds(seconds: float) -> str:
    return three_digits(float(f"{1e6 * seconds:.3g}"))


def sizes(call: Call) -> str:
    """N=4,096 C=768 OC=3,072."""
    return " ".join(f"{name}={size:,}" for name, size in call.sizes if name not in ("out_stride", "outputs"))


def short(card: str) -> str:
    return card.removeprefix("GeForce ")


def line(cells: list[str]) -> str:
    return f"| {' | '.join(cells)} |"


def in_all(one: Estimate, flop: int) -> str:
    """1,440 (13.4 TFLOP/s)."""
    rate = f" ({digits(flop / one.seconds / 1e12)} TFLOP/s)" if flop else ""
    return microseconds(one.seconds) + rate


# ---- before the fold: what binds -------------------------------------------------------------------------------------


def head(columns: tuple[Column, ...], card: str) -> str:
    alike = len({column.call for column in columns}) == 1
    what = f"`{columns[0].call.op}` {sizes(columns[0].call)}: " if alike else ""
    names = [("" if alike else f"`{one.call.op}`, ") + f"lesson {one.number}" for one in columns]
    return line([f"{what}µs at least, {card}", *names])


def table(columns: tuple[Column, ...], of: list[Estimate], card: str, flop: list[int]) -> list[str]:
    """Estimates and FLOP by column, FLOP 0 where a rate says nothing."""
    lines = [head(columns, card), f"|---|{'---:|' * len(columns)}"]
    for resource in dict.fromkeys(name for one in of for name in one.by_resource):
        taken = [one.by_resource.get(resource, 0.0) for one in of]
        if any(seconds > SMALL * one.seconds for seconds, one in zip(taken, of, strict=True)):
            cells = [microseconds(seconds) if seconds else "" for seconds in taken]
            bold = [f"**{cell}**" if resource in one.limits else cell for cell, one in zip(cells, of, strict=True)]
            lines.append(line([resource, *bold]))
    return [*lines, line(["the op at least", *(in_all(one, n) for one, n in zip(of, flop, strict=True))])]


SAID = """\
Counted, not measured: {each}, and [the estimate](../../checker/estimate/README.md) is the longest of them{band}."""
ROWS = "each row is the least time that one resource needs"
RESOURCES = "each resource of the card needs some time at least"


def own_suffix(band: Band | None, own_band: str) -> str:
    """Returns how far estimates of the course's own kernels were off, to stand after the band of published ones."""
    return f"; {own_band} ([which](../../reference/predictions/README.md))" if band and own_band else ""


def text_of(lines: list[str], first: bool, band: Band | None, own_band: str = "") -> str:
    """What stands between the markers; the first block of a page says what it is."""
    found = f"; {band} ([which](../../checker/simt/ESTIMATES.md))" if band else ""
    found = (" (bold)" if lines else "") + found + own_suffix(band, own_band)
    said = SAID.format(each=ROWS if lines else RESOURCES, band=found)
    return "\n".join([*lines, *([""] if lines and first else []), *([said] if first else []), ""])


# ---- after it: what is gained ----------------------------------------------------------------------------------------


def both(name: str) -> tuple[str, str]:
    """A counter of loads and of stores."""
    return name.replace("OP", "ld"), name.replace("OP", "st")


REQUESTS = both("l1tex__t_requests_pipe_lsu_mem_global_op_OP.sum")
SECTORS = both("l1tex__t_sectors_pipe_lsu_mem_global_op_OP.sum")
WAVEFRONTS = both("l1tex__data_pipe_lsu_wavefronts_mem_shared_op_OP.sum")
BARRIERS = ("sass__inst_executed_per_opcode BAR",)


def number(count: float) -> str:
    """605 million."""
    return f"{digits(count / 1e6)} million" if count >= 1e6 else digits(count)


def in_bytes(count: float) -> str:
    return f"{digits(count / 1e9)} GB" if count >= 1e9 else f"{digits(count / 1e6)} MB"


def counters(one: Estimate, card: str) -> dict[str, str]:
    """What a call's kernels ask for, where no library takes part: that asks for what nobody here has counted."""
    found = {"launches and library calls": number(one.issued)}
    if not one.asks_libraries:
        found |= {
            "requests to global memory": number(one.counter(REQUESTS)),
            "bytes moved, asked of L1 in pieces of 32": in_bytes(32 * one.counter(SECTORS)),
            "wavefronts of shared memory": number(one.counter(WAVEFRONTS)),
            "barriers, each warp's": number(one.counter(BARRIERS)),
        }
    return found | {f"bytes of memory, {card}": in_bytes(one.memory_bytes)}


def changed(name: str, cells: list[str]) -> list[str]:
    """A row of a table, or none where all lessons have the same there."""
    return [line([name, *cells])] if len(set(cells)) > 1 else []


def counted_rows(of: list[Estimate], card: str) -> list[str]:
    """Those that have changed; of one lesson alone those that it has."""
    sides = [counters(one, card) for one in of]
    rows = []
    for name in sides[0]:
        cells = [side[name] for side in sides if name in side]
        if len(cells) == len(sides):
            rows += changed(name, cells) if len(cells) > 1 else [line([name, *cells])] * (cells != ["0"])
    return rows


def gain(columns: list[Column], of: list[list[Estimate]], cards: list[str]) -> list[str]:
    """A call by lesson; `of` by card and column."""
    call = columns[0].call
    lines = [line([f"`{call.op}` {sizes(call)}", *(f"lesson {one.number}" for one in columns)])]
    lines += [f"|---|{'---:|' * len(columns)}", *counted_rows(of[-1], cards[-1])]
    for card, on_card in zip(cards, of, strict=True):
        lines.append(line([f"µs at least, {short(card)}", *map(time_and_limit, on_card)]))
    return lines


def time_and_limit(one: Estimate) -> str:
    return f"{microseconds(one.seconds)}, {one.limit}" if one.launchable else "cannot be launched"


def milliseconds(seconds: float | None) -> str:
    return "cannot be launched" if seconds is None else digits(1e3 * seconds)


def gain_of_pass(columns: list[Column], passes: dict[str, Pass], title: str) -> list[str]:
    shown = [passes[column.lesson] for column in columns]
    lines = [line([f"one forward pass of {title}", *(f"step {one.number}" for one in columns)])]
    lines += [f"|---|{'---:|' * len(columns)}", *changed("launches", [one.launches for one in shown])]
    for card in shown[0].seconds:
        times = [one.seconds[card] for one in shown]
        lines.append(line([f"ms at least, {short(card)}", *map(milliseconds, times)]))
    return lines


# ---- pages -----------------------------------------------------------------------------------------------------------


# Stands under the tables. How far estimates are off stands in the page's first block.
SAID_OF_GAIN = (
    "The counts are the CPU device's, and the times are estimates "
    "([how far they are off](../../checker/simt/ESTIMATES.md))."
)


def gain_of(block: Block, root: Path, cards: list[OnCard], passes: dict[str, Pass], title: str) -> str:
    """What stands between the markers."""
    tables = []
    for call, of_call in groupby(block.columns, lambda column: column.call):
        columns = list(of_call)
        if call:
            of = [[card.of[column.key(root)] for column in columns] for card in cards]
            tables.append(gain(columns, of, [card.name for card in cards]))
        else:
            tables.append(gain_of_pass(columns, passes, title))
    return "\n\n".join(["\n".join(lines) for lines in tables] + [SAID_OF_GAIN]) + "\n"


def pages(root: Path, passes: dict[str, Pass], title: str, own_band: str = "") -> dict[Path, dict[str, str]]:
    """By page, and by the name in the marker; `passes` by lesson. `own_band`: how far estimates of the course's own
    kernels were off."""
    of_pages = blocks(root)
    cards = estimates.of_calls(root, keys(root), CARDS)
    last = cards[-1]
    calls = list(dict.fromkeys(str(column.call) for block in of_pages for column in block.columns if column.call))
    flop = dict(zip(calls, (cost.flop for cost in costs(calls, root / PROGRAM)), strict=True))
    found: dict[Path, dict[str, str]] = {}
    for block in of_pages:
        if block.name.startswith("gain"):
            text = gain_of(block, root, cards, passes, title)
        else:
            of = [last.of[column.key(root)] for column in block.columns]
            rated = [flop[str(column.call)] if column.call.op in RATED else 0 for column in block.columns]
            text = text_of(table(block.columns, of, last.name, rated) if of else [], block.first, last.band, own_band)
        found.setdefault(block.page, {})[block.name] = text
    return found
