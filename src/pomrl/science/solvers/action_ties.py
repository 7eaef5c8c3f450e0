"""Ties of actions: an action is better only if its gain exceeds rounding errors.

Let V be the value of a policy π, U the value of |R| under π, and Q = R + γ P V. An action is better than the current
one if

    Q(s, a) - V(s) > ROUNDING_SHARE (|R(s, a)| + γ Σ_s' P(s, a, s') U(s') + U(s)).

Off-diagonal entries of I - γ P_π are not positive, so elimination without pivots adds terms of one sign to |R_π|.
Rounding errors of V(s) are then proportional to U(s), even where large rewards cancel. With the machine epsilon ε they
can reach S ε U(s) / (1 - γ). But they nearly cancel in Q - V, so one number serves all sizes and discount factors.

Rewards of unreachable states do not affect ties. Scaling rewards by a power of 2 changes no bit. When no action is
better, V* - V is at most the largest reachable right-hand side over 1 - γ.
"""

import numpy as np
from jaxtyping import Float

ROUNDING_SHARE = 5e-13
"""Largest rounding error of V, in units of U: about 2,000 machine epsilons."""

MIN_GAIN = float(np.finfo(float).tiny)
"""Smallest number with full precision; gains below it are rounding errors."""


def have_both_signs(R: Float[np.ndarray, "..."]) -> bool:
    """Return whether rewards of both signs occur; otherwise U is |V|."""
    return bool(R.min(initial=0.0) < 0.0 < R.max(initial=0.0))


def signed_and_absolute(R: Float[np.ndarray, "*n S A"]) -> Float[np.ndarray, "k *n S A"]:
    """Return R, followed by |R| for rewards of both signs."""
    return np.stack([R, np.abs(R)]) if have_both_signs(R) else R[None]


def excess(Q: Float[np.ndarray, "k *n A"], V: Float[np.ndarray, "k *#n #A"]) -> Float[np.ndarray, "*n A"]:
    """Return the gain Q - V minus rounding; actions above 0 are better.

    Q and V belong to the current policy, for the rewards of `signed_and_absolute`.
    """
    return (Q[0] - V[0]) - (ROUNDING_SHARE * (np.abs(Q[-1]) + np.abs(V[-1])) + MIN_GAIN)


def differences(
    V: Float[np.ndarray, "*#n S"], other: Float[np.ndarray, "*#n S"], size: Float[np.ndarray, "*#n S"]
) -> Float[np.ndarray, "*n S"]:
    """Return |V - other|, or 0 within rounding; `size` is U of one policy."""
    distance = np.abs(V - other)
    distance[distance <= 2.0 * ROUNDING_SHARE * size + MIN_GAIN] = 0.0
    return distance


def best_of_better(excesses: Float[np.ndarray, "*n A"]) -> np.ndarray:
    """Return the first action with the largest excess; 0 if none is better."""
    return np.where(excesses > 0.0, excesses, 0.0).argmax(-1)
