# SPDX-License-Identifier: MIT
"""What is estimated of calls: the sum over launches, what is recorded, and the tables on the pages."""

from dataclasses import replace
from pathlib import Path

import pytest

from reference.gpu import counts, estimates
from reference.gpu.counts import Call
from reference.gpu.estimates import Band, Estimate, Launch
from reference.gpu.tools import ToolError
from reference.plots import ladder, limits, step_estimate, waterfall
from reference.plots.limits import Column
from reference.plots.roofline import asked_shape

ROOT = Path(__file__).parents[2]
MATMUL = "matmul N=4096 C=768 OC=3072 out_stride=3072"


@pytest.fixture(autouse=True)
def here(monkeypatch):
    monkeypatch.chdir(ROOT)


@pytest.fixture(scope="module")
def recorded():
    return counts.read(ROOT / estimates.RECORDED)


@pytest.fixture(scope="module")
def wanted():
    """All that is recorded: what the pages, the ladder and the waterfall show."""
    if not (ROOT / counts.CALLS).exists():
        pytest.skip(f"no {counts.CALLS}; make waterfall builds it")
    return waterfall.keys(ROOT)


BAND = Band(64, 5, 0.81)


def launch(limit="L2", library=False, launches=1, **seconds):
    by_resource = {name.replace("_", " "): s for name, s in seconds.items()}
    return Launch("k", library, launches, by_resource, limit, limit, 1e6)


# ---- of one call -----------------------------------------------------------------------------------------------------


def test_launches_go_one_after_another_each_at_its_own_limit():
    one = Estimate((launch("L2", L2=4, memory=3), launch("memory", L2=1, memory=2, launches=2)))
    assert one.seconds == 6
    assert one.by_resource == {"L2": 5, "memory": 5}
    assert one.limits == {"L2": 4, "memory": 2}
    assert (one.limit, one.issued, one.memory_bytes) == ("L2", 3, 2e6)


def test_a_call_of_a_library_is_one():
    assert Estimate((launch(library=True, L2=1), launch(L2=1))).asks_libraries
    assert not Estimate((launch(L2=1),)).asks_libraries


# ---- what is recorded ------------------------------------------------------------------------------------------------


def test_all_that_is_shown_is_recorded_and_of_the_kernels_as_they_are(recorded, wanted):
    assert list(recorded) == list(dict.fromkeys(wanted))
    for one in recorded.values():
        assert one.sources == counts.digest(ROOT, one.files), f"{one.files[0]} has changed: make waterfall WRITE=1"


@pytest.mark.parametrize("file", ["12_cublaslt_fusion/residual_layernorm", "09_warp_tiled_matmul/matmul"])
def test_what_is_recorded_is_what_is_counted(file, recorded, tmp_path):
    if not Path("build/check/lesson12").exists():
        pytest.skip("no build/check/lesson12; make waterfall WRITE=1 builds it")
    one = next(one for one in recorded.values() if one.files == (file,))
    found = counts.count(one.call, one.files, tmp_path)
    assert found == one.launches, "the CPU device counts otherwise now: make waterfall WRITE=1 FRESH=1"


def test_recording_and_reading_gives_the_same(recorded, tmp_path):
    (tmp_path / "counts.json").write_text(counts.to_json(recorded.values()))
    assert counts.read(tmp_path / "counts.json") == recorded
    assert (tmp_path / "counts.json").read_text() == (ROOT / estimates.RECORDED).read_text()


def test_a_file_that_is_none_of_ours_is_named(tmp_path):
    for text in ("", "{", "[{}]", "[1]"):
        (tmp_path / "counts.json").write_text(text)
        with pytest.raises(ToolError, match=r"counts.json cannot be read .*: make waterfall WRITE=1 writes it anew"):
            counts.read(tmp_path / "counts.json")


@pytest.fixture
def counted(monkeypatch, tmp_path):
    """An empty course that counts a launch of each call that it is asked for; their names."""
    asked = []

    def count(call, files, scratch):
        asked.append(str(call))
        return [{"kernel": "k", "blocks": 1}]

    monkeypatch.setattr(counts, "count", count)
    (tmp_path / "reference/plots").mkdir(parents=True)
    return tmp_path, asked


