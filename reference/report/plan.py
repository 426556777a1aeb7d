# SPDX-License-Identifier: MIT
"""`make gpu-report LEASE=9m30s PLAN=1`: what a card would be asked in that time, by a simulated clock. A second
command goes on where the first one's plan ended."""

from __future__ import annotations

import argparse
import contextlib
import json
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from reference.gpu import pages, tools
from reference.gpu.programs import Programs
from reference.gpu.tools import Card, ToolError
from reference.report.engine import STOP_BEFORE, Entry, Simulation, carry_out, seconds_of
from reference.report.order import in_order
from reference.report.parts import PART_NAMES, STATE, Setting, Work, listed

PLANNED = STATE / "plan.json"
PAGE = Path("reference/timings/README.md")
CARD = Card("a card of compute capability 9.0", "", "9.0")
PROCESSORS = 16
BUILD = "build"
# Measured by make test-borrowed, on two processors that share a core: all parts but simt and libs.
BUILD_PROCESSOR_S = 310.0
BUILD_LONGEST_S = 30.0  # estimated: what nvcc waits for, then its longest file, then linking
LISTING_S = 10.0  # PyTorch starts once for each part that asks it
BUDGETS = ("9m30s", "3m")  # shown on the page


@contextlib.contextmanager
def setting(card: Card, python: str) -> Iterator[Setting]:
    """Gives a setting in which parts list their items without a card."""
    with tempfile.TemporaryDirectory(prefix="gpu-report-", ignore_cleanup_errors=True) as scratch:
        yield Setting(Path(), card, python, Programs(), Path(scratch), only_lists=True)


def all_entries(python: str) -> list[Entry]:
    """Returns every item of every part, in the order of the list, with what is guessed of each."""
    with setting(CARD, python) as here:
        works = listed(here, PART_NAMES)
    for part, work in works.items():
        if not isinstance(work, Work):
            raise ToolError(f"{part} cannot list its items: {work}")
        work.close()
    return in_order({part: [item.name for item in work.items] for part, work in works.items()}, {})


@dataclass(frozen=True)
class Row:
    stage: str
    done: int  # in this command
    of: int
    before: int  # done by an earlier command
    begin: float
    end: float


def shown(entry: Entry) -> str:
    """Returns the row of a schedule that an item belongs to: its stage, or the rest."""
    return entry.stage.partition(":")[0]


def planned(
    entries: Sequence[Entry], done: set[tuple[str, str]], built: bool, seconds: float
) -> tuple[list[Row], set[tuple[str, str]]]:
    """Returns the schedule of one command of `seconds`, and all that is done after it."""
    begin = LISTING_S + (0.0 if built else max(BUILD_PROCESSOR_S / PROCESSORS, BUILD_LONGEST_S))
    world = Simulation(lambda entry: entry.seconds, PROCESSORS // 4, begin)
    now_done = set(done)

    def keep(entry: Entry, record: dict) -> None:
        if record["status"] == "ok":
            now_done.add(entry.key)

    carry_out([entry for entry in entries if entry.key not in done], world, seconds - STOP_BEFORE, keep)
    rows = [Row(BUILD if not built else "list of items", 0, 0, 0, 0.0, begin)]
    for stage in dict.fromkeys(shown(entry) for entry in entries):
        of_stage = [entry.key for entry in entries if shown(entry) == stage]
        ran = [(a, b) for entry, a, b in world.ended if shown(entry) == stage and entry.key in now_done]
        if of_stage:
            before = sum(key in done for key in of_stage)
            times = (min(a for a, _ in ran), max(b for _, b in ran)) if ran else (0.0, 0.0)
            rows.append(Row(stage, len(ran), len(of_stage), before, *times))
    return rows, now_done


def clock(seconds: float) -> str:
    return f"{int(seconds) // 60}:{int(seconds) % 60:02d}"


def cells(row: Row) -> tuple[str, str, str, str]:
    count = f"{row.done} of {row.of - row.before}" if row.of > row.before else "done" if row.of else ""
    times = (clock(row.begin), clock(row.end)) if row.done or not row.of else ("", "")
    return row.stage, count, *times


def as_text(budget: str, rows: Sequence[Row]) -> str:
    lines = [f"LEASE={budget} by a simulated clock, with {PROCESSORS} processors: nothing here was measured"]
    lines.append(f"  {'':44}{'items':>12}{'begins':>8}{'ends':>7}")
    for stage, count, begin, end in map(cells, rows):
        lines.append(f"  {stage:44}{count:>12}{begin:>8}{end:>7}".rstrip())
    return "\n".join(lines)


def as_table(budgets: Sequence[tuple[str, Sequence[Row]]]) -> str:
    """Returns the page's table: both commands side by side."""
    head = "".join(f" LEASE={budget} | begins | ends |" for budget, _ in budgets)
    lines = [f"| stage |{head}", "|---|" + "--:|" * (3 * len(budgets))]
    found: dict[str, dict[str, tuple]] = {}
    for budget, rows in budgets:
        for row in rows:
            name = "build, list of items" if not row.of else row.stage
            found.setdefault(name, {})[budget] = cells(row)[1:]
    for stage, of in found.items():
        lines.append(f"| {stage} | " + " | ".join(cell for budget, _ in budgets for cell in of[budget]) + " |")
    return "\n".join(lines) + "\n"


def read_state(fresh: bool) -> set[tuple[str, str]] | None:
    """Returns what an earlier plan has done; None where there is none."""
    if fresh or not PLANNED.exists():
        return None
    try:
        return {(part, name) for part, name in json.loads(PLANNED.read_text())["done"]}
    except (ValueError, LookupError, TypeError) as error:
        raise ToolError(f"{PLANNED} cannot be read ({error}): PLAN=1 FRESH=1 begins anew") from None


def page_block(entries: Sequence[Entry]) -> str:
    done: set[tuple[str, str]] = set()
    budgets = []
    for i, budget in enumerate(BUDGETS):
        rows, done = planned(entries, done, i > 0, seconds_of(budget))
        budgets.append((budget, rows))
    return as_table(budgets)


def show(options: argparse.Namespace) -> int:
    if options.lease is None and not options.write:
        raise ToolError("PLAN=1 needs a budget, such as LEASE=9m30s")
    entries = all_entries(options.python)
    if options.write:
        PAGE.write_text(pages.put(PAGE.read_text(), "lease plan", page_block(entries), PAGE))
        print(f"written to {PAGE}")
        return 0
    before = read_state(options.fresh)
    rows, done = planned(entries, before or set(), before is not None, options.lease)
    STATE.mkdir(parents=True, exist_ok=True)
    PLANNED.write_text(json.dumps({"done": sorted(done)}))
    print(as_text(options.lease_text, rows))
    left = len(entries) - len(done)
    goes_on = "; go on with: make gpu-report LEASE=3m PLAN=1; FRESH=1 begins anew" if left else ""
    print(f"{tools.counted(left, 'item')} left{goes_on}")
    return 0
