from itertools import product
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.support.sample_estimates import MIXINGS, batch_of, draw_batches, estimates, make, memory_of

from pomrl.science.estimators.estimator import Estimator
from pomrl.science.estimators.memory import Memory
from pomrl.science.estimators.regularised_least_squares import RegularisedLeastSquares

# Memory


def test_memory_is_uniform_before_the_first_task():
    memory = Memory.initial(2, 4, 3)
    assert memory.tasks == 0
    assert np.array_equal(memory.P_o_hat, np.full((2, 4, 3, 4), 0.25))


def test_first_batch_replaces_the_uniform_start():
    batches, _ = draw_batches(0, 1, 7)
    assert np.array_equal(memory_of(batches).P_o_hat, batches[0])


@pytest.mark.parametrize("T", [2, 3, 15, 200])
def test_memory_is_the_mean_and_the_variance_of_the_batches(T: int):
    batches, _ = draw_batches(1, T, 5)
    memory = memory_of(batches)
    assert memory.tasks == T
    np.testing.assert_allclose(memory.P_o_hat, np.mean(batches, axis=0), rtol=0, atol=1e-14)
    np.testing.assert_allclose(memory.variance("sample"), np.var(batches, axis=0, ddof=1), rtol=0, atol=1e-14)
    np.testing.assert_allclose(memory.variance("population"), np.var(batches, axis=0), rtol=0, atol=1e-14)


def test_variance_is_never_negative_and_zero_for_equal_batches():
    batches, _ = draw_batches(2, 1, 7)
    memory = memory_of(batches * 50)
    np.testing.assert_allclose(memory.P_o_hat, batches[0], rtol=1e-15)
    assert np.all(memory.variance("sample") >= 0)
    assert memory.variance("sample").max() < 1e-30


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


def test_known_prior_is_the_true_mean_model():
    batches, truth = draw_batches(5, 2, 5)
    for P_hat in estimates(make(mixing=1.0, prior="known"), batches, 5, truth):
        assert np.array_equal(P_hat, truth.P_o)


@pytest.mark.parametrize("alpha", [0.0, 0.3, 1.0])
def test_inclusive_prior_is_the_exclusive_one_with_less_weight(alpha: float):
    batches, truth = draw_batches(6, 6, 5)
    inclusive = estimates(make(mixing=alpha), batches, 5, truth)
    for t in range(1, 7):
        weight = alpha * (t - 1) / t
        exclusive = estimates(make(mixing=weight, prior="exclusive"), batches, 5, truth)
        np.testing.assert_allclose(inclusive[t - 1], exclusive[t - 1], rtol=0, atol=1e-15)


# Mixing by a constant


@pytest.mark.parametrize("prior", ["inclusive", "exclusive", "known"])
def test_mixing_by_zero_is_no_meta_learning(prior):
    batches, truth = draw_batches(7, 5, 5)
    P_hats = estimates(make(mixing=0.0, prior=prior), batches, 5, truth)
    assert all(np.array_equal(P_hat, P_bar) for P_hat, P_bar in zip(P_hats, batches, strict=True))


def test_aggregating_is_the_mean_of_all_batches_so_far():
    batches, truth = draw_batches(8, 8, 5)
    for t, P_hat in enumerate(estimates(make(mixing=1.0), batches, 5, truth), start=1):
        np.testing.assert_allclose(P_hat, np.mean(batches[:t], axis=0), rtol=0, atol=1e-15)


def test_fixed_mixing_weighs_the_true_prior():
    batches, truth = draw_batches(9, 3, 5)
    P_hats = estimates(make(mixing=0.25, prior="known"), batches, 5, truth)
    for P_hat, P_bar in zip(P_hats, batches, strict=True):
        np.testing.assert_allclose(P_hat, 0.25 * truth.P_o + 0.75 * P_bar, rtol=0, atol=1e-15)


# All of them


every_estimator = st.one_of(
    st.builds(
        RegularisedLeastSquares, mixing=st.floats(0, 1), prior=st.sampled_from(["inclusive", "exclusive", "known"])
    ),
    st.builds(
        RegularisedLeastSquares,
        mixing=st.sampled_from(["paper", "mse_bound", "mse_optimal"]) | st.floats(0, 1),
        prior=st.sampled_from(["inclusive", "exclusive", "known"]),
        similarity=st.sampled_from(["known", "welford", "debiased"]),
        index=st.sampled_from(["text", "algorithm"]),
        plug=st.sampled_from(["variance", "squared"]),
        scope=st.sampled_from(["max", "per_pair"]),
        variance=st.sampled_from(["sample", "population"]),
        sigma_1=st.floats(0, 1),
        v2=st.sampled_from([1.0, 0.25]),
        first_task=st.sampled_from([None, "alone", "mix"]),
        first_batch=st.sampled_from(["use", "skip"]),
        start_weight=st.sampled_from([0.0, 0.5, 1.0, 3.0]),
    ),
)


@given(
    estimator=every_estimator,
    seed=st.integers(0, 2**32),
    m=st.sampled_from([2, 5, 50]),
    S=st.integers(2, 5),
    A=st.integers(1, 3),
    c=st.sampled_from([0.5, 5.0, 1e6]),
)
@settings(max_examples=300, deadline=None, derandomize=True)
def test_every_estimate_is_a_transition_model(estimator: Estimator, seed: int, m: int, S: int, A: int, c: float):
    estimator.check(m)
    batches, truth = draw_batches(seed, 6, m, n=2, S=S, A=A, c=c)
    for P_hat in estimates(estimator, batches, m, truth):
        assert P_hat.shape == (2, S, A, S)
        assert np.all(P_hat >= 0)
        np.testing.assert_allclose(P_hat.sum(-1), 1, rtol=0, atol=1e-14)


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


@pytest.mark.parametrize(
    ("key", "value"),
    [("mixing", 1.5), ("mixing", -0.1), ("prior", "own"), ("sigma_1", 2.0), ("scope", "min"), ("k", 1)],
)
def test_options_are_checked(key: str, value):
    with pytest.raises(ValueError, match=key):
        make(**{"mixing": 0.5, key: value})
