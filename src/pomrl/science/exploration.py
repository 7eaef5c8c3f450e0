"""Collection of trajectories by learners, without a generative model.

Before each trajectory the learner estimates the task and plans with gamma_eval. All learners have the same tasks, start
states and random numbers for transitions.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial

import numpy as np
from jaxtyping import Float, Int

from pomrl.science.algorithm import Learner, estimate_task
from pomrl.science.component_output import check_mixing_rate
from pomrl.science.data import Batch, Batches, Counts, TaskModels, Trajectories
from pomrl.science.estimators.estimator import Belief
from pomrl.science.estimators.memory import Models
from pomrl.science.mdp import Rewards, expected_rewards
from pomrl.science.planners import PolicyIteration
from pomrl.science.randomness import Generators
from pomrl.science.sampling.reference import cumulative, next_states

MIN_PRIOR, MAX_PRIOR = 1.0, 1e6
"""Limits of a prior's weight in a belief, in transitions."""

MIN_WEIGHT = 1e-12
"""Smallest weight of the data as a divisor."""


def believe(learner: Learner, batch: Batch) -> Belief:
    """Return a learner's belief after a part of a task's data.

    A mixing rate alpha after one transition means a prior worth alpha / (1 - alpha) transitions, cut to `MIN_PRIOR`
    and `MAX_PRIOR`.
    """
    _, estimate, P_hat, _ = estimate_task(learner, Batches.same(batch))
    alpha = estimate.alpha(1) if callable(estimate.alpha) else estimate.alpha
    check_mixing_rate(learner.estimator, learner.t, alpha, learner.truth.P_o.shape)
    prior = np.clip(alpha / np.maximum(1.0 - alpha, MIN_WEIGHT), MIN_PRIOR, MAX_PRIOR)
    return Belief(P_hat[:, 0], prior + batch.visits)


@dataclass(frozen=True, eq=False)
class Exploration:
    """A task in n runs, with data to be collected by a learner."""

    data: Trajectories
    P: Models
    R: Rewards
    gamma: float
    """Discount factor to plan the behaviour with."""
    uniform: Float[np.ndarray, "n X m"]
    """Uniform random numbers of each of m trajectories: for the start state, then for action and next state in turn."""
    seeds: Int[np.ndarray, " n"]
    """Seeds of the draws of models from beliefs."""

    def collect(self, learner: Learner) -> Batches:
        return self.explore(partial(believe, learner))

    def explore(self, believe: Callable[[Batch], Belief]) -> Batches:
        """Collect all trajectories, each planned with the belief after the earlier ones."""
        rngs = [np.random.default_rng(seed) for seed in self.seeds.tolist()]
        counts, m = np.zeros(self.P.shape, np.int64), self.uniform.shape[-1]
        for uniform in np.moveaxis(self.uniform, -1, 0):
            belief = believe(Batch.of_counts(counts.copy(), m))
            sampled = belief.P_hat if self.data.behaviour == "epsilon_greedy" else draw_models(belief, rngs)
            gammas = np.full((len(counts), 1), self.gamma)
            policy = PolicyIteration().plan(sampled, expected_rewards(self.R, sampled), gammas)[:, 0]
            counts += self._trajectory(policy, uniform)
        return Batches.same(Batch.of_counts(counts, m))

    def _trajectory(self, policy: Int[np.ndarray, "n S"], uniform: Float[np.ndarray, "n X"]) -> Counts:
        n, S, A, _ = self.P.shape
        run = np.arange(n)
        below = cumulative(self.P).reshape(-1, S).T
        epsilon = self.data.epsilon if self.data.behaviour == "epsilon_greedy" else 0.0
        counts = np.zeros(self.P.shape, np.int64)
        state = (uniform[:, 0] * S).astype(np.intp)
        for action_number, state_number in zip(uniform[:, 1::2].T, uniform[:, 2::2].T, strict=True):
            random = (action_number / max(epsilon, 1e-300) * A).clip(0, A - 1).astype(np.intp)
            action = np.where(action_number < epsilon, random, policy[run, state])
            row = (run * S + state) * A + action
            following = next_states((column.take(row) for column in below), state_number)
            counts[run, state, action, following] += 1
            state = following
        return counts


def explorations(
    data: Trajectories, rngs: Generators, P: TaskModels, R: Rewards, m: int, gamma: float
) -> Iterator[Exploration]:
    """Yield the explorations of T tasks, in order, with m trajectories each."""
    for model, rewards in zip(P, R, strict=True):
        uniform = np.stack([rng.random((1 + 2 * data.length, m)) for rng in rngs])
        seeds = np.array([rng.integers(2**62) for rng in rngs])
        yield Exploration(data, model, rewards, gamma, uniform, seeds)


def draw_models(belief: Belief, rngs: Generators) -> Float[np.ndarray, "n S A S"]:
    """Draw a model from the belief of each run.

    Rows that underflow to 0 are replaced by the belief's mean.
    """
    shape = belief.concentration[..., None] * belief.P_hat
    weight = np.stack([rng.standard_gamma(run_shape) for rng, run_shape in zip(rngs, shape, strict=True)])
    total = weight.sum(-1, keepdims=True)
    return np.where(total > 0, weight / np.where(total > 0, total, 1.0), belief.P_hat)
