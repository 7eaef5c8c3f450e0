"""Batches of transitions, and the ways in which they are sampled."""

from typing import Any

import numpy as np

from pomrl.science.data import Batch, Trajectories


def model(seed: int, S: int = 4, A: int = 2) -> np.ndarray:
    """A model in which some next states are impossible."""
    weight = np.random.default_rng(seed).random((S, A, S))
    weight[0, 0, 1:3] = weight[1, 1, -1] = 0.0
    return weight / weight.sum(-1, keepdims=True)


def counted_one_by_one(P: np.ndarray, u: np.ndarray, m: int, length: int) -> np.ndarray:
    """The transitions of m trajectories that follow uniform numbers u[1 + 2 length, m], each simulated by itself."""
    S, A, _ = P.shape
    counts = np.zeros(P.shape, int)
    for i in range(m):
        s = int(u[0, i] * S)
        for step in range(length):
            a, left = int(u[1 + 2 * step, i] * A), u[2 + 2 * step, i]
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
        u = np.random.default_rng(run).random((2, 1 + 2 * length, batches * m))
        for t in range(2):
            for batch in range(batches):
                of_batch = u[t, :, batch * m : (batch + 1) * m]
                expected = counted_one_by_one(P[t, run], of_batch, m, length)
                assert np.array_equal(drawn[t, run, batch], expected)


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