def key(call):
    return Call.of(call), ("06_coalescing/gelu",)


def test_only_what_has_changed_is_counted_again(counted, monkeypatch):
    root, asked = counted
    estimates.record(root, [key("gelu N=1"), key("gelu N=2"), key("gelu N=1")])
    assert asked == ["gelu N=1", "gelu N=2"]
    estimates.record(root, [key("gelu N=2"), key("gelu N=3")])
    assert asked == ["gelu N=1", "gelu N=2", "gelu N=3"]
    assert [str(call) for call, _ in counts.read(root / estimates.RECORDED)] == ["gelu N=2", "gelu N=3"]
    monkeypatch.setattr(counts, "digest", lambda root, files: "another")
    estimates.record(root, [key("gelu N=2")])
    assert asked[3:] == ["gelu N=2"]


def test_what_is_counted_at_another_shape_is_kept_for_the_next_time(counted, monkeypatch):
    root, asked = counted
    monkeypatch.setattr(estimates, "priced", lambda root, counted, cards: [str(one.call) for one in counted])
    estimates.record(root, [key("gelu N=1")])
    for _ in range(2):
        assert estimates.of_calls(root, [key("gelu N=1"), key("gelu N=2")], "T4") == ["gelu N=1", "gelu N=2"]
    assert asked == ["gelu N=1", "gelu N=2"]


def test_each_call_gets_its_own_launches(recorded):
    if not (ROOT / estimates.PROGRAM).exists():
        pytest.skip(f"no {estimates.PROGRAM}")
    some = [one for one in recorded.values() if one.call.op in ("attention", "residual", "linear")]
    cards = estimates.priced(ROOT, some, "H100-SXM,T4")
    assert [card.name for card in cards] == ["H100 SXM", "T4"]
    for card in cards:
        for one in some:
            assert len(card.of[one.key].launches) == len(one.launches)
            assert card.of[one.key].asks_libraries == any(map(estimates.is_library, one.launches))
    h100, t4 = cards
    assert all(t4.of[one.key].seconds > h100.of[one.key].seconds for one in some)


# ---- tables ----------------------------------------------------------------------------------------------------------

OLD, NEW = (Column(Call.of(MATMUL), lesson) for lesson in ("07_tiled_matmul", "08_register_tiled_matmul"))


def test_a_pages_table_sets_the_lessons_beside_each_other_by_resource():
    of = [Estimate((launch("L2", L2=2e-3, memory=1e-5),)), Estimate((launch("memory", L2=4e-4, memory=5e-4),))]
    assert limits.table((OLD, NEW), of, "H100 SXM", [2 * 10**10] * 2) == [
        "| `matmul` N=4,096 C=768 OC=3,072: µs at least, H100 SXM | lesson 07 | lesson 08 |",
        "|---|---:|---:|",
        "| L2 | **2,000** | 400 |",
        "| memory | 10.0 | **500** |",
        "| the op at least | 2,000 (10 TFLOP/s) | 500 (40 TFLOP/s) |",
    ]


def test_what_takes_next_to_nothing_in_every_column_is_left_out():
    of = [Estimate((launch("L2", L2=1, memory=0.05),)), Estimate((launch("L2", L2=1, memory=0.09),))]
    assert not any("memory" in line for line in limits.table((OLD, NEW), of, "T4", [0, 0]))


def test_columns_of_different_ops_name_them():
    gelu = Column(Call.of("gelu N=12582912"), "06_coalescing")
    head = limits.table((NEW, gelu), [Estimate((launch(L2=1),))] * 2, "T4", [0, 0])[0]
    assert head == "| µs at least, T4 | `matmul`, lesson 08 | `gelu`, lesson 06 |"


def asking(**counters):
    """A launch that asks for so many requests, sectors and wavefronts."""
    named = {
        "requests": limits.REQUESTS[0],
        "sectors": limits.SECTORS[1],
        "wavefronts": limits.WAVEFRONTS[0],
    }
    of = {named[name]: float(count) for name, count in counters.items()}
    return replace(launch(L2=2e-3), counters=of)


