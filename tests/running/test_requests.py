"""Requests of `pomrl run`: never success without work, and estimates before work."""

from functools import partial
from pathlib import Path
from typing import Any

import pytest
from tests.support.computed import called

from hydra_plugins.pomrl.sweeper import _job_at
from pomrl.commands import run
from pomrl.running import plan
from pomrl.science.tasks.distribution import MeanModel
from pomrl.science.tasks.random_chains import RandomChains

command = partial(called, run)

pytestmark = pytest.mark.usefixtures("cwd")


def test_many_jobs_are_estimated_from_few(cwd: Path) -> None:
    command("seed=0", "S=3", "T=1", "runs=1")
    status, lines, err = command("-m", "seed=range(0,20000)", "S=3", "T=1", "runs=1")
    assert (status, lines) == (1, [])
    assert err.startswith("20,000 experiments, 20,000 runs to compute; about ")
    assert err.endswith("set yes=true to compute more than 10,000 experiments\n")
    status, lines, err = command("-m", "m=5,50", "S=3,60", "seed=range(0,5000)", "dry_run=true")
    assert (status, lines) == (0, [])
    assert "estimated from 20 experiments, stored or not: 20,000 experiments, 2,000,000 runs to compute" in err
    assert len(list((cwd / "outputs" / "runs").iterdir())) == 1


def test_an_estimate_covers_all_axis_values() -> None:
    choices = [[["a=1", "a=2"], ["b=1", "b=2", "b=3"]], [["c=1"]]]
    assert [_job_at(choices, index) for index in range(7)] == [
        *([a, b] for a in ("a=1", "a=2") for b in ("b=1", "b=2", "b=3")),
        ["c=1"],
    ]


def test_runs_too_large_to_read_are_refused() -> None:
    status, lines, err = command("T=30000", "gamma_schedule.gammas=[0.2,0.5,0.9,0.95]", "dry_run=true")
    assert (status, lines) == (1, [])
    assert err.endswith("T times the number of discount factors must be at most 100,000, got 120,000\n")


def test_dry_run_draws_the_first_runs_only(monkeypatch: pytest.MonkeyPatch) -> None:
    draw_mean = RandomChains._mean

    def draw_first(*arguments: Any) -> MeanModel:
        assert arguments[-1] < 100, "a later run"
        return draw_mean(*arguments)

    monkeypatch.setattr(RandomChains, "_mean", draw_first)
    status, _, err = command("runs=10000000", "dry_run=true")
    assert status == 0
    assert "1 experiment, 10,000,000 runs to compute; about " in err


def test_more_than_an_hour_needs_a_yes(monkeypatch: pytest.MonkeyPatch, cwd: Path) -> None:
    monkeypatch.setattr(plan, "MAX_SECONDS", 1e-9)
    status, _, err = command("T=1", "runs=2")
    assert (status, err.count("\n")) == (1, 1)
    assert "set yes=true for work of more than an hour" in err
    assert not (cwd / "outputs" / "runs").exists()
    assert command("T=1", "runs=2", "yes=true")[0] == 0
    assert command("T=1", "runs=2")[0] == 0  # stored already
