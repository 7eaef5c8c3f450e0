"""Planners: optimal policies of stacks of MDPs, for grids of discount factors.

Planners are exact up to rounding (`solvers.action_ties`); `ValueIteration` up to its tolerance.
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
    evaluation,
    finite_horizon,
    input_checks,
    relative_values,
    sparse,
    undiscounted,
)
from pomrl.science.solvers.evaluation import ELIMINATED_STATES, STACKED_SYSTEMS, policy_value
from pomrl.science.solvers.input_checks import check_gammas, check_models
from pomrl.science.solvers.policy_stacks import PolicyStack

_STEPS_PER_PAIR = 100
"""Steps of policy iteration per pair (s, a) and discount factor before it fails; a handful is usual."""


class Planner(Component):
    """Base class of planners."""

    @property
    def looks_ahead(self) -> int | None:
        """The number of planned steps; None: infinitely many."""
        return None

    def plan(
        self,
        P: Shaped[np.ndarray, "M S A S"] | Sequence[Any],
        R: Shaped[np.ndarray, "M S A"] | Sequence[Any],
        gammas: Shaped[np.ndarray, "..."] | Sequence[Any],
    ) -> Int[np.ndarray, "M G *S"]:
        """Return an optimal policy of each model at each discount factor.

        Models have at most `input_checks.MAX_ACTIONS` actions. Discount factors are [G] or [M, G] in [0, 1], fastest
        in ascending order. At 1, planners for infinitely many steps use `solvers.undiscounted`.

        Returns:
            The action in each state, [M, G, S]. If `looks_ahead` is h, also by steps to go, [M, G, h, S].

        Raises:
            ValueError: An argument has a wrong type, shape or value.
            NeverEndsError: A discount factor is 1, and a state has no undiscounted value.
        """
        P, R, gammas = (
            input_checks.float64(P, "P"),
            input_checks.float64(R, "R"),
            input_checks.float64(gammas, "gammas"),
        )
        if P.ndim != 4:
            raise ValueError(f"P must be [M, S, A, S], got {list(P.shape)}")
        check_models(P, R)
        if gammas.ndim == 0 or gammas.shape[:-1] not in ((), (len(P),)) or not gammas.shape[-1]:
            raise ValueError(f"gammas must be [G] or [M, G] with M = {len(P)} and G >= 1, got {list(gammas.shape)}")
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
        """Return the result of `plan`, for valid arguments."""


class PolicyIteration(Planner):
    """Howard's policy iteration for all models together, each at its own discount factor.

    A model with a stable policy moves on to its next discount factor, starting from this policy. So slow models do not
    delay others. Methods for large models are in `solvers`.

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
        large = [_plan_large_model(*model) for model in zip(P, R, gammas, strict=True)]
        return np.stack(large) if large else np.empty((*gammas.shape, S), np.int16)

    def plan_and_evaluate(
        self, P: ModelStack, R: RewardStack, gammas: Float[np.ndarray, " G"]
    ) -> tuple[PolicyGrid, Float[np.ndarray, "k M G S"]]:
        """Return optimal policies, and their values for `action_ties.signed_and_absolute`.

        Discount factors are in [0, 1). Arguments are not checked.
        """
        (M, S, A), grid = R.shape, np.tile(gammas, (len(P), 1))
        if S <= ELIMINATED_STATES and compiled.is_built():
            return compiled.plan_and_evaluate(P, R, grid, action_ties.ROUNDING_SHARE, _STEPS_PER_PAIR * S * A)
        sides, policies = action_ties.signed_and_absolute(R), np.empty((*grid.shape, S), np.int16)
        values = np.empty((len(sides), *policies.shape))
        if S > ELIMINATED_STATES:
            for i in range(M):
                policies[i], values[:, i] = _evaluated_plan(P[i], sides[:, i], gammas)
            return policies, values
        policies = self._plan(P, R, grid)
        for k, g in np.ndindex(len(sides), len(gammas)):
            values[k, :, g] = policy_value(P, sides[k], policies[:, g], gammas[g])
        return policies, values


def _evaluated_plan(
    P: Float[np.ndarray, "S A S"], R: Float[np.ndarray, "k S A"], gammas: Float[np.ndarray, " G"]
) -> tuple[Int[np.ndarray, "G S"], Float[np.ndarray, "k G S"]]:
    """Return policies of a large model, and their values for R and, with k = 2, |R|."""
    if _is_eliminated(P):
        policies, values = _eliminate(P, R[0], gammas)
    elif sparse.is_sparse(P):
        policies, values = sparse.plan_and_evaluate(sparse.sparse_rows(P), R[0], gammas)
    else:
        policies, start = _plan_by_sweeps(P, R[0], gammas)
        return policies, evaluation.grid_values(P, R, policies, gammas, start)
    return policies, np.stack([values[0], np.abs(values[-1])][: len(R)])


