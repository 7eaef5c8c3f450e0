"""Stacks of MDPs with a policy each, improved in lock-step: the two engines of policy iteration.

Both hold n models and n policies, and improve them by one step of policy iteration, each at a discount factor of its
own. They differ in how policies are evaluated, and so in the size of the models that they are fast for.
"""

from typing import Protocol, runtime_checkable

import numpy as np
from jaxtyping import Bool, Float, Int

from pomrl.elimination import eliminate
from pomrl.evaluation import TIE_TOLERANCE, tie_tolerance


@runtime_checkable
class PolicyStack(Protocol):
    """Models and their present policies; at first those that are best at gamma = 0."""

    def improve(self, gamma: Float[np.ndarray, " n"]) -> Bool[np.ndarray, " n"]:
        """One step of policy iteration for each model; which policies changed.

        The present action is kept unless another is better by more than the tolerance of ties, so that every change
        raises the value and no policy comes back.
        """
        ...

    def policies(self, which: Bool[np.ndarray, " n"]) -> Int[np.ndarray, "k S"]:
        """The present policies of some of the models."""
        ...

    def keep(self, which: Bool[np.ndarray, " n"]) -> None:
        """Drop all models but these."""
        ...


class LapackStack:
    """Policies are evaluated by LAPACK's LU factorisation, in one call for the whole stack.

    P_pi and R_pi are kept from step to step, because most steps change few of their rows.
    """

    def __init__(self, P: Float[np.ndarray, "n S A S"], R: Float[np.ndarray, "n S A"]) -> None:
        self._P, self._R, self._policy = P, R, R.argmax(-1)
        self._P_pi = np.take_along_axis(P, self._policy[..., None, None], -2)[..., 0, :]
        self._R_pi = np.take_along_axis(R, self._policy[..., None], -1)

    def improve(self, gamma: Float[np.ndarray, " n"]) -> Bool[np.ndarray, " n"]:
        V = self._value(gamma)
        Q = action_value(self._P, self._R, V, gamma)
        better = Q.max(-1) - V > tie_tolerance(self._R, gamma)[:, None]
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
        for name in ("_P", "_R", "_policy", "_P_pi", "_R_pi"):
            setattr(self, name, getattr(self, name)[which])


class EliminationStack:
    """Policies of small models are evaluated by elimination, one elementwise operation for all models at a time.

    The models are the last axis of every array. I - gamma P_pi is strictly diagonally dominant, so that elimination
    needs no pivots, and elementwise operations give the same bits on every processor and in stacks of every size.

    The actions of each state are kept in an order that starts with the present one: `_P[0]` is P_pi, and behind it is
    what could replace it. A change of policy moves few rows; most often there is none.
    """

    def __init__(self, P: Float[np.ndarray, "n S A S"], R: Float[np.ndarray, "n S A"]) -> None:
        self._models, self._which = (P, R), np.arange(len(P))
        self._scale = np.maximum(1.0, np.abs(R).max((1, 2)))
        self._policy = np.ascontiguousarray(R.argmax(-1).T)
        order = self._order(R.argmax(-1))
        self._P = np.ascontiguousarray(np.take_along_axis(P, order[..., None], 2).transpose(2, 1, 3, 0))
        self._R = np.ascontiguousarray(np.take_along_axis(R, order, 2).transpose(2, 1, 0))
        self._make_room()

    def improve(self, gamma: Float[np.ndarray, " n"]) -> Bool[np.ndarray, " n"]:
        gain = self._gain(self._value(gamma), gamma)
        better = gain > TIE_TOLERANCE * self._scale / (1.0 - gamma)
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
        self._make_room()

    def _choose(self, state: Int[np.ndarray, " k"], i: Int[np.ndarray, " k"], action: Int[np.ndarray, " k"]) -> None:
        """Make these the present actions of k states, each of a model i, and bring them to the front."""
        P, R = self._models
        order = self._order(action)
        rows = self._which[i, None], state[:, None], order
        self._policy[state, i] = order[:, 0]
        self._P[:, state, :, i] = P[rows]
        self._R[:, state, i] = R[rows].T

    def _order(self, action: Int[np.ndarray, "*k"]) -> Int[np.ndarray, "*k A"]:
        """All actions, in cyclic order from the given ones."""
        A = self._models[1].shape[-1]
        return (action[..., None] + np.arange(A)) % A

    def _make_room(self) -> None:
        A, S, n = self._R.shape
        self._system, self._product = np.empty((S, S + 1, n)), np.empty((S, S, n))
        self._gains = np.empty((A - 1, S, n))

    def _value(self, gamma: Float[np.ndarray, " n"]) -> Float[np.ndarray, "S n"]:
        """The values of the present policies: (I - gamma P_pi) V = R_pi."""
        S = len(self._policy)
        np.multiply(self._P[0], -gamma, out=self._system[:, :S])
        self._system[range(S), range(S)] += 1.0
        self._system[:, S] = self._R[0]
        return eliminate(self._system, self._product)

    def _gain(self, V: Float[np.ndarray, "S n"], gamma: Float[np.ndarray, " n"]) -> Float[np.ndarray, "others S n"]:
        """What each other action would gain in each state: R + gamma P V - V."""
        product = self._product[0]
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
    """Q = R + gamma P V."""
    n, S, A, _ = P.shape
    expected = np.matmul(P.reshape(n, S * A, S), V[..., None]).reshape(n, S, A)
    return R + gamma[:, None, None] * expected
