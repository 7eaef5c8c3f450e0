from dataclasses import replace
from math import sqrt
from typing import Any

import numpy as np
import pytest

from pomrl.science.randomness import Stream, generator
from pomrl.science.solvers.input_checks import check_models
from pomrl.science.tasks.distribution import MeanModel
from pomrl.science.tasks.random_chains import (
    MIN_DEVIATION,
    Dirichlet,
    Gaussian,
    RandomChains,
    UniformBall,
)

DRAWS = 6_000
STANDARD_ERRORS = 5.0


def sample_tasks(distribution: RandomChains, mean: MeanModel, number: int = DRAWS, seed: int = 0) -> np.ndarray:
    rng = np.random.default_rng(seed)
    return distribution.draw_tasks(rng, mean, number)


def assert_mean(draws: np.ndarray, expected: np.ndarray):
    error = draws.std(0, ddof=1) / sqrt(len(draws))
    assert np.all(np.abs(draws.mean(0) - expected) <= STANDARD_ERRORS * error + 1e-12)


def assert_variance(draws: np.ndarray, expected: np.ndarray):
    """Within five standard errors of the sample variance, from the fourth moments."""
    squared = (draws - draws.mean(0)) ** 2
    error = squared.std(0) / sqrt(len(draws))
    assert np.all(np.abs(squared.mean(0) - expected) <= STANDARD_ERRORS * error + 1e-12)


@pytest.mark.parametrize("sigma", [0.002, 0.01])
def test_gaussian_tasks_have_normalised_moments(sigma: float):
    """Noise e on p gives p + e - p sum(e), to first order, of variance sigma^2 (1 - 2 p + k p^2) on k states.

    Nothing is clipped here. Terms beyond the first order are of the order of sigma^2 relative to these.
    """
    P_o = np.array([[[0.4, 0.0, 0.3, 0.3]], [[0.25, 0.25, 0.25, 0.25]], [[0.0, 0.5, 0.5, 0.0]], [[0.2, 0.3, 0.2, 0.3]]])
    mean = MeanModel(P_o, np.zeros((4, 1)), np.ones((4, 1), bool), sigma, np.inf)
    distribution = Gaussian(zeros=0)
    draws = sample_tasks(distribution, mean)
    k = (P_o > 0).sum(-1, keepdims=True)
    check_models(draws, np.zeros(draws.shape[:-1]))
    assert_mean(draws, P_o)
    assert_variance(draws, np.where(P_o > 0, sigma**2 * (1 - 2 * P_o + k * P_o**2), 0))
    assert np.array_equal(distribution.variance(mean), np.where(P_o > 0, sigma**2, 0))


@pytest.mark.parametrize("below", [1e-3, 1e-12])
def test_small_concentrations_give_valid_rows(below: float):
    """Gamma variates of so small a shape underflow, all of a row at once; the rows have to be one-hot instead."""
    distribution = Dirichlet(zeros=1)
    mean = distribution.draw_mean(seed=5, run=0, S=4, A=2, sigma=0.0)
    mean = replace(mean, deviation=mean.largest_deviation * (1 - below))
    assert 0 < distribution.concentration(mean) < 3 * below
    draws = sample_tasks(distribution, mean, 3_000)
    check_models(draws, np.zeros(draws.shape[:-1]))
    assert_mean(draws, mean.P_o)
    assert_variance(draws, distribution.variance(mean))
    assert (draws.max(-1) > 0.99).mean() > 0.98


@pytest.mark.parametrize(("S", "A", "varying", "number"), [(10, 2, 0.55, 11), (5, 3, 0.5, 8), (3, 1, 0.01, 1)])
def test_the_stated_share_of_pairs_varies(S: int, A: int, varying: float, number: int):
    mean = Dirichlet(zeros=0, varying=varying).draw_mean(seed=6, run=0, S=S, A=A, sigma=1e-5)
    assert mean.varying.sum() == number


def test_each_run_varies_in_its_own_pairs():
    distribution = Dirichlet(zeros=2)
    first, second = distribution.draw_means(0, range(2), 5, 2, 0.01)
    varying = np.arange(10).reshape(5, 2) > 4
    rngs = [generator(0, run, Stream.TASKS) for run in range(2)]
    tasks = distribution.draw(rngs, [first, replace(second, varying=varying)], 3)
    changes = (tasks.P[1:] != tasks.P[:1]).any((0, -1))
    assert changes[0].all()
    assert np.array_equal(changes[1], varying)


