"""What the panels of figures show, computed from the tables once more."""

import numpy as np
import pytest
from matplotlib.container import ErrorbarContainer
from tests.support.checks import assert_close, assert_drawn, average_of_first, choose, outlines
from tests.support.synthetic import AXES, BATCHES, ESTIMATORS, FOUR, SCHEDULES, SIGMAS

from pomrl.drawing.style import look
from pomrl.results.statistics import band, best_gamma, best_gamma_band

PER_TASK = [
    ("pomrl_vs_adapomrl", 0, "task_similarity", {"sigma": 0.01}, ["pomrl", "ada_pomrl"]),
    ("planning_omrl", 0, "task_similarity", {"sigma": 0.01}, FOUR),
    *(("dependence_on_tasksimilarity", i, "task_similarity", {"sigma": SIGMAS[i]}, FOUR) for i in range(3)),
    ("dependence_on_tasksimilarity_ablation", 1, "task_similarity", {"sigma": SIGMAS[1]}, ESTIMATORS),
    ("gaussian_tasks", 2, "gaussian_tasks", {"sigma": SIGMAS[2]}, FOUR),
    ("fixed_mean_model", 1, "fixed_mean_model", {"task_distribution.mean_model": "fixed"}, FOUR),
    (
        "varying_pairs",
        4,
        "varying_pairs",
        {"estimator.scope": "per_pair", "sigma": SIGMAS[1]},
        AXES["varying_pairs"]["estimator"],
    ),
]

AGAINST_GAMMA = [
    ("planning_omrl", 1, 0.01, "ada_pomrl", "se"),
    *(("dependence_on_tasksimilarity", 3 + i, sigma, "ada_pomrl", "sd") for i, sigma in enumerate(SIGMAS)),
    *(("omrl_baselines", i, 0.01, name, "sd") for i, name in enumerate(("ada_pomrl", "oracle", "without_meta"))),
]

SAMPLES = [
    *(("arub_dependence_on_mT", i, "samples_and_tasks", batches) for i, batches in enumerate(list(BATCHES)[:3])),
    ("varyingSmT", 1, "states_20", list(BATCHES)[1]),
    ("varyingSmT", 5, "states_30", "m5_T15"),
]


@pytest.mark.parametrize(("figure", "index", "sweep", "settings", "estimators"), PER_TASK)
def test_loss_per_task_at_gamma_eval(drawings, figure, index, sweep, settings, estimators, tables) -> None:
    ax = drawings[figure].figure.axes[index]
    assert [one.get_label() for one in ax.lines][: len(estimators)] == [look(name).label for name in estimators]
    for name in estimators:
        rows = choose(tables[sweep], **settings, estimator=name, gamma=0.99)
        assert_drawn(ax, look(name).label, "task", band(rows, ["task"], kind="sd"))


def test_other_series_per_task(drawings, tables) -> None:
    for start in (0.01, 0.1, 0.5):
        rows = choose(tables["initial_similarity"], **{"estimator.sigma_1": start}, gamma=0.99)
        ax = drawings["initial_similarity"].figure.axes[0]
        assert_drawn(ax, f"σ₁ = {start:g}", "task", band(rows, ["task"], kind="se"))
    for index, sigma in enumerate([*SIGMAS, *SIGMAS]):
        rows = choose(tables["varying_pairs_without_meta"], sigma=sigma, gamma=0.99)
        ax = drawings["varying_pairs"].figure.axes[index]
        assert_drawn(ax, "Without meta-learning", "task", band(rows, ["task"], kind="sd"))


@pytest.mark.parametrize(("figure", "index", "sigma", "estimator", "kind"), AGAINST_GAMMA)
def test_loss_against_gamma(drawings, figure, index, sigma, estimator, kind, tables) -> None:
    rows = choose(tables["task_similarity"], sigma=sigma, estimator=estimator)
    for task in (1, 2, 3, 5, 10, 15):
        expected = band(choose(rows, task=task), ["gamma"], kind=kind)
        assert_drawn(drawings[figure].figure.axes[index], f"t = {task}", "gamma", expected)


