"""gamma* and the choice in hindsight: one rule, and everything that chooses gamma* follows it."""

from fractions import Fraction

import numpy as np
import pandas as pd
import pytest

from pomrl.results.losses import Losses
from pomrl.results.statistics import best_gamma
from pomrl.science.gamma_schedules import Hindsight, HindsightChoice, Scope
from pomrl.science.gamma_star import MEAN_TIE_TOLERANCE, best_index, hindsight_index, in_hindsight, minimising

GRID = [0.0, 0.2, 0.4, 0.6, 0.8, 0.9]
GAMMAS = np.array(GRID)


def table_of(loss: np.ndarray) -> pd.DataFrame:
    """The columns of an experiment's table that a choice depends on."""
    n, T, G = loss.shape
    run, task, gamma = np.meshgrid(np.arange(n), np.arange(1, T + 1), GAMMAS[:G], indexing="ij")
    columns = {"run": run, "task": task, "gamma": gamma, "planning_loss": loss}
    return pd.DataFrame({name: column.ravel() for name, column in columns.items()})


def chosen(loss: np.ndarray, scope: Scope, choice: HindsightChoice = "population") -> np.ndarray:
    """The discount factors [n, T] that a schedule chooses from a table in hindsight."""
    rows = in_hindsight(table_of(loss), Hindsight(gammas=GRID, scope=scope, choice=choice))
    return rows["gamma"].to_numpy().reshape(loss.shape[:2])


def on_grid(loss: np.ndarray, gamma: np.ndarray) -> np.ndarray:
    """The losses [n, T] at the chosen discount factors."""
    return np.take_along_axis(loss, np.searchsorted(GRID, gamma)[..., None], -1)[..., 0]


def tied_losses(rng: np.random.Generator, n: int = 7, T: int = 2) -> np.ndarray:
    """Losses in which, in each task, two discount factors are the best with the same losses in another order of runs.

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


def test_everything_that_chooses_gamma_star_agrees_where_two_gammas_plan_alike():
    rounded_apart = 0
    for seed in range(200):
        loss = tied_losses(np.random.default_rng(seed))
        expected = [exact_best(loss[:, t]) for t in range(loss.shape[1])]
        table = table_of(loss).sample(frac=1, random_state=seed)
        assert np.array_equal(minimising(GAMMAS, loss.mean(0)), expected)
        assert np.array_equal(GAMMAS[best_index(loss.mean(0))], expected)
        assert np.array_equal(chosen(loss, "each_task")[0], expected)
        assert np.array_equal(best_gamma(table, ["task"])["gamma"], expected)
        assert np.array_equal(Losses(loss, GAMMAS).best(loss.mean(0)), expected)
        smallest = GAMMAS[len(GRID) - 1 - loss.mean(0)[:, ::-1].argmin(-1)]
        rounded_apart += not np.array_equal(smallest, expected)
    assert rounded_apart > 20  # without a tolerance the choice depends on the order of the runs


@pytest.mark.parametrize("choice", ["population", "per_run"])
def test_one_choice_for_all_tasks_agrees_where_two_gammas_plan_alike(choice: HindsightChoice):
    for seed in range(50):
        loss = tied_losses(np.random.default_rng(seed), T=1).swapaxes(0, 1)  # the order of tasks differs in one run
        expected = exact_best(loss[0])
        assert np.all(chosen(loss, "all_tasks", choice) == expected)
        assert minimising(GAMMAS, loss.mean((0, 1))) == expected


def test_the_tolerance_is_relative_to_losses_above_one():
    for scale in (1.0, 1e6):
        apart = scale * np.array([1.0, 1.0 + 0.5 * MEAN_TIE_TOLERANCE, 1.0 + 2 * MEAN_TIE_TOLERANCE])
        assert best_index(apart) == 1
    assert best_index(np.array([0.0, 0.5 * MEAN_TIE_TOLERANCE, 2 * MEAN_TIE_TOLERANCE])) == 1


def test_leading_axes_are_curves_of_their_own():
    mean = np.random.default_rng(4).random((3, 4, len(GRID)))
    best = minimising(GAMMAS, mean)
    assert best.shape == (3, 4)
    for i in range(3):
        for j in range(4):
            assert best[i, j] == GRID[mean[i, j].argmin()]


def test_a_mean_that_is_no_number_has_no_gamma_star():
    with pytest.raises(ValueError, match="NaN"):
        best_index(np.array([[1.0, 2.0], [np.nan, 1.0]]))


@pytest.mark.parametrize("gammas", [[0.5, 0.4], [0.5, 0.5]])
def test_gammas_that_do_not_ascend_are_refused(gammas: list[float]):
    with pytest.raises(ValueError, match="ascend strictly"):
        minimising(np.array(gammas), np.array([1.0, 2.0]))


def test_a_table_of_another_grid_is_refused():
    with pytest.raises(ValueError, match="discount factors"):
        in_hindsight(table_of(np.ones((2, 3, 4))), Hindsight(gammas=GRID, scope="all_tasks"))


def test_rows_chosen_in_hindsight_are_those_of_the_table():
    loss = np.random.default_rng(5).random((4, 3, len(GRID)))
    for scope in ("all_tasks", "each_task"):
        rows = in_hindsight(table_of(loss), Hindsight(gammas=GRID, scope=scope, choice="per_run"))
        index = hindsight_index(loss, scope, "per_run")
        assert np.array_equal(rows["gamma"].to_numpy().reshape(4, 3), GAMMAS[index])
        expected = np.take_along_axis(loss, index[..., None], -1)[..., 0]
        assert np.array_equal(rows["planning_loss"].to_numpy().reshape(4, 3), expected)


@pytest.mark.parametrize("choice", ["population", "per_run"])
def test_choices_in_hindsight_order_the_losses(choice: HindsightChoice):
    for seed in range(20):
        rng = np.random.default_rng(seed)
        loss = rng.gamma(1.0, size=(7, 5, len(GRID))) + rng.random((1, 5, 1)) * np.array(GRID)
        best = on_grid(loss, chosen(loss, "all_tasks", choice)).mean()
        dynamic = on_grid(loss, chosen(loss, "each_task", choice)).mean()
        assert dynamic < best
        assert best <= loss.mean((0, 1)).min() + 1e-15
        if choice == "population":
            assert best == pytest.approx(loss.mean((0, 1)).min(), rel=1e-14)
            assert dynamic == pytest.approx(loss.mean(0).min(-1).mean(), rel=1e-14)
        else:
            assert best == pytest.approx(loss.mean(1).min(-1).mean(), rel=1e-14)
            assert dynamic == pytest.approx(loss.min(-1).mean(), rel=1e-14)


def test_each_hindsight_choice_is_made_over_the_axes_it_says():
    loss = np.full((2, 2, len(GRID)), 10.0)
    loss[0, 0, 1], loss[0, 1, 2], loss[1, 0, 3], loss[1, 1, 2] = 4, 6, 5, 1
    assert np.array_equal(chosen(loss, "all_tasks"), np.full((2, 2), 0.4))
    assert np.array_equal(chosen(loss, "each_task"), [[0.2, 0.4], [0.2, 0.4]])
    assert np.array_equal(chosen(loss, "all_tasks", "per_run"), [[0.2, 0.2], [0.4, 0.4]])
    assert np.array_equal(chosen(loss, "each_task", "per_run"), [[0.2, 0.4], [0.6, 0.4]])
