# SPDX-License-Identifier: MIT
"""bench_cpu.py from end to end on a tiny shape, and with steps that are wrong, stop or hang."""

import json
import math
import os
import resource
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from reference.gpu.pages import put
from reference.plots import bench_cpu

ROOT = Path(__file__).parents[2]
PROGRAMS = {path.name[-2:]: path for path in sorted(ROOT.glob("build/gpt2-bench-[0-9][0-9]"))}
BENCH = [sys.executable, "-m", "reference.plots.bench_cpu", "--config", "tiny", "--rounds", "1", "-B", "2", "-T", "5"]


def fake(folder: Path, body: str) -> str:
    """A step that is a shell script, in a folder of its own: $2 is the model, $4 the tokens."""
    program = folder / "programs" / "fake"
    program.parent.mkdir()
    program.write_text(f"#!/bin/sh\n{body}\n")
    program.chmod(0o755)
    return f"09={program}"


def run(folder: Path, *programs: str, before=None) -> subprocess.CompletedProcess:
    scratch = folder / "scratch"
    scratch.mkdir()
    done = subprocess.run(
        [*BENCH, *programs],
        cwd=ROOT,
        env=os.environ | {"TMPDIR": str(scratch)},
        capture_output=True,
        text=True,
        timeout=120,
        preexec_fn=before,
        check=False,
    )
    assert list(scratch.iterdir()) == []
    return done


@pytest.mark.skipif(not PROGRAMS, reason="no build/gpt2-bench-NN; make bench-cpu builds them")
def test_every_step_is_compared_and_timed(tmp_path):
    done = run(tmp_path, *(f"{name}={path}" for name, path in PROGRAMS.items()))
    assert done.returncode == 0, done.stderr
    assert "logits agree: " in done.stdout
    assert "GPT-2 tiny, random weights, B=2 T=5" in done.stdout
    pytorch, *steps = done.stdout.splitlines()[-1 - len(PROGRAMS) :]
    assert pytorch.split()[0] == "PyTorch"
    assert [row.split()[:2] for row in steps] == [["step", name] for name in PROGRAMS]
    numbers = [float(x.replace(",", "")) for x in pytorch.split()[1:]]
    assert len(numbers) == 3
    for row in steps:
        row_numbers = [float(x.replace(",", "")) for x in row.split()[2:]]
        assert len(row_numbers) == 6
        numbers += row_numbers
    assert all(math.isfinite(x) and x > 0 for x in numbers)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--config=huge", "02=/bin/true"], "'huge'"),
        (["02=build/no-such-program"], "build/no-such-program is missing; `make bench-cpu` builds it"),
        (["/bin/true"], "/bin/true: not of the form STEP=PROGRAM"),
        (["--rounds=0", "02=/bin/true"], "rounds: 0; at least 1"),
        (["--rounds=many", "02=/bin/true"], "'many'"),
        (["-B", "0", "02=/bin/true"], "B: 0; at least 1"),
        (["--write", "--config=tiny", "02=/bin/true"], "WRITE=1 goes with the shape of 124M: leave CONFIG out"),
        (["-T", "65", "--config=tiny", "02=/bin/true"], "T: 65; the context of tiny is 1 to 64 tokens"),
        ([], "STEP=PROGRAM"),
    ],
)
def test_bad_input_is_one_clear_line(arguments, message, capsys):
    with pytest.raises(SystemExit) as stopped:
        bench_cpu.parse(arguments)
    assert stopped.value.code == 2
    error = capsys.readouterr().err
    assert error.startswith("bench-cpu: ")
    assert message in error
    assert len(error.splitlines()) == 1


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ("exit 3", "step 09 stopped with exit status 3"),
        ("echo fast", "step 09 answered 'fast', not a time"),
        (
            "while read word file; do [ $word = run ] || head -c 12000 /dev/zero >$file; echo 1; done",
            "step 09 is wrong",
        ),
        (
            "while read word file; do [ $word = run ] || head -c 80 /dev/zero >$file; echo 1; done",
            "step 09 wrote 20 logits",
        ),
    ],
    ids=["stops", "chatters", "wrong", "short"],
)
def test_a_step_that_fails_is_named(tmp_path, monkeypatch, capfd, body, message):
    step, scratch = fake(tmp_path, body), tmp_path / "scratch"
    scratch.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(scratch))
    assert bench_cpu.main([*BENCH[3:], step]) == 1
    assert list(scratch.iterdir()) == []
    out, error = capfd.readouterr()
    assert out == ""
    assert error.splitlines()[-1].startswith(f"bench-cpu: {message}")


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupt_leaves_neither_weights_nor_programs(tmp_path, number):
    pid_file, scratch = tmp_path / "pid", tmp_path / "scratch"
    scratch.mkdir()
    os.mkfifo(pid_file)
    step = fake(tmp_path, f"read word; echo $$ >{pid_file}; exec sleep 100")  # asked for a pass, it does not answer
    environment = os.environ | {"TMPDIR": str(scratch)}
    with subprocess.Popen(
        [*BENCH, step],
        cwd=ROOT,
        env=environment,
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=lambda: signal.signal(number, signal.SIG_DFL),  # a shell's background job ignores interrupts
    ) as process:
        pid = int(pid_file.read_text())  # waits for the step to start
        assert [path.name for path in scratch.glob("*/*.safetensors")] == ["model.safetensors"]
        process.send_signal(number)
        _, error = process.communicate(timeout=60)
    assert process.returncode == 130
    assert error.splitlines()[-1] == "bench-cpu: interrupted"
    assert list(scratch.iterdir()) == []
    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)


def test_a_full_disk_is_one_clear_line(tmp_path):
    limit = 100_000  # bytes a file: the weights do not fit
    step = fake(tmp_path, "exit 1")
    done = run(tmp_path, step, before=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit)))
    assert done.returncode == 1
    assert done.stderr.splitlines()[-1].startswith("bench-cpu: cannot write 0.494 MB to ")
    assert done.stderr.splitlines()[-1].endswith("; TMPDIR=DIR names another folder")


# ---- what is committed -----------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def committed():
    return json.loads((ROOT / bench_cpu.DATA).read_text())


@pytest.mark.parametrize("page", bench_cpu.PAGES, ids=str)
def test_a_page_says_what_was_measured(committed, page):
    text = (ROOT / page).read_text(encoding="utf-8")
    section = bench_cpu.section(committed, bench_cpu.titles(ROOT), page)
    assert put(text, bench_cpu.BLOCK, section, page) == text


def test_the_picture_is_drawn_of_what_was_measured(committed, tmp_path):
    (drawn,) = bench_cpu.write(bench_cpu.plot(committed, bench_cpu.titles(ROOT)), tmp_path, "drawn", ("svg",))
    assert drawn.read_text() == (ROOT / bench_cpu.PICTURE).read_text()


def test_a_ratio_is_the_median_of_those_in_the_same_round():
    seconds = {"PyTorch": [1.0, 2.0, 4.0], "step 03": [3.0, 2.0, 2.0]}
    assert bench_cpu.ratios({"seconds": seconds}) == {"PyTorch": 1.0, "step 03": 1.0}


def test_processor_time_of_a_process_leaves_out_what_it_sleeps():
    with subprocess.Popen(["sleep", "100"]) as process:
        try:
            assert bench_cpu.processor_seconds(process.pid) < 1
            assert bench_cpu.processor_seconds(os.getpid()) > bench_cpu.processor_seconds(process.pid)
        finally:
            process.kill()
