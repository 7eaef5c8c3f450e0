"""The figures as the authors computed them: the points of the notebook in them, and how far they are from ours."""

import numpy as np
import pandas as pd
import pytest
from examples.notebook import stored
from scipy import stats
from tests.support.shipped import AUTHORS, FIGURES
from tests.support.synthetic import with_table

from pomrl.drawing.series import dynamic_best
from pomrl_studies.pomrl2023 import digitised, overlay
from pomrl_studies.pomrl2023.averages import best_so_far
from pomrl_studies.pomrl2023.digitised import CONTRADICTED, NOTEBOOK_RUNS, PRINTED, READING, AuthorsSeries, Z

pytestmark = pytest.mark.slow

READINGS = {
    "authors_pomrl_vs_adapomrl": 30,
    "authors_planning_omrl": 60 + 22 + 30,
    "authors_dependence_on_tasksimilarity": 60 + 22,
    "authors_gamma_schedules": 13 * 15 - 2,
    "authors_dependence_on_tasksimilarity_ablation": 60,
}
"""The numbers of points that were read off, by figure; two points of cell 49 are hidden by others."""


TESTED_PANELS = {
    "authors_pomrl_vs_adapomrl": ["b"],
    "authors_planning_omrl": ["b", "d", "f"],
    "authors_dependence_on_tasksimilarity": ["c", "f"],
    "authors_gamma_schedules": ["a", "b", "c"],
    "authors_dependence_on_tasksimilarity_ablation": ["c"],
}
"""The panels with digitised losses, by figure; gamma* has no joint test."""


def losses(mean: dict[float, float], runs: int = 50, task: int = 1) -> pd.DataFrame:
    """Losses of runs at some discount factors, with these means over runs and a standard deviation of 1."""
    deviations = np.random.default_rng(0).normal(size=runs)
    deviations = (deviations - deviations.mean()) / deviations.std(ddof=1)
    return pd.DataFrame(
        [
            {"run": run, "task": task, "gamma": gamma, "planning_loss": loss + deviations[run] * (1 + gamma)}
            for run in range(runs)
            for gamma, loss in mean.items()
        ]
    )


def figure_point(x: float, value: float, reading_error: float = 0.0) -> pd.DataFrame:
    return pd.DataFrame({"x": [x], "value": [value], "reading_error": [reading_error]})


def test_contradicted_readings_are_printed_in_the_notebook() -> None:
    groups = stored.read("printed.csv").groupby(["series", "task"])["value"]
    table = digitised.read_digitised()
    for (name, task), printed in CONTRADICTED.items():
        assert set(groups.get_group((name, task))) == {printed}
        point = table[(table["series"] == name) & (table["task"] == task)]
        assert abs(point["value"].item() - printed) > 4 * point["reading_error"].item()


def test_z_counts_three_errors_at_nearest_gamma() -> None:
    compared = digitised.compare_losses(losses({0.0: 2.0}), figure_point(1, 3.0, reading_error=0.2), "task")
    assert compared["ours"].item() == pytest.approx(2.0)
    assert compared["z"].item() == pytest.approx(1.0 / np.sqrt(1 / 50 + 1 / 100 + 0.04))
    compared = digitised.compare_losses(losses({0.3: 2.0, 0.4: 5.0}), figure_point(0.1 + 0.2, 2.0), "gamma")
    assert compared["ours"].item() == pytest.approx(2.0)


def test_z_at_gamma_star_is_paired() -> None:
    rows = losses({0.0: 2.0, 0.5: 1.0, 0.9: 3.0})
    compared = digitised.compare_losses(dynamic_best(rows), figure_point(1, 1.5), "task")
    assert compared["ours"].item() == pytest.approx(1.0)
    assert compared["z"].item() == pytest.approx(0.5 / (1.5 * np.sqrt(1 / 50 + 1 / 100)))
    same = digitised.compare_best_gammas(rows, figure_point(1, 0.51), "task")
    assert same[["ours", "z"]].to_numpy().tolist() == [[0.5, 0.0]]
    other = digitised.compare_best_gammas(rows, figure_point(1, 0.88), "task")
    # in pairs the difference has the mean 2 and the standard deviation 1.9 - 1.5
    assert other["z"].item() == pytest.approx(2.0 / (0.4 * np.sqrt(1 / 50 + 1 / 100)))


