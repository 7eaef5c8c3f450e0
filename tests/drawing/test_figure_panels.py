import numpy as np
import pytest
from matplotlib.container import ErrorbarContainer
from tests.support.checks import assert_close, assert_drawn, average_of_first, choose, outlines
from tests.support.shipped import FIGURES
from tests.support.synthetic import AXES, BATCHES, ESTIMATORS, FOUR, SCHEDULES, SIGMAS

from pomrl.drawing.panels import AVERAGE_LOSS, LOSS, RUNNING_AVERAGE
from pomrl.drawing.style import Look, look
from pomrl.results.statistics import band, best_gamma, best_gamma_band

LOOKS: list[Look] = [*map(look, ESTIMATORS), *(look(name, "gamma_schedule") for name in SCHEDULES)]
"""The looks of the paper's estimators and schedules."""

SIMILARITY_PANELS = [
    (figure, i, sweep, {"sigma": sigma}, names)
    for figure, sweep, names in (
        ("dependence_on_tasksimilarity", "task_similarity", FOUR),
        ("dependence_on_tasksimilarity_ablation", "task_similarity", ESTIMATORS),
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
    def test_loss_per_task_at_gamma_eval(self, drawings, figure, index, sweep, settings, estimators, tables):
        ax = drawings[figure].figure.axes[index]
        labels = [one.get_label() for one in ax.lines]
        assert labels[: len(estimators)] == [look(name).label for name in estimators]
        for name in estimators:
            rows = choose(tables[sweep], **settings, estimator=name, gamma=0.99)
            assert_drawn(ax, look(name).label, "task", band(rows, ["task"], kind="sd"))

    def test_loss_per_task_by_the_similarity_at_the_start(self, drawings, tables):
        for start in (0.01, 0.1, 0.5):
            rows = choose(tables["initial_similarity"], **{"estimator.sigma_1": start}, gamma=0.99)
            ax = drawings["initial_similarity"].figure.axes[0]
            assert_drawn(ax, f"σ₁ = {start:g}", "task", band(rows, ["task"], kind="se"))

    def test_what_varying_pairs_is_compared_with(self, drawings, tables):
        for index, sigma in enumerate([*SIGMAS, *SIGMAS]):
            rows = choose(tables["varying_pairs_without_meta"], sigma=sigma, gamma=0.99)
            ax = drawings["varying_pairs"].figure.axes[index]
            assert_drawn(ax, "Without meta-learning", "task", band(rows, ["task"], kind="sd"))

    @pytest.mark.parametrize(("figure", "index", "sigma", "estimator", "kind"), AGAINST_GAMMA)
    def test_loss_against_gamma(self, drawings, figure, index, sigma, estimator, kind, tables):
        ax = drawings[figure].figure.axes[index]
        rows = choose(tables["task_similarity"], sigma=sigma, estimator=estimator)
        for task in (1, 2, 3, 5, 10, 15):
            assert_drawn(ax, f"t = {task}", "gamma", band(choose(rows, task=task), ["gamma"], kind=kind))

    def test_loss_against_gamma_with_a_fixed_weight(self, drawings, tables):
        for ax, alpha in zip(drawings["illustration"].figure.axes, (0.0, 0.25, 0.5, 0.75), strict=True):
            for m in (5, 10, 20, 50):
                rows = choose(tables["illustration"], m=m, **{"estimator.mixing": alpha})
                assert_drawn(ax, f"m = {m}", "gamma", band(rows, ["gamma"], kind="se"))

    @pytest.mark.parametrize(("figure", "index", "sweep", "batches"), SAMPLES)
    def test_average_loss_against_gamma(self, drawings, figure, index, sweep, batches, tables):
        ax = drawings[figure].figure.axes[index]
        T = BATCHES[batches]
        for name, tasks, label in (
            ("ada_pomrl", 2, "tasks 1 to 2"),
            ("ada_pomrl", T, f"tasks 1 to {T}"),
            ("without_meta", T, "Without meta-learning"),
        ):
            rows = average_of_first(choose(tables[sweep], batches=batches, estimator=name), tasks)
            assert_close(ax, label, "gamma", band(rows, ["gamma"], "y", kind="sd"))

    def test_average_over_tasks(self, drawings, tables):
        ax = drawings["average_over_tasks"].figure.axes[1]
        rows = average_of_first(choose(tables["task_similarity"], sigma=0.025, estimator="ada_pomrl"), 10)
        assert_close(ax, "tasks 1 to 10", "gamma", band(rows, ["gamma"], "y", kind="se"))

    @pytest.mark.parametrize(
        ("figure", "estimator"), [("gamma_schedules", "pomrl"), ("gamma_schedules_adapomrl", "ada_pomrl")]
    )
    def test_schedules(self, drawings, figure, estimator, tables):
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

    def test_offsets_of_the_upper_bound(self, drawings, tables):
        c = drawings["gamma_schedules"].figure.axes[2]
        for offset in AXES["gamma_0"]["gamma_schedule.gamma_0"]:
            rows = choose(tables["gamma_0"], **{"gamma_schedule.gamma_0": offset})
            assert_drawn(c, f"γ₀ = {offset:g}", "task", band(rows, ["task"], kind="se"))
        rows = choose(tables["gamma_schedules"], estimator="pomrl", gamma_schedule="grid", gamma=0.99)
        assert_drawn(c, look("fixed", "gamma_schedule").label, "task", band(rows, ["task"], kind="se"))

    def test_zoom_shows_every_band_and_no_more_than_a_little_else(self, drawings):
        ax = drawings["gamma_schedules"].figure.axes[1]
        heights = np.concatenate([outline[:, 1] for outline in outlines(ax)])
        bottom, top = ax.get_ylim()
        assert bottom <= heights.min()
        assert top >= heights.max()
        assert np.ptp(heights) > 0.8 * (top - bottom)

    def test_markers_are_at_the_minima(self, drawings, tables):
        ax = drawings["planning_omrl"].figure.axes[1]
        ada = choose(tables["task_similarity"], sigma=0.01, estimator="ada_pomrl")
        means = ada.pivot_table(index="task", columns="gamma", values="planning_loss", aggfunc="mean")
        marked = {(one.get_xdata()[0], one.get_ydata()[0]) for one in ax.lines if one.get_marker() == "o"}
        assert marked == {(means.loc[task].idxmin(), means.loc[task].min()) for task in (1, 2, 3, 5, 10, 15)}

    def test_loss_at_the_best_gamma(self, drawings, tables):
        ax = drawings["planning_omrl"].figure.axes[2]
        ada = choose(tables["task_similarity"], sigma=0.01, estimator="ada_pomrl")
        expected = band(ada.merge(best_gamma(ada, ["task"]), on=["task", "gamma"]), ["task"])
        assert_drawn(ax, "Loss at γ*", "task", expected)

    def test_best_gamma(self, drawings, tables):
        right = drawings["planning_omrl"].figure.axes[3]
        ada = choose(tables["task_similarity"], sigma=0.01, estimator="ada_pomrl")
        gamma = best_gamma(ada, ["task"])["gamma"].to_numpy()
        ends = best_gamma_band(ada, ["task"])[["lower", "upper"]].to_numpy()
        (bars,) = (one for one in right.containers if isinstance(one, ErrorbarContainer))
        np.testing.assert_array_equal(np.asarray(bars[0].get_ydata()), gamma)
        segments = np.array(bars[2][0].get_segments())
        np.testing.assert_allclose(segments[:, :, 1], ends)

    @pytest.mark.slow
    @pytest.mark.parametrize("name", FIGURES)
    def test_loss_axes_start_at_zero_and_reach_every_band(self, drawings, name):
        for ax in drawings[name].figure.axes:
            zoomed = "zoomed" in ax.get_title(loc="left")
            if ax.get_ylabel() in (LOSS, AVERAGE_LOSS, RUNNING_AVERAGE) and not zoomed and ax.get_yscale() == "linear":
                bottom, top = ax.get_ylim()
                assert bottom == 0.0
                assert top >= max(outline[:, 1].max() for outline in outlines(ax))

    @pytest.mark.slow
    @pytest.mark.parametrize("name", FIGURES)
    def test_one_method_has_one_look(self, drawings, name):
        looks = {each.label: each for each in LOOKS}
        for one in (one for ax in drawings[name].figure.axes for one in ax.lines):
            if wanted := looks.get(str(one.get_label())):
                drawn = (one.get_color(), one.get_marker(), one.get_linestyle())
                assert drawn == (wanted.color, wanted.marker, wanted.linestyle)

    def test_every_method_is_drawn(self, drawings):
        names = ("dependence_on_tasksimilarity_ablation", "gamma_schedules", "gamma_schedules_adapomrl")
        axes = [ax for name in names for ax in drawings[name].figure.axes]
        labels = [one.get_label() for ax in axes for one in ax.lines]
        assert all(labels.count(each.label) >= 3 for each in LOOKS)

    def test_looks_differ(self):
        assert len({each.color for each in LOOKS}) == len(LOOKS)
        for group in (LOOKS[: len(ESTIMATORS)], LOOKS[len(ESTIMATORS) :]):
            assert len({each.marker for each in group}) == len(group)