def test_a_gain_is_the_counters_that_changed_and_the_times_card_by_card():
    old, new = asking(requests=2e6, sectors=1e6), asking(requests=2e5, sectors=1e6, wavefronts=128)
    of = [[Estimate((old, old)), Estimate((new,))]] * 2
    assert limits.gain([OLD, NEW], of, ["GeForce RTX 4090", "T4"]) == [
        "| `matmul` N=4,096 C=768 OC=3,072 | lesson 07 | lesson 08 |",
        "|---|---:|---:|",
        "| launches and library calls | 2 | 1 |",
        "| requests to global memory | 4 million | 200,000 |",
        "| bytes moved, asked of L1 in pieces of 32 | 64 MB | 32 MB |",
        "| wavefronts of shared memory | 0 | 128 |",
        "| bytes of memory, T4 | 2 MB | 1 MB |",
        "| µs at least, RTX 4090 | 4,000, L2 | 2,000, L2 |",
        "| µs at least, T4 | 4,000, L2 | 2,000, L2 |",
    ]


def test_a_card_that_lacks_an_instruction_has_no_time():
    of = [[Estimate((launch(L2=1),)), Estimate((launch(L2=1), replace(launch(L2=1), launchable=False)))]]
    assert limits.gain([OLD, NEW], of, ["T4"])[-1] == "| µs at least, T4 | 1,000,000, L2 | cannot be launched |"


def test_a_card_that_lacks_an_instruction_of_a_step_has_no_time_of_its_pass():
    passes = {OLD.lesson: limits.Pass("89", {"T4": 0.16}), NEW.lesson: limits.Pass("89", {"T4": None})}
    assert limits.gain_of_pass([OLD, NEW], passes, "GPT-2")[-1] == "| ms at least, T4 | 160 | cannot be launched |"


def test_the_counters_of_a_call_that_asks_a_library_are_not_shown_since_its_own_are_not_known():
    library = launch(library=True, launches=2, L2=1)
    of = [[Estimate((asking(requests=8),)), Estimate((library,))]]
    lines = limits.gain([OLD, NEW], of, ["T4"])
    assert lines[2:] == [
        "| launches and library calls | 1 | 2 |",
        "| µs at least, T4 | 2,000, L2 | 1,000,000, L2 |",
    ]


def test_of_one_lesson_alone_a_gain_shows_the_counters_that_it_has():
    of = [[Estimate((asking(requests=8),))]]
    rows = [line.split(" | ")[0] for line in limits.gain([NEW], of, ["T4"])[2:]]
    assert rows[:2] == ["| launches and library calls", "| requests to global memory"]
    assert not any("wavefronts" in row for row in rows)


def test_a_gain_of_the_pass_says_how_it_is_launched_only_where_that_changes():
    columns = [Column(None, "16_fused_attention"), Column(None, "17_cuda_graphs")]
    passes = {
        "16_fused_attention": limits.Pass("89", {"T4": 0.16}),
        "17_cuda_graphs": limits.Pass("1 graph", {"T4": 0.16}),
    }
    assert limits.gain_of_pass(columns, passes, "GPT-2") == [
        "| one forward pass of GPT-2 | step 16 | step 17 |",
        "|---|---:|---:|",
        "| launches | 89 | 1 graph |",
        "| ms at least, T4 | 160 | 160 |",
    ]
    same = {lesson: limits.Pass("89", {"T4": 0.16}) for lesson in passes}
    assert not any("launches" in line for line in limits.gain_of_pass(columns, same, "GPT-2"))


def test_counters_are_those_of_all_blocks(recorded):
    (one,) = (
        one
        for one in recorded.values()
        if str(one.call) == MATMUL and one.files == ("08_register_tiled_matmul/matmul",)
    )
    (counted,) = one.launches
    assert counted["blocks_counted"] < counted["blocks"]
    # Each of the 8 warps of 768 blocks comes to two barriers for each 16 of 768 channels.
    assert estimates.scale(counted) * counted["metrics"][limits.BARRIERS[0]] == 8 * 768 * 2 * 768 / 16


