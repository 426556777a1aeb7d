# SPDX-License-Identifier: MIT
"""The solutions' times beside PyTorch's of the same op, shape and precision, from a report's parts `timings` and
`baselines`. They are reported, and judged by nobody. Needs nothing but Python 3.10."""

from __future__ import annotations

import re
import textwrap
from dataclasses import dataclass

from reference.gpu.tools import ToolError, digits, is_measured


def times_of(data: dict, part: str) -> dict[str, dict]:
    """What was measured in the part, by item."""
    items = data["parts"].get(part, {}).get("items", {})
    return {name: record["result"] for name, record in items.items() if is_measured(record)}


def refused(data: dict, op: str, shape: str | None, precision: str) -> dict[str, str]:
    """PyTorch's ways that do not take this precision, and why."""
    items = data["parts"].get("baselines", {}).get("items", {})
    ends = f" {shape} {precision} eager" if shape else f" {precision} eager"
    found = {name.split()[0]: record for name, record in items.items() if name.endswith(ends)}
    return {
        label(op, name): record["why"]
        for name, record in found.items()
        if name.startswith(f"{op}_") and record["status"] == "unavailable"
    }


def label(op: str, baseline: str) -> str:
    """ "efficient" of attention_efficient, "" of the op's own."""
    return baseline.removeprefix(op).removeprefix("_")


def rows(data: dict) -> list[dict]:
    """One for each op and shape that both parts have. A rehearsal's shapes are any: there an op has one row."""
    any_shape = data["rehearsal"]
    pytorch = [time for time in times_of(data, "baselines").values() if time.get("of") and time.get("median_ms")]
    found = []
    for item, ours in times_of(data, "timings").items():
        op, precision = item.split("/")[1], ours.get("precision")
        for one in ours["shapes"][: 1 if any_shape else None]:
            theirs: dict[str, dict] = {}
            for time in pytorch:
                same_shape = any_shape or time["shape"] == one["shape"]
                if same_shape and (time["of"], time["precision"]) == (op, precision):
                    way = " ".join(filter(None, (label(op, time["op"]), time["mode"])))
                    ratio = time["median_ms"] / one["median_ms"]
                    theirs.setdefault(way, {"median_ms": time["median_ms"], "times_as_fast": ratio})
            if theirs:
                row = {"item": item, "shape": one["shape"], "precision": precision, "median_ms": one["median_ms"]}
                not_for = refused(data, op, None if any_shape else one["shape"], precision)
                found.append(row | {"pytorch": theirs, "not_for": not_for})
    return found


def table(found: list[dict]) -> str:
    lines = ["PyTorch's times in ms; in brackets how many times as fast the solution is"]
    for row in found:
        lines.append(f"  {row['item']} {row['shape']} {row['precision']}: {digits(row['median_ms'])} ms")
        ways = [f"{way} {digits(of['median_ms'])} ({of['times_as_fast']:.2f})" for way, of in row["pytorch"].items()]
        lines += textwrap.wrap(", ".join(ways), 80, initial_indent=" " * 6, subsequent_indent=" " * 6)
        lines += [f"      {name}: {why}" for name, why in row["not_for"].items()]
    return "\n".join(lines)


# ---- the whole forward pass ------------------------------------------------------------------------------------------

BATCHES = (4, 1, 16)  # B, at T=1024
PARTS = tuple(f"forward_b{B}" for B in BATCHES)
JUDGED = "forward_b4"
GOAL, FLOOR = 0.95, 1.0  # ours over the best of PyTorch's


def verdict(ratio: float) -> str:
    if ratio <= GOAL:
        return f"the goal, {GOAL:g}, is met"
    return f"the goal, {GOAL:g}, is missed{f', the floor, {FLOOR:g}, too' if not ratio <= FLOOR else ''}"


@dataclass(frozen=True)
class WholeName:
    """An item of the forward parts: "step 17 B=4 T=1024 C=768 NH=12 L=12 compile, one graph"."""

    step: str
    shape: str
    way: str


