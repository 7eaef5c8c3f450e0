"""Exact values of policies on stacks of finite MDPs.

The value of a policy π, the expected discounted reward from each state, solves (I - γ P_π) V = R_π.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
from jaxtyping import Bool, Float, Int, Shaped

from pomrl.science.solvers import (
    GammaGrid,
    ModelStack,
    PolicyGrid,
    RewardStack,
    compiled,
    input_checks,
    relative_values,
    sparse,
)

ELIMINATED_STATES = 64
"""Largest number of equations solved by elimination, in C and NumPy with the same bits. NumPy is faster than LAPACK up
to about 16 equations. At 64 it is three times as slow, and C three times as fast."""

STACKED_SYSTEMS = 1500
"""Number of systems solved together, to fit into the processor's cache."""


def eliminate(system: Float[np.ndarray, "S S+1 n"], scratch: Float[np.ndarray, "S S n"]) -> Float[np.ndarray, "S n"]:
    """Solve n linear systems in place, by Gaussian elimination without pivots.

    This is safe for diagonally dominant systems. The last column has the right-hand side, then the solution. The last
    axis is the system, so each step is elementwise, with the same bits on every processor.
    """
    S = len(system)
    for k in range(S - 1):
        factor = np.divide(system[k + 1 :, k], system[k, k], out=system[k + 1 :, k])
        remainder = system[k + 1 :, k + 1 :]
        remainder -= np.multiply(factor[:, None], system[k, k + 1 :], out=scratch[: S - 1 - k, : S - k])
    V = system[:, S]
    for k in reversed(range(S)):
        V[k] /= system[k, k]
        V[:k] -= np.multiply(system[:k, k], V[k], out=scratch[0, :k])
    return V


_LARGEST_CHANGED_SHARE = 0.25
"""Largest share of states with different actions for policies to share a factorisation."""

_WELL_CONDITIONED_GAMMA = 0.99
"""Largest discount factor with errors of a shared factorisation far below the tolerance of ties."""


def policy_value(
    P: Shaped[np.ndarray, "*#n S A S"] | Sequence[Any],
    R: Shaped[np.ndarray, "*#n S A"] | Sequence[Any],
    policy: Shaped[np.ndarray, "*#n S"] | Sequence[Any],
    gamma: Shaped[np.ndarray, "*#n"] | Sequence[Any] | float,
) -> Float[np.ndarray, "*n S"]:
    """Return the exact value of a policy.

    Leading axes are stacks and broadcast; gamma is in [0, 1). Models and gamma are not checked.

    Raises:
        ValueError: Shapes do not fit, an action is out of range, or a dtype has no safe cast to float64.
    """
    P, R, gamma = input_checks.float64(P, "P"), input_checks.float64(R, "R"), input_checks.float64(gamma, "gamma")
    input_checks.check_shapes(P, R)
    policy = input_checks.policies(policy, *R.shape[-2:])
    P_pi = np.take_along_axis(P, policy[..., None, None], axis=-2)[..., 0, :]
    R_pi = np.take_along_axis(R, policy[..., None], axis=-1)[..., 0]
    return chain_value(P_pi, R_pi, gamma)


def chain_value(
    P_pi: Float[np.ndarray, "*#n S S"], R_pi: Float[np.ndarray, "*#n S"], gamma: Float[np.ndarray, "*#n"] | float
) -> Float[np.ndarray, "*n S"]:
    """Return the value of a Markov chain with rewards; leading axes broadcast."""
    S = P_pi.shape[-1]
    shape = np.broadcast_shapes(P_pi.shape[:-2], R_pi.shape[:-1], np.shape(gamma))
    P_stack = np.broadcast_to(P_pi, (*shape, S, S)).reshape(-1, S, S)
    R_stack = np.broadcast_to(R_pi, (*shape, S)).reshape(-1, S)
    discount = np.broadcast_to(np.asarray(gamma, float), shape).reshape(-1)
    if S > ELIMINATED_STATES:
        chains = zip(P_stack, R_stack, discount, strict=True)
        values = [solve_dominant(np.eye(S) - g * P, R) for P, R, g in chains]
        return np.array(values, float).reshape(*shape, S)
    if compiled.is_built():
        return compiled.evaluate(P_stack, R_stack, discount).reshape(*shape, S)
    V = np.empty(R_stack.shape)
    for start in range(0, len(V), STACKED_SYSTEMS):
        systems = slice(start, start + STACKED_SYSTEMS)
        V[systems] = _value_by_elimination(P_stack[systems], R_stack[systems], discount[systems])
    return V.reshape(*shape, S)


def solve_dominant(system: Float[np.ndarray, "S S"], right: Float[np.ndarray, "S ..."]) -> Float[np.ndarray, "S ..."]:
    """Solve equations with diagonally dominant rows by LAPACK, without row exchanges.

    The transposed system has its pivots on the diagonal, so rounding errors of large values stay in their states.
    """
    from scipy.linalg import lu_factor, lu_solve  # here, because it takes long to load

    factors = lu_factor(system.T, overwrite_a=True, check_finite=False)
    return lu_solve(factors, right, trans=1, check_finite=False)


def _value_by_elimination(
    P_pi: Float[np.ndarray, "n S S"], R_pi: Float[np.ndarray, "n S"], gamma: Float[np.ndarray, " n"]
) -> Float[np.ndarray, "n S"]:
    n, S = R_pi.shape
    system = np.empty((S, S + 1, n))
    np.multiply(P_pi.transpose(1, 2, 0), -gamma, out=system[:, :S])
    system[range(S), range(S)] += 1.0
    system[:, S] = R_pi.T
    return eliminate(system, np.empty((S, S, n))).T


