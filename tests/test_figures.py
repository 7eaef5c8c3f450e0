import hashlib
import itertools
import json
import os
import subprocess
import sys
from pathlib import Path

import matplotlib as mpl
import numpy as np
import pandas as pd
import pytest
from matplotlib import pyplot as plt
from matplotlib.axes import Axes
from matplotlib.collections import FillBetweenPolyCollection
from matplotlib.container import ErrorbarContainer
from matplotlib.legend import Legend
from matplotlib.lines import Line2D
from matplotlib.text import Text
from src import figures as figures_command

from pomrl import published
from pomrl.bounds import average_regret_bound
from pomrl.figures import FIGURES
from pomrl.figures.parts import simplex
from pomrl.figures.parts.drawing import COLUMNS, Drawing
from pomrl.figures.parts.drawing import Series as ParticularSeries
from pomrl.figures.parts.files import save
from pomrl.figures.parts.panels import LOSS
from pomrl.figures.parts.style import ESTIMATORS, SCHEDULES, Look
from pomrl.figures.theory import average_regret
from pomrl.statistics import band, best_gamma, best_gamma_deviation
from pomrl.task_distributions import UniformBall

SIGMAS = [0.01, 0.025, 0.047]
GAMMAS = [0.0, 0.25, 0.5, 0.9, 0.99]
RUNS = 4
TASKS = 15

FOUR = ["oracle", "without_meta", "pomrl", "ada_pomrl"]
BATCHES = {"m5_T5": 5, "m20_T5": 5, "m5_T30": 30, "m5_T15": 15, "m100000_T30": 30}
AXES: dict[str, dict[str, list]] = {
    "task_similarity": {"sigma": SIGMAS, "estimator": list(ESTIMATORS)},
    "illustration": {"estimator.mixing": [0.0, 0.25, 0.5, 0.75], "m": [5, 10, 20, 50]},
    "gamma_schedules": {"estimator": ["pomrl", "ada_pomrl"], "gamma_schedule": ["grid", "dong", "upper_bound"]},
    "gamma_0": {"gamma_schedule.gamma_0": [0.25, 0.3, 0.35, 0.4, 0.45, 0.5]},
    "samples_and_tasks": {"batches": ["m5_T5", "m20_T5", "m5_T30"], "estimator": ["ada_pomrl", "without_meta"]},
    "states_20": {"batches": ["m5_T5", "m20_T5", "m5_T30"], "estimator": ["ada_pomrl", "without_meta"]},
    "states_30": {"batches": ["m5_T5", "m20_T5", "m5_T15"], "estimator": ["ada_pomrl", "without_meta"]},
    "gaussian_tasks": {"sigma": SIGMAS, "estimator": FOUR},
    "varying_pairs": {
        "sigma": SIGMAS,
        "estimator": ["oracle", "pomrl", "ada_pomrl"],
        "estimator.scope": ["max", "per_pair"],
    },
    "varying_pairs_without_meta": {"sigma": SIGMAS},
    "theory": {"sigma": [0.0, 0.01, 0.03], "batches": ["m5_T5", "m20_T5", "m5_T30", "m100000_T30"]},
    "mixing_rates": {
        "sigma": [0.01, 0.047],
        "estimator.mixing": ["paper", "mse_bound", "mse_optimal"],
        "estimator.similarity": ["known", "welford", "debiased"],
    },
    "initial_similarity": {"estimator.sigma_1": [0.01, 0.1, 0.5]},
    "fixed_mean_model": {"task_distribution.mean_model": ["per_run", "fixed"], "estimator": FOUR},
}
"""What the sweeps vary; `tests/test_published.py` has those of the real ones drawn."""

Tables = dict[str, pd.DataFrame]


def make_table(axes: dict[str, list], runs: int = RUNS, tasks: int = TASKS, seed: int = 0) -> pd.DataFrame:
    """Random losses for a whole sweep; a schedule that chooses its gamma has one in each task."""
    rng = np.random.default_rng(seed)
    parts = []
    for values in itertools.product(*axes.values()):
        setting = dict(zip(axes, values, strict=True))
        chosen = setting.get("gamma_schedule") in ("dong", "upper_bound") or "gamma_schedule.gamma_0" in setting
        T = BATCHES[setting["batches"]] if "batches" in setting else tasks
        keys = itertools.product(range(runs), range(1, T + 1), [0.6] if chosen else GAMMAS)
        parts.append(pd.DataFrame(keys, columns=["run", "task", "gamma"]).assign(**setting))
    frame = pd.concat(parts, ignore_index=True)
    others = ["planning_loss", "alpha", "sigma_hat", "model_error"]
    frame[others] = rng.random((len(frame), len(others)))
    return frame.astype({"run": "int32", "task": "int16"})


