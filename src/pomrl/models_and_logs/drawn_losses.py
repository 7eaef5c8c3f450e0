"""What plans lose in draws of the model and the rewards of a task, and what the policy of the log earns there."""

import numpy as np
from jaxtyping import Float, Int

from pomrl.models_and_logs.logs import Log
from pomrl.models_and_logs.structure import LearnedRows
from pomrl.science.mdp import optimal_value, planning_loss
from pomrl.science.solvers.evaluation import chain_value

Draws = tuple[np.random.Generator, Float[np.ndarray, "..."], int]
"""Where models are drawn from: a generator, draws of the rewards that tasks share, and the number of draws."""


def drawn_losses(
    log: Log, rows: LearnedRows, task: int, plans: Int[np.ndarray, "2 G S"], gamma: float, draws: Draws
) -> tuple[Float[np.ndarray, "2 G n"], Float[np.ndarray, " n"], Float[np.ndarray, " n"]]:
    """Return the losses of a task's plans in each draw, and the values of the best policy and that of the log.

    All are means over states.
    """
    rng, theta, samples = draws
    P = rows.sample(rng, log.counts[task], samples)
    P, R = log.playable(P, log.rewards.sample(rng, task, P, theta), gamma)
    distinct, place = np.unique(plans.reshape(-1, plans.shape[-1]), axis=0, return_inverse=True)
    best = optimal_value(P, R, gamma)
    losses = planning_loss(P, R, np.broadcast_to(distinct, (samples, *distinct.shape)), gamma, best, norm="mean").T
    behaved = behaviour_values(log, task, P, R, gamma, rng)
    return losses[place.ravel()].reshape(*plans.shape[:-1], samples), best.mean(-1), behaved.mean(-1)


def behaviour_values(
    log: Log,
    task: int,
    P: Float[np.ndarray, "n S A S"],
    R: Float[np.ndarray, "n S A"],
    gamma: float,
    rng: np.random.Generator,
) -> Float[np.ndarray, "n S"]:
    """Return the value in each model of a draw of the policy that made the log in a task.

    The chances of actions are Dirichlet: the task's own numbers of actions, and one more, which is shared out as all
    tasks together have chosen. In a state that no task has left, every action is as likely.
    """
    pooled = log.counts.sum((0, 3)).astype(float)
    share = np.where(pooled.sum(-1, keepdims=True) > 0, pooled, 1.0)
    alpha = log.counts[task].sum(-1) + share / share.sum(-1, keepdims=True)
    chance = np.where(alpha > 0, rng.standard_gamma(alpha, (len(P), *alpha.shape)), 0.0) + 1e-300 * (alpha > 0)
    chance /= chance.sum(-1, keepdims=True)
    R_behaviour = (chance * np.where(chance > 0, R, 0.0)).sum(-1)
    return chain_value(np.einsum("nsa,nsat->nst", chance, P, optimize=True), R_behaviour, gamma)
