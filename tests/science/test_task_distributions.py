from dataclasses import replace
from math import ceil, sqrt

import numpy as np
import pytest
from scipy import stats

from pomrl.science.randomness import Stream, generator
from pomrl.science.tasks.distribution import MeanModel
from pomrl.science.tasks.random_chains import Dirichlet, Gaussian, RandomChains, UniformBall

DRAWS = 20_000
STANDARD_ERRORS = 5.0


def draws_of(distribution: RandomChains, mean: MeanModel, number: int = DRAWS, seed: int = 0) -> np.ndarray:
    rng = np.random.default_rng(seed)
    return np.stack([distribution.draw_task(rng, mean) for _ in range(number)])


def assert_mean(draws: np.ndarray, expected: np.ndarray):
    error = draws.std(0, ddof=1) / sqrt(len(draws))
    assert np.all(np.abs(draws.mean(0) - expected) <= STANDARD_ERRORS * error + 1e-12)


def assert_variance(draws: np.ndarray, expected: np.ndarray):
    """Within five standard errors of the sample variance, from the fourth moments."""
    squared = (draws - draws.mean(0)) ** 2
    error = squared.std(0) / sqrt(len(draws))
    assert np.all(np.abs(squared.mean(0) - expected) <= STANDARD_ERRORS * error + 1e-12)


def assert_models(P: np.ndarray):
    assert np.all(np.isfinite(P))
    assert np.all(P >= 0)
    np.testing.assert_allclose(P.sum(-1), 1, rtol=0, atol=1e-13)


@pytest.mark.parametrize(
    ("measure", "sigma", "deviation"), [("variance", 0.01, 0.1), ("variance", 0.047, sqrt(0.047)), ("std", 0.05, 0.05)]
)
def test_dirichlet_tasks_have_the_mean_and_the_variances_they_should(measure, sigma: float, deviation: float):
    distribution = Dirichlet(zeros=2, measure=measure)
    mean = distribution.draw_mean(seed=1, run=0, S=5, A=2, sigma=sigma)
    draws = draws_of(distribution, mean)
    assert_models(draws)
    assert mean.sigma == pytest.approx(deviation, rel=1e-15)
    assert not np.any(draws[:, mean.P_o == 0])
    assert np.all(draws.max(0)[mean.P_o > 0] > 0)
    assert_mean(draws, mean.P_o)
    assert_variance(draws, distribution.variance(mean))
    assert distribution.variance(mean).max() == pytest.approx(deviation**2, rel=1e-12)
    most_varied = np.unravel_index(distribution.variance(mean).argmax(), mean.P_o.shape)
    assert_variance(draws[:, *most_varied, None], np.array([deviation**2]))


def test_dirichlet_has_one_concentration_for_the_whole_model():
    distribution = Dirichlet(zeros=2)
    mean = distribution.draw_mean(seed=1, run=0, S=5, A=2, sigma=0.02)
    spread = mean.P_o * (1 - mean.P_o)
    c = distribution.concentration(mean)
    assert c == pytest.approx(spread.max() / 0.02 - 1, rel=1e-12)
    np.testing.assert_allclose(distribution.variance(mean), spread / (c + 1), rtol=1e-12)


@pytest.mark.parametrize("sigma", [0.002, 0.01])
def test_gaussian_tasks_far_from_the_border_have_the_moments_of_normalised_noise(sigma: float):
    """Noise e on p gives p + e - p sum(e), to first order, of variance sigma^2 (1 - 2 p + k p^2) on k states.

    Nothing is clipped here. Terms beyond the first order are of the order of sigma^2 relative to these.
    """
    P_o = np.array([[[0.4, 0.0, 0.3, 0.3]], [[0.25, 0.25, 0.25, 0.25]], [[0.0, 0.5, 0.5, 0.0]], [[0.2, 0.3, 0.2, 0.3]]])
    mean = MeanModel(P_o, np.zeros((4, 1)), np.ones((4, 1), bool), sigma, np.inf)
    distribution = Gaussian(zeros=0)
    draws = draws_of(distribution, mean)
    k = (P_o > 0).sum(-1, keepdims=True)
    assert_models(draws)
    assert_mean(draws, P_o)
    assert_variance(draws, np.where(P_o > 0, sigma**2 * (1 - 2 * P_o + k * P_o**2), 0))
    assert np.array_equal(distribution.variance(mean), np.where(P_o > 0, sigma**2, 0))


