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
from pomrl.elimination import SMALL, STACK
from pomrl.evaluation import TIE_TOLERANCE, check_gammas, check_models
from pomrl.policy_stacks import EliminationStack, LapackStack, PolicyStack
from pomrl.relative_values import solve_grid

LARGE = 48
"""States from which products of matrices are faster than LAPACK, for grids of at least `GRID` gammas."""

GRID = 8
"""Gammas from which one product for all of them pays."""

_PATIENCE = 100
"""Sweeps at one gamma, for each pair (s, a), after which something is wrong: policy iteration needs a handful."""


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
        if np.ndim(gammas) == 0 or np.shape(gammas)[:-1] not in ((), (len(P),)) or not np.size(gammas):
            raise ValueError(f"gammas must be [G] or [M, G] with M = {len(P)}, but their shape is {np.shape(gammas)}")
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

    Models of at most `SMALL` states are evaluated by elementwise elimination, larger ones by LAPACK (`policy_stacks`).
    For `LARGE` models on a grid, products of matrices that serve all its gammas at once come first, and policy
    iteration is for the gammas that they do not solve in few sweeps (`relative_values`).
    """

    def _plan(
        self,
        P: Float[np.ndarray, "M S A S"],
        R: Float[np.ndarray, "M S A"],
        gammas: Float[np.ndarray, "M G"],
    ) -> Int[np.ndarray, "M G S"]:
        (M, S), G = R.shape[:2], gammas.shape[1]
        if S <= SMALL:
            parts = [slice(start, start + STACK) for start in range(0, max(M, 1), STACK)]
            return np.concatenate([_walk(EliminationStack(P[i], R[i]), gammas[i], R[i].shape) for i in parts])
        if S >= LARGE and G >= GRID:
            return np.stack([_products_first(*model) for model in zip(P, R, gammas, strict=True)])
        return _walk(LapackStack(P, R), gammas, R.shape)


def few_sweeps(S: int, A: int) -> int:
    """How many products of matrices are tried: about as many as cost what LU factorisations for all gammas do."""
    return 20 + S // (2 * A)


def _products_first(
    P: Float[np.ndarray, "S A S"], R: Float[np.ndarray, "S A"], gammas: Float[np.ndarray, " G"]
) -> Int[np.ndarray, "G S"]:
    """Policies for the grid of one large model; those that are not solved in few sweeps by policy iteration."""
    S, A = R.shape
    policy, unsolved = solve_grid(P, R, gammas, TIE_TOLERANCE / 8, few_sweeps(S, A))
    if len(unsolved):
        stack = LapackStack(P[None], R[None])
        policy[unsolved] = _walk(stack, gammas[None, unsolved], (1, S, A))[0]
    return policy


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
    """Relative value iteration, model by model, for all gammas of a grid at once (`relative_values`).

    Raises ArithmeticError where it does not converge, naming the model and gamma.
    """

    tolerance: Annotated[float, Field(gt=0, description="largest loss of the policy, times (1 - gamma)")] = 1e-12
    max_sweeps: Annotated[int, Field(ge=1, description="sweeps after which planning fails with an error")] = 1_000_000

    def _plan(
        self,
        P: Float[np.ndarray, "M S A S"],
        R: Float[np.ndarray, "M S A"],
        gammas: Float[np.ndarray, "M G"],
    ) -> Int[np.ndarray, "M G S"]:
        optimal = np.empty((*gammas.shape, R.shape[1]), np.intp)
        for i in range(len(P)):
            optimal[i], unsolved = solve_grid(P[i], R[i], gammas[i], self.tolerance, self.max_sweeps)
            if len(unsolved):
                raise ArithmeticError(
                    f"model {i} at gamma = {gammas[i, unsolved[0]]}: value iteration did not converge to "
                    f"{self.tolerance} in {self.max_sweeps} sweeps"
                )
        return optimal
