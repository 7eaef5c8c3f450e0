"""The similarity of tasks: known, or estimated from the batches of earlier tasks."""

import numpy as np
import pytest
from tests.support.sample_estimates import (
    draw_batches,
    estimates,
    known,
    make,
    memory_of,
)

from pomrl.science.estimators.memory import Memory
from pomrl.science.estimators.pomrl import RegularisedLeastSquares


def test_known_similarity_is_the_largest_standard_deviation_or_that_of_each_pair():
    _, truth = draw_batches(15, 1, 5)
    memory = memory_of([truth.P_o])
    largest = known(mixing="paper").similarity_estimate(memory, 5, truth)
    each = known(mixing="paper", scope="per_pair").similarity_estimate(memory, 5, truth)
    np.testing.assert_allclose(each, np.sqrt(truth.variance).max(-1), rtol=1e-15)
    np.testing.assert_allclose(largest, np.sqrt(truth.variance).max((1, 2, 3))[:, None, None], rtol=1e-15)
    assert len(np.unique(largest)) == 3


@pytest.mark.parametrize("similarity", ["welford", "debiased"])
@pytest.mark.parametrize("scope", ["max", "per_pair"])
def test_sigma_1_rules_tasks_1_and_2_and_no_other(similarity, scope):
    batches, truth = draw_batches(16, 5, 5)
    for sigma_1 in (0.1, 0.5):
        estimator = make(mixing="paper", similarity=similarity, sigma_1=sigma_1, scope=scope)
        for t in (1, 2):
            memory = memory_of(batches[: t - 1]) if t > 1 else Memory.initial(3, 4, 2)
            assert np.all(estimator.similarity_estimate(memory, 5, truth) == sigma_1)
    estimates_of_task_3 = [
        make(mixing="paper", similarity=similarity, sigma_1=sigma_1).similarity_estimate(
            memory_of(batches[:2]), 5, truth
        )
        for sigma_1 in (0.1, 0.5)
    ]
    assert np.array_equal(estimates_of_task_3[0], estimates_of_task_3[1])
    assert np.all(estimates_of_task_3[0] != 0.5)


@pytest.mark.parametrize(("kind", "ddof"), [("sample", 1), ("population", 0)])
def test_similarity_of_welford_is_the_standard_deviation_of_the_batches_before(kind, ddof: int):
    batches, truth = draw_batches(17, 6, 5)
    deviation = np.std(batches, axis=0, ddof=ddof)
    options = {"mixing": "paper", "similarity": "welford", "variance": kind}
    largest = make(**options).similarity_estimate(memory_of(batches), 5, truth)
    each = make(**options, scope="per_pair").similarity_estimate(memory_of(batches), 5, truth)
    np.testing.assert_allclose(largest[:, 0, 0], deviation.max((1, 2, 3)), rtol=1e-13)
    np.testing.assert_allclose(each, deviation.max(-1), rtol=1e-13)


def test_debiased_similarity_is_that_of_welford_less_the_sampling_noise():
    batches, truth = draw_batches(18, 6, 5)
    noise = np.mean([P_bar * (1 - P_bar) for P_bar in batches], axis=0) / 4
    variance = np.maximum(np.var(batches, axis=0, ddof=1) - noise, 0)
    each = make(mixing="paper", similarity="debiased", scope="per_pair")
    largest = make(mixing="paper", similarity="debiased")
    np.testing.assert_allclose(
        each.similarity_estimate(memory_of(batches), 5, truth), np.sqrt(variance.max(-1)), rtol=1e-12
    )
    np.testing.assert_allclose(
        largest.similarity_estimate(memory_of(batches), 5, truth)[:, 0, 0],
        np.sqrt(variance.max((1, 2, 3))),
        rtol=1e-12,
    )


@pytest.mark.parametrize(("m", "c", "T"), [(2, 3.0, 2), (5, 10.0, 4), (5, 1.0, 3)])
def test_debiased_variance_is_unbiased_before_its_floor_and_that_of_welford_is_not(m: int, c: float, T: int):
    n = 40_000
    rng = np.random.default_rng(20)
    p = np.array([0.5, 0.3, 0.2])
    batches = [rng.multinomial(m, rng.dirichlet(c * p, (n, 3, 1))) / m for _ in range(T)]
    memory = memory_of(batches, m)
    variance, transition = memory.variance("sample"), memory.sampling_variance()

    def assert_expectation(samples: np.ndarray, expected: np.ndarray):
        error = samples.std(0) / np.sqrt(n)
        assert np.all(np.abs(samples.mean(0) - expected) < 4.5 * error)

    similarity = p * (1 - p) / (c + 1)
    assert_expectation(transition, p * (1 - p) * c / (c + 1))
    assert_expectation(variance - transition / m, similarity)
    assert_expectation(variance, similarity + p * (1 - p) * c / (c + 1) / m)


def test_adaptive_estimator_that_is_told_the_truth_is_pomrl():
    class Told(RegularisedLeastSquares):
        def similarity_estimate(self, memory, m, truth):
            return np.sqrt(truth.variance.max((-3, -2, -1)))[:, None, None]

    batches, truth = draw_batches(21, 8, 5)
    for mixing in ("paper", "mse_bound"):
        told = estimates(Told(mixing=mixing, similarity="welford"), batches, 5, truth)
        pomrl = estimates(known(mixing=mixing), batches, 5, truth)
        ada = estimates(make(mixing=mixing, similarity="welford"), batches, 5, truth)
        assert all(np.array_equal(a, b) for a, b in zip(told, pomrl, strict=True))
        assert not np.array_equal(told[-1], ada[-1])