def test_gaussian_sigma_is_what_measure_says():
    as_variance = Gaussian(zeros=1).draw_mean(seed=0, run=0, S=4, A=1, sigma=0.04)
    as_deviation = Gaussian(zeros=1, measure="std").draw_mean(seed=0, run=0, S=4, A=1, sigma=0.04)
    assert as_variance.sigma == pytest.approx(0.2)
    assert as_deviation.sigma == 0.04


@pytest.mark.parametrize("sigma", [0.5, 30.0])
def test_gaussian_tasks_remain_models_however_much_is_clipped(sigma: float):
    distribution = Gaussian(zeros=4, measure="std")
    mean = distribution.draw_mean(seed=2, run=0, S=6, A=3, sigma=sigma)
    draws = draws_of(distribution, mean, 500)
    assert_models(draws)
    assert not np.any(draws[:, mean.P_o == 0])
    assert np.any(draws[:, mean.P_o > 0] == 0)


@pytest.mark.parametrize(
    "distribution", [Dirichlet(zeros=3), Gaussian(zeros=3), UniformBall(zeros=3), Dirichlet(zeros=3, varying=0.5)]
)
def test_sigma_zero_gives_the_mean_model_exactly(distribution: RandomChains):
    mean = distribution.draw_mean(seed=3, run=4, S=6, A=2, sigma=0.0)
    assert np.array_equal(distribution.draw_task(np.random.default_rng(0), mean), mean.P_o)
    assert not distribution.variance(mean).any()


@pytest.mark.parametrize("measure", ["variance", "std"])
@pytest.mark.parametrize("varying", [1.0, 0.2])
def test_sigma_from_the_limit_on_is_refused_with_the_run_and_the_limit(measure, varying: float):
    distribution = Dirichlet(zeros=5, measure=measure, varying=varying)
    mean = distribution.draw_mean(seed=1, run=17, S=10, A=2, sigma=0.0)
    largest = (mean.P_o * (1 - mean.P_o))[mean.varying].max()
    limit = largest if measure == "variance" else sqrt(largest)
    for sigma in (limit * (1 + 1e-9), 0.6):
        with pytest.raises(ValueError, match=rf"sigma={sigma}: .* run 17 has this {measure}; .* below {limit:.6g}$"):
            distribution.draw_mean(seed=1, run=17, S=10, A=2, sigma=sigma)
    assert distribution.draw_mean(seed=1, run=17, S=10, A=2, sigma=limit * (1 - 1e-9)).sigma > 0


def test_deterministic_mean_model_allows_no_sigma_but_zero():
    distribution = Dirichlet(zeros=3)
    with pytest.raises(ValueError, match=r"sigma=0\.01: .* has to be 0"):
        distribution.draw_mean(seed=0, run=0, S=4, A=2, sigma=0.01)
    mean = distribution.draw_mean(seed=0, run=0, S=4, A=2, sigma=0.0)
    assert np.array_equal(distribution.draw_task(np.random.default_rng(0), mean), mean.P_o)


