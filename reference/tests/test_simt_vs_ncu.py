# SPDX-License-Identifier: MIT
"""The CPU device's counters beside Nsight Compute's: what is the same, what differs, and what cannot be compared."""

import json
from dataclasses import replace
from pathlib import Path

import pytest

from reference.gpu import pages, tools
from reference.gpu import simt_vs_ncu as vs
from reference.gpu.simt_vs_ncu import Cost, Counts
from reference.gpu.tools import ToolError

ROOT = Path(__file__).parents[2]
SAMPLE = (Path(__file__).parent / "data/ncu-2025.3/counted.csv").read_text()
KERNEL = "matmul_forward_kernel"
LOADS = "l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum"
SECTORS = "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum"
SHARED_LOADS = "smsp__inst_executed_op_shared_ld.sum"
WAVEFRONTS = "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld.sum"
# Counts of a matmul by tiles of 32, N = C = OC = 256, by Nsight Compute's names.
METRICS = {
    LOADS: 34816,
    SECTORS: 139264,
    "sm__sass_data_bytes_mem_global_op_ld.sum": 4456448,
    SHARED_LOADS: 1048576,
    WAVEFRONTS: 1048576,
    "sm__sass_data_bytes_mem_shared_op_ld.sum": 134217728,
}
NO_EXCESS = dict.fromkeys(vs.BY_ADDRESS, 1048576)


def here(metrics: dict[str, float]) -> dict[str, float]:
    """Returns the same counts by the CPU device's names."""
    return {vs.ours_name(name): value for name, value in metrics.items()}


COUNT = Counts("lesson07/matmul/odd", "abc", 0, "odd", KERNEL, [8, 8, 1], [32, 32, 1], here(METRICS))
RULE = replace(COUNT, item=vs.RULES, nth=1, case="stride 3")


def record(metrics: dict[str, float], **changes) -> dict:
    launch = {"kernel": KERNEL, "grid": [8, 8, 1], "block": [32, 32, 1], "metrics": metrics} | changes
    return {"status": "ok", "result": {"source": "abc", "metrics_unknown": [], "launches": [launch]}}


def report(gpu: str, items: dict) -> dict:
    run = {"driver": "580.1", "cuda": "13.0", "versions": {"ncu": "2025.3"}}
    measured = {name: {"run": "first", "measured_at": "2026-01-02T03:04:05Z", **item} for name, item in items.items()}
    return {"gpu": gpu, "rehearsal": False, "runs": {"first": run}, "parts": {"ncu": {"items": measured}}}


def verdicts(metrics: dict[str, float], count: Counts = COUNT) -> dict[str, str]:
    return {row.name: row.verdict for row in vs.rows_of(count, record(metrics))}


# ---- what is committed -----------------------------------------------------------------------------------------------


def test_there_is_a_page_where_a_report_holds_numbers_and_only_there():
    counts, reports = vs.read_counts(ROOT), tools.read_reports(ROOT)
    found = [data for data in reports if vs.measured(data, counts)]
    page = ROOT / vs.PAGE
    assert page.exists() == bool(found)
    if found:
        assert page.read_text().endswith(vs.table(counts, found)), "make ncu-table writes it"


def test_every_kernel_of_the_solutions_and_every_rule_is_counted_as_it_stands():
    counts, subjects = vs.read_counts(ROOT), list(vs.subjects(ROOT))
    kernels = {(subject.item, kernel) for subject in subjects for kernel in subject.kernels(ROOT)}
    assert {(c.item, c.kernel) for c in counts if c.item != vs.RULES} == kernels, "make ncu-table counts them"
    assert {c.item for c in counts} == {subject.item for subject in subjects}
    digests = {subject.item: subject.digest(ROOT) for subject in subjects}
    assert [c.item for c in counts if c.source != digests[c.item]] == [], "make ncu-table counts them anew"


