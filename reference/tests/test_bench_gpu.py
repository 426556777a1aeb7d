# SPDX-License-Identifier: MIT
"""bench.py as a rehearsal on the CPU: every op runs, and what fails is said in its place; timing.py with samples and
events that are made up."""

import contextlib
import io
import json
import os
import subprocess
import sys
from functools import partial
from pathlib import Path

import pytest
import torch

from reference.gpu import bench as bench_gpu
from reference.gpu import timing
from reference.gpu.bench import BASELINES, NO_BASELINE, OP_OF, Bench, BenchItem, all_items
from reference.gpu.lesson_shapes import all_lessons, device_lessons, dims, tiny
from reference.gpu.timing import ColdQueue, median_interval, time_cold, time_hot
from reference.gpu.tools import ToolError
from reference.model.gpt2 import attention as model_attention
from reference.ops import attention
from reference.ops.common.op import Baseline, Machine

ROOT = Path(__file__).parents[2]


def shape_of(baseline: str) -> str:
    """The first shape at which a lesson times the op that the baseline is of."""
    shapes = [shape for lesson in all_lessons(ROOT) for shape in lesson.timed.get(OP_OF[baseline], ())]
    assert shapes, f"no lesson times {OP_OF[baseline]}"
    return shapes[0]


@pytest.fixture
def bench():
    yield Bench(dry=True)
    bench_gpu.set_precision("fp32")


def serve(requests: str, *options: str) -> subprocess.CompletedProcess:
    command = [sys.executable, "-m", "reference.gpu.bench", "--dry", *options]
    return subprocess.run(command, cwd=ROOT, input=requests, capture_output=True, text=True, timeout=300, check=False)


def test_every_timed_shape_of_every_device_lesson_has_a_baseline():
    known, without = all_items(ROOT)
    assert NO_BASELINE not in without.values()
    named = {(item.op, item.shape) for item in known}
    for lesson in device_lessons(ROOT):
        for op, shapes in lesson.timed.items():
            assert {(op, shape) for shape in shapes} <= named
    assert ("forward", bench_gpu.WHOLE) in named
    assert len({item.name for item in known}) == len(known)


def test_each_op_is_timed_eager_and_compiled_and_matmuls_in_every_precision():
    known, _ = all_items(ROOT)
    assert {item.mode for item in known} == {"eager", "compile"}
    for op, expected in (
        ("matmul", {"fp32", "tf32", "bf16"}),
        ("forward", {"fp32", "tf32", "bf16"}),
        ("gelu", {"fp32"}),
    ):
        assert {item.precision for item in known if item.op == op} == expected


def test_an_op_that_is_not_known_is_listed(tmp_path):
    folder = tmp_path / "lessons/04_x"
    folder.mkdir(parents=True)
    (folder / "lesson.toml").write_text(
        '[target.swiglu]\nagainst = "copy"\nbronze = 0.1\nsilver = 0.2\ngold = 0.3\nshapes = ["N=3"]\n'
    )
    solution = tmp_path / "solutions/04_x"
    solution.mkdir(parents=True)
    (solution / "swiglu.cu").touch()
    assert all_items(tmp_path)[1] == {"swiglu N=3": NO_BASELINE}


def test_attention_is_timed_by_each_way_of_pytorch_that_takes_the_precision_and_the_others_are_named():
    known, without = all_items(ROOT)
    ways = {
        name: {(item.precision, item.mode) for item in known if item.op == name}
        for name in ("attention_flash", "attention_efficient", "attention_math")
    }
    assert ways == {
        "attention_flash": {("bf16", "eager")},
        "attention_efficient": {("fp32", "eager"), ("tf32", "eager"), ("bf16", "eager")},
        "attention_math": {("fp32", "eager"), ("tf32", "eager"), ("bf16", "eager")},
    }
    flash = "attention_flash B=4 T=1024 C=768 NH=12 fp32 eager"
    assert without[flash] == "not for fp32: FlashAttention takes fp16 and bf16"


def test_a_named_way_is_the_only_one_that_is_allowed(monkeypatch):
    allowed = []
    monkeypatch.setattr(attention, "sdpa_kernel", lambda ways: allowed.append(ways) or contextlib.nullcontext())
    for name, way in (("flash", "FLASH_ATTENTION"), ("efficient", "EFFICIENT_ATTENTION"), ("math", "MATH")):
        function, arguments = BASELINES[f"attention_{name}"].make(Machine("cpu", dry=False), dims("B=1 T=4 C=8 NH=2"))
        function(*arguments)
        assert allowed.pop() == [getattr(torch.nn.attention.SDPBackend, way)]