def make_tables(runs: int = RUNS, tasks: int = TASKS) -> Tables:
    return {name: make_table(axes, runs, 1 if name == "illustration" else tasks) for name, axes in AXES.items()}


TABLES = make_tables()
SIMILARITY = TABLES["task_similarity"]
OF_SWEEPS = [name for name, figure in FIGURES.items() if figure.SWEEPS]


def with_similarity(table: pd.DataFrame) -> Tables:
    """The tables with another one of the sweep that most figures show."""
    return {**TABLES, "task_similarity": table}


@pytest.fixture(scope="module")
def drawings() -> dict[str, Drawing]:
    return {name: module.draw(TABLES) for name, module in FIGURES.items()}


def choose(frame: pd.DataFrame, **settings) -> pd.DataFrame:
    for name, value in settings.items():
        frame = frame.loc[frame[name] == value]
    return frame


def line(ax: Axes, label: str) -> Line2D:
    (found,) = (one for one in ax.lines if one.get_label() == label)
    return found


def outlines(ax: Axes) -> list[np.ndarray]:
    """Vertices of the bands."""
    found = [one for one in ax.collections if isinstance(one, FillBetweenPolyCollection)]
    return [np.asarray(one.get_paths()[0].vertices) for one in found]


def assert_drawn(ax: Axes, label: str, x: str, expected: pd.DataFrame) -> None:
    """The line shows the means, and one of the bands their lower and upper ends."""
    drawn = line(ax, label)
    np.testing.assert_array_equal(np.asarray(drawn.get_xdata()), expected[x])
    np.testing.assert_array_equal(np.asarray(drawn.get_ydata()), expected["mean"])
    ends = np.concatenate([expected[[x, "lower"]], expected[[x, "upper"]]])
    corners = [set(map(tuple, outline)) for outline in outlines(ax)]
    assert any(set(map(tuple, ends)) <= corner for corner in corners)


def assert_close(ax: Axes, label: str, x: str, expected: pd.DataFrame) -> None:
    """The same where a mean is summed in another order."""
    drawn = line(ax, label)
    np.testing.assert_array_equal(np.asarray(drawn.get_xdata()), expected[x])
    np.testing.assert_allclose(np.asarray(drawn.get_ydata(), float), expected["mean"], rtol=1e-12)
    corners = np.concatenate(outlines(ax))
    for end in ("lower", "upper"):
        for point in expected[[x, end]].to_numpy():
            assert np.isclose(corners, point, rtol=1e-9).all(1).any()


def note(drawing: Drawing) -> str:
    return drawing.figure.get_suptitle()


def average_of_first(table: pd.DataFrame, tasks: int) -> pd.DataFrame:
    """The average over tasks 1..t in each run, at each gamma."""
    mean = table.pivot_table(index="run", columns=["gamma", "task"], values="planning_loss").T
    first = mean.loc[mean.index.get_level_values("task") <= tasks]
    return first.groupby("gamma").mean().reset_index().melt("gamma", var_name="run", value_name="y")


SIMILARITY_PANELS = [
    (figure, i, sweep, {"sigma": sigma}, names)
    for figure, sweep, names in (
        ("dependence_on_tasksimilarity", "task_similarity", FOUR),
        ("dependence_on_tasksimilarity_ablation", "task_similarity", list(ESTIMATORS)),
        ("gaussian_tasks", "gaussian_tasks", FOUR),
    )
    for i, sigma in enumerate(SIGMAS)
]
MEAN_MODELS = [
    ("fixed_mean_model", i, "fixed_mean_model", {"task_distribution.mean_model": name}, FOUR)
    for i, name in enumerate(("per_run", "fixed"))
]
SCOPES = [
    (
        "varying_pairs",
        3 * row + i,
        "varying_pairs",
        {"estimator.scope": scope, "sigma": sigma},
        AXES["varying_pairs"]["estimator"],
    )
    for row, scope in enumerate(("max", "per_pair"))
    for i, sigma in enumerate(SIGMAS)
]

AGAINST_GAMMA = [
    ("planning_omrl", 1, 0.01, "ada_pomrl", "se"),
    *(("dependence_on_tasksimilarity", 3 + i, sigma, "ada_pomrl", "sd") for i, sigma in enumerate(SIGMAS)),
    *(("omrl_baselines", i, 0.01, name, "sd") for i, name in enumerate(("ada_pomrl", "oracle", "without_meta"))),
]

SAMPLES = [
    *(("arub_dependence_on_mT", i, "samples_and_tasks", batches) for i, batches in enumerate(list(BATCHES)[:3])),
    *(("varyingSmT", i, "states_20", batches) for i, batches in enumerate(list(BATCHES)[:3])),
    *(("varyingSmT", 3 + i, "states_30", batches) for i, batches in enumerate(("m5_T5", "m20_T5", "m5_T15"))),
]


