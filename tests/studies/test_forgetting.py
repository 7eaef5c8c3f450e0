"""Memories that forget, that weigh transitions equally, and a mixture of components."""

from dataclasses import replace

import numpy as np
import pytest

from pomrl.science.data import Batch
from pomrl.science.estimators.estimator import Estimator, Truth
from pomrl.science.estimators.memory import FORGETTING_FACTORS, Memory
from pomrl.science.estimators.pomrl import RegularisedLeastSquares
from pomrl_studies.beyond.estimators.empirical_bayes import EmpiricalBayes
from pomrl_studies.beyond.estimators.mixture import Mixture, MixtureMemory

ADA = RegularisedLeastSquares(mixing="paper", similarity="welford")
S, A, M = 8, 3, 5


def draw_batches(P: np.ndarray, T: int, visits: int | None = M, seed: int = 0) -> list[Batch]:
    """Batches of T tasks with the same models P [n, S, A, S]; numbers of transitions are unequal if None."""
    rng = np.random.default_rng(seed)
    batches = []
    for _ in range(T):
        N = visits if visits is not None else rng.integers(0, 2 * M, P.shape[:-1], endpoint=True)
        batches.append(Batch.of_counts(rng.multinomial(N, P), M, equal=visits is not None))
    return batches


def models(n: int = 3, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).dirichlet(np.full(S, 0.4), (n, S, A))


def learned(estimator: Estimator, batches: list[Batch]) -> Memory:
    memory = estimator.initial_memory(len(batches[0].counts), S, A)
    for batch in batches:
        memory = estimator.learn(memory, batch)
    return memory


@pytest.mark.parametrize("factor", [0.3, 0.9])
def test_averages_are_those_of_the_weighted_tasks(factor):
    batches = draw_batches(models(), 6)
    memory = learned(replace(ADA, forgetting=factor), batches)
    weight = factor ** np.arange(5.0, -1.0, -1.0)
    P_bar = np.stack([batch.P_bar for batch in batches])
    mean = np.einsum("t,tnsax->nsax", weight, P_bar) / weight.sum()
    squares = np.einsum("t,tnsax->nsax", weight, (P_bar - mean) ** 2)
    np.testing.assert_allclose(memory.P_o_hat, mean)
    unbiased = squares / (weight.sum() - (weight**2).sum() / weight.sum())
    np.testing.assert_allclose(memory.variance("sample"), unbiased, atol=1e-15)
    np.testing.assert_allclose(memory.effective_tasks, weight.sum() ** 2 / (weight**2).sum())


@pytest.mark.parametrize("estimator", [ADA, EmpiricalBayes()])
def test_forgetting_is_learned_after_a_switch(estimator):
    forgetting = replace(estimator, forgetting="learned")
    before = learned(forgetting, draw_batches(models(), 20))
    assert (before.mass == 20).all()
    after = learned(forgetting, [*draw_batches(models(), 20), *draw_batches(models(seed=1), 3, seed=1)])
    assert (after.mass < 1.0 / (1.0 - FORGETTING_FACTORS[2])).all()


@pytest.mark.parametrize("estimator", [ADA, EmpiricalBayes()])
def test_a_factor_of_1_forgets_nothing(estimator):
    batches = draw_batches(models(), 20)
    plain, unforgotten = learned(estimator, batches), learned(replace(estimator, forgetting="learned"), batches)
    assert (unforgotten.mass == 20).all()
    for name in ("P_o_hat", "squares", "noise", *(["c", "P_o"] if isinstance(estimator, EmpiricalBayes) else [])):
        assert np.array_equal(getattr(plain, name), getattr(unforgotten, name))


@pytest.mark.parametrize(
    "estimator",
    [ADA, replace(ADA, forgetting=0.9), replace(ADA, forgetting="learned"), EmpiricalBayes(), Mixture(),
     replace(ADA, similarity="debiased", mixing="mse_optimal", scope="per_pair", weights="transitions")],
)  # fmt: skip
def test_tasks_without_data_use_the_prior(estimator):
    batches = draw_batches(models(), 4)
    memory = learned(estimator, batches)
    empty = Batch.of_counts(np.zeros_like(batches[0].counts), M)
    truth = Truth(models(), 0.1 * models())
    h = estimator.assess(5, empty, memory, estimator.learn(memory, empty), truth).h
    first = estimator.learn(estimator.initial_memory(3, S, A), empty)
    for model in (h, estimator.assess(2, empty, first, estimator.learn(first, empty), truth).h):
        np.testing.assert_allclose(model.sum(-1), 1.0)
    assert np.abs(h - models()).mean() < np.abs(1.0 / S - models()).mean()


def test_components_are_separated_up_to_their_number():
    two = [draw_batches(models(seed=kind), 1, 20, seed=t)[0] for t, kind in enumerate([0, 1, 0, 1, 0, 1, 1])]
    three, single = (learned(Mixture(components=number), two) for number in (3, 1))
    assert isinstance(three, MixtureMemory)
    assert isinstance(single, MixtureMemory)
    counted = three.members.counted.reshape(3, 3)  # components and runs
    assert np.array_equal(np.sort(counted, axis=0), np.array([[0.0] * 3, [3.0] * 3, [4.0] * 3]))
    assert single.members.counted.tolist() == [[[7.0]]] * 3
