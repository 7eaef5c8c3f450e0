"""Options of estimators beyond the paper's: unequal data, starts with a weight, feedback that comes late."""

from dataclasses import replace
from itertools import repeat

import numpy as np
import pytest

from pomrl.configuration import sweeps
from pomrl.configuration.sources import PUBLISHED
from pomrl.science.algorithm import pomrl
from pomrl.science.data import Batch, Batches
from pomrl.science.estimators.estimator import Estimator, Truth
from pomrl.science.estimators.memory import Memory, predictive_concentration
from pomrl.science.estimators.pomrl import Prior, RegularisedLeastSquares
from pomrl.science.gamma_schedules import Fixed

S, A, M = 3, 2, 5


def unequal(seed: int, T: int, n: int = 2, least: int = 0) -> tuple[list[Batch], Truth]:
    """T batches with between `least` and 8 transitions from each pair, and the true moments."""
    rng = np.random.default_rng(seed)
    P_o = rng.dirichlet(np.ones(S), (n, S, A))
    batches = []
    for _ in range(T):
        weight = rng.standard_gamma(6.0 * P_o)
        visits = rng.integers(least, 8, (n, S, A), endpoint=True)
        batches.append(Batch.of_counts(rng.multinomial(visits, weight / weight.sum(-1, keepdims=True)), M))
    return batches, Truth(P_o, P_o * (1 - P_o) / 7.0)


def make_memory(batches: list[Batch], memory: Memory | None = None) -> Memory:
    memory = memory or Memory.initial(len(batches[0].P_bar), S, A)
    for batch in batches:
        memory = memory.update(batch)
    return memory


def learned(estimator: Estimator, batches: list[Batch], truth: Truth) -> list[np.ndarray]:
    """The estimated models and the mixing rates of each task."""
    tasks = list(pomrl(zip(map(Batches.same, batches), repeat(truth)), M, estimator, Fixed(gamma=0.5), 0.9))
    return [task.P_hat[:, 0] for task in tasks]


def test_pairs_are_averaged_over_visiting_tasks():
    batches, _ = unequal(0, 9)
    memory = make_memory(batches)
    for index in np.ndindex(2, S, A):
        rows = np.array([batch.P_bar[index] for batch in batches if batch.visits[index] > 0])
        assert memory.counted[index] == len(rows)
        np.testing.assert_allclose(memory.P_o_hat[index], rows.mean(0), rtol=0, atol=1e-14)
        np.testing.assert_allclose(memory.variance("sample")[index], rows.var(0, ddof=1), rtol=0, atol=1e-14)
        np.testing.assert_allclose(memory.variance("population")[index], rows.var(0), rtol=0, atol=1e-14)
    assert memory.counted.min() < 9


def test_weighted_averages_have_weighted_variance():
    batches, _ = unequal(0, 9)
    memory = make_memory(batches, replace(Memory.initial(2, S, A), by_transitions=True))
    weight = np.stack([batch.visits for batch in batches])[..., None] / M
    rows, total = np.stack([batch.P_bar for batch in batches]), weight.sum(0)
    mean = (weight * rows).sum(0) / total
    np.testing.assert_allclose(memory.P_o_hat, mean)
    unbiased = (weight * (rows - mean) ** 2).sum(0) / (total - (weight**2).sum(0) / total)
    np.testing.assert_allclose(memory.variance("sample"), unbiased)


@pytest.mark.parametrize("m", [1, M])
def test_the_sampling_variance_is_unbiased(m: int):
    n, c = 30_000, 4.0
    rng = np.random.default_rng(1)
    p = np.array([0.5, 0.3, 0.2])
    memory = Memory.initial(n, S, 1)
    for visits in (1, 2, 7):
        counts = rng.multinomial(visits, rng.dirichlet(c * p, (n, S, 1)))
        memory = memory.update(Batch.of_counts(counts, m))
    v = p * (1 - p) * c / (c + 1)
    actual = memory.sampling_variance()
    assert np.all(np.abs(actual.mean(0) - v) < 4.5 * actual.std(0) / np.sqrt(n))
    np.testing.assert_allclose(memory.sampling_noise(), actual * (1 + 1 / 2 + 1 / 7) / 3, rtol=1e-12)


def test_predictive_concentration_matches_distances():
    n, c, tasks, p = 30_000, 4.0, 3, np.array([0.5, 0.3, 0.2])
    rng = np.random.default_rng(2)
    models = rng.dirichlet(c * p, (n, tasks + 1))
    distance = models[:, 0] - rng.multinomial(M, models[:, 1:]).mean(1) / M
    unit = np.ones((1, 1, 1))
    concentration = predictive_concentration(c * unit[None], tasks * unit, M * unit).item()
    np.testing.assert_allclose((distance**2).mean(0), p * (1 - p) / (concentration + 1), rtol=0.03)


@pytest.mark.parametrize("samples", ["visits", "m"])
def test_the_mixing_rate_uses_visits_or_m(samples):
    batches, truth = unequal(3, 3)
    estimator = RegularisedLeastSquares(
        mixing="paper", prior="known", similarity="known", scope="per_pair", samples=samples
    )
    for t, (batch, P_hat) in enumerate(zip(batches, learned(estimator, batches, truth), strict=True), start=1):
        m = batch.visits if samples == "visits" else M
        alpha = (1 / (truth.variance.max(-1) * m * (1 + 1 / t) + 1))[..., None]
        np.testing.assert_allclose(P_hat, alpha * truth.P_o + (1 - alpha) * batch.P_bar, rtol=0, atol=1e-14)


