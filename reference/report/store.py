# SPDX-License-Identifier: MIT
"""The file of a card's report: written after each result, to several places at once, and merged with others of its
kind. reference/timings/README.md describes its form. Needs nothing but Python 3.10."""

from __future__ import annotations

import contextlib
import json
import os
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path

from reference.gpu.tools import NO_MEASUREMENT, Card, ToolError, utc_now

FORMAT = 2
MEASURED = ("ok", "failed")

Current = Callable[[str, str], str | None]  # part and item to the hash of what it would be measured with now


def without_folders(text: str) -> str:
    """Replaces the folders of the user: a file that is sent to others does not say who measured it."""
    for folder, sign in ((Path.cwd(), "."), (Path.home(), "~")):
        if folder != Path(folder.anchor):
            text = text.replace(f"{folder}/", f"{sign}/")
    return text


def read(path: Path) -> dict:
    """Returns the report in the file, {} where there is no file. Raises ToolError for any other content."""
    try:
        data = json.loads(path.read_text())
    except FileNotFoundError:
        return {}
    except (OSError, ValueError) as error:
        raise ToolError(f"{path} cannot be read ({error}): move it away, then start again") from None
    has_form = isinstance(data, dict) and data.get("format") == FORMAT
    if not (has_form and isinstance(data.get("parts"), dict) and isinstance(data.get("runs"), dict)):
        raise ToolError(f"{path} is no report of format {FORMAT}: move it away, then start again")
    return data


# ---- merging -------------------------------------------------------------------------------------------------------


def preferred(mine: dict, other: dict, sources: str | None) -> dict:
    """Returns one of two records of an item: what was measured with today's `sources` before anything else, a
    measurement before none, then the newer one."""

    def rank(record: dict) -> tuple[bool, bool, str]:
        is_current = sources is not None and record.get("sources") == sources
        return is_current, record["status"] in MEASURED, record.get("measured_at", "")

    return other if rank(other) > rank(mine) else mine


def merged(mine: dict, other: dict, current: Current = lambda *_: None) -> dict:
    """Returns both reports of one card as one. Of an item that both have, preferred() decides."""
    if not mine or not other:
        return mine or other
    parts: dict[str, dict] = {}
    for name in (*mine["parts"], *(name for name in other["parts"] if name not in mine["parts"])):
        a, b = (data["parts"].get(name, {"items": {}}) for data in (mine, other))
        items = dict(a["items"])
        for item, record in b["items"].items():
            items[item] = preferred(items[item], record, current(name, item)) if item in items else record
        done = {item for item, record in items.items() if record["status"] in MEASURED}
        left = dict.fromkeys((*a.get("not_done_yet", ()), *b.get("not_done_yet", ())))
        parts[name] = {**a, **b, "not_done_yet": [item for item in left if item not in done], "items": items}
        if items and "why" in parts[name] and not ("why" in a and "why" in b):
            del parts[name]["why"]
    return {**other, **mine, "runs": mine["runs"] | other["runs"], "parts": parts}


# ---- the file ------------------------------------------------------------------------------------------------------


class Store:
    """The report of one card in one or more files of the same content. What any of them holds is taken over."""

    def __init__(self, paths: Sequence[Path], card: Card, rehearsal: bool = False):
        self.paths = list(dict.fromkeys(paths))
        found: dict = {}
        for path in self.paths:
            data = read(path)
            if data and data.get("gpu") != card.name:
                raise ToolError(f"{path} is about {data.get('gpu')}, this card is {card.name}: name another file")
            found = merged(found, data)
        self.data = {
            "format": FORMAT,
            "gpu": card.name,
            "rehearsal": rehearsal,
            **({"note": NO_MEASUREMENT} if rehearsal else {}),
            "card": asdict(card),
            "runs": found.get("runs", {}),
            "parts": found.get("parts", {}),
        }
        self.run = ""  # the id of the run that measures now

    def begin_run(self, stamp: dict) -> None:
        """Notes what measures from now on: commit, dirty, driver, cuda. Versions of tools are added part by part."""
        now = utc_now()
        taken = sum(name.startswith(now) for name in self.data["runs"])
        self.run = f"{now}{f'-{taken + 1}' if taken else ''}"
        self.data["runs"][self.run] = {**stamp, "versions": {}}

    @property
    def stamp(self) -> dict:
        return self.data["runs"][self.run]

    def part(self, name: str) -> dict:
        return self.data["parts"].setdefault(name, {"not_done_yet": [], "items": {}})

    def begin_part(self, name: str, versions: Mapping[str, str], sources: Mapping[str, str], fresh: bool) -> None:
        """Drops what no longer holds of the items in `sources`: other sources, another driver, toolkit or tool.
        Items that are not in `sources` go too, as they no longer exist."""
        self.stamp["versions"] |= versions
        part = self.part(name)
        part.pop("why", None)

        def holds(item: str, record: dict) -> bool:
            if fresh or record.get("sources") != sources.get(item):
                return False
            run = self.data["runs"].get(record.get("run"), {})
            same = all(run.get(key) == self.stamp[key] for key in ("driver", "cuda"))
            return same and all(run.get("versions", {}).get(tool) == version for tool, version in versions.items())

        part["items"] = {item: record for item, record in part["items"].items() if holds(item, record)}

    def note_failure(self, name: str, why: str) -> None:
        """Notes why a part could not begin. What it measured before stays."""
        self.part(name)["why"] = why
        self.save()

    def record(self, part: str, item: str, record: dict) -> None:
        self.part(part)["items"][item] = record | {"run": self.run}
        self.save()

    def has_tried(self) -> bool:
        """Returns true if any item was measured, or failed."""
        items = [item for part in self.data["parts"].values() for item in part["items"].values()]
        return any(item["status"] in MEASURED for item in items)

    def save(self) -> None:
        """Writes each file under another name, which then replaces it. Raises ToolError where that fails."""
        used = {item.get("run") for part in self.data["parts"].values() for item in part["items"].values()}
        runs = {name: run for name, run in self.data["runs"].items() if name in used or name == self.run}
        data = self.data | {"runs": runs}
        text = without_folders(json.dumps(data, indent=1, ensure_ascii=False, allow_nan=False)) + "\n"
        for path in self.paths:
            write(path, text)


