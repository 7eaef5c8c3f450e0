"""What plans lose in draws of the model and the rewards of a task.

Many small models are evaluated together here, each plan in all draws at once; planners are made for many discount
factors of fewer models.
"""

import numpy as np
from jaxtyping import Float, Int

from pomrl.models_and_logs.behaviour import behaviour_values
from pomrl.models_and_logs.logs import Log
from pomrl.models_and_logs.row_models import LearnedRows
from pomrl.science.solvers.evaluation import action_tie_tolerance, magnitude, policy_value

MOST_STEPS = 1000
"""The most steps of policy iteration; a handful is usual, and no model needs as many as it has policies."""

Models = Float[np.ndarray, "n S A S"]
OfPairs = Float[np.ndarray, "n S A"]

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
    V = np.stack([policy_value(P, R, policy[None].astype(int), gamma) for policy in distinct])
    best = optimal_values(P, R, gamma, plans[0, -1])
    gaps = (best - V).mean(-1)
    losses = np.where(gaps > action_tie_tolerance(magnitude(R), gamma), gaps, 0.0)
    return (
        losses[place.ravel()].reshape(*plans.shape[:-1], samples),
        best.mean(-1),
        behaviour_values(log, task, P, R, gamma, rng).mean(-1),
    )


def optimal_values(P: Models, R: OfPairs, gamma: float, start: Int[np.ndarray, " S"]) -> Float[np.ndarray, "n S"]:
    """Return the values of the best policy of each model, by policy iteration from a policy that is good in most.

    Raises:
        ArithmeticError: Policies keep changing, which only rounding errors can cause.
    """
    n, S = R.shape[:2]
    policy = np.broadcast_to(start, (n, S)).astype(int)
    tolerance = action_tie_tolerance(magnitude(R), gamma)[:, None]
    V = policy_value(P, R, policy, gamma)
    changing = np.arange(n)
    for _ in range(MOST_STEPS):
        Q = R[changing] + gamma * (P[changing] @ V[changing][:, None, :, None])[..., 0]
        better = Q.max(-1) > V[changing] + tolerance[changing]
        policy[changing] = np.where(better, Q.argmax(-1), policy[changing])
        changing = changing[better.any(-1)]
        if not len(changing):
            return V
        V[changing] = policy_value(P[changing], R[changing], policy[changing], gamma)
    raise ArithmeticError(f"policy iteration does not end after {MOST_STEPS} steps")
