"""The versions of figures with 95 % intervals of the mean over runs."""

from collections.abc import Mapping

import numpy as np
import pandas as pd
import pytest
import scipy.stats
from tests.figures.checks import choose, note
from tests.figures.synthetic import PROMISED, RUNS, Lazy, make_sweeps

from pomrl.figures import FIGURES, INTERVALS, find, intervals_of, series_of, versions
from pomrl.drawing.drawing import Drawing
from pomrl.results.statistics import band, best_gamma, best_gamma_interval
from pomrl.results.stored_sweeps import StoredSweeps

GAINS = ("horizon_or_prior", "wrong_priors")
"""Figures of gains over gammas, which have intervals as they are."""


@pytest.fixture(scope="module")
def with_intervals(sweeps: StoredSweeps) -> Mapping[str, Drawing]:
    return Lazy(INTERVALS, lambda name: INTERVALS[name].draw(sweeps))


def test_every_figure_of_runs_has_a_version_with_intervals_and_names_its_series() -> None:
    of_runs = [name for name, figure in FIGURES.items() if figure.SWEEPS and name not in GAINS]
    assert list(INTERVALS) == [intervals_of(name) for name in of_runs]
    for name in of_runs:
        assert versions(name) == [name, intervals_of(name)]
        assert {one.sweep for one in series_of(FIGURES[name]) or ()} == set(FIGURES[name].SWEEPS)
        assert find(intervals_of(name)).SWEEPS == FIGURES[name].SWEEPS
    assert versions("upper_bound") == ["upper_bound"]


@pytest.mark.parametrize("name", [name for name in FIGURES if intervals_of(name) in INTERVALS])
def test_only_the_bands_differ_from_the_version_of_the_caption(
    name: str, drawings: Mapping[str, Drawing], with_intervals: Mapping[str, Drawing]
) -> None:
    plain, shown = drawings[name].data, with_intervals[intervals_of(name)].data
    others = ["panel", "series", "x", "mean", "n", "marker"]
    pd.testing.assert_frame_equal(plain[others], shown[others])
    of_runs = plain["n"] > 0
    renamed = {"sd": "ci", "se": "ci", "ci": "ci", "bootstrap sd": "bootstrap ci"}
    assert list(shown.loc[of_runs, "band"]) == [renamed[kind] for kind in plain.loc[of_runs, "band"]]
    assert (shown["lower"][of_runs] <= shown["mean"][of_runs]).all()
    assert (shown["mean"][of_runs] <= shown["upper"][of_runs]).all()
    (promised,) = {PROMISED[sweep] for sweep in FIGURES[name].SWEEPS}
    provisional = f"provisional: {RUNS} of {promised} runs"
    assert note(with_intervals[intervals_of(name)]) == f"95 % intervals of the mean over {RUNS} runs\n{provisional}"


def test_intervals_may_be_over_more_runs_than_promised() -> None:
    drawing = INTERVALS["pomrl_vs_adapomrl_intervals"].draw(make_sweeps(runs=101, tasks=2))
    assert note(drawing) == "95 % intervals of the mean over 101 runs"


def test_intervals_are_students(with_intervals: Mapping[str, Drawing], tables: Mapping[str, pd.DataFrame]) -> None:
    shown = choose(with_intervals["pomrl_vs_adapomrl_intervals"].data, series="ada-POMRL")
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
        return best_gamma_interval(self.rows(losses), ["task"])[["lower", "upper"]].to_numpy()[0].tolist()

    def test_the_interval_is_narrow_where_all_runs_agree(self) -> None:
        assert self.ends(np.tile([1.0, 0.0], (5, 1))) == [0.5, 0.5]

    def test_the_interval_is_wide_where_runs_disagree(self) -> None:
        losses = np.array([[1.0, 0.0], [0.0, 1.0]] * 10 + [[1.0, 0.0]])
        assert best_gamma(self.rows(losses), ["task"])["gamma"].item() == 0.5
        assert self.ends(losses) == [0.0, 0.5]

    def test_a_single_run_has_no_interval(self) -> None:
        assert np.isnan(self.ends(np.array([[1.0, 0.0]]))).all()

    def test_bars_are_within_their_panel(
        self, drawings: Mapping[str, Drawing], with_intervals: Mapping[str, Drawing]
    ) -> None:
        for drawing in (drawings["planning_omrl"], with_intervals["planning_omrl_intervals"]):
            bottom, top = drawing.figure.axes[3].get_ylim()
            bars = choose(drawing.data, series="γ* (right axis)")
            assert bottom <= bars["lower"].min()
            assert top >= bars["upper"].max()