class TestPanels:
    @pytest.mark.parametrize(
        ("figure", "index", "sweep", "settings", "estimators"),
        [
            ("pomrl_vs_adapomrl", 0, "task_similarity", {"sigma": 0.01}, ["pomrl", "ada_pomrl"]),
            ("planning_omrl", 0, "task_similarity", {"sigma": 0.01}, FOUR),
            *SIMILARITY_PANELS,
            *MEAN_MODELS,
            *SCOPES,
        ],
    )
    def test_loss_per_task_at_gamma_eval(self, drawings, figure, index, sweep, settings, estimators):
        ax = drawings[figure].figure.axes[index]
        labels = [one.get_label() for one in ax.lines]
        assert labels[: len(estimators)] == [ESTIMATORS[name].label for name in estimators]
        for name in estimators:
            rows = choose(TABLES[sweep], **settings, estimator=name, gamma=0.99)
            assert_drawn(ax, ESTIMATORS[name].label, "task", band(rows, ["task"], kind="sd"))

    def test_loss_per_task_by_the_similarity_at_the_start(self, drawings):
        for start in (0.01, 0.1, 0.5):
            rows = choose(TABLES["initial_similarity"], **{"estimator.sigma_1": start}, gamma=0.99)
            ax = drawings["initial_similarity"].figure.axes[0]
            assert_drawn(ax, f"σ₁ = {start:g}", "task", band(rows, ["task"], kind="se"))

    def test_what_varying_pairs_is_compared_with(self, drawings):
        for index, sigma in enumerate([*SIGMAS, *SIGMAS]):
            rows = choose(TABLES["varying_pairs_without_meta"], sigma=sigma, gamma=0.99)
            ax = drawings["varying_pairs"].figure.axes[index]
            assert_drawn(ax, "Without meta-learning", "task", band(rows, ["task"], kind="sd"))

    @pytest.mark.parametrize(("figure", "index", "sigma", "estimator", "kind"), AGAINST_GAMMA)
    def test_loss_against_gamma(self, drawings, figure, index, sigma, estimator, kind):
        ax = drawings[figure].figure.axes[index]
        rows = choose(SIMILARITY, sigma=sigma, estimator=estimator)
        for task in (1, 2, 3, 5, 10, 15):
            assert_drawn(ax, f"t = {task}", "gamma", band(choose(rows, task=task), ["gamma"], kind=kind))

    def test_loss_against_gamma_with_a_fixed_weight(self, drawings):
        for ax, alpha in zip(drawings["illustration"].figure.axes, (0.0, 0.25, 0.5, 0.75), strict=True):
            for m in (5, 10, 20, 50):
                rows = choose(TABLES["illustration"], m=m, **{"estimator.mixing": alpha})
                assert_drawn(ax, f"m = {m}", "gamma", band(rows, ["gamma"], kind="se"))

    @pytest.mark.parametrize(("figure", "index", "sweep", "batches"), SAMPLES)
    def test_average_loss_against_gamma(self, drawings, figure, index, sweep, batches):
        ax = drawings[figure].figure.axes[index]
        T = BATCHES[batches]
        for name, tasks, label in (
            ("ada_pomrl", 2, "1 to 2"),
            ("ada_pomrl", T, f"1 to {T}"),
            ("without_meta", T, "Without meta-learning"),
        ):
            rows = average_of_first(choose(TABLES[sweep], batches=batches, estimator=name), tasks)
            assert_close(ax, label, "gamma", band(rows, ["gamma"], "y", kind="sd"))

    def test_average_over_tasks(self, drawings):
        ax = drawings["average_over_tasks"].figure.axes[1]
        rows = average_of_first(choose(SIMILARITY, sigma=0.025, estimator="ada_pomrl"), 10)
        assert_close(ax, "1 to 10", "gamma", band(rows, ["gamma"], "y", kind="se"))

    @pytest.mark.parametrize(
        ("figure", "estimator"), [("gamma_schedules", "pomrl"), ("gamma_schedules_adapomrl", "ada_pomrl")]
    )
    def test_schedules(self, drawings, figure, estimator):
        a, b = drawings[figure].figure.axes[:2]
        rows = choose(TABLES["gamma_schedules"], estimator=estimator)
        grid = choose(rows, gamma_schedule="grid")
        mean = grid.pivot_table(index="task", columns="gamma", values="planning_loss")
        best = mean.idxmin(axis=1)
        expected = {
            "gamma_eval": choose(grid, gamma=0.99),
            "best_fixed": choose(grid, gamma=mean.mean().idxmin()),
            "dynamic_best": grid.loc[grid["gamma"] == grid["task"].map(best)],
            "dong": choose(rows, gamma_schedule="dong"),
            "upper_bound": choose(rows, gamma_schedule="upper_bound"),
        }
        for name, chosen in expected.items():
            assert_drawn(a, SCHEDULES[name].label, "task", band(chosen, ["task"], kind="se"))
        assert SCHEDULES["gamma_eval"].label not in [one.get_label() for one in b.lines]
        for name in list(SCHEDULES)[1:]:
            losses = expected[name].pivot(index="task", columns="run", values="planning_loss").expanding().mean()
            running = losses.reset_index().melt("task", var_name="run", value_name="y")
            assert_close(b, SCHEDULES[name].label, "task", band(running, ["task"], "y", kind="se"))

    def test_offsets_of_the_upper_bound(self, drawings):
        c = drawings["gamma_schedules"].figure.axes[2]
        for offset in AXES["gamma_0"]["gamma_schedule.gamma_0"]:
            rows = choose(TABLES["gamma_0"], **{"gamma_schedule.gamma_0": offset})
            assert_drawn(c, f"γ₀ = {offset:g}", "task", band(rows, ["task"], kind="se"))
        rows = choose(TABLES["gamma_schedules"], estimator="pomrl", gamma_schedule="grid", gamma=0.99)
        assert_drawn(c, SCHEDULES["gamma_eval"].label, "task", band(rows, ["task"], kind="se"))

    def test_zoom_shows_every_band_and_no_more_than_a_little_else(self, drawings):
        ax = drawings["gamma_schedules"].figure.axes[1]
        heights = np.concatenate([outline[:, 1] for outline in outlines(ax)])
        bottom, top = ax.get_ylim()
        assert bottom <= heights.min()
        assert top >= heights.max()
        assert np.ptp(heights) > 0.8 * (top - bottom)

    def test_markers_are_at_the_minima(self, drawings):
        ax = drawings["planning_omrl"].figure.axes[1]
        ada = choose(SIMILARITY, sigma=0.01, estimator="ada_pomrl")
        means = ada.pivot_table(index="task", columns="gamma", values="planning_loss", aggfunc="mean")
        marked = {(one.get_xdata()[0], one.get_ydata()[0]) for one in ax.lines if one.get_marker() == "o"}
        assert marked == {(means.loc[task].idxmin(), means.loc[task].min()) for task in (1, 2, 3, 5, 10, 15)}

    def test_loss_at_the_best_gamma(self, drawings):
        ax = drawings["planning_omrl"].figure.axes[2]
        ada = choose(SIMILARITY, sigma=0.01, estimator="ada_pomrl")
        expected = band(ada.merge(best_gamma(ada, ["task"]), on=["task", "gamma"]), ["task"])
        assert_drawn(ax, "Loss at γ*", "task", expected)

    def test_best_gamma(self, drawings):
        right = drawings["planning_omrl"].figure.axes[3]
        ada = choose(SIMILARITY, sigma=0.01, estimator="ada_pomrl")
        gamma = best_gamma(ada, ["task"])["gamma"].to_numpy()
        deviation = best_gamma_deviation(ada, ["task"])["deviation"].to_numpy()
        (bars,) = (one for one in right.containers if isinstance(one, ErrorbarContainer))
        np.testing.assert_array_equal(np.asarray(bars[0].get_ydata()), gamma)
        segments = np.array(bars[2][0].get_segments())
        np.testing.assert_allclose(segments[:, :, 1], np.stack([gamma - deviation, gamma + deviation], axis=1))

    def test_loss_axes_start_at_zero_and_reach_every_band(self, drawings):
        for drawing in drawings.values():
            for ax in drawing.figure.axes:
                if ax.get_ylabel() == LOSS:
                    bottom, top = ax.get_ylim()
                    assert bottom == 0.0
                    assert top >= max(outline[:, 1].max() for outline in outlines(ax))

    def test_one_method_has_one_look(self, drawings):
        for looks in (ESTIMATORS, SCHEDULES):
            for look in looks.values():
                every = [ax for drawing in drawings.values() for ax in drawing.figure.axes]
                lines = [one for ax in every for one in ax.lines if one.get_label() == look.label]
                assert len(lines) >= 3
                assert {(one.get_color(), one.get_marker(), one.get_linestyle()) for one in lines} == {
                    (look.color, look.marker, look.linestyle)
                }

    def test_looks_differ(self):
        looks = [*ESTIMATORS.values(), *SCHEDULES.values()]
        assert len({look.color for look in looks}) == len(looks)
        for group in (ESTIMATORS, SCHEDULES):
            assert len({look.marker for look in group.values()}) == len(group)


