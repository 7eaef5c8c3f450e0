"""Tasks whose data the learner collects itself."""

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from pomrl.science.data import Batch, Batches, Trajectories
from pomrl.science.estimators.reward_models import RewardLearning, RewardMemory
from pomrl.science.exploration import Belief, Exploration, explorations
from pomrl.science.planners import PolicyIteration

GREEDY = Trajectories(behaviour="epsilon_greedy", epsilon=0.0, length=6)


KNOWN = RewardLearning("known", 0.0, 0.0, 1.0)


def exploration(data: Trajectories, n: int = 3, m: int = 4, learning: RewardLearning = KNOWN) -> Exploration:
    rng = np.random.default_rng(0)
    P, R = rng.dirichlet(np.ones(4), (1, n, 4, 2)), rng.random((1, n, 4, 2))
    rngs = ([np.random.default_rng(run) for run in range(n)], [np.random.default_rng(9 + run) for run in range(n)])
    (task,) = explorations(data, rngs, P, R, m, 0.9, learning)
    return task


def collected(task: Exploration, believe: Callable[[Batch], Belief]) -> Batches:
    return task.collect(believe, RewardMemory())[0]


def test_all_trajectories_have_their_length_and_are_known_one_after_the_other():
    task, seen = exploration(GREEDY), []

    def believe(batch: Batch) -> Belief:
        seen.append(int(batch.visits[0].sum()))
        return Belief(task.P, np.ones((3, 1, 1)))

    batches = collected(task, believe)
    assert seen == [0, 6, 12, 18]
    assert (batches.meta.visits.sum((1, 2)) == 24).all()
    assert (batches.meta.counts.sum(-1)[task.P.min(-1) < 0] == 0).all()


def test_a_greedy_learner_takes_the_best_actions_of_its_estimate():
    task = exploration(GREEDY)
    policy = PolicyIteration().plan(task.P, task.R, np.full((3, 1), 0.9))[:, 0]
    batch = collected(task, lambda _: Belief(task.P, np.ones((3, 1, 1)))).meta
    taken = np.take_along_axis(batch.visits, policy[..., None], -1)
    assert taken.sum() == batch.visits.sum()


def test_a_sample_of_a_sure_belief_is_its_estimate_and_of_an_unsure_one_is_not():
    task = exploration(replace(GREEDY, behaviour="posterior_sampling"), n=60)
    greedy = collected(exploration(GREEDY, n=60), lambda _: Belief(task.P, np.ones((60, 1, 1)))).meta.counts
    sure, unsure = (
        collected(task, lambda _, c=c: Belief(task.P, np.full((60, 1, 1), c))).meta.counts for c in (1e9, 1.0)
    )
    assert (sure == greedy).all((1, 2, 3)).mean() > 0.9
    assert (unsure == greedy).all((1, 2, 3)).mean() < 0.9


def test_rewards_that_are_learned_are_those_of_the_transitions_and_the_middle_elsewhere():
    for noise, error in ((0.0, 1e-12), (0.4, 0.1)):
        task = exploration(replace(GREEDY, epsilon=0.8), m=200, learning=RewardLearning("own", noise, 0.0, 6.0))
        belief = Belief(task.P, np.ones((3, 1, 1)))
        batches, R_hat, memory = task.collect(lambda _, belief=belief: belief, RewardMemory())
        visits = batches.meta.visits
        assert (visits > 20).sum() > 10
        assert (np.abs(R_hat - task.R) * np.sqrt(visits) <= 4 * max(noise, error)).all()
        np.testing.assert_array_equal(np.asarray(memory.visits)[:, 0], visits)
    (_, unseen, _) = exploration(GREEDY, m=1, learning=RewardLearning("own", 0.0, 0.0, 6.0)).collect(
        lambda _: Belief(task.P, np.ones((3, 1, 1))), RewardMemory()
    )
    assert (unseen == 3.0).any()
