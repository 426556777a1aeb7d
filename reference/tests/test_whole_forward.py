# SPDX-License-Identifier: MIT
"""whole_forward.py as a rehearsal on the CPU, beside the newest step's program on the CPU device; and what only a GPU
does, with fakes of it."""

import contextlib
import io
import itertools
import json
import signal
import subprocess
import sys
from pathlib import Path

import pytest
import torch

from reference.gpu import bench, timing, ways, whole_forward
from reference.gpu.beside_pytorch import BATCHES, PARTS, named, whole_rows, whole_table
from reference.gpu.lesson_shapes import device_lessons, is_branch
from reference.gpu.tools import ToolError
from reference.gpu.ways import EAGER, MODELS, NOT_FOR_FLOATS, WAYS, Way, Ways, captured
from reference.gpu.whole_forward import PyTorch, WholeForward, WholeItem, compiled_ways, in_turn
from reference.model.gpt2 import GPT2, Config

ROOT = Path(__file__).parents[2]
NEWEST = [one.number for one in device_lessons(ROOT) if not is_branch(ROOT, one.name)][-1]
PROGRAM = ROOT / f"build/gpt2-bench-{NEWEST}"
SHAPE = "B=4 T=1024 C=768 NH=12 L=12"


@pytest.fixture
def whole():
    made = WholeForward(4, [PROGRAM], dry=True)
    yield made
    made.close()
    bench.set_precision("fp32")


def way_named(name: str) -> Way:
    (way,) = (way for way in WAYS if way.name == name)
    return way


def beside(name: str, program: Path = PROGRAM) -> WholeItem:
    return WholeItem(program, way_named(name))


@pytest.mark.parametrize("name", ["eager, SDPA efficient", "compile, one graph", "compile, padded vocabulary"])
def test_a_way_and_our_program_take_the_same_passes_in_turn(whole, name):
    result = whole.run(beside(name))
    assert (result["step"], result["way"], result["precision"]) == (NEWEST, name, "tf32")
    assert result["shape"] == "B=2 T=8 C=64 NH=4 L=2"
    for task in ("forward", "predict"):
        of = result[task]
        assert 0 < of["differs"] < 4e-3
        assert min(of[side]["median_ms"] for side in ("pytorch", "ours")) > 0
        low, high = of["ours"]["interval_ms"]
        assert low <= of["ours"]["median_ms"] <= high
        assert of["pytorch"]["samples"] == of["ours"]["samples"] == of["ours_over_pytorch"]["rounds"] == 2


def test_the_newest_step_is_beside_all_ways_and_older_ones_beside_eager():
    older = [Path(f"build/gpu/gpt2-bench-{step}") for step in ("16", "05")]
    whole = WholeForward(4, [Path("build/gpu/gpt2-bench-17"), *older], dry=True)
    others = [f"step 17 {SHAPE} {way.name}" for way in WAYS[1:]]
    assert list(whole.items) == [f"step {step} {SHAPE} eager" for step in ("17", "16", "05")] + others
    assert [item.program.name[-2:] for item in whole.items.values()] == ["17", "16", "05"] + ["17"] * len(others)
    assert whole.without == {f"step 17 {SHAPE} {name}": why for name, why in NOT_FOR_FLOATS.items()}
    assert all("takes fp16 and bf16" in why for why in whole.without.values())
    assert sorted(PARTS) == sorted(f"forward_b{B}" for B in BATCHES)


def test_the_ways_are_in_order_of_value_and_of_every_mode():
    assert [way.name for way in WAYS][:5] == [
        "eager", "eager, one graph", "compile", "compile, one graph", "compile, padded vocabulary",
    ]  # fmt: skip
    assert {way.mode for way in WAYS} == {
        None, "default", "reduce-overhead", "max-autotune", "max-autotune-no-cudagraphs",
    }  # fmt: skip
    assert len({way.name for way in WAYS}) == len(WAYS)
    assert EAGER in WAYS


def test_a_way_and_a_program_stay_while_they_are_asked_for(whole, tmp_path):
    again = tmp_path / "gpt2-bench-12"
    again.symlink_to(PROGRAM)
    whole.run(beside("eager"))
    first, pytorch = whole.ours, whole.pytorch
    assert whole.run(beside("eager", again))["step"] == "12"
    assert whole.pytorch is pytorch
    assert first.process.poll() is not None  # one at a time
    second = whole.ours
    whole.run(beside("eager, one graph", again))
    assert whole.ours is second
    assert whole.pytorch is not pytorch


