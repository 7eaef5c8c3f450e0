"""Planners: optimal policies of stacks of MDPs, for grids of discount factors.

The optimal value V* of an MDP (P, R, γ) solves Bellman's equation,

    V*(s) = max_a Q*(s, a),    Q*(s, a) = R(s, a) + γ Σ_s' P(s, a, s') V*(s'),

and a policy π is optimal if π(s) maximises Q*(s, ·) in every state s. All planners are exact up to rounding
(`solvers.action_ties`): an action is kept unless another gains more.
"""

from abc import abstractmethod
from collections.abc import Sequence
from typing import Annotated, Any

import numpy as np
from jaxtyping import Float, Int, Shaped
from pydantic import Field

from pomrl.base import Component
from pomrl.science.solvers import (
    GammaGrid,
    ModelStack,
    PolicyGrid,
    RewardStack,
    action_ties,
    compiled,
    finite_horizon,
    input_checks,
    relative_values,
    sparse,
    undiscounted,
)
from pomrl.science.solvers.evaluation import ELIMINATED_STATES, STACKED_SYSTEMS
from pomrl.science.solvers.input_checks import check_gammas, check_models
from pomrl.science.solvers.policy_stacks import PolicyStack

_STEPS_PER_PAIR = 100
"""Steps of policy iteration per pair (s, a) and discount factor before it fails; a handful is usual."""


class Planner(Component):
    """Base class of planners. Subclasses implement `_plan`."""

    @property
    def looks_ahead(self) -> int | None:
        """Number of planned steps; None: infinitely many, with gamma below 1."""
        return None

    def plan(
        self,
        P: Shaped[np.ndarray, "M S A S"] | Sequence[Any],
        R: Shaped[np.ndarray, "M S A"] | Sequence[Any],
        gammas: Shaped[np.ndarray, "..."] | Sequence[Any],
    ) -> Int[np.ndarray, "M G *S"]:
        """Return an optimal policy of each model at each discount factor.

        Args:
            P: Transition probabilities P(s, a, s') of M models, with at most `input_checks.MOST_ACTIONS` actions.
            R: Rewards R(s, a) of the models.
            gammas: [G] or [M, G] in [0, 1], fastest in ascending order; 1 is `solvers.undiscounted` for every planner.

        Returns:
            The action in each state, for each model and discount factor; [M, G, h, S] by steps to go if `looks_ahead`
                is h.

        Raises:
            ValueError: P and R are no models or gammas no discount factors; the message names the first wrong index.
            NeverEndsError: A discount factor is 1, and a state ends under no policy, or gains for ever.
        """
        P, R, gammas = (
            input_checks.float64(P, "P"),
            input_checks.float64(R, "R"),
            input_checks.float64(gammas, "gammas"),
        )
        if P.ndim != 4:
            raise ValueError(f"P must be [M, S, A, S], but its shape is {P.shape}")
        check_models(P, R)
        if gammas.ndim == 0 or gammas.shape[:-1] not in ((), (len(P),)) or not gammas.shape[-1]:
            raise ValueError(f"gammas must be [G] or [M, G] with M = {len(P)}, but their shape is {gammas.shape}")
        gammas = np.broadcast_to(gammas, (len(P), gammas.shape[-1]))
        check_gammas(gammas, undiscounted=True)
        if self.looks_ahead is None and (is_undiscounted := gammas == 1.0).any():
            policies = self._check(P, R, np.where(is_undiscounted, 0.0, gammas)).copy()
            mask = is_undiscounted.any(-1)
            proper_policies = undiscounted.plan(P[mask], R[mask])[:, None]
            policies[mask] = np.where(is_undiscounted[mask, :, None], proper_policies, policies[mask])
            return policies
        return self._check(P, R, gammas)

    def _check(self, P: ModelStack, R: RewardStack, gammas: GammaGrid) -> Int[np.ndarray, "..."]:
        policies, steps = self._plan(P, R, gammas), () if self.looks_ahead is None else (self.looks_ahead,)
        input_checks.check_policies(
            policies, (*gammas.shape, *steps, R.shape[1]), R.shape[2], f"{type(self).__qualname__}.plan"
        )
        return policies

    @abstractmethod
    def _plan(self, P: ModelStack, R: RewardStack, gammas: GammaGrid) -> PolicyGrid:
        """Return an optimal policy of each model and discount factor, for valid arguments."""


