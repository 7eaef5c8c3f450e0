"""examples/pomrl_in_one_file.py is the library's method on the same batches, and draws its figures by itself."""

import ast
import re
import subprocess
import sys
from collections.abc import Iterator
from itertools import repeat
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd
import pytest
from examples import pomrl_in_one_file as one_file
from examples.pomrl_in_one_file import LEARNERS, OFFSETS, Learner, Setting
from joblib import parallel_config
from numpy.testing import assert_allclose
from tests.support.settings import ROOT

from pomrl.configuration import sweeps
from pomrl.configuration.parsing import Experiment
from pomrl.configuration.sources import PUBLISHED
from pomrl.science import mdp
from pomrl.science.algorithm import PlanningInput
from pomrl.science.algorithm import pomrl as library_loop
from pomrl.science.data import Batch, Batches
from pomrl.science.estimators.estimator import Truth
from pomrl.science.gamma_schedules import Scope
from pomrl.science.gamma_star import hindsight_index
from pomrl.science.planners import PolicyIteration
from pomrl.science.tasks.random_chains import Dirichlet

FILE = ROOT / "examples" / "pomrl_in_one_file.py"
FIGURES = ["2", "3", "4", "5", "6", "F1", "F2", "F3", "F4", "F5"]
OPTIONS = dict(zip(LEARNERS, ["oracle", "without_meta", "pomrl", "ada_pomrl", "aggregating"], strict=True))
"""The library's option of each learner."""

SCHEDULES = ["dong", *(f"upper_bound gamma_schedule.gamma_0={offset}" for offset in OFFSETS)]
"""The library's options of the schedules, in the order of the file's."""

SETTINGS = [Setting(sigma=0.025), Setting(sigma=0.047, T=6, m=20, S=6, A=3), Setting(sigma=0.025, printed=True)]


class Problem(NamedTuple):
    """The batches of one run, and what the library tells its estimators of their tasks."""

    s: Setting
    counts: np.ndarray
    truth: Truth


def experiment(s: Setting, *overrides: str) -> Experiment:
    arguments = [argument for override in overrides for argument in override.split()]
    reading = "printed" if s.printed else "repaired"
    return sweeps.experiment(PUBLISHED, [f"reading={reading}", f"S={s.S}", f"A={s.A}", *arguments])


@pytest.fixture(scope="module", params=SETTINGS, ids=["repaired", "other sizes", "printed"])
def problem(request: pytest.FixtureRequest) -> Problem:
    s: Setting = request.param
    tasks, rng = experiment(s).problem.task_distribution, np.random.default_rng(5)
    assert isinstance(tasks, Dirichlet)
    mean = tasks.draw_mean(0, 0, s.S, s.A, s.sigma)
    truth = Truth(mean.P_o[None], tasks.variance(mean)[None])
    P = one_file.draw_tasks(rng, mean.P_o, s.variance, s.T)
    return Problem(s, rng.multinomial(s.m, P), truth)


def learn(problem: Problem, learner: Learner) -> tuple[np.ndarray, np.ndarray]:
    """Return P_hat and the discount factors of the one file."""
    batches = problem.counts / problem.s.m
    P_hat, gammas = zip(*one_file.learn(batches, learner, problem.truth.P_o[0], problem.s), strict=True)
    return np.array(P_hat), np.array(gammas)


def learn_by_library(problem: Problem, option: str, schedule: str = "fixed") -> Iterator[PlanningInput]:
    method = experiment(problem.s, f"estimator={option}", f"gamma_schedule={schedule}").method
    m = problem.s.m
    batches = [Batches.same(Batch.of_counts(counts[None], m, equal=True)) for counts in problem.counts]
    tasks = zip(batches, repeat(problem.truth))
    return library_loop(tasks, m, method.estimator, method.gamma_schedule, one_file.GAMMA_EVAL)


@pytest.mark.parametrize("learner", LEARNERS, ids=OPTIONS.values())
def test_estimated_models_equal_the_library(problem: Problem, learner: Learner) -> None:
    P_hat, _ = learn(problem, learner)
    theirs = [task.P_hat[0, 0] for task in learn_by_library(problem, OPTIONS[learner])]
    assert_allclose(P_hat, theirs, rtol=0, atol=1e-12)


@pytest.mark.parametrize("learner", [one_file.POMRL, one_file.ADA_POMRL], ids=["pomrl", "ada_pomrl"])
def test_the_schedules_are_those_of_the_library(problem: Problem, learner: Learner) -> None:
    _, gammas = learn(problem, learner)
    theirs = [
        [task.gamma[0, 0] for task in learn_by_library(problem, OPTIONS[learner], schedule)] for schedule in SCHEDULES
    ]
    assert_allclose(gammas[:, len(one_file.GRID) :], np.transpose(theirs), rtol=0, atol=1e-12)
    assert (gammas[:, : len(one_file.GRID)] == one_file.GRID).all()