def test_a_program_that_is_not_built_costs_its_own_items(whole):
    missing = Path("build/gpu/gpt2-bench-98")
    said = bench.answer("x", whole, {"x": beside("eager", missing)}, {})
    assert said == {"error": f"{missing} is not there: it is to be built first", "lost": False}
    assert bench.answer("y", whole, {"y": beside("eager")}, {})["step"] == NEWEST


def test_a_lost_gpu_hides_no_reason(whole, monkeypatch):
    def lost():
        raise RuntimeError("CUDA error: an illegal memory access")

    with monkeypatch.context() as patch:
        patch.setattr(whole, "drop", lost)
        said = bench.answer("x", whole, {"x": beside("eager", Path("gpt2-bench-98"))}, {})
    assert said["error"] == "gpt2-bench-98 is not there: it is to be built first"


def answering(path: Path, answer: str) -> Path:
    """A program that writes logits of 0 and gives that answer."""
    text = "import sys\nfor line in sys.stdin:\n    command, count, file = line.split()\n    count = int(count)\n"
    text += f"    open(file, 'wb').write(bytes(4 * 2 * 101))\n    print({answer}, flush=True)\n"
    path.write_text(f"#!{sys.executable}\n{text}")
    path.chmod(0o755)
    return path


def test_a_pass_whose_logits_differ_is_not_timed(tmp_path):
    program = answering(tmp_path / "gpt2-bench-98", "'0.1 ' * count")
    whole = WholeForward(4, [program], dry=True)
    with contextlib.closing(whole):
        with pytest.raises(ToolError, match=r"forward: our logits are off by 1\.0e\+00"):
            whole.run(beside("eager", program))
        assert (whole.ours, whole.pytorch) == (None, None)


@pytest.mark.parametrize("answer", ["'0.1'", "'0.1 fast'", "'0.1 ' * (count + 1)"])
def test_our_program_gives_as_many_times_as_were_asked_for(tmp_path, answer):
    program = answering(tmp_path / "gpt2-bench-98", answer)
    ours = whole_forward.Ours(program, tmp_path, torch.zeros(2, 8, dtype=torch.int64), 101)
    with ours, pytest.raises(ToolError, match=r"step 98 answered '0\.1.*', not 2 times"):
        ours.times("forward", 2)


@pytest.mark.parametrize("command", ["forward", "forward 0 x", "predict two x", "predict 1"])
def test_our_program_says_which_command_it_does_not_know(whole, command):
    whole.prepare()
    whole.start(beside("eager"))
    with pytest.raises(ToolError, match="stopped with exit status 1"):
        whole.ours.ask(command)


# ---- rounds ----------------------------------------------------------------------------------------------------------


def side(log: list, name: str, times: list[float]):
    """Answers each turn with the next of `times`, and with the last one for ever."""

    def run(count):
        log.append((name, count))
        return [times.pop(0) if len(times) > 1 else times[0]] * count

    return run


def test_rounds_alternate_and_the_first_two_are_warm_ups():
    log = []
    theirs = side(log, "pytorch", [9e-3, 9e-3, 2e-3, 2e-3, 4e-3])
    ours = side(log, "ours", [9e-3, 9e-3, 1e-3, 3e-3, 2e-3])
    result = in_turn(theirs, ours, dry=False)
    assert [name for name, _ in log[:8]] == ["ours", "pytorch", "pytorch", "ours"] * 2
    assert [count for _, count in log[:8]] == [1, 1] + [10] * 6
    ratio = result["ours_over_pytorch"]
    assert ratio["median"] == 0.5
    assert ratio["interval"] == [0.5, 0.5]
    expected = [1e-3] * 10 + [3e-3] * 10 + [2e-3] * 10 * (ratio["rounds"] - 2)
    assert result["ours"] == timing.summarise(expected)


def test_steady_passes_are_as_few_as_an_interval_needs():
    log = []
    result = in_turn(side(log, "pytorch", [5e-3]), side(log, "ours", [4e-3]), dry=False)
    assert result["ours_over_pytorch"]["rounds"] == timing.FEWEST_SAMPLES
    assert len(log) == 2 * (2 + timing.FEWEST_SAMPLES)


