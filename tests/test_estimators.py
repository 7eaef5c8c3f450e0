from collections.abc import Callable
from itertools import product
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize_scalar
from tests.sample_models import random_models

from pomrl.data import Batch
from pomrl.estimators import Estimator, Memory, Truth

MIXINGS = ["paper", "mse_bound", "mse_optimal"]


def make(**options: Any) -> Estimator:
    return Estimator(**options)


def known(**options: Any) -> Estimator:
    return Estimator(similarity="known", **options)


def minimiser(error: Callable[[float], float]) -> float:
    least: Any = minimize_scalar(error, bounds=(0, 1), method="bounded", options={"xatol": 1e-10})
    return least.x


def batch_of(P_bar: np.ndarray, m: int = 5) -> Batch:
    """The batch of m transitions from each pair with these frequencies."""
    visits = np.full((len(P_bar), 1, 1), float(m))
    return Batch(P_bar * m, P_bar, visits, visits > 0, m)


def memory_of(batches: list[np.ndarray], m: int = 5) -> Memory:
    memory = Memory.initial(*batches[0].shape[:3]) if batches else Memory.initial(1, 2, 1)
    for P_bar in batches:
        memory = memory.update(batch_of(P_bar, m))
    return memory


def dirichlet_truth(P_o: np.ndarray, c: float) -> Truth:
    return Truth(P_o, P_o * (1 - P_o) / (c + 1))


def truth_of_sigma(sigma: float, S: int = 3, A: int = 2, n: int = 1) -> Truth:
    """All entries have the same standard deviation."""
    return Truth(np.full((n, S, A, S), 1 / S), np.full((n, S, A, S), sigma**2))


def alpha_of(estimator: Estimator, t: int, m: int, truth: Truth, memory: Memory | None = None) -> np.ndarray:
    memory = memory or Memory.initial(*truth.P_o.shape[:3])
    return estimator.mixing_rate(t, m, estimator.similarity_estimate(memory, m, truth), memory, truth)


def estimates(estimator: Estimator, batches: list[np.ndarray], m: int, truth: Truth) -> list[np.ndarray]:
    """P_hat of each task, by the formula."""
    memory, P_hats = estimator.initial_memory(*truth.P_o.shape[:3]), []
    for t, P_bar in enumerate(batches, start=1):
        alpha = alpha_of(estimator, t, m, truth, memory)[..., None]
        P_hats.append(alpha * estimator.prior_model(memory, batch_of(P_bar, m), truth) + (1 - alpha) * P_bar)
        memory = estimator.learn(memory, batch_of(P_bar, m))
    return P_hats


def draw_batches(seed: int, T: int, m: int, n: int = 3, S: int = 4, A: int = 2, c: float = 5.0):
    """Batches of T tasks that are Dirichlet of concentration c around the mean model of each run, and the truth."""
    rng = np.random.default_rng(seed)
    P_o, _ = random_models(rng, n, S, A)
    batches = []
    for _ in range(T):
        weight = rng.gamma(c * P_o)
        batches.append(rng.multinomial(m, weight / weight.sum(-1, keepdims=True)) / m)
    return batches, dirichlet_truth(P_o, c)


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


# The paper's mixing rate


@pytest.mark.parametrize(
    ("options", "sigma", "m", "t", "alpha"),
    [
        ({}, 0.1, 5, 2, 1 / 1.075),
        ({}, 0.1, 5, 5, 1 / 1.06),
        ({}, 0.5, 4, 4, 1 / 2.25),
        ({}, 0.0, 5, 2, 1.0),
        ({}, 0.5, 4, 1, 0.0),
        ({"prior": "exclusive"}, 0.5, 4, 4, 1 / 2.25),
        ({"prior": "known"}, 0.5, 4, 4, 1 / 2.25),
        ({"prior": "known"}, 0.5, 4, 1, 1 / 3),
        ({"index": "algorithm"}, 0.5, 4, 2, 1 / 3),
        ({"index": "algorithm"}, 0.5, 4, 5, 1 / 2.25),
        ({"index": "algorithm"}, 0.5, 4, 1, 0.0),
        ({"index": "algorithm", "prior": "known"}, 0.5, 4, 1, 1 / 3),
        ({"plug": "squared"}, 0.5, 4, 4, 1 / (0.0625 * 1.25 * 4 + 1)),
    ],
)
def test_rate_of_the_paper_by_hand(options: dict[str, Any], sigma: float, m: int, t: int, alpha: float):
    estimator = known(mixing="paper", **options)
    np.testing.assert_allclose(alpha_of(estimator, t, m, truth_of_sigma(sigma)), alpha, rtol=1e-14, atol=0)


