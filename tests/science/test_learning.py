"""Passes over models in C against NumPy: the same bits, and no access outside their buffers."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from pomrl.science import learning
from pomrl.science.data import Batch
from pomrl.science.estimators.memory import Memory
from pomrl.science.learning import Sums

built = pytest.mark.skipif(not learning.is_built(), reason="the engine was not built, as POMRL_NO_ENGINE=1 allows")


def arrays(results: Any) -> list[np.ndarray]:
    return list(results) if isinstance(results, tuple) else [results]


@built
@pytest.mark.parametrize("seed", range(8))
def test_learning_has_equal_bits_in_c(seed: int, monkeypatch: pytest.MonkeyPatch):
    rng = np.random.default_rng(seed)
    n, K, S, A = (int(rng.integers(1, limit)) for limit in (5, 4, 12, 4))
    pairs = [(n, S, A), (n, 1, 1), (n, S, 1)][seed % 3]
    counts = rng.poisson(0.7, (n, K, S, A, S)) * int(rng.choice([1, 10**9, 2**52]))
    models = [rng.dirichlet(np.ones(S), (n, S, A)) for _ in range(4)]
    share, total, counted = rng.integers(0, 9, pairs) / 5, rng.random(pairs) + 0.1, rng.random((n, 1, 1)) < 0.8
    is_first, trials = rng.random(pairs) < 0.3, rng.dirichlet(np.ones(S), (n, K, S, A))
    alpha = rng.random((n, K if seed % 2 else 1, *pairs[1:]))
    priors = [models[0][:, None], trials[::-1, :, :, ::-1]]

    def results() -> list[np.ndarray]:
        calls = [
            *(learning.frequencies(counts[:, ::-1], equal=equal) for equal in (False, True)),
            *(
                learning.add_task(Sums(*models[1:]), models[0], share, counted, is_first, total, by_transitions=by)
                for by in (False, True)
            ),
            *(learning.mix(alpha, h, trials) for h in priors),
            learning.largest_errors(trials, models[0]),
        ]
        return [array for call in calls for array in arrays(call)]

    in_c = results()
    monkeypatch.setattr(learning, "is_built", lambda: False)
    for ours, theirs in zip(in_c, results(), strict=True):
        assert (ours.shape, ours.dtype) == (theirs.shape, theirs.dtype)
        assert ours.tobytes() == theirs.tobytes()


def test_a_pair_without_visits_has_uniform_frequencies():
    counts = np.array([[[[2, 2], [0, 0]], [[0, 1], [3, 1]]]])
    P_bar, visits = learning.frequencies(counts, equal=False)
    assert P_bar.tolist() == [[[[0.5, 0.5], [0.5, 0.5]], [[0.0, 1.0], [0.75, 0.25]]]]
    assert visits.tolist() == [[[4.0, 0.0], [1.0, 4.0]]]


def test_only_counted_pairs_enter_mean_and_squares():
    P_bar = np.full((1, 2, 1, 2), 0.5)
    before = Sums(*(np.array([[[[0.2, 0.8]], [[0.3, 0.7]]]]) for _ in range(3)))
    counted, unit = np.array([[[True], [False]]]), np.ones((1, 1, 1))
    after = learning.add_task(before, P_bar, unit, counted, ~counted & False, 2 * unit, by_transitions=False)
    np.testing.assert_allclose(after.mean[0, :, 0], [[0.35, 0.65], [0.3, 0.7]])
    assert (after.squares[0, 1] == before.squares[0, 1]).all()
    np.testing.assert_allclose(after.noise, before.noise + 0.25)


@pytest.mark.parametrize(("by_transitions", "weights"), [(False, [0.5, 0.0]), (True, [1.0, 0.0])])
def test_a_pair_without_visits_adds_no_noise(by_transitions: bool, weights: list[float]):
    counts = np.zeros((1, 2, 1, 2), int)
    counts[0, 0] = 3
    memory = replace(Memory.initial(1, 2, 1), by_transitions=by_transitions).update(Batch.of_counts(counts, 3))
    assert memory.inverse[0, :, 0].tolist() == weights


def wrong_calls() -> list[tuple[str, tuple[Any, ...], str]]:
    model, small, counts = np.full((2, 3, 4), 0.25), np.ones(2), np.zeros((2, 3, 4), np.int64)
    sums, weights, after = [model] * 4, [small] * 5, [model.copy() for _ in range(3)]
    read_only = model.copy()
    read_only.flags.writeable = False
    return [
        ("frequencies", (counts, small.copy(), model.copy(), 2, 11, 4), "counts must have 22 items, got 24"),
        ("frequencies", (counts, small.copy(), model.copy(), 2, 12, 13), "S must be .* got 13"),
        ("frequencies", (model, small.copy(), model.copy(), 2, 12, 4), "counts must have items of a format"),
        ("add", (*sums, *weights, *after, 3, 8, False), "weight must have 3 items, got 2"),
        ("add", (*sums, *weights, *after[:2], read_only, 2, 12, False), "rite|read-only"),
        ("add", (*sums, *weights, read_only, *after[1:], 2, 12, False), "rite|read-only"),
        ("add", (*sums, *weights, *after, 2, 0, False), "size must be .* got 0"),
        ("mix", (small, model, model, model.copy(), 2, 1, 1, 1, 1, 11), "h must have 22 items, got 24"),
        ("mix", (small, model, model, model.copy(), 1, 3, 2, 1, 1, 8), "rates and own must be 1 or 3, got 2 and 1"),
        ("mix", (small, model, model, model.copy(), 1, 3, 1, 2, 1, 8), "rates and own must be 1 or 3, got 1 and 2"),
        ("errors", (model, model, small.copy(), 2, 2, 12), "P_hat must have 48 items, got 24"),
        ("errors", (model, model, small.copy(), 2, 0, 12), "K must be .* got 0"),
    ]


@built
@pytest.mark.parametrize(("name", "arguments", "message"), wrong_calls())
def test_unfit_buffers_of_learning_are_refused(name: str, arguments: tuple[Any, ...], message: str):
    with pytest.raises((ValueError, BufferError), match=message):
        getattr(learning._learning, name)(*arguments)
