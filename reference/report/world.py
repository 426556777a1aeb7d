# SPDX-License-Identifier: MIT
"""The world of engine.py on a machine with a card, or in its rehearsal: items run as threads that wait for programs."""

from __future__ import annotations

import json
import math
import queue
import threading
import time
from collections.abc import Callable, Mapping
from os import cpu_count

from reference.gpu import tools
from reference.gpu.tools import CLEAR, ClockLog, run, utc_now
from reference.report.engine import Entry
from reference.report.parts import CALIBRATE, FAILURES, Failed, Item, Setting, Work, reason
from reference.report.store import Store

GRACE = 6.0  # seconds that a stopped item has to end
SETTLES_WITHIN = 10.0  # seconds, the start of the program included


def finite(value: object) -> object:
    """Replaces infinities and NaN, which JSON does not have, by null."""
    if isinstance(value, dict):
        return {key: finite(inner) for key, inner in value.items()}
    if isinstance(value, list):
        return [finite(inner) for inner in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value


def measure(setting: Setting, item: Item, limit: float, clocks: ClockLog) -> dict:
    """Returns the item's record. `limit` is in seconds."""
    begin, samples = time.monotonic(), len(clocks.samples)
    record: dict = {"status": "ok", "measured_at": utc_now()}
    try:
        setting.demand(item)
        record["result"] = item.measure(lambda: limit - (time.monotonic() - begin))
    except Failed as error:
        record |= {"status": error.status, "why": str(error), "result": error.result}
    except FAILURES as error:
        record |= {"status": "failed", "why": reason(error)}
    record["seconds"] = round(time.monotonic() - begin, 2)
    record["clocks"] = clocks.since(samples)
    return finite(record)


class RealWorld:
    """Use it in a `with`: it ends what it has started."""

    def __init__(
        self,
        setting: Setting,
        items: Mapping[tuple[str, str], Item],
        works: Mapping[str, Work | str],
        store: Store,
        clocks: ClockLog,
        now: Callable[[], float],
    ):
        self.setting = setting
        self.items = items
        self.works = works
        self.store = store
        self.clocks = clocks
        self.now = now
        self.width = max(1, (cpu_count() or 1) // 4)  # each compiles or compares on several processors
        self.ended: queue.SimpleQueue[tuple[Entry, dict]] = queue.SimpleQueue()
        self.running: dict[Entry, tuple[float, threading.Thread]] = {}
        self.last = ""  # the part that was timed last

    def __enter__(self) -> RealWorld:
        return self

    def __exit__(self, *_) -> None:
        for _, thread in self.running.values():
            tools.end_of(thread.ident)
            thread.join(GRACE)
        for work in self.works.values():
            if isinstance(work, Work):
                work.close()

    def settle(self, stage: str) -> None:
        """Lets the card work until its clock is steady, and notes the readings. Sets nothing."""
        self.setting.leave_caches()
        if self.setting.programs.dry or not (self.setting.root / CALIBRATE).exists():
            return
        done = run([CALIBRATE, "--settle"], SETTLES_WITHIN)
        try:
            said = json.loads(done.output)
        except ValueError:
            said = {"why": tools.last_line(done.output)}
        self.store.stamp.setdefault("settled", []).append({"stage": stage, **said})

    def start(self, entry: Entry, until: float) -> None:
        if CLEAR:
            print(f"{CLEAR}  … {entry.part}/{entry.name}", end="", flush=True)
        if not entry.shared:
            self.setting.leave_caches()
        before = self.works.get(self.last)
        if not entry.shared and entry.part != self.last:
            if isinstance(before, Work):
                before.close()  # a process that waits would keep its memory of the card
            self.last = entry.part

        def work() -> None:
            record = measure(self.setting, self.items[entry.key], max(until - self.now(), 1.0), self.clocks)
            self.ended.put((entry, record))

        thread = threading.Thread(target=work, daemon=True)
        self.running[entry] = (until, thread)
        thread.start()

    def wait(self) -> tuple[Entry, dict]:
        """Waits for the next item that ends. What does not obey its limit is ended, and fails."""
        while True:
            entry, (until, thread) = min(self.running.items(), key=lambda running: running[1][0])
            try:
                ended, record = self.ended.get(timeout=max(until - self.now(), 0.0) + GRACE)
            except queue.Empty:
                tools.end_of(thread.ident)
                ended, record = entry, {"status": "failed", "why": "it could not be stopped", "seconds": 0.0}
            if self.running.pop(ended, None):  # else it was given up before
                return ended, record