class TestTheory:
    def test_measured_regret_and_its_bound_against_the_number_of_tasks(self, drawings):
        for index, sigma in enumerate((0.0, 0.01, 0.03)):
            ax = drawings["average_regret"].figure.axes[index]
            rows = choose(TABLES["theory"], sigma=sigma, batches="m100000_T30", gamma=0.9)
            losses = rows.pivot(index="task", columns="run", values="planning_loss").expanding().mean()
            running = losses.reset_index().melt("task", var_name="run", value_name="y")
            assert_close(ax, "POMRL(σ)", "task", band(running, ["task"], "y", kind="se"))
            problem = average_regret.problem(sigma, 100_000, 30)
            mean = problem.mean(0)
            radius = UniformBall(zeros=5).almost_sure_radius(mean)
            bound = average_regret_bound(
                gamma=0.9, gamma_eval=0.99, m=100_000, sigma=radius, plugged=mean.sigma, S=10, A=2, T=17, delta=0.05
            )
            drawn = line(ax, "Bound, corrected")
            assert np.asarray(drawn.get_xdata())[16] == 17
            np.testing.assert_allclose(np.asarray(drawn.get_ydata(), float)[16], bound)

    def test_measured_regret_against_gamma(self, drawings):
        for index, batches in enumerate(("m5_T5", "m20_T5", "m5_T30")):
            ax = drawings["average_regret"].figure.axes[3 + index]
            rows = average_of_first(choose(TABLES["theory"], sigma=0.01, batches=batches), BATCHES[batches])
            assert_close(ax, "POMRL(σ)", "gamma", band(rows, ["gamma"], "y", kind="se"))

    def test_problems_are_those_of_the_sweep(self):
        settings = published.sweep(figures_command.CONF, "theory")
        problems = [setting.experiment.problem for setting in settings]
        panels = {**average_regret.AGAINST_T, **average_regret.AGAINST_GAMMA}
        assert all(average_regret.problem(*of) in problems for of in panels.values())

    def test_minima_of_the_upper_bound(self, drawings):
        data = choose(drawings["upper_bound"].data, panel="a")
        corrected = choose(data, series="minimum, corrected")
        printed = choose(data, series="minimum, as printed")
        for C, at, U in zip((0.02, 0.1, 0.3, 0.6, 1.0), corrected["x"], corrected["mean"], strict=True):
            curve = choose(data, series=f"C = {C:g}")
            assert curve["mean"].min() + 1e-12 >= U
            assert abs(at - curve["x"].iloc[curve["mean"].argmin()]) <= 0.01
        assert list(printed["x"]) == [0.99, 0.99, 0.99, *corrected["x"][-2:]]

    def test_squared_errors_are_simulated_and_computed(self, drawings):
        data = drawings["squared_error"].data
        for panel, t in itertools.product("abc", (2, 5, 15)):
            computed = choose(data, panel=panel, series=f"t = {t}")["mean"].to_numpy()
            simulated = choose(data, panel=panel, series=f"simulated, t = {t}")["mean"].to_numpy()
            np.testing.assert_allclose(simulated, computed, rtol=0.05)
        best = choose(data, panel="b", series="minimum")
        np.testing.assert_allclose(best["x"], 10 / 15)

    def test_mixing_rates(self, drawings):
        axes = drawings["mixing_rates"].figure.axes
        panels = itertools.product((0.01, 0.047), ("known", "welford", "debiased"))
        for ax, (sigma, similarity) in zip(axes, panels, strict=True):
            settings = {"sigma": sigma, "estimator.similarity": similarity, "estimator.mixing": "mse_optimal"}
            rows = choose(TABLES["mixing_rates"], **settings, gamma=0.99)
            losses = rows.pivot(index="task", columns="run", values="planning_loss").expanding().mean()
            running = losses.reset_index().melt("task", var_name="run", value_name="y")
            assert_close(ax, "Optimal rate", "task", band(running, ["task"], "y", kind="se"))

    def test_bounds_are_vacuous_at_the_setting_of_the_paper(self, drawings):
        data = choose(drawings["vacuous_bounds"].data, x=5.0)
        assert len(data) == 9
        assert (data["mean"] < 0.2).all()


