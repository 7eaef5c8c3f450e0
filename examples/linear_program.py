"""An example of a planner by linear programming."""

import numpy as np
from jaxtyping import Float, Int
from scipy.optimize import linprog

from pomrl.components import Planner


class LinearProgram(Planner):
    """The greedy policy of V*, by a linear program for each model and discount factor.

    V* has the smallest sum over states under the constraints V(s) ≥ R(s,a) + γ Σ_s' P(s,a,s') V(s') for all pairs.
    """

    def _plan(
        self, P: Float[np.ndarray, "M S A S"], R: Float[np.ndarray, "M S A"], gammas: Float[np.ndarray, "M G"]
    ) -> Int[np.ndarray, "M G S"]:
        return np.array([[_greedy(P[i], R[i], gamma) for gamma in gammas[i]] for i in range(len(P))])


def _greedy(P: Float[np.ndarray, "S A S"], R: Float[np.ndarray, "S A"], gamma: float) -> Int[np.ndarray, " S"]:
    """Return the greedy policy of the optimal value of one model."""
    S, A = R.shape
    constraints = gamma * P - np.eye(S)[:, None]
    optimum = linprog(np.ones(S), A_ub=constraints.reshape(S * A, S), b_ub=-R.reshape(S * A), bounds=(None, None))
    return (R + gamma * P @ optimum.x).argmax(-1)