def _plan_large_model(
    P: Float[np.ndarray, "S A S"], R: Float[np.ndarray, "S A"], gammas: Float[np.ndarray, " G"]
) -> Int[np.ndarray, "G S"]:
    if _is_eliminated(P):
        return _eliminate(P, R, gammas)[0]
    if sparse.is_sparse(P):
        return sparse.plan_and_evaluate(sparse.sparse_rows(P), R, gammas)[0]
    return _plan_by_sweeps(P, R, gammas)[0]


def _is_eliminated(P: Float[np.ndarray, "S A S"]) -> bool:
    """Return whether the compiled engine is the fastest for a large model."""
    return compiled.is_built() and sparse.has_narrow_rows(P)


def _eliminate(
    P: Float[np.ndarray, "S A S"], R: Float[np.ndarray, "S A"], gammas: Float[np.ndarray, " G"]
) -> tuple[Int[np.ndarray, "G S"], Float[np.ndarray, "k G S"]]:
    policies, values = compiled.plan_and_evaluate(
        P[None], R[None], gammas[None], action_ties.ROUNDING_SHARE, _STEPS_PER_PAIR * R.size
    )
    return policies[0], values[:, 0]


def _plan_by_sweeps(
    P: Float[np.ndarray, "S A S"], R: Float[np.ndarray, "S A"], gammas: Float[np.ndarray, " G"]
) -> tuple[Int[np.ndarray, "G S"], Float[np.ndarray, "G S"]]:
    """Return policies, and relative values where the model mixes quickly."""
    S, A = R.shape
    if S < relative_values.SWEPT_STATES and sparse.has_few_successors(P):
        return _walk(PolicyStack(P[None], R[None]), gammas[None], A)[0], np.zeros((len(gammas), S))
    sweeps = 20 + S // (2 * A)  # cost about as much as policy iteration by LAPACK
    policy, unsolved, relative = relative_values.solve_grid(P, R, gammas, sweeps)
    if len(unsolved):
        policy[unsolved] = _walk(PolicyStack(P[None], R[None]), gammas[None, unsolved], A)[0]
    return policy, relative


def _walk(stack: PolicyStack, gammas: GammaGrid, A: int) -> PolicyGrid:
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
            gamma = gammas[model[stuck], column[stuck]]
            raise ArithmeticError(
                f"model {model[stuck]} at gamma = {gamma}: policy iteration did not converge "
                f"in {_STEPS_PER_PAIR * S * A} steps"
            )
        walking = position < G
        if walking.sum() <= 0.75 * len(walking):  # dropping models copies all others, so several are dropped together
            stack.keep(walking)
            model, position, patience = model[walking], position[walking], patience[walking]
    return optimal


class ValueIteration(Planner):
    """Relative value iteration of each model, for all discount factors together (`solvers.relative_values`).

    Each set of reachable states is planned separately. ArithmeticError: no convergence within `max_sweeps`.
    """

    tolerance: Annotated[float, Field(gt=0)] = 1e-12
    """Largest loss of the policy, times (1 - gamma), in units of its largest reward."""
    max_sweeps: Annotated[int, Field(ge=1)] = 1_000_000
    """Largest number of sweeps; planning then fails with an error."""

    def _plan(self, P: ModelStack, R: RewardStack, gammas: GammaGrid) -> PolicyGrid:
        optimal = np.empty((*gammas.shape, R.shape[1]), np.int16)
        for i in range(len(P)):
            optimal[i], unsolved = relative_values.solve_by_closures(
                P[i], R[i], gammas[i], self.max_sweeps, self.tolerance
            )
            if len(unsolved):
                raise ArithmeticError(
                    f"model {i} at gamma = {gammas[i, unsolved[0]]}: value iteration did not converge to "
                    f"tolerance={self.tolerance} in {self.max_sweeps} sweeps; increase planner.max_sweeps"
                )
        return optimal


class BackwardInduction(Planner):
    """Backward induction over finitely many steps; actions depend on the steps to go.

    Discount factors may be 1.
    """

    steps: Annotated[int, Field(ge=1, le=10_000)]
    """Number of steps to plan ahead, at most the problem's horizon."""

    @property
    def looks_ahead(self) -> int | None:
        return self.steps

    def _plan(self, P: ModelStack, R: RewardStack, gammas: GammaGrid) -> Int[np.ndarray, "M G h S"]:
        return finite_horizon.plan(P, R, gammas, self.steps)[0]
