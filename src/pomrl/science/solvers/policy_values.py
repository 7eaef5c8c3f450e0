"""The values of many policies of each MDP of a stack, by the method that is the fastest for their size."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from jaxtyping import Bool, Float, Int, Shaped

from pomrl.science.solvers import compiled, faces, relative_values, sparse
from pomrl.science.solvers.elimination import SMALL
from pomrl.science.solvers.evaluation import chain_value, policy_value, solve_dominant

_ALIKE = 0.25
"""Largest share of the states in which policies may differ for one factorisation to serve all of them."""

_WELL_CONDITIONED = 0.99
"""Largest discount factor at which rounding errors in doing so stay far below the tolerance of ties."""


def distinct_policy_values(
    P: Float[np.ndarray, "M S A S"],
    R: Float[np.ndarray, "M S A"],
    policies: Shaped[np.ndarray, "M G S"] | Sequence[Any],
    gamma: float,
) -> tuple[Float[np.ndarray, "k S"], Int[np.ndarray, " k"], Int[np.ndarray, "M G"]]:
    """Return the exact values of G policies of each of M MDPs at one discount factor, without repetitions.

    Along a grid of discount factors most policies equal the one before; each of these is evaluated once. The models
    are not checked (see `evaluation.policy_value`), and the actions are.

    Returns:
        The values of the k policies that differ from the one before, the MDP that each of them belongs to, and for each
        of all policies the index of its values.

    Raises:
        ValueError: If policies are not integers of the shape [M, G, S], or if an action is not one of the model's.
    """
    policies = faces.policies(policies, *R.shape[-2:])
    if policies.ndim != 3 or len(policies) != len(R):
        raise ValueError(f"policy must be [M, G, S] with M = {len(R)}, but its shape is {policies.shape}")
    M, G, S = policies.shape
    new = _differs_from_the_one_before(policies)
    at = np.flatnonzero(new)
    model, different = at // max(G, 1), policies.reshape(M * G, S).take(at, 0)
    if S >= relative_values.LARGE:
        stack = zip(P, R, policies, new, strict=True)
        values = [_values_on_large_model(P_i, R_i, of_mdp[new_i], gamma) for P_i, R_i, of_mdp, new_i in stack if G]
        V = np.concatenate([np.empty((0, S)), *values])
    elif S <= SMALL and compiled.is_built():
        V = compiled.evaluate_policies(P, R, model, different, np.full(len(model), gamma))
    else:
        rows = model[:, None], np.arange(S), different
        V = chain_value(P[rows], R[rows], gamma)
    return V, model, np.cumsum(new).reshape(new.shape) - 1


def _differs_from_the_one_before(policies: Int[np.ndarray, "M G S"]) -> Bool[np.ndarray, "M G"]:
    """Return which policies are the first of their MDP or differ from the one before."""
    M, G, S = policies.shape
    new = np.zeros((M, G), bool)
    new[:, :1] = True
    # The differences are few, and finding them all takes a tenth of the time of `any` over a short axis.
    changed = np.flatnonzero(policies[:, 1:] != policies[:, :-1]) // S
    new[:, 1:].flat[changed] = True
    return new


def _values_on_large_model(
    P: Float[np.ndarray, "S A S"], R: Float[np.ndarray, "S A"], policies: Int[np.ndarray, "k S"], gamma: float
) -> Float[np.ndarray, "k S"]:
    """Return the values of policies of one model, by the fastest method for the model and their likeness."""
    if sparse.pays(P):
        return sparse.policy_values(sparse.rows_of(P), R, policies, gamma)
    base = policies[len(policies) // 2]
    alike = (policies != base).any(0).mean() <= _ALIKE
    if len(policies) > 1 and alike and gamma <= _WELL_CONDITIONED:
        return _values_near_a_policy(P, R, policies, base, gamma)
    return np.stack([policy_value(P, R, policy, gamma) for policy in policies])


def _values_near_a_policy(
    P: Float[np.ndarray, "S A S"],
    R: Float[np.ndarray, "S A"],
    policies: Int[np.ndarray, "k S"],
    base: Int[np.ndarray, " S"],
    gamma: float,
) -> Float[np.ndarray, "k S"]:
    """Return the values of policies that differ from the policy `base` in few states.

    The linear equations of a policy are those of the base but for the rows of the d states in which any policy differs.
    By Woodbury's formula, one factorisation then serves all policies, and each needs the solution of d equations more.
    """
    every = np.arange(len(base))
    states = np.flatnonzero((policies != base).any(0))
    actions = policies[:, states]
    P_base, R_pi = P[every, base], R[every, policies]
    P_change = P[states, actions] - P_base[states]
    right = np.column_stack([R[every, base], np.eye(len(base))[:, states]])
    solution = solve_dominant(np.eye(len(base)) - gamma * P_base, right)
    V_base, response = solution[:, 0], solution[:, 1:]

    V = V_base + (R_pi[:, states] - R[states, base[states]]) @ response.T
    small = np.eye(len(states)) - gamma * (P_change @ response)
    change = np.linalg.solve(small, gamma * (P_change @ V[..., None]))[..., 0]
    return V + change @ response.T
