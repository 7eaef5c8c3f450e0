"""Algorithms 1 and 2 of the paper, for n independent runs at once.

POMRL(sigma) and ada-POMRL are one loop over tasks. The similarity sigma_t of the tasks is told to the estimator
(Algorithm 1), or the estimator learns it with Welford's algorithm (Algorithm 2).
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, repeat
from typing import Any, Protocol, runtime_checkable

import numpy as np
from jaxtyping import Float, Int

from pomrl.checks import make_read_only
from pomrl.science import checked
from pomrl.science.data import Batches, join
from pomrl.science.estimators.estimator import Estimate, Estimator, MemoryT, Truth
from pomrl.science.gamma_schedules import GammaSchedule, TaskState
from pomrl.science.mdp import Rewards, expected_rewards
from pomrl.science.planners import Planner

ModelsOfTrials = Float[np.ndarray, "n K S A S"]
"""The estimate P_hat_t in each of n runs, from each of K batches; the paper has one."""

RatesOfTrials = Float[np.ndarray, "n #K #S #A"]
"""The mixing rates alpha_t of these estimates."""

Learner = tuple[Estimator[Any], int, Any, Truth]
"""A learner when a task begins: its estimator, the number t of the task, what it knows, and what it is told."""


@runtime_checkable
class Task(Protocol):
    """What a task is for a learner."""

    def collect(self, learner: Learner) -> Batches:
        """Return the data of the task. A learner that explores makes estimates meanwhile (`exploration`)."""
        ...


@dataclass(frozen=True, eq=False)
class PlanningInput:
    """What the line `Planning` of the algorithm gets in a task, for n runs, and what it was made from."""

    t: int
    """Number of the task, from 1."""
    P_hat: ModelsOfTrials
    """The estimated model."""
    gamma: Float[np.ndarray, "n G"]
    """Discount factors to plan with, ascending."""
    alpha: Float[np.ndarray, " n"]
    """Mixing rate; its mean over pairs (s, a), and over batches, where they differ."""
    sigma: Float[np.ndarray, " n"]
    """Similarity of the tasks, as a standard deviation; its maximum over pairs. NaN if the estimator uses none."""
    batches: Batches
    """The data of the task."""


def pomrl(
    tasks: Iterable[Task],
    m: int,
    truth: Truth | Iterable[Truth],
    estimator: Estimator[MemoryT],
    gamma_schedule: GammaSchedule,
    gamma_eval: float,
) -> Iterator[PlanningInput]:
    """Learn from one task after the other, and yield what to plan each with.

    The `yield` stands for the line `Planning(P_hat)`. No policy feeds back into the loop, so that the caller plans many
    tasks in one stack (`plan`).

    Args:
        tasks: The tasks. `Batches` are one, for data that depend on no learner.
        m: Number of transitions sampled from each pair (s, a) in each task, or of trajectories.
        truth: Moments of the task distribution, for estimators that are told; one for each task where they change.
        estimator: Source of the prior h_t, the mixing rate alpha_t and the similarity sigma_t.
        gamma_schedule: The gamma-Selection-Procedure.
        gamma_eval: Discount factor at which policies are judged.

    Raises:
        ComponentError: The estimator or the schedule returns what is out of range or of another shape.
    """
    truths = repeat(truth) if isinstance(truth, Truth) else iter(truth)
    first = next(truths)
    n, S, A, _ = first.P_o.shape
    memory = estimator.initial_memory(n, S, A)  # P_hat_o,1 is uniform

    for t, (task, truth) in enumerate(zip(tasks, chain([first], truths), strict=False), start=1):
        learner = estimator, t, memory, truth
        batches = task.collect(learner)  # m samples X_i from each pair (s, a)
        memory, parts, P_hat, alpha = estimate_task(*learner, batches)
        state = TaskState(t, m, S, A, gamma_eval, alpha.mean((1, 2, 3)), parts.deviation.max((1, 2)))
        gamma = gamma_schedule.select(state)  # the gamma-Selection-Procedure
        checked.check_gammas(gamma_schedule, gamma, state)
        yield PlanningInput(t, P_hat, gamma, state.alpha, state.deviation, batches)  # Planning(P_hat_t)


def estimate_task(
    estimator: Estimator[MemoryT], t: int, memory: MemoryT, truth: Truth, batches: Batches
) -> tuple[MemoryT, Estimate, ModelsOfTrials, RatesOfTrials]:
    """Return the meta-update, the estimator's parts, P_hat_t and alpha_t of task t.

    Args:
        estimator: Source of the parts of the estimate.
        t: Number of the task, from 1.
        memory: What is known from the tasks before: P_hat_o,t, and sigma_hat_t in Algorithm 2.
        truth: Moments of the task distribution.
        batches: Data of the task.
    """
    after = estimator.learn(memory, batches.meta)  # P_hat_o,t+1 (Eq. 5), and sigma_hat_t+1 in Algorithm 2
    parts = estimator.assess(t, batches.meta, memory, after, truth)
    checked.check_estimate(estimator, t, parts, batches.meta)

    own = batches.own
    priors = [*map(parts.h, own.trials)] if callable(parts.h) else [parts.h]
    rates = [*map(parts.alpha, own.numbers)] if callable(parts.alpha) else [parts.alpha]  # alpha_1 = 0
    checked.check_trials(estimator, t, parts, priors, rates, truth.P_o.shape)
    h, alpha = np.stack(priors, axis=1), np.stack(np.broadcast_arrays(*rates), axis=1)

    P_hat = (1 - alpha)[..., None] * own.P_bar  # Eq. 4: P_hat_t = alpha_t h_t + (1 - alpha_t) P_bar_t
    P_hat += alpha[..., None] * h
    return after, parts, P_hat, alpha


def plan(
    planner: Planner, known: Sequence[PlanningInput], R: Rewards
) -> tuple[Int[np.ndarray, "M G *S"], Float[np.ndarray, "M G"]]:
    """Return what the line `Planning` gives for several tasks: policies that are optimal in P_hat_t, and their gamma.

    Args:
        planner: How policies are found.
        known: What the loop has yielded for the tasks.
        R: Rewards of the M models: the estimates of all tasks, runs and batches, in this order.
    """
    P_hat = join([given.P_hat.reshape(-1, *given.P_hat.shape[2:]) for given in known])
    gamma = join([np.repeat(given.gamma, given.P_hat.shape[1], axis=0) for given in known])
    R = expected_rewards(R, P_hat)
    make_read_only(P_hat, R)
    return planner.plan(P_hat, R, gamma), gamma
