"""Algorithms 1 and 2 of the paper, for n independent runs at once.

POMRL(sigma) and ada-POMRL are the same loop over tasks. They differ in where the similarity sigma of the tasks comes
from, which is up to the estimator.
"""

from collections import deque
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import chain, repeat
from typing import Any, Generic, NamedTuple

import numpy as np
from jaxtyping import Float

from pomrl.science import checked
from pomrl.science.data import Batch, Batches
from pomrl.science.estimators.estimator import Estimator, MemoryT, Truth
from pomrl.science.estimators.memory import PerPair
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
    sigma: Float[np.ndarray, " n"]
    """Similarity of the tasks, as a standard deviation; its maximum over pairs. NaN if the estimator uses none."""


class _Estimate(NamedTuple):
    P_hat: Float[np.ndarray, "n K S A S"]
    alpha: Float[np.ndarray, "n K #S #A"]
    sigma: PerPair
    learned: Any
    """The memory, of the estimator's own type."""


@dataclass(frozen=True)
class _Now(Generic[MemoryT]):
    """What the learner knows when a task begins."""

    estimator: Estimator[MemoryT]
    t: int
    m: int
    memory: MemoryT
    late: MemoryT
    """The memory that similarity and mixing rate see, which is an earlier one if the estimator has a delay."""
    truth: Truth

    def estimate(self, batch: Batches) -> _Estimate:
        """Return the estimate of the task from its batches, and what is learned from them."""
        estimator, t, truth = self.estimator, self.t, self.truth
        learned = estimator.learn(self.memory, batch.meta)
        memory, late = (learned, learned) if estimator.learns_first else (self.memory, self.late)
        sigma = checked.similarity_estimate(estimator, t, self.m, late, truth)
        alpha = checked.mixing_rate(estimator, t, batch.own, sigma, late, truth)  # alpha_1 = 0
        h = checked.prior_model(estimator, t, memory, batch.meta, truth)
        P_hat = (1 - alpha)[..., None] * batch.own.P_bar
        P_hat += alpha[..., None] * h[:, None]
        return _Estimate(P_hat, alpha, sigma, learned)

    def belief(self, batch: Batch) -> Belief:
        """Return what is known of the task after a part of its data.

        A mixing rate of alpha after one transition stands for a prior of alpha / (1 - alpha) transitions.
        """
        P_hat, _, sigma, learned = self.estimate(Batches.same(batch))
        late = learned if self.estimator.learns_first else self.late
        alpha = checked.rate_after(self.estimator, self.t, 1, sigma, late, self.truth)
        prior = np.clip(alpha / np.maximum(1.0 - alpha, SMALLEST), LEAST_PRIOR, LARGEST_PRIOR)
        return Belief(P_hat[:, 0], prior + batch.visits)


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
    memories = deque([memory], maxlen=1 + estimator.delay)

    for t, (task, truth) in enumerate(zip(tasks, chain([first], truths), strict=False), start=1):
        now = _Now(estimator, t, m, memory, memories[0], truth)
        batch = task if isinstance(task, Batches) else task.collect(now.belief)
        P_hat, alpha, sigma, learned = now.estimate(batch)
        state = TaskState(t, m, S, A, gamma_eval, alpha.mean((1, 2, 3)), sigma.max((1, 2)))
        yield PlanningInput(P_hat, checked.select(gamma_schedule, state), state.alpha, state.sigma)

        memory = learned
        memories.append(memory)
