"""Algorithms 1 and 2 of the paper, for n independent runs together.

POMRL(sigma) is given the similarity sigma of the tasks (Algorithm 1). ada-POMRL learns it by Welford's algorithm
(Algorithm 2).
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, runtime_checkable

import numpy as np
from jaxtyping import Float, Int

from pomrl.base import make_read_only
from pomrl.science import validation
from pomrl.science.data import Batches, join
from pomrl.science.estimators.estimator import Estimate, Estimator, MemoryT, Truth
from pomrl.science.gamma_schedules import GammaSchedule, TaskState
from pomrl.science.mdp import Rewards, expected_rewards
from pomrl.science.planners import Planner

TrialModels = Float[np.ndarray, "n K S A S"]
"""Estimates P_hat_t in n runs, from each of K batches; the paper has K = 1."""

TrialRates = Float[np.ndarray, "n #K #S #A"]
"""Mixing rates alpha_t of the estimates."""

Learner = tuple[Estimator[Any], int, Any, Truth]
"""A learner at the start of a task: estimator, task number t, memory, true moments."""


@runtime_checkable
class Task(Protocol):
    """The source of a task's data."""

    def collect(self, learner: Learner) -> Batches:
        """Collect the data; exploring learners estimate between trajectories."""
        ...


@dataclass(frozen=True, eq=False)
class PlanningInput:
    """The input of the line `Planning` of the algorithms, for n runs."""

    t: int
    """Number of the task, from 1."""
    P_hat: TrialModels
    gamma: Float[np.ndarray, "n G"]
    """Discount factors to plan with, ascending."""
    alpha: Float[np.ndarray, " n"]
    """Mixing rate, a mean over pairs (s, a) and batches."""
    sigma: Float[np.ndarray, " n"]
    """Similarity as a standard deviation, the maximum over pairs; NaN if the estimator has none."""
    batches: Batches


def pomrl(
    tasks: Iterable[tuple[Task, Truth]],
    m: int,
    estimator: Estimator[Any],
    gamma_schedule: GammaSchedule,
    gamma_eval: float,
) -> Iterator[PlanningInput]:
    """Learn from one task after another; yield the input of each plan.

    Policies do not affect learning, so callers can plan many tasks together (`plan`).

    Tasks come with the true moments of their distribution; the data of `Batches` do not depend on the learner. `m` is
    the number of transitions from each pair (s, a) per task, or of trajectories.

    Raises:
        ComponentError: The estimator or the schedule returns values of a wrong range or shape.
    """
    memory = None
    for t, (task, truth) in enumerate(tasks, start=1):
        n, S, A, _ = truth.P_o.shape
        if t == 1:
            memory = estimator.initial_memory(n, S, A)  # P_hat_o,1 is uniform
        batches = task.collect((estimator, t, memory, truth))  # m samples X_i from each pair (s, a)
        memory, estimate, P_hat, alpha = estimate_task(estimator, t, memory, truth, batches)
        sigma = estimate.deviation
        task_state = TaskState(t, m, S, A, gamma_eval, alpha.mean((1, 2, 3)), sigma.max((1, 2)))
        gamma = gamma_schedule.select(task_state)  # the gamma-Selection-Procedure, with t in the place of T
        validation.check_gammas(gamma_schedule, gamma, task_state)
        yield PlanningInput(t, P_hat, gamma, task_state.alpha, task_state.deviation, batches)  # Planning(P_hat_t)


def estimate_task(
    estimator: Estimator[MemoryT], t: int, memory: MemoryT, truth: Truth, batches: Batches
) -> tuple[MemoryT, Estimate, TrialModels, TrialRates]:
    """Update the memory and estimate the model of task t (Eq. 4).

    The meta-update from `batches.meta` comes first, because a prior may include the task's own batch (R2).

    Returns:
        The next memory, the parts of Eq. 4, and P_hat_t and alpha_t for `batches.own`.
    """
    next_memory = estimator.learn(memory, batches.meta)  # P_hat_o,t+1 (Eq. 5), and sigma_hat_t+1 in Algorithm 2
    estimate = estimator.assess(t, batches.meta, memory, next_memory, truth)  # h_t, alpha_t (Sec. 3.2) and sigma_t
    validation.check_estimate(estimator, t, estimate, batches.meta)

    batch, h, alpha = batches.own, estimate.h, estimate.alpha
    priors = [h(trial) for trial in batch.trials] if callable(h) else [h]
    mixing_rates = [alpha(N) for N in batch.numbers] if callable(alpha) else [alpha]
    validation.check_trials(estimator, t, estimate, priors, mixing_rates, truth.P_o.shape)
    h, alpha = np.stack(priors, axis=1), np.stack(np.broadcast_arrays(*mixing_rates), axis=1)

    P_hat = (1 - alpha)[..., None] * batch.P_bar  # Eq. 4: P_hat_t = alpha_t h_t + (1 - alpha_t) P_bar_t
    P_hat += alpha[..., None] * h
    return next_memory, estimate, P_hat, alpha


def plan(
    planner: Planner, inputs: Sequence[PlanningInput], R: Rewards
) -> tuple[Int[np.ndarray, "M G *S"], Float[np.ndarray, "M G"]]:
    """Return optimal policies on estimated models, and their discount factors.

    The rewards of the M models are in the order task, run, batch.
    """
    P_hat = join([task.P_hat.reshape(-1, *task.P_hat.shape[2:]) for task in inputs])
    gamma = join([np.repeat(task.gamma, task.P_hat.shape[1], axis=0) for task in inputs])
    R = expected_rewards(R, P_hat)
    make_read_only(P_hat, R)
    return planner.plan(P_hat, R, gamma), gamma
