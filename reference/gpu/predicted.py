# SPDX-License-Identifier: MIT
"""Registered predictions (reference/predictions), and a card's report beside them. `make predictions` writes them down
and their page (reference/report/predictions.py). Needs nothing but Python 3.10."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from reference.gpu import reported
from reference.gpu.cards import reported_card
from reference.gpu.tools import ToolError, counted, read_reports

FOLDER = Path("reference/predictions")
HASHES = FOLDER / "registered.sha256"

# ---- registrations ---------------------------------------------------------------------------------------------------

Rows = dict[str, dict[str, list[float]]]  # by section and item, milliseconds on each card


@dataclass(frozen=True)
class Registration:
    name: str  # "2026-11-26-9e80c64"
    date: str  # "2026-11-26T14:00:00Z"; the first ones have the day alone, and count from its beginning
    cards: tuple[str, ...]  # keys of cards.toml
    rows: Rows

    def ms(self, card: str, section: str, item: str) -> float | None:
        row = self.rows.get(section, {}).get(item)
        return row[self.cards.index(card)] if row and card in self.cards else None


def registered_files(root: Path) -> dict[str, str]:
    """Returns each file's hash by its name, in the order of registration."""
    if not (root / HASHES).exists():
        return {}
    pairs = [line.split() for line in (root / HASHES).read_text().splitlines()]
    return {name: digest for digest, name in pairs}


def registrations(root: Path) -> list[Registration]:
    """Returns all of them, the oldest first. Raises ToolError if one has another form."""
    found = []
    for name in registered_files(root):
        path = root / FOLDER / name
        try:
            data = json.loads(path.read_text())
            rows = {section: data[section] for section in ("ops", "lessons", "ladder", "steps", "logits")}
            found.append(Registration(path.stem, data["registered"], tuple(data["cards"]), rows))
        except (OSError, ValueError, LookupError, TypeError) as error:
            raise ToolError(f"{path} is no registration ({error}): git restore {FOLDER / name}") from None
    return found


# ---- a report beside them --------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Time:
    """A time that a report has measured."""

    part: str  # "timings"
    date: str  # "2026-12-01T12:00:00Z"
    section: str  # "lessons"
    item: str  # "lesson09/matmul N=4096 C=768 OC=3072"
    op: str
    label: str  # "05 matmul N=4096 C=768 OC=3072"
    ms: float
    null: tuple[str, ...] = ()  # parameters that were null: ("bias",)


@dataclass(frozen=True)
class Row:
    """A prediction beside its measurement."""

    part: str
    op: str
    name: str
    predicted_ms: float
    measured_ms: float
    registration: str  # "2026-11-26-9e80c64"

    @property
    def ratio(self) -> float:
        """Measured over predicted time: 2 means twice as slow."""
        return self.measured_ms / self.predicted_ms

    @property
    def error(self) -> float:
        """The prediction's error as a share of the measured time."""
        return abs(self.predicted_ms - self.measured_ms) / self.measured_ms


def waterfall_label(item: str) -> str:
    """Returns "11+15 attention B=4 …" for "11_tf32/attention 15_online_softmax/causal_softmax: attention B=4 …"."""
    files, _, call = item.partition(": ")
    numbers = [file.split("_")[0] for file in files.split()]
    newer = f"+{max(numbers)}" if max(numbers) > numbers[0] else ""
    sizes = " ".join(word for word in call.split() if not word.startswith("out_stride="))
    return f"{numbers[0]}{newer} {sizes}"


