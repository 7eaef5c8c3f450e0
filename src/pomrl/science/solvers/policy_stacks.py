"""Stacks of MDPs with one policy each, which are improved together: the engines of policy iteration.

One step of policy iteration evaluates the policy π of each MDP and then improves it (Howard, 1960),

    V = (I - γ P_π)⁻¹ R_π,    π(s) <- argmax_a R(s, a) + γ Σ_s' P(s, a, s') V(s').

All engines take such a step for n MDPs at once, each at a discount factor of its own. They differ in how they evaluate
policies, and therefore in the models that they are fast for.
"""

from typing import Protocol, runtime_checkable

import numpy as np
from jaxtyping import Bool, Float, Int

from pomrl.science.solvers.elimination import eliminate
from pomrl.science.solvers.evaluation import action_tie_tolerance, reward_scale


@runtime_checkable
class PolicyStack(Protocol):
    """A stack of n MDPs, each with its current policy, which at first is an optimal one for gamma = 0."""

    def improve(self, gamma: Float[np.ndarray, " n"]) -> Bool[np.ndarray, " n"]:
        """Take one step of policy iteration for each MDP, and return which policies have changed.

        An action is kept unless another is better by more than `evaluation.action_tie_tolerance`. Every change
        therefore raises the value, and no policy occurs twice at one discount factor.
        """
        ...

    def policies(self, which: Bool[np.ndarray, " n"]) -> Int[np.ndarray, "k S"]:
        """Return the current policies of the MDPs for which `which` is true."""
        ...

    def keep(self, which: Bool[np.ndarray, " n"]) -> None:
        """Drop all MDPs for which `which` is false."""
        ...


class LapackStack:
    """A stack whose policies are evaluated by LAPACK's LU factorisation, in one call for all MDPs.

    P_pi and R_pi are kept between steps, because a step changes few of their rows.
    """

    def __init__(self, P: Float[np.ndarray, "n S A S"], R: Float[np.ndarray, "n S A"]) -> None:
        self._P, self._R, self._policy, self._scale = P, R, R.argmax(-1), reward_scale(R)
        self._P_pi = np.take_along_axis(P, self._policy[..., None, None], -2)[..., 0, :]
        self._R_pi = np.take_along_axis(R, self._policy[..., None], -1)

    def improve(self, gamma: Float[np.ndarray, " n"]) -> Bool[np.ndarray, " n"]:
        V = self._value(gamma)
        Q = action_value(self._P, self._R, V, gamma)
        better = Q.max(-1) - V > action_tie_tolerance(self._scale, gamma)[:, None]
        i, state = np.nonzero(better)
        action = Q[i, state].argmax(-1)
        self._policy[i, state], self._R_pi[i, state, 0] = action, self._R[i, state, action]
        self._P_pi[i, state] = self._P[i, state, action]
        return better.any(-1)

    def _value(self, gamma: Float[np.ndarray, " n"]) -> Float[np.ndarray, "n S"]:
        n, S, _ = self._P_pi.shape
        system = self._P_pi * -gamma[:, None, None]
        system.reshape(n, S * S)[:, :: S + 1] += 1.0
        return np.linalg.solve(system, self._R_pi)[..., 0]

    def policies(self, which: Bool[np.ndarray, " n"]) -> Int[np.ndarray, "k S"]:
        return self._policy[which]

    def keep(self, which: Bool[np.ndarray, " n"]) -> None:
        self._P, self._R = self._P[which], self._R[which]
        self._policy, self._scale = self._policy[which], self._scale[which]
        self._P_pi, self._R_pi = self._P_pi[which], self._R_pi[which]


