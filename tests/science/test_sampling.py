"""Draws by keys: their distributions, and the same bits in C and in NumPy."""

from collections.abc import Callable
from functools import partial
from math import comb
from typing import Any
from unittest.mock import patch

import numpy as np
import pytest
from scipy import special, stats

from pomrl.science.randomness import GeneratorsOfRuns, Stream, fold, generator, task_keys
from pomrl.science.sampling import draws, elementary, reference
from pomrl.science.tasks.random_chains import Dirichlet

built = pytest.mark.skipif(not draws.is_built(), reason="the engine was not built, as POMRL_NO_ENGINE=1 allows")

MANY = 20_000
LEAST_P = 1e-5
"""A test of a distribution fails below this p value; the draws are always the same."""


def some_keys(n: int, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).integers(2**64 - 1, size=n, dtype=np.uint64, endpoint=True)


def some_rows(rng: np.random.Generator, rows: int, S: int) -> np.ndarray:
    """Distributions in which about half of the states are impossible."""
    weight = rng.random((rows, S)) * (rng.random((rows, S)) < 0.5)
    weight[np.arange(rows), rng.integers(S, size=rows)] += 0.1
    return weight / weight.sum(-1, keepdims=True)


def in_numpy(call: Callable[[], np.ndarray]) -> np.ndarray:
    with patch.object(draws, "is_built", lambda: False):
        return call()


def part_of_pooled(index: int, *arguments: Any) -> np.ndarray:
    return draws.pooled_trajectories(*arguments)[index]


# Keys


def test_keys_are_those_of_splitmix64():
    published = [6457827717110365317, 3203168211198807973, 9817491932198370423, 4593380528125082431]
    assert [fold(1234567, i) for i in range(4)] == published
    assert fold(np.array([1234567], np.uint64), np.arange(4)).tolist() == published


@pytest.mark.parametrize("stream", [Stream.TASKS, Stream.BATCHES])
def test_joint_generators_equal_single_ones(stream: Stream):
    joint = GeneratorsOfRuns(7, [3, 0, 12], stream)
    assert [rng.random() for rng in joint] == [generator(7, run, stream).random() for run in (3, 0, 12)]


def test_generators_differ_in_every_key():
    seeds = [0, 1, 2**32, 2**64 - 1, 2**64, 2**64 + 1, 2**200]
    keys = [(seed, run, stream) for seed in seeds for run in range(300) for stream in Stream]
    first = [generator(*key).random() for key in keys] + [generator(0, 0, Stream.AGENTS, i).random() for i in range(9)]
    assert len(set(first)) == len(first)
    assert stats.kstest(first, "uniform").pvalue > LEAST_P


def test_keys_do_not_depend_on_stacks():
    joint, separate = (GeneratorsOfRuns(1, range(4), Stream.TASKS) for _ in range(2))
    expected = np.concatenate([task_keys(separate, tasks) for tasks in (1, 2, 4)])
    assert np.array_equal(task_keys(joint, 7), expected)
    assert np.array_equal(task_keys(GeneratorsOfRuns(1, [2], Stream.TASKS), 7)[:, 0], expected[:, 2])


# Elementary functions


def test_elementary_functions_agree_with_scipy():
    rng = np.random.default_rng(0)
    x = np.exp(rng.uniform(-700, 700, MANY))
    np.testing.assert_allclose(reference.log(x), np.log(x), rtol=4e-16)
    np.testing.assert_allclose(reference.exp(-x), np.where(x < 707, np.exp(-x), 0.0), rtol=4e-16)
    u = np.concatenate([rng.random(MANY), 2.0 ** -rng.uniform(1, 53, MANY), 1 - 2.0 ** -rng.integers(1, 53, 100)])
    np.testing.assert_allclose(reference.normal_quantile(u), special.ndtri(u), rtol=2e-15, atol=1e-16)


