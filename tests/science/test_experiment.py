from itertools import product
from math import sqrt

import numpy as np
import pandas as pd
import pytest
from tests.support.plain_draws import task_key, transitions
from tests.support.sample_models import all_policies, brute_force_value, policy_values

from pomrl.science import drawn_tasks
from pomrl.science.estimators.pomrl import RegularisedLeastSquares
from pomrl.science.experiment import tables
from pomrl.science.gamma_schedules import Dong, Fixed, GammaSchedule, Grid, UpperBound
from pomrl.science.mdp import random_chain_mdp
from pomrl.science.planners import PolicyIteration, ValueIteration
from pomrl.science.problem import Method, Problem
from pomrl.science.randomness import Stream, generator
from pomrl.science.stored_columns import SCHEMA
from pomrl.science.tasks.random_chains import Dirichlet, Gaussian, RandomChains

GRID = Grid(gammas=[0.0, 0.5, 0.9, 0.99])


def problem(S=5, A=2, m=5, T=4, sigma=0.02, gamma_eval=0.99, seed=3, tasks: RandomChains | None = None) -> Problem:
    tasks = tasks or Dirichlet(zeros=S // 2)
    return Problem(S=S, A=A, m=m, T=T, sigma=sigma, gamma_eval=gamma_eval, seed=seed, task_distribution=tasks)


def method(schedule: GammaSchedule = GRID, planner=None, **options) -> Method:
    options = options or {"mixing": "paper", "similarity": "welford"}
    return Method(
        estimator=RegularisedLeastSquares(**options), gamma_schedule=schedule, planner=planner or PolicyIteration()
    )


METHODS = [
    method(),
    method(mixing="mse_optimal", similarity="known", scope="per_pair", prior="exclusive"),
    method(Dong(), mixing="paper", similarity="welford", scope="per_pair"),
    method(UpperBound(), mixing="paper", similarity="known"),
    method(planner=ValueIteration()),
]

PROBLEMS = {
    "small": problem(),
    "twenty states": problem(S=20, T=3),
    "some pairs vary": problem(S=8, tasks=Dirichlet(zeros=4, varying=0.5)),
    "gaussian": problem(tasks=Gaussian(zeros=2), m=2),
    "one mean model": problem(tasks=Dirichlet(zeros=2, mean_model="fixed", reward="state")),
}


def assert_same_bits(table: pd.DataFrame, other: pd.DataFrame):
    assert list(table) == list(other)
    for name in table:
        assert table[name].dtype == other[name].dtype
        assert table[name].to_numpy().tobytes() == other[name].to_numpy().tobytes(), name


def test_tables_have_the_schema_and_all_rows():
    for selected_method, gammas in ((method(), 4), (method(Dong()), 1), (method(Fixed(gamma=0.9), mixing=0.0), 1)):
        (table,) = tables(problem(), [selected_method], [2, 3, 7])
        assert [(name, str(dtype)) for name, dtype in table.dtypes.items()] == list(SCHEMA.items())
        keys = table[["run", "task", "gamma"]].drop_duplicates().sort_values(["run", "task", "gamma"])
        pd.testing.assert_frame_equal(table[["run", "task", "gamma"]], keys)
        rows = table.groupby(["run", "task"]).size()
        assert rows.to_dict() == dict.fromkeys(product((2, 3, 7), (1, 2, 3, 4)), gammas)


@pytest.mark.parametrize("name", PROBLEMS)
def test_tables_do_not_depend_on_neighbours(name: str, monkeypatch: pytest.MonkeyPatch):
    """The parts are of one run, with the methods in another order, and of stacks of one task."""
    joint = tables(PROBLEMS[name], METHODS, range(3))
    monkeypatch.setattr(drawn_tasks, "STACK_BYTES", 1)
    single_runs = [tables(PROBLEMS[name], METHODS[::-1], [run]) for run in range(3)]
    for whole, *pieces in zip(joint, *(methods[::-1] for methods in single_runs), strict=True):
        assert_same_bits(whole, pd.concat(pieces, ignore_index=True))


def test_methods_meet_the_same_tasks_and_batches():
    """POMRL has no prior in task 1, so that its losses are those of no meta-learning there, and only there."""
    without, pomrl = tables(problem(), [method(mixing=0.0), method(mixing="paper", similarity="known")], [0, 1, 2])
    first = without["task"] == 1
    columns = ["run", "gamma", "planning_loss", "model_error"]
    assert_same_bits(without.loc[first, columns], pomrl.loc[first, columns])
    assert np.all(without.loc[~first, "model_error"] != pomrl.loc[~first, "model_error"])


@pytest.mark.parametrize("planner", [PolicyIteration(), ValueIteration()])
@pytest.mark.parametrize("adaptive", [False, True])
def test_tables_equal_a_slow_computation(planner, adaptive: bool):
    S, A, m, T, sigma, gamma_eval, seed, run = 4, 2, 5, 6, 0.02, 0.95, 8, 11
    tasks = Dirichlet(zeros=1)
    gammas = [0.0, 0.4, 0.8, 0.95]
    selected_method = method(
        Grid(gammas=gammas), planner, mixing="paper", similarity="welford" if adaptive else "known", start_deviation=0.4
    )
    (table,) = tables(problem(S, A, m, T, sigma, gamma_eval, seed, tasks), [selected_method], [run - 1, run])

    P_o, R = random_chain_mdp(generator(seed, run, Stream.MEAN_MODEL), S, A, 1)
    mean = tasks.draw_mean(seed, run, S, A, sigma)
    assert np.array_equal(P_o, mean.P_o)
    task_stream, batch_stream = generator(seed, run, Stream.TASKS), generator(seed, run, Stream.BATCHES)
    batches: list[np.ndarray] = []
    rows = []
    for t in range(1, T + 1):
        P_t = tasks.draw_tasks(task_stream, mean, 1)[0]
        deviation = 0.4 if t <= 2 else sqrt(np.var(batches, axis=0, ddof=1).max())
        deviation = deviation if adaptive else sqrt(sigma)
        batches.append(transitions(task_key(batch_stream), P_t, m) / m)
        alpha = 0.0 if t == 1 else 1 / (deviation**2 * (1 + 1 / t) * m + 1)
        P_hat = alpha * np.mean(batches, axis=0) + (1 - alpha) * batches[-1]
        V_star = brute_force_value(P_t, R, gamma_eval)
        for gamma in gammas:
            policies = all_policies(S, A)
            policy = policies[policy_values(P_hat, R, policies, gamma).sum(1).argmax()]
            loss = np.abs(V_star - policy_values(P_t, R, policy, gamma_eval)).max()
            rows.append((run, t, gamma, loss, alpha, deviation, np.abs(P_hat - P_t).max()))
    slow = pd.DataFrame(rows, columns=list(SCHEMA))
    assert slow["planning_loss"].max() > 0.5
    fast = table[table["run"] == run].reset_index(drop=True)
    pd.testing.assert_frame_equal(fast, slow, check_dtype=False, rtol=1e-9, atol=1e-10)
