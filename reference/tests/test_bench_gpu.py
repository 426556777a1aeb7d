# SPDX-License-Identifier: MIT
"""bench_gpu.py as a rehearsal on the CPU: every op runs, and what fails is said in its place."""

import contextlib
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
import torch

from reference.gpu import bench as bench_gpu
from reference.gpu.bench import BASELINES, Bench, BenchItem, all_items
from reference.gpu.lesson_shapes import device_lessons, dims, tiny
from reference.model.gpt2 import attention as model_attention
from reference.ops import attention
from reference.ops.common.op import Baseline, Machine

ROOT = Path(__file__).parents[2]
SHAPES = {
    "encoder": "B=64 T=1024 C=768",
    "layernorm": "B=4 T=1024 C=768",
    "gelu": "N=4096",
    "residual": "N=4096",
    "residual_layernorm": "B=4 T=1024 C=768",
    "matmul": "N=4096 C=768 OC=3072",
    "linear": "N=4096 C=768 OC=2304",
    "linear_gelu": "N=4096 C=768 OC=3072 outputs=1",
    "softmax": "N=1024 V=50257 Vp=50304",
    "causal_softmax": "B=4 NH=12 T=1024",
    "attention": "B=4 T=1024 C=768 NH=12",
    "attention_materialised": "B=4 T=1024 C=768 NH=12",
    "attention_flash": "B=4 T=1024 C=768 NH=12",
    "attention_efficient": "B=4 T=1024 C=768 NH=12",
    "attention_math": "B=4 T=1024 C=768 NH=12",
    "crossentropy": "N=1024 Vp=50304",
    "softmax_crossentropy": "N=1024 V=50257 Vp=50304",
    "forward": bench_gpu.WHOLE,
    "predict": bench_gpu.WHOLE,
}


@pytest.fixture
def bench():
    yield Bench(dry=True)
    bench_gpu.set_precision("fp32")


def serve(requests: str) -> subprocess.CompletedProcess:
    command = [sys.executable, "-m", "reference.gpu.bench", "--dry"]
    return subprocess.run(command, cwd=ROOT, input=requests, capture_output=True, text=True, timeout=300, check=False)


def test_every_timed_shape_of_every_device_lesson_has_a_baseline():
    known, without = all_items(ROOT)
    assert all(name.startswith("attention_flash") for name in without)
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
    assert all_items(tmp_path)[1] == {"swiglu N=3": "no baseline is written for it"}


