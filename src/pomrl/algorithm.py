"""Algorithms 1 and 2 of the paper, for a stack of n independent runs.

POMRL(sigma) and ada-POMRL are the same loop; they differ in where the similarity sigma comes from, which is the
estimator's business.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

from pomrl.estimators import Estimator, Memory, Models, Truth
from pomrl.gamma_schedules import GammaSchedule


@dataclass(frozen=True)
class ToPlan:
    """What the loop hands to the planner in one task, for each of n runs."""

    P_hat: Models
    gamma: Float[np.ndarray, "n G"]
    alpha: Float[np.ndarray, " n"]
    sigma: Float[np.ndarray, " n"]


def pomrl(
    batches: Iterable[Models],
    m: int,
    truth: Truth,
    estimator: Estimator,
    gamma_schedule: GammaSchedule,
    gamma_eval: float,
) -> Iterator[ToPlan]:
    """The loop over tasks. `batches` are the frequencies P_bar_t of m sampled transitions for each pair (s, a).

    The algorithm's line `Planning(P_hat)` is the `yield`: no policy feeds back into the loop, so that the caller plans
    many tasks in one stack. `truth` is for those estimators that are told of the task distribution.
    """
    n, S, A, _ = truth.P_o.shape
    memory = Memory.initial(n, S, A)  # P_hat_o is uniform
    sigma = estimator.similarity_estimate(memory, m, truth)
    alpha = estimator.mixing_rate(1, m, sigma, memory, truth)  # alpha_1 = 0

    for t, P_bar in enumerate(batches, start=1):
        h = estimator.prior_model(memory, P_bar, truth)
        P_hat = (1 - alpha)[..., None] * P_bar + alpha[..., None] * h
        gamma = gamma_schedule.select(m, alpha.mean((1, 2)), sigma.max((1, 2)), t, S, A, gamma_eval)
        yield ToPlan(P_hat, gamma, alpha.mean((1, 2)), sigma.max((1, 2)))

        memory = memory.update(P_bar)
        sigma = estimator.similarity_estimate(memory, m, truth)
        alpha = estimator.mixing_rate(t + 1, m, sigma, memory, truth)