def test_planning_losses_equal_the_library() -> None:
    rng = np.random.default_rng(6)
    P_o, R = one_file.draw_mean_model(rng, 6, 3)
    P, P_hat = (one_file.draw_tasks(rng, P_o, 0.05, 300) for _ in range(2))
    gammas, rewards = np.tile(one_file.GRID, (300, 1)), np.tile(R, (300, 1, 1))
    theirs = mdp.planning_loss(P, rewards, PolicyIteration().plan(P_hat, rewards, gammas), one_file.GAMMA_EVAL)
    assert_allclose(one_file.planning_loss(P, R, P_hat, gammas), theirs, rtol=0, atol=1e-12 * 100)  # V is at most 100


@pytest.mark.parametrize("s", [Setting(sigma=0.047), Setting(sigma=0.2, printed=True)], ids=["repaired", "printed"])
def test_tasks_spread_as_in_the_library(s: Setting) -> None:
    rng, tasks = np.random.default_rng(0), experiment(s).problem.task_distribution
    P_o, R = one_file.draw_mean_model(rng, s.S, s.A)
    assert ((P_o > 0).sum(-1) == 5).all()
    assert len(np.unique((P_o > 0).reshape(-1, s.S), axis=0)) > 10
    assert ((R >= 0) & (R < 1)).all()
    P = one_file.draw_tasks(rng, P_o, s.variance, 20_000)
    assert isinstance(tasks, Dirichlet)
    variance = tasks.variance(tasks.recentre(tasks.draw_mean(0, 0, s.S, s.A, s.sigma), P_o))
    assert variance.max() == pytest.approx(s.variance, rel=1e-12)
    assert_allclose(P.mean(0), P_o, atol=5 * np.sqrt(s.variance / len(P)))
    assert_allclose(P.var(0), variance, atol=0.06 * s.variance)


def test_hindsight_choices_equal_the_library() -> None:
    with parallel_config(backend="sequential"):
        table = one_file.simulate(Setting(S=4, T=3, runs=3), one_file.POMRL)
    grid = table[table["schedule"] == "grid"]
    loss = grid["loss"].to_numpy().reshape(3, 3, len(one_file.GRID))
    scopes: dict[str, Scope] = {"Best fixed": "all_tasks", "Dynamic best": "each_task"}
    for name, scope in scopes.items():
        index = hindsight_index(loss, scope, "population")
        theirs = np.take_along_axis(loss, index[..., None], -1)[..., 0]
        ours = table[table["schedule"] == name].sort_values(["run", "task"])
        assert_allclose(ours["loss"].to_numpy().reshape(3, 3).mean(), theirs.mean(), rtol=0, atol=1e-12)
        averages = ours["average"].to_numpy().reshape(3, 3)
        assert_allclose(averages, ours["loss"].to_numpy().reshape(3, 3).cumsum(1) / [1, 2, 3], rtol=1e-12)
    whole = pd.Series(loss.mean(1).ravel())  # Eq. 2 of each discount factor
    assert_allclose(grid[grid["task"] == 3]["average"], whole, rtol=1e-12)


def test_it_stands_alone_and_is_short() -> None:
    imports = [node for node in ast.walk(ast.parse(FILE.read_text())) if isinstance(node, ast.Import | ast.ImportFrom)]
    names = {alias.name for node in imports if isinstance(node, ast.Import) for alias in node.names}
    names |= {node.module or "." for node in imports if isinstance(node, ast.ImportFrom)}
    assert not any(name.startswith((".", "pomrl", "examples")) for name in names)
    assert len(FILE.read_text().splitlines()) <= 250


@pytest.mark.parametrize(
    "label", ["Eq. 2", "Eq. 3", "Eq. 4", "Eq. 5", "Eq. 6", "Eq. 10", "Eq. 11", "Eq. 12", "Alg. 1", "Alg. 2"]
)
def test_computed_equations_are_marked(label: str) -> None:
    assert re.search(rf"{re.escape(label)}\b", FILE.read_text())


@pytest.mark.slow
def test_ten_figures_are_drawn(tmp_path: Path) -> None:
    subprocess.run([sys.executable, FILE, "runs=2"], cwd=tmp_path, check=True, timeout=120)
    assert [path.name for path in tmp_path.iterdir()] == ["outputs"]
    pictures = sorted(tmp_path.glob("outputs/pomrl_in_one_file/*.png"))
    assert [path.name for path in pictures] == [f"figure_{name}.png" for name in FIGURES]
    assert all(path.read_bytes().startswith(b"\x89PNG") and path.stat().st_size > 10_000 for path in pictures)
