"""The prior of tasks, learned by marginal likelihood."""

import numpy as np
import pytest
from scipy.special import gammaln, psi

from pomrl import priors as module
from pomrl.priors import DirichletMemory, dirichlet_prior, initial_memory, level_edges
from pomrl.science.data import Batch


def batches(c: float, tasks: int, m: int = 5, n: int = 4, S: int = 10, A: int = 3, support: int = 5) -> list[Batch]:
    """Batches of Dirichlet tasks of concentration c around models whose rows have so many states."""
    rng = np.random.default_rng(11)
    weight = np.where(rng.random((n, S, A, S)).argsort(-1).argsort(-1) < support, 1.0 - rng.random((n, S, A, S)), 0.0)
    P_o = weight / weight.sum(-1, keepdims=True)
    task_batches = []
    for _ in range(tasks):
        P = rng.standard_gamma(c * P_o + 1e-300)
        P /= P.sum(-1, keepdims=True)
        task_batches.append(Batch.of_counts(rng.multinomial(m, P), m, equal=True))
    return task_batches


def learned(task_batches: list[Batch], runs: slice = slice(None)) -> DirichletMemory:
    n, S, A, _ = task_batches[0].counts[runs].shape
    memory = initial_memory(n, S, A)
    for batch in task_batches:
        memory = memory.update(Batch.of_counts(batch.counts[runs], batch.m, equal=batch.is_equal))
    return memory


@pytest.mark.parametrize("c", [3.0, 30.0])
def test_the_concentration_and_the_support_are_found(c: float):
    memory = learned(batches(c, tasks=40))
    np.testing.assert_allclose(memory.c.mean(), c, rtol=0.2)
    np.testing.assert_allclose(memory.support, 0.5, atol=0.05)


def test_steps_end_near_the_largest_marginal_likelihood(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(module, "STEPS_PER_TASK", 60)
    task_batches = batches(30.0, tasks=3)  # few, so that the prior of c matters
    memory = learned(task_batches)

    def log_density(c: np.ndarray) -> np.ndarray:
        a = c * memory.P_o_geometric
        total = -0.5 * np.log(c[:, 0, 0, 0] / module.C_MEDIAN) ** 2 / module.C_VARIANCE
        for batch in task_batches:
            rows = (gammaln(a + batch.counts) - gammaln(a)).sum(-1) + (gammaln(c) - gammaln(c + batch.m))[..., 0]
            total += rows.sum((1, 2))
        return total

    actual = log_density(memory.c)
    assert (actual > log_density(memory.c * 1.05)).all()
    assert (actual > log_density(memory.c / 1.05)).all()


def test_unvisited_pairs_stay_uniform():
    counts = np.zeros((1, 3, 2, 3), int)
    counts[0, 0, 0, 1] = 5
    memory = learned([Batch.of_counts(counts, 5)] * 10)
    np.testing.assert_allclose(memory.P_o[0, 1:], 1 / 3)
    assert memory.P_o[0, 0, 0, 1] > 0.9
    assert np.isfinite(memory.c).all()


def test_single_transitions_keep_the_prior_concentration():
    memory = learned(batches(3.0, tasks=5, m=1))
    np.testing.assert_allclose(memory.c, module.C_MEDIAN)


def test_merged_levels_have_a_small_error():
    counts, a = np.array([3.0, 40.0, 700.0, 90_000.0]), np.array([0.3, 2.0, 11.0])
    edges = level_edges(90_000)
    levels = module._by_level(counts, edges)
    assert (levels.sum(0) == counts).all()
    middles = module._middles(len(edges) - 1)
    draws = a[:, None] * (levels / (a[:, None, None] + middles[:, None])).sum(1)
    np.testing.assert_allclose(draws, a[:, None] * (psi(a[:, None] + counts) - psi(a)[:, None]), rtol=0.005)
    np.testing.assert_allclose(module._digamma(counts), psi(counts), rtol=0, atol=3e-3)


def test_runs_do_not_depend_on_longer_batches():
    rng = np.random.default_rng(0)
    task_batches = [Batch.of_counts(rng.integers(0, [[[[3]]], [[[300]]]], (2, 4, 2, 4)), 5) for _ in range(4)]
    joint, single = learned(task_batches), learned(task_batches, slice(0, 1))
    np.testing.assert_array_equal(joint.P_o[:1], single.P_o)
    np.testing.assert_array_equal(joint.c[:1], single.c)


def test_the_prior_has_the_concentration_of_tasks():
    counts = np.concatenate([batch.counts[:1] for batch in batches(30.0, tasks=40)])
    np.testing.assert_allclose(dirichlet_prior(counts).sum(-1), 30.0, rtol=0.3)