def test_every_device_lesson_shows_its_gain_after_the_fold():
    for page in sorted((ROOT / "lessons").glob("[0-9][0-9]_*/README.md")):
        if page.parent.name >= "04":
            text = page.read_text()
            assert text.index("## After it passes") < text.index("\n<!-- gain: ") < text.index("## Break it"), page
            assert "\n| µs at least, T4 |" in text or "\n| ms at least, T4 |" in text, page


def test_a_page_says_which_calls_it_shows(tmp_path):
    page = tmp_path / "lessons/06_coalescing/README.md"
    for lesson in ("04_first_kernel", "06_coalescing"):
        (tmp_path / "lessons" / lesson).mkdir(parents=True)
    page.write_text(
        "<!-- estimate: gelu N=8 | 04 06; residual N=4 | 06 -->\n<!-- end estimate -->\n<!-- estimate -->\n"
        "<!-- gain: pass | 04 06 -->\n"
    )
    one, other, gain = limits.blocks(tmp_path)
    assert [(c.call, c.number) for c in gain.columns] == [(None, "04"), (None, "06")]
    assert [(str(c.call), c.number) for c in one.columns] == [
        ("gelu N=8", "04"),
        ("gelu N=8", "06"),
        ("residual N=4", "06"),
    ]
    assert (one.first, other.first, other.columns) == (True, False, ())
    for text in ("gelu N=8", "gelu N=8 | 05", "gelu N=8 |"):
        page.write_text(f"<!-- estimate: {text} -->\n")
        with pytest.raises(ToolError, match=r"06_coalescing/README.md: <!-- estimate: gelu .* is not of the form"):
            limits.blocks(tmp_path)


def test_only_the_first_block_of_a_page_says_what_an_estimate_is():
    assert limits.text_of(["| a |"], False, BAND) == "| a |\n"
    assert limits.text_of(["| a |"], True, BAND).startswith("| a |\n\nCounted, not measured: each row is ")
    said = limits.text_of([], True, BAND)
    assert said.startswith("Counted, not measured: each resource of the card ")
    assert "; 81% of 64 published times on 5 cards differ from such an estimate by at most a factor of 1.5 " in said
    assert limits.text_of([], True, None).endswith("is the longest of them.\n")


def test_every_page_with_an_estimate_says_once_what_that_is_and_how_far_off():
    for page in (ROOT / "lessons").glob("*/README.md"):
        text = page.read_text()
        if "<!-- waterfall -->" in text or "<!-- estimate" in text:
            assert text.count("[the estimate](../../checker/estimate/README.md) is the longest of them") == 1, page


def test_a_steps_ops_stand_beside_each_other_by_card():
    if not (ROOT / counts.CALLS).exists():
        pytest.skip(f"no {counts.CALLS}; make waterfall builds it")
    asked = asked_shape()
    steps = waterfall.steps_of(ROOT, asked)
    (nine,) = (one for one in steps if one.number == "09")
    cards = estimates.of_calls(ROOT, waterfall.keys_of([nine]), step_estimate.CARDS)
    lines = step_estimate.as_text(asked.title, nine, cards).splitlines()
    assert lines[0] == "one forward pass of GPT-2 124M, B=4 T=1024, with its loss, by step 09"
    assert max(map(len, lines)) <= 80
    assert sum(line.startswith(" 12 matmul ") for line in lines) == 4
    assert any(line.startswith(" 12 matmul qkv  ") for line in lines)


def test_a_rung_of_the_ladder_has_a_speed_at_best():
    made = ladder.Ladder([], {}, {}, {}, "T4", {"07_tiled_matmul": Estimate((launch("L2", L2=0.1),))})
    assert ladder.at_best(made, ladder.Rung("07_tiled_matmul", True)) == "1.37 TFLOP/s, L2"
    assert ladder.at_best(made, ladder.Rung("03_cpu_matmul", False)) == ""
