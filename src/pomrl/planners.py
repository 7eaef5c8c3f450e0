"""Planning on stacks of small MDPs, over grids of discount factors.

A planner takes M models and, for each, G discount factors, and returns an optimal policy for every pair. Policies are
compared by value and never by their actions, because ties are real: an action is kept unless another one is better by
more than `evaluation.tie_tolerance`. Both planners are exact up to that tolerance or raise an error; neither stops
early without a word.
"""

from abc import ABC, abstractmethod
from typing import Annotated

import numpy as np
from jaxtyping import Float, Int
from pydantic import Field
from pydantic.dataclasses import dataclass

from pomrl.components import CHECKED
from pomrl.evaluation import check_gammas, check_models
from pomrl.policy_stacks import EliminationStack, LapackStack, PolicyStack, action_value

SMALL = 16
"""States up to which elementwise elimination is faster than LAPACK."""

STACK = 1500
"""Small models that are planned together."""

_PATIENCE = 100


class Planner(ABC):
    """What plans: `plan` checks its arguments and hands them to `_plan`, which subclasses write."""

    def plan(
        self,
        P: Float[np.ndarray, "M S A S"],
        R: Float[np.ndarray, "M S A"],
        gammas: Float[np.ndarray, "..."],
    ) -> Int[np.ndarray, "M G S"]:
        """Optimal policies of the models (P[i], R[i]) at each discount factor.

        gammas is [G], the same for all models, or [M, G]; in [0, 1), in any order (an ascending one is fastest).
        Raises ValueError for what is no model or no discount factor, naming the first bad index.
        """
        check_models(P, R)
        gammas = np.broadcast_to(gammas, (len(P), np.shape(gammas)[-1]))
        check_gammas(gammas)
        return self._plan(P, R, gammas)

    @abstractmethod
    def _plan(
        self,
        P: Float[np.ndarray, "M S A S"],
        R: Float[np.ndarray, "M S A"],
        gammas: Float[np.ndarray, "M G"],
    ) -> Int[np.ndarray, "M G S"]: ...


@dataclass(frozen=True, config=CHECKED)
class PolicyIteration(Planner):
    """Howard's policy iteration, for all models in lock-step, each at its own place on its grid.

    Every model walks its gammas in the order given and starts each from the policy of the one before, which is most
    often optimal already. In each sweep every live model does one evaluation and one improvement at its own gamma; a
    policy that did not change is recorded and the model moves on, a changed one stays. So no sweep solves a small
    remainder: about 1.05 evaluations per plan on a grid of 21 gammas.

    Models of at most `SMALL` states are evaluated by elementwise elimination, in stacks that fit into the cache; larger
    ones by LAPACK (`policy_stacks`).
    """

    def _plan(
        self,
        P: Float[np.ndarray, "M S A S"],
        R: Float[np.ndarray, "M S A"],
        gammas: Float[np.ndarray, "M G"],
    ) -> Int[np.ndarray, "M G S"]:
        M, S = R.shape[:2]
        if S > SMALL:
            return _walk(LapackStack(P, R), gammas, R.shape)
        parts = [slice(start, start + STACK) for start in range(0, M, STACK)]
        return np.concatenate([_walk(EliminationStack(P[i], R[i]), gammas[i], R[i].shape) for i in parts])


def _walk(stack: PolicyStack, gammas: Float[np.ndarray, "M G"], shape: tuple[int, ...]) -> Int[np.ndarray, "M G S"]:
    """Walk all models of a stack along their gammas; `shape` is (M, S, A)."""
    (M, S, A), G = shape, gammas.shape[1]
    optimal = np.empty((M, G, S), np.intp)
    model, position, patience = np.arange(M), np.zeros(M, np.intp), np.zeros(M, np.intp)
    while len(model):
        at = np.minimum(position, G - 1)
        stable = ~stack.improve(gammas[model, at])
        optimal[model[stable], at[stable]] = stack.policies(stable)
        position += stable
        patience = np.where(stable, 0, patience + 1)
        if patience.max() > _PATIENCE * S * A:
            stuck = int(patience.argmax())
            raise ArithmeticError(f"model {model[stuck]}, gamma[{at[stuck]}]: policy iteration does not end")
        walking = position < G
        if walking.sum() <= 0.75 * len(walking):  # dropping models copies the others, so not for every one
            stack.keep(walking)
            model, position, patience = model[walking], position[walking], patience[walking]
    return optimal


@dataclass(frozen=True, config=CHECKED)
class ValueIteration(Planner):
    """Relative value iteration for all models and gammas at once, stopped on the span (Puterman, Sec. 6.6).

    h <- R + gamma max_a P h, less its value in the first state. Once the span of a step is at most `tolerance` / gamma,
    the greedy policy loses at most `tolerance` / (1 - gamma). A pair (model, gamma) that has stopped is left out of the
    sweeps that follow.
    """

    tolerance: Annotated[float, Field(gt=0, description="largest loss of the policy, times (1 - gamma)")] = 1e-12
    max_sweeps: Annotated[int, Field(ge=1, description="sweeps after which planning fails with an error")] = 1_000_000

    def _plan(
        self,
        P: Float[np.ndarray, "M S A S"],
        R: Float[np.ndarray, "M S A"],
        gammas: Float[np.ndarray, "M G"],
    ) -> Int[np.ndarray, "M G S"]:
        M, G = gammas.shape
        S = R.shape[1]
        optimal = np.empty((M * G, S), np.intp)
        model, gamma, live = np.repeat(np.arange(M), G), gammas.ravel(), np.arange(M * G)
        threshold = self.tolerance * np.maximum(1.0, np.abs(R).max((1, 2)))[model]
        h = np.zeros((M * G, S))
        for _ in range(self.max_sweeps):
            Q = action_value(P[model], R[model], h, gamma)
            step = Q.max(-1) - h
            done = gamma * (step.max(-1) - step.min(-1)) <= threshold
            optimal[live[done]] = Q[done].argmax(-1)
            h = (h + step)[~done]
            h -= h[:, :1]
            model, gamma, live, threshold = model[~done], gamma[~done], live[~done], threshold[~done]
            if not live.size:
                return optimal.reshape(M, G, S)
        raise ArithmeticError(
            f"model {model[0]} at gamma = {gamma[0]}: value iteration did not converge to {self.tolerance} "
            f"in {self.max_sweeps} sweeps"
        )
