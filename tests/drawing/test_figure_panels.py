"""What the panels of figures show, computed from the tables once more."""

import numpy as np
import pandas as pd
import pytest
from matplotlib.collections import PathCollection
from matplotlib.figure import Figure
from matplotlib.text import Text
from tests.support.checks import assert_drawn, average_of_first, choose, outlines, running_average
from tests.support.synthetic import AXES, BATCHES, ESTIMATORS, FOUR, SCHEDULES, SIGMAS

from pomrl.drawing.panels import draw_curves, finish, row_of_panels
from pomrl.drawing.series import at_largest_gamma
from pomrl.drawing.style import Look, look
from pomrl.results.intervals import Kind, band, best_gamma, best_gamma_band

PAIRS = AXES["varying_pairs"]["estimator"]

WITHOUT = "varying_pairs_without_meta"

BASELINES = ("ada_pomrl", "oracle", "without_meta")

SAMPLES = [
    *(("arub_dependence_on_mT", i, "samples_and_tasks", batches) for i, batches in enumerate(list(BATCHES)[:3])),
    ("varyingSmT", 1, "states_20", list(BATCHES)[1]),
    ("varyingSmT", 5, "states_30", "m5_T15"),
]

Case = tuple[str, int, str, str, str, dict[str, object], Kind]
"""A line of a figure: panel, label, horizontal axis, and the sweep, the settings and the bands behind it."""


def per_task(figure: str, index: int, names: list[str], sweep: str, **settings: object) -> list[Case]:
    at_gamma_eval = {**settings, "gamma": 0.99}
    return [
        (figure, index, look(name).label, "task", sweep, {**at_gamma_eval, "estimator": name}, "sd") for name in names
    ]


def against_gamma(figure: str, index: int, kind: Kind, estimator: str, sigma: float = 0.01) -> list[Case]:
    settings = {"sigma": sigma, "estimator": estimator}
    tasks = (1, 2, 3, 5, 10, 15)
    return [(figure, index, f"t = {t}", "gamma", "task_similarity", {**settings, "task": t}, kind) for t in tasks]


CASES = [
    *per_task("pomrl_vs_adapomrl", 0, ["pomrl", "ada_pomrl"], "task_similarity", sigma=0.01),
    *per_task("planning_omrl", 0, FOUR, "task_similarity", sigma=0.01),
    *per_task("dependence_on_tasksimilarity", 2, FOUR, "task_similarity", sigma=SIGMAS[2]),
    *per_task("dependence_on_tasksimilarity_ablation", 1, ESTIMATORS, "task_similarity", sigma=SIGMAS[1]),
    *per_task("gaussian_tasks", 2, FOUR, "gaussian_tasks", sigma=SIGMAS[2]),
    *per_task("fixed_mean_model", 1, FOUR, "fixed_mean_model", **{"task_distribution.mean_model": "fixed"}),
    *per_task("varying_pairs", 4, PAIRS, "varying_pairs", **{"estimator.scope": "per_pair", "sigma": SIGMAS[1]}),
    ("varying_pairs", 5, look("without_meta").label, "task", WITHOUT, {"sigma": SIGMAS[2], "gamma": 0.99}, "sd"),
    *against_gamma("planning_omrl", 1, "se", "ada_pomrl"),
    *against_gamma("dependence_on_tasksimilarity", 4, "sd", "ada_pomrl", SIGMAS[1]),
    *(case for i, name in enumerate(BASELINES) for case in against_gamma("omrl_baselines", i, "sd", name)),
    *(
        ("initial_similarity", 0, f"σ₁ = {start:g}", "task", "initial_similarity", settings, "se")
        for start in (0.01, 0.1, 0.5)
        for settings in [{"estimator.start_deviation": start, "gamma": 0.99}]
    ),
    *(
        ("illustration", i, f"m = {m}", "gamma", "illustration", {"m": m, "estimator.mixing": alpha}, "se")
        for i, alpha in enumerate((0.0, 0.25, 0.5, 0.75))
        for m in (5, 10, 20, 50)
    ),
    *(
        ("gamma_schedules", 2, f"γ₀ = {offset:g}", "task", "gamma_0", settings, "se")
        for offset in AXES["gamma_0"]["gamma_schedule.gamma_0"]
        for settings in [{"gamma_schedule.gamma_0": offset, "estimator": "pomrl"}]
    ),
]


@pytest.mark.parametrize("figure", sorted({figure for figure, *_ in CASES}))
def test_lines_and_bands_equal_the_stored_runs(figure: str, drawings, tables) -> None:
    for _, index, label, x, sweep, settings, kind in (case for case in CASES if case[0] == figure):
        expected = band(choose(tables[sweep], **settings), [x], kind=kind)
        assert_drawn(drawings[figure].figure.axes[index], label, x, expected)


@pytest.mark.parametrize(("figure", "index", "sweep", "batches"), SAMPLES)
def test_average_loss_against_gamma(drawings, figure, index, sweep, batches, tables) -> None:
    T = BATCHES[batches]
    for name, tasks, label in (
        ("ada_pomrl", 2, "tasks 1 to 2"),
        ("ada_pomrl", T, f"tasks 1 to {T}"),
        ("without_meta", T, "Without meta-learning"),
    ):
        rows = average_of_first(choose(tables[sweep], batches=batches, estimator=name), tasks)
        assert_drawn(drawings[figure].figure.axes[index], label, "gamma", band(rows, ["gamma"], "y", kind="sd"))