def test_a_fixed_mean_ignores_the_seed():
    fixed = Dirichlet(zeros=3, mean_model="fixed", varying=0.5)
    first, *repeats = [fixed.draw_mean(seed, run, 6, 2, 0.01) for seed, run in [(0, 0), (0, 1), (7, 0), (8, 123)]]
    for other in repeats:
        assert np.array_equal(first.P_o, other.P_o)
        assert np.array_equal(first.R, other.R)
        assert np.array_equal(first.varying, other.varying)
    another = Dirichlet(zeros=3, mean_model="fixed", varying=0.5, mean_seed=1).draw_mean(0, 0, 6, 2, 0.01)
    assert not np.array_equal(first.P_o, another.P_o)


UNEVEN = np.array([[[0.5, 0.5, 0, 0]], [[0.25, 0.25, 0.25, 0.25]], [[0, 0.3, 0.1, 0.6]], [[0, 0, 1, 0]]])
"""Rows of 2, 4, 3 and 1 states, with room for entries to move by 0.5, 0.25, 0.1 and 0."""


@pytest.mark.parametrize("sigma", [0.02, 0.1, 0.25])
def test_uniform_balls_have_closed_moments(sigma: float):
    """A coordinate of a uniform point in a ball of radius r in d dimensions has the variance r^2/(d + 2)."""
    distribution = UniformBall(zeros=0)
    mean = MeanModel(UNEVEN, np.zeros((4, 1)), np.ones((4, 1), bool), sigma, 0.5 / sqrt(3))
    draws = sample_tasks(distribution, mean)
    check_models(draws, np.zeros(draws.shape[:-1]))
    assert_mean(draws, UNEVEN)
    assert_variance(draws, distribution.variance(mean))
    assert not np.any(draws[:, UNEVEN == 0])
    assert np.array_equal(draws[:, 3], np.broadcast_to(UNEVEN[3], draws[:, 3].shape))
    deviations = np.minimum(sigma, [0.5 / sqrt(3), 0.25 / sqrt(5), 0.1 / sqrt(4), 0])
    np.testing.assert_allclose(np.sqrt(distribution.variance(mean).max(-1))[:, 0], deviations, rtol=1e-12)


class Halved(Dirichlet):
    """Tasks half as far from their mean, by an override of what draws them."""

    def _draw(self, rng, mean, tasks):
        return (super()._draw(rng, mean, tasks) + mean.P_o) / 2


@pytest.mark.parametrize("kind", [Dirichlet, Halved, Gaussian, UniformBall])
@pytest.mark.parametrize(("sigma", "varying"), [(0.001, 1.0), (0.001, 0.5), (0.0, 1.0)])
def test_joint_tasks_equal_single_draws(kind: type[RandomChains], sigma: float, varying: float):
    distribution = kind(zeros=2, varying=varying)
    means = [distribution.draw_mean(3, run, 6, 2, sigma) for run in range(4)]
    joint, single = ([generator(3, run, Stream.TASKS) for run in range(4)] for _ in range(2))
    draws = distribution.draw(joint, means, 5).P
    one_by_one = np.concatenate([distribution.draw(single, means, 1).P for _ in range(5)])
    assert draws.tobytes() == one_by_one.tobytes()
    assert [rng.random() for rng in joint] == [rng.random() for rng in single]


class SharedMean(Dirichlet):
    """All runs have the mean model of run 0."""

    def mean_key(self, seed: int, run: int) -> tuple[int, int]:
        return seed, 0


class HalfRewards(Dirichlet):
    """Rewards of the mean model are halved."""

    def draw_mean(self, seed: int, run: int, S: int, A: int, sigma: float | None) -> MeanModel:
        mean = super().draw_mean(seed, run, S, A, sigma)
        return replace(mean, R=0.5 * mean.R)


class Shifted(Dirichlet):
    """Tasks come from the mean model with its states shifted."""

    def _draw(self, rng: np.random.Generator, mean: MeanModel, tasks: int) -> np.ndarray:
        return super()._draw(rng, replace(mean, P_o=np.roll(mean.P_o, 1, -1)), tasks)


class Still(Dirichlet):
    """The first task is the mean model."""

    def draw_tasks(self, rng: np.random.Generator, mean: MeanModel, tasks: int) -> np.ndarray:
        return np.concatenate([mean.P_o[None], super().draw_tasks(rng, mean, tasks)[1:]])


@pytest.mark.parametrize("kind", [Dirichlet, SharedMean, HalfRewards, Shifted, Still])
@pytest.mark.parametrize("settings", [{}, {"varying": 0.4}, {"mean_model": "fixed"}, {"reward": "state"}])
def test_runs_together_are_those_of_own_methods(kind: type[RandomChains], settings: dict[str, Any]):
    distribution, arguments = kind(zeros=2, **settings), (6, 2, 0.01)
    means = distribution.draw_means(3, range(4), *arguments)
    for run, mean in enumerate(means):
        single = distribution.draw_mean(3, run, *arguments)
        assert (mean.P_o.tobytes(), mean.R.tobytes()) == (single.P_o.tobytes(), single.R.tobytes())
        if "reward" in settings:
            assert np.ptp(mean.R, axis=1).max() == 0.0
    joint, single = ([generator(3, run, Stream.TASKS) for run in range(4)] for _ in range(2))
    runs = [distribution.draw_tasks(rng, mean, 5) for rng, mean in zip(single, means, strict=True)]
    assert distribution.draw(joint, means, 5).P.tobytes() == np.stack(runs, 1).tobytes()


