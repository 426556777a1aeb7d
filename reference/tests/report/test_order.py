# SPDX-License-Identifier: MIT
"""The schedule of a card's report by a simulated clock, how reports are merged, and which are taken."""

import copy
import json
import math
import random
from pathlib import Path

import pytest

from reference.gpu.tools import Card, ToolError, read_reports
from reference.report import order, plan
from reference.report.engine import ROOM, STOP_BEFORE, Entry, Simulation, carry_out, seconds_of
from reference.report.order import LIST, STAGES, in_order
from reference.report.store import FORMAT, Store, merged, refusal

ROOT = Path(__file__).parents[3]
DRAWN = 50


def some_entries() -> list[Entry]:
    """Returns items of six stages: two whose items run side by side, four whose items run alone."""
    kinds = [("checks", 2.0, True), ("roof", 40.0, False), ("passes", 8.0, False), ("ops", 4.0, False)]
    kinds += [("wrong", 30.0, True), ("rest", 3.0, False)]
    return [
        Entry(stage, stage, f"{stage} {i}", seconds, shared, timed=not shared)
        for stage, seconds, shared in kinds
        for i in range(12)
    ]


def command(entries: list[Entry], budget: float, kept: list[Entry], seconds_of_entry=None) -> Simulation:
    """Carries out one command of `budget` seconds on what `kept` lacks, and adds to it what was measured."""
    world = Simulation(seconds_of_entry or (lambda entry: entry.seconds))

    def keep(entry: Entry, record: dict) -> None:
        if record["status"] == "ok":
            kept.append(entry)

    todo = [entry for entry in entries if entry not in kept]
    left = carry_out(todo, world, budget - STOP_BEFORE, keep)
    assert not set(left) & set(kept)
    return world


# ---- a budget --------------------------------------------------------------------------------------------------------


def test_runs_cut_at_any_second_lose_nothing_and_measure_nothing_twice():
    """At each of 50 random seconds a command ends and the next goes on, until everything is measured."""
    drawn, entries = random.Random(1), some_entries()
    for cut in [drawn.uniform(STOP_BEFORE + 1, 700) for _ in range(DRAWN)]:
        kept: list[Entry] = []
        for budget in [cut] + [700.0] * 3:
            before = len(kept)
            world = command(entries, budget, kept)
            assert all(end <= budget - STOP_BEFORE for _, _, end in world.ended), cut
            started = [entry for entry, *_ in world.ended]
            assert started == sorted(started, key=entries.index), cut  # in the order of the list
            assert len(kept) > before or len(kept) == len(entries) or budget == cut
        assert len(kept) == len(set(kept)) == len(entries), cut


@pytest.mark.parametrize("times", [1.0, 5.0, math.inf])
def test_no_item_ends_after_the_budget_however_long_it_takes(times):
    drawn, entries = random.Random(2), some_entries()
    for budget in [drawn.uniform(STOP_BEFORE + 1, 700) for _ in range(DRAWN)]:
        slow = {entry for entry in entries if drawn.random() < 0.3}
        world = command(entries, budget, [], lambda entry, slow=slow: entry.seconds * (times if entry in slow else 1))
        assert all(end <= budget - STOP_BEFORE for _, _, end in world.ended)


def test_an_item_that_hangs_costs_its_patience_and_no_other():
    entries = some_entries()
    kept: list[Entry] = []
    world = command(entries, 3000, kept, lambda entry: math.inf if entry.name == "ops 3" else entry.seconds)
    assert [entry.name for entry in entries if entry not in kept] == ["ops 3"]
    (took,) = [end - begin for entry, begin, end in world.ended if entry.name == "ops 3"]
    assert took == 90


def test_an_item_starts_only_if_half_as_much_again_as_it_takes_is_left():
    entry = Entry("ops", "ops", "a", 10.0)
    for budget, starts in ((STOP_BEFORE + 10 * ROOM, True), (STOP_BEFORE + 10 * ROOM - 0.1, False)):
        assert bool(command([entry], budget, []).ended) == starts


def test_a_shorter_item_takes_the_time_that_a_longer_one_cannot_use():
    kept: list[Entry] = []
    entries = [Entry("ops", "ops", "long", 100.0), Entry("ops", "ops", "short", 5.0)]
    command(entries, 60, kept)
    assert [entry.name for entry in kept] == ["short"]


