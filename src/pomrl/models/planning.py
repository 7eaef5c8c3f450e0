"""Plan with your own models: arrays, sparse matrices or Gymnasium tables.

`from_arrays` and `from_gymnasium` keep names of states and actions.
"""

# SciPy's sparse linear algebra comes without types.
# pyright: reportMissingTypeStubs=false

from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING, Any

import numpy as np
from jaxtyping import Bool, Float, Int, Shaped
from scipy import sparse

from pomrl.models import inputs, sparse_models
from pomrl.models.gymnasium_tables import make_environment, read_table
from pomrl.models.inputs import read_arrays, read_gammas, stand_ins
from pomrl.science.mdp import LossNorm, check_gamma_eval, optimal_value
from pomrl.science.model_axes import Axes
from pomrl.science.planners import PolicyIteration
from pomrl.science.solvers import (
    ModelStack,
    PolicyGrid,
    RewardStack,
    action_ties,
    evaluation,
    input_checks,
    undiscounted,
)
from pomrl.science.solvers import sparse as large

if TYPE_CHECKING:
    import pandas as pd


class End(Enum):
    """The state added for the end of an episode; it equals no name."""

    END = "end"

    def __repr__(self) -> str:
        return "end"

    __str__ = __repr__


END = End.END
"""The state after the end of an episode."""

_GATHERED = 2**20
"""Largest number of probabilities gathered at once, to bound memory."""

Names = Iterable[Hashable]
"""Names of states or of actions, in the order of their indices."""