@pytest.mark.parametrize("item", ["lesson04/encoder/odd", "lesson06/layernorm/odd", "lesson07/matmul/odd", vs.RULES])
def test_the_device_counts_what_is_committed(monkeypatch, tmp_path, item):
    subject = next(subject for subject in vs.subjects(ROOT) if subject.item == item)
    needed = [subject.counted_command()[0]]
    if subject.lesson:
        needed.append(f"build/impl/solutions/{subject.lesson.name}/{subject.op}.so")
    if not all((ROOT / name).exists() for name in needed):
        pytest.skip(f"no {' or no '.join(needed)}; make ncu-table builds them")
    monkeypatch.chdir(ROOT)
    counts = vs.count(ROOT, subject, tmp_path)
    committed = [c for c in vs.read_counts(ROOT) if c.item == item]
    assert [replace(c, metrics={}) for c in counts] == [replace(c, metrics={}) for c in committed]
    for now, then in zip(counts, committed, strict=True):
        assert now.metrics == pytest.approx(then.metrics, rel=vs.TOLERANCE)  # another compiler may repeat a load


# ---- Nsight Compute's side -------------------------------------------------------------------------------------------


def test_every_counter_of_the_sample_is_read_by_its_own_name():
    (kernel,) = tools.parse_ncu(SAMPLE, {name: name for name in vs.COUNTED})
    assert set(kernel.values) == set(vs.COUNTED)
    assert kernel.values[LOADS] == 34816
    assert kernel.values[SECTORS] == 139264
    assert kernel.values["l1tex__t_bytes_pipe_lsu_mem_global_op_ld.sum"] == 4456448
    assert kernel.values["l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_st.sum"] == 334
    assert (vs.triple(kernel.grid), vs.triple(kernel.block)) == ([8, 8, 1], [32, 32, 1])


def test_a_counter_that_is_not_asked_for_is_not_read():
    (kernel,) = tools.parse_ncu(SAMPLE, {LOADS: "loads"})
    assert kernel.values == {"loads": 34816}


@pytest.mark.parametrize(
    ("output", "refused"),
    [
        ("==ERROR== Failed to find metric regex:^a__b_c\\.(sum|min|max)$\n", ["a__b_c.sum"]),
        ("==ERROR== Failed to find metric a__b\n", ["a__b"]),
        ("==ERROR== Failed to find metric other\n", []),
        ("==PROF== Profiling a__b\n==ERROR== out of memory\n", []),
        ("", []),
    ],
)
def test_the_metrics_that_ncu_refuses_are_named(output, refused):
    assert tools.refused_metrics(output, ["a__b_c.sum", "a__b", "a__b_c_d.sum"]) == refused


# ---- the comparison --------------------------------------------------------------------------------------------------


def test_counters_within_five_percent_are_the_same():
    theirs = METRICS | {SECTORS: 139264 * 1.04, WAVEFRONTS: 1048576 * 0.96}
    assert verdicts(theirs | NO_EXCESS) == {"loads": "same", "shared loads": "same", "all shared": "same"}


def test_counters_of_the_same_requests_that_are_further_apart_differ():
    said = verdicts(METRICS | {SECTORS: 139264 * 1.06, WAVEFRONTS: 1048576 * 0.9} | NO_EXCESS)
    assert said == {"loads": "DIFFERS", "shared loads": "DIFFERS", "all shared": "same"}


def test_conflicts_are_compared_by_their_number_and_not_by_their_ratio():
    conflicts = "l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_ld.sum"
    few = METRICS | {conflicts: 300} | NO_EXCESS
    many = METRICS | {conflicts: 0} | NO_EXCESS | {vs.BY_ADDRESS[0]: 1048576 + 99999}
    assert verdicts(few)["shared loads"] == "same"  # 300 of a million wavefronts, where the device counts none
    assert verdicts(few | {conflicts: 99999})["shared loads"] == "DIFFERS"
    assert (verdicts(many)["shared loads"], verdicts(many)["all shared"]) == ("same", "DIFFERS")


