# SPDX-License-Identifier: MIT
"""How make ends after a check that fails: on a terminal without a line of its own."""

import os
import pty
import re
import signal
import subprocess
from pathlib import Path

import pytest

LESSONS = Path(__file__).parents[2] / "make/lessons.mk"


@pytest.fixture
def folder(tmp_path):
    quietly = re.search(r"^quietly = .*$", LESSONS.read_text(), re.MULTILINE)[0]
    (tmp_path / "Makefile").write_text(
        f"SHELL := /bin/bash\n{quietly}\n.PHONY: check ok\n"
        "check:\n\t@(echo verdict; exit 1) $(quietly)\nok:\n\t@echo ok $(quietly)\n"
    )
    return tmp_path


def on_a_terminal(folder: Path, command: str) -> str:
    """The output of a command line of bash."""
    pid, terminal = pty.fork()
    if pid == 0:
        os.chdir(folder)
        signal.signal(signal.SIGPIPE, signal.SIG_DFL)  # Python ignores it
        for name in ("MAKELEVEL", "MAKEFLAGS", "MFLAGS"):
            os.environ.pop(name, None)
        os.execvp("bash", ["bash", "--norc", "-c", command])
    said = b""
    while True:
        try:
            part = os.read(terminal, 4096)
        except OSError:
            break
        if not part:
            break
        said += part
    os.waitpid(pid, 0)
    os.close(terminal)
    return said.decode().replace("\r", "")


def test_a_terminal_shows_the_verdict_alone(folder):
    assert on_a_terminal(folder, "make check; echo status $?") == "verdict\nstatus 141\n"
    assert on_a_terminal(folder, "make ok; echo status $?") == "ok\nstatus 0\n"


def test_one_of_several_goals_is_named(folder):
    said = on_a_terminal(folder, "make -k check ok; echo status $?")
    assert "make: *** [Makefile:5: check] Error 1" in said
    assert "ok\n" in said
    assert said.endswith("status 2\n")


def test_a_script_gets_line_and_status(folder):
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("MAKE", "MFLAGS"))}
    run = subprocess.run(["make", "check"], cwd=folder, env=environment, capture_output=True, text=True, check=False)
    assert (run.returncode, run.stdout) == (2, "verdict\n")
    assert "Error 1" in run.stderr
