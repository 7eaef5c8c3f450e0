"""Losses as arrays."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from tests.support.sample_experiment import add

from pomrl import store
from pomrl.configuration import sweeps
from pomrl.configuration.sources import PUBLISHED
from pomrl.results.result import Result
from pomrl.science.experiment import tables

GAMMAS = np.array([0.0, 0.3, 0.6, 0.9])


def loss_table(loss: np.ndarray) -> pd.DataFrame:
    n, T, _ = loss.shape
    index = pd.MultiIndex.from_product([range(n), range(1, T + 1), GAMMAS], names=["run", "task", "gamma"])
    return pd.DataFrame({"planning_loss": loss.ravel()}, index=index).reset_index()


@pytest.mark.parametrize("schedule", ["grid", "dong", "best_fixed"])
def test_losses_of_experiments_equal_their_table(schedule: str, empty_outputs: Path) -> None:
    experiment = sweeps.experiment(PUBLISHED, ["T=2", f"gamma_schedule={schedule}"])
    (table,) = tables(experiment.problem, [experiment.method], range(3))
    add(store.open_experiment(experiment), range(3), table)
    losses, expected = Result.of_experiment(experiment, 2), Result.of_table(store.load(experiment, 2))
    np.testing.assert_array_equal(losses.at_eval, expected.loss[..., -1])
    np.testing.assert_array_equal(losses.average_curve, expected.loss.mean(1))
    assert schedule == "best_fixed" or "loss" not in vars(losses)  # they are not read as a whole up to here
    assert losses.loss.shape == (2, 2, 1 if schedule != "grid" else len(losses.gammas))
    assert losses.loss.tobytes() == expected.loss.tobytes()
    np.testing.assert_array_equal(losses.gammas, expected.gammas)


def test_losses_of_tables_equal_their_rows() -> None:
    loss = np.random.default_rng(0).random((5, 3, 4))
    losses = Result.of_table(loss_table(loss))
    np.testing.assert_array_equal(losses.loss, loss)
    np.testing.assert_array_equal(losses.gammas, GAMMAS)
    np.testing.assert_array_equal(losses.task(3), loss[:, 2, -1])


def test_halves_choose_for_each_other_in_hindsight() -> None:
    loss = np.ones((4, 1, 4))
    loss[::2, 0, 1] = 0.0  # what runs 0 and 2 would choose for themselves
    loss[1::2, 0, 2] = 0.0  # what runs 1 and 3 would
    losses = Result.of_losses(loss, GAMMAS)
    np.testing.assert_array_equal(losses.in_hindsight("each_task", "population").regret, [1.0] * 4)
    np.testing.assert_array_equal(losses.in_hindsight("each_task", "per_run").regret, [0.0] * 4)


def test_minimum_loss_uses_each_tasks_best_gamma() -> None:
    loss = np.ones((4, 2, 4))
    loss[:, 0, 1] = loss[:, 1, 2] = 0.0
    assert (Result.of_losses(loss, GAMMAS).minimum == 0.0).all()