class TestSimplex:
    def test_concentration_gives_the_variance(self):
        for variance in SIGMAS:
            draws = simplex.dirichlet(simplex.concentration(variance), 200_000)
            np.testing.assert_allclose(draws.var(0), variance, rtol=0.02)
            np.testing.assert_allclose(draws.mean(0), 1 / 3, atol=2e-3)

    def test_corners_are_the_certain_distributions(self):
        data = simplex.points(ParticularSeries("a", Look("x", "black")), np.eye(3))
        sides = np.hypot(*np.diff(data[["x", "mean"]].to_numpy()[[0, 1, 2, 0]], axis=0).T)
        np.testing.assert_allclose(sides, 1.0)

    def test_insets_show_draws_that_spread_with_sigma(self, drawings):
        for name in ("dependence_on_tasksimilarity", "dependence_on_tasksimilarity_ablation", "gaussian_tasks"):
            draws = choose(drawings[name].data, band="draw")
            assert set(draws["panel"]) == {"a", "b", "c"}
            variance = draws.groupby("panel")[["x", "mean"]].var().mean(axis=1)
            np.testing.assert_allclose(variance, np.array(SIGMAS) * 1.5 / 2, rtol=0.3)
            insets = [inset for ax in drawings[name].figure.axes[:3] for inset in ax.child_axes]
            assert [len(np.asarray(inset.lines[1].get_xdata())) for inset in insets] == [150] * 3

    def test_dirichlet_task_dist_states_its_moments(self, drawings):
        drawing = drawings["dirichlet_task_dist"]
        assert "variance 0.00483, standard deviation 0.0695" in drawing.figure.axes[0].get_title(loc="left")
        np.testing.assert_allclose(drawing.data[["x", "mean"]].var().mean(), 0.00483 * 1.5 / 2, rtol=0.1)

    def test_overview_mixes_batch_and_prior(self, drawings):
        data = drawings["overview"].data
        at = {name: choose(data, series=name, panel="b")[["x", "mean"]].to_numpy() for name in set(data["series"])}
        batch, prior = at["Its batch of m = 5"][0], at["Prior: the batches' mean"][0]
        alpha = (at["Estimate P̂ₜ"][0] - batch) @ (prior - batch) / ((prior - batch) @ (prior - batch))
        np.testing.assert_allclose(batch + alpha * (prior - batch), at["Estimate P̂ₜ"][0])
        largest_variance = 0.25 / 21
        np.testing.assert_allclose(alpha, 1 / (largest_variance * 5 * (1 + 1 / 6) + 1))

    def test_overview_has_tasks_around_their_mean(self, drawings):
        data = drawings["overview"].data
        tasks = choose(data, panel="a", series="Task models P₁ ... P₁₅")
        mean = choose(data, series="Their mean Pₒ").iloc[0]
        assert len(tasks) == 15
        assert np.hypot(tasks["x"].mean() - mean["x"], tasks["mean"].mean() - mean["mean"]) < 0.1


