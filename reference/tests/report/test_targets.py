# SPDX-License-Identifier: MIT
"""The targets of the lessons, beside what cards have measured."""

import json
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]
REPORTS = sorted(path for path in (ROOT / "reference/timings").glob("*.json") if "gpu" in json.loads(path.read_text()))


def target_of(item: str) -> dict | None:
    """Returns the target of "lesson16/attention"; None of an op that has left its lesson."""
    lesson, op = item.removeprefix("lesson").split("/")
    (toml,) = ROOT.glob(f"lessons/{lesson}_*/lesson.toml")
    return tomllib.loads(toml.read_text())["target"].get(op)


@pytest.mark.parametrize("report", REPORTS, ids=lambda path: path.stem)
def test_solution_reaches_bronze_on_each_card_of_a_report(report):
    items = json.loads(report.read_text())["parts"].get("timings", {}).get("items", {})
    missed = []
    for item, entry in items.items():
        if (target := target_of(item)) is None:
            continue
        for shape in entry.get("result", {}).get("shapes", []):
            rival = shape["of_speed_of"].get(target["against"])
            if shape["shape"] in target["shapes"] and rival and rival["share"] < target["bronze"]:
                share = f"{rival['share']:.1%} of {target['against']}"
                missed.append(f"{item} {shape['shape']}: {share}, bronze {target['bronze']:.0%}")
    assert not missed, "targets that the course's own solution misses: " + "; ".join(missed)