@pytest.mark.parametrize("op", BASELINES)
def test_every_op_runs_at_a_tiny_shape(bench, op):
    shape = shape_of(op)
    result = bench.run(BenchItem(op, shape, "fp32", "eager"))
    assert result["shape"] == tiny(shape)
    assert result["cache"] == "none: a rehearsal on the CPU"
    assert 0 < result["p10_ms"] <= result["median_ms"] <= result["p90_ms"]
    assert result["samples"] == 3


@pytest.mark.parametrize("op", ["matmul", "attention", "forward"])
def test_bf16_runs_and_leaves_the_default_precision_as_it_was(bench, op):
    result = bench_gpu.answer("x", bench, {"x": BenchItem(op, shape_of(op), "bf16", "eager")}, {})
    assert result["precision"] == "bf16"
    assert torch.get_default_dtype() == torch.float32
    assert torch.get_float32_matmul_precision() == "highest"


def test_tf32_is_on_only_where_it_is_asked_for():
    for precision, expected in (("tf32", "high"), ("fp32", "highest"), ("bf16", "highest")):
        bench_gpu.set_precision(precision)
        assert torch.get_float32_matmul_precision() == expected
    bench_gpu.set_precision("fp32")


def test_where_the_environment_decides_over_tf32_nothing_is_timed():
    command = [sys.executable, "-m", "reference.gpu.bench", "--dry"]
    environment = os.environ | {"NVIDIA_TF32_OVERRIDE": "0"}
    done = subprocess.run(
        command, cwd=ROOT, env=environment, input="list\n", capture_output=True, text=True, timeout=300, check=False
    )
    assert (done.returncode, done.stdout) == (1, "")
    said = "NVIDIA_TF32_OVERRIDE=0 is set, which decides over TF32 in every item: unset it"
    assert done.stderr == f"bench-gpu: {said}\n"


def test_an_answer_names_the_lessons_op_that_does_the_same(bench):
    names = {"layernorm": "layernorm", "attention_math": "attention", "softmax_crossentropy": None, "predict": None}
    for name, op in names.items():
        assert bench.run(BenchItem(name, shape_of(name), "fp32", "eager")).get("of") == op


def test_a_compiled_op_is_compared_with_the_eager_one(bench):
    result = bench.run(BenchItem("layernorm", shape_of("layernorm"), "fp32", "compile"))
    assert result["differs_from_eager"] == 0
    assert result["compile_seconds"] > 0


def test_the_ops_compute_what_the_model_computes(bench):
    d = dims(tiny(shape_of("attention")))
    qkv = torch.randn(d["B"], d["T"], 3 * d["C"], generator=torch.Generator().manual_seed(1))
    expected, _, _, _ = model_attention(qkv, d["NH"])
    above = bench.machine.above_diagonal(d["T"])
    back_ends = torch.nn.attention.SDPBackend
    named = (back_ends.FLASH_ATTENTION, back_ends.EFFICIENT_ATTENTION, back_ends.MATH)
    ways = [attention.sdpa_by(way, bench.machine)(qkv, d["NH"]) for way in named]
    for actual in (attention.sdpa(qkv, d["NH"]), attention.materialised(qkv, above, d["NH"]), *ways):
        torch.testing.assert_close(actual, expected)


def test_an_ops_error_is_its_answer_and_the_next_is_timed(bench, monkeypatch):
    def fail(*_):
        raise RuntimeError("\nno kernel image is available\nmore")

    monkeypatch.setitem(BASELINES, "gelu", Baseline(fail))
    items = {name: BenchItem(name, shape_of(name), "fp32", "eager") for name in ("gelu", "residual")}
    answer = bench_gpu.answer("gelu", bench, items, {})
    assert answer == {"error": "RuntimeError: no kernel image is available", "lost": False}
    assert "median_ms" in bench_gpu.answer("residual", bench, items, {})


def test_an_error_of_ours_is_its_own_sentence():
    assert bench_gpu.reason(ToolError("build/tools/x is not there")) == "build/tools/x is not there"
    assert bench_gpu.reason(ValueError("a\nb")) == "ValueError: a"


