"""gamma* and the choice in hindsight: one rule, and everything that chooses gamma* follows it."""

from fractions import Fraction

import numpy as np
import pandas as pd
import pytest

from pomrl.results.intervals import best_gamma
from pomrl.results.result import Result
from pomrl.science.gamma_schedules import Hindsight, HindsightChoice, Scope
from pomrl.science.gamma_star import best_index, in_hindsight, minimising

GRID = [0.0, 0.2, 0.4, 0.6, 0.8, 0.9]
GAMMAS = np.array(GRID)


def loss_table(loss: np.ndarray) -> pd.DataFrame:
    """The columns of an experiment's table that a choice depends on."""
    n, T, G = loss.shape
    run, task, gamma = np.meshgrid(np.arange(n), np.arange(1, T + 1), GAMMAS[:G], indexing="ij")
    columns = {"run": run, "task": task, "gamma": gamma, "planning_loss": loss}
    return pd.DataFrame({name: column.ravel() for name, column in columns.items()})


def hindsight_gammas(loss: np.ndarray, scope: Scope, choice: HindsightChoice = "population") -> np.ndarray:
    """The discount factors [n, T] that a schedule chooses from a table in hindsight."""
    rows = in_hindsight(loss_table(loss), Hindsight(gammas=GRID, scope=scope, choice=choice))
    return rows["gamma"].to_numpy().reshape(loss.shape[:2])


def tied_losses(rng: np.random.Generator, n: int = 7, T: int = 2) -> np.ndarray:
    """Result in which, in each task, two discount factors are the best with the same losses in another order of runs.

    Their means over runs are equal but for rounding, which depends on the order.
    """
    loss = 1.0 + rng.random((n, T, len(GRID)))
    for t in range(T):
        low, high = np.sort(rng.choice(len(GRID), 2, replace=False))
        loss[:, t, low] = rng.random(n)
        loss[:, t, high] = rng.permutation(loss[:, t, low])
    return loss


def exact_best(losses: np.ndarray) -> float:
    """The largest gamma whose exact sum over runs is the smallest; losses are [n, G]."""
    sums = [sum(map(Fraction, losses[:, g].tolist())) for g in range(losses.shape[1])]
    return max(gamma for gamma, total in zip(GRID, sums, strict=True) if total == min(sums))


def test_all_choices_of_gamma_star_agree():
    rounded_apart = 0
    for seed in range(60):
        loss = tied_losses(np.random.default_rng(seed))
        expected = [exact_best(loss[:, t]) for t in range(loss.shape[1])]
        table = loss_table(loss).sample(frac=1, random_state=seed)
        assert np.array_equal(minimising(GAMMAS, loss.mean(0)), expected)
        assert np.array_equal(GAMMAS[best_index(loss.mean(0))], expected)
        assert np.array_equal(hindsight_gammas(loss, "each_task")[0], expected)
        assert np.array_equal(best_gamma(table, ["task"])["gamma"], expected)
        assert np.array_equal(Result.of_losses(loss, GAMMAS).best(loss.mean(0)), expected)
        first = Result.of_losses(loss[:, :1], GAMMAS)
        assert np.array_equal(first.minimum, loss[:, 0, GRID.index(expected[0])])
        smallest = GAMMAS[len(GRID) - 1 - loss.mean(0)[:, ::-1].argmin(-1)]
        rounded_apart += not np.array_equal(smallest, expected)
    assert rounded_apart > 6  # without a tolerance the choice depends on the order of the runs


def test_the_tolerance_is_relative_above_one():
    for scale in (1.0, 1e6):
        losses = scale * np.array([1.0, 1.0 + 0.9e-12, 1.0 + 1.1e-12])
        assert best_index(losses) == 1
    assert best_index(np.array([1e6, 3.0, 3.0 + 1e-9, 4.0])) == 2  # where others are large, so are rounding errors
    assert best_index(np.array([100.0, 3.0, 3.0 + 5e-12, 4.0])) == 1
    assert best_index(np.array([0.0, 0.9e-12, 1.1e-12])) == 1


def test_missing_means_have_no_gamma_star():
    with pytest.raises(ValueError, match="NaN"):
        best_index(np.array([[1.0, 2.0], [np.nan, 1.0]]))


def test_hindsight_chooses_over_its_own_axes():
    loss = np.full((2, 2, len(GRID)), 10.0)
    loss[0, 0, 1], loss[0, 1, 2], loss[1, 0, 3], loss[1, 1, 2] = 4, 6, 5, 1
    assert np.array_equal(hindsight_gammas(loss, "all_tasks"), np.full((2, 2), 0.4))
    assert np.array_equal(hindsight_gammas(loss, "each_task"), [[0.2, 0.4], [0.2, 0.4]])
    assert np.array_equal(hindsight_gammas(loss, "all_tasks", "per_run"), [[0.2, 0.2], [0.4, 0.4]])
    assert np.array_equal(hindsight_gammas(loss, "each_task", "per_run"), [[0.2, 0.4], [0.6, 0.4]])