SPECIAL = np.array([0.0, -0.0, -1.0, 5e-324, 1e-310, 2.0**-1022, 1.0, 10.0, 1e308, np.inf, -np.inf, np.nan])


@built
@pytest.mark.parametrize("function", [elementary.log, elementary.exp, elementary.log_gamma])
def test_elementary_functions_have_equal_bits(function: Callable[[np.ndarray], np.ndarray]):
    rng = np.random.default_rng(1)
    x = np.concatenate([SPECIAL, 10.0 ** rng.uniform(-323, 308, MANY), rng.uniform(-800, 800, MANY)])
    for argument in (x, x.reshape(-1, 2)[:, 0], np.array(2.5), np.empty((0, 3))):
        ours, theirs = function(argument), in_numpy(partial(function, argument))
        assert ours.shape == theirs.shape == argument.shape
        assert ours.tobytes() == theirs.tobytes()


def test_functions_of_logarithms_are_those_of_scipy():
    rng = np.random.default_rng(2)
    x, y = rng.uniform(-50, 50, (2, MANY, 8))
    positive = 10.0 ** rng.uniform(-250, 8, MANY)
    np.testing.assert_allclose(elementary.log_gamma(positive), special.gammaln(positive), rtol=2e-15, atol=1e-14)
    np.testing.assert_allclose(elementary.power(positive, -0.2), positive**-0.2, rtol=5e-14)
    np.testing.assert_allclose(elementary.cube_root(x), np.cbrt(x), rtol=2e-15)
    np.testing.assert_allclose(elementary.softmax(x), special.softmax(x, axis=-1), rtol=5e-15)
    np.testing.assert_allclose(elementary.log_sum_exp(x), special.logsumexp(x, axis=-1), rtol=2e-15, atol=1e-15)
    np.testing.assert_allclose(elementary.log_add_exp(x, y), np.logaddexp(x, y), rtol=2e-15, atol=3e-16)
    np.testing.assert_allclose(elementary.expit(x), special.expit(x), rtol=2e-15)
    np.testing.assert_allclose(elementary.log_expit(x), special.log_expit(x), rtol=2e-15, atol=3e-16)


def test_powers_and_logarithms_have_limits_at_zero():
    assert elementary.power(np.array([0.0, 1.0]), 0.2).tolist() == [0.0, 1.0]
    assert elementary.log(np.array([0.0, 1.0])).tolist() == [-np.inf, 0.0]
    assert elementary.exp(np.array([-np.inf, 0.0, np.inf])).tolist() == [0.0, 1.0, np.inf]
    assert elementary.cube_root(np.array([0.0, -8.0])) == pytest.approx([0.0, -2.0])


def test_uniform_numbers_are_inside_the_unit_interval():
    with patch.object(reference, "fold", lambda keys, index: keys):
        ends = reference.uniform(np.array([0, 2**64 - 1], np.uint64), 0)
    assert ends.tolist() == [2.0**-53, 1 - 2.0**-53]


# Distributions


@pytest.mark.parametrize("shape", [1.0, 1.3, 25.0, 1e6])
def test_gamma_variates(shape: float):
    variates = reference.gamma_variates(some_keys(MANY), np.full(MANY, shape))
    assert stats.kstest(variates, stats.gamma(shape).cdf).pvalue > LEAST_P


