# SPDX-License-Identifier: MIT
"""`make compare-lessonNN`, and the times of CPUs that `make record-cpu` has recorded."""

import json
import math
import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from reference.gpu import pages
from reference.gpu.lesson_shapes import all_lessons, dims
from reference.gpu.machine import Cpu, cpu
from reference.gpu.tools import digits, read_reports
from reference.timings import compare, record_cpu, results

ROOT = Path(__file__).parents[2]
SHAPE = "N=256 C=768 OC=2304"
RECORDED = sorted(path for path in (ROOT / "reference/timings").glob("*.json") if "cpu" in json.loads(path.read_text()))


def timing(median_ms: float = 8.0, beside_what: str = "OpenBLAS", shape: str = SHAPE, **shares: float) -> dict:
    beside = {rival: {"share": share, "interval": [share, share]} for rival, share in shares.items()}
    one = {"shape": shape, "judged": True, "median_ms": median_ms, "p10_ms": 7.0, "p90_ms": 9.0, "of_speed_of": beside}
    return {"against": "library", "library": beside_what, "shapes": [one]}


def report(machine: dict, item: str, result: dict) -> dict:
    items = {item: {"status": "ok", "result": result}}
    return {"format": 1, **machine, "rehearsal": False, "parts": {"timings": {"items": items}}}


@pytest.fixture
def course(tmp_path, monkeypatch):
    """A folder with the learner's results and the machines' files; both are empty."""
    (tmp_path / "results").mkdir()
    (tmp_path / "reference/timings").mkdir(parents=True)
    monkeypatch.setenv("RESULTS_ROOT", str(tmp_path))
    monkeypatch.chdir(tmp_path)
    return tmp_path


def learner_timed(course: Path, lesson: str, op: str, result: dict, device: str = "CPU", subject: str = "lessons"):
    row = {"lesson": lesson, "op": op, "subject": subject, "device": device, "timing": result}
    with (course / "results/results.jsonl").open("a") as file:
        file.write(json.dumps(row) + "\n")


def recorded(course: Path, name: str, data: dict) -> None:
    (course / "reference/timings" / f"{name}.json").write_text(json.dumps(data))


def shown(capsys, *arguments: str, status: int = 0) -> list[str]:
    assert compare.main(list(arguments)) == status
    lines = capsys.readouterr().out.splitlines()
    assert max(map(len, lines), default=0) <= 80
    return lines


# ---- times -----------------------------------------------------------------------------------------------------------


def test_where_nothing_is_timed_one_line_says_what_to_run(course, capsys):
    assert shown(capsys, "03_cpu_matmul") == ["nothing of lesson 03 is timed here yet: make time-lesson03"]
    learner_timed(course, "02", "matmul", timing(solution=1.0))
    learner_timed(course, "03", "matmul", timing(solution=1.0), subject="solutions")
    assert shown(capsys, "03_cpu_matmul") == ["nothing of lesson 03 is timed here yet: make time-lesson03"]
    missing = "nothing of lesson 03, gelu, is timed here yet: make time-lesson03 SOLUTION=1"
    assert shown(capsys, "03_cpu_matmul", "--subject", "solutions", "--only", "gelu") == [missing]


@pytest.mark.parametrize(
    ("goal", "status", "said"),
    [
        ("compare-lesson3", 0, "nothing of lesson 03 is timed here yet: make time-lesson03"),
        ("compare-lesson99", 2, "there is no lesson 99; the lessons are 01"),
        ("compare-lesson", 2, "which lesson? For example: make compare-lesson01"),
    ],
)
def test_the_command_answers_in_one_line(course, goal, status, said):
    environment = {name: value for name, value in os.environ.items() if not name.startswith("MAKE")}
    done = subprocess.run(["make", goal], cwd=ROOT, env=environment, capture_output=True, text=True, check=False)
    (line,) = (done.stdout + done.stderr).splitlines()
    assert done.returncode == status
    assert said in line


