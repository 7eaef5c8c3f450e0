"""Without the extra `report`, the engine computes, judges and draws; the rest names the extra in one line."""

import os
import subprocess
import sys
import tomllib
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.support.settings import ROOT
from tests.support.study_folders import write

REPORT_ALONE = ("jinja2", "latex2mathml", "markupsafe", "mdit_py_plugins")
"""The modules of the extra that no dependency installs, too."""

PROGRAM = f"""
import sys
sys.modules |= dict.fromkeys({REPORT_ALONE})  # as if they were not installed
from pomrl.commands.entry import main
main()
"""
REMEDY = "needs pomrl[report]: pip install 'pomrl[report]'\n"

Answer = subprocess.CompletedProcess[str]


@pytest.fixture
def pomrl(cwd: Path) -> Callable[..., Answer]:
    """Return a function for calls of the program without the extra, in a folder with a study."""
    write(cwd / "mine")
    environment = os.environ | {"PYTHONPATH": str(ROOT / "src")}

    def call(*arguments: str) -> Answer:
        command = [sys.executable, "-c", PROGRAM, *arguments]
        return subprocess.run(command, cwd=cwd, env=environment, capture_output=True, text=True)

    return call


def test_the_engine_works_without_the_extra(pomrl: Callable[..., Answer], cwd: Path) -> None:
    answer = pomrl("reproduce", "mine", "--runs", "2")
    assert answer.returncode == 0, answer.stderr
    assert answer.stderr.startswith("".join(f"the stage {name} {REMEDY}" for name in ("pages", "report", "article")))
    assert [line.split()[0] for line in answer.stdout.splitlines()[-2:]] == ["claims", "figures"]
    answer = pomrl("plot", "experiment=mine/first", "--x", "gamma", "runs=2")
    assert answer.returncode == 0, answer.stderr


@pytest.mark.parametrize(
    ("arguments", "who"),
    [
        (("reproduce", "mine", "sweeps", "report"), "the stage report"),
        (("reproduce", "mine", "pages"), "the stage pages"),
        (("reproduce", "mine", "article"), "the stage article"),
        (("view", "--once"), "pomrl view"),
        (("docs",), "pomrl docs"),
        (("board", "--output", "board"), "pomrl board"),
    ],
)
def test_commands_without_the_extra_name_the_remedy(arguments, who, pomrl: Callable[..., Answer], cwd: Path) -> None:
    answer = pomrl(*arguments)
    assert (answer.returncode, answer.stdout, answer.stderr) == (1, "", f"{who} {REMEDY}")
    assert not (cwd / "outputs").exists()


def test_only_the_extra_requires_its_packages() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    names = {name.replace("_", "-") for name in REPORT_ALONE}
    assert names <= {line.split(">")[0] for line in project["optional-dependencies"]["report"]}
    assert not names & {line.split(">")[0] for line in project["dependencies"]}