def test_what_is_compiled_can_be_compiled_ahead():
    def compile_item(name):
        if name == "b":
            raise RuntimeError("no compiler")

    answers = io.StringIO()
    assert bench_gpu.warm(["a", "b", "c"], compile_item, answers) == 0
    lines = [json.loads(line) for line in answers.getvalue().splitlines()]
    assert [line.get("warmed") for line in lines] == ["a", None, "c"]
    assert lines[0]["seconds"] >= 0
    assert lines[1] == {"not_warmed": "b", "error": "RuntimeError: no compiler"}


def test_every_compiled_baseline_is_warmed(bench, monkeypatch):
    warmed = []
    monkeypatch.setattr(bench_gpu, "answers_only", io.StringIO)
    monkeypatch.setattr(Bench, "warm", lambda self, item: warmed.append(item))
    assert bench_gpu.main(["--dry", "--warm"]) == 0
    assert warmed == [item for item in all_items(ROOT)[0] if item.mode == "compile"]
    compiled = []
    monkeypatch.undo()
    monkeypatch.setattr(bench_gpu, "compiled", lambda function, m: lambda *arguments: compiled.append(arguments))
    bench.warm(BenchItem("gelu", shape_of("gelu"), "fp32", "compile"))
    assert [x.shape for x in compiled[0]] == [(96,)]


def test_requests_are_answered_in_order_a_line_each():
    done = serve("list\nresidual N=50331648 fp32 eager\nnonsense\n")
    assert done.returncode == 0, done.stderr
    listed, timed, unknown = (json.loads(line) for line in done.stdout.splitlines())
    assert "residual N=50331648 fp32 eager" in listed["items"]
    assert listed["versions"] == {"torch": torch.__version__}
    assert timed["shape"] == "N=96"
    assert unknown == {"error": "'nonsense' is no item; `list` names them"}