@pytest.mark.parametrize("goal", ["compare-lesson01", "record-cpu", "time-aa", "new-lesson", "sass-lesson05"])
def test_a_command_that_needs_python_says_so_in_one_line_where_it_is_not_there(goal):
    environment = {name: value for name, value in os.environ.items() if not name.startswith("MAKE")}
    asked = ["make", "-n", goal, "PYTHON=no/such/python", "NAME=layers", "TRACK=host"]
    planned = subprocess.run(asked, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)
    recipe = planned.stdout[planned.stdout.index("command -v 'no/such/python'") :]
    done = subprocess.run(["/bin/sh", "-c", recipe], cwd=ROOT, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr == f"make {goal}: no/such/python is not there; PYTHON=… names one, 3.10 or newer\n"


def test_the_newest_times_stand_beside_each_machine_as_shares_of_its_roof(course, capsys):
    learner_timed(course, "03", "matmul", timing(99.0, solution=0.2, arithmetic=0.1, library=0.2))
    learner_timed(course, "03", "matmul", timing(12.34, solution=0.9, arithmetic=0.612, library=0.85))
    slow, fast = timing(8.49, arithmetic=0.7, library=1.04), timing(4.0, arithmetic=0.63, library=1.1)
    recorded(course, "b", report({"cpu": "Fast 1/2"}, "lesson03/matmul", fast))
    recorded(course, "a", report({"cpu": "Slow 1/1"}, "lesson03/matmul", slow))
    recorded(course, "c", report({"cpu": "Other 1/3"}, "lesson02/matmul", slow))
    head, _, *rows, _, _ = shown(capsys, "03_cpu_matmul")
    assert head == "lesson 03 · cpu_matmul · times as shares of each machine's own roof"
    assert [row.split()[-1] for row in rows] == ["OpenBLAS", "85%", "104%", "110%"]
    assert rows[0].split() == ["matmul", *SHAPE.split(), "ms", "of", "the", "roof", "of", "OpenBLAS"]
    assert rows[1].startswith("    yours, ")
    assert rows[1].split()[-3:] == ["12.3", "61%", "85%"]
    assert rows[2].split() == ["solution,", "Slow", "1/1", "8.49", "70%", "104%"]
    assert rows[3].split() == ["solution,", "Fast", "1/2", "4", "63%", "110%"]


def test_a_memory_bound_op_is_a_share_of_a_copy_and_another_of_the_solution(course, capsys):
    learner_timed(course, "01", "residual", timing(2.0, "", "N=64", solution=0.95, copy=0.81))
    learner_timed(course, "01", "layernorm", timing(3.0, "", "B=1 T=2 C=3", solution=0.95))
    lines = shown(capsys, "01_layers")
    assert any(line.startswith("  residual N=64") and line.endswith("of a copy") for line in lines)
    assert any(line.startswith("  layernorm") and line.endswith("of solution") for line in lines)
    assert [line.split()[-1] for line in lines if line.startswith("    yours")] == ["81%", "95%"]
    assert not any("residual" in line for line in shown(capsys, "01_layers", "--only", "layernorm"))


def test_a_gpus_times_stand_beside_the_recorded_cards_and_need_no_check(course, capsys):
    learner_timed(course, "07", "matmul", timing(1.0, "cuBLAS", arithmetic=0.61, library=0.1), "NVIDIA RTX 9, GPU")
    h200 = timing(0.5, "cuBLAS", arithmetic=0.63, library=0.11)
    recorded(course, "nvidia-h200", report({"gpu": "NVIDIA H200"}, "lesson07/matmul", h200))
    lines = shown(capsys, "07_tiled_matmul", "--check", "build/check/none")
    (yours,) = (line for line in lines if "yours, NVIDIA RTX 9 " in line)
    (theirs,) = (line for line in lines if "solution, NVIDIA H200 " in line)
    assert yours.split()[-3:] == ["1", "61%", "10%"]
    assert theirs.split()[-3:] == ["0.5", "63%", "11%"]


def test_a_recorded_time_that_missed_its_target_is_shown(course, capsys):
    learner_timed(course, "07", "matmul", timing(1.0, "cuBLAS", library=0.1), "NVIDIA RTX 9, GPU")
    slow = report({"gpu": "NVIDIA H200"}, "lesson07/matmul", timing(0.5, "cuBLAS", library=0.11) | {"verdict": "SLOW"})
    slow["parts"]["timings"]["items"]["lesson07/matmul"]["status"] = "failed"
    recorded(course, "nvidia-h200", slow)
    assert any("solution, NVIDIA H200 " in line for line in shown(capsys, "07_tiled_matmul", "--check", "none"))


def test_a_long_name_of_a_machine_leaves_the_columns_where_they_are(course, capsys):
    learner_timed(course, "03", "matmul", timing(arithmetic=0.5))
    recorded(course, "x", report({"cpu": "Some Processor With A Long Name 64-Core 25/1"}, "lesson03/matmul", timing()))
    lines = [line for line in shown(capsys, "03_cpu_matmul") if "solution, " in line]
    assert lines == ["    solution, Some Processor With A Long...        8"]


# ---- counters --------------------------------------------------------------------------------------------------------

FAKE = """#!{python}
import json, os, sys
arguments = sys.argv[1:]
value = lambda name: arguments[arguments.index(name) + 1]
said = json.load(open("said.json"))
if "--describe" in arguments:
    print(json.dumps(said["describe"]))
else:
    with open("asked", "a") as file:
        print(value("--impl-dir"), value("--only"), os.environ.get("NVIDIA_TF32_OVERRIDE", "-"), file=file)
    op, _, case = value("--only").partition("/")
    found = said[value("--impl-dir")]
    cases = [one for one in found["cases"] if case in ("", one["case"])]
    report = {{"ops": [{{"op": op, "verdict": found["verdict"], "cases": cases}}]}}
    json.dump(report, open(value("--json"), "w"))
"""


def case(name: str, **counted: tuple[float, float, float]) -> dict:
    counters = [
        {"counter": counter, "value": value, "needed": needed, "at_most": most}
        for counter, (value, needed, most) in counted.items()
    ]
    return {"case": name, "shape": "N=256 C=256 OC=256", "counters": counters}


@pytest.fixture
def device_course(course):
    """A check program that says what said.json has of each folder of objects."""
    check = course / "check"
    check.write_text(FAKE.format(python=sys.executable))
    check.chmod(check.stat().st_mode | stat.S_IXUSR)

    def say(yours: dict, targets: dict | None = None) -> list[str]:
        good = [case("odd", bytes_moved=(50, 50, 1.1)), case("square", bytes_moved=(4.24e6, 4e6, 1.1), lost=(0, 0, 1))]
        older = [case("square", bytes_moved=(256e6, 4e6, 1.1), lost=(12_000, 0, 1))]
        targets = {"bytes_moved": 1.1, "lost": 1} if targets is None else targets
        said = {
            "describe": {"ops": [{"op": "matmul", "counters": targets}], "precision": {}},
            "build/impl/lessons/07_tiled_matmul": yours,
            "build/impl/solutions/07_tiled_matmul": {"verdict": "ok", "cases": good},
            "build/impl/solutions/05_naive_forward": {"verdict": "SLOW", "cases": older},
        }
        (course / "said.json").write_text(json.dumps(said))
        older_object = "build/impl/solutions/05_naive_forward/matmul.so"
        return ["07_tiled_matmul", "--check", str(check), "--older", older_object]

    return say


def test_counters_of_three_stand_beside_what_is_needed(device_course, course, capsys):
    yours = [case("odd", bytes_moved=(60, 50, 1.1)), case("square", bytes_moved=(8e6, 4e6, 1.1), lost=(7, 0, 1))]
    lines = shown(capsys, *device_course({"verdict": "SLOW", "cases": yours}))
    assert lines[0] == "lesson 07 · tiled_matmul · counted on the CPU device, times what is needed"
    assert lines[2:6] == [
        "  matmul N=256 C=256 OC=256 (square)",
        "                                     needed     yours  solution lesson 05  limit",
        "  bytes_moved                     4,000,000        2x     1.06x       64x   1.1x",
        "  lost                                    0         7         0    12,000      0",
    ]
    asked = (course / "asked").read_text().splitlines()
    assert [line.split("/impl/")[1] for line in asked] == [
        "lessons/07_tiled_matmul matmul -",
        "solutions/07_tiled_matmul matmul/square -",
        "solutions/05_naive_forward matmul/square 0",  # fp32, so that an older TF32 op is right and is counted
    ]


def test_a_need_that_each_version_has_by_its_own_requests_is_not_given_as_one_number(device_course, capsys):
    yours = [case("square", bytes_moved=(4e6, 4e6, 1.1), lost=(600, 600, 1.02))]  # the older needs none
    lines = shown(capsys, *device_course({"verdict": "ok", "cases": yours}))
    assert lines[4:6] == [
        "  bytes_moved                     4,000,000        1x     1.06x       64x   1.1x",
        "  lost                           by its own        1x         0    12,000  1.02x",
    ]
    assert lines[6] == "    by its own: what each one's own requests need at least"


def test_what_is_wrong_or_not_written_is_not_counted_and_says_so(device_course, capsys):
    wrong = {"verdict": "WRONG", "cases": [{"case": "square", "shape": "N=1 C=1 OC=1", "counters": []}]}
    lines = shown(capsys, *device_course(wrong))
    assert "  bytes_moved                     4,000,000         -     1.06x       64x   1.1x" in lines
    assert "    yours is not counted: WRONG; make check-lesson07 ONLY=matmul" in lines


def test_a_lesson_without_targets_on_counters_is_one_line(device_course, capsys):
    lines = shown(capsys, *device_course({"verdict": "ok", "cases": []}, targets={}))
    assert lines == ["lesson 07 has targets on times alone: on a GPU, make time-lesson07"]


def test_an_op_without_a_target_is_one_line(device_course, capsys):
    arguments = device_course({"verdict": "ok", "cases": []})
    assert compare.main([*arguments, "--only", "gelu"]) == 1
    assert capsys.readouterr().err == "compare: ONLY=gelu: lesson 07 has targets on counters for matmul\n"


def test_a_check_program_that_is_not_there_is_one_line(course, capsys):
    assert compare.main(["07_tiled_matmul", "--check", "build/check/lesson07"]) == 1
    assert capsys.readouterr().err.splitlines()[0].startswith("compare: build/check/lesson07 is not there")


# ---- which CPU -------------------------------------------------------------------------------------------------------


def test_processors_of_one_name_are_told_apart():
    epyc = Cpu("AMD EPYC", "25", "17")
    assert (epyc.label, epyc.slug) == ("AMD EPYC 25/17", "amd-epyc-25-17")
    xeon = Cpu("Intel(R) Xeon(R) Processor @ 2.50GHz", "6", "143")
    assert (xeon.label, xeon.slug) == ("Intel Xeon @ 2.50GHz 6/143", "intel-xeon-2-50ghz-6-143")
    assert Cpu("aarch64").label == "aarch64"


def test_family_and_model_are_read_from_cpuinfo(tmp_path):
    info = tmp_path / "cpuinfo"
    info.write_text("processor\t: 0\ncpu family\t: 25\nmodel\t\t: 17\nmodel name\t: AMD EPYC\n")
    assert (cpu(info).family, cpu(info).model) == ("25", "17")
    assert (cpu(tmp_path / "none").family, cpu(tmp_path / "none").model) == ("", "")


# ---- what is recorded ------------------------------------------------------------------------------------------------


def test_of_several_runs_the_median_is_kept_and_the_spread():
    runs = [timing(ms, arithmetic=share, solution=1.0) for ms, share in ((9.0, 0.5), (8.0, 0.7), (30.0, 0.6))]
    result = record_cpu.merged(runs)
    (shape,) = result["shapes"]
    assert (result["runs"], shape["median_ms"], shape["spread"]["median_ms"]) == (3, 9.0, [8.0, 30.0])
    assert shape["of_speed_of"] == {"arithmetic": {"share": 0.6, "interval": [0.5, 0.7]}}


def test_only_the_page_that_shows_this_machine_is_written_anew():
    page = "before\n<!-- recorded: amd -->\nold\n<!-- end recorded -->\nafter\n"
    assert record_cpu.put(page, "amd", "new\n", Path("page.md")) == page.replace("old", "new")
    assert record_cpu.put(page, "intel", "new\n", Path("page.md")) == page


def test_a_machines_file_is_read_only_where_it_is_asked_for(course):
    recorded(course, "a", report({"cpu": "A"}, "lesson03/matmul", timing()))
    recorded(course, "b", report({"gpu": "B"}, "lesson07/matmul", timing()))
    assert [data["gpu"] for data in read_reports(course)] == ["B"]
    assert [data["cpu"] for data in read_reports(course, "cpu")] == ["A"]
    assert len(read_reports(course, "cpu", "gpu")) == 2


def test_a_cpu_is_recorded():
    assert RECORDED


@pytest.mark.parametrize("path", RECORDED, ids=lambda path: path.stem)
class TestRecordedFile:
    @pytest.fixture
    def data(self, path):
        return json.loads(path.read_text())

    def test_says_on_what_and_by_what_it_was_measured(self, data, path):
        machine, part = data["machine"], data["parts"]["timings"]
        assert (data["format"], data["rehearsal"]) == (1, False)
        found = Cpu(machine["name"], machine["family"], machine["model"])
        assert (found.label, found.slug) == (data["cpu"], path.stem)
        assert all(part["versions"][key] for key in ("compiler", "flags", "march"))
        assert len(part["measured_at"]) == len("2026-01-31T12:00:00Z")
        assert machine["fma_one_flop_per_s"] > 1e9

    @pytest.mark.skipif(not (ROOT / "build/tools/lessons").exists(), reason="no build/tools/lessons")
    def test_has_every_op_of_the_lessons_for_the_cpu_at_every_shape(self, data, monkeypatch):
        monkeypatch.chdir(ROOT)
        items = data["parts"]["timings"]["items"]
        wanted = {
            f"lesson{lesson.number}/{op}": [dims(shape) for shape in shapes]
            for lesson in all_lessons(Path())
            if lesson.track == "host"
            for op, shapes in lesson.timed.items()
        }
        assert {
            item: [dims(s["shape"]) for s in record["result"]["shapes"]] for item, record in items.items()
        } == wanted

    def test_has_numbers_that_fit_together(self, data):
        for record in data["parts"]["timings"]["items"].values():
            result = record["result"]
            assert record["status"] == "ok"
            assert result["runs"] >= 3
            for shape in result["shapes"]:
                low, high = shape["spread"]["median_ms"]
                assert 0 < low <= shape["median_ms"] <= high < math.inf
                assert "solution" not in shape["of_speed_of"]
                for share in shape["of_speed_of"].values():
                    assert share["interval"][0] <= share["share"] <= share["interval"][1]

    @pytest.mark.parametrize("lesson", record_cpu.PAGES)
    def test_is_what_the_pages_show(self, data, path, lesson):
        page = record_cpu.PAGES[lesson]
        text = (ROOT / page).read_text()
        assert record_cpu.put(text, path.stem, record_cpu.page_block(data, lesson), page) == text


@pytest.mark.parametrize("lesson", record_cpu.PAGES)
def test_the_pages_of_the_cpu_show_a_machine_that_is_recorded(lesson):
    text = (ROOT / record_cpu.PAGES[lesson]).read_text()
    assert any(pages.has(text, record_cpu.BLOCK.format(path.stem)) for path in RECORDED)


def test_what_sentences_say_of_the_recorded_machine_is_what_was_recorded():
    """Numbers that several pages share, and that no block has."""
    data = json.loads((ROOT / "reference/timings/amd-epyc-25-17.json").read_text())
    found = {lesson: record_cpu.results_of(data, lesson) for lesson in record_cpu.PAGES}
    roof, copy = data["machine"]["fma_one_flop_per_s"], record_cpu.copy_rate(data)
    plain = found["lesson02"]["matmul"]["shapes"][0]["flop_per_s"]
    fast = next(s for s in found["lesson03"]["matmul"]["shapes"] if s["shape"] == "N=256 C=768 OC=2304")
    gelu = [found[lesson]["gelu"]["shapes"][0]["median_ms"] for lesson in ("lesson01", "lesson03")]
    said = {
        "01_layers": [f"{digits(copy / 1e9)} GB/s"],
        "02_forward": [f"{digits(plain / 1e9)} GFLOP/s", f"{digits(roof / 1e9)} GFLOP/s"],
        "03_cpu_matmul": [
            f"| 02 | the whole model | {digits(plain / 1e9)} GFLOP/s |",
            f"One core of that machine does {digits(roof / 1e9)} GFLOP/s",
            f"{digits(roof / 1e9)} GFLOP/s over the {digits(copy / 1e9)} GB/s of a copy",
            f"1. {digits(fast['flop_per_s'] / 1e9)} GFLOP/s on that machine, {record_cpu.percent(fast, 'arithmetic')}",
            f"2. {record_cpu.percent(fast, 'library')}.",
            f"3. {gelu[0] / gelu[1]:.0f} times:",
        ],
        "04_first_kernel": [f"{digits(roof / 1e9)} GFLOP/s, and {digits(copy / 1e9)} GB/s for a copy"],
    }
    missing = [
        (lesson, words)
        for lesson, phrases in said.items()
        for words in phrases
        if words not in (ROOT / "lessons" / lesson / "README.md").read_text()
    ]
    assert missing == []


def test_few_are_shown_as_they_are_and_many_as_multiples():
    assert [compare.amount(4, 8), compare.amount(0, 0), compare.amount(3, 0)] == ["4", "0", "3"]
    assert compare.amount(150, 100) == "1.5x"


def test_lines_that_are_no_results_are_skipped_with_a_note(course, capsys):
    (course / "results/results.jsonl").write_bytes(b'5\n{"lesson": "01"}\n\xff\x00\n{"lesson"')
    assert results.checks() == [{"lesson": "01"}]
    assert capsys.readouterr().err == "note: results/results.jsonl: skipped, not a result of a check: line 1, 3, 4\n"
