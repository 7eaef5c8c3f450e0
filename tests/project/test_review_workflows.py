"""The workflow that reviews a pull request, here and in repositories of studies."""

import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml
from tests.support.settings import ROOT

WORKFLOWS = [ROOT / ".github" / "workflows" / "review.yml", ROOT / "src" / "pomrl" / "skeleton" / "review.yml"]
MAX_CHARACTERS = 60_000

pytestmark = pytest.mark.parametrize("workflow", WORKFLOWS, ids=lambda path: path.parent.name)


def steps(workflow: Path) -> list[dict[str, Any]]:
    return yaml.safe_load(workflow.read_text())["jobs"]["review"]["steps"]


def review(workflow: Path, folder: Path, script: str) -> tuple[int, str]:
    """Run the last step with a script in place of `pomrl`, as GitHub runs it; return its status and the summary."""
    program = folder / ".venv" / "bin" / "pomrl"
    program.parent.mkdir(parents=True)
    program.write_text(f"#!/bin/sh\n{script}\n")
    program.chmod(0o755)
    summary = folder / "summary"
    names = {"GITHUB_BASE_REF": "main", "GITHUB_STEP_SUMMARY": str(summary), "RUNNER_TEMP": str(folder)}
    environment = os.environ | names | {"PATH": f"{program.parent}{os.pathsep}{os.environ['PATH']}"}
    ended = subprocess.run(["bash", "-e", "-c", steps(workflow)[-1]["run"]], cwd=folder, env=environment)
    return ended.returncode, summary.read_text()


@pytest.mark.parametrize(("status", "is_passed"), [(0, True), (1, True), (2, False)])
def test_a_difference_passes_and_an_error_fails(workflow: Path, status: int, is_passed: bool, tmp_path: Path) -> None:
    returned, summary = review(workflow, tmp_path, f'echo "$2"; exit {status}')
    assert (returned == 0) == is_passed
    assert summary == "origin/main..\n"


def test_a_crash_with_status_1_fails(workflow: Path, tmp_path: Path) -> None:
    assert review(workflow, tmp_path, "exit 1")[0] != 0


def test_long_summaries_end_with_whole_lines(workflow: Path, tmp_path: Path) -> None:
    _, summary = review(workflow, tmp_path, "yes γ=0.99 | head -n 20000")
    assert len(summary) <= MAX_CHARACTERS
    assert {*summary.splitlines()} == {"γ=0.99"}


def test_code_of_a_branch_gets_no_rights(workflow: Path) -> None:
    content = yaml.safe_load(workflow.read_text())
    assert content[True] == "pull_request"  # YAML reads `on` as true
    assert content["permissions"] == {"contents": "read"}
    assert "permissions" not in content["jobs"]["review"]
    assert steps(workflow)[0]["with"] == {"fetch-depth": 0, "persist-credentials": False}
    assert not re.search(r"secrets\.|\$\{\{", workflow.read_text())


def test_the_options_of_the_command_exist(workflow: Path) -> None:
    command = re.search(r"pomrl (diff .*?) >", steps(workflow)[-1]["run"])
    assert command
    printed = subprocess.run([sys.executable, "-m", "pomrl", "diff", "--help"], capture_output=True, text=True).stdout
    assert {*re.findall(r"--[a-z-]+", command[1])} <= {*re.findall(r"--[a-z-]+", printed)}