@pytest.mark.skipif(torch.cuda.is_available(), reason="there is a GPU")
def test_without_a_gpu_it_says_so_in_one_line():
    command = [sys.executable, "-m", "reference.gpu.bench"]
    done = subprocess.run(command, cwd=ROOT, input="list\n", capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 1
    assert done.stdout == ""
    assert done.stderr == f"bench-gpu: PyTorch {torch.__version__} reaches no GPU; --dry needs none\n"


def test_nothing_but_pytorch_is_needed():
    program = "import sys; sys.path.insert(0, sys.argv[1]); sys.modules['safetensors'] = None; "
    program += "sys.argv = ['bench', '--dry']; import reference.gpu.bench as b; b.main()"
    done = subprocess.run(
        [sys.executable, "-c", program, str(ROOT)],
        cwd=ROOT,
        input="list\n",
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["items"]


def test_a_python_without_pytorch_is_named(tmp_path):
    program = "import sys; sys.modules['torch'] = None; sys.path.insert(0, sys.argv[1]); import reference.gpu.bench"
    done = subprocess.run([sys.executable, "-c", program, str(ROOT)], capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert done.stderr == f"{sys.executable} has no PyTorch; PYTHON=… names a Python that has it\n"


def test_an_answer_names_the_call_that_costs_as_much(bench):
    assert bench.run(BenchItem("gelu", shape_of("gelu"), "fp32", "eager"))["call"] == "gelu N=96"
    assert bench_gpu.costed("residual", "N=8", "fp32") == {"call": "residual N=8", "rate": "gb_per_s", "peak": "fp32"}
    matmul = bench_gpu.costed("matmul", "N=8 C=2 OC=3", "bf16")
    assert matmul == {"call": "matmul N=8 C=2 OC=3", "rate": "tflop_per_s", "peak": "bf16"}
    materialised = bench_gpu.costed("attention_materialised", "B=1 T=1 C=4 NH=1", "fp32")
    assert materialised == {"call": "attention B=1 T=1 C=4 NH=1", "rate": "tflop_per_s", "peak": "fp32"}
    assert bench_gpu.costed("softmax_crossentropy", "N=5 V=3 Vp=4", "fp32") == {}


@pytest.mark.parametrize(
    ("op", "precision", "peak"),
    [
        ("attention", "fp32", "3xtf32"),
        ("attention_efficient", "fp32", "3xtf32"),
        ("attention_efficient", "tf32", "3xtf32"),
        ("attention", "bf16", "bf16"),
    ],
)
def test_sdpa_makes_a_product_of_fp32_of_three_of_tf32(op, precision, peak):
    assert bench_gpu.costed(op, "B=1 T=1 C=4 NH=1", precision)["peak"] == peak


# ---- samples ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("n", "low", "high"), [(1, 1, 1), (5, 1, 5), (6, 1, 6), (11, 2, 10), (20, 6, 15), (50, 18, 33), (100, 40, 61)]
)
def test_the_interval_of_a_median_has_the_tabulated_ranks(n, low, high):
    assert median_interval([float(i) for i in range(n, 0, -1)]) == (low, high)


def test_the_interval_of_many_samples_is_the_normal_approximations():
    low, high = median_interval(range(1, 10001))
    assert low == pytest.approx(5000 - 98, abs=2)
    assert high == pytest.approx(5000 + 98, abs=2)


def test_quantiles_are_interpolated_as_the_checker_does():
    summary = timing.summarise([4e-3, 1e-3, 3e-3, 2e-3])
    assert summary.pop("interval_ms") == pytest.approx([1, 4])
    assert summary == pytest.approx({"median_ms": 2.5, "p10_ms": 1.3, "p90_ms": 3.7, "samples": 4})


def test_samples_are_enough_once_their_interval_is_narrow_or_the_time_is_over():
    steady, wide = [1.0] * 6, [1.0, 1.1] * 3
    assert not timing.is_enough(steady[:5], 9.0)
    assert timing.is_enough(steady, 0.0)
    assert not timing.is_enough(wide, 1.4)
    assert timing.is_enough(wide, 1.5)
    assert timing.is_narrow([0.991, 1.0, 1.0, 1.0, 1.0, 1.009])
    assert not timing.is_narrow([1.0, 1.0, 1.0, 1.0, 1.0, 1.02])


@pytest.mark.parametrize(("seconds", "count"), [(0.0, 10), (1e-3, 10), (0.03, 3), (0.1, 1), (2.0, 1)])
def test_long_calls_are_timed_one_by_one(seconds, count):
    assert timing.batch_of(seconds) == count


class FakeGpu:
    """A device that works through what is queued while the host's clock goes on; its clock and the host's are one."""

    def __init__(self, *, call_s: float, launch_s: float = 0.0, unit_s: float = 50e-6, flush_s: float = 150e-6):
        self.host = self.free = 0.0  # now; when the device has done all that is queued
        self.log: list[str] = []
        self.launch_s = launch_s
        self.call_s, self.unit_s, self.flush_s = call_s, unit_s, flush_s

    def queue(self, name: str, seconds: float) -> None:
        self.host += self.launch_s
        self.free = max(self.free, self.host) + seconds
        self.log.append(name)

    def call(self) -> None:
        self.queue("op", self.call_s)

    def read(self) -> None:
        self.queue("flush", self.flush_s)

    def delay(self, units: int) -> None:
        self.queue(f"delay {units}", units * self.unit_s)

    def now(self) -> float:
        return self.host

    def event(self, enable_timing: bool = True) -> "FakeEvent":
        assert enable_timing
        return FakeEvent(self)

    def cold_queue(self) -> ColdQueue:
        return ColdQueue(self.delay, self.read, self.event)


class FakeEvent:
    def __init__(self, gpu: FakeGpu):
        self.gpu, self.time = gpu, None

    def record(self) -> None:
        self.time = max(self.gpu.free, self.gpu.host)

    def query(self) -> bool:
        return self.time <= self.gpu.host

    def synchronize(self) -> None:
        self.gpu.host = max(self.gpu.host, self.time)

    def elapsed_time(self, end: "FakeEvent") -> float:
        return (end.time - self.time) * 1e3


def test_a_cold_sample_is_the_op_alone_after_a_flush():
    gpu = FakeGpu(call_s=0.04)
    samples = time_cold(gpu.cold_queue(), gpu.call, gpu.now)
    assert samples == pytest.approx([0.04] * timing.FEWEST_SAMPLES)
    assert gpu.log == ["delay 1", "flush", "op"] * (timing.WARMUP + timing.FEWEST_SAMPLES)


def test_short_calls_are_queued_behind_one_delay():
    gpu = FakeGpu(call_s=5e-6)
    samples = time_cold(gpu.cold_queue(), gpu.call, gpu.now)
    assert samples == pytest.approx([5e-6] * timing.QUEUED)
    assert gpu.log[3 * timing.WARMUP :] == ["delay 1"] + ["flush", "op"] * timing.QUEUED


def test_a_call_that_is_warm_after_half_a_second_is_warm():
    gpu = FakeGpu(call_s=0.6)
    assert len(time_cold(gpu.cold_queue(), gpu.call, gpu.now)) == timing.FEWEST_SAMPLES
    assert gpu.log.count("op") == 1 + timing.FEWEST_SAMPLES


def test_the_delay_doubles_until_the_host_is_ahead():
    gpu = FakeGpu(call_s=5e-6, launch_s=100e-6, flush_s=10e-6)  # the host queues a sample in 200 us
    queue = gpu.cold_queue()
    kept = [len(queue.take(gpu.call, 4)) for _ in range(8)]
    assert kept == [0, 0, 1, 2, 4, 4, 4, 4]
    assert [word for word in gpu.log if "delay" in word][:6] == [f"delay {1 << n}" for n in (0, 1, 2, 3, 4, 4)]
    assert queue.take(gpu.call, 4) == pytest.approx([5e-6] * 4)
    assert (queue.doublings, queue.late) == (4, 0)


def test_what_no_delay_is_long_enough_for_is_taken_as_it_is():
    gpu = FakeGpu(call_s=5e-6, launch_s=1.0)
    queue = gpu.cold_queue()
    samples = time_cold(queue, gpu.call, gpu.now)
    assert queue.doublings == ColdQueue.MOST_DOUBLINGS
    assert len(samples) == queue.late >= timing.FEWEST_SAMPLES
    assert samples == pytest.approx([1.0] * len(samples), rel=1e-3)  # a launch is in it


@pytest.mark.parametrize("has_sleep", [True, False])
def test_the_delay_is_a_kernel_or_where_there_is_none_reads_of_the_flush(monkeypatch, has_sleep):
    gpu, slept = FakeGpu(call_s=1.0), []
    monkeypatch.setattr(torch.cuda, "Event", gpu.event)
    monkeypatch.setattr(torch.cuda, "_sleep", slept.append if has_sleep else None, raising=False)
    queue = bench_gpu.cold_queue(gpu)
    queue.doublings = 2
    queue.take(gpu.call, 1)
    assert slept == ([4 * bench_gpu.DELAY_CYCLES] if has_sleep else [])
    assert gpu.log == ["flush"] * (1 if has_sleep else 5) + ["op"]


def test_hot_samples_follow_one_another(monkeypatch):
    gpu = FakeGpu(call_s=0.03)
    monkeypatch.setattr(torch.cuda, "Event", gpu.event)
    samples = time_hot(partial(bench_gpu.one_after_another, gpu.call))
    assert samples == pytest.approx([0.03] * 6)
    assert gpu.log == ["op"] * (2 + 3 + 6)


def test_hot_samples_of_long_calls_are_as_few_as_an_interval_needs():
    took = iter([5.0, 1.0, 1.0, 1.2, 1.0, 1.2, 1.0, 1.2])
    assert len(time_hot(lambda count: [next(took) for _ in range(count)])) == timing.FEWEST_SAMPLES


@pytest.mark.parametrize("l2", [4 << 20, 60 << 20, 300 << 20])
def test_the_flush_is_twice_the_cache_and_leaves_memory_to_others(monkeypatch, l2):
    asked = []
    monkeypatch.setattr(torch.cuda, "get_device_properties", lambda _: type("P", (), {"L2_cache_size": l2}))
    monkeypatch.setattr(torch, "ones", lambda count, **_: asked.append(count) or torch.zeros(1))
    for free, expected in ((140 << 30, max(512 << 20, 4 * l2)), (1 << 30, max(128 << 20, 2 * l2))):
        monkeypatch.setattr(torch.cuda, "mem_get_info", lambda free=free: (free, 2 * free))
        flush = bench_gpu.Flush()
        flush.read()
        assert (flush.bytes, asked.pop()) == (expected, expected // 4)
        assert flush.bytes >= 2 * l2


def test_a_bad_option_is_one_clear_line(capsys):
    with pytest.raises(SystemExit) as stopped:
        bench_gpu.main(["--wet"])
    assert stopped.value.code == 2
    assert capsys.readouterr().err == "bench-gpu: unrecognized arguments: --wet\n"
