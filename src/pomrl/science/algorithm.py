"""Algorithms 1 and 2 of the paper, for n independent runs together.

POMRL(sigma) is given the similarity sigma of the tasks (Algorithm 1). ada-POMRL estimates it by Welford's algorithm
(Algorithm 2). Both are the loop `pomrl`; the estimator decides between them.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol, runtime_checkable

import numpy as np
from jaxtyping import Float, Int

from pomrl.base import make_read_only
from pomrl.science import component_output, learning
from pomrl.science.data import Batches, join
from pomrl.science.estimators.estimator import Estimate, Estimator, Truth
from pomrl.science.estimators.memory import Models
from pomrl.science.gamma_schedules import GammaSchedule, TaskState
from pomrl.science.learning import TrialRates
from pomrl.science.mdp import Rewards, expected_rewards
from pomrl.science.planners import Planner

TrialModels = Float[np.ndarray, "n K S A S"]
"""Estimated models P_hat_t of a task in n runs and K trials, with one batch each; the paper has K = 1."""


class Learner(NamedTuple):
    """A learner at the start of a task."""

    estimator: Estimator[Any]
    t: int
    """Number of the task, from 1."""
    memory: Any
    """Memory of earlier tasks."""
    truth: Truth
    """True moments of the task distribution, which oracles use."""


@runtime_checkable
class Task(Protocol):
    """The source of a task's data."""

    def collect(self, learner: Learner) -> Batches:
        """Return the batches of the task; the learner may choose actions (`exploration`)."""
        ...


@dataclass(frozen=True, eq=False)
class PlanningInput:
    """The input of the line `Planning` of both algorithms, in n runs."""

    t: int
    """Number of the task, from 1."""
    P_hat: TrialModels
    gamma: Float[np.ndarray, "n G"]
    """Discount factors to plan with, ascending."""
    alpha: Float[np.ndarray, " n"]
    """Mixing rate alpha_t, the mean over pairs (s, a) and trials."""
    sigma: Float[np.ndarray, " n"]
    """Similarity of the tasks, a standard deviation: the maximum over pairs; NaN if the estimator has none."""
    batches: Batches


def pomrl(
    tasks: Iterable[tuple[Task, Truth]],
    m: int,
    estimator: Estimator[Any],
    gamma_schedule: GammaSchedule,
    gamma_eval: float,
) -> Iterator[PlanningInput]:
    """Run Algorithm 1 or 2; yield the input of `Planning` in each task.

    Policies do not affect learning, so callers can plan many tasks together (`plan`).

    Args:
        tasks: The source of each task's data, and the true moments of the task distribution, which oracles use.
        m: The number of transitions sampled from each pair (s, a) in each task, or of trajectories.
        estimator: The estimator of P_hat_t; it is given sigma (Algorithm 1) or estimates it (Algorithm 2).
        gamma_schedule: The gamma-Selection-Procedure (Sec. 6).
        gamma_eval: The discount factor of losses, the largest to plan with.

    Raises:
        ComponentError: The estimator or the schedule returns an array with a wrong shape or range.
    """
    memory = None
    for t, (task, truth) in enumerate(tasks, start=1):  # for task t in [T]
        if t == 1:
            memory = estimator.initial_memory(*truth.P_o.shape[:3])  # input: P_hat_o,1 is uniform
        learner = Learner(estimator, t, memory, truth)
        memory, planning_input = process_task(learner, task, m, gamma_schedule, gamma_eval)
        yield planning_input  # Planning(P_hat_t)


def process_task(
    learner: Learner, task: Task, m: int, gamma_schedule: GammaSchedule, gamma_eval: float
) -> tuple[Any, PlanningInput]:
    """Process task t, the body of the loop; return the next memory, and the input of `Planning`."""
    t, (S, A) = learner.t, learner.truth.P_o.shape[1:3]
    batches = task.collect(learner)  # batch of m samples X_i from each pair (s, a)
    memory, estimate, P_hat, alpha = estimate_task(learner, batches)  # P_hat_t, and the update
    sigma = estimate.deviation
    task_state = TaskState(t, m, S, A, gamma_eval, alpha.mean((1, 2, 3)), sigma.max((1, 2)))
    gamma = gamma_schedule.select(task_state)  # gamma-Selection-Procedure, given t instead of T
    component_output.check_gammas(gamma_schedule, gamma, task_state)
    return memory, PlanningInput(t, P_hat, gamma, task_state.alpha, task_state.deviation, batches)


def estimate_task(learner: Learner, batches: Batches) -> tuple[Any, Estimate, TrialModels, TrialRates]:
    """Update the memory, then estimate the model of task t (Eq. 4).

    The update is the last line of the paper's loop. Here it comes first, because a prior may include the task's own
    batch (R2). It uses `batches.meta`; the estimate uses `batches.own`.

    Returns:
        The memory after task t, the prior and mixing rate of Eq. 4 with sigma_t, and P_hat_t and alpha_t of each trial.
    """
    estimator, t, memory, truth = learner
    next_memory = estimator.learn(memory, batches.meta)  # P_hat_o,t+1 (Eq. 5), and sigma_hat_t+1 in Algorithm 2
    estimate = estimator.assess(t, batches.meta, memory, next_memory, truth)  # h_t, alpha_t (Sec. 3.2) and sigma_t
    component_output.check_estimate(estimator, t, estimate, batches.meta)

    batch, h, alpha = batches.own, estimate.h, estimate.alpha
    priors = [h(trial) for trial in batch.trials] if callable(h) else [h]
    mixing_rates = [alpha(N) for N in batch.numbers] if callable(alpha) else [alpha]
    component_output.check_trials(estimator, t, estimate, priors, mixing_rates, truth.P_o.shape)
    h, alpha = _by_trial(priors), _by_trial(np.broadcast_arrays(*mixing_rates))
    P_hat = learning.mix(alpha, h, batch.P_bar)  # solution of Eq. 4: alpha_t h_t + (1 - alpha_t) P_bar_t
    return next_memory, estimate, P_hat, alpha


def _by_trial(arrays: Sequence[np.ndarray]) -> np.ndarray:
    """Stack the arrays of trials; a shared one is not copied."""
    return arrays[0][:, None] if len(arrays) == 1 else np.stack(arrays, axis=1)


def plan(
    planner: Planner, inputs: Sequence[PlanningInput], R: Rewards
) -> tuple[Models, Int[np.ndarray, "M G *S"], Float[np.ndarray, "M G"]]:
    """Plan on the estimated models of several tasks (the line `Planning`).

    R has the rewards of the M models, ordered by task, run and trial.

    Returns:
        The M models, their optimal policies at G discount factors, and these discount factors.
    """
    P_hat = join_models(inputs)
    gamma = join([np.repeat(task.gamma, task.P_hat.shape[1], axis=0) for task in inputs])
    R = expected_rewards(R, P_hat)
    make_read_only(P_hat, R)
    return P_hat, planner.plan(P_hat, R, gamma), gamma


def join_models(inputs: Sequence[PlanningInput]) -> Models:
    """Return the estimated models of several tasks, ordered by task, run and trial."""
    return join([task.P_hat.reshape(-1, *task.P_hat.shape[2:]) for task in inputs])