def item_name(step: str, shape: str, way: str) -> str:
    return f"step {step} {shape} {way}"


def named(item: str) -> WholeName:
    found = re.fullmatch(r"step (\S+) ((?:\w+=\d+ )+)(.+)", item)
    if not found:
        raise ToolError(f"{item!r} is no item of the forward parts, such as {item_name('17', 'B=4 T=1024', 'eager')!r}")
    return WholeName(found[1], found[2].strip(), found[3])


def ratio_of(time: dict, task: str) -> dict:
    return {
        "median_ms": time[task]["pytorch"]["median_ms"],
        "ours_ms": time[task]["ours"]["median_ms"],
        "ours_over_pytorch": time[task]["ours_over_pytorch"]["median"],
    }


def best_of(ways: dict[str, dict]) -> str | None:
    """Returns the way beside which ours is the slowest."""
    return max(ways, key=lambda way: ways[way]["ours_over_pytorch"], default=None)


SDPA = "eager, SDPA "  # prefix of the back ends' ways


def whole_rows(data: dict) -> list[dict]:
    """One for each B and task: the newest step's time over that of each of PyTorch's ways, and of the best; what older
    steps are beside eager. A way that is not done yet may be the best: until then there is no verdict. One that failed
    is named."""
    found = []
    for part in PARTS:
        times = times_of(data, part)
        of_part = data["parts"].get(part, {})
        items = of_part.get("items", {})
        left = of_part.get("not_done_yet", [])
        newest = max((named(name).step for name in (*items, *left)), default=None)
        others = {
            named(name).way: record
            for name, record in items.items()
            if name not in times and name not in left and named(name).step == newest
        }
        left_ways = [named(name).way for name in left if named(name).step == newest]
        for task in ("forward", "predict") if times else ():
            ways = {time["way"]: ratio_of(time, task) for time in times.values() if time["step"] == newest}
            older = {time["step"]: ratio_of(time, task) for time in times.values() if time["step"] != newest}
            one, best = next(iter(times.values())), best_of(ways)
            row = {"task": task, "shape": one["shape"], "precision": one["precision"], "step": newest, "best": best}
            row["best_sdpa"] = best_of({way: of for way, of in ways.items() if way.startswith(SDPA)})
            row["ours_over_best"] = ways[best]["ours_over_pytorch"] if best else None
            row |= {"ways": ways, "older": dict(sorted(older.items(), reverse=True))}
            row["not_for"] = {way: one["why"] for way, one in others.items() if one["status"] == "unavailable"}
            failed = [way for way, one in others.items() if one["status"] == "failed"]
            row["not_measured"] = [*failed, *left_ways]
            judged = best and part == JUDGED and not left_ways and not data["rehearsal"]
            found.append(row | {"verdict": verdict(row["ours_over_best"]) if judged else None})
    return found


def whole_line(label: str, of: dict, note: str = "") -> str:
    times = f"{digits(of['median_ms']):>11}{digits(of['ours_ms']):>9}"
    return f"      {label:36}{times}{of['ours_over_pytorch']:>8.3f}{note}"


def whole_table(found: list[dict]) -> str:
    lines = ["The whole forward pass beside PyTorch's; ratios are ours over PyTorch's, in the same rounds"]
    for row in found:
        lines.append(f"  {row['task']} {row['shape']} {row['precision']}, step {row['step']}")
        lines.append(f"      {'':36}{'PyTorch ms':>11}{'ours ms':>9}{'ratio':>8}")
        lines += [whole_line(way, of, "  the best" if way == row["best"] else "") for way, of in row["ways"].items()]
        lines += [whole_line(f"step {step} beside eager", of) for step, of in row["older"].items()]
        lines += [f"      SDPA's best back end: {row['best_sdpa'].removeprefix(SDPA)}"] if row["best_sdpa"] else []
        lines += [f"      {name}: {why}" for name, why in row["not_for"].items()]
        lines += [f"      not measured: {name}" for name in row["not_measured"]]
        lines += [f"      {row['verdict']}"] if row["verdict"] else []
    return "\n".join(lines)
