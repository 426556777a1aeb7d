# SPDX-License-Identifier: MIT
"""The one list of what a card is asked, by value: what is worth most in the first minutes comes first. Needs nothing
but Python 3.10."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from reference.gpu.simt_vs_ncu import RULES
from reference.report.engine import Entry

Chosen = Callable[[Sequence[str]], list[str]]  # a part's items to those of a stage, in order


def matching(*patterns: str) -> Chosen:
    """Chooses the items that a pattern matches; those of the first pattern come first."""

    def choose(names: Sequence[str]) -> list[str]:
        return list(dict.fromkeys(name for pattern in patterns for name in names if re.search(pattern, name)))

    return choose


def newest_first(*patterns: str) -> Chosen:
    """As matching(), with later lessons first: their kernels are the ones that the claims rest on."""

    def choose(names: Sequence[str]) -> list[str]:
        return sorted(matching(*patterns)(names), key=lambda name: name.split("/")[0], reverse=True)

    return choose


WATCHED = 12  # kernels under ncu that the CPU device counts too
CASE = "head64"


def watched(names: Sequence[str]) -> list[str]:
    """Chooses a dozen of ncu's items that the CPU device counts too: its rules, of each op the newest lesson's kernel,
    then older ones."""
    counted = sorted((name for name in names if name.endswith(f"/{CASE}")), reverse=True)
    newest = {name.split("/")[1]: name for name in reversed(counted)}
    rules = [name for name in names if name == RULES]
    return list(dict.fromkeys([*rules, *sorted(newest.values(), reverse=True), *counted]))[:WATCHED]


def sanitized(names: Sequence[str]) -> list[str]:
    """Chooses memcheck and racecheck on the ops of watched()."""
    tools = ("memcheck", "racecheck")
    cases = [f"{name.rsplit('/', 1)[0]}/{CASE}" for name in names if name.endswith(f"/{tools[0]}")]
    wanted = [f"{case.rsplit('/', 1)[0]}/{tool}" for case in watched(cases)[: WATCHED - 1] for tool in tools]
    return [name for name in wanted if name in set(names)]


@dataclass(frozen=True)
class Stage:
    title: str
    part: str
    chosen: Chosen
    seconds: float  # for one item: a guess until a card's own time is in its file
    shared: bool = False  # items run side by side
    timed: bool = True  # the card settles first


# PyTorch's ways that take minutes to compile come with the rest.
SLOW_WAYS = r"max-autotune"
CALLS_CUBLAS = r"(tf32|cublaslt_fusion)"  # lessons

LIST = (
    Stage("checks of all solutions", "checks", matching(r"^lesson\d+/(?!wrong )"), 4, shared=True, timed=False),
    Stage("the roof", "calibrate", matching(""), 45),
    Stage("whole passes beside PyTorch", "forward_b4", matching(rf"^(?!.*{SLOW_WAYS})"), 8),
    Stage("kernels that cuBLAS chooses", "waterfall", newest_first(rf"^\d+_{CALLS_CUBLAS}/(?!.*layernorm)"), 3),
    Stage("how cuBLAS rounds to TF32", "given", matching(r"_tf32/precision$"), 3, timed=False),
    Stage("layernorm, L2 cold and hot", "waterfall", newest_first(r"/layernorm: layernorm"), 3),
    Stage("op times", "timings", newest_first(""), 4),
    Stage("ladder at 4096 cubed", "ladder", newest_first(r"N=4096 C=4096 OC=4096"), 3),
    Stage("PyTorch's ops, eager", "baselines", matching(r" eager$"), 1),
    Stage("a dozen kernels under ncu", "ncu", watched, 5, timed=False),
    Stage("memcheck and racecheck on them", "sanitize", sanitized, 8, shared=True, timed=False),
    Stage("wrong solutions", "checks", newest_first(r"/wrong solutions$"), 60, shared=True, timed=False),
)  # fmt: skip
# Seconds of one item of the rest, part by part in this order.
REST = {
    "checks": 10, "calibrate": 45, "timings": 4, "forward_b4": 60, "baselines": 4, "waterfall": 3, "ladder": 3,
    "forward_b1": 25, "forward_b16": 40, "given": 8, "ncu": 5, "sanitize": 8, "simt": 6, "libs": 10,
}  # fmt: skip
SHARED = ("checks", "sanitize", "simt")  # parts whose items run side by side
NOT_TIMED = ("checks", "given", "sanitize", "ncu", "simt", "libs")


def the_rest(part: str) -> Stage:
    return Stage(f"the rest: {part}", part, matching(""), REST[part], part in SHARED, part not in NOT_TIMED)


STAGES = (*LIST, *map(the_rest, REST))
PARTS_BEFORE_THE_REST = tuple(dict.fromkeys(stage.part for stage in LIST))


def in_order(items: Mapping[str, Sequence[str]], took: Mapping[tuple[str, str], float]) -> list[Entry]:
    """Returns each item of each part once, in the order of the list. An item is expected to take what it `took`
    before; else the mean of those of its stage that are known; else the stage's guess."""
    found: dict[tuple[str, str], Entry] = {}
    for stage in STAGES:
        names = [name for name in stage.chosen(items.get(stage.part, ())) if (stage.part, name) not in found]
        known = [took[stage.part, name] for name in names if (stage.part, name) in took]
        guess = sum(known) / len(known) if known else stage.seconds
        for name in names:
            seconds = took.get((stage.part, name), guess)
            entry = Entry(stage.title, stage.part, name, seconds, stage.shared, stage.timed)
            found[entry.key] = entry
    return list(found.values())