class TestData:
    @pytest.mark.parametrize("name", FIGURES)
    def test_is_what_is_drawn(self, drawings, name):
        data = drawings[name].data
        assert list(data.columns) == COLUMNS
        points = data.loc[data["n"] > 0]
        assert not points.duplicated(["panel", "series", "x"]).any()
        if FIGURES[name].SWEEPS:
            assert (points["n"] == RUNS).all()
        assert (points["lower"] <= points["mean"]).all()
        assert (points["mean"] <= points["upper"]).all()

    def test_has_every_point(self, drawings):
        points = choose(drawings["dependence_on_tasksimilarity"].data, band="sd")
        assert len(points) == 3 * 4 * TASKS + 3 * 6 * len(GAMMAS)
        ax = drawings["dependence_on_tasksimilarity"].figure.axes[1]
        ada = choose(points, panel="b", series="ada-POMRL")
        np.testing.assert_array_equal(np.asarray(line(ax, "ada-POMRL").get_ydata()), ada["mean"])

    def test_says_which_band_and_which_marker(self, drawings):
        data = drawings["planning_omrl"].data
        assert {panel: set(rows["band"]) for panel, rows in data.groupby("panel")} == {
            "a": {"sd"},
            "b": {"se"},
            "c": {"sd", "bootstrap sd"},
        }
        assert choose(data, marker=True).groupby(["panel", "series"]).size().tolist() == [1] * 6

    @pytest.mark.usefixtures("drawings")
    def test_tables_are_left_alone(self):
        for name, table in make_tables().items():
            pd.testing.assert_frame_equal(TABLES[name], table)