@pytest.mark.parametrize("below", [1e-3, 1e-6, 1e-12])
def test_smallest_concentrations_give_valid_rows_with_the_right_mean(below: float):
    """Gamma variates of so small a shape underflow, all of a row at once; the rows have to be one-hot instead."""
    distribution = Dirichlet(zeros=1)
    mean = distribution.draw_mean(seed=5, run=0, S=4, A=2, sigma=0.0)
    mean = replace(mean, sigma=mean.largest_sigma * (1 - below))
    assert 0 < distribution.concentration(mean) < 3 * below
    draws = draws_of(distribution, mean, 5_000)
    assert_models(draws)
    assert_mean(draws, mean.P_o)
    assert_variance(draws, distribution.variance(mean))
    assert (draws.max(-1) > 0.99).mean() > 0.98


@pytest.mark.parametrize("distribution", [Dirichlet, Gaussian, UniformBall])
@pytest.mark.parametrize(
    ("S", "A", "varying", "number"),
    [(10, 2, 0.5, 10), (10, 2, 0.55, 11), (5, 3, 0.5, 8), (3, 1, 0.01, 1), (6, 5, 0.2, 6), (3, 5, 0.4, 6)],
)
def test_as_many_pairs_vary_as_the_fraction_says(distribution, S: int, A: int, varying: float, number: int):
    tasks = distribution(zeros=0, varying=varying)
    mean = tasks.draw_mean(seed=6, run=0, S=S, A=A, sigma=1e-5)
    draws = draws_of(tasks, mean, 20)
    changed = (draws != mean.P_o).any(-1)
    assert np.array_equal(changed.any(0), mean.varying)
    assert changed.all(0).sum() == number
    assert np.array_equal(np.broadcast_to(mean.P_o, draws.shape)[~changed], draws[~changed])
    assert np.array_equal((tasks.variance(mean) > 0).any(-1), mean.varying)


def test_fixed_mean_model_is_that_of_its_seed_in_every_run_and_seed():
    fixed = Dirichlet(zeros=3, mean_model="fixed", varying=0.5)
    first, *others = [fixed.draw_mean(seed, run, 6, 2, 0.01) for seed, run in [(0, 0), (0, 1), (7, 0), (8, 123)]]
    for other in others:
        assert np.array_equal(first.P_o, other.P_o)
        assert np.array_equal(first.R, other.R)
        assert np.array_equal(first.varying, other.varying)
    another = Dirichlet(zeros=3, mean_model="fixed", varying=0.5, mean_seed=1).draw_mean(0, 0, 6, 2, 0.01)
    assert not np.array_equal(first.P_o, another.P_o)


def test_mean_model_per_run_depends_on_run_and_seed_and_on_nothing_else():
    per_run = Dirichlet(zeros=3)
    models = [per_run.draw_mean(seed, run, 6, 2, 0.01).P_o for seed, run in [(0, 0), (0, 1), (1, 0), (1, 1)]]
    for i in range(4):
        for j in range(i):
            assert not np.array_equal(models[i], models[j])
    assert np.array_equal(models[1], per_run.draw_mean(0, 1, 6, 2, 0.03).P_o)
    assert np.array_equal(models[1], Gaussian(zeros=3, varying=0.3).draw_mean(0, 1, 6, 2, 0.01).P_o)


def test_reward_of_a_state_is_the_same_for_all_actions():
    by_pair = Dirichlet(zeros=2).draw_mean(0, 0, 6, 3, 0.01)
    by_state = Dirichlet(zeros=2, reward="state").draw_mean(0, 0, 6, 3, 0.01)
    assert np.array_equal(by_state.R, np.repeat(by_state.R[:, :1], 3, axis=1))
    assert len(np.unique(by_state.R)) == 6
    assert len(np.unique(by_pair.R)) == 18
    assert np.array_equal(by_pair.P_o, by_state.P_o)