def test_what_is_timed_runs_alone_and_the_rest_side_by_side():
    world = command(some_entries(), 3000, [])
    overlaps = {
        (a.shared, b.shared)
        for i, (a, a_begin, a_end) in enumerate(world.ended)
        for b, b_begin, b_end in world.ended[i + 1 :]
        if a_begin < b_end and b_begin < a_end
    }
    assert overlaps == {(True, True)}


def test_the_card_settles_once_for_each_timed_stage():
    settled: list[str] = []
    world = Simulation(lambda entry: entry.seconds)
    world.settle = settled.append
    carry_out(some_entries(), world, math.inf, lambda *_: None)
    assert settled == ["roof", "passes", "ops", "rest"]


@pytest.mark.parametrize(("text", "seconds"), [("9m30s", 570), ("3m", 180), ("200s", 200), ("45", 45), ("1m5", 65)])
def test_a_budget_is_read_as_minutes_and_seconds(text, seconds):
    assert seconds_of(text) == seconds


# ---- the list --------------------------------------------------------------------------------------------------------


NAMES = {
    "checks": ["lesson04/gelu", "lesson04/wrong solutions", "lesson16/attention", "lesson16/wrong solutions"],
    "calibrate": ["roof"],
    "forward_b4": ["step 17 B=4 eager", "step 05 B=4 eager", "step 17 B=4 compile max-autotune"],
    "waterfall": [
        "05_naive_forward/layernorm: layernorm B=4 T=1024 C=768",
        "12_cublaslt_fusion/linear: linear N=4096 C=768 OC=768",
        "12_cublaslt_fusion/linear_gelu: linear_gelu N=4096 C=768 OC=3072 outputs=1 -pre_gelu",
        "12_cublaslt_fusion/layernorm: layernorm B=4 T=1024 C=768",
        "12_cublaslt_fusion/layernorm: layernorm B=4 T=1024 C=768, L2 hot",
    ],
    "given": ["06_coalescing/transpose", "11_tf32/precision"],
    "timings": ["lesson04/gelu", "lesson16/attention"],
    "ladder": ["lesson05/N=4096 C=768 OC=768", "lesson05/N=4096 C=4096 OC=4096", "lesson10/N=4096 C=4096 OC=4096"],
    "baselines": ["gelu N=1 fp32 eager", "gelu N=1 fp32 compile"],
    "ncu": ["lesson10/matmul", "rules", *(f"lesson{n}/matmul/{c}" for n in ("05", "10") for c in ("head64", "odd"))],
    "sanitize": [f"lesson{n}/matmul/{tool}" for n in ("05", "10") for tool in ("memcheck", "initcheck", "racecheck")],
    "simt": ["correct/copy"],
}  # fmt: skip


def test_items_come_by_value_and_each_once():
    entries = in_order(NAMES, {})
    assert sorted(entry.key for entry in entries) == sorted((part, n) for part, of in NAMES.items() for n in of)
    stages = list(dict.fromkeys(entry.stage for entry in entries))
    assert stages == [stage.title for stage in STAGES if stage.title in stages]
    by_stage = {stage: [entry.name for entry in entries if entry.stage == stage] for stage in stages}
    assert by_stage["checks of all solutions"] == ["lesson04/gelu", "lesson16/attention"]
    assert by_stage["whole passes beside PyTorch"] == ["step 17 B=4 eager", "step 05 B=4 eager"]
    assert by_stage["kernels that cuBLAS chooses"] == NAMES["waterfall"][1:3]
    assert by_stage["how cuBLAS rounds to TF32"] == ["11_tf32/precision"]
    assert by_stage["layernorm, L2 cold and hot"] == [*NAMES["waterfall"][3:], NAMES["waterfall"][0]]
    assert by_stage["op times"] == ["lesson16/attention", "lesson04/gelu"]
    assert by_stage["ladder at 4096 cubed"] == [NAMES["ladder"][2], NAMES["ladder"][1]]
    assert by_stage["a dozen kernels under ncu"] == ["rules", "lesson10/matmul/head64", "lesson05/matmul/head64"]
    watched = ["lesson10/matmul/memcheck", "lesson10/matmul/racecheck"]
    assert by_stage["memcheck and racecheck on them"][:2] == watched
    assert by_stage["wrong solutions"] == ["lesson16/wrong solutions", "lesson04/wrong solutions"]
    assert by_stage["PyTorch's ops, eager"] == ["gelu N=1 fp32 eager"]
    assert by_stage["the rest: baselines"] == ["gelu N=1 fp32 compile"]
    assert by_stage["the rest: forward_b4"] == ["step 17 B=4 compile max-autotune"]