@pytest.mark.parametrize("concentration", [0.02, 0.5, 2.0, 24.0, 1e5])
def test_rows_are_dirichlet(concentration: float):
    p = np.array([[0.5, 0.0, 0.3, 0.2], [0.01, 0.09, 0.9, 0.0]])
    P = draws.dirichlet(some_keys(MANY)[:, None], concentration * p[None])[:, 0]
    np.testing.assert_allclose(P.sum(-1), 1.0, rtol=1e-15)
    assert not P[:, p == 0].any()
    for row, state in zip(*np.nonzero(p), strict=True):
        a = concentration * p[row, state]
        marginal = stats.beta(a, concentration - a)
        values = P[:, row, state]
        is_inside = (values > 1e-12) & (values < 1 - 1e-12)  # elsewhere many values are rounded to the same
        inside = marginal.cdf(1 - 1e-12) - marginal.cdf(1e-12)
        assert stats.binomtest(int(is_inside.sum()), MANY, inside).pvalue > LEAST_P
        scaled = (marginal.cdf(values[is_inside]) - marginal.cdf(1e-12)) / inside
        assert stats.kstest(scaled, "uniform").pvalue > LEAST_P
    covariance = -(concentration**2) * p[0, 0] * p[0, 2] / (concentration**2 * (concentration + 1))
    products = (P[:, 0, 0] - 0.5) * (P[:, 0, 2] - 0.3)
    assert products.mean() == pytest.approx(covariance, abs=5 * products.std() / MANY**0.5)


@pytest.mark.parametrize("below_limit", [1e-6, 1e-12, 0.0])
def test_tiny_concentrations_give_single_states(below_limit: float):
    """Near its limit sigma leaves a concentration of so much, or one that rounding makes 0."""
    distribution = Dirichlet(zeros=1, measure="std")
    limit = distribution.draw_mean(0, 0, 4, 2, 0.1).largest_deviation
    mean = distribution.draw_mean(0, 0, 4, 2, np.nextafter(limit, 0.0) * (1 - below_limit))
    P = distribution.draw_tasks(np.random.default_rng(0), mean, MANY)
    assert np.mean(P.max(-1) < 0.999) < 1e-4
    for s, a in np.ndindex(4, 2):
        expected = mean.P_o[s, a] * MANY
        observed = np.bincount(P[:, s, a].argmax(-1), minlength=4)
        assert stats.chisquare(observed[expected > 0], expected[expected > 0]).pvalue > LEAST_P


def test_rows_entries_and_tasks_are_independent():
    P = draws.dirichlet(some_keys(MANY)[:, None], np.full((1, 3, 3), 2.0))[:, 0]
    flat = np.concatenate([P[:-1, :, 0], P[1:, :, 0]], axis=1)
    r = np.corrcoef(flat.T)[np.triu_indices(6, 1)]
    assert np.abs(r).max() < 5 / MANY**0.5


@pytest.mark.parametrize("m", [1, 2, 5])
def test_counts_are_multinomial_in_all_outcomes(m: int):
    p = np.array([0.2, 0.0, 0.5, 0.3])
    counts = draws.transitions(some_keys(MANY), np.tile(p, (MANY, 1, 1)), 1, m)[:, 0, 0]
    outcomes = [(i, 0, j, m - i - j) for i in range(m + 1) for j in range(m + 1 - i)]
    expected = [MANY * comb(m, i) * comb(m - i, j) * 0.2**i * 0.5**j * 0.3**k for i, _, j, k in outcomes]
    observed = [(counts == outcome).all(-1).sum() for outcome in outcomes]
    assert stats.chisquare(observed, expected).pvalue > LEAST_P