@pytest.mark.parametrize(
    ("figure", "estimator"), [("gamma_schedules", "pomrl"), ("gamma_schedules_adapomrl", "ada_pomrl")]
)
def test_schedules(drawings, figure, estimator, tables) -> None:
    a, b = drawings[figure].figure.axes[:2]
    rows = choose(tables["gamma_schedules"], estimator=estimator)
    grid = choose(rows, gamma_schedule="grid")
    mean = grid.pivot_table(index="task", columns="gamma", values="planning_loss")
    best = mean.idxmin(axis=1)
    expected = {
        "fixed": choose(grid, gamma=0.99),
        "best_fixed": choose(grid, gamma=mean.mean().idxmin()),
        "dynamic_best": grid.loc[grid["gamma"] == grid["task"].map(best)],
        "dong": choose(rows, gamma_schedule="dong"),
        "upper_bound": choose(rows, gamma_schedule="upper_bound"),
    }
    for name, selected in expected.items():
        assert_drawn(a, look(name, "gamma_schedule").label, "task", band(selected, ["task"], kind="se"))
    assert look("fixed", "gamma_schedule").label not in [curve.get_label() for curve in b.lines]
    for name in SCHEDULES[1:]:
        running = band(running_average(expected[name]), ["task"], "y", kind="se")
        assert_drawn(b, look(name, "gamma_schedule").label, "task", running)


def test_zoom_fits_the_bands(drawings) -> None:
    ax = drawings["gamma_schedules"].figure.axes[1]
    heights = np.concatenate([outline[:, 1] for outline in outlines(ax)])
    bottom, top = ax.get_ylim()
    assert bottom <= heights.min()
    assert top >= heights.max()
    assert np.ptp(heights) > 0.8 * (top - bottom)


def test_standard_deviations_do_not_flatten_curves(drawings) -> None:
    drawing = drawings["pomrl_vs_adapomrl"]
    assert drawing.data["upper"].max() > 1.2 * drawing.data["mean"].max()
    assert drawing.figure.axes[0].get_ylim()[1] < 1.1 * drawing.data["mean"].max()


def test_markers_are_at_the_minima(drawings, tables) -> None:
    ax = drawings["planning_omrl"].figure.axes[1]
    ada = choose(tables["task_similarity"], sigma=0.01, estimator="ada_pomrl")
    means = ada.pivot_table(index="task", columns="gamma", values="planning_loss", aggfunc="mean")
    (circles,) = (artist for artist in ax.collections if isinstance(artist, PathCollection))
    marked = set(map(tuple, np.asarray(circles.get_offsets())))
    assert marked == {(means.loc[task].idxmin(), means.loc[task].min()) for task in (1, 2, 3, 5, 10, 15)}


def test_gamma_star_and_the_loss_there(drawings, tables) -> None:
    *_, at_best, gammas = drawings["planning_omrl"].figure.axes
    ada = choose(tables["task_similarity"], sigma=0.01, estimator="ada_pomrl")
    best = best_gamma(ada, ["task"])
    assert_drawn(at_best, "Loss at γ*", "task", band(ada.merge(best, on=["task", "gamma"]), ["task"]))
    bands = best_gamma_band(ada, ["task"])
    assert_drawn(gammas, "Best discount factor γ*", "task", bands.assign(upper=bands["upper"].clip(upper=1.0)))


def test_a_series_without_values_has_no_line() -> None:
    """A method may lack a column, such as the estimate of sigma."""
    nothing = [np.nan, np.nan]
    points = pd.DataFrame({"series": ["a", "a", "b", "b"], "x": [1, 2, 1, 2], "mean": [0.5, 0.4, *nothing]})
    points = points.assign(lower=np.nan, upper=np.nan, band="ci", n=5, marker=False)
    ax = Figure().subplots()
    draw_curves(ax, points, [Look("a", "red"), Look("b", "blue")])
    assert [np.asarray(line.get_ydata()).tolist() for line in ax.lines] == [[0.5, 0.4]]


def test_titles_are_above_small_offsets() -> None:
    figure, (ax,) = row_of_panels(1, 3.0, 2.0)
    ax.plot([0.0, 1.0], [1e-7, 2e-7])
    ax.set_title("A title", loc="left")
    finish(figure, pd.DataFrame())
    figure.draw_without_rendering()
    (title,) = figure.findobj(lambda artist: isinstance(artist, Text) and artist.get_text() == "A title")
    assert title.get_window_extent().y0 >= ax.yaxis.get_offset_text().get_window_extent().y1


def test_at_largest_gamma_does_not_need_order() -> None:
    index = pd.MultiIndex.from_product([(0, 1), (1, 2), (0.5, 0.9, 0.99)], names=["run", "task", "gamma"])
    rows = index.to_frame(index=False).drop(index=[5, 7])  # task 2 of run 0 ends at 0.9
    for ordered in (rows, rows.sort_values("gamma"), rows.iloc[:0]):
        assert set(at_largest_gamma(ordered).index) == {2, 4, 8, 11}.intersection(ordered.index)
