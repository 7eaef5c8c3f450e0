"""The commands of workflows, of the image and of the release work: nothing else executes them before a release does."""

import json
import os
import re
import shutil
import subprocess
import sys
import tomllib
from fnmatch import fnmatch
from pathlib import Path
from typing import Any

import pytest
import yaml
from tests.support.installed import installed
from tests.support.settings import ROOT

__all__ = ["installed"]  # a fixture

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())
WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))
TESTED = "The wheel works in an empty folder"
"""The step that tries the wheel without the engine and without extras."""

PAGES = "The wheel with its extra makes pages"

REVIEWED = "Compare with the base branch"
"""The step that reviews a pull request; test_review_workflows executes it."""


RECOMPUTED = "Compute two random cells of each new row again"
"""The step that checks losses of the board; test_board_ranks calls its command."""


def steps() -> list[tuple[str, dict[str, Any]]]:
    """Each step of a workflow that runs something, with the name of the file."""
    jobs = [(path.name, job) for path in WORKFLOWS for job in yaml.safe_load(path.read_text())["jobs"].values()]
    return [(name, step) for name, job in jobs for step in job["steps"] if "run" in step]


def lines() -> list[str]:
    """The lines of all steps, of the image and of its container, but for the steps that are executed as a whole."""
    listed = [step for _, step in steps() if step.get("name") not in (TESTED, PAGES, REVIEWED, RECOMPUTED)]
    step_lines = [line for step in listed for line in step["run"].splitlines()]
    image = re.sub(r"\\\n", " ", (ROOT / "Dockerfile").read_text())
    image_lines = re.findall(r"^RUN (.+)$", image, re.MULTILINE) + [
        " ".join(json.loads(arguments)) for arguments in re.findall(r"^CMD (\[.+\])$", image, re.MULTILINE)
    ]
    container = json.loads((ROOT / ".devcontainer" / "devcontainer.json").read_text())
    commands = [
        command
        for line in [*step_lines, *image_lines, container["postCreateCommand"]]
        for command in line.split(" && ")
    ]
    return list(dict.fromkeys(command.strip() for command in commands))


def arguments_are_right(line: str) -> bool:
    """Return whether what a command of ours names exists; commands of others are taken as they are."""
    if actual := re.search(r"(?:^|\s)\./reproduce\.sh\s*(\w*)", line):
        script = (ROOT / "reproduce.sh").read_text()
        return bool(re.search(rf"^\s+{actual[1] or 'all'}\) ", script, re.MULTILINE))
    if line == ".ci/run":
        return os.access(ROOT / line, os.X_OK)
    if actual := re.search(r"-m pytest(.*)$", line):
        return all((ROOT / path).exists() for path in actual[1].split() if "/" in path)
    if actual := re.search(r"'\.\[([\w,]+)\]'", line):
        return {*actual[1].split(",")} <= {*PROJECT["project"]["optional-dependencies"]}
    if actual := re.search(r"packages/[\w-]+", line):
        return (ROOT / actual[0] / "pyproject.toml").exists()
    if "mkdocs" in line:  # which tests/site builds
        return (ROOT / "mkdocs.yml").exists()
    tools = (
        r"sudo |npm |rm |apt-get |docker build |python -m (venv |pip install \w+==|cibuildwheel |build$|twine check )"
    )
    return re.match(tools, line) is not None


@pytest.mark.parametrize("line", lines())
def test_what_a_line_names_exists(line: str) -> None:
    assert arguments_are_right(line)


def assert_commands_work(commands: list[str], site: Path, folder: Path, pattern: str = "plots/*.pdf") -> None:
    """Execute commands in a folder, where the program and the package are those of a folder with an installed wheel."""
    program = folder / "bin" / "pomrl"
    program.parent.mkdir()
    program.write_text(f'#!/bin/sh\nexec "{sys.executable}" "{site}/bin/pomrl" "$@"\n')
    program.chmod(0o755)
    path = os.pathsep.join([str(program.parent), str(Path(sys.executable).parent), os.environ["PATH"]])
    environment = os.environ | {"POMRL_OUTPUTS": "outputs", "PYTHONPATH": str(site), "PATH": path}
    script = "set -eo pipefail\n" + "\n".join(commands)
    done = subprocess.run(["bash", "-c", script], cwd=folder, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    assert [*(folder / "outputs").glob(pattern)]


@pytest.mark.slow
@pytest.mark.parametrize(("name", "pattern"), [(TESTED, "plots/*.pdf"), (PAGES, "view/index.html")])
def test_the_wheel_without_engine_passes_release_tests(name, pattern, installed: Path, tmp_path: Path) -> None:
    """The fixture builds the source distribution and the wheel with the back-end of `python -m build`."""
    (step,) = (step for _, step in steps() if step.get("name") == name)
    install, change, *commands = step["run"].splitlines()
    (wheel,) = installed.parent.glob("*.whl")
    assert fnmatch(wheel.name, install.partition("dist/")[2].partition(")")[0])
    assert change == 'cd "$(mktemp -d)"'
    assert_commands_work(commands, installed, tmp_path, pattern)


@pytest.mark.slow
def test_the_wheel_with_engine_passes_release_tests(installed: Path, tmp_path: Path) -> None:
    """The engine is the one that was built for the tests."""
    site = tmp_path / "site"
    shutil.copytree(installed, site)
    for module in (ROOT / "src").rglob("*.so"):
        shutil.copy(module, site / module.relative_to(ROOT / "src"))
    assert_commands_work(PROJECT["tool"]["cibuildwheel"]["test-command"], site, tmp_path)
