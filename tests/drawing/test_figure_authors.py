"""The figures as the authors computed them: the points of the notebook in them, and how far they are from ours."""

import numpy as np
import pandas as pd
import pytest
from examples.notebook import stored
from tests.support.shipped import AUTHORS, FIGURES
from tests.support.synthetic import with_table

from pomrl.drawing.series import dynamic_best
from pomrl_studies.pomrl2023 import agreement, overlay
from pomrl_studies.pomrl2023.agreement import CONTRADICTED, PRINTED, READING, AuthorsSeries, Z
from pomrl_studies.pomrl2023.averages import best_so_far

pytestmark = pytest.mark.slow

READINGS = {
    "authors_pomrl_vs_adapomrl": 30,
    "authors_planning_omrl": 60 + 22 + 30,
    "authors_dependence_on_tasksimilarity": 60 + 22,
    "authors_gamma_schedules": 13 * 15 - 2,
    "authors_dependence_on_tasksimilarity_ablation": 60,
}
"""The numbers of points that were read off, by figure; two points of cell 49 are hidden by others."""


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


def drawn(x: float, value: float, reading_error: float = 0.0) -> pd.DataFrame:
    return pd.DataFrame({"x": [x], "value": [value], "reading_error": [reading_error]})


def test_what_contradicts_readings_is_what_the_notebook_prints() -> None:
    groups = stored.read("printed.csv").groupby(["series", "task"])["value"]
    table = agreement.read_digitised()
    for (name, task), printed in CONTRADICTED.items():
        assert set(groups.get_group((name, task))) == {printed}
        point = table[(table["series"] == name) & (table["task"] == task)]
        assert abs(point["value"].item() - printed) > 4 * point["reading_error"].item()


def test_z_of_losses_counts_three_errors_at_the_nearest_gamma() -> None:
    compared = agreement.compare_losses(losses({0.0: 2.0}), drawn(1, 3.0, reading_error=0.2), "task")
    assert compared["ours"].item() == pytest.approx(2.0)
    assert compared["z"].item() == pytest.approx(1.0 / np.sqrt(1 / 50 + 1 / 100 + 0.04))
    compared = agreement.compare_losses(losses({0.3: 2.0, 0.4: 5.0}), drawn(0.1 + 0.2, 2.0), "gamma")
    assert compared["ours"].item() == pytest.approx(2.0)


def test_z_at_gamma_star_is_that_of_the_smallest_loss_and_of_gamma_star_that_of_the_loss_in_pairs() -> None:
    rows = losses({0.0: 2.0, 0.5: 1.0, 0.9: 3.0})
    compared = agreement.compare_losses(dynamic_best(rows), drawn(1, 1.5), "task")
    assert compared["ours"].item() == pytest.approx(1.0)
    assert compared["z"].item() == pytest.approx(0.5 / (1.5 * np.sqrt(1 / 50 + 1 / 100)))
    same = agreement.compare_best_gammas(rows, drawn(1, 0.51), "task")
    assert same[["ours", "z"]].to_numpy().tolist() == [[0.5, 0.0]]
    other = agreement.compare_best_gammas(rows, drawn(1, 0.88), "task")
    # in pairs the difference has the mean 2 and the standard deviation 1.9 - 1.5
    assert other["z"].item() == pytest.approx(2.0 / (0.4 * np.sqrt(1 / 50 + 1 / 100)))


def test_best_so_far_is_the_best_gamma_on_average_over_the_first_tasks() -> None:
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
    lines = [text for text in texts if text.startswith("Largest |z|")]
    if name in READINGS:
        z = data.loc[data["band"] == Z, "mean"].abs().max()
        assert lines == [f"Largest |z| of {READINGS[name]} readings: {z:.1f}"]
    else:
        assert lines == []


def test_contradicted_readings_stay_and_what_is_printed_is_drawn_beside_them(drawings) -> None:
    data = drawings["authors_planning_omrl"].data
    printed = data[data["band"] == PRINTED]
    assert printed["mean"].to_list() == list(CONTRADICTED.values())
    for series in printed["series"]:
        readings = data[(data["series"] == series) & (data["band"] == READING) & (data["x"] == 1)]
        assert len(readings) == 1


def test_without_runs_of_a_series_its_points_are_left_out(sweeps) -> None:
    table = sweeps[overlay.SIMILARITY].table
    without_oracle = with_table(sweeps, overlay.SIMILARITY, table[table["estimator"] != "oracle"])
    data = FIGURES["authors_planning_omrl"].draw(without_oracle).data
    assert (data["band"] == READING).sum() == READINGS["authors_planning_omrl"] - 15


def test_every_curve_that_was_read_off_is_shown_once() -> None:
    shown = [
        (cell, one.curve)
        for name in ("authors_gamma_schedules", "authors_planning_omrl")
        for one in FIGURES[name].series
        if isinstance(one, AuthorsSeries)
        for cell in one.cells
        if one.curve
    ]
    curves = agreement.read_digitised()[["cell", "series"]].drop_duplicates()
    assert sorted(shown) == sorted(map(tuple, curves.to_numpy().tolist()))