def test_what_an_item_took_before_is_what_is_expected():
    (entry,) = in_order({"calibrate": ["roof"]}, {("calibrate", "roof"): 12.5})
    assert entry.seconds == 12.5


def test_a_new_item_is_expected_to_take_the_mean_of_its_stage():
    took = {("timings", "lesson04/a"): 2.0, ("timings", "lesson04/b"): 4.0, ("ladder", "x"): 50.0}
    entries = in_order({"timings": ["lesson04/a", "lesson04/b", "lesson04/c"]}, took)
    assert {entry.name: entry.seconds for entry in entries} == {"lesson04/a": 2.0, "lesson04/b": 4.0, "lesson04/c": 3.0}


def test_every_part_has_a_place_in_the_rest():
    from reference.report.parts import PART_NAMES

    assert set(order.REST) == set(PART_NAMES)
    assert {stage.part for stage in LIST} <= set(PART_NAMES)


@pytest.fixture(scope="module")
def entries_of_the_course():
    if not Path("build/tools/calls/02_forward").exists():
        pytest.skip("no build/tools/calls; make test builds it")
    return plan.all_entries("python3" if not (ROOT / ".venv").exists() else str(ROOT / ".venv/bin/python"))


def test_every_stage_of_the_list_has_items_in_the_course(entries_of_the_course):
    assert {stage.title for stage in LIST} <= {entry.stage for entry in entries_of_the_course}


def test_two_commands_complete_every_stage_up_to_the_ladder(entries_of_the_course):
    done: set = set()
    for budget, built in (("9m30s", False), ("3m", True)):
        _, done = plan.planned(entries_of_the_course, done, built, seconds_of(budget))
    first = [stage.title for stage in LIST[: 1 + [stage.part for stage in LIST].index("ladder")]]
    assert [entry.key for entry in entries_of_the_course if entry.stage in first and entry.key not in done] == []


def test_the_page_shows_the_plan_of_today(entries_of_the_course):
    text = (ROOT / plan.PAGE).read_text()
    assert plan.page_block(entries_of_the_course) in text, "make gpu-report PLAN=1 WRITE=1 writes it anew"


# ---- merging ---------------------------------------------------------------------------------------------------------


def a_report(at: str, **items: dict) -> dict:
    """Returns a report of one part, each of whose items says status, sources and, where it differs, when."""
    records = {
        name: {"measured_at": at, "run": at, "result": {"of": at}, "seconds": 2.0, "clocks": {"samples": 9}, **record}
        for name, record in items.items()
    }
    run = {"commit": "0123abc", "dirty": False, "driver": "1", "cuda": "13.0", "versions": {}}
    part = {"not_done_yet": [], "items": records}
    return {
        "format": FORMAT, "gpu": "NVIDIA Test 1", "rehearsal": False, "card": {"name": "NVIDIA Test 1", "driver": "1"},
        "runs": {at: run}, "parts": {"timings": part},
    }  # fmt: skip


OK = {"status": "ok", "sources": "0" * 16}
OLD, NEW = "2026-01-01T00:00:00Z", "2026-01-02T00:00:00Z"


def test_two_half_reports_are_the_whole():
    whole = a_report(OLD, a=OK, b=OK)
    halves = [a_report(OLD, a=OK), a_report(OLD, b=OK)]
    halves[0]["parts"]["timings"]["not_done_yet"] = ["b"]
    assert merged(*halves) == merged(*reversed(halves)) == whole


def test_of_the_same_sources_the_newer_result_wins():
    for both in ((OLD, NEW), (NEW, OLD)):
        data = merged(*(a_report(at, a=OK) for at in both), lambda *_: OK["sources"])
        assert data["parts"]["timings"]["items"]["a"]["result"] == {"of": NEW}
        assert set(data["runs"]) == {OLD, NEW}


def test_a_result_of_todays_sources_wins_over_a_newer_one_of_others():
    mine, other = a_report(OLD, a=OK), a_report(NEW, a=OK | {"sources": "1" * 16})
    data = merged(mine, other, lambda part, item: OK["sources"])
    assert data["parts"]["timings"]["items"]["a"]["result"] == {"of": OLD}