@pytest.mark.parametrize(
    ("requests", "asked", "words"),
    [
        (0.25, 1, "nvcc merged accesses: 128 bytes a request in the source, 512 in SASS"),
        (4, 1, "nvcc split accesses: 128 bytes a request in the source, 32 in SASS"),
        (0.5, 0.5, "nvcc dropped accesses: 128 bytes a request in the source, 128 in SASS"),
        (2, 2, "nvcc added accesses: 128 bytes a request in the source, 128 in SASS"),
        (0, 0, "nvcc dropped accesses"),
    ],
)
def test_other_requests_are_not_compared_and_say_what_nvcc_did(requests, asked, words):
    ours = Cost(requests=1000, cost=4000, asked=128000)
    assert vs.verdict("loads", ours, Cost(requests=1000 * requests, cost=1000, asked=128000 * asked)) == words


def test_requests_without_a_lane_make_no_difference():
    ours = Cost(requests=1000, cost=4000, asked=128000)
    assert vs.verdict("loads", ours, Cost(requests=1500, cost=4000, asked=128000)) == vs.SAME_BUT_EMPTY
    assert vs.verdict("loads", ours, Cost(requests=1500, cost=4400, asked=128000)).startswith("nvcc split accesses")
    assert vs.verdict("loads", ours, Cost(requests=1500, cost=4000, asked=160000)).startswith("nvcc added accesses")
    text = vs.table([COUNT], [report("x", {COUNT.item: record(METRICS | {LOADS: 2 * METRICS[LOADS]})})])
    assert "2 of 2 comparable rows are the same, 0 have a known difference" in text


def test_merged_shared_accesses_leave_the_conflicts_uncompared():
    said = verdicts(METRICS | {SHARED_LOADS: 655360} | NO_EXCESS)
    assert said["shared loads"].startswith("nvcc merged accesses: 128 bytes a request in the source, 205 in SASS")
    assert said["all shared"] == "other accesses: see above"


def test_what_the_card_does_not_count_is_no_difference():
    said = verdicts({SHARED_LOADS: 1048576, WAVEFRONTS: 1048576})
    assert said == {"loads": vs.NOT_COUNTED, "shared loads": "same"}


def test_an_access_that_only_the_gpu_makes_has_a_row():
    said = verdicts(METRICS | {"l1tex__t_requests_pipe_lsu_mem_global_op_st.sum": 5})
    assert said["stores"] == vs.NOT_COUNTED
    whole = {f"l1tex__t_{what}_pipe_lsu_mem_global_op_st.sum": 5 for what in ("requests", "sectors")}
    assert verdicts(METRICS | whole | {"sm__sass_data_bytes_mem_global_op_st.sum": 20})["stores"] == (
        "nvcc added accesses"
    )


def test_reductions_and_asynchronous_copies_are_added_and_named():
    atomics = {
        f"{metric}_mem_global_op_{op}.sum": value
        for op, share in (("atom", 0.25), ("red", 0.75))
        for metric, value in (
            ("l1tex__t_requests_pipe_lsu", 400 * share),
            ("l1tex__t_sectors_pipe_lsu", 800 * share),
            ("sm__sass_data_bytes", 51200 * share),
        )
    }
    ours = {name: value * 4 for name, value in atomics.items() if "_atom" in name}
    count = replace(COUNT, metrics=here(METRICS | ours))
    rows = {row.name: row for row in vs.rows_of(count, record(METRICS | atomics))}
    assert (rows["atomics"].verdict, rows["atomics"].theirs.cost) == ("same", 800)
    assert vs.line_of(rows["atomics"]).endswith("| same; 300 of the requests are reductions |")


def test_requests_and_sectors_of_loads_contain_the_asynchronous_copies():
    """As in lesson 10's matmul on an H100; their bytes are counted apart."""
    copies = {
        "sm__sass_data_bytes_mem_global_op_ld.sum": 456448,
        "sm__sass_l1tex_t_requests_pipe_lsu_mem_global_op_ldgsts.sum": 30000,
        "sm__sass_l1tex_t_sectors_pipe_lsu_mem_global_op_ldgsts.sum": 120000,
        "sm__sass_data_bytes_mem_global_op_ldgsts.sum": 4000000,
    }
    loads = vs.rows_of(COUNT, record(METRICS | copies))[0]
    assert (loads.theirs.requests, loads.theirs.cost, loads.theirs.asked) == (34816, 139264, 4456448)
    assert vs.line_of(loads).endswith("| same; 30,000 of the requests are asynchronous copies |")