def test_loss_against_gamma_with_a_fixed_weight(drawings, tables) -> None:
    for ax, alpha in zip(drawings["illustration"].figure.axes, (0.0, 0.25, 0.5, 0.75), strict=True):
        for m in (5, 10, 20, 50):
            rows = choose(tables["illustration"], m=m, **{"estimator.mixing": alpha})
            assert_drawn(ax, f"m = {m}", "gamma", band(rows, ["gamma"], kind="se"))


@pytest.mark.parametrize(("figure", "index", "sweep", "batches"), SAMPLES)
def test_average_loss_against_gamma(drawings, figure, index, sweep, batches, tables) -> None:
    T = BATCHES[batches]
    for name, tasks, label in (
        ("ada_pomrl", 2, "tasks 1 to 2"),
        ("ada_pomrl", T, f"tasks 1 to {T}"),
        ("without_meta", T, "Without meta-learning"),
    ):
        rows = average_of_first(choose(tables[sweep], batches=batches, estimator=name), tasks)
        assert_close(drawings[figure].figure.axes[index], label, "gamma", band(rows, ["gamma"], "y", kind="sd"))


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
    for name, chosen in expected.items():
        assert_drawn(a, look(name, "gamma_schedule").label, "task", band(chosen, ["task"], kind="se"))
    assert look("fixed", "gamma_schedule").label not in [one.get_label() for one in b.lines]
    for name in SCHEDULES[1:]:
        losses = expected[name].pivot(index="task", columns="run", values="planning_loss").expanding().mean()
        running = losses.reset_index().melt("task", var_name="run", value_name="y")
        assert_close(b, look(name, "gamma_schedule").label, "task", band(running, ["task"], "y", kind="se"))


def test_offsets_of_the_upper_bound(drawings, tables) -> None:
    c = drawings["gamma_schedules"].figure.axes[2]
    for offset in AXES["gamma_0"]["gamma_schedule.gamma_0"]:
        rows = choose(tables["gamma_0"], **{"gamma_schedule.gamma_0": offset})
        assert_drawn(c, f"γ₀ = {offset:g}", "task", band(rows, ["task"], kind="se"))
    rows = choose(tables["gamma_schedules"], estimator="pomrl", gamma_schedule="grid", gamma=0.99)
    assert_drawn(c, look("fixed", "gamma_schedule").label, "task", band(rows, ["task"], kind="se"))


def test_zoom_shows_every_band_and_no_more_than_a_little_else(drawings) -> None:
    ax = drawings["gamma_schedules"].figure.axes[1]
    heights = np.concatenate([outline[:, 1] for outline in outlines(ax)])
    bottom, top = ax.get_ylim()
    assert bottom <= heights.min()
    assert top >= heights.max()
    assert np.ptp(heights) > 0.8 * (top - bottom)


def test_markers_are_at_the_minima(drawings, tables) -> None:
    ax = drawings["planning_omrl"].figure.axes[1]
    ada = choose(tables["task_similarity"], sigma=0.01, estimator="ada_pomrl")
    means = ada.pivot_table(index="task", columns="gamma", values="planning_loss", aggfunc="mean")
    marked = {(one.get_xdata()[0], one.get_ydata()[0]) for one in ax.lines if one.get_marker() == "o"}
    assert marked == {(means.loc[task].idxmin(), means.loc[task].min()) for task in (1, 2, 3, 5, 10, 15)}


def test_gamma_star_and_the_loss_there(drawings, tables) -> None:
    _, _, ax, right = drawings["planning_omrl"].figure.axes
    ada = choose(tables["task_similarity"], sigma=0.01, estimator="ada_pomrl")
    best = best_gamma(ada, ["task"])
    assert_drawn(ax, "Loss at γ*", "task", band(ada.merge(best, on=["task", "gamma"]), ["task"]))
    ends = best_gamma_band(ada, ["task"])[["lower", "upper"]].to_numpy()
    (bars,) = (one for one in right.containers if isinstance(one, ErrorbarContainer))
    np.testing.assert_array_equal(np.asarray(bars[0].get_ydata()), best["gamma"])
    np.testing.assert_allclose(np.array(bars[2][0].get_segments())[:, :, 1], ends)
