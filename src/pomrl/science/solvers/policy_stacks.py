"""Steps of policy iteration for stacks of MDPs (Howard, 1960).

One step evaluates the policy of each MDP and then improves it. Up to `evaluation.ELIMINATED_STATES` states, sums are in
the order of the states, so results are bit-identical on every processor, in every stack and in C.
"""

import numpy as np
from jaxtyping import Bool, Float, Int

from pomrl.science.solvers.action_ties import best_of_better, excess, signed_and_absolute
from pomrl.science.solvers.evaluation import ELIMINATED_STATES, action_values, chain_value


class PolicyStack:
    """A stack of n MDPs with their current policies.

    The initial policies are optimal for gamma = 0. Rewards have a leading axis: R, and if needed |R|
    (`action_ties.signed_and_absolute`).
    """

    def __init__(self, P: Float[np.ndarray, "n S A S"], R: Float[np.ndarray, "n S A"]) -> None:
        self._P, self._R, self._policy = P, signed_and_absolute(R), R.argmax(-1)
        self._P_pi = np.take_along_axis(P, self._policy[..., None, None], -2)[..., 0, :]
        self._R_pi = np.take_along_axis(self._R, self._policy[None, ..., None], -1)[..., 0]
        small = P.shape[1] <= ELIMINATED_STATES
        self._by_state = np.ascontiguousarray(P.transpose(3, 2, 1, 0)) if small else None

    def improve(self, gamma: Float[np.ndarray, " n"]) -> Bool[np.ndarray, " n"]:
        """Take one step for each MDP; return a mask of changed policies.

        An action is kept unless another gains more than rounding (`action_ties`), so no policy occurs twice.
        """
        V = chain_value(self._P_pi, self._R_pi, gamma)
        Q = np.stack([self._action_values(R, U, gamma) for R, U in zip(self._R, V, strict=True)])
        gain = excess(Q, V[..., None])
        is_better = (gain > 0.0).any(-1)
        i, state = np.nonzero(is_better)
        # among several best actions, take the next one after the current action
        other_actions = (self._policy[i, state, None] + np.arange(1, gain.shape[-1])) % gain.shape[-1]
        first = best_of_better(np.take_along_axis(gain[i, state], other_actions, -1)) if len(i) else i
        action = other_actions[np.arange(len(i)), first]
        self._policy[i, state], self._R_pi[:, i, state] = action, self._R[:, i, state, action]
        self._P_pi[i, state] = self._P[i, state, action]
        return np.asarray(is_better.any(-1))

    def _action_values(
        self, R: Float[np.ndarray, "n S A"], V: Float[np.ndarray, "n S"], gamma: Float[np.ndarray, " n"]
    ) -> Float[np.ndarray, "n S A"]:
        if self._by_state is None:
            return action_values(self._P, R, V[:, None], gamma[:, None])[:, 0]
        return _action_values_in_order(self._by_state, R, V, gamma)

    def policies(self, mask: Bool[np.ndarray, " n"]) -> Int[np.ndarray, "k S"]:
        return self._policy[mask]

    def keep(self, mask: Bool[np.ndarray, " n"]) -> None:
        self._P, self._R, self._policy = self._P[mask], self._R[:, mask], self._policy[mask]
        self._P_pi, self._R_pi = self._P_pi[mask], self._R_pi[:, mask]
        if self._by_state is not None:
            self._by_state = np.ascontiguousarray(self._by_state[..., mask])


def _action_values_in_order(
    by_state: Float[np.ndarray, "S A S n"],
    R: Float[np.ndarray, "n S A"],
    V: Float[np.ndarray, "n S"],
    gamma: Float[np.ndarray, " n"],
) -> Float[np.ndarray, "n S A"]:
    state_values = np.ascontiguousarray(V.T)
    Q = by_state[0] * state_values[0]
    product = np.empty_like(Q)
    for P, value in zip(by_state[1:], state_values[1:], strict=True):
        Q += np.multiply(P, value, out=product)
    Q *= gamma
    Q += R.T
    return Q.transpose(2, 1, 0)
