"""When two actions are tied: rounding errors of their values do not make one of them better than the other.

A value V of a policy π is compared with Q(s, a) = R(s, a) + γ Σ_s' P(s, a, s') V(s'). What rounding can change in both
depends on the sizes of the rewards that they add up, and on no other reward of the model. The sum of these sizes is the
value U of |R| under the same policy, and

    |R(s, a)| + γ Σ_s' P(s, a, s') U(s')    and    U(s) = |R(s, π(s))| + γ Σ_s' P(s, π(s), s') U(s')

are the sizes of Q(s, a) and of V(s). An action is better than the present one if it gains more than `ROUNDING` of them,

    Q(s, a) - V(s) > ROUNDING (|R(s, a)| + γ Σ_s' P(s, a, s') U(s') + U(s)).

Why that is the size of the errors: the off-diagonal entries of I - γ P_π are not positive. Elimination without pivots
therefore only adds terms of one sign to |R_π|, and it does the same operations on R_π. So the rounding errors of V(s)
are proportional to U(s), even where V(s) is small because large rewards cancel. The diagonal loses digits, so that they
can be as large as about S ε U(s) / (1 - γ), with the machine epsilon ε. But they are nearly the same in states that
follow each other, and cancel in Q - V; one number therefore serves all sizes and discount factors.

Rewards of states that s does not reach are multiplied by factors that are exactly 0. Hence a penalty for an action that
nobody takes, or a prize that nothing reaches, ties no actions elsewhere. A factor of all rewards is a factor of both
sides, and a power of 2 changes no bit.

When no action is better, V* - V is in each state at most the largest right-hand side that can be reached, over 1 - γ.

Where all rewards have one sign, U is |V| and the size of Q is |Q|, to the last bit, and nothing more is computed.
"""

import numpy as np
from jaxtyping import Float

ROUNDING = 5e-13
"""How much of its size the error of a value may be: 2,000 rounding errors, which the equations can add up to."""

LEAST = float(np.finfo(float).tiny)
"""The smallest number that has all digits; gains below it are rounding errors, whatever the sizes."""


def have_both_signs(R: Float[np.ndarray, "..."]) -> bool:
    """Return whether some rewards are positive and others negative, so that U has to be computed beside V."""
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
    return (Q[0] - V[0]) - (ROUNDING * (np.abs(Q[-1]) + np.abs(V[-1])) + LEAST)


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
    apart[apart <= 2.0 * ROUNDING * size + LEAST] = 0.0
    return apart


def best_of_better(excesses: Float[np.ndarray, "*n A"]) -> np.ndarray:
    """Return the first action with the largest excess above 0, and whatever else where no action is better."""
    return np.where(excesses > 0.0, excesses, 0.0).argmax(-1)