@pytest.mark.parametrize(
    "distribution",
    [Dirichlet(zeros=2), Gaussian(zeros=2), Dirichlet(zeros=2, varying=0.4), UniformBall(zeros=2, measure="std")],
)
def test_tasks_of_a_run_are_the_same_alone_and_among_others(distribution: RandomChains):
    means = {run: distribution.draw_mean(9, run, 5, 2, 0.02) for run in (3, 17, 4)}
    streams = {run: generator(9, run, Stream.TASKS) for run in means}
    together = [{run: distribution.draw_task(streams[run], means[run]) for run in means} for _ in range(6)]
    alone_stream = generator(9, 17, Stream.TASKS)
    for tasks in together:
        assert np.array_equal(
            tasks[17], distribution.draw_task(alone_stream, distribution.draw_mean(9, 17, 5, 2, 0.02))
        )


def test_number_of_varying_pairs_is_rounded_up():
    mean = Dirichlet(zeros=0, varying=0.34).draw_mean(0, 0, 5, 2, 0.01)
    assert mean.varying.sum() == ceil(3.4)


UNEVEN = np.array([[[0.5, 0.5, 0, 0]], [[0.25, 0.25, 0.25, 0.25]], [[0, 0.3, 0.1, 0.6]], [[0, 0, 1, 0]]])
"""Rows of 2, 4, 3 and 1 states, with room for entries to move by 0.5, 0.25, 0.1 and 0."""


def many_draws(mean: MeanModel) -> np.ndarray:
    """Draws of the task model, at once: rows are independent, so that one of as many actions is as good."""
    (S, A), n = mean.R.shape, DRAWS
    wide = replace(
        mean, P_o=np.tile(mean.P_o, (1, n, 1)), R=np.tile(mean.R, (1, n)), varying=np.tile(mean.varying, (1, n))
    )
    draws = UniformBall(zeros=0).draw_task(np.random.default_rng(0), wide)
    return draws.reshape(S, n, A, S).swapaxes(0, 1)


@pytest.mark.parametrize("sigma", [0.02, 0.1, 0.25])
def test_uniform_ball_has_the_moments_of_the_closed_form(sigma: float):
    """A coordinate of a uniform point in a ball of radius r in d dimensions has the variance r^2/(d + 2)."""
    distribution = UniformBall(zeros=0)
    mean = MeanModel(UNEVEN, np.zeros((4, 1)), np.ones((4, 1), bool), sigma, 0.5 / sqrt(3))
    draws = many_draws(mean)
    assert_models(draws)
    assert_mean(draws, UNEVEN)
    assert_variance(draws, distribution.variance(mean))
    assert not np.any(draws[:, UNEVEN == 0])
    assert np.array_equal(draws[:, 3], np.broadcast_to(UNEVEN[3], draws[:, 3].shape))
    deviations = np.minimum(sigma, [0.5 / sqrt(3), 0.25 / sqrt(5), 0.1 / sqrt(4), 0])
    np.testing.assert_allclose(np.sqrt(distribution.variance(mean).max(-1))[:, 0], deviations, rtol=1e-12)


def test_uniform_ball_fills_the_ball():
    """The distance from the mean has the distribution (distance/radius)^d, and every direction is as likely."""
    mean = MeanModel(np.full((4, 1, 4), 0.25), np.zeros((4, 1)), np.ones((4, 1), bool), 0.1, 0.25 / sqrt(5))
    moves = many_draws(mean).reshape(-1, 4) - 0.25
    radius = 0.1 * sqrt(5) * sqrt(4 / 3)
    share = (np.linalg.norm(moves, axis=1) / radius) ** 3
    assert share.max() <= 1 + 1e-12
    assert stats.kstest(share, "uniform").pvalue > 1e-3
    covariance = np.cov(moves.T)
    expected = 0.1**2 * (np.eye(4) - 1 / 4) / (3 / 4)
    np.testing.assert_allclose(covariance, expected, rtol=0, atol=5 * 0.1**2 / sqrt(len(moves)))


