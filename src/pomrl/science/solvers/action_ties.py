"""When two actions are tied: rounding errors of their values do not make one of them better than the other.

A value V of a policy π is compared with Q(s, a) = R(s, a) + γ Σ_s' P(s, a, s') V(s'). What rounding can change depends
on the sizes of the rewards that both add up: with the value U of |R| under the same policy,

    |R(s, a)| + γ Σ_s' P(s, a, s') U(s')    and    U(s) = |R(s, π(s))| + γ Σ_s' P(s, π(s), s') U(s')

are the sizes of Q(s, a) and of V(s). An action is better than the present one if

    Q(s, a) - V(s) > ROUNDING_SHARE (|R(s, a)| + γ Σ_s' P(s, a, s') U(s') + U(s)).

Why: the off-diagonal entries of I - γ P_π are not positive. Elimination without pivots only adds terms of one sign to
|R_π|, and does the same operations on R_π, so that rounding errors of V(s) are proportional to U(s), even where large
rewards cancel. They can be as large as S ε U(s) / (1 - γ), with the machine epsilon ε, but are nearly the same in
states that follow each other, and cancel in Q - V. One number therefore serves all sizes and discount factors.

Rewards of states that s does not reach have factors of exactly 0: a prize that nothing reaches ties no actions
elsewhere. A power of 2 as a factor of all rewards changes no bit. When no action is better, V* - V is at most the
largest right-hand side that can be reached, over 1 - γ. Where all rewards have one sign, U is |V|, and nothing more is
computed.
"""

import numpy as np
from jaxtyping import Float

ROUNDING_SHARE = 5e-13
"""How much of its size the error of a value may be: 2,000 rounding errors."""

LEAST_GAIN = float(np.finfo(float).tiny)
"""The smallest number with all digits; gains below it are rounding errors."""


def have_both_signs(R: Float[np.ndarray, "..."]) -> bool:
    """Return whether rewards of both signs occur, so that U is needed beside V."""
    return bool(R.min(initial=0.0) < 0.0 < R.max(initial=0.0))


def signed_and_absolute(R: Float[np.ndarray, "*n S A"]) -> Float[np.ndarray, "k *n S A"]:
    """Return R, followed by |R| where rewards have both signs; their values are V and U."""
    return np.stack([R, np.abs(R)]) if have_both_signs(R) else R[None]


def excess(Q: Float[np.ndarray, "k *n A"], V: Float[np.ndarray, "k *#n #A"]) -> Float[np.ndarray, "*n A"]:
    """Return the gain Q - V less what rounding explains; actions with more than 0 are better.

    Args:
        Q: Values of actions for the rewards of `signed_and_absolute`.
        V: Values of the present policy for the same rewards.
    """
    return (Q[0] - V[0]) - (ROUNDING_SHARE * (np.abs(Q[-1]) + np.abs(V[-1])) + LEAST_GAIN)


def differences(
    V: Float[np.ndarray, "*#n S"], other: Float[np.ndarray, "*#n S"], size: Float[np.ndarray, "*#n S"]
) -> Float[np.ndarray, "*n S"]:
    """Return |V - other| of two values in each state, and 0 where that is what rounding explains.

    Args:
        V: Values of policies.
        other: Values of other policies.
        size: The values U of |R| under either; where values are tied, both are taken to have this size.
    """
    apart = np.abs(V - other)
    apart[apart <= 2.0 * ROUNDING_SHARE * size + LEAST_GAIN] = 0.0
    return apart


def best_of_better(excesses: Float[np.ndarray, "*n A"]) -> np.ndarray:
    """Return the first action with the largest excess above 0; any where none is better."""
    return np.where(excesses > 0.0, excesses, 0.0).argmax(-1)