def test_long_passes_run_six_times_and_once_to_warm_up():
    log = []
    result = in_turn(side(log, "pytorch", [0.1]), side(log, "ours", [0.4, 0.4, 0.2, 0.4]), dry=False)
    assert log == [("ours", 1), ("pytorch", 1), ("pytorch", 1), ("ours", 1)] * 3 + [("ours", 1), ("pytorch", 1)]
    assert result["ours"]["samples"] == result["ours_over_pytorch"]["rounds"] == timing.FEWEST_SAMPLES


def test_restless_passes_end_with_the_time_of_the_longer_side():
    log = []
    restless = side(log, "ours", [1e-2, 1e-2, *[1e-2, 2e-2] * 100])
    result = in_turn(side(log, "pytorch", [1e-3]), restless, dry=False)
    assert timing.MOST_S <= result["ours"]["samples"] * 1.5e-2 < timing.MOST_S + 0.3


# ---- what only a GPU does --------------------------------------------------------------------------------------------


class FakeStream:
    def wait_stream(self, other):
        pass


class FakeCuda:
    """A stream, a graph that remembers what was captured, events that count the passes."""

    def __init__(self, monkeypatch):
        self.log, self.capturing, self.passes = [], False, 0
        fake = self

        class Graph:
            def replay(self):
                fake.log.append("replay")

        class Event:
            def __init__(self, enable_timing):
                assert enable_timing

            def record(self):
                self.at = fake.passes

            def synchronize(self):
                pass

            def elapsed_time(self, end):
                return 3.0 * (end.at - self.at)

        @contextlib.contextmanager
        def graph(_):
            self.capturing = True
            yield
            self.capturing = False

        for name, value in (("Stream", FakeStream), ("current_stream", FakeStream), ("CUDAGraph", Graph)):
            monkeypatch.setattr(torch.cuda, name, value)
        monkeypatch.setattr(torch.cuda, "stream", lambda _: contextlib.nullcontext())
        monkeypatch.setattr(torch.cuda, "graph", graph)
        monkeypatch.setattr(torch.cuda, "Event", Event)
        monkeypatch.setattr(torch.cuda, "synchronize", lambda: self.log.append("wait"))

    def call(self):
        self.passes += 1
        self.log.append("captured" if self.capturing else "call")
        return torch.zeros(2, 3, 4)


def test_a_captured_pass_is_warmed_up_captured_once_and_replayed(monkeypatch):
    cuda = FakeCuda(monkeypatch)
    replay = captured(cuda.call)
    assert cuda.log == ["call"] * timing.WARMUP + ["captured"]
    assert replay() is replay()
    assert cuda.log[timing.WARMUP + 1 :] == ["replay", "replay"]


def test_passes_are_timed_one_after_another_and_predictions_until_the_logits_are_there(monkeypatch):
    cuda = FakeCuda(monkeypatch)
    pytorch = PyTorch.__new__(PyTorch)
    pytorch.dry, pytorch.call = False, cuda.call
    pytorch.on_host = pytorch.tokens = torch.zeros(2, 3, dtype=torch.int64)
    pytorch.row = torch.ones(2, 4)
    assert pytorch.forward(3) == [3e-3] * 3
    assert cuda.log == ["call"] * 3
    assert len(pytorch.predict(2)) == 2
    assert cuda.log[3:] == ["call", "wait"] * 2
    assert float(pytorch.row.abs().max()) == 0


def test_each_mode_is_asked_of_torch_compile_and_each_back_end_of_sdpa(monkeypatch):
    asked, allowed, steps, resets = [], [], [], []
    monkeypatch.setattr(torch, "compile", lambda model, **how: asked.append(how) or model)
    monkeypatch.setattr(torch.compiler, "cudagraph_mark_step_begin", lambda: steps.append(1))
    monkeypatch.setattr(torch._dynamo, "reset", lambda: resets.append(1))
    monkeypatch.setattr(ways, "sdpa_kernel", lambda back_ends: allowed.append(back_ends) or contextlib.nullcontext())
    monkeypatch.setattr(ways, "captured", lambda call: call)
    for name in MODELS:
        monkeypatch.setitem(MODELS, name, lambda model, tokens: model)
    every = Ways(lambda tokens: (tokens, None), 7, dry=False)
    for way in WAYS:
        assert every.call_of(way)() == 7
    assert [how["mode"] for how in asked] == ["default", "default", "default"] + [way.mode for way in WAYS[-3:]]
    assert all(how["dynamic"] is False for how in asked)
    assert allowed == [[way.back_end] for way in WAYS if way.back_end]
    assert len(steps) == 2  # reduce-overhead and max-autotune
    assert len(resets) == 1 + len([1 for a, b in itertools.pairwise(WAYS) if a.function_key != b.function_key])


