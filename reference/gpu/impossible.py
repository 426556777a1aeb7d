# SPDX-License-Identifier: MIT
"""Refuses a time that no such card can reach: less than a call's bytes take at the peak of memory, or its FLOP at the
peak of its precision. Peaks are those of reference/cards.toml, bytes and FLOP those of costs.py. Needs nothing but
Python 3.10."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

from reference.gpu.cards import read_cards, reported_card
from reference.gpu.costs import Cost
from reference.gpu.tools import ToolError, digits

MARGIN = 0.95  # cards run a little above the boost clock that datasheets mean


@dataclass(frozen=True)
class Floor:
    seconds: float
    reason: str  # "50.3 MB take at the card's 3,350 GB/s"


@cache
def peaks_of(card: str) -> dict | None:
    """`card` is the driver's name: "NVIDIA H100 80GB HBM3"."""
    key = reported_card(card)
    return read_cards()[key] if key else None


def amount(value: float, units: tuple[str, str, str]) -> str:
    """10.1 MB of 10.1e6 and ("MB", "GB", "TB")."""
    scale = 1e6 if value < 1e9 else 1e9 if value < 1e12 else 1e12
    return f"{digits(value / scale)} {units[(1e6, 1e9, 1e12).index(scale)]}"


def floor_of_memory(peaks: dict, cost: Cost, precision: str) -> Floor | None:
    """bf16 halves the bytes, which `cost` counts as of float32. As many as L2 holds, and half of them at most, may be
    writes that have not reached memory when the call ends."""
    if not cost.bytes:
        return None
    all_bytes = cost.bytes / (2 if precision == "bf16" else 1)
    must_pass = all_bytes - min(peaks["l2_size"] * 2**20, all_bytes / 2)
    units = ("MB", "GB", "TB")
    subject = f"{amount(must_pass, units)} ({amount(all_bytes, units)} less writes that L2 can hold back)"
    return Floor(must_pass / (peaks["memory"] * 1e9), f"{subject} take at the card's {peaks['memory']:,} GB/s")


def floor_of_arithmetic(peaks: dict, cost: Cost, precision: str) -> Floor | None:
    """`precision`: a key of cards.toml, or "3xtf32": fp32 by FMA or at a third of TF32's rate, whichever is faster."""
    rate = max(peaks["fp32"], peaks.get("tf32", 0) / 3) if precision == "3xtf32" else peaks.get(precision)
    if rate is None:
        return None
    subject = amount(cost.flop, ("MFLOP", "GFLOP", "TFLOP"))
    return Floor(cost.flop / (rate * 1e12), f"{subject} take at the card's {digits(rate)} TFLOP/s of {precision}")


def floor_of(card: str | None, cost: Cost, precision: str, hot: bool = False) -> Floor | None:
    """Returns the larger floor of a call; None if the card is unknown. What is `hot` may come from L2, so that its
    bytes have no floor."""
    peaks = peaks_of(card) if card else None
    if peaks is None:
        return None
    floors = [floor_of_arithmetic(peaks, cost, precision), None if hot else floor_of_memory(peaks, cost, precision)]
    return max((floor for floor in floors if floor), key=lambda floor: floor.seconds, default=None)


def floor_seconds(card: str | None, cost: Cost, precision: str, hot: bool = False) -> float | None:
    floor = floor_of(card, cost, precision, hot)
    return floor.seconds if floor else None


def refuse_impossible(
    what: str, median_ms: float, card: str | None, cost: Cost, precision: str, hot: bool = False
) -> None:
    """Raises ToolError if `median_ms` is less than MARGIN of the call's floor."""
    floor = floor_of(card, cost, precision, hot)
    if floor is None or median_ms * 1e-3 >= MARGIN * floor.seconds:
        return
    unit, scale = ("us", 1e6) if floor.seconds < 1e-3 else ("ms", 1e3)
    times = [f"{digits(seconds * scale)} {unit}" for seconds in (median_ms * 1e-3, floor.seconds)]
    raise ToolError(f"IMPOSSIBLE: {what}: {times[0]} is less than the {times[1]} that {floor.reason}")
