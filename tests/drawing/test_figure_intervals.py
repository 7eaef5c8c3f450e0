"""The versions of figures with 95 % intervals over runs."""

from collections.abc import Mapping

import numpy as np
import pandas as pd
import pytest
import scipy.stats
from tests.support.checks import choose, note
from tests.support.shipped import FIGURES
from tests.support.synthetic import RUNS, make_sweeps

from pomrl.results.intervals import best_gamma, best_gamma_band
from pomrl.results.sweep_results import StoredSweeps


def test_intervals_are_students(sweeps: StoredSweeps, tables: Mapping[str, pd.DataFrame]) -> None:
    drawing = FIGURES["pomrl_vs_adapomrl"].draw(sweeps, "ci")
    points = choose(drawing.data, series="ada-POMRL")
    rows = choose(tables["task_similarity"], sigma=0.01, estimator="ada_pomrl", gamma=0.99)
    losses = rows.pivot(index="run", columns="task", values="planning_loss").to_numpy()
    lower, upper = scipy.stats.t.interval(0.95, RUNS - 1, losses.mean(0), scipy.stats.sem(losses))
    np.testing.assert_allclose(points[["lower", "upper"]].T, [lower, upper])
    more_runs = FIGURES["pomrl_vs_adapomrl"].draw(make_sweeps(runs=101, tasks=2), "ci")
    assert note(more_runs) == "95 % intervals over 101 runs"


@pytest.mark.parametrize(
    ("losses", "ends"),
    [
        (np.tile([1.0, 0.0], (5, 1)), [0.5, 0.5]),  # all runs agree
        (np.array([[1.0, 0.0], [0.0, 1.0]] * 10 + [[1.0, 0.0]]), [0.0, 0.5]),  # they do not; 0.5 is the best
        (np.array([[1.0, 0.0]]), [np.nan, np.nan]),  # a single run has no interval
    ],
)
def test_gamma_star_intervals_resample_runs(losses: np.ndarray, ends: list[float]) -> None:
    per_gamma = [pd.DataFrame({"gamma": g, "planning_loss": losses[:, i]}) for i, g in enumerate((0.0, 0.5))]
    rows = pd.concat(per_gamma).rename_axis("run").reset_index().assign(task=1)
    assert best_gamma(rows, ["task"])["gamma"].item() == 0.5
    np.testing.assert_equal(best_gamma_band(rows, ["task"], "ci")[["lower", "upper"]].to_numpy()[0], ends)
