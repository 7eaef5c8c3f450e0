"""The values of many policies of each MDP of a stack, by the method that is the fastest for their size."""

import numpy as np
from jaxtyping import Bool, Float, Int

from pomrl.solvers import relative_values
from pomrl.solvers.evaluation import chain_value, policy_value
from pomrl.solvers.relative_values import evaluate_policies, few_sweeps


def policy_values(
    P: Float[np.ndarray, "M S A S"],
    R: Float[np.ndarray, "M S A"],
    policies: Int[np.ndarray, "M G S"],
    gamma: float,
) -> Float[np.ndarray, "M G S"]:
    """Return the exact values of G policies of each of M MDPs at one discount factor.

    Along a grid of discount factors most policies equal the one before; each of these is evaluated once. The arguments
    are not checked (see `evaluation.policy_value`).
    """
    new = np.ones(policies.shape[:2], bool)
    new[:, 1:] = (policies[:, 1:] != policies[:, :-1]).any(-1)
    if P.shape[1] >= relative_values.LARGE:
        stack = zip(P, R, policies, new, strict=True)
        V = np.concatenate(
            [_values_on_large_model(P_i, R_i, policies_i[new_i], gamma) for P_i, R_i, policies_i, new_i in stack]
        )
    else:
        V = _values_on_small_models(P, R, policies, new, gamma)
    return V[np.cumsum(new) - 1].reshape(policies.shape)


def _values_on_small_models(
    P: Float[np.ndarray, "M S A S"],
    R: Float[np.ndarray, "M S A"],
    policies: Int[np.ndarray, "M G S"],
    new: Bool[np.ndarray, "M G"],
    gamma: float,
) -> Float[np.ndarray, "k S"]:
    """Return the values of the policies for which `new` is true, all in one stack."""
    rows = np.nonzero(new)[0][:, None], np.arange(P.shape[1]), policies[new]
    return chain_value(P[rows], R[rows], gamma)


def _values_on_large_model(
    P: Float[np.ndarray, "S A S"], R: Float[np.ndarray, "S A"], policies: Int[np.ndarray, "k S"], gamma: float
) -> Float[np.ndarray, "k S"]:
    """Return the values of policies of one model, by products of matrices if they are many and these converge soon."""
    V, unsolved = np.empty(policies.shape), np.arange(len(policies))
    if len(policies) >= relative_values.GRID:
        sweeps = few_sweeps(*R.shape)
        V, unsolved = evaluate_policies(P, R, policies, gamma, relative_values.TOLERANCE, sweeps)
    for i in unsolved:
        V[i] = policy_value(P, R, policies[i], gamma)
    return V