class EliminationStack:
    """A stack of small MDPs whose policies are evaluated by elimination, elementwise for all MDPs at once.

    The MDPs are the last axis of every array. I - gamma P_pi is strictly diagonally dominant, so that elimination needs
    no pivoting, and elementwise operations give the same bits on every processor and for stacks of every size.

    The actions of each state are stored in cyclic order from the current one: `_P[0]` is P_pi, and `_P[1:]` are the
    rows of the alternatives. A change of policy moves few rows, and in most steps there is none.
    """

    def __init__(self, P: Float[np.ndarray, "n S A S"], R: Float[np.ndarray, "n S A"]) -> None:
        self._models, self._which = (P, R), np.arange(len(P))
        self._scale = reward_scale(R)
        self._policy = np.ascontiguousarray(R.argmax(-1).T)
        order = self._order(R.argmax(-1))
        self._P = np.ascontiguousarray(np.take_along_axis(P, order[..., None], 2).transpose(2, 1, 3, 0))
        self._R = np.ascontiguousarray(np.take_along_axis(R, order, 2).transpose(2, 1, 0))
        self._allocate()

    def improve(self, gamma: Float[np.ndarray, " n"]) -> Bool[np.ndarray, " n"]:
        gain = self._gain(self._value(gamma), gamma)
        better = gain > action_tie_tolerance(self._scale, gamma)
        changed = np.zeros(len(gamma), bool)
        if better.any():
            state, i = np.nonzero(np.logical_or.reduce(better))
            self._choose(state, i, self._policy[state, i] + gain[:, state, i].argmax(0) + 1)
            changed[i] = True
        return changed

    def policies(self, which: Bool[np.ndarray, " n"]) -> Int[np.ndarray, "k S"]:
        return self._policy[:, which].T

    def keep(self, which: Bool[np.ndarray, " n"]) -> None:
        self._which, self._scale, self._policy = self._which[which], self._scale[which], self._policy[:, which]
        self._P, self._R = np.ascontiguousarray(self._P[..., which]), np.ascontiguousarray(self._R[..., which])
        self._allocate()

    def _choose(self, state: Int[np.ndarray, " k"], i: Int[np.ndarray, " k"], action: Int[np.ndarray, " k"]) -> None:
        """Make `action` the current action of each of k states, given by the state and the index i of its MDP."""
        P, R = self._models
        order = self._order(action)
        rows = self._which[i, None], state[:, None], order
        self._policy[state, i] = order[:, 0]
        self._P[:, state, :, i] = P[rows]
        self._R[:, state, i] = R[rows].T

    def _order(self, action: Int[np.ndarray, "*k"]) -> Int[np.ndarray, "*k A"]:
        """Return all actions in cyclic order from the given ones."""
        A = self._models[1].shape[-1]
        return (action[..., None] + np.arange(A)) % A

    def _allocate(self) -> None:
        """Allocate the memory that every step writes to."""
        A, S, n = self._R.shape
        self._system, self._scratch = np.empty((S, S + 1, n)), np.empty((S, S, n))
        self._gains = np.empty((A - 1, S, n))

    def _value(self, gamma: Float[np.ndarray, " n"]) -> Float[np.ndarray, "S n"]:
        """Return the values of the current policies."""
        S = len(self._policy)
        np.multiply(self._P[0], -gamma, out=self._system[:, :S])
        self._system[range(S), range(S)] += 1.0
        self._system[:, S] = self._R[0]
        return eliminate(self._system, self._scratch)

    def _gain(self, V: Float[np.ndarray, "S n"], gamma: Float[np.ndarray, " n"]) -> Float[np.ndarray, "others S n"]:
        """Return R + gamma P V - V, the advantage of each alternative action over the current one in each state."""
        product = self._scratch[0]
        for P, R, gain in zip(self._P[1:], self._R[1:], self._gains, strict=True):
            np.multiply(P[:, 0], V[0], out=gain)
            for s in range(1, len(V)):
                gain += np.multiply(P[:, s], V[s], out=product)
            gain *= gamma
            gain += R
            gain -= V
        return self._gains


def action_value(
    P: Float[np.ndarray, "n S A S"],
    R: Float[np.ndarray, "n S A"],
    V: Float[np.ndarray, "n S"],
    gamma: Float[np.ndarray, " n"],
) -> Float[np.ndarray, "n S A"]:
    """Return the action values Q(s, a) = R(s, a) + γ Σ_s' P(s, a, s') V(s') of n MDPs."""
    n, S, A, _ = P.shape
    expected = np.matmul(P.reshape(n, S * A, S), V[..., None]).reshape(n, S, A)
    return R + gamma[:, None, None] * expected
