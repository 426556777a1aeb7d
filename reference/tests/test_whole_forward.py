# SPDX-License-Identifier: MIT
"""whole_forward.py as a rehearsal on the CPU, beside the newest step's program on the CPU device; and what only a GPU
does, with fakes of it."""

import contextlib
import json
import subprocess
import sys
from pathlib import Path

import pytest
import torch

from reference.gpu import bench, whole_forward
from reference.gpu.beside_pytorch import BATCHES, PARTS
from reference.gpu.lesson_shapes import device_lessons
from reference.gpu.tools import ToolError
from reference.gpu.whole_forward import WAYS, PyTorch, Way, WholeForward, captured, in_turn, prepared

ROOT = Path(__file__).parents[2]
PROGRAM = ROOT / f"build/gpt2-bench-{device_lessons(ROOT)[-1].number}"
PREFIX = "B=4 T=1024 C=768 NH=12 L=12 "


@pytest.fixture
def whole():
    made = WholeForward(4, PROGRAM, dry=True)
    yield made
    made.close()
    bench.set_precision("fp32")


def named(name: str) -> Way:
    (way,) = (way for way in WAYS if way.name == name)
    return way


def test_a_way_and_our_program_take_the_same_passes_in_turn(whole):
    for name in ("eager, SDPA efficient", "compile, one graph"):
        result = whole.run(named(name))
        assert (result["way"], result["shape"], result["precision"]) == (name, "B=2 T=8 C=64 NH=4 L=2", "tf32")
        for task in ("forward", "predict"):
            of = result[task]
            assert 0 < of["differs"] < 4e-3
            assert min(of[side]["median_ms"] for side in ("pytorch", "ours")) > 0
            assert of["pytorch"]["samples"] == of["ours"]["samples"] == of["ours_over_pytorch"]["rounds"] == 2
    assert [path.name for path in whole.ours.row.parent.iterdir() if path.suffix == ".safetensors"] == []


def test_the_ways_are_eager_compiled_captured_and_by_back_ends_and_those_not_for_floats_are_named():
    whole = WholeForward(16, PROGRAM, dry=True)
    assert [name.removeprefix("B=16 T=1024 C=768 NH=12 L=12 ") for name in whole.items] == [way.name for way in WAYS]
    assert {way.mode for way in WAYS} == {
        None, "default", "reduce-overhead", "max-autotune", "max-autotune-no-cudagraphs",
    }  # fmt: skip
    assert all("takes fp16 and bf16" in why for why in whole.without.values())
    assert sorted(PARTS) == sorted(f"forward_b{B}" for B in BATCHES)


def answering(path: Path, answer: str) -> Path:
    """A program that writes logits of 0 and gives that answer."""
    text = "import sys\nfor line in sys.stdin:\n    command, count, file = line.split()\n    count = int(count)\n"
    text += f"    open(file, 'wb').write(bytes(4 * 2 * 101))\n    print({answer}, flush=True)\n"
    path.write_text(f"#!{sys.executable}\n{text}")
    path.chmod(0o755)
    return path


def test_a_pass_whose_logits_differ_is_not_timed(tmp_path):
    whole = WholeForward(4, answering(tmp_path / "gpt2-bench-98", "'0.1 ' * count"), dry=True)
    with contextlib.closing(whole), pytest.raises(ToolError, match=r"forward: our logits are off by 1\.0e\+00"):
        whole.run(named("eager"))


@pytest.mark.parametrize("answer", ["'0.1'", "'0.1 fast'", "'0.1 ' * (count + 1)"])
def test_our_program_gives_as_many_times_as_were_asked_for(tmp_path, answer):
    program = answering(tmp_path / "gpt2-bench-98", answer)
    ours = whole_forward.Ours(program, tmp_path, torch.zeros(2, 8, dtype=torch.int64), 101)
    with ours, pytest.raises(ToolError, match=r"step 98 answered '0\.1.*', not 2 times"):
        ours.times("forward", 2)


@pytest.mark.parametrize("command", ["forward", "forward 0 x", "predict two x", "predict 1"])
def test_our_program_says_which_command_it_does_not_know(whole, command):
    whole.prepare()
    with pytest.raises(ToolError, match="stopped with exit status 1"):
        whole.ours.ask(command)


def test_rounds_alternate_and_the_first_is_a_warm_up():
    log = []

    def side(name, times):
        def run(count):
            log.append(name)
            return [times.pop(0)] * count

        return run

    theirs, ours = side("pytorch", [9.0, 2.0, 2.0, 4.0, 4.0, 4.0]), side("ours", [9.0, 1.0, 3.0, 2.0, 2.0, 2.0])
    result = in_turn(theirs, ours, dry=False)
    assert log == ["ours", "pytorch", "pytorch", "ours"] * 3
    assert result["ours_over_pytorch"]["median"] == 0.5
    assert result["ours_over_pytorch"]["rounds"] == whole_forward.LEAST_ROUNDS
    assert result["ours"] == bench.summarise([1.0] * 10 + [3.0] * 10 + [2.0] * 30)


def test_short_passes_are_taken_until_there_are_enough():
    result = in_turn(lambda count: [1e-3] * count, lambda count: [1e-3] * count, dry=False)
    assert result["ours_over_pytorch"]["rounds"] == whole_forward.MOST_ROUNDS


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
    assert cuda.log == ["call"] * bench.WARMUP + ["captured"]
    assert replay() is replay()
    assert cuda.log[bench.WARMUP + 1 :] == ["replay", "replay"]


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
    asked, allowed, steps = [], [], []
    monkeypatch.setattr(torch, "compile", lambda model, **how: asked.append(how) or model)
    monkeypatch.setattr(torch.compiler, "cudagraph_mark_step_begin", lambda: steps.append(1))
    monkeypatch.setattr(whole_forward, "sdpa_kernel", lambda ways: allowed.append(ways) or contextlib.nullcontext())
    monkeypatch.setattr(whole_forward, "captured", lambda call: call)
    for way in WAYS:
        assert prepared(way, lambda tokens: (tokens, None), 7, dry=False)() == 7
    assert [how["mode"] for how in asked] == [way.mode for way in WAYS if way.mode]
    assert all(how["dynamic"] is False for how in asked)
    assert allowed == [[way.back_end] for way in WAYS if way.back_end]
    assert len(steps) == 2  # reduce-overhead and max-autotune


def test_requests_are_served_a_line_each():
    command = [sys.executable, "-m", "reference.gpu.whole_forward", "1", str(PROGRAM), "--dry"]
    name = "B=1 T=1024 C=768 NH=12 L=12 eager"
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
