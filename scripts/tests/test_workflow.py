# SPDX-License-Identifier: MIT
"""What GitHub reads of this repository: the workflow runs .ci/run, the issue form asks for what make doctor prints."""

from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).parents[2]
GITHUB = ROOT / ".github"
WORKFLOWS = sorted(GITHUB.glob("workflows/*.yml"))


def read(path: Path) -> dict:
    return yaml.safe_load(path.read_text(encoding="utf-8"))


def steps_of(workflow: dict) -> list[dict]:
    return [step for job in workflow["jobs"].values() for step in job["steps"]]


def test_a_workflow_runs_what_continuous_integration_runs_on_every_push_and_pull_request():
    workflow = read(GITHUB / "workflows/test.yml")
    assert {"push", "pull_request"} <= workflow[True].keys()  # YAML 1.1 reads the key `on` as true
    commands = [step["run"] for step in steps_of(workflow) if "run" in step]
    assert commands[0] == ".ci/run"
    assert (ROOT / ".ci/run").stat().st_mode & 0o100


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.name)
def test_each_job_of_a_workflow_has_a_runner_a_limit_of_time_and_steps(path):
    for job in read(path)["jobs"].values():
        assert job["runs-on"].startswith("ubuntu-")
        assert 0 < job["timeout-minutes"] <= 360
        assert all(("run" in step) != ("uses" in step) for step in job["steps"])


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.name)
def test_the_checkout_comes_before_any_command_and_may_only_read(path):
    workflow = read(path)
    assert workflow["permissions"] == {"contents": "read"}
    assert steps_of(workflow)[0]["uses"].startswith("actions/checkout@")


def test_the_issue_form_requires_what_make_doctor_prints():
    form = read(GITHUB / "ISSUE_TEMPLATE/bug.yml")
    fields = {field["id"]: field for field in form["body"]}
    assert "make doctor" in fields["doctor"]["attributes"]["label"]
    assert fields["doctor"]["validations"]["required"]
    assert form["name"]
    assert form["description"]
