"""What is tested of the ways in which transitions are sampled."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.testing import assert_array_equal

from pomrl.contracts.component import METHOD, RUNS, ComponentContract, problem
from pomrl.science import validation
from pomrl.science.data import Data
from pomrl.science.problem import Method, Problem

TRANSITIONS, BATCHES = 4, 3


def generators() -> list[np.random.Generator]:
    """Return new generators of the runs, with fixed seeds."""
    return [np.random.default_rng(run) for run in range(RUNS)]


class DataContract(ComponentContract):
    """Tests of a way to sample transitions, which the fixture `component` of a subclass returns."""

    def experiments(self, component: Data) -> Sequence[tuple[Problem, Method]]:
        of_problem = replace(problem(), data=component)
        forgetting = replace(METHOD.estimator, forgetting="learned", weights="transitions")
        return [
            (of_problem, METHOD),
            (replace(of_problem, trials=2), METHOD),
            (of_problem, replace(METHOD, estimator=forgetting)),
        ]

    def test_batches_consist_of_possible_transitions(self, component: Data) -> None:
        P = true_models()
        counts = draw_counts(component, P)
        assert (counts.sum(2)[P == 0] == 0).all()
        assert counts.sum(-1).max() <= component.most_visits(TRANSITIONS)

    def test_tasks_are_drawn_in_their_order(self, component: Data) -> None:
        P, rngs = true_models(), generators()
        parts = [component.draw(rngs, P[:1], TRANSITIONS, BATCHES), component.draw(rngs, P[1:], TRANSITIONS, BATCHES)]
        assert_array_equal(np.concatenate(parts), draw_counts(component, P))

    def test_batches_are_independent_draws(self, component: Data) -> None:
        counts = draw_counts(component, true_models())
        assert (counts[:, :, 0] != counts[:, :, 1]).any()
        assert (counts[0] != counts[1]).any()

    def test_frequencies_approach_the_model(self, component: Data) -> None:
        P = true_models()[:1]
        counts = component.draw(generators(), P, 20, 2000).sum(2)
        visits = counts.sum(-1, keepdims=True)
        error = np.sqrt(P * (1.0 - P) / visits)
        assert (np.abs(counts / visits - P) <= 5 * error + 1e-12).all()


def true_models(T: int = 3, S: int = 4, A: int = 2) -> np.ndarray:
    """Draw models in which some next states are impossible, and one row has a single next state."""
    weight = np.random.default_rng(5).random((T, RUNS, S, A, S))
    weight[..., 0, 0, 1:3] = 0.0
    weight[..., 1, 1, :] = np.eye(S)[2]
    return weight / weight.sum(-1, keepdims=True)


def draw_counts(data: Data, P: np.ndarray) -> np.ndarray:
    """Draw batches from new generators with fixed seeds."""
    return validation.draw_batch(data, generators(), P, TRANSITIONS, BATCHES).counts
