# SPDX-License-Identifier: MIT
"""What the notebooks' pictures are drawn from: results, counts, steps, shares."""

import json
import math
import os

import numpy as np
import pytest
from matplotlib.figure import Figure

from reference.gpu.costs import PROGRAM
from reference.gpu.tools import ToolError
from reference.notebooks import attention, limits, online_softmax, precision, timings, traffic
from reference.notebooks.show import show
from reference.timings import results


@pytest.fixture
def runs(tmp_path, monkeypatch):
    """results/ of a learner, empty."""
    monkeypatch.setenv("RESULTS_ROOT", str(tmp_path))
    (tmp_path / "results").mkdir()
    return tmp_path / "results"


def check(op: str, subject: str, used: float, lesson: str = "01", verdict: str = "ok") -> dict:
    row = {"lesson": lesson, "op": op, "subject": subject, "device": "CPU", "verdict": verdict}
    return row | {"file": f"{subject}/x.cpp", "budget_used": used}


def save_checks(runs, *rows: dict) -> None:
    (runs / "results.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))


# ---- what the learner's runs left ------------------------------------------------------------------------------------


def test_of_an_op_the_learners_newest_check_counts_and_else_the_solutions(runs):
    save_checks(
        runs,
        check("gelu", "lessons", 0.5),
        check("gelu", "lessons", 0.25),
        check("gelu", "solutions", 0.125),
        check("encoder", "solutions", 0.0),
    )
    assert precision.budget_used() == [("01 encoder, CPU", 0.0, "solution"), ("01 gelu, CPU", 0.25, "yours")]


def test_a_wrong_op_uses_no_share_and_a_slow_one_does(runs):
    save_checks(runs, check("gelu", "lessons", 7.0, verdict="WRONG"), check("residual", "lessons", 0.5, verdict="SLOW"))
    assert [name for name, _, _ in precision.budget_used()] == ["01 residual, CPU"]


def test_a_line_that_is_half_written_is_left_out(runs):
    save_checks(runs, check("gelu", "lessons", 0.5))
    with (runs / "results.jsonl").open("a") as file:
        file.write('{"lesson": "01", "op": "enc')
    assert len(results.checks()) == 1


def test_without_checks_the_line_names_the_command(runs):
    with pytest.raises(ToolError, match="make check-lesson01"):
        precision.budget_used()


def side(who: str, lines: list[dict], failure: str | None = None) -> dict:
    return {"who": who, "source": f"{who}.cu", "failure": failure, "metrics": {}, "lines": lines}


def global_load(line: int, requests: int, sectors: int, ideal: int) -> dict:
    metrics = {
        "l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum": requests,
        "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum": sectors,
        "sectors if side by side, ld": ideal,
    }
    return {"file": "no such file", "line": line, "metrics": metrics}


def shared_store(line: int, requests: int, wavefronts: int, lost: int) -> dict:
    metrics = {
        "smsp__inst_executed_op_shared_st.sum": requests,
        "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_st.sum": wavefronts,
    }
    if lost:
        metrics["l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_st.sum"] = lost
    return {"file": "no such file", "line": line, "metrics": metrics}


def save_counts(runs, *sides: dict) -> None:
    counted = {"lesson": "06_coalescing", "ops": [{"op": "layernorm", "shape": "B=2", "sides": list(sides)}]}
    (runs / "traffic-lesson06.json").write_text(json.dumps(counted))


def test_without_counts_the_line_names_the_command_and_its_file(runs):
    with pytest.raises(ToolError, match=r"make traffic-lesson06 JSON=results/traffic-lesson06\.json"):
        traffic.sectors("06", "layernorm")


@pytest.mark.parametrize("text", ["", "[]", '{"ops": 1}', '{"ops": [{}]}'])
def test_a_file_that_the_command_did_not_write_is_one_line(runs, text):
    (runs / "traffic-lesson06.json").write_text(text)
    with pytest.raises(ToolError, match="is not what the command writes"):
        results.traffic("06")


def test_an_op_that_was_not_counted_is_one_line(runs):
    save_counts(runs, side("yours", [global_load(3, 1, 4, 4)]))
    with pytest.raises(ToolError, match="has no gelu"):
        results.of_op("06", "gelu")


@pytest.mark.parametrize("yours", [side("yours", []), side("yours", [global_load(3, 1, 4, 4)], "it does not compile")])
def test_a_kernel_that_did_nothing_or_failed_is_sent_to_its_check(runs, yours):
    save_counts(runs, yours, side("solution", [global_load(3, 1, 4, 4)]))
    with pytest.raises(ToolError, match="make check-lesson06"):
        traffic.sectors("06", "layernorm")


def test_the_solutions_lines_are_not_shown_beside_the_learners(runs):
    load = [global_load(3, 1, 4, 4)]
    save_counts(runs, side("yours", load), side("solution", load), side("lesson 05", load))
    assert [one["who"] for one in traffic.shown_sides(results.of_op("06", "layernorm"))] == ["yours", "lesson 05"]
    save_counts(runs, side("solution", load), side("lesson 05", load))
    assert [one["who"] for one in traffic.shown_sides(results.of_op("06", "layernorm"))] == ["solution", "lesson 05"]


def test_a_file_that_has_changed_since_it_was_counted_is_named_so(runs, monkeypatch):
    monkeypatch.setattr(results, "ROOT", runs)
    source = runs / "yours.cu"
    source.write_text("x\n")
    save_counts(runs, side("yours", [global_load(1, 1, 4, 4)]))
    at = (runs / "traffic-lesson06.json").stat().st_mtime
    os.utime(source, (at - 1, at - 1))
    assert traffic.title_of(results.of_op("06", "layernorm")[0]) == "yours: yours.cu"
    os.utime(source, (at + 1, at + 1))
    assert "has changed" in traffic.title_of(results.of_op("06", "layernorm")[0])


def test_sectors_are_of_a_request_and_a_broadcast_needs_what_it_takes(runs):
    of = side("yours", [global_load(3, 10, 320, 40), global_load(5, 10, 10, 40)])
    scattered, broadcast = traffic.global_lines(of)
    assert (scattered.number, scattered.requests, scattered.took, scattered.needs) == (3, 10, 32, 4)
    assert (broadcast.took, broadcast.needs) == (1, 1)


def test_wavefronts_lost_are_those_of_conflicts():
    lost, free = traffic.shared_lines(side("yours", [shared_store(3, 10, 40, 30), shared_store(4, 10, 10, 0)]))
    assert (lost.took, lost.needs, lost.access) == (4, 1, "store")
    assert (free.took, free.needs) == (1, 1)


def test_a_kernel_without_shared_memory_is_one_line(runs):
    save_counts(runs, side("yours", [global_load(3, 1, 4, 4)]))
    with pytest.raises(ToolError, match="shared memory"):
        traffic.bank_conflicts("06", "layernorm")


def timed(op: str, shares: dict[str, float], judged: bool = True, shape: str = "N=8") -> dict:
    """A check's line with times at one shape."""
    one = {"shape": shape, "judged": judged, "median_ms": 2.0}
    one["of_speed_of"] = {rival: {"share": share, "interval": [share, share]} for rival, share in shares.items()}
    return check(op, "lessons", 0.1) | {"timing": {"against": "solution", "library": "", "shapes": [one]}}


def save_report(root, op: str, shares: dict[str, float], shape: str = "N=8") -> None:
    """A recorded CPU's."""
    item = {"status": "ok", "result": timed(op, shares, shape=shape)["timing"]}
    report = {"cpu": "CPU 9", "rehearsal": False, "parts": {"timings": {"items": {f"lesson01/{op}": item}}}}
    (root / "reference/timings").mkdir(parents=True)
    (root / "reference/timings/cpu-9.json").write_text(json.dumps(report))


def test_a_time_stands_beside_the_roof_and_recorded_machines_at_the_same_shape(runs, monkeypatch):
    monkeypatch.setattr(results, "ROOT", runs)
    save_report(runs, "gelu", {"copy": 0.75, "solution": 1.0})
    save_checks(runs, timed("gelu", {"solution": 0.9, "copy": 0.5}))
    (one,) = timings.all_timed()
    assert (one.name, one.rival, one.share, one.whose) == ("01 gelu, N=8", "copy", 0.5, "yours")
    assert one.references == {"CPU 9": 0.75}
    save_checks(runs, timed("gelu", {"solution": 0.9, "copy": 0.5}, shape="N=9"))
    assert timings.all_timed()[0].references == {}


def test_beside_the_solution_alone_no_machine_is_shown(runs, monkeypatch):
    monkeypatch.setattr(results, "ROOT", runs)
    save_report(runs, "gelu", {"solution": 1.0})
    save_checks(runs, timed("gelu", {"solution": 0.9}))
    assert (timings.all_timed()[0].rival, timings.all_timed()[0].references) == ("solution", {})


def test_of_a_lesson_without_times_the_line_names_the_command(runs):
    save_checks(runs, check("gelu", "lessons", 0.5))
    with pytest.raises(ToolError, match="make time-lesson01"):
        timings.beside()


# ---- showing --------------------------------------------------------------------------------------------------------


def test_what_is_missing_is_printed_and_ends_nothing(capsys):
    def missing():
        raise ToolError("run make something")

    show(missing)
    show(lambda words: words, "a table")
    assert capsys.readouterr().out == "run make something\na table\n"


def test_another_error_is_not_hidden():
    with pytest.raises(ZeroDivisionError):
        show(lambda: 1 / 0)


# ---- online softmax -------------------------------------------------------------------------------------------------


def test_the_steps_are_those_of_lesson_15s_page():
    walk = online_softmax.steps(np.array([1.0, 3, 2, 5, 4]))
    assert walk.m.tolist() == [1, 3, 3, 5, 5]
    assert walk.d == pytest.approx([1, 1.1353, 1.5032, 1.2034, 1.5713], abs=1e-4)
    assert walk.rescaled.tolist() == [1, 3]
    assert walk.two_pass[-1] == pytest.approx(walk.d[-1])


def test_minus_infinity_adds_nothing():
    walk = online_softmax.steps(np.array([-np.inf, 2.0, -np.inf]))
    assert walk.d.tolist() == [0, 1, 1]


def test_lanes_read_fours_and_merge_to_the_rows_own_pair():
    x = np.random.default_rng(1).standard_normal(131)
    m, d = online_softmax.lanes(x)
    assert m[0] == max(x[:4].max(), x[128:].max())
    assert m[31] == x[124:128].max()
    largest, total = online_softmax.merged(m, d)
    assert (largest, total) == pytest.approx((x.max(), np.exp(x - x.max()).sum()))


def test_lanes_without_scores_add_nothing():
    m, d = online_softmax.lanes(np.array([3.0, 1.0]))
    assert d[1:].tolist() == [0] * 31
    assert online_softmax.merged(m, d) == pytest.approx((3, 1 + math.exp(-2)))


def test_all_ways_are_within_a_few_roundings():
    length, found = online_softmax.errors_of_d()
    assert length.tolist() == list(range(1, 161))
    for way, errors in found.items():
        assert 0 < errors.max() < 16, way


# ---- errors by precision --------------------------------------------------------------------------------------------


def test_only_ops_with_terms_are_marked():
    marked = {name for name in precision.local_ratios() if name.endswith("*")}
    assert marked == {"matmul.out *"}


def test_the_activations_come_in_the_models_order():
    names = list(precision.chained_ratios())
    assert names[:3] == ["encoded", "h.0.ln_1", "h.0.qkv"]
    assert names[-2:] == ["probs", "losses"]
    assert not any(name.endswith(("mean", "rstd", "lse")) for name in names)


def test_a_precisions_errors_fit_its_budget_and_tf32s_do_not_fit_fp32s():
    errors, allowed = precision.errors_of_matmul("h.0.fc")
    for name in ("fp32", "tf32", "bf16"):
        assert errors[name].max() < allowed[name], name
    assert np.median(errors["tf32"]) > allowed["fp32"]
    assert np.median(errors["bf16"]) > 4 * np.median(errors["tf32"])


# ---- attention ------------------------------------------------------------------------------------------------------


def test_the_line_is_of_the_course():
    assert attention.LINE in (results.ROOT / "reference/model/corpus.txt").read_text()


def test_maps_are_causal_and_share_out_all_attention():
    att = attention.maps()
    assert att.shape == (4, 4, len(attention.LINE), len(attention.LINE))
    assert att.sum(-1) == pytest.approx(1, abs=1e-5)
    assert np.triu(att, 1).max() == 0


def test_what_is_sought():
    found = {name: there.astype(int).tolist() for name, there in attention.sought("a bee").items()}
    assert found["itself"] == np.eye(5, dtype=int).tolist()
    assert found["its word"] == [[1, 0, 0, 0, 0], [1, 1, 0, 0, 0], [0, 0, 1, 0, 0], [0, 0, 1, 1, 0], [0, 0, 1, 1, 1]]
    assert found["the word before"][4] == [1, 1, 0, 0, 0]
    assert found["spaces"][4] == [0, 1, 0, 0, 0]
    assert found["vowels"][4] == [1, 0, 0, 1, 1]
    assert found["the same letter"][4] == [0, 0, 0, 1, 0]
    assert found["the 3 tokens before"][4] == [0, 1, 1, 1, 0]


def test_a_head_that_looks_at_all_alike_has_the_even_shares():
    T = len(attention.LINE)
    alike = np.tril(np.ones((T, T))) / np.arange(1, T + 1)[:, None]
    of = attention.shares(alike[None, None])
    assert {name: float(share[0, 0]) for name, share in of.items()} == pytest.approx(attention.even())
    assert attention.even()["itself"] == pytest.approx(sum(1 / t for t in range(1, T + 1)) / T)


def test_the_notebooks_words_about_heads_hold():
    """Those of attention.ipynb, which nothing else checks."""
    of, alike = attention.shares(attention.maps()), attention.even()
    assert all(of["the 3 tokens before"][0, :3] > 4 * alike["the 3 tokens before"])
    assert all(of["its word"][0, :3] > 2 * alike["its word"])
    assert of["the word before"][0, 3] > 2 * alike["the word before"]
    assert all(of["spaces"][3] > 2 * alike["spaces"])
    assert attention.strongest("spaces") == (3, 2)


# ---- the roof -------------------------------------------------------------------------------------------------------


def test_the_notebooks_words_about_the_roof_hold(runs):
    """Those of roofline.ipynb."""
    if not (results.ROOT / PROGRAM).exists():
        pytest.skip(f"no {PROGRAM}; make roofline builds it")
    for card, T, bound in (
        ("H100-SXM", 1024, "arithmetic"),
        ("H100-SXM", 64, "arithmetic"),
        ("RTX-4090", 64, "memory"),
    ):
        ops, _, roof, *_ = limits.chosen("124M", 4 if T == 1024 else 1, T, card)
        matmuls = [op for op in ops if op.name.startswith("matmul")]
        assert {roof.bound(op) for op in matmuls} == {bound}, (card, T)
        if T == 1024:
            assert (round(min(op.intensity for op in matmuls)), round(max(op.intensity for op in matmuls))) == (
                176,
                319,
            )
            assert 4 * roof.seconds(matmuls[-1]) > sum(op.calls * roof.seconds(op) for op in ops)


def test_pictures_are_as_wide_as_a_page():
    for picture in (attention.head_shares(), online_softmax.merge(127), precision.by_op()):
        assert isinstance(picture, Figure)
        assert picture.get_figwidth() == 10
