"""The data of the interactive curves."""

import shutil
from pathlib import Path

import numpy as np
import pytest
from tests.support.elements import find_curve, page_curves
from tests.support.report_outputs import copied_figures, study_folder, study_html

from pomrl import store
from pomrl.configuration.sources import PUBLISHED
from pomrl.configuration.studies import find
from pomrl.configuration.sweeps import experiment
from pomrl.drawing.picture_files import Sidecar
from pomrl.drawing.style import look
from pomrl.results.intervals import band
from pomrl.science.gamma_schedules import Hindsight
from pomrl.science.gamma_star import in_hindsight

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("folder")]

SEED = f"seed={find('pomrl2023').settings('task_similarity')[0].experiment.problem.seed}"
"""The seed of the sweeps of the paper."""


class TestCurves:
    def test_series_have_the_labels_of_their_options(self, embedded: dict) -> None:
        labels = {series["method"] for series in embedded["series"] if series["sweep"] == "task_similarity"}
        assert labels == {look(name).label for name in ("oracle", "without_meta", "pomrl", "ada_pomrl")}
        variants = {series["method"] for series in embedded["series"] if series["sweep"] == "mixing_rates"}
        assert "mixing mse_optimal, similarity debiased" in variants

    def test_the_first_chart_shows_figure_5(self, embedded: dict, folder: Path) -> None:
        path = study_folder(folder) / "figures" / "figure_5_dependence_on_tasksimilarity.json"
        curves = [f"{source.signature}-{source.runs}" for source in Sidecar.read(path).sweeps["task_similarity"]]
        first = next(series for series in embedded["series"] if series["T"] > 1)
        assert first["sweep"] == "task_similarity"
        assert first["curve"] in curves

    def test_curves_are_means_and_intervals_over_runs(self, embedded: dict) -> None:
        stored = experiment(PUBLISHED, ["estimator=ada_pomrl", "sigma=0.025", SEED])
        expected = band(store.load(stored, 2), ["task", "gamma"], kind="ci")
        curve = find_curve(embedded, "task_similarity", 0.025, "ada-POMRL")
        unit = embedded["unit"]
        np.testing.assert_allclose(unit * np.ravel(curve["mean"]), expected["mean"], atol=6e-5)
        np.testing.assert_allclose(unit * np.ravel(curve["half"]), expected["mean"] - expected["lower"], atol=6e-5)

    def test_choices_are_those_of_the_schedules(self, embedded: dict) -> None:
        problem = ["estimator=ada_pomrl", "sigma=0.01", SEED]
        choices = find_curve(embedded, "task_similarity", 0.01, "ada-POMRL")["choices"]
        labels = {name: look(name, "gamma_schedule").label for name in ("best_fixed", "dong", "upper_bound")}
        assert set(choices) == set(labels.values()) <= set(embedded["schedules"])
        table = store.load(experiment(PUBLISHED, [*problem, "gamma_schedule=dong"]), 2)
        expected = table.groupby("task")[["gamma", "planning_loss"]].mean()
        np.testing.assert_allclose(choices[labels["dong"]], expected, atol=6e-5)
        grid = store.load(experiment(PUBLISHED, problem), 2)
        fixed = in_hindsight(grid, Hindsight(gammas=sorted(grid["gamma"].unique().tolist()), scope="all_tasks"))
        expected = fixed.groupby("task")[["gamma", "planning_loss"]].mean()
        np.testing.assert_allclose(choices[labels["best_fixed"]], expected, atol=6e-5)

    def test_removed_runs_have_no_curve(self, folder: Path, empty_outputs: Path, embedded: dict) -> None:
        copied_figures(folder, empty_outputs)
        signature = embedded["series"][0]["curve"].partition("-")[0]
        shutil.copytree(folder / "runs" / signature, empty_outputs / "runs" / signature)
        actual = study_html("pomrl2023")
        assert {series["curve"].partition("-")[0] for series in page_curves(actual)["series"]} == {signature}
        assert embedded["lost"] == 0 < page_curves(actual)["lost"]
        assert f"{page_curves(actual)['lost']} experiments without a curve" in actual
