"""Algorithms 1 and 2 of the paper, for n independent runs at once.

POMRL(sigma) and ada-POMRL are the same loop over tasks. They differ in where the similarity sigma of the tasks comes
from, which is up to the estimator.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import chain, repeat
from typing import Generic

import numpy as np
from jaxtyping import Float

from pomrl.science import checked
from pomrl.science.data import Batch, Batches
from pomrl.science.estimators.estimator import Estimate, Estimator, MemoryT, Truth
from pomrl.science.exploration import Belief, Collecting
from pomrl.science.gamma_schedules import GammaSchedule, TaskState

LEAST_PRIOR, LARGEST_PRIOR = 1.0, 1e6
"""Limits of the number of transitions that the prior of a belief stands for."""

SMALLEST = 1e-12
"""Least weight of the data that is divided by."""


@dataclass(frozen=True)
class PlanningInput:
    """The estimated models and discount factors of one task, which the planner is to be called with, for n runs."""

    P_hat: Float[np.ndarray, "n K S A S"]
    """Estimated transition probabilities of each of K trials."""
    gamma: Float[np.ndarray, "n G"]
    """Discount factors to plan with."""
    alpha: Float[np.ndarray, " n"]
    """Mixing rate; its mean over pairs (s, a), and over trials, where they differ."""
    deviation: Float[np.ndarray, " n"]
    """Similarity of the tasks, as a standard deviation; its maximum over pairs. NaN if the estimator uses none."""


@dataclass(frozen=True)
class Learner(Generic[MemoryT]):
    """The learner when a task begins."""

    estimator: Estimator[MemoryT]
    t: int
    memory: MemoryT
    truth: Truth

    def learn(self, batch: Batch) -> tuple[MemoryT, Estimate]:
        """Return what is known after this batch, and what the estimator then says of the task."""
        after = self.estimator.learn(self.memory, batch)
        return after, checked.assess(self.estimator, self.t, batch, self.memory, after, self.truth)

    def mix(
        self, estimate: Estimate, own: Batch
    ) -> tuple[Float[np.ndarray, "n K S A S"], Float[np.ndarray, "*n_and_trials #S #A"]]:
        """Return P_hat_t and alpha_t of each trial; alpha_t once if all trials have the same."""
        once = own.is_equal or not callable(estimate.alpha)
        numbers = [own.m] if once else own.visits.swapaxes(0, 1)
        rates = [checked.mixing_rate(self.estimator, self.t, estimate, N, self.truth.P_o) for N in numbers]
        alpha = np.stack(np.broadcast_arrays(*rates), axis=1)
        P_hat = (1 - alpha)[..., None] * own.P_bar
        P_hat += alpha[..., None] * checked.priors(self.estimator, self.t, estimate, own)
        return P_hat, alpha

    def believe(self, batch: Batch) -> Belief:
        """Return what is known of the task after a part of its data.

        A mixing rate of alpha after one transition stands for a prior of alpha / (1 - alpha) transitions.
        """
        _, estimate = self.learn(batch)
        P_hat, _ = self.mix(estimate, Batches.same(batch).own)
        alpha = checked.mixing_rate(self.estimator, self.t, estimate, 1, self.truth.P_o)
        prior = np.clip(alpha / np.maximum(1.0 - alpha, SMALLEST), LEAST_PRIOR, LARGEST_PRIOR)
        return Belief(P_hat[:, 0], prior + batch.visits)

    def collect(self, task: Batches | Collecting) -> Batches:
        """Return the batches of the task; a task whose data the learner collects asks for what it believes."""
        return task if isinstance(task, Batches) else task.collect(self.believe)

    def estimate(
        self, batch: Batches, m: int, gamma_schedule: GammaSchedule, gamma_eval: float
    ) -> tuple[MemoryT, PlanningInput]:
        """Return what is known after the task, and what the task is to be planned with."""
        memory, estimate = self.learn(batch.meta)
        P_hat, alpha = self.mix(estimate, batch.own)  # alpha_1 = 0
        S, A = P_hat.shape[-3:-1]
        state = TaskState(self.t, m, S, A, gamma_eval, alpha.mean((1, 2, 3)), estimate.deviation.max((1, 2)))
        return memory, PlanningInput(P_hat, checked.select(gamma_schedule, state), state.alpha, state.deviation)


def pomrl(
    tasks: Iterable[Batches | Collecting],
    m: int,
    truth: Truth | Iterable[Truth],
    estimator: Estimator[MemoryT],
    gamma_schedule: GammaSchedule,
    gamma_eval: float,
) -> Iterator[PlanningInput]:
    """Learn from the batches of one task after the other, and yield what each task is to be planned with.

    The `yield` stands for the line `Planning(P_hat)` of the algorithm. No policy that is judged feeds back into the
    loop, so that the caller can plan many tasks in one stack. What the estimator and the schedule return is checked
    (`checked`).

    Args:
        tasks: For each task, the batch that its estimate is made from, and the batch that later tasks learn from; or
            a task whose data the learner collects.
        m: Number of transitions sampled for each pair (s, a) in each task, or of trajectories.
        truth: The task distribution, for estimators that know parts of it; one for each task where it changes.
        estimator: Source of the prior, the similarity and the mixing rate.
        gamma_schedule: Source of the discount factors.
        gamma_eval: Discount factor at which policies are judged.
    """
    truths = repeat(truth) if isinstance(truth, Truth) else iter(truth)
    first = next(truths)
    n, S, A, _ = first.P_o.shape
    memory = estimator.initial_memory(n, S, A)  # P_hat_o is uniform

    for t, (task, truth) in enumerate(zip(tasks, chain([first], truths), strict=False), start=1):
        learner = Learner(estimator, t, memory, truth)
        memory, given = learner.estimate(learner.collect(task), m, gamma_schedule, gamma_eval)
        yield given
