"""The estimator that learns whether rows of the model are tied to each other."""

import numpy as np
from scipy.stats import dirichlet_multinomial

from pomrl.science.data import Batch
from pomrl.science.estimators.estimator import Truth
from pomrl_studies.beyond.estimators.tied_rows import (
    CONCENTRATIONS,
    PARAMETER_GRID,
    UNIFORM_WEIGHTS,
    EqualOrTied,
    EqualOrTiedMemory,
    TiedMemory,
    TiedRows,
    _Rows,
)


def learned(models: np.ndarray, m: int, n: int = 3) -> tuple[TiedMemory, Batch]:
    """The memory after batches of tasks with these models, [tasks, S, A, S], and the last batch."""
    rng, S, A = np.random.default_rng(1), *models.shape[1:3]
    memory, batch = TiedRows().initial_memory(n, S, A), None
    for P in models:
        batch = Batch.of_counts(rng.multinomial(m, np.broadcast_to(P, (n, S, A, S))), m, equal=True)
        memory = TiedRows().learn(memory, batch)
    assert batch is not None
    return memory, batch


def estimate(memory: TiedMemory, batch: Batch) -> np.ndarray:
    truth = Truth(batch.P_bar, np.zeros_like(batch.P_bar))
    h, _, _ = TiedRows().assess(1, batch, memory, memory, truth)
    alpha = memory.rate(batch.visits)[..., None]
    return (1.0 - alpha) * batch.P_bar + alpha * h


def walks(steps: list[float], S: int = 12) -> np.ndarray:
    """Random walks that go up with these probabilities and down with half of what is left, one for each."""
    P = np.zeros((len(steps), S, 1, S))
    for model, up in zip(P, steps, strict=True):
        for s in range(S):
            for end, p in ((s + 1, up), (s - 1, (1 - up) / 2), (s, (1 - up) / 2)):
                model[s, 0, min(max(end, 0), S - 1)] += p
    return P


def test_rows_of_walks_are_tied():
    models = walks([0.2, 0.8, 0.3, 0.7, 0.4])
    memory, batch = learned(models, m=6)
    assert memory.share.min() > 0.9
    assert np.median(memory.tied) > 0.8
    up = estimate(memory, batch)[:, np.arange(2, 9), 0, np.arange(3, 10)]
    assert abs(up.mean() - 0.4) < 0.1  # what the last task has, where the mean of tasks is 0.48
    assert up.std(1).mean() < 0.1  # frequencies of six transitions have a deviation of 0.2


def test_rows_of_random_chains_are_independent():
    rng = np.random.default_rng(3)
    P_o = rng.dirichlet(np.full(10, 0.5), size=(10, 2))
    models = np.stack([np.stack([rng.dirichlet(20 * p + 1e-3) for p in P_o.reshape(-1, 10)]) for _ in range(6)])
    memory, batch = learned(models.reshape(6, 10, 2, 10), m=5)
    assert memory.tied.max() < 0.05
    by_rows = memory.by_rows
    alpha = by_rows.c / (by_rows.c + batch.visits[..., None])
    np.testing.assert_allclose(estimate(memory, batch), (1 - alpha) * batch.P_bar + alpha * by_rows.P_o, atol=0.02)


def test_the_likelihood_is_that_of_dirichlet_multinomials():
    rng = np.random.default_rng(5)
    mean = rng.dirichlet(np.ones(4), size=(2, 4, 3))
    counts = rng.multinomial(6, mean).astype(float)
    actual = _Rows.from_counts(counts).if_tied([mean])
    constants = [
        log_likelihoods
        - dirichlet_multinomial.logpmf(counts.astype(int), c * mean, 6)  # minus the multinomial coefficient
        for log_likelihoods, c in zip(actual, CONCENTRATIONS, strict=True)
    ]
    np.testing.assert_allclose(constants, [constants[0]] * len(constants), atol=1e-9)
    assert len(PARAMETER_GRID) % len(actual) == 0


def test_rows_expect_moves_of_other_rows():
    counts = np.zeros((1, 12, 1, 12), int)
    for s in range(1, 11):
        counts[0, s, 0, [s - 1, s, s + 1]] = (2, 2, 6)
    counts[0, 5, 0] = 0
    counts[0, 5, 0, 4] = 2  # the row of state 5 has only ever gone down
    batch = Batch.of_counts(counts, 10)
    memory = TiedRows().initial_memory(1, 12, 1)
    for _ in range(3):
        memory = TiedRows().learn(memory, batch)
    assert memory.share.min() > 0.9
    assert memory.h_tied[0, 5, 0, [5, 6]].min() > 0.05
    assert memory.h_tied[0, 5, 0, [0, 9, 11]].max() < 0.01  # which no row has shown as a move from there


def equal_or_tied(models: np.ndarray, m: int) -> tuple[EqualOrTiedMemory, list[Batch]]:
    """The memory after batches of tasks with these models, and the batches."""
    rng, shape = np.random.default_rng(2), (2, *models.shape[1:])
    memory, batches = EqualOrTied().initial_memory(2, *shape[1:3]), []
    for P in models:
        batches.append(Batch.of_counts(rng.multinomial(m, np.broadcast_to(P, shape)), m, equal=True))
        memory = EqualOrTied().learn(memory, batches[-1])
    return memory, batches


def test_equal_rows_use_all_transitions():
    roads = np.random.default_rng(6).permuted(np.tile(np.eye(12)[0], (12, 3, 1)), axis=-1)
    P = 0.8 * roads + 0.2 * np.roll(roads, 1, 1)
    memory, batches = equal_or_tied(np.repeat(P[None], 8, 0), m=5)
    assert memory.share.min() > 0.7
    truth = Truth(P[None].repeat(2, 0), np.zeros((2, 12, 3, 12)))
    h = EqualOrTied().assess(8, batches[-1], memory, memory, truth).h
    alpha = memory.rate(batches[-1].visits)[..., None]
    pooled = np.mean([batch.P_bar for batch in batches], 0)
    errors = [np.abs(actual - P).mean() for actual in ((1 - alpha) * batches[-1].P_bar + alpha * h, pooled)]
    assert errors[0] < 1.1 * errors[1]


def test_different_rows_are_explained_as_before():
    memory, batches = equal_or_tied(walks([0.2, 0.8, 0.3, 0.7, 0.4, 0.6]), m=6)
    assert memory.share.max() < 0.1
    truth = Truth(batches[-1].P_bar, np.zeros_like(batches[-1].P_bar))
    h = EqualOrTied().assess(6, batches[-1], memory, memory, truth).h
    tied = TiedRows().assess(6, batches[-1], memory.otherwise, memory.otherwise, truth)
    np.testing.assert_allclose(np.asarray(h), np.asarray(tied.h), atol=0.02)
    np.testing.assert_allclose(memory.rate(6), memory.otherwise.rate(6), atol=0.05)


def test_equal_rows_have_the_joint_likelihood():
    rng = np.random.default_rng(5)
    earlier, counts = (rng.multinomial(9, np.ones(4) / 4, size=(2, 4, 3)).astype(float) for _ in range(2))
    actual = _Rows.from_counts(counts).if_equal(earlier)
    constants = [
        log_likelihoods - dirichlet_multinomial.logpmf(counts.astype(int), earlier + weight / 4, 9)
        for log_likelihoods, weight in zip(actual, UNIFORM_WEIGHTS, strict=True)
    ]
    np.testing.assert_allclose(constants, [constants[0]] * len(UNIFORM_WEIGHTS), atol=1e-9)
