from itertools import product
from typing import Any

import numpy as np
import pytest
from tests.support.sample_estimates import MIXINGS, batch_of, draw_batches, estimates, make, memory_of

from pomrl.science.estimators.memory import Memory

# Memory


def test_memory_is_uniform_before_the_first_task():
    memory = Memory.initial(2, 4, 3)
    assert memory.tasks == 0
    assert np.array_equal(memory.P_o_hat, np.full((2, 4, 3, 4), 0.25))


@pytest.mark.parametrize("T", [2, 3, 15, 200])
def test_memory_is_the_mean_and_the_variance_of_the_batches(T: int):
    batches, _ = draw_batches(1, T, 5)
    memory = memory_of(batches)
    assert memory.tasks == T
    np.testing.assert_allclose(memory.P_o_hat, np.mean(batches, axis=0), rtol=0, atol=1e-14)
    np.testing.assert_allclose(memory.variance("sample"), np.var(batches, axis=0, ddof=1), rtol=0, atol=1e-14)
    np.testing.assert_allclose(memory.variance("population"), np.var(batches, axis=0), rtol=0, atol=1e-14)


def test_update_leaves_the_memory_it_started_from_as_it_was():
    batches, _ = draw_batches(3, 3, 5)
    memory = memory_of(batches[:2])
    kept = memory.P_o_hat.copy(), memory.squares.copy(), memory.noise.copy()
    memory.update(batch_of(batches[2]))
    assert all(np.array_equal(a, b) for a, b in zip(kept, (memory.P_o_hat, memory.squares, memory.noise), strict=True))


# Prior


def test_exclusive_prior_is_the_mean_of_the_batches_before_and_uniform_at_first():
    batches, truth = draw_batches(4, 4, 5)
    exclusive = make(mixing=1.0, prior="exclusive")
    uniform, *others = estimates(exclusive, batches, 5, truth)
    assert np.array_equal(uniform, np.full_like(uniform, 0.25))
    for t, P_hat in enumerate(others, start=2):
        np.testing.assert_allclose(P_hat, np.mean(batches[: t - 1], axis=0), rtol=0, atol=1e-15)


@pytest.mark.parametrize("alpha", [0.0, 0.3, 1.0])
def test_inclusive_prior_is_the_exclusive_one_with_less_weight(alpha: float):
    batches, truth = draw_batches(6, 6, 5)
    inclusive = estimates(make(mixing=alpha), batches, 5, truth)
    for t in range(1, 7):
        weight = alpha * (t - 1) / t
        exclusive = estimates(make(mixing=weight, prior="exclusive"), batches, 5, truth)
        np.testing.assert_allclose(inclusive[t - 1], exclusive[t - 1], rtol=0, atol=1e-15)


# Mixing by a constant


# All of them


@pytest.mark.parametrize("prior", ["inclusive", "exclusive", "known"])
@pytest.mark.parametrize("similarity", ["known", "welford", "debiased"])
@pytest.mark.parametrize("mixing", [*MIXINGS, 0.3])
def test_every_combination_of_options_estimates_transition_models(mixing, similarity, prior):
    batches, truth = draw_batches(22, 4, 5, n=2)
    for index, plug, scope, variance in product(
        ("text", "algorithm"), ("variance", "squared"), ("max", "per_pair"), ("sample", "population")
    ):
        estimator = make(
            mixing=mixing, similarity=similarity, prior=prior, index=index, plug=plug, scope=scope, variance=variance
        )
        for P_hat in estimates(estimator, batches, 5, truth):
            assert np.all(P_hat >= 0)
            np.testing.assert_allclose(P_hat.sum(-1), 1, rtol=0, atol=1e-14)


@pytest.mark.parametrize("options", [{"mixing": "paper"}, {"mixing": "mse_bound", "prior": "known"}])
def test_a_rate_that_depends_on_the_similarity_needs_one(options: dict[str, Any]):
    with pytest.raises(ValueError, match=f"mixing={options['mixing']} needs a similarity"):
        make(**options)


@pytest.mark.parametrize(
    ("mixing", "similarity", "refused"),
    [
        ("paper", "debiased", True),
        (0.5, "debiased", True),
        ("mse_optimal", "welford", True),
        ("mse_optimal", "known", False),
        ("paper", "welford", False),
    ],
)
def test_one_sample_does_not_tell_the_sampling_noise(mixing, similarity, refused: bool):
    estimator = make(mixing=mixing, similarity=similarity)
    estimator.check(2)
    if refused:
        with pytest.raises(ValueError, match=r"m=1: .* at least 2"):
            estimator.check(1)
    else:
        estimator.check(1)