def measured(root: Path, data: dict) -> Iterator[Time]:
    """Yields all times of a report that a registration may hold. SLOW ones are among them."""
    for result in reported.results_of(data, "waterfall"):
        op, ms = result.item.partition(": ")[2].split()[0], result.values["median_ms"]
        yield Time("waterfall", result.date, "ops", result.item, op, waterfall_label(result.item), ms)
    for timed in reported.timed_ops(root, data):
        label = f"{timed.number} {timed.op} {timed.shape}"
        yield Time(
            "timings", timed.date, "lessons", f"{timed.item} {timed.shape}", timed.op, label, timed.ms, timed.null
        )
    for timed in reported.ladder_ops(data):
        label = f"{timed.number} matmul {timed.shape}"
        yield Time("ladder", timed.date, "ladder", timed.item, "matmul", label, timed.ms)
    for result in reported.results_of(data, "forward_b4"):
        if result.item.endswith(" eager"):  # our side is measured beside each of PyTorch's ways: one is enough
            step, ms = result.values["step"], result.values["forward"]["ours"]["median_ms"]
            label = f"{step} whole pass without loss"
            yield Time("forward_b4", result.date, "logits", step, "whole pass", label, ms)


@dataclass(frozen=True)
class Comparison:
    """A report's times beside what was predicted."""

    rows: list[Row]  # worst first
    left_out: list[Time]  # registered predictions are of other calls


@dataclass(frozen=True)
class Prediction:
    ms: float
    registration: str


def first_prediction(known: list[Registration], card: str, timed: Time, item: str) -> Prediction | None:
    """Returns what the oldest registration that holds the item, and is not later than the time, predicts of it."""
    for one in known:
        if one.date <= timed.date and (ms := one.ms(card, timed.section, item)) is not None:
            return Prediction(ms, one.name)
    return None


def compared(data: dict, known: list[Registration], root: Path = Path()) -> Comparison:
    """Returns a report's times that were predicted. Each is beside the oldest registration that holds it and is not
    later than the measurement; `known` has the oldest first. A call that was timed with a null parameter is left out
    if what is registered is the call with that parameter. Returns no rows for a rehearsal and for a card that
    cards.toml does not know."""
    card = None if data["rehearsal"] else reported_card(data["gpu"])
    if card is None:
        return Comparison([], [])
    rows, left_out = [], []
    for timed in measured(root, data):
        as_timed = first_prediction(known, card, timed, timed.item + reported.suffix(timed.null))
        if as_timed:
            rows.append(Row(timed.part, timed.op, timed.label, as_timed.ms, timed.ms, as_timed.registration))
        elif timed.null and first_prediction(known, card, timed, timed.item):
            left_out.append(timed)
    return Comparison(sorted(rows, key=lambda row: -abs(math.log(row.ratio))), left_out)


def said_of_left_out(left_out: list[Time]) -> str:
    """Returns a sentence that says how many times have no prediction of the same call, and why; "" for none."""
    if not left_out:
        return ""
    calls = {f"lesson {one.label.split()[0]}'s {one.op}": " and ".join(one.null) for one in left_out}
    named = ", ".join(f"{call} without its {null}" for call, null in calls.items())
    many = f"{counted(len(left_out), 'time')} {'is' if len(left_out) == 1 else 'are'}"
    return f"{many} left out: the call was timed with a null parameter ({named}) and predicted without one."


def off(ratio: float) -> float:
    """Returns the factor by which two times differ, at least 1."""
    return max(ratio, 1 / ratio)


def of_cards(root: Path) -> dict[str, Comparison]:
    """Returns by card's name how its report compares, of those whose times were predicted."""
    known = registrations(root)
    found = {data["gpu"]: compared(data, known, root) for data in read_reports(root)}
    return {gpu: of_card for gpu, of_card in found.items() if of_card.rows}


def own_band(root: Path) -> str:
    """Returns how many of the cards' times of the course's own kernels were within 1.5 times their predictions, for a
    sentence about others' times: "of the course's own times on NVIDIA …, 57 of 86 do"; "" without a report."""
    said = []
    for gpu, of_card in of_cards(root).items():
        near = sum(off(row.ratio) <= 1.5 for row in of_card.rows)
        said.append(f"of the course's own times on {gpu}, {near} of {len(of_card.rows)} do")
    return ", ".join(said)
