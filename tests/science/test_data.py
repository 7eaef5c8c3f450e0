"""Batches of transitions, and the ways in which they are sampled."""

from typing import Literal

import numpy as np
import pytest
from tests.support.plain_draws import task_key, trajectories, transitions

from pomrl.science.data import Batch, Generative, Trajectories, Unequal
from pomrl.science.sampling.reference import MAX_DRAWN_ONE_BY_ONE


def model(seed: int, S: int = 4, A: int = 2) -> np.ndarray:
    """A model in which some next states are impossible."""
    weight = np.random.default_rng(seed).random((S, A, S))
    weight[0, 0, 1:3] = weight[1, 1, -1] = 0.0
    return weight / weight.sum(-1, keepdims=True)


def test_trajectories_equal_single_simulations():
    P, m, length, batches = np.stack([[model(0), model(1)], [model(2), model(3)]]), 3, 6, 2
    draws = Trajectories(length=length).draw([np.random.default_rng(run) for run in range(2)], P, m, batches)
    for run in range(2):
        rng = np.random.default_rng(run)
        for t in range(2):
            key = task_key(rng)
            for batch in range(batches):
                assert np.array_equal(draws[t, run, batch], trajectories(key, P[t, run], m, length, batch))


def test_generative_batches_equal_single_draws():
    P = np.stack([[model(0), model(1)], [model(2), model(3)]])
    draws = Generative().draw([np.random.default_rng(run) for run in range(2)], P, 5, 3)
    for run in range(2):
        rng = np.random.default_rng(run)
        for t in range(2):
            key = task_key(rng)
            for batch in range(3):
                assert np.array_equal(draws[t, run, batch], transitions(key, P[t, run], 5, batch))


@pytest.mark.parametrize("m", [5, MAX_DRAWN_ONE_BY_ONE, MAX_DRAWN_ONE_BY_ONE + 1])
def test_batches_of_a_generative_model_are_multinomial(m: int):
    P, rngs = np.stack([model(0), model(1)]), [np.random.default_rng(run) for run in range(2)]
    counts = Generative().draw(rngs, np.stack([P] * 10), m, 300)
    assert np.all(counts.sum(-1) == m)
    assert not counts[np.broadcast_to(P[:, None] == 0, counts.shape)].any()
    for p, run_counts in zip(P, counts.swapaxes(0, 1), strict=True):
        sampled = run_counts.reshape(-1, *p.shape)
        variance, squares = m * p * (1 - p), (sampled - m * p) ** 2
        assert np.all(np.abs(sampled.mean(0) - m * p) <= 5 * np.sqrt(variance / len(sampled)))
        assert np.all(np.abs(squares.mean(0) - variance) <= 5 * squares.std(0) / np.sqrt(len(sampled)))


@pytest.mark.parametrize("numbers", ["extremes", "geometric"])
def test_unequal_numbers_have_the_mean_m(numbers: Literal["extremes", "geometric"]):
    P = np.broadcast_to(model(0), (500, 1, 4, 2, 4))
    visits = Unequal(numbers=numbers).draw([np.random.default_rng(0)], P, 5, 1).sum(-1)
    assert visits.mean() == pytest.approx(5, abs=4 * visits.std() / visits.size**0.5)
    assert (
        visits.max() <= {"extremes": 2 * 5 - 1, "geometric": 20 * 5}[numbers] == Unequal(numbers=numbers).most_visits(5)
    )


def test_unvisited_frequencies_are_uniform() -> None:
    batch = Batch.of_counts(np.array([[[[1, 3]], [[0, 0]]]]), 4)
    assert batch.visits.tolist() == [[[4], [0]]]
    assert batch.counted.tolist() == [[[True], [False]]]
    assert batch.P_bar.tolist() == [[[[0.25, 0.75]], [[0.5, 0.5]]]]