def test_bytes_that_lanes_share_are_no_narrower_access():
    """Nsight Compute counts 4 bytes where 32 lanes load the same float; so does the CPU device, by another name."""
    shared = {"sm__sass_data_bytes_mem_global_op_ld.sum": 34816 * 4}
    count = replace(COUNT, metrics={**here(METRICS | shared), "sm__sass_data_bytes_mem_global_op_ld.sum": 4456448})
    assert vs.rows_of(count, record(METRICS | shared))[0].verdict == "same"
    assert vs.rows_of(COUNT, record(METRICS | shared))[0].verdict.startswith("nvcc narrowed accesses: 128 bytes")


def test_instructions_without_a_lane_are_left_out_where_the_others_are_counted():
    theirs = METRICS | {SHARED_LOADS: 4 * 1048576} | NO_EXCESS
    assert verdicts(theirs)["shared loads"] == vs.SAME_BUT_EMPTY
    assert verdicts(theirs | {vs.with_lanes(SHARED_LOADS): 1048576})["shared loads"] == "same"
    merged = theirs | {SHARED_LOADS: 1048576, vs.with_lanes(SHARED_LOADS): 262144}
    assert verdicts(merged)["shared loads"].startswith("nvcc merged accesses: 128 bytes a request in the source, 512")


def test_as_many_shared_loads_beside_asynchronous_copies_prove_nothing():
    """nvcc writes three LDS without a lane before a copy: with one of 16 bytes as many as the source has of 4 bytes."""
    ours = Cost(requests=4, cost=16, asked=512, excess=12)
    theirs = Cost(requests=4, cost=4, asked=512, excess=0)
    assert vs.verdict("shared loads", ours, theirs) == "DIFFERS"
    assert vs.verdict("shared loads", ours, theirs._replace(may_be_empty=True)) == vs.PERHAPS_MERGED
    assert not vs.is_compared(vs.PERHAPS_MERGED)
    copies = {"smsp__inst_executed_op_ldgsts.sum": 1, SHARED_LOADS: 4}
    assert vs.theirs_of("shared loads", copies).may_be_empty
    assert not vs.theirs_of("shared loads", {**copies, vs.with_lanes(SHARED_LOADS): 1}).may_be_empty
    assert not vs.theirs_of("shared loads", {SHARED_LOADS: 4}).may_be_empty


def test_the_excess_by_addresses_is_asked_for_by_names_that_can_be_collected():
    """ncu refuses derived__memory_l1_wavefronts_shared_excessive: only its sections know it."""
    assert [name for name in vs.COUNTED if name.startswith("derived__")] == []
    assert set(vs.BY_ADDRESS) < set(vs.COUNTED)
    wavefronts, ideal = vs.BY_ADDRESS
    count = replace(COUNT, metrics=COUNT.metrics | {vs.ALL_EXCESS: 3968})
    row = vs.rows_of(count, record(METRICS | {wavefronts: 5000, ideal: 1032}))[-1]
    assert (row.name, row.theirs.excess, row.verdict) == (vs.ALL_SHARED, 3968, "same")


@pytest.mark.parametrize(
    ("access", "ours", "theirs"),
    [
        ("shared loads", Cost(1, 4, 16, 0, is_wide=True), Cost(1, 2, 16, 0)),  # shared, 16 bytes, stride 0
        ("loads", Cost(1, 32, 512), Cost(1, 16, 512, apart=1, apart_cost=32)),  # asynchronous, 16 bytes, stride 2
        ("shared stores", Cost(1, 1, 128, 0), Cost(1, 2, None, 1, apart=1)),  # asynchronous, 4 bytes, stride 2
        ("shared atomics", Cost(1, 1, 128, 0), Cost(1, 2, 128, 0)),  # shared atomics, addresses 32
        ("atomics", Cost(1, 1, 16, passes=8), Cost(1, 8, 16, apart=1)),  # atomics, addresses 4
    ],
)
def test_a_known_difference_is_named_and_no_other_hides_behind_it(access, ours, theirs):
    words = vs.verdict(access, ours, theirs)
    assert words.startswith(vs.KNOWN_WORDS)
    assert vs.is_compared(words)
    for other in (theirs.cost * 99, theirs.cost / 99):
        assert vs.verdict(access, ours, theirs._replace(cost=other)) == "DIFFERS"