@dataclass(frozen=True, eq=False)
class Model:
    """One MDP with names: transition probabilities and expected rewards."""

    P: Float[np.ndarray, "S A S"] | sparse.csr_array
    """Transition probabilities P(s, a, s'); of a large sparse model, a matrix with row s A + a for the pair (s, a)."""
    R: Float[np.ndarray, "S A"]
    """Expected rewards R(s, a), in the user's units; -inf for forbidden actions."""
    states: tuple[Hashable, ...]
    actions: tuple[Hashable, ...]
    allowed: Bool[np.ndarray, "S A"]
    """Whether each action may be taken in each state; others are ignored."""

    def __repr__(self) -> str:
        kind = "dense" if isinstance(self.P, np.ndarray) else "sparse"
        return f"Model(states={len(self.states)}, actions={len(self.actions)}, {kind})"

    def plan(self, gammas: Sequence[float] | np.ndarray) -> "Plan":
        """Return optimal policies and values at discount factors; see `pomrl.plan`."""
        factors, grid, position = read_gammas(gammas)
        P, R, stand_in = self._playable()
        if grid[-1] == 1.0 and not isinstance(P, np.ndarray):
            P = sparse_models.dense(P)
        inputs.check_scale(R, float(grid[-1]))
        if isinstance(P, np.ndarray):
            policies, values = (stack[0] for stack in _plans(P[None], R[None], grid))
        else:
            policies, values = large.plan(large.by_action(P, len(self.actions)), R, grid)
        policies = stand_in[np.arange(len(stand_in)), policies]
        return Plan(factors, policies[position], values[position], self.states, self.actions)

    def _playable(self) -> tuple[Any, Float[np.ndarray, "S A"], Int[np.ndarray, "S A"]]:
        """Return P, R and action indices, with stand-ins for forbidden actions."""
        stand_in = stand_ins(self.allowed)
        if self.allowed.all():
            return self.P, self.R, stand_in
        states = np.arange(len(self.states))[:, None]
        if isinstance(self.P, np.ndarray):
            return self.P[states, stand_in], self.R[states, stand_in], stand_in
        return self.P[(states * len(self.actions) + stand_in).ravel()], self.R[states, stand_in], stand_in

    def planning_loss(
        self,
        policies: Shaped[np.ndarray, "..."] | Sequence[Any],
        gamma_eval: float,
        norm: LossNorm = "max",
        *,
        start: Sequence[float] | np.ndarray | None = None,
    ) -> Float[np.ndarray, " G"]:
        """Return the losses of policies against an optimal one, in discounted reward.

        Args:
            policies: Action indices [G, S], as in a `Plan` of a similar model; or action probabilities [G, S, A].
            gamma_eval: Discount factor of both values, in [0, 1).
            norm: "max" for the loss of the worst state, or "mean" over states.
            start: Probability of each first state, for a weighted mean; `norm` is then ignored.

        Raises:
            ValueError: A policy does not fit the model, or gamma_eval is not in [0, 1) or too near to 1.
        """
        check_gamma_eval(gamma_eval)
        weights = self._weights(policies)
        first = None if start is None else _check_start(start, len(self.states))
        P, R, _ = self._playable()
        inputs.check_scale(R, gamma_eval)
        if isinstance(P, np.ndarray):
            best = optimal_value(P[None], R[None], gamma_eval)[0]
        else:
            best = large.plan(large.by_action(P, R.shape[1]), R, np.array([gamma_eval]))[1][0]
        V = np.stack([_policy_value(P, R, policy_weights, gamma_eval) for policy_weights in weights])
        mixed_signs = action_ties.have_both_signs(R)
        size = np.stack([_policy_value(P, np.abs(R), w, gamma_eval) for w in weights]) if mixed_signs else np.abs(V)
        losses = action_ties.differences(best, V, size)
        return losses @ first if first is not None else losses.max(1) if norm == "max" else losses.mean(1)

    def _weights(self, policies: Any) -> Float[np.ndarray, "G S A"]:
        S, A = self.R.shape
        array = np.asarray(policies)
        if array.dtype.kind == "f":
            if array.ndim != 3 or array.shape[1:] != (S, A):
                raise ValueError(
                    f"probabilities of actions must be [G, S, A] with S, A = {S}, {A}, got {list(array.shape)}"
                )
            array = np.where((array == 0.0).all(-1, keepdims=True) & self._is_idle[:, None], np.eye(A)[0], array)
            input_checks.refuse(~(array >= 0.0), array, "policy", "is not a probability")
            bad = ~(np.abs(array.sum(-1) - 1.0) <= inputs.SIX_DIGITS * A)
            input_checks.refuse(
                bad, array.sum(-1), "the sum of policy", "is not 1; floats must be probabilities of actions"
            )
            weights = array / array.sum(-1, keepdims=True)
        else:
            if array.ndim != 2 and array.dtype.kind in "iu":
                raise ValueError(
                    f"policies of integers must be [G, S] with S = {S}, got {list(array.shape)}; probabilities of "
                    "actions [G, S, A] must be floats"
                )
            weights = np.eye(A)[input_checks.policies(array, S, A)]
        input_checks.refuse((weights > 0.0) & ~self.allowed, weights, "policy", "takes an action that is not allowed")
        return weights

    @property
    def _is_idle(self) -> Bool[np.ndarray, " S"]:
        """Return whether all actions of each state are allowed and identical."""
        S, A = self.R.shape
        pairs = sparse.csr_array(self.P.reshape(S * A, S) if isinstance(self.P, np.ndarray) else self.P)
        differ = np.asarray(abs(pairs - pairs[np.repeat(np.arange(S) * A, A)]).sum(1)).reshape(S, A)
        return np.asarray((differ == 0.0).all(1) & (self.R[:, :1] == self.R).all(1) & self.allowed.all(1))


def _policy_value(
    P: Any, R: Float[np.ndarray, "S A"], weights: Float[np.ndarray, "S A"], gamma: float
) -> Float[np.ndarray, " S"]:
    if not isinstance(P, np.ndarray):
        return sparse_models.chain_values(P, R, weights, gamma)
    return evaluation.chain_value(np.einsum("sa,sat->st", weights, P), (weights * R).sum(1), gamma)


