"""Results over run, task and gamma, and those of several experiments."""

import sys
from collections.abc import Mapping
from types import ModuleType
from typing import Any

import numpy as np
import pandas as pd
import pytest

from pomrl.results.intervals import CONFIDENCE_PERCENT, ERROR_RATE, INTERVAL_QUANTILES
from pomrl.results.result import NotInSweepError, Result
from pomrl.results.sweep_results import SweepResults
from pomrl.store import StoreError

GAMMAS = np.array([0.0, 0.5, 0.9])
LOSS = np.random.default_rng(0).random((4, 2, 3))


def frame(loss: np.ndarray = LOSS) -> pd.DataFrame:
    n, T, _ = loss.shape
    index = pd.MultiIndex.from_product([range(n), range(1, T + 1), GAMMAS], names=["run", "task", "gamma"])
    return pd.DataFrame({"planning_loss": loss.ravel(), "alpha": loss.ravel() / 2}, index=index).reset_index()


def test_a_table_and_its_result_are_inverse() -> None:
    pd.testing.assert_frame_equal(Result.of_table(frame()).table(), frame(), check_exact=True)


def test_numbers_of_runs_average_other_axes() -> None:
    result, table = Result.of_table(frame()), frame()
    at_eval = table[table["gamma"] == 0.9]
    np.testing.assert_allclose(result.per_run("alpha"), at_eval.groupby("run")["alpha"].mean())
    np.testing.assert_allclose(result.per_run("alpha", "last"), at_eval[at_eval["task"] == 2]["alpha"])
    np.testing.assert_array_equal(result.per_run("alpha", 1), result.at_largest_gamma("alpha")[:, 0])
    over_gammas = table.pivot_table(index="run", columns="gamma", values="alpha")
    np.testing.assert_allclose(result.over_gammas("alpha"), over_gammas)
    np.testing.assert_array_equal(result.over_gammas("planning_loss"), result.average_curve)
    with pytest.raises(StoreError, match="task must be all, first, last or 1 to 2, got 3"):
        result.per_run("alpha", 3)


def test_a_metric_replaces_the_loss() -> None:
    measured = frame().assign(measured=lambda table: -table["planning_loss"])
    np.testing.assert_array_equal(Result.of_table(measured).loss, -LOSS)
    np.testing.assert_array_equal(Result.of_table(measured).per_run("value"), -LOSS[..., -1].mean(1))
    measured.loc[0, "measured"] = np.nan
    np.testing.assert_array_equal(Result.of_table(measured).loss, LOSS)


class TestXarray:
    """A stub keeps what `xarray.Dataset` is given: arrays with the names of their axes, and coordinates."""

    @pytest.fixture
    def dataset(self, monkeypatch: pytest.MonkeyPatch) -> None:
        stub = ModuleType("xarray")
        vars(stub)["Dataset"] = lambda variables, coordinates, attributes: (variables, coordinates, attributes)
        monkeypatch.setitem(sys.modules, "xarray", stub)

    @pytest.mark.usefixtures("dataset")
    def test_a_grid_is_an_axis(self) -> None:
        dataset: Any = Result.of_table(frame(), settings={"sigma": 0.01}).to_xarray()
        variables, coordinates, attributes = dataset
        assert {name: axes for name, (axes, _) in variables.items()} == dict.fromkeys(
            ["planning_loss", "alpha"], ("run", "task", "gamma")
        )
        np.testing.assert_array_equal(variables["planning_loss"][1], LOSS)
        assert {axis: [*numbers] for axis, numbers in coordinates.items()} == {
            "run": [0, 1, 2, 3],
            "task": [1, 2],
            "gamma": [0.0, 0.5, 0.9],
        }
        assert attributes == {"sigma": "0.01"}

    @pytest.mark.usefixtures("dataset")
    def test_selected_discount_factors_are_a_variable(self) -> None:
        selected = frame().iloc[::3].assign(gamma=np.linspace(0.1, 0.8, LOSS[..., 0].size))
        dataset: Any = Result.of_table(selected).to_xarray()
        assert dataset[0]["gamma"][0] == ("run", "task", "choice")
        assert {*dataset[1]} == {"run", "task"}

    def test_a_missing_library_has_a_remedy(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setitem(sys.modules, "xarray", None)
        with pytest.raises(ImportError, match="pip install xarray"):
            Result.of_table(frame()).to_xarray()


def sweep(values: Mapping[tuple[float, str], float]) -> SweepResults:
    results = {key: Result.of_losses(np.full((2, 1, 1), level), GAMMAS[-1:]) for key, level in values.items()}
    return SweepResults(("sigma", "estimator.name"), [*results], [*results.values()])


def test_an_experiment_is_found_by_its_values() -> None:
    results = sweep({(0.01, "a"): 1.0, (0.01, "b"): 2.0, (0.02, "a"): 3.0})
    assert results.at(sigma=0.02, name="a").regret.tolist() == [3.0, 3.0]
    at_sigma = results.where(sigma=0.01)
    assert (at_sigma.names, at_sigma.values) == (("name",), [("a",), ("b",)])
    assert at_sigma.at(name="b").regret.tolist() == [2.0, 2.0]
    with pytest.raises(NotInSweepError, match="no experiment with name='c'; available: name = 'a', 'b'"):
        at_sigma.at(name="c")
    with pytest.raises(NotInSweepError, match="no experiment with"):
        at_sigma.at(name="a", m=5)


def test_interval_ends_follow_from_the_confidence_level() -> None:
    assert CONFIDENCE_PERCENT == 95
    assert (ERROR_RATE, *INTERVAL_QUANTILES) == (0.05, 0.025, 0.975)  # to the bit, as stored results were computed
