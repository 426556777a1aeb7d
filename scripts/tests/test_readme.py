# SPDX-License-Identifier: MIT
"""What the README shows is what a reader gets: its program's finding, the model's text, its pictures and links."""

import json
import re
import shlex
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")
SIMTCC, GPT2 = ROOT / "build/simtcc", ROOT / "build/gpt2-host"


def blocks(name: str) -> list[str]:
    """The fenced blocks between the markers of this name."""
    part = README.partition(f"<!-- {name} -->\n")[2].partition(f"<!-- end {name} -->")[0]
    return re.findall(r"^```\w*\n(.*?)^```$", part, re.MULTILINE | re.DOTALL)


@pytest.mark.skipif(not SIMTCC.exists(), reason="no build/simtcc; make simt builds it")
def test_the_cpu_device_says_of_the_program_what_the_readme_shows(tmp_path):
    program, shown = blocks("idea.cu")
    (tmp_path / "idea.cu").write_text(program)
    subprocess.run([SIMTCC, "idea.cu", "-o", "idea"], cwd=tmp_path, check=True)
    done = subprocess.run(["./idea"], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode != 0
    assert f"$ make run FILE=idea.cu\n{done.stderr}" == shown


@pytest.mark.skipif(not GPT2.exists(), reason="no build/gpt2-host; make test builds it")
def test_the_model_writes_what_the_readme_shows():
    (shown,) = blocks("sample")
    command, text = shown.removeprefix("$ build/gpt2 ").split("\n", 1)
    done = subprocess.run([GPT2, *shlex.split(command)], capture_output=True, text=True, check=True)
    assert done.stdout == text


def test_the_readme_says_the_losses_of_the_training():
    losses = json.loads((ROOT / "reference/model/small/training.json").read_text())["held_out_loss"]
    said = f"{losses['prose']:.2f} nats per byte for the prose and {losses['course']:.2f} for the course's"
    assert said in README


@pytest.mark.parametrize("page", ["README.md", "COMMANDS.md", "CHANGELOG.md", "CONTRIBUTING.md"])
def test_each_link_of_a_page_in_the_root_leads_to_a_file(page):
    links = re.findall(r"\]\(([^)#]+)", (ROOT / page).read_text(encoding="utf-8"))
    assert [link for link in links if "://" not in link and not (ROOT / link).exists()] == []


def test_the_table_has_every_lesson_and_says_how_many_are_ready():
    lessons = sorted(path.name for path in ROOT.glob("lessons/[0-9][0-9]_*"))
    assert re.findall(r"^\| \d\d \| \[\w+\]\(lessons/(\w+)/README\.md\)", README, re.MULTILINE) == lessons
    assert f"{len(lessons)} lessons are ready." in README