@pytest.mark.parametrize("measure", ["variance", "std"])
def test_uniform_ball_refuses_a_sigma_that_no_row_has_room_for(measure):
    distribution = UniformBall(zeros=1, measure=measure)
    mean = distribution.draw_mean(seed=1, run=3, S=4, A=2, sigma=0.0)
    largest = np.where(mean.P_o > 0, mean.P_o, 1).min(-1).max() / 2
    limit = largest**2 if measure == "variance" else largest
    with pytest.raises(ValueError, match=rf"no UniformBall .* run 3 has this {measure}; .* below {limit:.6g}$"):
        distribution.draw_mean(seed=1, run=3, S=4, A=2, sigma=limit * (1 + 1e-9))
    accepted = distribution.draw_mean(seed=1, run=3, S=4, A=2, sigma=limit * (1 - 1e-9))
    assert sqrt(distribution.variance(accepted).max()) == pytest.approx(largest, rel=1e-8)
    with pytest.raises(ValueError, match="has to be 0"):
        UniformBall(zeros=3).draw_mean(seed=0, run=0, S=4, A=2, sigma=0.01)


class Halved(Dirichlet):
    """Tasks half as far from their mean, by an override of what draws one task."""

    def _draw(self, rng, mean):
        return (super()._draw(rng, mean) + mean.P_o) / 2


class Counted(Dirichlet):
    """Tasks whose first row says how often a generator was drawn from."""

    def draw_task(self, rng, mean):
        P = super().draw_task(rng, mean)
        P[0, 0] = rng.random()
        return P


@pytest.mark.parametrize("kind", [Dirichlet, Halved, Counted, Gaussian, UniformBall])
@pytest.mark.parametrize(("sigma", "varying"), [(0.001, 1.0), (0.001, 0.5), (0.0, 1.0)])
def test_tasks_drawn_together_are_those_drawn_one_by_one(kind: type[RandomChains], sigma: float, varying: float):
    if kind is Counted and sigma == 0:
        return  # it would write to the mean model
    distribution = kind(zeros=2, varying=varying)
    means = [distribution.draw_mean(3, run, 6, 2, sigma) for run in range(4)]
    together, alone = ([generator(3, run, Stream.TASKS) for run in range(4)] for _ in range(2))
    drawn = distribution.draw_tasks(together, means, 5)
    one_by_one = [[distribution.draw_task(rng, mean) for rng, mean in zip(alone, means, strict=True)] for _ in range(5)]
    assert drawn.tobytes() == np.array(one_by_one).tobytes()
    assert [rng.random() for rng in together] == [rng.random() for rng in alone]


# Concentrations that are given, and smoothing


@pytest.mark.parametrize("smoothing", [0.0, 0.02])
def test_a_given_concentration_determines_sigma(smoothing: float):
    distribution = Dirichlet(zeros=3, concentration_over_S=1.5, smoothing=smoothing)
    mean = distribution.draw_mean(0, 0, 6, 2, None)
    c = 1.5 * 6 * (1 + smoothing * 6)
    assert distribution.concentration(mean) == pytest.approx(c)
    variance = mean.P_o * (1 - mean.P_o) / (c + 1)
    np.testing.assert_allclose(distribution.variance(mean), variance, rtol=1e-13)
    assert mean.sigma == pytest.approx(np.sqrt(variance.max()))
    same = Dirichlet(zeros=3, smoothing=smoothing).draw_mean(0, 0, 6, 2, mean.sigma**2)
    assert Dirichlet(zeros=3).concentration(same) == pytest.approx(c)


@pytest.mark.parametrize("distribution", [Dirichlet, Gaussian, UniformBall])
def test_smoothing_adds_to_all_probabilities(distribution):
    smoothed = distribution(zeros=3, smoothing=0.1).draw_mean(0, 0, 6, 2, 1e-6)
    mean = distribution(zeros=3).draw_mean(0, 0, 6, 2, 1e-6)
    np.testing.assert_allclose(smoothed.P_o, (mean.P_o + 0.1) / 1.6, rtol=1e-14)
    assert np.array_equal(smoothed.unsmoothed, mean.P_o)
    assert np.array_equal(smoothed.R, mean.R)
    assert mean.unsmoothed is None