def test_accesses_of_another_width_are_not_compared():
    ours = Cost(requests=1000, cost=16000, asked=512000)
    narrow = "nvcc narrowed accesses: 512 bytes a request in the source, 128 in SASS"
    assert vs.verdict("loads", ours, Cost(requests=1000, cost=4000, asked=128000)) == narrow
    assert vs.verdict("loads", ours, Cost(requests=1000, cost=16000, asked=1024000)).startswith("nvcc widened accesses")
    assert vs.verdict("loads", ours, Cost(requests=1000, cost=16000)) == "same"


@pytest.mark.parametrize(
    ("measured", "words"),
    [
        (None, "not measured yet"),
        ({"status": "failed", "why": "ncu took more than the 9 s that were left"}, "not measured: ncu took more"),
        (record(METRICS, kernel="another_kernel"), "not measured: it was not launched"),
        (record(METRICS, grid=[4, 8, 1]), "measured on another launch: grid [4, 8, 1], block [32, 32, 1]"),
    ],
)
def test_without_numbers_of_the_same_launch_each_row_says_why(measured, words):
    rows = vs.rows_of(COUNT, measured)
    assert len(rows) == 2
    assert all(row.verdict.startswith(words) and not row.is_measured for row in rows)
    assert all(row.theirs.cost is None for row in rows)


def test_numbers_of_another_version_of_the_kernel_are_not_compared():
    rows = vs.rows_of(replace(COUNT, source="def"), record(METRICS))
    assert {row.verdict for row in rows} == {"measured on another version of the kernel"}


def test_a_kernels_template_arguments_are_no_part_of_its_name():
    assert [vs.base_name(name) for name in ("k", "k<32>", "k<a<b>, 4>", "k [T = float; int N = 4]")] == ["k"] * 4


def test_every_launch_of_the_rules_is_compared_with_the_same_launch():
    measured = record(METRICS)
    other = measured["result"]["launches"][0] | {"metrics": METRICS | {SECTORS: 1}}
    measured["result"]["launches"] = [other, *measured["result"]["launches"]]
    assert vs.rows_of(RULE, measured)[0].verdict == "same"
    assert vs.rows_of(replace(RULE, nth=0), measured)[0].verdict == "DIFFERS"
    assert vs.rows_of(replace(RULE, nth=2), measured)[0].verdict == "not measured: it was not launched"


# ---- the page --------------------------------------------------------------------------------------------------------


def test_a_cards_table_has_both_sides_and_their_ratio():
    text = vs.table([COUNT], [report("NVIDIA Test 1", {COUNT.item: record(METRICS | {SECTORS: 140000})})])
    assert text.startswith(
        "## NVIDIA Test 1\n\nDriver 580.1, CUDA 13.0, Nsight Compute 2025.3, 2026-01-02: 2 of 2 comparable rows are "
        "the same, 0 have a known difference, 0 DIFFER.\n\n"
        "- Of the lessons' kernels: 1 of 1 launches are here.\n"
        "- No row is `all shared`: the report has no `memory_l1_wavefronts_shared`.\n\n"
    )
    assert "\n\nThe lessons' kernels:\n\n| kernel, case |" in text
    row = "| 07 `matmul_forward_kernel`, odd | loads | 34,816 | 34,816 | 139,264 | 140,000 | 1.01 |  |  | same |"
    assert row in text.splitlines()


def test_the_rules_have_a_table_of_their_own():
    items = {COUNT.item: record(METRICS), vs.RULES: record(METRICS)}
    items[vs.RULES]["result"]["launches"] *= 2
    text = vs.table([COUNT, RULE], [report("NVIDIA Test 1", items)])
    kernels, _, rules = text.partition("The rules, one by one:\n")
    assert "| 07 `matmul_forward_kernel`, odd | loads |" in kernels
    assert "| stride 3 | loads | 34,816 | 34,816 | 139,264 | 139,264 |" in rules
    assert "stride 3" not in kernels