class PolicyIteration(Planner):
    """Howard's policy iteration for all models together, each at its own discount factor.

    Exact evaluation and improvement alternate until the policy is stable (`solvers.policy_stacks`). A stable model
    moves on to its next discount factor, and starts from its last policy, so that slow models hold up no others: a grid
    of 21 discount factors takes about 1.05 evaluations for each policy. The size of the models decides how they are
    evaluated (`solvers`).

    Raises:
        ArithmeticError: A policy keeps changing, by rounding errors beyond the tolerance.
    """

    def _plan(self, P: ModelStack, R: RewardStack, gammas: GammaGrid) -> PolicyGrid:
        M, S, A = R.shape
        if S <= ELIMINATED_STATES and compiled.is_built():
            return compiled.plan(P, R, gammas, action_ties.ROUNDING_SHARE, _STEPS_PER_PAIR * S * A)
        if S <= ELIMINATED_STATES:
            slices = [slice(start, start + STACKED_SYSTEMS) for start in range(0, max(M, 1), STACKED_SYSTEMS)]
            return np.concatenate([_walk(PolicyStack(P[i], R[i]), gammas[i], A) for i in slices])
        if S < relative_values.SWEPT_STATES and sparse.few_follow(P):
            return _walk(PolicyStack(P, R), gammas, A)
        large = [_plan_large_model(*model) for model in zip(P, R, gammas, strict=True)]
        return np.stack(large) if large else np.empty((*gammas.shape, S), np.int16)


def _plan_large_model(
    P: Float[np.ndarray, "S A S"], R: Float[np.ndarray, "S A"], gammas: Float[np.ndarray, " G"]
) -> Int[np.ndarray, "G S"]:
    if sparse.pays(P):
        return sparse.plan(sparse.sparse_rows(P), R, gammas)[0]
    sweeps = 20 + len(R) // (2 * R.shape[1])  # cost about as much as policy iteration by LAPACK
    policy, unsolved = relative_values.solve_grid(P, R, gammas, sweeps)
    if len(unsolved):
        policy[unsolved] = _walk(PolicyStack(P[None], R[None]), gammas[None, unsolved], R.shape[1])[0]
    return policy


def _walk(stack: PolicyStack, gammas: GammaGrid, A: int) -> PolicyGrid:
    """Return the optimal policies of a stack of models along their discount factors."""
    M, G = gammas.shape
    S = stack.policies(np.zeros(M, bool)).shape[1]
    optimal = np.empty((M, G, S), np.int16)
    model, position, patience = np.arange(M), np.zeros(M, np.intp), np.zeros(M, np.intp)
    while len(model):
        column = np.minimum(position, G - 1)
        stable = ~stack.improve(gammas[model, column])
        optimal[model[stable], column[stable]] = stack.policies(stable)
        position += stable
        patience = np.where(stable, 0, patience + 1)
        if patience.max() > _STEPS_PER_PAIR * S * A:
            stuck = int(patience.argmax())
            raise ArithmeticError(f"model {model[stuck]}, gamma[{column[stuck]}]: policy iteration does not end")
        walking = position < G
        if walking.sum() <= 0.75 * len(walking):  # dropping models copies all others, so several are dropped at once
            stack.keep(walking)
            model, position, patience = model[walking], position[walking], patience[walking]
    return optimal


class ValueIteration(Planner):
    """Relative value iteration of each model, for all discount factors at once (`solvers.relative_values`).

    States that reach different states are planned separately. ArithmeticError: no convergence within `max_sweeps`.
    """

    tolerance: Annotated[float, Field(gt=0)] = 1e-12
    """Largest loss of the policy, times (1 - gamma), in units of its largest reward."""
    max_sweeps: Annotated[int, Field(ge=1)] = 1_000_000
    """Sweeps after which planning fails with an error."""

    def _plan(self, P: ModelStack, R: RewardStack, gammas: GammaGrid) -> PolicyGrid:
        optimal = np.empty((*gammas.shape, R.shape[1]), np.int16)
        for i in range(len(P)):
            optimal[i], unsolved = relative_values.solve_by_closures(
                P[i], R[i], gammas[i], self.max_sweeps, self.tolerance
            )
            if len(unsolved):
                raise ArithmeticError(
                    f"model {i} at gamma = {gammas[i, unsolved[0]]}: value iteration did not converge to "
                    f"{self.tolerance} in {self.max_sweeps} sweeps"
                )
        return optimal


class BackwardInduction(Planner):
    """Backward induction over finitely many steps, with actions by steps to go.

    With fewer steps than the problem's horizon it looks only so far ahead. Discount factors may be 1.
    """

    steps: Annotated[int, Field(ge=1, le=10_000)]
    """Steps that are planned ahead, at most the problem's horizon."""

    @property
    def looks_ahead(self) -> int | None:
        return self.steps

    def _plan(self, P: ModelStack, R: RewardStack, gammas: GammaGrid) -> Int[np.ndarray, "M G h S"]:
        return finite_horizon.plan(P, R, gammas, self.steps)[0]
