"""Exact evaluation of policies on stacks of finite MDPs, and checks of models and of gammas.

The value of a policy π is the expected sum of discounted rewards from each state. It solves S linear equations,

    V(s) = R(s, π(s)) + γ Σ_s' P(s, π(s), s') V(s'),    or  (I - γ P_π) V = R_π.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
from jaxtyping import Float, Shaped

from pomrl.science.solvers import compiled, faces
from pomrl.science.solvers.elimination import SMALL, STACK, eliminate

_ROW_SUM_ULPS = 64.0
"""How far the sum of a row of P may be from 1, in units of S times the machine epsilon."""


def policy_value(
    P: Shaped[np.ndarray, "*#n S A S"] | Sequence[Any],
    R: Shaped[np.ndarray, "*#n S A"] | Sequence[Any],
    policy: Shaped[np.ndarray, "*#n S"] | Sequence[Any],
    gamma: Shaped[np.ndarray, "*#n"] | Sequence[Any] | float,
) -> Float[np.ndarray, "*n S"]:
    """Return the exact value of a policy, the solution V of (I - γ P_π) V = R_π.

    Leading axes are stacks of MDPs and policies, and broadcast. Numbers may be of every kind that doubles hold exactly
    (`faces.float64`), and actions integers of every kind. Models and discount factors are not checked: the rows of P
    have to be distributions (`check_models`) and gamma has to be in [0, 1).

    Args:
        P: Transition probabilities P(s, a, s').
        R: Rewards R(s, a).
        policy: The action that the policy takes in each state.
        gamma: Discount factor.

    Returns:
        The expected sum of discounted rewards from each state, between min R / (1 - gamma) and max R / (1 - gamma).

    Raises:
        ValueError: If shapes do not fit, if an action is not one of the model's, which has a limit
            (`faces.MOST_ACTIONS`), or if doubles do not hold the numbers.
    """
    P, R, gamma = faces.float64(P, "P"), faces.float64(R, "R"), faces.float64(gamma, "gamma")
    _check_shapes(P, R)
    policy = faces.policies(policy, *R.shape[-2:])
    P_pi = np.take_along_axis(P, policy[..., None, None], axis=-2)[..., 0, :]
    R_pi = np.take_along_axis(R, policy[..., None], axis=-1)[..., 0]
    return chain_value(P_pi, R_pi, gamma)


def chain_value(
    P_pi: Float[np.ndarray, "*#n S S"],
    R_pi: Float[np.ndarray, "*#n S"],
    gamma: Float[np.ndarray, "*#n"] | float,
) -> Float[np.ndarray, "*n S"]:
    """Return the value of a Markov chain with rewards, the solution V of (I - γ P_π) V = R_π.

    An MDP under a fixed policy is such a chain. Leading axes broadcast. Chains of at most `elimination.SMALL` states
    are solved by elimination, longer ones by LAPACK.
    """
    S = P_pi.shape[-1]
    shape = np.broadcast_shapes(P_pi.shape[:-2], R_pi.shape[:-1], np.shape(gamma))
    P_stack = np.broadcast_to(P_pi, (*shape, S, S)).reshape(-1, S, S)
    R_stack = np.broadcast_to(R_pi, (*shape, S)).reshape(-1, S)
    discount = np.broadcast_to(np.asarray(gamma, float), shape).reshape(-1)
    if S > SMALL:
        chains = zip(P_stack, R_stack, discount, strict=True)
        values = [solve_dominant(np.eye(S) - g * P, R) for P, R, g in chains]
        return np.array(values, float).reshape(*shape, S)
    if compiled.is_built():
        return compiled.evaluate(P_stack, R_stack, discount).reshape(*shape, S)
    V = np.empty(R_stack.shape)
    for start in range(0, len(V), STACK):
        part = slice(start, start + STACK)
        V[part] = _value_by_elimination(P_stack[part], R_stack[part], discount[part])
    return V.reshape(*shape, S)


def solve_dominant(system: Float[np.ndarray, "S S"], right: Float[np.ndarray, "S ..."]) -> Float[np.ndarray, "S ..."]:
    """Solve equations whose rows are diagonally dominant by LAPACK, which does not exchange them.

    LAPACK exchanges rows for the largest entry of a column. It is given the columns as rows, whose largest entry is
    that of the diagonal. So equations of states that others do not reach are not added to theirs, where rounding errors
    of large values would stay.
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


def action_values(
    P: Float[np.ndarray, "M S A S"],
    R: Float[np.ndarray, "M S A"],
    V: Float[np.ndarray, "M G S"],
    gammas: Float[np.ndarray, "M G"],
) -> Float[np.ndarray, "M G S A"]:
    """Return R(s, a) + γ Σ_s' P(s, a, s') V(s') for G values of each model."""
    M, S, A, _ = P.shape
    following = np.matmul(P.reshape(M, S * A, S), V.swapaxes(1, 2)).swapaxes(1, 2).reshape(*V.shape, A)
    return R[:, None] + gammas[..., None, None] * following


def check_models(P: Float[np.ndarray, "*n S A S"], R: Float[np.ndarray, "*n S A"]) -> None:
    """Raise an error unless P and R are stacks of transition models and rewards.

    The entries of R have to be finite. Those of P have to be at least 0, and each row P(s, a, ·) has to sum to 1 within
    a tolerance proportional to S and to the machine epsilon.

    Raises:
        ValueError: If the shapes do not fit, if there are no states or actions or more actions than
            `faces.MOST_ACTIONS`, or if an entry is wrong; the message names the first wrong index.
    """
    if R.shape != P.shape[:-1]:
        raise _misshapen(P, R)
    _check_shapes(P, R)
    check_finite(R)
    if not P.min(initial=0.0) >= 0.0:  # NaN is not either
        faces.refuse(~(P >= 0.0), P, "P", "is not a probability")
    total, tolerance = row_sums(P)
    faces.refuse(
        ~(np.abs(total - 1.0) <= tolerance), total, "the sum of the row P", f"is not 1 (within {tolerance:.1e})"
    )


def row_sums(P: Float[np.ndarray, "*n S A S"]) -> tuple[Float[np.ndarray, "*n S A"], float]:
    """Return the sums of the rows, and how far those of models may be from 1."""
    S = P.shape[-1]
    total = P.reshape(-1, S) @ np.ones(S)  # ten times as fast as a sum over a short axis
    return total.reshape(P.shape[:-1]), _ROW_SUM_ULPS * S * float(np.finfo(float).eps)


def _check_shapes(P: Float[np.ndarray, "..."], R: Float[np.ndarray, "..."]) -> None:
    """Refuse arrays that are no stacks of models and rewards, whose leading axes may broadcast."""
    if P.ndim < 3 or R.ndim < 2 or P.shape[-1] != P.shape[-3] or R.shape[-2:] != P.shape[-3:-1]:
        raise _misshapen(P, R)
    faces.check_size(*R.shape[-2:])


def _misshapen(P: Float[np.ndarray, "..."], R: Float[np.ndarray, "..."]) -> ValueError:
    return ValueError(f"P must be [..., S, A, S] and R [..., S, A], but their shapes are {P.shape} and {R.shape}")


def check_finite(R: Float[np.ndarray, "..."]) -> None:
    """Raise a ValueError that names the first wrong index unless all rewards are finite."""
    faces.refuse(~np.isfinite(R), R, "R", "is not finite")


def check_gammas(gammas: Float[np.ndarray, "..."], *, undiscounted: bool = False) -> None:
    """Raise a ValueError that names the first wrong index unless gammas are in [0, 1), or 1 if that may be."""
    within = (gammas >= 0.0) & ((gammas <= 1.0) if undiscounted else (gammas < 1.0))
    faces.refuse(~within, gammas, "gamma", f"is not in [0, 1{']' if undiscounted else ')'}")
