"""Exact evaluation of policies on stacks of finite MDPs, and the checks at the door.

A policy pi on the MDP (P, R, gamma) has the value V = R_pi + gamma P_pi V, the solution of one linear system of S
equations. Everything here takes stacks: leading axes broadcast.
"""

import numpy as np
from jaxtyping import Float, Int

from pomrl.elimination import SMALL, STACK, eliminate

TIE_TOLERANCE = 1e-12
"""Values closer than this, scaled by max(1, |R|) / (1 - gamma), are tied."""

_ROW_SUM_ULPS = 64.0


def policy_value(
    P: Float[np.ndarray, "*#n S A S"],
    R: Float[np.ndarray, "*#n S A"],
    policy: Int[np.ndarray, "*#n S"],
    gamma: Float[np.ndarray, "*#n"] | float,
) -> Float[np.ndarray, "*n S"]:
    """The value V of a policy, exactly: (I - gamma P_pi) V = R_pi.  Discounted reward, in [0, max R / (1 - gamma)].

    A stack of MDPs and policies is given by leading axes, which broadcast. The arguments are not checked (see
    `check_models`): gamma has to be below 1 and the rows of P have to be distributions.
    """
    P_pi = np.take_along_axis(P, policy[..., None, None], axis=-2)[..., 0, :]
    R_pi = np.take_along_axis(R, policy[..., None], axis=-1)[..., 0]
    return chain_value(P_pi, R_pi, gamma)


def chain_value(
    P_pi: Float[np.ndarray, "*#n S S"],
    R_pi: Float[np.ndarray, "*#n S"],
    gamma: Float[np.ndarray, "*#n"] | float,
) -> Float[np.ndarray, "*n S"]:
    """The value of a Markov chain with rewards, which a policy makes of an MDP.

    By elimination for small chains, by LAPACK for others.
    """
    S = P_pi.shape[-1]
    if S > SMALL:
        discount = np.asarray(gamma, float)[..., None, None]
        return np.linalg.solve(np.eye(S) - discount * P_pi, R_pi[..., None])[..., 0]
    shape = np.broadcast_shapes(P_pi.shape[:-2], R_pi.shape[:-1], np.shape(gamma))
    P_stack = np.broadcast_to(P_pi, (*shape, S, S)).reshape(-1, S, S)
    R_stack = np.broadcast_to(R_pi, (*shape, S)).reshape(-1, S)
    discount = np.broadcast_to(np.asarray(gamma, float), shape).reshape(-1)
    V = np.empty(R_stack.shape)
    for start in range(0, len(V), STACK):
        part = slice(start, start + STACK)
        V[part] = _eliminated(P_stack[part], R_stack[part], discount[part])
    return V.reshape(*shape, S)


def _eliminated(
    P_pi: Float[np.ndarray, "n S S"], R_pi: Float[np.ndarray, "n S"], gamma: Float[np.ndarray, " n"]
) -> Float[np.ndarray, "n S"]:
    n, S = R_pi.shape
    system = np.empty((S, S + 1, n))
    np.multiply(P_pi.transpose(1, 2, 0), -gamma, out=system[:, :S])
    system[range(S), range(S)] += 1.0
    system[:, S] = R_pi.T
    return eliminate(system, np.empty((S, S, n))).T


def tie_tolerance(R: Float[np.ndarray, "*n S A"], gamma: Float[np.ndarray, "*#n"]) -> Float[np.ndarray, "*n"]:
    """How much better an action has to be to replace another: `TIE_TOLERANCE` max(1, |R|) / (1 - gamma)."""
    return TIE_TOLERANCE * np.maximum(1.0, np.abs(R).max((-2, -1), initial=0.0)) / (1.0 - gamma)


def check_models(P: Float[np.ndarray, "*n S A S"], R: Float[np.ndarray, "*n S A"]) -> None:
    """Refuse transition models that are none: ValueError with the first bad index.

    A row has to be finite, not negative, and to sum to 1 within a tolerance proportional to S and machine epsilon.
    """
    if P.ndim < 3 or P.shape[-1] != P.shape[-3] or R.shape != P.shape[:-1]:
        raise ValueError(f"P must be [..., S, A, S] and R [..., S, A], but their shapes are {P.shape} and {R.shape}")
    _refuse(~np.isfinite(R), R, "R", "is not finite")
    _refuse(~(P >= 0.0), P, "P", "is not a probability")
    total = P.sum(-1)
    tolerance = _ROW_SUM_ULPS * P.shape[-1] * np.finfo(float).eps
    _refuse(~(np.abs(total - 1.0) <= tolerance), total, "the sum of the row P", f"is not 1 (within {tolerance:.1e})")


def check_gammas(gammas: Float[np.ndarray, "..."]) -> None:
    """Refuse discounts outside [0, 1): ValueError with the first bad index."""
    _refuse(~((gammas >= 0.0) & (gammas < 1.0)), gammas, "gamma", "is not in [0, 1)")


def _refuse(bad: np.ndarray, values: np.ndarray, name: str, why: str) -> None:
    if bad.any():
        index = tuple(int(i) for i in np.argwhere(bad)[0])
        raise ValueError(f"{name}[{', '.join(map(str, index))}] = {float(values[index])!r} {why}")