def write(path: Path, text: str) -> None:
    """Replaces the file as a whole. Raises ToolError where it cannot be written."""
    temporary = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        temporary.write_text(text)
        temporary.replace(path)
    except OSError as error:
        with contextlib.suppress(OSError):
            temporary.unlink()
        raise ToolError(f"{path} cannot be written: {error.strerror}") from None


# ---- a report that somebody sends ------------------------------------------------------------------------------------

HOT = ("hardware slowdown", "thermal slowdown by software", "thermal slowdown by hardware", "power brake")
HELD_AT_MOST = 0.1  # share of an item's samples
TIMED_PARTS = ("calibrate", "timings", "baselines", "forward_b4", "forward_b1", "forward_b16", "ladder", "waterfall")
SENT_AGAIN = "measure it again with make gpu-report"


def refusal(data: object) -> str | None:
    """Returns why a report cannot become part of the course, in one line; None where it can. Looks at its form, at
    what it was measured from, and at the clocks while it was measured."""
    return why_not_of_form(data) or why_not_its_sources(data) or why_not_its_clocks(data)


def why_not_of_form(data: object) -> str | None:
    if not isinstance(data, dict) or data.get("format") != FORMAT:
        return f"it is no report of format {FORMAT}: {SENT_AGAIN}"
    if data.get("rehearsal") is not False:
        return "it is a rehearsal, in which nothing is a measurement"
    for key, kind in (("gpu", str), ("card", dict), ("runs", dict), ("parts", dict)):
        if not isinstance(data.get(key), kind):
            return f"'{key}' is missing: {SENT_AGAIN}"
    for part, item, record in all_records(data):
        if not isinstance(record, dict) or record.get("status") not in (*MEASURED, "unavailable", "stopped"):
            return f"{part}/{item} has no status: {SENT_AGAIN}"
        if record["status"] == "ok" and not isinstance(record.get("result"), dict):
            return f"{part}/{item} is ok and has no result: {SENT_AGAIN}"
        if record["status"] in ("failed", "unavailable") and not record.get("why"):
            return f"{part}/{item} does not say why it has no result: {SENT_AGAIN}"
    if not any(record["status"] == "ok" for _, _, record in all_records(data)):
        return "nothing in it was measured"
    return None


def why_not_its_sources(data: dict) -> str | None:
    for part, item, record in all_records(data):
        if record["status"] not in MEASURED:
            continue
        if not re.fullmatch(r"[0-9a-f]{16}", str(record.get("sources"))):
            return f"{part}/{item} does not say what it was measured with: {SENT_AGAIN}"
        run = data["runs"].get(record.get("run"))
        if not isinstance(run, dict) or not re.fullmatch(r"[0-9a-f]{7,40}", str(run.get("commit"))):
            return f"{part}/{item} names no commit: {SENT_AGAIN}, in a git checkout or with COMMIT="
        if run.get("dirty"):
            return f"{part}/{item} was measured with files that differ from {run['commit'][:12]}: {SENT_AGAIN}"
    return None


def why_not_its_clocks(data: dict) -> str | None:
    for part, item, record in all_records(data):
        if part not in TIMED_PARTS or record["status"] != "ok":
            continue
        clocks = record.get("clocks")
        if not clocks:
            if record.get("seconds", 0.0) < 1.0:
                continue  # shorter than a few readings of the clocks
            return f"{part}/{item} was timed without a reading of the clocks: {SENT_AGAIN}, with nvidia-smi in PATH"
        for reason in HOT:
            share = (clocks.get("held_back_by") or {}).get(reason, 0)
            if share > HELD_AT_MOST:
                return (
                    f"{part}/{item} was held back by {reason} in {share:.0%} of the time: let the card cool, then "
                    + SENT_AGAIN
                )
    return None


def all_records(data: dict) -> list[tuple[str, str, dict]]:
    return [
        (part, item, record)
        for part, of_part in data["parts"].items()
        for item, record in of_part.get("items", {}).items()
    ]