def test_a_shared_mean_is_of_run_0():
    first, second = SharedMean(zeros=2).draw_means(3, range(2), 6, 2, 0.01)
    assert np.array_equal(first.P_o, second.P_o)
    assert np.array_equal(first.P_o, Dirichlet(zeros=2).draw_mean(3, 0, 6, 2, 0.01).P_o)


@pytest.mark.parametrize("concentration", [0.01, 0.1, 5.0])
def test_dirichlet_tasks_of_small_concentrations(concentration: float):
    """Gamma variates of small shapes are drawn by their logarithms, which changes no moments."""
    distribution = Dirichlet(zeros=3, concentration_over_S=concentration / 6)
    mean = distribution.draw_mean(0, 0, 6, 2, None)
    draws = distribution.draw_tasks(np.random.default_rng(0), mean, DRAWS)
    check_models(draws, np.zeros(draws.shape[:-1]))
    assert_mean(draws, mean.P_o)
    assert_variance(draws, distribution.variance(mean))
    first, remaining = (
        distribution.draw_tasks(rng, mean, n) for rng in [np.random.default_rng(0)] for n in (2, DRAWS - 2)
    )
    assert np.array_equal(np.concatenate([first, remaining]), draws)


# Concentrations that are given, and smoothing


@pytest.mark.parametrize("smoothing", [0.0, 0.02])
def test_a_given_concentration_determines_sigma(smoothing: float):
    distribution = Dirichlet(zeros=3, concentration_over_S=1.5, smoothing=smoothing)
    mean = distribution.draw_mean(0, 0, 6, 2, None)
    c = 1.5 * 6 * (1 + smoothing * 6)
    assert distribution.concentration(mean) == pytest.approx(c)
    variance = mean.P_o * (1 - mean.P_o) / (c + 1)
    np.testing.assert_allclose(distribution.variance(mean), variance, rtol=1e-13)
    assert mean.deviation == pytest.approx(np.sqrt(variance.max()))
    same = Dirichlet(zeros=3, smoothing=smoothing).draw_mean(0, 0, 6, 2, mean.deviation**2)
    assert Dirichlet(zeros=3).concentration(same) == pytest.approx(c)


@pytest.mark.parametrize("distribution", [Dirichlet, Gaussian, UniformBall])
def test_smoothing_adds_to_all_probabilities(distribution):
    smoothed = distribution(zeros=3, smoothing=0.1).draw_mean(0, 0, 6, 2, 1e-6)
    mean = distribution(zeros=3).draw_mean(0, 0, 6, 2, 1e-6)
    np.testing.assert_allclose(smoothed.P_o, (mean.P_o + 0.1) / 1.6, rtol=1e-14)
    assert np.array_equal(smoothed.unsmoothed, mean.P_o)
    assert np.array_equal(smoothed.R, mean.R)
    assert mean.unsmoothed is None


@pytest.mark.parametrize("kind", [Dirichlet, UniformBall])
def test_sigma_must_be_below_the_largest_one(kind: type[RandomChains]):
    distribution = kind(measure="std", zeros=3)
    largest = distribution.draw_mean(0, 0, 6, 2, 0.001).largest_deviation
    assert distribution.draw_mean(0, 0, 6, 2, largest * (1 - 1e-9)).has_room
    with pytest.raises(ValueError, match="sigma must be below"):
        distribution.draw_mean(0, 0, 6, 2, largest)


@pytest.mark.parametrize("kind", [Dirichlet, Gaussian, UniformBall])
@pytest.mark.parametrize(("measure", "limit"), [("variance", MIN_DEVIATION**2), ("std", MIN_DEVIATION)])
def test_the_smallest_sigma_can_be_drawn(kind: type[RandomChains], measure: Any, limit: float):
    distribution = kind(measure=measure, zeros=5)
    mean = distribution.draw_mean(0, 0, 10, 2, 1.01 * limit)
    rng = np.random.default_rng(0)
    draws = distribution.draw_tasks(rng, mean, 300)
    assert 0.8 < draws.std(0).max() / mean.deviation < 1.3
    with pytest.raises(ValueError, match="sigma must be 0 or at least"):
        distribution.draw_mean(0, 0, 10, 2, 0.99 * limit)
    assert distribution.draw_mean(0, 0, 10, 2, 0.0).deviation == 0.0