def test_attention_is_timed_by_each_way_of_pytorch_that_takes_the_precision_and_the_others_are_named():
    known, without = all_items(ROOT)
    ways = {
        name: {(item.precision, item.mode) for item in known if item.op == name}
        for name in ("attention_flash", "attention_efficient", "attention_math")
    }
    assert ways == {
        "attention_flash": {("bf16", "eager")},
        "attention_efficient": {("fp32", "eager"), ("bf16", "eager")},
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
    result = bench.run(BenchItem(op, SHAPES[op], "fp32", "eager"))
    assert result["shape"] == tiny(SHAPES[op])
    assert result["cache"] == "none: a rehearsal on the CPU"
    assert 0 < result["p10_ms"] <= result["median_ms"] <= result["p90_ms"]
    assert result["samples"] == 3


@pytest.mark.parametrize("op", ["matmul", "attention", "forward"])
def test_bf16_runs_and_leaves_the_default_precision_as_it_was(bench, op):
    result = bench_gpu.answer("x", bench, {"x": BenchItem(op, SHAPES[op], "bf16", "eager")}, {})
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
        assert bench.run(BenchItem(name, SHAPES[name], "fp32", "eager")).get("of") == op


def test_a_compiled_op_is_compared_with_the_eager_one(bench):
    result = bench.run(BenchItem("layernorm", SHAPES["layernorm"], "fp32", "compile"))
    assert result["differs_from_eager"] == 0
    assert result["compile_seconds"] > 0


def test_the_ops_compute_what_the_model_computes(bench):
    d = dims(tiny(SHAPES["attention"]))
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
    items = {name: BenchItem(name, SHAPES[name], "fp32", "eager") for name in ("gelu", "residual")}
    answer = bench_gpu.answer("gelu", bench, items, {})
    assert answer == {"error": "RuntimeError: no kernel image is available", "lost": False}
    assert "median_ms" in bench_gpu.answer("residual", bench, items, {})


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


def test_quantiles_are_interpolated_as_the_checker_does():
    summary = bench_gpu.summarise([4e-3, 1e-3, 3e-3, 2e-3])
    assert summary == pytest.approx({"median_ms": 2.5, "p10_ms": 1.3, "p90_ms": 3.7, "samples": 4})


def test_an_answer_names_the_call_that_costs_as_much(bench):
    assert bench.run(BenchItem("gelu", SHAPES["gelu"], "fp32", "eager"))["call"] == "gelu N=96"
    assert bench_gpu.costed("residual", "N=8", "fp32") == {"call": "residual N=8", "rate": "gb_per_s"}
    assert bench_gpu.costed("matmul", "N=8 C=2 OC=3", "bf16") == {"call": "matmul N=8 C=2 OC=3", "rate": "tflop_per_s"}
    materialised = bench_gpu.costed("attention_materialised", "B=1 T=1 C=4 NH=1", "fp32")
    assert materialised == {"call": "attention B=1 T=1 C=4 NH=1", "rate": "tflop_per_s"}
    assert bench_gpu.costed("softmax_crossentropy", "N=5 V=3 Vp=4", "fp32") == {}


def test_samples_are_enough_after_fifty_and_a_second():
    assert not bench_gpu.enough([1.0] * 49)
    assert bench_gpu.enough([1.0] * 50)
    assert not bench_gpu.enough([0.001] * 199)
    assert bench_gpu.enough([0.001] * 200)


class FakeGpu:
    """Events that read a clock which the work under test moves on."""

    def __init__(self, monkeypatch, milliseconds: float):
        self.now, self.log, self.milliseconds = 0.0, [], milliseconds
        monkeypatch.setattr(torch.cuda, "Event", lambda enable_timing: FakeEvent(self))

    def call(self) -> None:
        self.log.append("op")
        self.now += self.milliseconds

    def read(self) -> None:
        self.log.append("flush")
        self.now += 100


class FakeEvent:
    def __init__(self, gpu: FakeGpu):
        self.gpu, self.time = gpu, None

    def record(self) -> None:
        self.time = self.gpu.now

    def synchronize(self) -> None:
        assert self.time is not None

    def elapsed_time(self, end: "FakeEvent") -> float:
        return end.time - self.time


def test_a_cold_sample_is_the_op_alone_after_a_flush(monkeypatch):
    gpu = FakeGpu(monkeypatch, 40.0)
    samples = bench_gpu.time_cold(gpu.call, gpu)
    assert samples == pytest.approx([0.04] * bench_gpu.MIN_SAMPLES)
    assert gpu.log == ["flush", "op"] * (bench_gpu.WARMUP + bench_gpu.MIN_SAMPLES)


def test_hot_samples_follow_one_another(monkeypatch):
    gpu = FakeGpu(monkeypatch, 2.0)
    samples = bench_gpu.time_hot(gpu.call)
    assert samples == pytest.approx([0.002] * bench_gpu.MAX_SAMPLES)
    assert len(gpu.log) == bench_gpu.WARMUP + bench_gpu.MAX_SAMPLES


def test_the_flush_is_larger_than_the_cache_and_leaves_memory_to_others(monkeypatch):
    asked = []
    monkeypatch.setattr(torch.cuda, "get_device_properties", lambda _: type("P", (), {"L2_cache_size": 60 << 20}))
    monkeypatch.setattr(torch, "ones", lambda count, **_: asked.append(count) or torch.zeros(1))
    for free, expected in ((140 << 30, 512 << 20), (1 << 30, 128 << 20)):
        monkeypatch.setattr(torch.cuda, "mem_get_info", lambda free=free: (free, 2 * free))
        flush = bench_gpu.Flush()
        flush.read()
        assert (flush.bytes, asked.pop()) == (expected, expected // 4)


def test_a_bad_option_is_one_clear_line(capsys):
    with pytest.raises(SystemExit) as stopped:
        bench_gpu.main(["--wet"])
    assert stopped.value.code == 2
    assert capsys.readouterr().err == "bench-gpu: unrecognized arguments: --wet\n"