def panels_of_runs(rng: np.random.Generator, runs: int) -> np.ndarray:
    """Losses of runs at 22 points: eleven means that are correlated, each read off twice."""
    common, own = rng.exponential(size=(runs, 1)), rng.exponential(size=(runs, 11))
    return np.tile(1.0 + 2.0 * common * np.linspace(0.5, 1.5, 11) + own, 2)


def joint_p(rng: np.random.Generator, shift: float | np.ndarray = 0.0) -> float:
    ours, reading = panels_of_runs(rng, 1000), np.full(22, 0.01)
    theirs = panels_of_runs(rng, NOTEBOOK_RUNS).mean(0) + shift + rng.normal(0.0, reading)
    return digitised.joint_test(ours, theirs, reading).p_value


def test_joint_p_values_are_uniform_under_equality() -> None:
    rng = np.random.default_rng(3)
    p = np.array([joint_p(rng) for _ in range(400)])
    assert stats.kstest(p, "uniform").pvalue > 0.01
    assert 0.025 < (p < 0.05).mean() < 0.08


def test_p_values_detect_shifted_and_bent_curves() -> None:
    rng = np.random.default_rng(4)
    deviation = panels_of_runs(rng, 10_000).std(0) / np.sqrt(NOTEBOOK_RUNS)
    assert max(joint_p(rng, 5.0 * deviation) for _ in range(20)) < 0.01
    assert max(joint_p(rng, 5.0 * deviation * (-1.0) ** np.arange(22)) for _ in range(20)) < 0.01


@pytest.mark.parametrize(("shared", "degrees"), [(0.0, 6.0), (1.0, 1.0)])
def test_degrees_of_freedom_count_independent_points(shared: float, degrees: float) -> None:
    rng = np.random.default_rng(5)
    runs = shared * rng.normal(size=(4000, 1)) + (1.0 - shared) * rng.normal(size=(4000, 6))
    test = digitised.joint_test(runs, runs.mean(0), np.zeros(6))
    assert test.degrees_of_freedom == pytest.approx(degrees, rel=0.01)
    assert test.p_value == 1.0


def test_best_so_far_averages_the_first_tasks() -> None:
    rows = pd.concat([losses({0.0: 1.0, 0.5: 2.0}, task=1), losses({0.0: 5.0, 0.5: 2.0}, task=2)], ignore_index=True)
    averaged = best_so_far(rows.sort_values(["run", "task", "gamma"]))
    assert averaged.groupby("task")["gamma"].unique().map(list).to_list() == [[0.0], [0.5]]
    np.testing.assert_allclose(averaged.groupby("task")["planning_loss"].mean(), [1.0, 2.0])


@pytest.mark.parametrize("name", AUTHORS)
def test_every_reading_is_drawn_with_a_z(drawings, name: str) -> None:
    data = drawings[name].data
    sizes = data.groupby("band").size()
    assert sizes.get(READING, 0) == sizes.get(Z, 0) == READINGS.get(name, 0)
    assert data.loc[data["band"].isin([READING, Z]), "mean"].notna().all()
    texts = [text.get_text() for legend in drawings[name].figure.legends for text in legend.get_texts()]
    lines = [text for text in texts if "joint test" in text]
    assert lines == digitised.describe_tests(data)
    assert [line[1] for line in lines] == TESTED_PANELS.get(name, [])


def test_contradicted_readings_are_drawn_beside_printed_values(drawings) -> None:
    data = drawings["authors_planning_omrl"].data
    printed = data[data["band"] == PRINTED]
    assert printed["mean"].to_list() == list(CONTRADICTED.values())
    for series in printed["series"]:
        readings = data[(data["series"] == series) & (data["band"] == READING) & (data["x"] == 1)]
        assert len(readings) == 1


def test_points_without_their_series_are_omitted(sweeps) -> None:
    table = sweeps[overlay.SIMILARITY].table
    without_oracle = with_table(sweeps, overlay.SIMILARITY, table[table["estimator"] != "oracle"])
    data = FIGURES["authors_planning_omrl"].draw(without_oracle).data
    assert (data["band"] == READING).sum() == READINGS["authors_planning_omrl"] - 15


def test_every_digitised_curve_is_drawn_once() -> None:
    curves_drawn = [
        (cell, series.curve)
        for name in ("authors_gamma_schedules", "authors_planning_omrl")
        for series in FIGURES[name].series
        if isinstance(series, AuthorsSeries)
        for cell in series.cells
        if series.curve
    ]
    curves = digitised.read_digitised()[["cell", "series"]].drop_duplicates()
    assert sorted(curves_drawn) == sorted(map(tuple, curves.to_numpy().tolist()))
