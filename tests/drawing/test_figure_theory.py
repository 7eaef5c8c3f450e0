import itertools
from dataclasses import replace

import numpy as np
from tests.support.checks import assert_drawn, average_of_first, choose, line, running_average
from tests.support.synthetic import BATCHES

from pomrl.bounds import average_regret_bound
from pomrl.configuration.studies import find
from pomrl.results.intervals import band
from pomrl.science.tasks.random_chains import UniformBall
from pomrl_studies.pomrl2023.figures import bounds


def test_regret_and_its_bound_are_drawn(drawings, tables):
    for index, sigma in enumerate((0.0, 0.01, 0.025)):
        ax = drawings["average_regret"].figure.axes[3 + index]
        rows = choose(tables["theory"], sigma=sigma, batches="m100000_T30", gamma=0.9)
        assert_drawn(ax, "POMRL(σ)", "task", band(running_average(rows), ["task"], "y", kind="se"))
        problem = bounds.problem(sigma, 100_000, 30)
        mean = problem.mean(0)
        radius = UniformBall(zeros=5).almost_sure_radius(mean)
        bound = average_regret_bound(
            gamma=0.9, gamma_eval=0.99, m=100_000, radius=radius, plugged=mean.deviation, S=10, A=2, T=17, delta=0.05
        )
        curve = line(ax, "Bound, corrected")
        assert np.asarray(curve.get_xdata())[16] == 17
        np.testing.assert_allclose(np.asarray(curve.get_ydata(), float)[16], bound)


def test_measured_regret_against_gamma(drawings, tables):
    for index, batches in enumerate(("m5_T5", "m20_T5", "m5_T30")):
        ax = drawings["average_regret"].figure.axes[6 + index]
        rows = average_of_first(choose(tables["theory"], sigma=0.01, batches=batches), BATCHES[batches])
        assert_drawn(ax, "POMRL(σ)", "gamma", band(rows, ["gamma"], "y", kind="se"))


def test_panels_of_the_measured_regret_are_aligned(drawings):
    positions = np.array([ax.get_position().get_points().ravel() for ax in drawings["average_regret"].figure.axes])
    rows, columns = positions.reshape(3, 3, 4)[..., [1, 3]], positions.reshape(3, 3, 4)[..., [0, 2]]
    np.testing.assert_allclose(rows - rows[:, :1], 0.0, atol=1e-12)
    np.testing.assert_allclose(columns - columns[:1], 0.0, atol=1e-12)


def test_problems_are_those_of_the_sweep():
    settings = find("pomrl2023").settings("theory")
    problems = [replace(setting.experiment.problem, seed=0) for setting in settings]  # bounds have no seed
    panels = {**bounds.AGAINST_T, **bounds.AGAINST_GAMMA}
    assert all(bounds.problem(*panel) in problems for panel in panels.values())


def test_minima_of_the_upper_bound(drawings):
    data = choose(drawings["upper_bound"].data, panel="a")
    corrected = choose(data, series="minimum, corrected")
    printed = choose(data, series="minimum, as printed")
    for C, gamma, U in zip((0.02, 0.1, 0.3, 0.6, 1.0), corrected["x"], corrected["mean"], strict=True):
        curve = choose(data, series=f"C = {C:g}")
        assert curve["mean"].min() + 1e-12 >= U
        assert abs(gamma - curve["x"].iloc[curve["mean"].argmin()]) <= 0.01
    assert list(printed["x"]) == [0.99, 0.99, 0.99, *corrected["x"][-2:]]


def test_five_samples_make_most_bounds_vacuous():
    assert "five samples, all bounds are vacuous at most" in bounds.vacuous_bounds.docstring
    for sigma, version in itertools.product(bounds.SIGMAS, bounds.BOUNDS):
        assert bounds.vacuous_from(np.array([5]), sigma, version) < 0.5


def test_mixing_rates(drawings, tables):
    axes = drawings["mixing_rates"].figure.axes
    panels = itertools.product((0.01, 0.047), ("known", "welford", "debiased"))
    for ax, (sigma, similarity) in zip(axes, panels, strict=True):
        settings = {"sigma": sigma, "estimator.similarity": similarity, "estimator.mixing": "mse_optimal"}
        rows = choose(tables["mixing_rates"], **settings, gamma=0.99)
        assert_drawn(ax, "Optimal for known σ", "task", band(running_average(rows), ["task"], "y", kind="se"))
