"""Check a learner before its row is computed."""

from collections.abc import Sequence
from dataclasses import replace
from itertools import repeat

import numpy as np

from pomrl.components import Batch, Truth
from pomrl.study import Batches, Fixed, pomrl, tables
from pomrl_studies.board import losses
from pomrl_studies.board.learner import Learner

PROBLEMS = (
    {"sigma": 0.01, "T": 4},
    {"task_distribution": "river_swim", "T": 4},
)
"""Two small problems: one with independent rows, and one with rows that change together."""

RUNS = range(3)
"""The runs to compute both together and separately."""


def check(learner: Learner) -> None:
    """Check a learner's models and the independence of runs; ValueError if wrong."""
    for settings in PROBLEMS:
        table = _table(learner, settings, RUNS)
        by_run = [_table(learner, settings, [run]) for run in RUNS]
        if not np.array_equal(table, np.concatenate(by_run), equal_nan=True):
            raise ValueError(
                f"{learner.label}: a run must not depend on the runs computed with it, but does with {_text(settings)}"
            )


def uses_truth(learner: Learner) -> bool:
    """Return whether the estimates depend on the true moments.

    The largest variance may be used: Algorithm 1 of the paper is given σ.
    """
    problem, method = losses.problem_and_method(learner, PROBLEMS[0])
    rng, (n, S, A) = np.random.default_rng(0), (len(RUNS), problem.S, problem.A)
    data = rng.multinomial(problem.m, rng.dirichlet(np.ones(S), (problem.T, n, S, A)))
    batches = [Batches.same(Batch.of_counts(counts, problem.m)) for counts in data]
    candidates, variance = rng.dirichlet(np.ones(S), (n, S, A)), rng.uniform(0.0, 0.01, (n, S, A, S))
    estimates = []
    for truth in (_truth(candidates, variance), _truth(candidates[..., ::-1], variance[:, ::-1, ::-1, ::-1])):
        tasks = pomrl(zip(batches, repeat(truth)), problem.m, method.estimator, Fixed(gamma=0.5), 0.5)
        estimates.append(np.stack([task.P_hat for task in tasks]))
    return not np.array_equal(*estimates)


def _truth(P: np.ndarray, variance: np.ndarray) -> Truth:
    return Truth(P, variance, unsmoothed=P, candidates=P)


def _table(learner: Learner, settings: dict[str, object], runs: Sequence[int]) -> np.ndarray:
    problem, method = losses.problem_and_method(learner, settings)
    try:
        (table,) = tables(problem, [_at_eval(method, learner, problem.gamma_eval)], runs)
    except Exception as error:  # user-defined code may raise anything
        message = " ".join(str(error).split())
        raise ValueError(f"{learner.label}: {type(error).__name__} with {_text(settings)}: {message}") from error
    return table.to_numpy(float)


def _text(settings: dict[str, object]) -> str:
    return ", ".join(f"{key}={value}" for key, value in settings.items())


def _at_eval(method: losses.Method, learner: Learner, gamma_eval: float) -> losses.Method:
    return method if learner.base else replace(method, gamma_schedule=Fixed(gamma=gamma_eval))
