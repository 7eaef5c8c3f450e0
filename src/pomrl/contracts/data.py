"""The contract of data: ways in which transitions are sampled."""

from dataclasses import replace

import numpy as np
from numpy.testing import assert_array_equal

from pomrl.contracts.component import METHOD, ComponentContract, assert_experiment_runs, assert_models, problem
from pomrl.science.data import Batch, Data

M, BATCHES = 4, 3


class DataContract(ComponentContract):
    """Tests of a way to sample transitions, which the fixture `component` of a subclass returns."""

    def test_an_experiment_runs(self, component: Data) -> None:
        assert_experiment_runs(replace(problem(), data=component), METHOD)

    def test_an_experiment_of_several_trials_runs(self, component: Data) -> None:
        assert_experiment_runs(replace(problem(), data=component, trials=2), METHOD)

    def test_an_experiment_runs_where_tasks_are_forgotten(self, component: Data) -> None:
        forgetting = replace(METHOD.estimator, forgetting="learned", weights="transitions")
        assert_experiment_runs(replace(problem(), data=component), replace(METHOD, estimator=forgetting))

    def test_batches_consist_of_possible_transitions(self, component: Data) -> None:
        P = models()
        batch = drawn(component, P)
        assert batch.counts.shape == (*P.shape[:2], BATCHES, *P.shape[2:])
        assert batch.counts.min() >= 0
        assert_array_equal(batch.counts, np.round(batch.counts))
        assert (batch.counts.sum((2,))[P == 0] == 0).all()
        assert batch.m == M

    def test_frequencies_and_numbers_of_visits_are_those_of_the_counts(self, component: Data) -> None:
        batch = drawn(component, models())
        visits = batch.counts.sum(-1)
        assert_array_equal(np.broadcast_to(batch.visits, visits.shape), visits)
        assert visits.max() <= component.most_visits(M)
        assert_models(batch.P_bar)
        np.testing.assert_allclose(batch.P_bar * visits[..., None], batch.counts, rtol=0, atol=1e-12)
        assert (batch.P_bar[visits == 0] == 1 / batch.P_bar.shape[-1]).all()
        assert_array_equal(np.broadcast_to(batch.counted, visits.shape), visits > 0)

    def test_tasks_are_drawn_in_their_order(self, component: Data) -> None:
        P, rngs = models(), generators(2)
        parts = [component.draw(rngs, P[:1], M, BATCHES), component.draw(rngs, P[1:], M, BATCHES)]
        assert_array_equal(np.concatenate(parts), drawn(component, P).counts)

    def test_runs_do_not_influence_one_another(self, component: Data) -> None:
        P = models()
        together = drawn(component, P)
        for run in range(P.shape[1]):
            alone = component.draw(generators(2)[run : run + 1], P[:, run : run + 1], M, BATCHES)
            assert_array_equal(alone[:, 0], together.counts[:, run])

    def test_batches_are_independent_draws(self, component: Data) -> None:
        counts = drawn(component, models()).counts
        assert (counts[:, :, 0] != counts[:, :, 1]).any()
        assert (counts[0] != counts[1]).any()

    def test_frequencies_approach_the_model(self, component: Data) -> None:
        P = models()[:1]
        counts = component.draw(generators(2), P, 20, 2000).sum(2)
        visits = counts.sum(-1, keepdims=True)
        error = np.sqrt(P * (1.0 - P) / visits)
        assert (np.abs(counts / visits - P) <= 5 * error + 1e-12).all()


def models(T: int = 3, n: int = 2, S: int = 4, A: int = 2) -> np.ndarray:
    """Draw models in which some next states are impossible, and one row has a single next state."""
    rng = np.random.default_rng(5)
    weight = rng.random((T, n, S, A, S))
    weight[..., 0, 0, 1:3] = 0.0
    weight[..., 1, 1, :] = np.eye(S)[2]
    return weight / weight.sum(-1, keepdims=True)


def generators(n: int) -> list[np.random.Generator]:
    """Return new generators with fixed seeds."""
    return [np.random.default_rng(seed) for seed in range(n)]


def drawn(data: Data, P: np.ndarray) -> Batch:
    """Draw batches from new generators with fixed seeds."""
    return Batch.of_counts(data.draw(generators(P.shape[1]), P, M, BATCHES), M, equal=data.is_equal)
