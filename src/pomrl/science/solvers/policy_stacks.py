"""Stacks of MDPs with one policy each, which are improved together: the steps of policy iteration.

One step of policy iteration evaluates the policy π of each MDP and then improves it (Howard, 1960),

    V = (I - γ P_π)⁻¹ R_π,    π(s) <- argmax_a R(s, a) + γ Σ_s' P(s, a, s') V(s').

Models of at most `elimination.SMALL` states are evaluated by elimination, and their action values are sums in the order
of the states, so that they have the same bits on every processor, in stacks of every size, and in the compiled engine.
Larger ones are evaluated by LAPACK, in one call for all MDPs.
"""

import numpy as np
from jaxtyping import Bool, Float, Int

from pomrl.science.solvers.action_ties import action_tie_tolerance
from pomrl.science.solvers.elimination import SMALL
from pomrl.science.solvers.evaluation import action_values, chain_value, reward_scale


class PolicyStack:
    """A stack of n MDPs, each with its current policy, which at first is an optimal one for gamma = 0.

    P_pi and R_pi are kept between steps, because a step changes few of their rows.
    """

    def __init__(self, P: Float[np.ndarray, "n S A S"], R: Float[np.ndarray, "n S A"]) -> None:
        self._P, self._R, self._policy, self._scale = P, R, R.argmax(-1), reward_scale(R)
        self._P_pi = np.take_along_axis(P, self._policy[..., None, None], -2)[..., 0, :]
        self._R_pi = np.take_along_axis(R, self._policy[..., None], -1)[..., 0]
        small = P.shape[1] <= SMALL
        self._by_state = np.ascontiguousarray(P.transpose(3, 2, 1, 0)) if small else None

    def improve(self, gamma: Float[np.ndarray, " n"]) -> Bool[np.ndarray, " n"]:
        """Take one step of policy iteration for each MDP, and return which policies have changed.

        An action is kept unless another is better by more than `action_tie_tolerance`. Every change
        therefore raises the value, and no policy occurs twice at one discount factor.
        """
        V = chain_value(self._P_pi, self._R_pi, gamma)
        tie = action_tie_tolerance(self._scale, gamma)[:, None]
        if self._by_state is None:
            Q = action_values(self._P, self._R, V[:, None], gamma[:, None])[:, 0]
            better = Q.max(-1) - V > tie
            i, state = np.nonzero(better)
            action = Q[i, state].argmax(-1)
        else:
            gain = _gain(self._by_state, self._R, V, gamma)
            better = gain.max(-1) > tie
            i, state = np.nonzero(better)
            others = (self._policy[i, state, None] + np.arange(1, gain.shape[-1])) % gain.shape[-1]
            first = np.take_along_axis(gain[i, state], others, -1).argmax(-1) if len(i) else i
            action = others[np.arange(len(i)), first]  # of several best ones the next one after the current one
        self._policy[i, state], self._R_pi[i, state] = action, self._R[i, state, action]
        self._P_pi[i, state] = self._P[i, state, action]
        return better.any(-1)

    def policies(self, which: Bool[np.ndarray, " n"]) -> Int[np.ndarray, "k S"]:
        """Return the current policies of the MDPs for which `which` is true."""
        return self._policy[which]

    def keep(self, which: Bool[np.ndarray, " n"]) -> None:
        """Drop all MDPs for which `which` is false."""
        self._P, self._R = self._P[which], self._R[which]
        self._policy, self._scale = self._policy[which], self._scale[which]
        self._P_pi, self._R_pi = self._P_pi[which], self._R_pi[which]
        if self._by_state is not None:
            self._by_state = np.ascontiguousarray(self._by_state[..., which])


def _gain(
    by_state: Float[np.ndarray, "S A S n"],
    R: Float[np.ndarray, "n S A"],
    V: Float[np.ndarray, "n S"],
    gamma: Float[np.ndarray, " n"],
) -> Float[np.ndarray, "n S A"]:
    """Return R + gamma P V - V, the advantage of each action, from probabilities by next state."""
    of_state = np.ascontiguousarray(V.T)
    gain = by_state[0] * of_state[0]
    product = np.empty_like(gain)
    for P, value in zip(by_state[1:], of_state[1:], strict=True):
        gain += np.multiply(P, value, out=product)
    gain *= gamma
    gain += R.T
    gain -= of_state
    return gain.transpose(2, 1, 0)