def grid_values(
    P: Float[np.ndarray, "S A S"],
    R: Float[np.ndarray, "k S A"],
    policies: Int[np.ndarray, "G S"],
    gammas: Float[np.ndarray, " G"],
    start: Float[np.ndarray, "G S"],
) -> Float[np.ndarray, "k G S"]:
    """Return the values of a large dense model's policies, each at its discount factor, for R and, with k = 2, |R|.

    Iterations begin at `start`.
    """
    states, max_checks = np.arange(len(P)), 5 + len(P) // 80  # cheaper than LAPACK
    values, unsolved = relative_values.evaluate_grid(P, R, policies, gammas, start, max_checks)
    for g in unsolved.tolist():
        system = np.eye(len(P)) - gammas[g] * P[states, policies[g]]
        values[:, g] = solve_dominant(system, R[:, states, policies[g]].T).T
    return values


def action_values(
    P: ModelStack, R: RewardStack, V: Float[np.ndarray, "M G S"], gammas: GammaGrid
) -> Float[np.ndarray, "M G S A"]:
    """Return R + γ P V for G values of each model."""
    M, S, A, _ = P.shape
    following = np.matmul(P.reshape(M, S * A, S), V.swapaxes(1, 2)).swapaxes(1, 2).reshape(*V.shape, A)
    return R[:, None] + gammas[..., None, None] * following


def distinct_policy_values(
    P: ModelStack, R: RewardStack, policies: Shaped[np.ndarray, "M G S"] | Sequence[Any], gamma: float
) -> tuple[Float[np.ndarray, "k S"], Int[np.ndarray, " k"], Int[np.ndarray, "M G"]]:
    """Evaluate G policies of each MDP, skipping repetitions along the grid.

    Returns:
        The values of the k policies unlike their predecessor, the MDP of each, and the row of values for each policy.

    Raises:
        ValueError: Policies are not integers [M, G, S] in range; models are not checked.
    """
    policies = input_checks.policies(policies, *R.shape[-2:])
    if policies.ndim != 3 or len(policies) != len(R):
        raise ValueError(f"policy must be [M, G, S] with M = {len(R)}, got {list(policies.shape)}")
    M, G, S = policies.shape
    is_new = _differs_from_previous(policies)
    position = np.flatnonzero(is_new)
    model, distinct = position // max(G, 1), policies.reshape(M * G, S).take(position, 0)
    if S >= relative_values.SWEPT_STATES:
        stack = zip(P, R, policies, is_new, strict=True)
        values = [_values_on_large_model(P_i, R_i, pi_i[new_i], gamma) for P_i, R_i, pi_i, new_i in stack if G]
        V = np.concatenate([np.empty((0, S)), *values])
    elif S <= ELIMINATED_STATES and compiled.is_built():
        V = compiled.evaluate_policies(P, R, model, distinct, np.full(len(model), gamma))
    else:
        rows = model[:, None], np.arange(S), distinct
        V = chain_value(P[rows], R[rows], gamma)
    return V, model, np.cumsum(is_new).reshape(is_new.shape) - 1


def _differs_from_previous(policies: PolicyGrid) -> Bool[np.ndarray, "M G"]:
    M, G, S = policies.shape
    is_new = np.zeros((M, G), bool)
    is_new[:, :1] = True
    # Differences are few; finding them all takes a tenth of the time of `any` over a short axis.
    changed = np.flatnonzero(policies[:, 1:] != policies[:, :-1]) // S
    is_new[:, 1:].flat[changed] = True
    return is_new


def _values_on_large_model(
    P: Float[np.ndarray, "S A S"], R: Float[np.ndarray, "S A"], policies: Int[np.ndarray, "k S"], gamma: float
) -> Float[np.ndarray, "k S"]:
    if sparse.is_sparse(P):
        return sparse.policy_values(sparse.sparse_rows(P), R, policies, gamma)
    base = policies[len(policies) // 2]
    is_close = (policies != base).any(0).mean() <= _LARGEST_CHANGED_SHARE
    if len(policies) > 1 and is_close and gamma <= _WELL_CONDITIONED_GAMMA:
        return _values_near_a_policy(P, R, policies, base, gamma)
    return np.stack([policy_value(P, R, policy, gamma) for policy in policies])


def _values_near_a_policy(
    P: Float[np.ndarray, "S A S"],
    R: Float[np.ndarray, "S A"],
    policies: Int[np.ndarray, "k S"],
    base: Int[np.ndarray, " S"],
    gamma: float,
) -> Float[np.ndarray, "k S"]:
    """Return the values of policies close to `base`, by Woodbury's formula."""
    all_states = np.arange(len(base))
    states = np.flatnonzero((policies != base).any(0))
    actions = policies[:, states]
    P_base, R_pi = P[all_states, base], R[all_states, policies]
    P_change = P[states, actions] - P_base[states]
    sides = np.column_stack([R[all_states, base], np.eye(len(base))[:, states]])
    solution = solve_dominant(np.eye(len(base)) - gamma * P_base, sides)
    V_base, response = solution[:, 0], solution[:, 1:]

    V = V_base + (R_pi[:, states] - R[states, base[states]]) @ response.T
    # one factorisation for all policies, then d equations for each, where d states differ
    core = np.eye(len(states)) - gamma * (P_change @ response)
    change = np.linalg.solve(core, gamma * (P_change @ V[..., None]))[..., 0]
    return V + change @ response.T
