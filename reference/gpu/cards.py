# SPDX-License-Identifier: MIT
"""reference/cards.toml: what is known of each card, and what a multiprocessor holds."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from pathlib import Path

from reference.gpu.tools import ToolError

CARDS = Path(__file__).resolve().parents[1] / "cards.toml"


@dataclass(frozen=True)
class Limits:
    """Of a multiprocessor; shared memory in bytes."""

    warps: int
    blocks: int
    shared: int
    shared_unit: int
    shared_reserved: int


def read_tables() -> dict[str, dict[str, dict]]:
    """The file's tables by kind, "sm" or "card", and name. tomllib comes with Python 3.11, and this is read where only
    3.10 is. The file's values are numbers, strings and lists, written as in JSON."""
    found: dict[str, dict[str, dict]] = {}
    for table in re.finditer(r"^\[(\w+)\.(.+)\]\n((?:\w+ = .*\n)+)", CARDS.read_text(), re.MULTILINE):
        lines = re.findall(r'^(\w+) = ("[^"]*"|\[[^\]]*\]|[^\s#]+)', table[3], re.MULTILINE)
        found.setdefault(table[1], {})[table[2]] = {key: json.loads(value) for key, value in lines}
    return found


def read_limits() -> dict[int, Limits]:
    """By compute capability: 86."""
    tables = read_tables()["sm"]
    return {int(sm): Limits(*(row[key] for key in Limits.__dataclass_fields__)) for sm, row in tables.items()}


LIMITS = read_limits()


def read_cards() -> dict[str, dict]:
    """By name, each with `l1`, the GB/s of all its L1 caches together, at the clock that its peak of fp32 means."""
    data = read_tables()
    for row in data["card"].values():
        sm = data["sm"][str(row["sm"])]
        row["l1"] = round(1e3 * sm["l1_bytes"] * row["fp32"] / (2 * sm["fp32_lanes"]))
    return data["card"]


def squeezed(name: str) -> str:
    return re.sub(r"[^a-z0-9]|geforce|nvidia|rtx", "", name.lower())


def read_card(name: str) -> dict:
    """By its key, however it is written (rtx4090, 4090), or what it starts with (H100: the first such card)."""
    cards = read_cards()
    wanted = squeezed(name)
    keys = [key for key in cards if squeezed(key) == wanted]
    keys += [key for key in cards if len(wanted) > 1 and squeezed(key).startswith(wanted)]
    if not keys:
        raise ToolError(f"CARD={name}: it is one of {', '.join(cards)}")
    return cards[keys[0]]


# Names of drivers that say more, or less, than a card's key. From NVIDIA's lists of products and their drivers' output.
REPORTED = {
    "h10080gbhbm3": "H100-SXM",
    "a100sxm480gb": "A100-80GB",
    "a100sxm440gb": "A100-40GB",
    "v100sxm216gb": "V100-SXM2",
    "v100sxm232gb": "V100-SXM2",
}


def reported_card(name: str) -> str | None:
    """The key of a card as its driver names it: "NVIDIA GeForce RTX 4090", "Tesla T4", "NVIDIA H100 80GB HBM3"."""
    wanted = re.sub("tesla|gpu|generation", "", squeezed(name))
    return REPORTED.get(wanted) or next((key for key in read_cards() if squeezed(key) == wanted), None)
