"""The library's version of the notebook's experiment against losses with the notebook's own random numbers.

These tests compute a few runs. `python -m examples.notebook.library` compares all stored runs.
"""

import numpy as np
import pandas as pd
import pytest
from examples.notebook import library, stored
from examples.notebook.table import PATH, RUNS, table, text

from pomrl.configuration.sources import PUBLISHED
from pomrl.configuration.sweeps import sweep
from pomrl.science.experiment import tables
from pomrl.science.problem import Method

pytestmark = pytest.mark.slow

FEW = 6
"""Runs that the tests compute of each concentration."""


@pytest.fixture(scope="module")
def similarity() -> pd.DataFrame:
    """The sweep `notebook_similarity` with few runs."""
    methods: dict[object, dict[str, Method]] = {}
    for setting in sweep(PUBLISHED, "notebook_similarity"):
        experiment = setting.experiment
        methods.setdefault(experiment.problem, {})[setting.varied["estimator"]] = experiment.method
    parts = []
    for problem, by_name in methods.items():
        c = problem.task_distribution.concentration_over_S  # type: ignore[attr-defined]
        for name, found in zip(by_name, tables(problem, list(by_name.values()), range(FEW)), strict=True):  # type: ignore[arg-type]
            parts.append(found.assign(**{"estimator": name, "task_distribution.concentration_over_S": c}))
    return pd.concat(parts, ignore_index=True)


@pytest.fixture(scope="module")
def loss_table() -> pd.DataFrame:
    return pd.read_csv(PATH)


def test_mean_losses_agree_with_the_notebooks_streams(similarity: pd.DataFrame) -> None:
    means = library.differences(library.losses(similarity), library.legacy_losses())
    # 225 at gamma = 0.99, and those of ada-POMRL at ten others for two concentrations
    assert len(means) == 225 + 2 * 150
    # with so few runs z has heavy tails: Student's with about five degrees of freedom
    assert means["z"].abs().median() < 1.5
    large = means[means["task"] > 1].groupby(["concentration_over_S", "estimator"])["difference"].mean().abs()
    assert large.max() < 0.6


def test_losses_averaged_over_tasks_have_the_distribution_of_the_notebooks_streams(similarity: pd.DataFrame) -> None:
    p = library.distributions(library.losses(similarity), library.legacy_losses())
    assert len(p) == 15 + 20
    assert p["p"].min() * len(p) > library.LEAST_P


def test_another_experiment_is_told_apart(similarity: pd.DataFrame) -> None:
    ours = library.losses(similarity)
    p = library.distributions(ours.assign(loss=2 * ours["loss"]), library.legacy_losses())
    assert p["p"].min() * len(p) < library.LEAST_P
    *_, (_, count) = library.legacy_lines(ours.assign(loss=2 * ours["loss"]), library.legacy_losses())
    assert count > 0


class TestTable:
    def test_it_has_every_setting_once(self, loss_table: pd.DataFrame) -> None:
        assert loss_table.columns.to_list() == [*library.KEY, "runs", "mean", "se"]
        assert len(loss_table) == 3 * 5 * 15 * 11
        assert not loss_table.duplicated(library.KEY).any()
        assert set(loss_table["estimator"]) == {"without", "oracle", "POMRL", "ada-POMRL", "aggregating"}
        assert loss_table["runs"].min() >= RUNS
        assert (loss_table[["mean", "se"]] > 0).all(axis=None)

    def test_it_agrees_with_the_notebooks_streams(self, loss_table: pd.DataFrame) -> None:
        legacy = library.legacy_losses()
        rounded = legacy.assign(gamma=legacy["gamma"].round(6))
        theirs = rounded.groupby(library.KEY)["loss"].agg(["mean", "sem"]).reset_index()
        both = loss_table.merge(theirs, on=library.KEY, suffixes=("", "_of_streams"))
        assert len(both) == 525
        z = (both["mean"] - both["mean_of_streams"]) / np.hypot(both["se"], both["sem"])
        assert z.abs().max() < 4
        # a difference of four standard errors is seen, and most of them are below a sixth of the loss
        assert np.median(np.hypot(both["se"], both["sem"]) / both["mean"]) < 1 / 6

    def test_it_agrees_with_runs_computed_again(self, similarity: pd.DataFrame, loss_table: pd.DataFrame) -> None:
        again = table(similarity).merge(loss_table, on=library.KEY, suffixes=("", "_of_file"))
        assert len(again) == len(loss_table)
        spread = again["se_of_file"] * np.sqrt(again["runs_of_file"])
        z = (again["mean"] - again["mean_of_file"]) / (spread * np.sqrt(1 / FEW - 1 / again["runs_of_file"]))
        # losses are skewed, and a mean of few of them is too
        assert z.abs().max() < 6
        assert z.pow(2).mean() < 2.5

    def test_the_file_is_written_as_it_is(self, loss_table: pd.DataFrame) -> None:
        assert text(loss_table) == PATH.read_text()

    def test_without_enough_runs_the_command_says_how_to_compute_them(
        self, tmp_path: object, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setenv("POMRL_OUTPUTS", str(tmp_path))
        with pytest.raises(LookupError, match=r"pomrl run experiment=notebook_similarity runs=200"):
            library.read("notebook_similarity", RUNS)


def test_the_tables_of_the_streams_are_counted_once() -> None:
    legacy = library.legacy_losses()
    assert not legacy.duplicated(["seed", *library.KEY]).any()
    assert set(legacy["seed"]) == {*stored.SIMILARITY_SEEDS, *stored.SCHEDULE_SEEDS}
