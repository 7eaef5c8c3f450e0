"""The estimator that learns a line of models, on models that lie on one and on models that do not."""

import numpy as np
import pytest

from pomrl.data import Batch
from pomrl.rank_one import LATEST, RankOne, on_the_line

S, A = 4, 2


def line(t: int, spread: float) -> np.ndarray:
    """Models of t tasks on a line between two models, in places that are symmetric around the middle."""
    ends = np.random.default_rng(0).dirichlet(np.ones(S), (2, S, A))
    place = np.random.default_rng(1).uniform(0.5 - spread, 0.5 + spread, t)[:, None, None, None]
    return (1 - place) * ends[0] + place * ends[1]


def sampled(P: np.ndarray, m: int, seed: int = 2) -> np.ndarray:
    return np.random.default_rng(seed).multinomial(m, P)


def estimate(counts: np.ndarray) -> np.ndarray:
    t, m = len(counts), int(counts[0, 0, 0].sum())
    frequencies = counts / m
    return on_the_line(frequencies.mean(0), frequencies, np.full((t, S, A), float(m)))


def test_without_noise_the_model_is_found() -> None:
    P = line(12, 0.4)
    np.testing.assert_allclose(estimate(sampled(P, 10**8)), P[-1], atol=2e-3)


def test_a_line_beats_the_mean_and_the_tasks_own_frequencies() -> None:
    P = line(15, 0.5)
    errors = []
    for seed in range(40):
        counts = sampled(P, 10, seed)
        found = (estimate(counts), counts.mean(0) / 10, counts[-1] / 10)
        errors.append([((each - P[-1]) ** 2).sum() for each in found])
    on_line, mean, own = np.mean(errors, axis=0)
    assert on_line < 0.8 * min(mean, own)


def test_equal_tasks_are_estimated_by_nearly_their_mean() -> None:
    P = line(15, 0.0)
    moved, noise = [], []
    for seed in range(40):
        counts = sampled(P, 10, seed)
        moved.append(((estimate(counts) - counts.mean(0) / 10) ** 2).sum())
        noise.append(((counts[-1] / 10 - P[-1]) ** 2).sum())
    assert np.mean(moved) < 0.1 * np.mean(noise)


def test_rows_that_nobody_visited_stay_as_they_are() -> None:
    counts = sampled(line(8, 0.4), 20).astype(float)
    numbers = counts.sum(-1)
    frequencies = counts / 20
    mean = frequencies.mean(0)
    frequencies[:, 1, 0], numbers[:, 1, 0] = np.nan, 0.0
    found = on_the_line(mean, frequencies, numbers)
    np.testing.assert_array_equal(found[1, 0], mean[1, 0])
    np.testing.assert_allclose(found.sum(-1), 1.0, atol=1e-12)


def test_only_the_latest_tasks_are_kept() -> None:
    memory = RankOne().initial_memory(2, S, A)
    for counts in sampled(line(LATEST + 3, 0.3), 5):
        memory = RankOne().learn(memory, Batch.of_counts(np.stack([counts, counts]), 5, equal=True))
    assert memory.frequencies.shape == (LATEST, 2, S, A, S)
    np.testing.assert_array_equal(memory.frequencies[-1, 0], counts / 5)
    assert memory.tasks == LATEST + 3


def test_there_is_nothing_to_set() -> None:
    with pytest.raises(ValueError, match=r"mixing=0\.5: this estimator learns all that it needs"):
        RankOne(mixing=0.5)
