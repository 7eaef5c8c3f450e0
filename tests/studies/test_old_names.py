"""What had another name in earlier versions is answered in one line with the name that it has now."""

import subprocess
import sys

import pytest
from tests.support.settings import ROOT
from tests.support.study_folders import refused

from pomrl.commands import main, run
from pomrl.configuration.parsing import RENAMED


@pytest.mark.parametrize(
    ("words", "now"),
    [
        (("scorecard",), "pomrl claims pomrl"),
        (("ledger",), "pomrl documents pomrl"),
        (("readings",), "pomrl claims pomrl --variants readings"),
    ],
)
def test_a_former_command_is_answered_with_the_present_one(words: tuple[str, ...], now: str) -> None:
    line = refused(main, *words)
    assert line.startswith(f"{words[0]}: it is now {now}"), line


@pytest.mark.parametrize("name", ["figures", "claims", "ledger", "report", "plot", "table", "runs"])
def test_a_former_module_is_answered_with_the_command(name: str) -> None:
    said = subprocess.run([sys.executable, "-m", f"src.{name}"], cwd=ROOT, capture_output=True, text=True)
    assert said.returncode != 0
    assert said.stdout == ""
    assert said.stderr.count("\n") == 1, said.stderr
    now = "pomrl documents pomrl" if name == "ledger" else f"pomrl {name}"
    assert said.stderr.startswith(f"python -m src.{name}: it is now {now}")


def test_the_module_that_stays_is_the_command() -> None:
    words = [sys.executable, "-m", "src.run", "--cfg", "job", "runs=7"]
    said = subprocess.run(words, cwd=ROOT, capture_output=True, text=True)
    assert (said.returncode, said.stderr) == (0, "")
    assert "runs: 7\n" in said.stdout


@pytest.mark.parametrize(
    ("group", "target", "now"),
    [
        *(("estimator", old, new) for old, new in RENAMED.items()),
        ("planner", "pomrl.planners.PolicyIteration", "pomrl.science.planners.PolicyIteration"),
        ("gamma_schedule", "pomrl.gamma_schedules.Grid", "pomrl.science.gamma_schedules.Grid"),
        ("data", "pomrl.data.Generative", "pomrl.science.data.Generative"),
    ],
)
def test_a_former_class_is_answered_with_the_present_one(group: str, target: str, now: str) -> None:
    line = refused(run, f"{group}._target_={target}", "runs=1", "dry_run=true")
    assert line == f"{group}._target_={target}: it is {now} now"
