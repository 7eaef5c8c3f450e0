"""The exact posterior over finitely many models, against the sum over all of them in plain Python."""

from math import prod

import numpy as np
import pytest

from pomrl_studies.beyond.estimators.exact_posterior import posterior_mean


def brute_force(counts: np.ndarray, candidates: np.ndarray) -> np.ndarray:
    likelihood = [
        prod(float(P[index]) ** int(count) for index, count in np.ndenumerate(counts) if count) for P in candidates
    ]
    return np.sum([weight * P for weight, P in zip(likelihood, candidates, strict=True)], axis=0) / sum(likelihood)


@pytest.mark.parametrize("zeros", [False, True])
def test_it_is_the_sum_over_all_models(zeros: bool) -> None:
    rng = np.random.default_rng(3)
    candidates = rng.dirichlet(np.ones(3), (4, 3, 2))
    if zeros:  # a model that cannot have a transition that is seen has no weight
        candidates[0, 0, 0] = [0.0, 0.5, 0.5]
        candidates[1, 2] = candidates[2, 2]
    counts = rng.multinomial(2, candidates[[3, 2, 1]])
    counts[:, 0, 0] = [1, 1, 0]
    actual = posterior_mean(counts, candidates)
    for i in range(3):
        np.testing.assert_allclose(actual[i], brute_force(counts[i], candidates), rtol=0, atol=1e-13)


def test_many_transitions_leave_the_true_model() -> None:
    rng = np.random.default_rng(4)
    candidates = rng.dirichlet(np.ones(5), (6, 5, 2))
    counts = rng.multinomial(10**6, candidates[2:3])
    np.testing.assert_allclose(posterior_mean(counts, candidates)[0], candidates[2], atol=1e-12)


def test_transitions_that_no_model_has_are_refused() -> None:
    candidates = np.array([[[[1.0, 0.0]], [[0.5, 0.5]]], [[[1.0, 0.0]], [[1.0, 0.0]]]])
    observed = np.array([[[[1, 0]], [[1, 0]]], [[[1, 0]], [[0, 1]]]])
    np.testing.assert_array_equal(posterior_mean(observed, candidates)[1], candidates[0])
    with pytest.raises(ValueError, match="none of the 1 candidate models allows the observed transitions of a run"):
        posterior_mean(observed, candidates[1:])
