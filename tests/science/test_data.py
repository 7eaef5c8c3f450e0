"""Batches of transitions, and the ways in which they are sampled."""

from typing import Any, Literal

import numpy as np
import pytest

from pomrl.science.data import MOST_ONE_BY_ONE, Batch, Generative, Trajectories, Unequal


def model(seed: int, S: int = 4, A: int = 2) -> np.ndarray:
    """A model in which some next states are impossible."""
    weight = np.random.default_rng(seed).random((S, A, S))
    weight[0, 0, 1:3] = weight[1, 1, -1] = 0.0
    return weight / weight.sum(-1, keepdims=True)


def counted_one_by_one(P: np.ndarray, u: np.ndarray, m: int, length: int) -> np.ndarray:
    """The transitions of m trajectories that follow uniform numbers u[1 + length, m], each simulated by itself."""
    S, A, _ = P.shape
    counts = np.zeros(P.shape, int)
    for i in range(m):
        s = int(u[0, i] * S)
        for step in range(length):
            a = int(u[1 + step, i] * A)
            left = u[1 + step, i] * A - a
            following = 0
            while left >= P[s, a, : following + 1].sum() and P[s, a, following + 1 :].any():
                following += 1
            counts[s, a, following] += 1
            s = following
    return counts


def test_trajectories_are_those_of_a_simulation_one_by_one():
    P, m, length, batches = np.stack([[model(0), model(1)], [model(2), model(3)]]), 3, 6, 2
    drawn = Trajectories(length=length).draw([np.random.default_rng(run) for run in range(2)], P, m, batches)
    for run in range(2):
        u = np.random.default_rng(run).random((2, 1 + length, batches * m))
        for t in range(2):
            for batch in range(batches):
                of_batch = u[t, :, batch * m : (batch + 1) * m]
                expected = counted_one_by_one(P[t, run], of_batch, m, length)
                assert np.array_equal(drawn[t, run, batch], expected)


@pytest.mark.parametrize("m", [5, MOST_ONE_BY_ONE, MOST_ONE_BY_ONE + 1])
def test_batches_of_a_generative_model_are_multinomial(m: int):
    P, rngs = np.stack([model(0), model(1)]), [np.random.default_rng(run) for run in range(2)]
    counts = Generative().draw(rngs, np.stack([P] * 10), m, 300)
    assert np.all(counts.sum(-1) == m)
    assert not counts[np.broadcast_to(P[:, None] == 0, counts.shape)].any()
    for p, of_run in zip(P, counts.swapaxes(0, 1), strict=True):
        sampled = of_run.reshape(-1, *p.shape)
        variance, squares = m * p * (1 - p), (sampled - m * p) ** 2
        assert np.all(np.abs(sampled.mean(0) - m * p) <= 5 * np.sqrt(variance / len(sampled)))
        assert np.all(np.abs(squares.mean(0) - variance) <= 5 * squares.std(0) / np.sqrt(len(sampled)))


@pytest.mark.parametrize("numbers", ["extremes", "geometric"])
def test_unequal_numbers_of_transitions_have_the_mean_m(numbers: Literal["extremes", "geometric"]):
    P = np.broadcast_to(model(0), (500, 1, 4, 2, 4))
    visits = Unequal(numbers=numbers).draw([np.random.default_rng(0)], P, 5, 1).sum(-1)
    assert visits.mean() == pytest.approx(5, abs=4 * visits.std() / visits.size**0.5)
    assert visits.max() <= Unequal(numbers=numbers).most_visits(5)


def test_states_that_rounding_leaves_out_are_not_reached():
    """Ten probabilities of 0.1 add up to less than 1, and so do nine and a zero to less than their sum."""
    P = np.array([0.1] * 3 + [0.7, 0.0, 0.0])

    class Largest(np.random.Generator):
        def random(self, size: Any = None, *_: Any, **__: Any) -> Any:  # type: ignore[override]
            return np.full(size, np.nextafter(1.0, 0.0))

    drawn = Trajectories(length=4).draw([Largest(np.random.PCG64(0))], np.tile(P, (1, 1, 6, 2, 1)), 2, 1)
    assert set(np.nonzero(drawn)[-1]) == {3}


def test_the_frequencies_of_what_was_not_visited_are_uniform() -> None:
    batch = Batch.of_counts(np.array([[[[1, 3]], [[0, 0]]]]), 4)
    assert batch.visits.tolist() == [[[4], [0]]]
    assert batch.counted.tolist() == [[[True], [False]]]
    assert batch.P_bar.tolist() == [[[[0.25, 0.75]], [[0.5, 0.5]]]]