class TestHonesty:
    @pytest.mark.parametrize("name", OF_SWEEPS)
    def test_fewer_runs(self, name, drawings):
        assert note(drawings[name]) == f"provisional: {RUNS} of {FIGURES[name].RUNS} runs"

    def test_as_many_runs_as_promised(self):
        assert note(FIGURES["pomrl_vs_adapomrl"].draw(make_tables(runs=100, tasks=2))) == ""

    def test_more_runs(self):
        drawing = FIGURES["pomrl_vs_adapomrl"].draw(make_tables(runs=101, tasks=2))
        assert note(drawing) == "101 runs instead of 100"

    def test_uneven_runs(self):
        tables = with_similarity(SIMILARITY.loc[(SIMILARITY["estimator"] != "pomrl") | (SIMILARITY["run"] < 3)])
        assert note(FIGURES["pomrl_vs_adapomrl"].draw(tables)) == "provisional: 3 to 4 of 100 runs"

    def test_missing_series_is_left_out_and_named(self):
        without = SIMILARITY.loc[(SIMILARITY["estimator"] != "oracle") | (SIMILARITY["sigma"] != 0.025)]
        drawing = FIGURES["dependence_on_tasksimilarity"].draw(with_similarity(without))
        assert "missing: (b) Oracle prior knowledge" in note(drawing)
        labels = [one.get_label() for one in drawing.figure.axes[1].lines]
        assert labels == ["Without meta-learning", "POMRL(σ)", "ada-POMRL"]
        assert choose(drawing.data, panel="b", series="Oracle prior knowledge").empty

    def test_missing_panel(self):
        drawing = FIGURES["dependence_on_tasksimilarity"].draw(
            with_similarity(SIMILARITY.loc[SIMILARITY["sigma"] < 0.03])
        )
        assert "missing: (c) everything; (f) everything" in note(drawing)
        assert not drawing.figure.axes[2].lines

    def test_missing_sweep(self):
        tables = {**TABLES, "gamma_0": TABLES["gamma_0"].iloc[:0]}
        assert "missing: (c) γ₀ = 0.25, γ₀ = 0.3" in note(FIGURES["gamma_schedules"].draw(tables))

    def test_missing_estimator_of_two_panels(self):
        tables = with_similarity(SIMILARITY.loc[SIMILARITY["estimator"] != "ada_pomrl"])
        drawing = FIGURES["planning_omrl"].draw(tables)
        assert "missing: (a) ada-POMRL; (b) everything; (c) everything" in note(drawing)
        assert [ax.get_legend() is None for ax in drawing.figure.axes] == [False, True, True, True]

    def test_missing_tasks(self):
        drawing = FIGURES["planning_omrl"].draw(make_tables(tasks=5))
        assert "missing: (b) t = 10, t = 15" in note(drawing)

    def test_averages_over_tasks_that_are_missing(self):
        drawing = FIGURES["average_over_tasks"].draw(make_tables(tasks=5))
        assert "(a) 1 to 10, 1 to 15" in note(drawing)

    @pytest.mark.parametrize("name", OF_SWEEPS)
    def test_one_run(self, name):
        assert note(FIGURES[name].draw(make_tables(runs=1))) == f"provisional: 1 of {FIGURES[name].RUNS} runs"

    @pytest.mark.parametrize("name", OF_SWEEPS)
    def test_nothing_of_the_figure(self, name):
        nothing = {sweep: table.iloc[:0] for sweep, table in TABLES.items()}
        with pytest.raises(ValueError, match="hold nothing that this figure shows: it needs "):
            FIGURES[name].draw(nothing)

    def test_a_column_is_missing(self):
        with pytest.raises(ValueError, match="no column sigma"):
            FIGURES["planning_omrl"].draw(with_similarity(SIMILARITY.drop(columns="sigma")))

    def test_two_jobs_of_one_setting(self):
        with pytest.raises(ValueError, match="several rows"):
            FIGURES["pomrl_vs_adapomrl"].draw(with_similarity(pd.concat([SIMILARITY, SIMILARITY])))


class TestStyle:
    def test_global_state_is_left_alone(self, tmp_path):
        before = dict(mpl.rcParams)
        save(FIGURES["pomrl_vs_adapomrl"].draw(TABLES), tmp_path, "figure", {})
        assert dict(mpl.rcParams) == before
        assert plt.get_fignums() == []

    def test_settings_of_the_caller_do_not_matter(self, tmp_path):
        draw = FIGURES["pomrl_vs_adapomrl"].draw
        plain = save(draw(TABLES), tmp_path, "plain", {})[1]
        with mpl.rc_context({"font.size": 30, "lines.linewidth": 9, "axes.facecolor": "black", "savefig.dpi": 50}):
            other = save(draw(TABLES), tmp_path, "other", {})[1]
        assert plain.read_bytes() == other.read_bytes()

    @pytest.mark.parametrize("name", FIGURES)
    def test_text_is_legible_and_within_the_figure(self, drawings, name):
        figure = drawings[name].figure
        found = [one for one in figure.findobj(Text) if isinstance(one, Text)]
        texts = [one for one in found if one.get_text() and one.get_visible()]
        assert min(float(one.get_fontsize()) for one in texts) >= 7.0
        for text in texts:
            box = text.get_window_extent()
            assert box.x0 >= figure.bbox.x0 - 1
            assert box.x1 <= figure.bbox.x1 + 1
            assert box.y0 >= figure.bbox.y0 - 1
            assert box.y1 <= figure.bbox.y1 + 1

    @pytest.mark.parametrize("name", FIGURES)
    def test_no_legend_over_data(self, drawings, name):
        figure = drawings[name].figure
        legends = [one for one in figure.findobj(Legend) if isinstance(one, Legend)]
        assert legends or name == "dirichlet_task_dist"
        for legend in legends:
            assert not any(ax.bbox.overlaps(legend.get_window_extent()) for ax in figure.axes)

    @pytest.mark.parametrize("name", FIGURES)
    def test_titles_of_panels_do_not_overlap(self, drawings, name):
        titles = [ax.title if ax.title.get_text() else ax._left_title for ax in drawings[name].figure.axes]  # type: ignore[attr-defined]
        boxes = [title.get_window_extent() for title in titles if title.get_text()]
        assert not any(one.overlaps(other) for one, other in itertools.combinations(boxes, 2))


