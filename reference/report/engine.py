# SPDX-License-Identifier: MIT
"""Carries out items in the order of a list, within a budget of seconds: what does not fit does not start, what still
runs at the end is stopped. The decisions are here; a World starts items and tells the time, the real one or a
simulated one. Needs nothing but Python 3.10."""

from __future__ import annotations

import heapq
import itertools
import math
import re
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol


def seconds_of(text: str) -> float:
    """Returns the seconds of "9m30s", "3m", "200s" or "200". Raises ValueError."""
    found = re.fullmatch(r"(?:(\d+)m)?(?:(\d+)s?)?", text)
    if not text or not found:
        raise ValueError(text)
    return 60.0 * int(found[1] or 0) + int(found[2] or 0)


STOP_BEFORE = 10.0  # seconds before the end of a budget: whatever runs is stopped then
ROOM = 1.5  # an item starts only if ROOM times its expected time is left


@dataclass(frozen=True)
class Entry:
    """An item's place in the list."""

    stage: str
    part: str
    name: str
    seconds: float  # expected
    shared: bool = False  # runs beside others; else alone on the card
    timed: bool = False  # the card settles before the first of a stage

    @property
    def key(self) -> tuple[str, str]:
        return self.part, self.name

    def patience(self, in_a_budget: bool) -> float:
        """Returns the seconds after which it counts as hanging."""
        return max(90.0, 6 * self.seconds) if in_a_budget else max(600.0, 20 * self.seconds)


class World(Protocol):
    width: int  # shared items that run at once

    def now(self) -> float:
        """Returns the seconds since the budget began."""

    def settle(self, stage: str) -> None: ...

    def start(self, entry: Entry, until: float) -> None: ...

    def wait(self) -> tuple[Entry, dict]:
        """Waits for the next item that ends, and returns its record."""


def carry_out(entries: Sequence[Entry], world: World, end: float, keep: Callable[[Entry, dict], None]) -> list[Entry]:
    """Runs the entries in their order; `end` is the second at which whatever runs is stopped, infinite without a
    budget. `keep` takes each record as soon as it is there. Returns what is left."""
    queue, running, left = deque(entries), set(), []
    settled = None
    while queue or running:
        if queue:
            entry = queue[0]
            if not world.now() + ROOM * entry.seconds <= end:
                left.append(queue.popleft())
                continue
            beside = entry.shared and all(other.shared for other in running) and len(running) < world.width
            if beside or not running:
                if entry.timed and settled != entry.stage:
                    world.settle(entry.stage)
                    settled = entry.stage
                    continue  # settling took time
                world.start(queue.popleft(), min(end, world.now() + entry.patience(math.isfinite(end))))
                running.add(entry)
                continue
        entry, record = world.wait()
        running.remove(entry)
        was_cut = record["status"] == "failed" and world.now() >= end
        if was_cut or record["status"] == "stopped":
            left.append(entry)
        if not was_cut:
            keep(entry, record)
    position = {entry.key: i for i, entry in enumerate(entries)}
    return sorted(left, key=lambda entry: position[entry.key])


class Simulation:
    """A world without a card, whose clock moves on by what each item takes. `seconds_of` is infinite for an item that
    hangs."""

    SETTLING = 1.5

    def __init__(self, seconds_of: Callable[[Entry], float], width: int = 4, begin: float = 0.0):
        self.seconds_of = seconds_of
        self.width = width
        self.time = begin
        self.running: list[tuple[float, int, Entry, dict]] = []
        self.number = itertools.count()
        self.ended: list[tuple[Entry, float, float]] = []  # with begin and end

    def now(self) -> float:
        return self.time

    def settle(self, stage: str) -> None:
        self.time += self.SETTLING

    def start(self, entry: Entry, until: float) -> None:
        takes = self.seconds_of(entry)
        over = self.time + takes > until
        record = {"status": "failed", "why": "it did not end"} if over else {"status": "ok"}
        end = min(self.time + takes, until)
        heapq.heappush(self.running, (end, next(self.number), entry, record))
        self.ended.append((entry, self.time, end))

    def wait(self) -> tuple[Entry, dict]:
        self.time, _, entry, record = heapq.heappop(self.running)
        return entry, record
