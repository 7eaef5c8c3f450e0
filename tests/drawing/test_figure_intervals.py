"""The versions of figures with 95 % intervals of the mean over runs."""

from collections.abc import Mapping

import numpy as np
import pandas as pd
import pytest
import scipy.stats
from tests.support.checks import choose, note
from tests.support.shipped import FIGURES, OF_SERIES, OF_SWEEPS, intervals_of
from tests.support.synthetic import RUNS, make_sweeps

from pomrl.configuration.composed import ConfigError
from pomrl.configuration.study import find
from pomrl.drawing.figures_of_study import versions
from pomrl.results.statistics import band, best_gamma, best_gamma_band
from pomrl.results.stored_sweeps import StoredSweeps

GAINS = ("horizon_or_prior", "wrong_priors", "advice")
"""Figures of gains and of shares, which have one kind of bands."""


def test_every_figure_of_runs_has_a_version_with_intervals_and_names_its_series() -> None:
    assert [name for name in OF_SWEEPS if name not in GAINS] == OF_SERIES
    for name in OF_SERIES:
        assert FIGURES[name].versions == [name, intervals_of(name)]
        assert {one.sweep for one in FIGURES[name].series} == set(FIGURES[name].sweeps)
    assert FIGURES["upper_bound"].versions == ["upper_bound"]


def test_versions_are_found_by_the_name_of_the_figure_or_by_their_own() -> None:
    study = find("pomrl")
    assert versions(study, ["upper_bound", "planning_omrl"]) == [
        "upper_bound",
        "planning_omrl",
        "planning_omrl_intervals",
    ]
    assert versions(study, ["planning_omrl_intervals"]) == ["planning_omrl_intervals"]
    of_study = [figure for figure in FIGURES.values() if figure.module.startswith("pomrl.studies.pomrl.")]
    assert versions(study) == [version for figure in of_study for version in figure.versions]
    with pytest.raises(ConfigError, match=r"^upper_bound_intervals: pomrl has no such figure; there are overview, "):
        versions(study, ["upper_bound_intervals"])


def test_intervals_may_be_over_more_runs_than_promised() -> None:
    drawing = FIGURES["pomrl_vs_adapomrl"].drawn(make_sweeps(runs=101, tasks=2), with_intervals=True)
    assert note(drawing) == "95 % intervals of the mean over 101 runs"


def test_intervals_are_students(sweeps: StoredSweeps, tables: Mapping[str, pd.DataFrame]) -> None:
    drawing = FIGURES["pomrl_vs_adapomrl"].drawn(sweeps, with_intervals=True)
    shown = choose(drawing.data, series="ada-POMRL")
    rows = choose(tables["task_similarity"], sigma=0.01, estimator="ada_pomrl", gamma=0.99)
    losses = rows.pivot(index="run", columns="task", values="planning_loss").to_numpy()
    lower, upper = scipy.stats.t.interval(0.95, RUNS - 1, losses.mean(0), scipy.stats.sem(losses))
    np.testing.assert_allclose(shown["lower"], lower)
    np.testing.assert_allclose(shown["upper"], upper)


def test_a_single_run_has_no_interval() -> None:
    rows = pd.DataFrame({"run": 0, "task": [1, 2], "planning_loss": 1.0})
    assert band(rows, ["task"], kind="ci")[["lower", "upper"]].isna().all(axis=None)


class TestBestGamma:
    def rows(self, losses: np.ndarray) -> pd.DataFrame:
        """Return losses, an array over runs and gammas 0 and 0.5, as a table of one task."""
        per_gamma = [pd.DataFrame({"gamma": g, "planning_loss": losses[:, i]}) for i, g in enumerate((0.0, 0.5))]
        return pd.concat(per_gamma).rename_axis("run").reset_index().assign(task=1)

    def ends(self, losses: np.ndarray) -> list[float]:
        return best_gamma_band(self.rows(losses), ["task"], "ci")[["lower", "upper"]].to_numpy()[0].tolist()

    def test_the_interval_is_narrow_where_all_runs_agree(self) -> None:
        assert self.ends(np.tile([1.0, 0.0], (5, 1))) == [0.5, 0.5]

    def test_the_interval_is_wide_where_runs_disagree(self) -> None:
        losses = np.array([[1.0, 0.0], [0.0, 1.0]] * 10 + [[1.0, 0.0]])
        assert best_gamma(self.rows(losses), ["task"])["gamma"].item() == 0.5
        assert self.ends(losses) == [0.0, 0.5]

    def test_a_single_run_has_no_interval(self) -> None:
        assert np.isnan(self.ends(np.array([[1.0, 0.0]]))).all()