def test_what_was_stopped_gives_way_to_what_was_measured():
    data = merged(a_report(NEW, a=OK | {"status": "stopped"}), a_report(OLD, a=OK))
    assert data["parts"]["timings"]["items"]["a"]["status"] == "ok"


def test_parts_measured_at_different_times_are_one_file(tmp_path):
    card = Card("NVIDIA Test 1", "580.1")
    stamp = {"driver": "1", "cuda": "13.0", "commit": "c", "dirty": False}
    for name in ("checks", "ncu"):
        store = Store([tmp_path / "deep/x.json", tmp_path / "copy.json"], card)
        store.begin_run(stamp)
        store.begin_part(name, {}, {"x": "s"}, fresh=False)
        store.record(name, "x", {"status": "ok", "sources": "s"})
    texts = [(tmp_path / path).read_text() for path in ("deep/x.json", "copy.json")]
    assert texts[0] == texts[1]
    assert set(json.loads(texts[0])["parts"]) == {"checks", "ncu"}
    assert sorted(path.name for path in tmp_path.rglob("*.*")) == ["copy.json", "x.json"]


@pytest.mark.parametrize("changed", ["driver", "cuda", "versions", "sources"])
def test_a_result_holds_until_what_it_was_measured_with_is_another(tmp_path, changed):
    stamp, versions, sources = {"driver": "1", "cuda": "13.0", "commit": "c", "dirty": False}, {"ncu": "1"}, {"x": "s"}
    for again in (False, True):
        if again:
            of = {"versions": versions, "sources": sources}.get(changed, stamp)
            of[{"versions": "ncu", "sources": "x"}.get(changed, changed)] = "another"
        store = Store([tmp_path / "x.json"], Card("NVIDIA Test 1", "580.1"))
        store.begin_run(stamp)
        store.begin_part("ncu", versions, sources, fresh=False)
        assert store.part("ncu")["items"] == {}
        store.record("ncu", "x", {"status": "ok", "sources": sources["x"]})


# ---- a report that somebody sends ------------------------------------------------------------------------------------


def test_a_report_that_is_whole_is_taken():
    assert refusal(a_report(OLD, a=OK)) is None


def changed(*path, value) -> dict:
    data = copy.deepcopy(a_report(OLD, a=OK))
    at = data
    for key in path[:-1]:
        at = at[key]
    if value is None:
        del at[path[-1]]
    else:
        at[path[-1]] = value
    return data


ITEM = ("parts", "timings", "items", "a")


@pytest.mark.parametrize(
    ("data", "why"),
    [
        ([], "it is no report of format 2"),
        (changed("format", value=1), "it is no report of format 2"),
        (changed("rehearsal", value=True), "it is a rehearsal"),
        (changed("runs", value=None), "'runs' is missing"),
        (changed(*ITEM, "status", value="fine"), "timings/a has no status"),
        (changed(*ITEM, "result", value=None), "timings/a is ok and has no result"),
        (changed(*ITEM, "status", value="unavailable"), "timings/a does not say why"),
        (changed(*ITEM, value={"status": "unavailable", "why": "sm_90a"}), "nothing in it was measured"),
        (changed(*ITEM, "sources", value="later"), "timings/a does not say what it was measured with"),
        (changed(*ITEM, "run", value="another"), "timings/a names no commit"),
        (changed("runs", OLD, "commit", value=None), "timings/a names no commit"),
        (changed("runs", OLD, "dirty", value=True), "timings/a was measured with files that differ from 0123abc"),
        (changed(*ITEM, "clocks", value=None), "timings/a was timed without a reading of the clocks"),
        (
            changed(*ITEM, "clocks", value={"held_back_by": {"thermal slowdown by hardware": 0.5}}),
            "timings/a was held back by thermal slowdown by hardware in 50% of the time",
        ),
    ],
)
def test_a_report_that_is_not_taken_is_refused_in_one_line(data, why):
    said = refusal(data)
    assert said.startswith(why)
    assert "\n" not in said


def test_every_report_in_the_course_is_taken():
    assert [(data["gpu"], why) for data in read_reports(ROOT) if (why := refusal(data))] == []


def test_a_file_that_is_no_report_cannot_be_merged(tmp_path):
    (tmp_path / "x.json").write_text("{}")
    with pytest.raises(ToolError, match=r"x\.json is no report of format 2"):
        Store([tmp_path / "x.json"], Card("NVIDIA Test 1", "580.1"))