def test_launches_without_numbers_have_a_line_and_no_rows():
    waits = [replace(COUNT, item=f"lesson07/matmul/{case}", case=case) for case in ("odd", "head64", "square")]
    failed = {"status": "failed", "why": "out of time"}
    items = {waits[0].item: record(METRICS), waits[1].item: failed}
    text = vs.table([*waits, RULE], [report("NVIDIA Test 1", items)])
    waiting = "1 wait for a run on the card."
    assert f"- Of the lessons' kernels: 1 of 3 launches are here; 1 not measured: out of time; {waiting}" in text
    assert f"- Of the rules, one by one: 0 of 1 launches are here; {waiting}" in text
    assert "head64" not in text
    assert "stride 3" not in text


def test_the_kinds_of_access_are_counted():
    conflicts = "l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_ld.sum"
    theirs = METRICS | {conflicts: 99999} | NO_EXCESS
    lines = vs.table([COUNT], [report("NVIDIA Test 1", {COUNT.item: record(theirs)})]).splitlines()
    at = lines.index("| access | rows | same requests | same | known | DIFFERS |")
    assert lines[at + 2 : at + 6] == [
        "| loads | 1 | 1 | 1 | 0 | 0 |",
        "| shared loads | 1 | 1 | 0 | 0 | 1 |",
        "| all shared | 1 | 1 | 1 | 0 | 0 |",
        "| all | 3 | 3 | 2 | 0 | 1 |",
    ]


def test_other_pages_say_what_the_table_says():
    """make ncu-table writes the blocks."""
    counts = vs.read_counts(ROOT)
    found = [data for data in tools.read_reports(ROOT) if vs.measured(data, counts)]
    begin, end = pages.markers(vs.BLOCK)
    for page in vs.SAID:
        assert f"{begin}{vs.proved(counts, found)}{end}" in (ROOT / page).read_text(), page


def test_without_a_cards_numbers_there_is_no_page(tmp_path):
    vs.write_counts([COUNT], make_room(tmp_path))
    empty = report("NVIDIA Test 1", {"lesson07/matmul": record(METRICS), COUNT.item: {"status": "failed", "why": "x"}})
    for reports in ([], [{"gpu": "x", "parts": {}}], [empty]):
        assert not any(vs.measured(data, [COUNT]) for data in reports)
    assert vs.write_page(tmp_path, empty) is None
    assert not (tmp_path / vs.PAGE).exists()
    assert vs.write_page(tmp_path, report("NVIDIA Test 1", {COUNT.item: record(METRICS)})) == vs.PAGE
    assert (tmp_path / vs.PAGE).read_text().startswith("# The CPU device's counters beside Nsight Compute's\n")


def make_room(root):
    (root / vs.COUNTS).parent.mkdir(parents=True)
    return root


def test_a_rehearsal_is_no_measurement(tmp_path):
    (tmp_path / tools.TIMINGS).mkdir(parents=True)
    rehearsed = report("x", {}) | {"rehearsal": True}
    (tmp_path / tools.TIMINGS / "x.json").write_text(json.dumps(rehearsed))
    assert tools.read_reports(tmp_path) == []


@pytest.mark.parametrize("text", ["", "[]", '{"format": 99, "launches": []}', '{"format": 1, "launches": [{"op": 1}]}'])
def test_counts_that_cannot_be_read_are_one_line_with_the_mend(tmp_path, text):
    (tmp_path / vs.COUNTS).parent.mkdir(parents=True)
    (tmp_path / vs.COUNTS).write_text(text)
    with pytest.raises(ToolError, match=r"vs_ncu\.json cannot be read .*: make ncu-table writes it anew") as error:
        vs.read_counts(tmp_path)
    assert "\n" not in str(error.value)


def test_counts_are_read_as_they_were_written(tmp_path):
    (tmp_path / vs.COUNTS).parent.mkdir(parents=True)
    vs.write_counts([COUNT, RULE], tmp_path)
    assert vs.read_counts(tmp_path) == [COUNT, RULE]
