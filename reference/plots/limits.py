# SPDX-License-Identifier: MIT
"""The tables of limits on the lessons' pages: what the lesson's kernels take at least, beside the older lesson's.

`make waterfall WRITE=1` writes them. A page says itself which calls it shows, and by which steps they are served:

    <!-- estimate: residual N=3145728 | 04 06; gelu N=12582912 | 04 06 -->
    <!-- end estimate -->

With `<!-- estimate -->` alone it says what an estimate is.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from reference.gpu import estimates
from reference.gpu.costs import PROGRAM, costs
from reference.gpu.counts import Call, Key
from reference.gpu.estimates import Band, Estimate
from reference.gpu.lesson_shapes import implementing
from reference.gpu.tools import ToolError, digits, three_digits

CARDS = "H100-SXM,T4,RTX-4090"  # the first by resource, the others in a line each
SMALL = 0.1  # of the limit: what takes less in every column is left out
MARKER = re.compile(r"^<!-- (estimate(?:: ([^\n]*))?) -->$", re.MULTILINE)
RATED = ("matmul", "attention", "linear", "linear_gelu")  # whose FLOP/s say something


# ---- what a page shows -----------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Column:
    """A call, by the step of a lesson."""

    call: Call
    lesson: str  # "08_register_tiled_matmul"

    def key(self, root: Path) -> Key:
        files = implementing(root, self.lesson, self.call.op)
        return self.call, tuple(f"{path.parent.name}/{path.stem}" for path in files if path.suffix == ".cu")

    @property
    def number(self) -> str:
        return self.lesson.split("_")[0]


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
        found += [Column(Call.of(call.strip()), name) for name in names if name]
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
    return [column.key(root) for block in blocks(root) for column in block.columns]


# ---- words -----------------------------------------------------------------------------------------------------------


def microseconds(seconds: float) -> str:
    return three_digits(float(f"{1e6 * seconds:.3g}"))


def sizes(call: Call) -> str:
    """N=4,096 C=768 OC=3,072."""
    return " ".join(f"{name}={size:,}" for name, size in call.sizes if name not in ("out_stride", "outputs"))


def line(cells: list[str]) -> str:
    return f"| {' | '.join(cells)} |"


def in_all(one: Estimate, flop: int, says_limit: bool) -> str:
    """1,440 (13.4 TFLOP/s), L2."""
    rate = f" ({digits(flop / one.seconds / 1e12)} TFLOP/s)" if flop else ""
    return microseconds(one.seconds) + rate + (f", {one.limit}" if says_limit else "")


def head(columns: tuple[Column, ...], card: str) -> str:
    alike = len({column.call for column in columns}) == 1
    what = f"`{columns[0].call.op}` {sizes(columns[0].call)}: " if alike else ""
    names = [("" if alike else f"`{one.call.op}`, ") + f"lesson {one.number}" for one in columns]
    return line([f"{what}µs at least, {card}", *names])


def table(columns: tuple[Column, ...], of: list[list[Estimate]], cards: list[str], flop: list[int]) -> list[str]:
    """`of` by card and column; FLOP by column, 0 where a rate says nothing."""
    lines = [head(columns, cards[0]), f"|---|{'---:|' * len(columns)}"]
    first = of[0]
    for resource in dict.fromkeys(name for one in first for name in one.by_resource):
        taken = [one.by_resource.get(resource, 0.0) for one in first]
        if any(seconds > SMALL * one.seconds for seconds, one in zip(taken, first, strict=True)):
            cells = [microseconds(seconds) if seconds else "" for seconds in taken]
            bold = [f"**{cell}**" if resource in one.limits else cell for cell, one in zip(cells, first, strict=True)]
            lines.append(line([resource, *bold]))
    for card, on_card in zip(cards, of, strict=True):
        says_limit = card != cards[0]
        lines.append(line([card, *(in_all(one, n, says_limit) for one, n in zip(on_card, flop, strict=True))]))
    return lines


SAID = """\
Counted, not measured: [an estimate](../../checker/estimate/README.md) is the time that the resource which needs \
longest{bold} needs at least{band}."""


def text_of(lines: list[str], first: bool, band: Band | None) -> str:
    """What stands between the markers; the first block of a page says what it is."""
    found = f"; {band} ([which](../../checker/simt/ESTIMATES.md))" if band else ""
    said = SAID.format(bold=" (bold)" if lines else "", band=found)
    return "\n".join([*lines, *([""] if lines and first else []), *([said] if first else []), ""])


def pages(root: Path) -> dict[Path, dict[str, str]]:
    """By page, and by the name in the marker."""
    of_pages = blocks(root)
    cards = estimates.of_calls(root, keys(root), CARDS)
    calls = list(dict.fromkeys(str(column.call) for block in of_pages for column in block.columns))
    flop = dict(zip(calls, (cost.flop for cost in costs(calls, root / PROGRAM)), strict=True))
    found: dict[Path, dict[str, str]] = {}
    for block in of_pages:
        of = [[card.of[column.key(root)] for column in block.columns] for card in cards]
        rated = [flop[str(column.call)] if column.call.op in RATED else 0 for column in block.columns]
        lines = table(block.columns, of, [card.name for card in cards], rated) if block.columns else []
        found.setdefault(block.page, {})[block.name] = text_of(lines, block.first, cards[0].band)
    return found