FROM_ANOTHER_PROCESS = """
import pathlib
import sys
import pandas as pd
from pomrl import published
from pomrl.bounds import average_regret_bound
from pomrl.figures import FIGURES
from pomrl.figures.parts.files import save
tables = {"task_similarity": pd.read_parquet(sys.argv[1])}
save(FIGURES["planning_omrl"].draw(tables), pathlib.Path(sys.argv[2]), "planning_omrl", {})
"""


class TestFiles:
    @pytest.mark.parametrize("name", FIGURES)
    def test_same_tables_same_bytes(self, name, tmp_path, drawings):
        once = save(drawings[name], tmp_path / "once", name, {})
        again = save(FIGURES[name].draw(make_tables()), tmp_path / "again", name, {})
        assert [path.name for path in once] == [f"{name}.{suffix}" for suffix in ("pdf", "png", "csv", "json")]
        for one, other in zip(once, again, strict=True):
            assert one.read_bytes() == other.read_bytes()

    def test_same_bytes_in_another_process(self, tmp_path, drawings):
        here = save(drawings["planning_omrl"], tmp_path / "here", "planning_omrl", {})
        SIMILARITY.to_parquet(tmp_path / "tables.parquet")
        arguments = [sys.executable, "-c", FROM_ANOTHER_PROCESS, tmp_path / "tables.parquet", tmp_path / "there"]
        subprocess.run(arguments, check=True, env={**os.environ, "PYTHONHASHSEED": "1", "MPLBACKEND": "pdf"})
        for path in here:
            assert path.read_bytes() == (tmp_path / "there" / path.name).read_bytes()

    def test_saving_twice(self, tmp_path, drawings):
        first = [path.read_bytes() for path in save(drawings["pomrl_vs_adapomrl"], tmp_path, "x", {})]
        assert [path.read_bytes() for path in save(drawings["pomrl_vs_adapomrl"], tmp_path, "x", {})] == first

    def test_csv_is_the_data(self, tmp_path, drawings):
        drawing = drawings["planning_omrl"]
        path = save(drawing, Path(tmp_path), "figure", {})[2]
        pd.testing.assert_frame_equal(pd.read_csv(path), drawing.data, check_dtype=False, rtol=1e-14)

    def test_sidecar_has_sources_and_digests(self, tmp_path, drawings):
        *files, sidecar = save(drawings["overview"], tmp_path, "overview", {"commit": "abc"})
        said = json.loads(sidecar.read_text())
        assert said["commit"] == "abc"
        assert said["files"] == {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in files}


def test_the_command_with_nothing_stored_says_what_to_run(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    monkeypatch.setenv("POMRL_OUTPUTS", str(tmp_path))
    monkeypatch.setattr(sys, "argv", ["figures", "planning_omrl", "varyingSmT"])
    with pytest.raises(SystemExit) as end:
        figures_command.main()
    said = capsys.readouterr().err
    assert end.value.code == 1
    for sweep in ("task_similarity", "states_20", "states_30"):
        assert f"python -m src.run experiment={sweep}" in said
    assert "./reproduce.sh" in said
    assert not list(tmp_path.iterdir())


def test_the_command_refuses_a_name_that_does_not_exist(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "argv", ["figures", "no_such_figure"])
    with pytest.raises(SystemExit) as end:
        figures_command.main()
    assert end.value.code == 1
    assert "no_such_figure: there is no such figure; there are overview" in capsys.readouterr().err


def test_pictures_of_the_readme_are_those_that_the_command_renews() -> None:
    folder = Path(figures_command.__file__).parents[1]
    assert {path.stem for path in (folder / "outputs/readme").glob("*.png")} == set(figures_command.README)
    text = (folder / "README.md").read_text()
    assert all(f"outputs/readme/{name}.png" in text for name in figures_command.README)
