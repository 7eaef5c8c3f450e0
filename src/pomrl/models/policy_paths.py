"""Plan models at several discount factors, with few changes of actions.

An action of one discount factor stays at the next one if it is equally good.
"""

import numpy as np
from jaxtyping import Bool, Float, Int

from pomrl.science.planners import PolicyIteration
from pomrl.science.solvers import (
    ModelStack,
    PolicyGrid,
    RewardStack,
    action_ties,
    evaluation,
    input_checks,
    undiscounted,
)

_GATHERED = 2**20
"""Largest number of probabilities gathered at once, to bound memory."""


def plan_stack(
    P: ModelStack, R: RewardStack, gammas: Float[np.ndarray, " G"]
) -> tuple[PolicyGrid, Float[np.ndarray, "M G S"]]:
    """Return optimal policies and values of models at increasing discount factors."""
    input_checks.check_size(*R.shape[1:])
    policies, values = PolicyIteration().plan_and_evaluate(P, R, np.where(gammas < 1.0, gammas, 0.0))
    if gammas[-1] == 1.0:
        policies[:, -1] = undiscounted.plan(P, R)
        sides = action_ties.signed_and_absolute(R)
        values[:, :, -1] = [undiscounted.policy_values(P, side, policies[:, -1:]) for side in sides]
    models = np.flatnonzero(_are_tied(P, R, policies, values, gammas).any((1, 2)))
    if models.size:
        stack = P[models], R[models], policies[models], values[:, models]
        policies[models], values[0, models] = _keep_along(*stack, gammas)
    return policies, values[0]


def _keep_along(
    P: ModelStack,
    R: RewardStack,
    policies: PolicyGrid,
    values: Float[np.ndarray, "k M G S"],
    gammas: Float[np.ndarray, " G"],
) -> tuple[PolicyGrid, Float[np.ndarray, "M G S"]]:
    """Keep equally good actions from each discount factor to the next one."""
    for g in range(1, len(gammas)):
        pair = slice(g - 1, g + 1)
        tied = _are_tied(P, R, policies[:, pair], values[:, :, pair], gammas[pair])[:, 0]
        if tied.any():
            policies[:, g], values[0, :, g] = _keep(P, R, tied, policies[:, pair], values[0, :, g], float(gammas[g]))
    return policies, values[0]


def _keep(
    P: ModelStack,
    R: RewardStack,
    tied: Bool[np.ndarray, "M S"],
    policies: Int[np.ndarray, "M 2 S"],
    values: Float[np.ndarray, "M S"],
    gamma: float,
) -> tuple[Int[np.ndarray, "M S"], Float[np.ndarray, "M S"]]:
    """Return the last policies with tied actions of the previous ones, and values.

    At gamma = 1, policies still end from every state.
    """
    previous, policy = policies[:, 0], policies[:, 1]
    while gamma == 1.0 and not (ends := _ends(P, R, np.where(tied, previous, policy))).all():
        tied = tied & ends
    candidate = np.where(tied, previous, policy)
    try:
        return candidate, _values(P, R, candidate, gamma)
    except undiscounted.NeverEndsError:  # the candidate takes too many steps
        return policy, values


def _ends(P: ModelStack, R: RewardStack, policy: Int[np.ndarray, "M S"]) -> Bool[np.ndarray, "M S"]:
    """Return a mask of the states with a path to a terminal state."""
    P_pi = np.take_along_axis(P, policy[..., None, None].astype(np.intp), 2)[:, :, 0]
    ends, before = undiscounted.terminal(P, R), -1
    while before != (before := int(ends.sum())):
        ends = ends | ((P_pi * ends[:, None]).sum(-1) > 0.0)
    return ends


def _are_tied(
    P: ModelStack,
    R: RewardStack,
    policies: PolicyGrid,
    values: Float[np.ndarray, "k M G S"],
    gammas: Float[np.ndarray, " G"],
) -> Bool[np.ndarray, "M steps S"]:
    """Return where the previous action differs from an optimal policy's, but is as good."""
    tied = policies[:, :-1] != policies[:, 1:]
    changes = np.flatnonzero(tied)
    rewards = action_ties.signed_and_absolute(R)
    for batch in np.array_split(changes, 1 + changes.size * P.shape[-1] // _GATHERED):
        model, step, state = np.unravel_index(batch, tied.shape)
        action, V = policies[model, step, state], values[:, model, step + 1]
        following = np.einsum("nt,knt->kn", P[model, state, action], V)
        Q = rewards[:, model, state, action] + gammas[step + 1] * following
        tied.flat[batch] = action_ties.excess(values[:, model, step + 1, state], Q) <= 0.0
    return tied


def _values(P: ModelStack, R: RewardStack, policy: Int[np.ndarray, "M S"], gamma: float) -> Float[np.ndarray, "M S"]:
    if gamma == 1.0:
        return undiscounted.policy_values(P, R, policy[:, None])
    return evaluation.policy_value(P, R, policy, gamma)
