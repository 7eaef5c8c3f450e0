"""A planner of one's own: the linear program for the optimal value, one model and discount factor at a time."""

import numpy as np
from jaxtyping import Float, Int
from pydantic.dataclasses import dataclass
from scipy.optimize import linprog

from pomrl.components import CHECKED
from pomrl.planners import Planner


@dataclass(frozen=True, config=CHECKED, kw_only=True)
class LinearProgram(Planner):
    """V* is the smallest V with V(s) >= R(s,a) + gamma sum_s' P(s,a,s') V(s') for all pairs; the policy is greedy."""

    def _plan(
        self, P: Float[np.ndarray, "M S A S"], R: Float[np.ndarray, "M S A"], gammas: Float[np.ndarray, "M G"]
    ) -> Int[np.ndarray, "M G S"]:
        return np.array([[_greedy(P[i], R[i], gamma) for gamma in gammas[i]] for i in range(len(P))])


def _greedy(P: Float[np.ndarray, "S A S"], R: Float[np.ndarray, "S A"], gamma: float) -> Int[np.ndarray, " S"]:
    S, A = R.shape
    advantage = gamma * P - np.eye(S)[:, None]
    found = linprog(np.ones(S), A_ub=advantage.reshape(S * A, S), b_ub=-R.reshape(S * A), bounds=(None, None))
    return (R + gamma * P @ found.x).argmax(-1)