def _check_start(start: Any, S: int) -> Float[np.ndarray, " S"]:
    p = input_checks.float64(start, "start")
    if p.shape != (S,):
        raise ValueError(f"start must be a probability for each of {S} states, got shape {list(p.shape)}")
    input_checks.refuse(~(p >= 0.0), p, "start", "is not a probability")
    if not abs(p.sum() - 1.0) <= inputs.SIX_DIGITS * S:
        raise ValueError(f"the probabilities in start must have sum 1, got {p.sum().item()!r}")
    return p / p.sum()


@dataclass(frozen=True, eq=False)
class Plan:
    """Optimal policies and their values, for one model or M models."""

    gammas: Float[np.ndarray, " G"]
    """The discount factors, in the given order."""
    policies: Int[np.ndarray, "*M G S"]
    """The index of the action in each state."""
    values: Float[np.ndarray, "*M G S"]
    """Expected discounted reward from each state, at the same discount factor."""
    states: tuple[Hashable, ...]
    actions: tuple[Hashable, ...]

    def __repr__(self) -> str:
        models = "" if self.policies.ndim == 2 else f"models={len(self.policies)}, "
        gammas = ", ".join(f"{gamma:g}" for gamma in self.gammas[:5]) + ", ..." * (len(self.gammas) > 5)
        return f"Plan({models}states={len(self.states)}, actions={len(self.actions)}, gammas=[{gammas}])"

    @property
    def changes(self) -> "pd.DataFrame":
        """Neighbouring discount factors with different optimal policies.

        The columns are model, below, above and states, the number of states with another action. An action is kept if
        it is as good at the larger discount factor; at 1, only if the policy still ends from every state.
        """
        import pandas as pd  # here, because planning needs no tables, and pandas takes long to load

        gammas, order = np.unique(self.gammas, return_index=True)
        policies = self.policies.reshape(-1, *self.policies.shape[-2:])[:, order]
        states = (policies[:, 1:] != policies[:, :-1]).sum(-1)
        model, g = np.nonzero(states)
        columns = {"model": model, "below": gammas[g], "above": gammas[g + 1], "states": states[model, g]}
        return pd.DataFrame(columns)

    def table(self) -> "pd.DataFrame":
        """Tabulate action and value by model, gamma and state."""
        import pandas as pd

        G, S = self.policies.shape[-2:]
        index = pd.MultiIndex.from_product([range(self.policies.size // (G * S)), self.gammas, range(S)])
        table = index.to_frame(index=False, name=["model", "gamma", "state"])
        return table.assign(
            state=pd.Series(self.states, dtype=object)[table["state"]].to_numpy(),
            action=pd.Series(self.actions, dtype=object)[self.policies.ravel()].to_numpy(),
            value=self.values.ravel(),
        )


def plan(
    P: Any,
    R: Any,
    gammas: Sequence[float] | np.ndarray,
    *,
    axes: Axes | None = None,
    allowed: Any = None,
    tolerance: float | None = None,
) -> Plan:
    """Plan one or several models at several discount factors.

    `pomrl.models.inputs.CONVENTIONS` lists how each form is read.

    Args:
        P: Transition probabilities [S, A, S], or [M, S, A, S] for M models. Or matrices [S, S] by action, dense or
            sparse; a SciPy sparse matrix [S A, S] of rows s A + a; or Gymnasium's dictionary (`from_gymnasium`).
        R: Rewards [S], [S, A] or [S, A, S], the last as sparse matrices with a large sparse P. For M models, shared
            rewards or a first axis M. None with Gymnasium's dictionary.
        gammas: Discount factors in [0, 1), in any order; or 1 if some policy ends from every state.
        axes: "ass" for arrays with actions first, `P[a, s, s']`; "sas" for states first.
        allowed: Whether each pair is allowed, [S, A]; by default as given by P and R.
        tolerance: Largest error of row sums; by default for numbers of six digits.

    Raises:
        ValueError: An input is wrong; the message has the first wrong index.
    """
    if R is None:
        if axes is not None:
            raise ValueError(f"axes must be None without R, got {axes!r}; with an array or matrices, also give R")
        return from_gymnasium(P, allowed=allowed, tolerance=tolerance).plan(gammas)
    arrays = read_arrays(P, R, axes, allowed, tolerance)
    if arrays.R.ndim == 2:
        return _make_model(arrays, None, None).plan(gammas)
    factors, grid, position = read_gammas(gammas)
    M, S, A = arrays.R.shape
    stand_in = stand_ins(arrays.allowed)
    model, state = np.arange(M)[:, None, None], np.arange(S)[:, None]
    stack, rewards = (
        array if arrays.allowed.all() else array[model, state, stand_in] for array in (np.asarray(arrays.P), arrays.R)
    )
    inputs.check_scale(rewards, float(grid[-1]))
    policies, values = _plans(stack, rewards, grid)
    policies = np.take_along_axis(stand_in[:, None], policies[..., None].astype(np.intp), -1)[..., 0]
    return Plan(factors, policies[:, position], values[:, position], tuple(range(S)), tuple(range(A)))


def from_arrays(
    P: Any,
    R: Any,
    states: Names | None = None,
    actions: Names | None = None,
    *,
    axes: Axes | None = None,
    allowed: Any = None,
    tolerance: float | None = None,
) -> Model:
    """Make a model from arrays or sparse matrices, with names.

    Names are 0, 1, ... by default. Other arguments and errors are as in `pomrl.plan`, for one model.
    """
    arrays = read_arrays(P, R, axes, allowed, tolerance)
    if arrays.R.ndim != 2:
        raise ValueError(f"P must be one model, [S, A, S] or sparse matrices, got {len(arrays.R)} models")
    return _make_model(arrays, states, actions)


def from_gymnasium(
    environment: Any,
    states: Names | None = None,
    actions: Names | None = None,
    *,
    allowed: Any = None,
    tolerance: float | None = None,
) -> Model:
    """Return the model of an environment's transition table.

    The environment has `unwrapped.P`, or is an id such as "FrozenLake-v1", or P itself: `P[s][a]` lists tuples of
    probability, next state, reward and end of the episode. Other arguments are as in `from_arrays`.

    Episodes end in an added state `END`, unless all transitions with a true end lead to states that are never left and
    pay nothing. Actions missing in a state are forbidden there.

    Raises:
        ValueError: The environment is unknown, or an entry is wrong; the message locates it.
    """
    table = environment
    if isinstance(environment, str):
        table = environment = make_environment(environment)
    if (
        not isinstance(table, Mapping | list)
        and (table := getattr(getattr(table, "unwrapped", table), "P", None)) is None
    ):
        name = type(environment).__name__
        raise ValueError(f"{name} has no table of transitions P; with an array or matrices, also give R")
    rows, R, has_end = read_table(table)
    S = len(table)
    if allowed is not None and has_end:
        allowed = np.concatenate([inputs.as_allowed(allowed, (S, R.shape[1])), np.ones((1, R.shape[1]), bool)])
    names = range(S) if states is None else states
    return from_arrays(rows, R, [*names, END] if has_end else names, actions, allowed=allowed, tolerance=tolerance)


def _make_model(arrays: inputs.Arrays, states: Names | None, actions: Names | None) -> Model:
    S, A = arrays.R.shape
    return Model(
        arrays.P, arrays.R, _check_names("states", states, S), _check_names("actions", actions, A), arrays.allowed
    )


def _check_names(kind: str, names: Names | None, count: int) -> tuple[Hashable, ...]:
    labels = tuple(range(count) if names is None else names)
    if len(labels) != count or len(set(labels)) != count:
        raise ValueError(f"{kind} must have {count} different names, got {list(labels)}")
    return labels


def _plans(
    P: ModelStack, R: RewardStack, gammas: Float[np.ndarray, " G"]
) -> tuple[PolicyGrid, Float[np.ndarray, "M G S"]]:
    input_checks.check_size(*R.shape[1:])
    policies, values = PolicyIteration().plan_and_evaluate(P, R, np.where(gammas < 1.0, gammas, 0.0))
    if gammas[-1] == 1.0:
        policies[:, -1] = undiscounted.plan(P, R)
        sides = action_ties.signed_and_absolute(R)
        values[:, :, -1] = [undiscounted.policy_values(P, side, policies[:, -1:]) for side in sides]
    models = np.flatnonzero(_are_tied(P, R, policies, values, gammas).any((1, 2)))
    if models.size:
        stack = P[models], R[models], policies[models], values[:, models]
        policies[models], values[0, models] = _keep_along(*stack, gammas)
    return policies, values[0]


def _keep_along(
    P: ModelStack,
    R: RewardStack,
    policies: PolicyGrid,
    values: Float[np.ndarray, "k M G S"],
    gammas: Float[np.ndarray, " G"],
) -> tuple[PolicyGrid, Float[np.ndarray, "M G S"]]:
    """Keep equally good actions from each discount factor to the next one."""
    for g in range(1, len(gammas)):
        pair = slice(g - 1, g + 1)
        tied = _are_tied(P, R, policies[:, pair], values[:, :, pair], gammas[pair])[:, 0]
        if tied.any():
            policies[:, g], values[0, :, g] = _keep(P, R, tied, policies[:, pair], values[0, :, g], float(gammas[g]))
    return policies, values[0]


def _keep(
    P: ModelStack,
    R: RewardStack,
    tied: Bool[np.ndarray, "M S"],
    policies: Int[np.ndarray, "M 2 S"],
    values: Float[np.ndarray, "M S"],
    gamma: float,
) -> tuple[Int[np.ndarray, "M S"], Float[np.ndarray, "M S"]]:
    """Return the last policies with tied actions of the previous ones, and values.

    At gamma = 1, policies still end from every state.
    """
    previous, policy = policies[:, 0], policies[:, 1]
    while gamma == 1.0 and not (ends := _ends(P, R, np.where(tied, previous, policy))).all():
        tied = tied & ends
    merged = np.where(tied, previous, policy)
    try:
        return merged, _values(P, R, merged, gamma)
    except undiscounted.NeverEndsError:  # the kept policy takes too many steps
        return policy, values


def _ends(P: ModelStack, R: RewardStack, policy: Int[np.ndarray, "M S"]) -> Bool[np.ndarray, "M S"]:
    """Return a mask of the states with a path to a terminal state."""
    P_pi = np.take_along_axis(P, policy[..., None, None].astype(np.intp), 2)[:, :, 0]
    ends, before = undiscounted.terminal(P, R), -1
    while before != (before := int(ends.sum())):
        ends = ends | ((P_pi * ends[:, None]).sum(-1) > 0.0)
    return ends


def _are_tied(
    P: ModelStack,
    R: RewardStack,
    policies: PolicyGrid,
    values: Float[np.ndarray, "k M G S"],
    gammas: Float[np.ndarray, " G"],
) -> Bool[np.ndarray, "M steps S"]:
    """Return where the previous action differs from an optimal policy's, but is as good."""
    tied = policies[:, :-1] != policies[:, 1:]
    changes = np.flatnonzero(tied)
    rewards = action_ties.signed_and_absolute(R)
    for chunk in np.array_split(changes, 1 + changes.size * P.shape[-1] // _GATHERED):
        model, step, state = np.unravel_index(chunk, tied.shape)
        action, V = policies[model, step, state], values[:, model, step + 1]
        following = np.einsum("nt,knt->kn", P[model, state, action], V)
        Q = rewards[:, model, state, action] + gammas[step + 1] * following
        tied.flat[chunk] = action_ties.excess(values[:, model, step + 1, state], Q) <= 0.0
    return tied


def _values(P: ModelStack, R: RewardStack, policy: Int[np.ndarray, "M S"], gamma: float) -> Float[np.ndarray, "M S"]:
    if gamma == 1.0:
        return undiscounted.policy_values(P, R, policy[:, None])
    return evaluation.policy_value(P, R, policy, gamma)
