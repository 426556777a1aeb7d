# SPDX-License-Identifier: MIT
"""make time-aa: what it says of intervals that a check gives, and that a real check gives them."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
TIME_AA = ROOT / "scripts/time_aa.py"
FAIR, UNFAIR = [0.95, 1.01], [0.85, 0.94]


def fake_check(folder: Path, intervals: list[list[float]]) -> Path:
    """A check program whose runs give these intervals, one after another."""
    for i, interval in enumerate(intervals):
        share = {"share": sum(interval) / 2, "interval": interval}
        shapes = [
            {"shape": "N=8", "judged": True, "of_speed_of": {"solution": share, "copy": {}}},
            {"shape": "N=9", "judged": False, "of_speed_of": {"solution": {"share": 0.1, "interval": [0.1, 0.1]}}},
        ]
        op = {"op": "twice", "timing": {"shapes": shapes}}
        (folder / f"{i + 1}.json").write_text(json.dumps({"ops": [op]}))
    program = folder / "check"
    program.write_text(
        "#!/bin/sh\n"
        f'cd {folder} && echo "$@" >> runs && cp $(wc -l < runs).json "${{5}}" && '
        '[ "$1 $2 $3 $4" = "--subject solutions --timing-only --json" ]\n'
    )
    program.chmod(0o755)
    return program


def run(repetitions: int, *checks: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, str(TIME_AA), str(repetitions), *checks]
    environment = {**os.environ, "VERBOSE": "1"}
    return subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)


@pytest.mark.parametrize(("holding", "word", "status"), [(20, "ok", 0), (18, "ok", 0), (17, "UNFAIR", 1)])
def test_the_clock_is_fair_where_18_of_20_intervals_hold_100_percent(
    tmp_path: Path, holding: int, word: str, status: int
) -> None:
    finished = run(20, str(fake_check(tmp_path, [FAIR] * holding + [UNFAIR] * (20 - holding))))
    lines = finished.stdout.splitlines()
    assert lines[1].split()[:2] == ["twice", "N=8"]
    assert lines[1].endswith(f"{holding} of 20  {word}")
    assert finished.returncode == status, finished.stdout + finished.stderr
    assert sum("[" in line for line in lines[2:]) == 20  # VERBOSE=1: each share
    assert not any("N=9" in line for line in lines)  # only reported by the check


def test_a_check_without_a_verdict_is_shown_and_nothing_is_called_fair(tmp_path: Path) -> None:
    program = tmp_path / "check"
    program.write_text("#!/bin/sh\necho no cases here\nexit 2\n")
    program.chmod(0o755)
    finished = run(2, str(program))
    assert finished.returncode == 1
    assert "no cases here" in finished.stderr


def test_a_lessons_solution_is_timed_against_itself_as_often_as_asked() -> None:
    check = ROOT / "build/check/lesson01"
    if not check.exists() or not (ROOT / "build/impl/solutions/01_layers/residual.so").exists():
        pytest.skip("the check of lesson 01 and its solutions are not built: make test builds them")
    finished = run(2, f"{check} --only residual")
    lines = finished.stdout.splitlines()
    assert lines[1].split()[:2] == ["residual", "N=3145728"]
    assert " of 2 " in lines[1], finished.stdout + finished.stderr
    assert sum("[" in line for line in lines[2:]) == 2
