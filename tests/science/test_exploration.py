"""Tasks whose data the learner collects itself."""

from dataclasses import replace

import numpy as np
import pytest

from pomrl.science.algorithm import Learner
from pomrl.science.data import Batch, Trajectories
from pomrl.science.estimators.estimator import Belief, Truth
from pomrl.science.estimators.pomrl import RegularisedLeastSquares
from pomrl.science.exploration import Exploration, believe, explorations
from pomrl.science.planners import PolicyIteration

GREEDY = Trajectories(behaviour="epsilon_greedy", epsilon=0.0, length=6)


def exploration(data: Trajectories, n: int = 3, m: int = 4) -> Exploration:
    rng = np.random.default_rng(0)
    P, R = rng.dirichlet(np.ones(4), (1, n, 4, 2)), rng.random((1, n, 4, 2))
    (task,) = explorations(data, [np.random.default_rng(run) for run in range(n)], P, R, m, 0.9)
    return task


@pytest.mark.parametrize(("alpha", "weight"), [(0.0, 1.0), (0.75, 3.0), (1.0, 1e6)])
def test_a_prior_counts_up_to_a_million(alpha: float, weight: float):
    batch = Batch.of_counts(np.full((1, 2, 1, 2), 3), 6)
    estimator, truth = RegularisedLeastSquares(mixing=alpha, prior="known"), Truth(batch.P_bar, batch.P_bar)
    belief = believe(Learner(estimator, 2, estimator.initial_memory(1, 2, 1), truth), batch)
    np.testing.assert_allclose(belief.concentration, weight + 6)


def test_trajectories_are_learned_one_by_one():
    task, visits = exploration(GREEDY), []

    def believe(batch: Batch) -> Belief:
        visits.append(int(batch.visits[0].sum()))
        return Belief(task.P, np.ones((3, 1, 1)))

    batches = task.explore(believe)
    assert visits == [0, 6, 12, 18]
    assert (batches.meta.visits.sum((1, 2)) == 24).all()
    assert (batches.meta.counts.sum(-1)[task.P.min(-1) < 0] == 0).all()


def test_greedy_learners_take_the_best_actions():
    task = exploration(GREEDY)
    policy = PolicyIteration().plan(task.P, task.R, np.full((3, 1), 0.9))[:, 0]
    batch = task.explore(lambda _: Belief(task.P, np.ones((3, 1, 1)))).meta
    greedy_visits = np.take_along_axis(batch.visits, policy[..., None], -1)
    assert greedy_visits.sum() == batch.visits.sum()


def test_random_actions_reach_their_states():
    task = exploration(replace(GREEDY, epsilon=0.8), m=20)
    P = np.broadcast_to(np.eye(4)[:2], task.P.shape)  # action a leads to state a
    counts = replace(task, P=P).explore(lambda _: Belief(task.P, np.ones((3, 1, 1)))).meta.counts
    assert (counts[P == 0] == 0).all()
    assert (counts.sum((1, 3)) > 20).all()


def test_posterior_samples_follow_the_belief():
    task = exploration(replace(GREEDY, behaviour="posterior_sampling"), n=60)
    greedy = exploration(GREEDY, n=60).explore(lambda _: Belief(task.P, np.ones((60, 1, 1)))).meta.counts
    sure, unsure = (task.explore(lambda _, c=c: Belief(task.P, np.full((60, 1, 1), c))).meta.counts for c in (1e9, 1.0))
    assert (sure == greedy).all((1, 2, 3)).mean() > 0.9
    assert (unsure == greedy).all((1, 2, 3)).mean() < 0.9