# ---- the models ------------------------------------------------------------------------------------------------------


@pytest.fixture
def model():
    return GPT2(Config(max_T=64, V=101, L=2, NH=4, C=64)).eval()


@torch.no_grad()
def test_the_padded_model_has_the_same_logits_and_then_those_of_rows_of_zeros(model):
    tokens = torch.randint(101, (2, 8), generator=torch.Generator().manual_seed(0))
    wide = MODELS["padded"](model, tokens)
    logits = wide(tokens)[0]
    assert logits.shape == (2, 8, 128)
    torch.testing.assert_close(logits[..., :101], model(tokens)[0])
    assert float(logits[..., 101:].abs().max()) == 0
    assert wide.h[0].attn.c_attn.weight is model.h[0].attn.c_attn.weight
    assert model.wte.weight.shape == (101, 64)


@torch.no_grad()
def test_flex_attention_gives_the_models_logits(model):
    tokens = torch.randint(101, (2, 8), generator=torch.Generator().manual_seed(0))
    call = Ways(model, tokens, dry=True).call_of(way_named("compile, FlexAttention"))
    torch.testing.assert_close(call(), model(tokens)[0])
    assert float((call() - model(tokens)[0]).abs().max()) > 0  # it is another attention


def test_a_pytorch_without_flex_attention_costs_that_way_only(whole, monkeypatch):
    monkeypatch.setitem(sys.modules, "torch.nn.attention.flex_attention", None)
    said = bench.answer("x", whole, {"x": beside("compile, FlexAttention")}, {})
    assert said["error"].startswith("ModuleNotFoundError: ")
    assert bench.answer("y", whole, {"y": beside("eager")}, {})["way"] == "eager"


# ---- compiled ahead --------------------------------------------------------------------------------------------------


def test_each_compiled_function_is_compiled_once_and_without_our_programs(monkeypatch):
    whole, answers = WholeForward(4, [], dry=True), io.StringIO()
    monkeypatch.setattr(bench, "answers_only", lambda: answers)
    monkeypatch.setattr(whole_forward, "WholeForward", lambda *_: whole)
    assert whole_forward.main(["4", "--dry", "--warm"]) == 0
    lines = [json.loads(line) for line in answers.getvalue().splitlines()]
    assert [line["warmed"] for line in lines] == list(compiled_ways())
    assert min(line["seconds"] for line in lines) > 0
    assert (whole.ours, whole.folder) == (None, None)
    assert {way.function_key for way in compiled_ways().values()} == {way.function_key for way in WAYS if way.mode}
    bench.set_precision("fp32")


def test_compiling_ahead_ends_when_it_is_told_to():
    command = [sys.executable, "-m", "reference.gpu.whole_forward", "4", "--dry", "--warm"]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        assert json.loads(process.stdout.readline())["warmed"] == "compile"
        process.send_signal(signal.SIGTERM)
        _, said = process.communicate(timeout=60)
    assert (process.returncode, said) == (130, "interrupted\n")


# ---- requests --------------------------------------------------------------------------------------------------------


def test_requests_are_served_a_line_each():
    command = [sys.executable, "-m", "reference.gpu.whole_forward", "1", str(PROGRAM), "--dry"]
    name = f"step {NEWEST} B=1 T=1024 C=768 NH=12 L=12 eager"
    done = subprocess.run(
        command, cwd=ROOT, input=f"list\n{name}\nx\n", capture_output=True, text=True, timeout=300, check=False
    )
    assert done.returncode == 0, done.stderr
    listed, timed, unknown = (json.loads(line) for line in done.stdout.splitlines())
    assert name in listed["items"]
    assert timed["forward"]["ours"]["samples"] == 2
    assert unknown == {"error": "'x' is no item; `list` names them"}


@pytest.mark.skipif(torch.cuda.is_available(), reason="there is a GPU")
def test_without_a_gpu_it_says_so_in_one_line(capsys):
    assert whole_forward.main(["1", "program"]) == 1
    expected = f"whole-forward: PyTorch {torch.__version__} reaches no GPU; --dry needs none\n"
    assert capsys.readouterr() == ("", expected)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["1"], "which step's program? its path follows B"),
        (["1", "program", "--warm"], "with --warm it takes no program"),
    ],
)
def test_a_program_is_asked_for_but_to_compile_ahead(arguments, said, capsys):
    with pytest.raises(SystemExit) as stopped:
        whole_forward.parse(arguments)
    assert stopped.value.code == 2
    assert capsys.readouterr().err == f"whole-forward: {said}\n"