@pytest.mark.parametrize("mixing", MIXINGS)
def test_identical_tasks_are_estimated_by_the_prior_alone(mixing):
    batches, truth = draw_batches(10, 5, 5)
    truth = Truth(truth.P_o, np.zeros_like(truth.P_o))
    pomrl = estimates(known(mixing=mixing), batches, 5, truth)
    aggregating = estimates(make(mixing=1.0), batches, 5, truth)
    oracle = estimates(known(mixing=mixing, prior="known"), batches, 5, truth)
    assert all(np.array_equal(a, b) for a, b in zip(pomrl, aggregating, strict=True))
    assert all(np.array_equal(P_hat, truth.P_o) for P_hat in oracle)


@pytest.mark.parametrize("mixing", MIXINGS)
def test_prior_loses_its_weight_as_samples_and_dissimilarity_grow(mixing):
    estimator = known(mixing=mixing, prior="known")
    by_m = [alpha_of(estimator, 3, m, truth_of_sigma(0.2)).max() for m in (1, 5, 50, 10**6)]
    by_sigma = [alpha_of(estimator, 3, 5, truth_of_sigma(sigma)).max() for sigma in (0.01, 0.1, 0.3, 0.4)]
    assert by_m == sorted(by_m, reverse=True)
    assert by_m[-1] < 1e-4
    assert by_sigma == sorted(by_sigma, reverse=True)


@pytest.mark.parametrize("sigma", [0.1, 0.3])
@pytest.mark.parametrize(("m", "t"), [(1, 2), (5, 3), (20, 10)])
def test_rate_of_the_paper_minimises_its_mean_squared_error(sigma: float, m: int, t: int):
    """(Sec. 3.2) The prior is off by sigma^2 (1 + 1/t), the frequencies by 1/m."""
    best = minimiser(lambda alpha: alpha**2 * sigma**2 * (1 + 1 / t) + (1 - alpha) ** 2 / m)
    alpha = alpha_of(known(mixing="paper"), t, m, truth_of_sigma(sigma))
    np.testing.assert_allclose(alpha, best, rtol=1e-6)


# Rates that minimise the mean squared error


@pytest.mark.parametrize("sigma", [0.05, 0.3])
@pytest.mark.parametrize(("m", "t"), [(1, 2), (5, 2), (5, 3), (20, 10)])
def test_mse_bound_minimises_the_bound_with_sampling_variance_one_over_m(sigma: float, m: int, t: int):
    def exclusive(alpha: float) -> float:
        """The prior is a mean of t - 1 batches, each off by its task and by sampling; the present task is off too."""
        return alpha**2 * ((sigma**2 + 1 / m) / (t - 1) + sigma**2) + (1 - alpha) ** 2 / m

    errors = {
        "exclusive": exclusive,
        "inclusive": lambda alpha: exclusive(alpha * (t - 1) / t),
        "known": lambda alpha: alpha**2 * sigma**2 + (1 - alpha) ** 2 / m,
    }
    for prior, error in errors.items():
        alpha = alpha_of(known(mixing="mse_bound", prior=prior), t, m, truth_of_sigma(sigma))
        np.testing.assert_allclose(alpha, minimiser(error), rtol=1e-6)


def test_learned_priors_have_no_weight_in_task_1():
    for mixing, prior in product(MIXINGS, ("inclusive", "exclusive")):
        assert not alpha_of(known(mixing=mixing, prior=prior), 1, 5, truth_of_sigma(0.1)).any()


@pytest.mark.parametrize("scope", ["max", "per_pair"])
@pytest.mark.parametrize("c", [0.5, 5.0, 40.0])
def test_mse_optimal_for_a_dirichlet_of_known_mean_is_its_share_of_the_observations(scope, c: float):
    P_o, _ = random_models(np.random.default_rng(11), 3, 5, 2)
    for prior, t, factor in [("known", 1, 1), ("known", 4, 1), ("inclusive", 4, 1), ("exclusive", 4, 0.75)]:
        estimator = known(mixing="mse_optimal", prior=prior, scope=scope)
        alpha = alpha_of(estimator, t, 5, dirichlet_truth(P_o, c))
        np.testing.assert_allclose(alpha, factor * c / (c + 5), rtol=1e-12)
        assert alpha.shape == ((3, 1, 1) if scope == "max" else (3, 5, 2))


@pytest.mark.parametrize("prior", ["known", "exclusive", "inclusive"])
@pytest.mark.parametrize(("c", "m", "t"), [(2.0, 5, 2), (2.0, 5, 6), (12.0, 3, 3), (0.7, 10, 2)])
def test_mse_optimal_minimises_the_error_in_simulation(prior, c: float, m: int, t: int):
    """The squared error is quadratic in alpha: that of P_bar + alpha (h - P_bar) is least at -E[x y] / E[y^2]."""
    rng = np.random.default_rng(12)
    p = np.array([0.1, 0.2, 0.3, 0.4])
    P = rng.dirichlet(c * p, (60_000, t))
    P_bar = rng.multinomial(m, P) / m
    own = P_bar[:, -1]
    h = {"known": p, "exclusive": P_bar[:, :-1].mean(1), "inclusive": P_bar.mean(1)}[prior]
    x, y = own - P[:, -1], h - own
    xy, yy = (x * y).sum(-1), (y * y).sum(-1)
    best = -xy.mean() / yy.mean()
    standard_error = np.std(xy + best * yy) / yy.mean() / np.sqrt(len(P))

    truth = dirichlet_truth(p[None, None, None].repeat(4, 1), c)
    alpha = alpha_of(known(mixing="mse_optimal", prior=prior), t, m, truth).max()
    assert standard_error < 0.01
    assert abs(alpha - best) < 4 * standard_error

    error = [((x + a * y) ** 2).sum(-1).mean() for a in (alpha - 0.1, alpha, alpha + 0.1)]
    assert error[1] == min(error)