@pytest.mark.parametrize("weight", [1.0, 2.0])
def test_a_start_counts_as_uniform_tasks(weight: float):
    """A start of weight 2 and variance 0 is a memory of two uniform batches."""
    batches, _ = unequal(5, 5, least=1)
    uniform = Batch.of_counts(np.ones((2, S, A, S), int), M)
    started = make_memory(batches, Memory.initial(2, S, A, start=weight))
    as_tasks = make_memory([uniform] * int(weight) + batches)
    np.testing.assert_allclose(started.P_o_hat, as_tasks.P_o_hat, rtol=0, atol=1e-15)
    np.testing.assert_allclose(started.squares, as_tasks.squares, rtol=0, atol=1e-14)
    for kind in ("sample", "population"):
        np.testing.assert_allclose(started.variance(kind), as_tasks.variance(kind), rtol=0, atol=1e-14)


def test_the_start_keeps_its_weighted_variance():
    batches, truth = unequal(6, 4, least=1)
    estimator = RegularisedLeastSquares(
        mixing="paper",
        similarity="welford",
        variance="population",
        start_weight=1.0,
        start_deviation=0.3,
        scope="per_pair",
    )
    memory = make_memory(batches, estimator.initial_memory(2, S, A))
    rows = np.stack([np.full((2, S, A, S), 1 / S), *(batch.P_bar for batch in batches)])
    expected = (rows.var(0) * 5 + 0.09) / 5
    np.testing.assert_allclose(estimator.similarity_estimate(memory, M, truth) ** 2, expected.max(-1), rtol=1e-12)


def test_a_skipped_first_batch_leaves_no_trace():
    batches, truth = unequal(7, 5)
    skipping = RegularisedLeastSquares(mixing=0.5, prior="exclusive", first_batch="skip")
    another, _ = unequal(8, 1)
    P_hats, with_another = (learned(skipping, [first, *batches[1:]], truth) for first in (batches[0], another[0]))
    assert all(np.array_equal(a, b) for a, b in zip(P_hats[1:], with_another[1:], strict=True))
    using = RegularisedLeastSquares(mixing=0.5, prior="exclusive")
    assert not np.array_equal(learned(using, batches, truth)[1], P_hats[1])


@pytest.mark.parametrize("lag", [0, 1, 3])
def test_similarity_and_rate_respect_the_lag(lag: int):
    batches, truth = unequal(9, 7, least=2)
    estimator = RegularisedLeastSquares(mixing="mse_optimal", prior="known", similarity="welford", lag=lag, samples="m")
    tasks = pomrl(zip(map(Batches.same, batches), repeat(truth)), M, estimator, Fixed(gamma=0.5), 0.9)
    for t, task in enumerate(tasks, start=1):
        earlier = batches[: max(t - 1 - lag, 0)]
        memory = make_memory(earlier) if earlier else estimator.initial_memory(2, S, A)
        sigma = estimator.similarity_estimate(memory, M, truth)
        np.testing.assert_array_equal(task.sigma, sigma[:, 0, 0])
        np.testing.assert_array_equal(task.alpha, estimator.mixing_rate(t, M, sigma, memory, truth)[:, 0, 0])


@pytest.mark.parametrize(
    ("options", "alpha"),
    [
        ({"mixing": "paper"}, 0.0),
        ({"mixing": "paper", "first_task": "mix"}, 1 / (0.04 * 5 * 2 + 1)),
        ({"mixing": "paper", "prior": "unsmoothed", "first_task": "alone"}, 0.0),
        ({"mixing": 0.7}, 0.7),
        ({"mixing": 1.0, "first_task": "alone"}, 0.0),
        ({"mixing": "paper", "prior": "known", "v2": 0.25}, 0.25 / (0.04 * 5 * 2 + 0.25)),
        ({"mixing": "mse_bound", "prior": "known", "v2": 0.25}, 0.25 / (0.04 * 5 + 0.25)),
    ],
)
def test_task_1_is_estimated_alone_or_mixed(options: dict, alpha: float):
    truth = Truth(np.full((1, S, A, S), 1 / S), np.full((1, S, A, S), 0.04))
    estimator = RegularisedLeastSquares(similarity="known", **options)
    memory = estimator.initial_memory(1, S, A)
    sigma = estimator.similarity_estimate(memory, 5, truth)
    np.testing.assert_allclose(estimator.mixing_rate(1, 5, sigma, memory, truth), alpha, rtol=1e-14)


def test_bayes_is_the_dirichlet_posterior_mean():
    batches, truth = unequal(1, 2)
    bayes = sweeps.experiment(PUBLISHED, ["estimator=bayes"]).method.estimator
    for batch, P_hat in zip(batches, learned(bayes, batches, truth), strict=True):
        posterior = (batch.counts + 6 * truth.P_o) / (batch.visits + 6)[..., None]
        np.testing.assert_allclose(P_hat, posterior, rtol=0, atol=1e-14)


def test_priors_that_are_given():
    batches, truth = unequal(11, 2)
    smoothed = Truth((truth.P_o + 0.1) / (1 + 0.1 * S), truth.variance, truth.P_o)
    uniform = np.full_like(truth.P_o, 1 / S)
    priors: list[tuple[Prior, np.ndarray]] = [
        ("known", smoothed.P_o),
        ("unsmoothed", truth.P_o),
        ("uniform", uniform),
    ]
    for prior, expected in priors:
        actual = learned(RegularisedLeastSquares(mixing=1.0, prior=prior), batches, smoothed)
        np.testing.assert_array_equal(actual, [expected] * 2)
    without_smoothing = learned(RegularisedLeastSquares(mixing=1.0, prior="unsmoothed"), batches, truth)
    assert np.array_equal(without_smoothing[0], truth.P_o)