# ---- rows of the report ----------------------------------------------------------------------------------------------


def report_of(times: dict[tuple[str, str], tuple[float, float]], left=(), other=None) -> dict:
    """A report whose part forward_b4 has PyTorch's and our milliseconds by step and way."""
    items = {}
    for (step, way), (theirs, ours) in times.items():
        task = {
            "pytorch": {"median_ms": theirs},
            "ours": {"median_ms": ours},
            "ours_over_pytorch": {"median": ours / theirs},
        }
        result = {"step": step, "shape": SHAPE, "precision": "tf32", "way": way, "forward": task, "predict": task}
        items[f"step {step} {SHAPE} {way}"] = {"status": "ok", "result": result}
    for name, record in (other or {}).items():
        items[name] = record
    part = {"items": items, "not_done_yet": [f"step {step} {SHAPE} {way}" for step, way in left]}
    return {"rehearsal": False, "parts": {"forward_b4": part}}


TIMES = {
    ("17", "eager"): (10.0, 8.0),
    ("16", "eager"): (10.0, 12.0),
    ("05", "eager"): (10.0, 60.0),
    ("17", "compile, padded vocabulary"): (9.0, 8.1),
    ("17", "eager, SDPA efficient"): (10.0, 8.0),
    ("17", "eager, SDPA math"): (20.0, 8.0),
}


def test_the_newest_step_is_judged_and_older_ones_stand_below():
    forward, predict = whole_rows(report_of(TIMES))
    assert (forward["task"], predict["task"]) == ("forward", "predict")
    assert (forward["step"], forward["best"]) == ("17", "compile, padded vocabulary")
    assert forward["best_sdpa"] == "eager, SDPA efficient"
    assert forward["ours_over_best"] == pytest.approx(0.9)
    assert list(forward["ways"]) == [way for step, way in TIMES if step == "17"]
    assert {step: of["ours_over_pytorch"] for step, of in forward["older"].items()} == {"16": 1.2, "05": 6.0}
    assert forward["verdict"] == "the goal, 0.95, is met"
    lines = whole_table([forward]).splitlines()
    assert max(map(len, lines[1:])) <= 80
    assert "      step 16 beside eager                         10       12   1.200" in lines
    assert "      compile, padded vocabulary                    9      8.1   0.900  the best" in lines
    assert lines[-2:] == ["      SDPA's best back end: efficient", "      the goal, 0.95, is met"]


def test_an_older_step_that_is_left_delays_no_verdict_and_a_way_of_the_newest_does():
    assert whole_rows(report_of(TIMES, left=[("12", "eager")]))[0]["verdict"] == "the goal, 0.95, is met"
    row = whole_rows(report_of(TIMES, left=[("17", "compile max-autotune")]))[0]
    assert (row["verdict"], row["not_measured"]) == (None, ["compile max-autotune"])


def test_what_failed_or_is_not_for_floats_is_named_for_the_newest_step_only():
    failed = {"status": "failed", "why": "out of memory"}
    other = {f"step {step} {SHAPE} compile": failed for step in ("17", "16")}
    other[f"step 17 {SHAPE} eager, SDPA flash"] = {"status": "unavailable", "why": "takes fp16"}
    row = whole_rows(report_of(TIMES, other=other))[0]
    assert row["not_measured"] == ["compile"]
    assert row["not_for"] == {"eager, SDPA flash": "takes fp16"}


def test_without_a_time_of_the_newest_step_there_is_no_best():
    older = {key: ms for key, ms in TIMES.items() if key[0] == "16"}
    row = whole_rows(report_of(older, left=[("17", "eager")]))[0]
    assert (row["step"], row["best"], row["ours_over_best"], row["verdict"]) == ("17", None, None, None)
    assert "step 16 beside eager" in whole_table([row])


def test_an_item_of_another_form_is_named():
    assert named(f"step 17 {SHAPE} compile, one graph").way == "compile, one graph"
    with pytest.raises(ToolError, match="'B=4 eager' is no item of the forward parts"):
        named("B=4 eager")
