# SPDX-License-Identifier: MIT
"""What calls of ops take at least on a card: what is counted of them (counts.py), priced by build/tools/estimate
(checker/estimate)."""

from __future__ import annotations

import json
import sys
import tempfile
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from reference.gpu import counts
from reference.gpu.cards import read_card
from reference.gpu.counts import Counted, Key
from reference.gpu.tools import CLEAR, asked

PROGRAM = Path("build/tools/estimate")
SASS = Path("reference/sass.json")
RECORDED = Path("reference/plots/estimates.json")
KEPT = Path("build/estimates/counts.json")  # what was counted since, at other shapes


# Resources as checker/estimate names them, and in a table of 80 columns.
SHORT = {
    "instruction issue": "issue",
    "FMA pipe": "FMA",
    "integer pipe": "integer",
    "load/store and L1": "L1",
    "special functions": "special",
    "tensor cores": "tensor",
    "L2": "L2",
    "memory": "memory",
    "latency": "latency",
    "library arithmetic": "library",
}


# ---- what is estimated -----------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Launch:
    """Of a kernel; or calls of one function of a library."""

    kernel: str
    library: bool
    launches: int
    seconds: dict[str, float]  # by resource, each at least
    limit: str
    next: str
    memory_bytes: float
    counters: dict[str, float] = field(default_factory=dict)  # of all blocks
    launchable: bool = True  # on this card

    @property
    def total(self) -> float:
        return self.seconds[self.limit]


@dataclass(frozen=True)
class Estimate:
    """Of one call of an op on a card: its launches one after another, each at its own limit."""

    launches: tuple[Launch, ...]

    @property
    def seconds(self) -> float:
        return sum(one.total for one in self.launches)

    @property
    def by_resource(self) -> dict[str, float]:
        """Of all launches, the least that each resource takes."""
        found: dict[str, float] = {}
        for one in self.launches:
            for name, seconds in one.seconds.items():
                found[name] = found.get(name, 0.0) + seconds
        return found

    @property
    def limits(self) -> dict[str, float]:
        """How long each resource is the limit."""
        found: dict[str, float] = {}
        for one in self.launches:
            found[one.limit] = found.get(one.limit, 0.0) + one.total
        return found

    @property
    def limit(self) -> str:
        return max(self.limits, key=self.limits.__getitem__)

    @property
    def issued(self) -> int:
        """Launches, and calls of libraries."""
        return sum(one.launches for one in self.launches)

    @property
    def asks_libraries(self) -> bool:
        return any(one.library for one in self.launches)

    @property
    def launchable(self) -> bool:
        return all(one.launchable for one in self.launches)

    @property
    def memory_bytes(self) -> float:
        return sum(one.memory_bytes for one in self.launches)

    def counter(self, names: Iterable[str]) -> float:
        """The sum of these over all launches."""
        return sum(one.counters.get(name, 0) for one in self.launches for name in names)


@dataclass(frozen=True)
class Band:
    """How far estimates lie from what others measured: checker/simt/ESTIMATES.md."""

    rows: int
    cards: int
    within_150: float  # share of the rows within 1.5 times

    @property
    def share(self) -> str:
        return f"{100 * self.within_150:.0f}%"

    def __str__(self) -> str:
        published = f"{self.share} of {self.rows} published times on {self.cards} cards"
        return f"{published} differ from such an estimate by at most a factor of 1.5"


@dataclass(frozen=True)
class OnCard:
    """What calls take on one card."""

    name: str  # "H100 SXM"
    of: dict[Key, Estimate]
    band: Band | None = None


def launch_of(row: dict, counted: dict) -> Launch:
    library = is_library(counted)
    return Launch(
        kernel=row["kernel"],
        library=library,
        launches=counted["metrics"]["calls of libraries"] if library else counted["launches"],
        seconds=row["resources"],
        limit=row["limit"],
        next=row["next"],
        memory_bytes=row["bytes_of_memory"],
        counters={} if library else {name: count * scale(counted) for name, count in counted["metrics"].items()},
        launchable=row["launchable"],
    )


def scale(counted: dict) -> float:
    """From the blocks that were counted to all."""
    return counted["blocks"] / counted["blocks_counted"]


def priced(root: Path, counted: Sequence[Counted], cards: str) -> list[OnCard]:
    """By one run of the program; `cards` as it takes them: "H100,T4"."""
    launches = [launch for one in counted for launch in one.launches]
    with tempfile.TemporaryDirectory(prefix="estimates-") as scratch:
        path = Path(scratch, "counts.json")
        path.write_text(json.dumps({"launches": launches}))
        found = asked(root / PROGRAM, ["--json", "--card", cards, "--sass", str(root / SASS), str(path)], dict)
    known = found.get("band")
    band = Band(known["rows"], known["cards"], known["within_1_5"]) if known else None
    priced = []
    for card in found["cards"]:
        rows = iter(card["launches"])
        of = {one.key: Estimate(tuple(launch_of(next(rows), launch) for launch in one.launches)) for one in counted}
        priced.append(OnCard(card["name"], of, band))
    return priced


def is_library(launch: dict) -> bool:
    return not launch["launches"]


# ---- what is counted -------------------------------------------------------------------------------------------------


def recorded(path: Path) -> dict[Key, Counted]:
    return counts.read(path) if path.exists() else {}


def still_good(root: Path, known: dict[Key, Counted]) -> dict[Key, Counted]:
    return {key: one for key, one in known.items() if one.sources == counts.digest(root, one.files)}


def count_missing(root: Path, keys: Iterable[Key], known: dict[Key, Counted]) -> dict[Key, Counted]:
    """Of all keys, in their order; what is not known is counted on the CPU device."""
    found = {}
    with tempfile.TemporaryDirectory(prefix="counts-") as scratch:
        for key in dict.fromkeys(keys):
            if key not in known:
                call, files = key
                end = "" if CLEAR else "\n"
                print(f"{CLEAR}counting {call} of {files[0]} …", end=end, file=sys.stderr, flush=True)
            found[key] = known.get(key) or counts.counted_anew(root, *key, Path(scratch))
    print(CLEAR, end="", file=sys.stderr, flush=True)
    return found


def record(root: Path, keys: Iterable[Key], fresh: bool = False) -> None:
    """What has changed is counted anew; all of it where the CPU device itself may count otherwise now."""
    found = count_missing(root, keys, {} if fresh else still_good(root, recorded(root / RECORDED)))
    (root / RECORDED).write_text(counts.to_json(found.values()))


def of_calls(root: Path, keys: Iterable[Key], cards: str) -> list[OnCard]:
    """On each card. What is recorded is taken as it is; what is not is counted, and kept for the next time."""
    for card in cards.split(","):
        read_card(card)  # says which there are before anything is counted
    keys = list(dict.fromkeys(keys))
    known = recorded(root / RECORDED)
    if missing := [key for key in keys if key not in known]:
        kept = still_good(root, recorded(root / KEPT))
        new = count_missing(root, missing, kept)
        if new.keys() - kept.keys():
            (root / KEPT).parent.mkdir(parents=True, exist_ok=True)
            (root / KEPT).write_text(counts.to_json((kept | new).values()))
        known |= new
    return priced(root, [known[key] for key in keys], cards)