def test_mse_optimal_estimates_the_transition_variance_where_the_similarity_is_learned():
    batches, truth = draw_batches(13, 6, 5)
    memory, m, t = memory_of(batches), 5, 7
    v = np.mean([P_bar * (1 - P_bar) for P_bar in batches], axis=0).max((1, 2, 3)) * 5 / 4
    x = m * np.var(batches, axis=0, ddof=1).max((1, 2, 3))
    alpha = alpha_of(make(mixing="mse_optimal", prior="exclusive", similarity="welford"), t, m, truth, memory)
    np.testing.assert_allclose(alpha[:, 0, 0], 6 / 7 * v / (v + x), rtol=1e-12)


@pytest.mark.parametrize("similarity", ["welford", "debiased"])
def test_mse_optimal_weighs_a_known_prior_in_task_1_whatever_the_similarity(similarity):
    """In task 1 the similarity cannot be estimated yet, but the mixing rate has to be between 0 and 1 all the same."""
    _, truth = draw_batches(14, 1, 5)
    alpha = alpha_of(make(mixing="mse_optimal", prior="known", similarity=similarity), 1, 5, truth)
    assert np.all((alpha >= 0) & (alpha <= 1))


# Similarity


def test_known_similarity_is_the_largest_standard_deviation_or_that_of_each_pair():
    _, truth = draw_batches(15, 1, 5)
    memory = memory_of([truth.P_o])
    largest = known(mixing="paper").similarity_estimate(memory, 5, truth)
    each = known(mixing="paper", scope="per_pair").similarity_estimate(memory, 5, truth)
    np.testing.assert_allclose(each, np.sqrt(truth.variance).max(-1), rtol=1e-15)
    np.testing.assert_allclose(largest, np.sqrt(truth.variance).max((1, 2, 3))[:, None, None], rtol=1e-15)
    assert len(np.unique(largest)) == 3


@pytest.mark.parametrize("mixing", MIXINGS)
def test_one_rate_per_pair_is_one_for_all_where_all_pairs_are_alike(mixing):
    row = np.array([0.1, 0.2, 0.3, 0.4])
    truth = dirichlet_truth(np.tile(row, (2, 4, 3, 1)), 6.0)
    for t in (1, 2, 9):
        one = alpha_of(known(mixing=mixing), t, 5, truth)
        each = alpha_of(known(mixing=mixing, scope="per_pair"), t, 5, truth)
        assert each.shape == (2, 4, 3)
        assert np.array_equal(np.broadcast_to(one, each.shape), each)


def test_rates_per_pair_follow_the_similarity_of_each_pair():
    variance = np.zeros((1, 2, 2, 2))
    variance[0, 0, 1], variance[0, 1, 0], variance[0, 1, 1] = 0.25, 0.01, [0.04, 0.09]
    truth = Truth(np.full((1, 2, 2, 2), 0.5), variance)
    alpha = alpha_of(known(mixing="paper", scope="per_pair"), 4, 4, truth)
    np.testing.assert_allclose(alpha, [[[1, 1 / 2.25], [1 / 1.05, 1 / 1.45]]], rtol=1e-14)


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


def test_debiased_similarity_of_equal_batches_is_zero():
    batches, truth = draw_batches(19, 1, 5)
    sigma = make(mixing="paper", similarity="debiased").similarity_estimate(memory_of(batches * 4), 5, truth)
    assert not sigma.any()


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
    class Told(Estimator):
        def similarity_estimate(self, memory, m, truth):
            return np.sqrt(truth.variance.max((-3, -2, -1)))[:, None, None]

    batches, truth = draw_batches(21, 8, 5)
    for mixing in ("paper", "mse_bound"):
        told = estimates(Told(mixing=mixing, similarity="welford"), batches, 5, truth)
        pomrl = estimates(known(mixing=mixing), batches, 5, truth)
        ada = estimates(make(mixing=mixing, similarity="welford"), batches, 5, truth)
        assert all(np.array_equal(a, b) for a, b in zip(told, pomrl, strict=True))
        assert not np.array_equal(told[-1], ada[-1])


# All of them


every_estimator = st.one_of(
    st.builds(Estimator, mixing=st.floats(0, 1), prior=st.sampled_from(["inclusive", "exclusive", "known"])),
    st.builds(
        Estimator,
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