@pytest.mark.parametrize("m", [50, 51, 52, 137, 1000, 10**6, 10**9])
def test_counts_of_many_transitions_are_binomial(m: int):
    p = np.array([0.001, 0.0, 0.399, 0.5, 0.1])
    counts = draws.transitions(some_keys(MANY // 4), np.tile(p, (MANY // 4, 1, 1)), 2, m).reshape(-1, 5)
    assert (counts.sum(-1) == m).all()
    assert not counts[:, 1].any()
    for states in ([0], [2], [3], [0, 2], [2, 4]):
        marginal = stats.binom(m, p[states].sum())
        edges = np.unique(marginal.ppf(np.linspace(0, 1, 21)[1:-1]))
        expected = np.diff(np.concatenate([[0.0], marginal.cdf(edges), [1.0]])) * len(counts)
        observed = np.bincount(np.searchsorted(edges, counts[:, states].sum(-1)), minlength=len(expected))
        assert stats.chisquare(observed[expected > 0], expected[expected > 0]).pvalue > LEAST_P


def test_batches_are_independent():
    counts = draws.transitions(some_keys(MANY), np.full((MANY, 2, 2), 0.5), 3, 60)[..., 0].reshape(MANY, -1)
    r = np.corrcoef(counts.T)[np.triu_indices(6, 1)]
    assert np.abs(r).max() < 5 / MANY**0.5


def test_visits_are_of_the_markov_chain():
    S, A, length, m = 4, 2, 5, 3
    P = some_rows(np.random.default_rng(1), S * A, S).reshape(S, A, S)
    models = np.tile(P, (MANY, 1, 1, 1))
    by_batch = draws.trajectories(some_keys(MANY), models, 2, m, length)
    pooled = draws.pooled_trajectories(some_keys(MANY), models, 2, m, length)
    counts = by_batch.reshape(-1, *P.shape)
    assert (counts.sum((1, 2, 3)) == m * length).all()
    distribution, visits = np.full(S, 1 / S), np.zeros(S)
    for _ in range(length):
        visits += distribution
        distribution = distribution @ P.mean(1)
    expected = m * visits[:, None, None] / A * P
    error = counts.std(0) / np.sqrt(len(counts))
    assert (np.abs(counts.mean(0) - expected) <= 5 * error + 1e-12).all()

    visits = by_batch.sum(-1, keepdims=True)
    assert np.array_equal(pooled.counts, by_batch.sum(1))
    assert np.array_equal(pooled.visited, (visits[..., 0] > 0).sum(1))
    np.testing.assert_allclose(pooled.frequencies, (by_batch / np.maximum(visits, 1)).sum(1), rtol=1e-14)


# What one draw leaves to the others


def test_longer_batches_begin_with_shorter_ones():
    keys, P = some_keys(30), some_rows(np.random.default_rng(2), 30 * 6, 5).reshape(30, 6, 5)
    five, six = (draws.transitions(keys, P, 2, m) for m in (5, 6))
    assert ((six - five).sum(-1) == 1).all()
    assert (six >= five).all()
    models = np.repeat(P[:, :5, None], 2, axis=2)
    short, long = (draws.trajectories(keys, models, 1, 4, length) for length in (3, 8))
    assert (short <= long).all()
    assert (long.sum((1, 2, 3, 4)) == 32).all()


def test_rows_do_not_depend_on_others():
    keys, p = some_keys(2000), some_rows(np.random.default_rng(3), 4, 6)
    c = np.array([[20.0] * 4, [20.0, 0.3, 30.0, 20.0]])
    first, other = draws.dirichlet(np.stack([keys, keys], 1), c[..., None] * p).swapaxes(0, 1)
    assert np.array_equal(first[:, [0, 3]], other[:, [0, 3]])
    varying = (p[2] > 0) & (p[2] < 1)
    for state in np.flatnonzero(varying):
        assert np.corrcoef(first[:, 2, state], other[:, 2, state])[0, 1] > 0.95


# The same in C and in NumPy


@built
@pytest.mark.parametrize("seed", range(6))
def test_draws_have_equal_bits_in_c(seed: int):
    rng = np.random.default_rng(seed)
    for _ in range(20):
        N, S, A, batches, n = int(rng.integers(0, 5)), *(int(rng.integers(1, limit)) for limit in (20, 4, 4, 4))
        m, length = int(rng.choice([1, 3, 50, 51, 300, 10**9])), int(rng.integers(1, 6))
        keys, p = some_keys(N, seed), some_rows(rng, N * S * A, S).reshape(N, S * A, S)
        shapes = 10.0 ** rng.uniform(-9, 9) * some_rows(rng, n * S * A, S).reshape(n, S * A, S)
        for call in (
            partial(draws.dirichlet, some_keys(N * n, seed).reshape(N, n), shapes),
            partial(draws.transitions, keys, p, batches, m),
            partial(draws.trajectories, keys, p.reshape(N, S, A, S), batches, min(m, 7), length),
            *(partial(part_of_pooled, i, keys, p.reshape(N, S, A, S), batches, min(m, 7), length) for i in range(3)),
        ):
            ours, theirs = call(), in_numpy(call)
            assert (ours.shape, ours.dtype) == (theirs.shape, theirs.dtype)
            assert ours.tobytes() == theirs.tobytes()


@built
def test_layouts_do_not_change_draws():
    keys, P = some_keys(8), some_rows(np.random.default_rng(0), 8 * 6, 3).reshape(8, 6, 3)
    expected = draws.transitions(keys[::2].copy(), P[::2, ::3].copy(), 1, 9)
    assert np.array_equal(draws.transitions(keys[::2], P[::2, ::3], 1, 9), expected)


def test_pooled_batches_do_not_depend_on_parts(monkeypatch: pytest.MonkeyPatch):
    keys, P = some_keys(9), some_rows(np.random.default_rng(0), 9 * 6, 3).reshape(9, 3, 2, 3)
    whole = reference.pooled_trajectories(keys, P, 4, 2, 5)
    monkeypatch.setattr(reference, "MAX_CELLS", 20)
    for array, divided in zip(whole, reference.pooled_trajectories(keys, P, 4, 2, 5), strict=True):
        assert array.tobytes() == divided.tobytes()


def test_states_beyond_rounding_are_not_reached():
    """What probabilities lack of 1 belongs to the last state that is possible."""
    keys, row = some_keys(50), np.array([0.1, 0.1, 0.2, 0.0, 0.0])
    for call in (draws, reference):
        assert set(np.nonzero(call.transitions(keys, np.tile(row, (50, 1, 1)), 1, 200))[-1]) == {0, 1, 2}
        counts = call.trajectories(keys, np.tile(row, (50, 5, 2, 1)), 1, 3, 4)
        assert set(np.nonzero(counts)[-1]) == {0, 1, 2}


def wrong_calls() -> list[tuple[str, tuple[Any, ...], str]]:
    keys, row, counts = some_keys(2), np.full((2, 3, 4), 0.25), np.zeros((2, 1, 3, 4), np.int64)
    model, model_counts = np.full((2, 3, 1, 3), 1 / 3), np.zeros((2, 3, 1, 3), np.int64)
    sums = (model_counts, model.copy(), model_counts[..., 0].copy())
    read_only = counts.copy()
    read_only.flags.writeable = False
    largest = 2**31 - 1
    return [
        ("dirichlet", (keys.astype(np.int64), row[0], row.copy(), 2, 1, 3, 4), "keys must have items of a format"),
        ("dirichlet", (keys, row[0], row.copy(), 3, 1, 3, 4), "keys must have 3 items, got 2"),
        ("dirichlet", (keys, row[0, :2], row.copy(), 2, 1, 3, 4), "shapes must have 12 items, got 8"),
        ("dirichlet", (keys, row[0], row[:1].copy(), 2, 1, 3, 4), "P must have 24 items, got 12"),
        (
            "dirichlet",
            (keys, row[0].astype(np.float32), row.copy(), 2, 1, 3, 4),
            "shapes must have items of a format .*, got 'f'",
        ),
        ("dirichlet", (keys, row[0], row.copy(), -1, 1, 3, 4), "tasks must be .* got -1"),
        ("dirichlet", (keys, row[0], row.copy(), 2, 1, largest, largest), "shapes must have .* items, got 12"),
        ("dirichlet", (keys, row[0], row.copy(), 2, 1, 3, 0), "S must be .* got 0"),
        ("dirichlet", (keys, row[0].T, row.copy(), 2, 1, 3, 4), "ontiguous"),
        ("transitions", (keys, row, counts, 2, 2, 3, 4, 5), "counts must have 48 items, got 24"),
        (
            "transitions",
            (keys, row, counts.astype(float), 2, 1, 3, 4, 5),
            "counts must have items of a format .*, got 'd'",
        ),
        ("transitions", (keys, row, read_only, 2, 1, 3, 4, 5), "rite|read-only"),
        ("transitions", (keys, row, counts, 2, 1, 3, 4, 0), "m must be .* got 0"),
        ("transitions", (keys, row, counts, 2, 1, 3, 4, 2**31), "m must be .* got 2147483648"),
        ("transitions", (keys, row, counts, 2, largest, largest, largest, 1), "P must have .* items, got 24"),
        ("trajectories", (keys, model, model_counts, 2, 2, 4, 6, 3, 1), "counts must have 36 items, got 18"),
        ("trajectories", (keys, model, model_counts, 2, 1, 4, 5, 3, 2), "P must have 36 items, got 18"),
        ("trajectories", (keys, model, model_counts, 2, 1, 0, 5, 3, 1), "m must be .* got 0"),
        (
            "trajectories",
            (keys, model, model_counts, 2, largest, 1, 1, largest, largest),
            "P must have .* items, got 18",
        ),
        (
            "pooled_trajectories",
            (keys, model, *sums[:2], model_counts, 2, 1, 4, 6, 3, 1),
            "must have 6 items, got 18",
        ),
        (
            "pooled_trajectories",
            (keys, model, model_counts, *sums[::2], 2, 1, 4, 6, 3, 1),
            "frequencies must have items of",
        ),
        ("pooled_trajectories", (keys, model, *sums, 2, -1, 4, 6, 3, 1), "batches must be .* got -1"),
        ("log", (row, row[:1].copy(), 24), "y must have 24 items, got 12"),
        ("exp", (row, row.copy(), -1), "n must be .* got -1"),
        ("log_gamma", (row.astype(np.float32), row.copy(), 24), "x must have items of a format .*, got 'f'"),
    ]


@built
@pytest.mark.parametrize(("name", "arguments", "message"), wrong_calls())
def test_buffers_that_do_not_fit_are_refused(name: str, arguments: tuple[Any, ...], message: str):
    with pytest.raises((ValueError, BufferError), match=message):
        getattr(draws._sampling, name)(*arguments)


@built
def test_bad_rows_stay_within_the_counts():
    """Whatever the numbers of a row are, each transition goes to one of its states."""
    rows = np.array([[np.nan] * 3, [np.inf, 1, 2], [-1.0, 2.0, 0.0], [0.0] * 3, [1e308] * 3, [-np.inf, np.inf, 0]])
    for m in (4, 1000):
        counts = draws.transitions(some_keys(1), rows[None], 1, m)
        assert (counts.sum(-1) == m).all()
    models = np.tile(rows[:, None, None], (1, 3, 2, 1))
    assert (draws.trajectories(some_keys(6), models, 2, 3, 4).sum((2, 3, 4)) == 12).all()
    assert (draws.pooled_trajectories(some_keys(6), models, 2, 3, 4).counts.sum((1, 2, 3)) == 24).all()
    assert draws.dirichlet(some_keys(2)[:, None], rows[None]).shape == (2, 1, 6, 3)


@built
def test_more_transitions_than_memory_holds_are_refused():
    model, counts = np.full((1, 1, 1, 1), 1.0), np.zeros((1, 1, 1, 1, 1), np.int64)
    with pytest.raises(MemoryError):
        draws._sampling.trajectories(some_keys(1), model, counts, 1, 1, 2**31 - 1, 2**31 - 1, 1, 1)  # type: ignore[union-attr]


@built
def test_outdated_c_code_is_not_used(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(draws._sampling, "SOURCE_DIGEST", "of another source")
    draws.is_built.cache_clear()
    assert not draws.is_built()
    monkeypatch.undo()
    draws.is_built.cache_clear()
    assert draws.is_built()
