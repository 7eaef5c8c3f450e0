"""Models of one's own: from arrays, from sparse matrices or from Gymnasium's tables, and planning with them.

`plan` takes whatever describes an MDP, and returns the optimal policies and their values for a grid of discount
factors, as arrays and as tables with named columns. `from_arrays` and `from_gymnasium` keep the names of states and
actions.
"""

# SciPy's sparse linear algebra comes without types.
# pyright: reportMissingTypeStubs=false

from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import TYPE_CHECKING, Any, cast

import numpy as np
from jaxtyping import Bool, Float, Int
from scipy import sparse

from pomrl.models_and_logs import sparse_models
from pomrl.science.mdp import LossNorm, check_gamma_eval, expected_rewards, for_each_model, planning_loss
from pomrl.science.planners import PolicyIteration
from pomrl.science.solvers import evaluation, faces
from pomrl.science.solvers import sparse as large
from pomrl.science.solvers.policy_stacks import action_value

if TYPE_CHECKING:
    import pandas as pd

END = "end"
"""The name of a state that is added where an episode ends."""

Names = Iterable[Hashable]
"""Names of states or of actions, in the order of their indices."""


@dataclass(frozen=True, eq=False)
class Model:
    """One MDP with names: transition probabilities and expected rewards."""

    P: Float[np.ndarray, "S A S"] | sparse.csr_array
    """Transition probabilities P(s, a, s'); of a large sparse model, a matrix with row s A + a for the pair (s, a)."""
    R: Float[np.ndarray, "S A"]
    """Expected rewards R(s, a), in the user's units."""
    states: tuple[Hashable, ...]
    actions: tuple[Hashable, ...]

    def plan(self, gammas: Sequence[float] | np.ndarray) -> "Plan":
        """Return optimal policies and values at discount factors in [0, 1); see `pomrl.plan`."""
        return _plan_sparse(self, ascending(gammas)) if sparse.issparse(self.P) else _plan_dense(self, gammas)

    def planning_loss(
        self, policies: Int[np.ndarray, "G S"], gamma_eval: float, norm: LossNorm = "max"
    ) -> Float[np.ndarray, " G"]:
        """Return what policies lose in this model against an optimal one, as sums discounted by gamma_eval.

        Args:
            policies: The indices of actions, such as `policies` of the plan of another model of the same states.
            gamma_eval: Discount factor of both values, in [0, 1).
            norm: Whether the loss is that of the worst state, or the mean over states.

        Raises:
            ValueError: The policies are none of this model, or gamma_eval is not in [0, 1) or too near to 1.
        """
        if isinstance(self.P, np.ndarray):
            check_gamma_eval(gamma_eval)
            return planning_loss(self.P[None], self.R[None], np.asarray(policies)[None], gamma_eval, norm=norm)[0]
        return sparse_models.planning_losses(self.P, self.R, policies, gamma_eval, norm)

    @property
    def remarks(self) -> list[str]:
        """A line for each state that is never left, and for each that no other state leads to."""
        rows = self.P if sparse.issparse(self.P) else sparse.csr_array(self.P.reshape(-1, len(self.states)))
        origin = np.repeat(np.arange(len(self.states)), len(self.actions))
        pairs = cast(Any, rows).tocoo()
        moves = (pairs.data > 0) & (origin[pairs.row] != pairs.col)
        left, reached = (np.bincount(index[moves], minlength=len(origin)) for index in (origin[pairs.row], pairs.col))
        lines = [f"state {name!r} is never left" for name, count in zip(self.states, left, strict=False) if not count]
        return lines + [
            f"state {name!r} is reached from no other state"
            for name, count in zip(self.states, reached, strict=False)
            if not count
        ]


@dataclass(frozen=True, eq=False)
class Plan:
    """Optimal policies and their values, for one model or for each of M models."""

    gammas: Float[np.ndarray, " G"]
    """The discount factors, ascending."""
    policies: Int[np.ndarray, "*M G S"]
    """The index of the action in each state."""
    values: Float[np.ndarray, "*M G S"]
    """The expected discounted sum of rewards from each state, at the same discount factor, in the units of rewards."""
    bounds: Float[np.ndarray, "*M G"]
    """What each policy loses at most against an optimal one in any state, as the residuals of the values prove."""
    changed: tuple[tuple[int, float, float, int], ...]
    """The rows of `changes`."""
    states: tuple[Hashable, ...]
    actions: tuple[Hashable, ...]

    @property
    def changes(self) -> "pd.DataFrame":
        """The neighbouring discount factors between which the optimal policy changes.

        The columns are model, below and above, and states, the number of states in which the action differs. A policy
        that is as good at the larger discount factor does not change there.
        """
        import pandas as pd  # here, because planning needs no tables, and pandas takes long to load

        return pd.DataFrame(self.changed, columns=["model", "below", "above", "states"])

    def table(self) -> "pd.DataFrame":
        """Return a row for each model, discount factor and state, with columns model, gamma, state, action, value."""
        import pandas as pd

        G, S = self.policies.shape[-2:]
        M = self.policies.size // (G * S)
        names = np.empty(len(self.actions), object)
        names[:] = self.actions
        return pd.DataFrame(
            {
                "model": np.repeat(np.arange(M), G * S),
                "gamma": np.tile(np.repeat(self.gammas, S), M),
                "state": list(self.states) * (M * G),
                "action": names[self.policies.ravel()],
                "value": self.values.ravel(),
            }
        )


def plan(P: Any, R: Any, gammas: Sequence[float] | np.ndarray) -> Plan:
    """Return the optimal policies of one model or of several, at each of several discount factors.

    Args:
        P: Transition probabilities: an array [S, A, S], or [M, S, A, S] for M models; a SciPy sparse matrix [S A, S]
            with row s A + a for the pair (s, a), or a sequence of one sparse matrix [S, S] for each action; or
            Gymnasium's dictionary, whose `P[s][a]` lists tuples of probability, next state, reward and whether the
            episode ends.
        R: Rewards: [S], [S, A] or [S, A, S], of transitions also as sparse matrices with a sparse P; for several models
            [S, A] or [S, A, S] for all alike, [M, S, A] or [M, S, A, S]. None with Gymnasium's dictionary, which
            contains them.
        gammas: Discount factors in [0, 1).

    Raises:
        ValueError: P and R are no model, or a discount factor is outside of [0, 1); the message names the first index.
    """
    if R is None:
        return from_gymnasium(P).plan(gammas)
    if sparse_models.is_sparse(P) or (stack := _probabilities(P)).ndim != 4:
        return from_arrays(P, R).plan(gammas)
    rewards = for_each_model(numbers(R, "R"), stack)
    if not len(stack) or rewards.ndim < 3 or len(rewards) != len(stack):
        shapes = f"{list(stack.shape)}, {list(rewards.shape)}"
        raise ValueError(f"P and R have to have the same models, and their shapes are {shapes}")
    S, A = stack.shape[1:3]
    return _plan_stack(stack, _checked_rewards(stack, rewards), gammas, range(S), range(A))


def from_arrays(P: Any, R: Any, states: Names | None = None, actions: Names | None = None) -> Model:
    """Return the model of arrays or sparse matrices, checked.

    Args:
        P: Transition probabilities of one model, as `pomrl.plan` takes them.
        R: Rewards, as `pomrl.plan` takes them.
        states: Names of the states; by default 0, 1, ...
        actions: Names of the actions; by default 0, 1, ...

    Raises:
        ValueError: P and R are no model; the message names the first wrong index.
    """
    if not sparse_models.is_sparse(P):
        dense = _probabilities(P)
        if dense.ndim != 3:
            raise ValueError(f"P has to be [S, A, S] or sparse matrices, and its shape is {list(dense.shape)}")
        return _named(dense, _checked_rewards(dense, numbers(R, "R")), states, actions)
    rows = sparse_models.pairs_of(P)
    S, A = sparse_models.size_of(rows)
    if sparse_models.is_small(rows):
        rewards = sparse_models.pairs_of(R, "R").toarray().reshape(-1, A, S) if sparse_models.is_sparse(R) else R
        return from_arrays(rows.toarray().reshape(S, A, S), rewards, states, actions)
    return _named(rows, sparse_models.checked_rewards(rows, R), states, actions)


def from_gymnasium(environment: Any, states: Names | None = None, actions: Names | None = None) -> Model:
    """Return the model of an environment with a table of transitions, such as Gymnasium's toy texts, or of the table.

    A state in which episodes end is never left, and pays nothing. Where other transitions lead there too, after which
    the episode goes on, ends lead to a state of their own instead, whose name is "end".

    Args:
        environment: An environment with `unwrapped.P`, or P itself: `P[s][a]` lists tuples of probability, next state,
            reward and whether the episode ends.
        states: Names of the states; by default 0, 1, ...
        actions: Names of the actions; by default 0, 1, ...

    Raises:
        ValueError: There is no such table, or it is no model.
    """
    if isinstance(environment, np.ndarray) or sparse_models.is_sparse(environment):
        raise ValueError("R is missing: only Gymnasium's dictionary contains the rewards")
    table = environment if isinstance(environment, Mapping | list) else _table_of(environment)
    if not len(table):
        raise ValueError("P has no states")
    state, action, probability, following, reward, ends = _entries(table)
    S, A = len(table), int(action.max(initial=-1)) + 1
    if (lost := (following < 0) | (following >= S)).any():
        s, a, s_next = (int(column[lost][0]) for column in (state, action, following))
        raise ValueError(f"P[{s}][{a}] leads to {s_next}, and there are {S} states")
    ending, moving_on = following[ends], following[(following != state) & ~ends]
    extra = bool(np.isin(ending, moving_on).any())
    following, total = np.where(ends, S, following) if extra else following, S + extra
    last = np.array([S] if extra else sorted(set(ending.tolist())), int)
    goes_on = ~np.isin(state, last)
    pair, stays = (state * A + action)[goes_on], (last[:, None] * A + np.arange(A)).ravel()
    R = np.bincount(pair, (probability * reward)[goes_on], total * A).reshape(total, A)
    probabilities = np.concatenate([probability[goes_on], np.ones(len(stays))])
    places = np.concatenate([pair, stays]), np.concatenate([following[goes_on], np.repeat(last, A)])
    rows = sparse.csr_array((probabilities, places), shape=(total * A, total))
    names = range(S) if states is None else states
    return from_arrays(rows, R, [*names, END] if extra else names, actions)


def _table_of(environment: Any) -> Any:
    table = getattr(getattr(environment, "unwrapped", environment), "P", None)
    if table is None:
        raise ValueError(f"{type(environment).__name__} has no table of transitions P; only environments with one do")
    return table


def _entries(table: Any) -> tuple[np.ndarray, ...]:
    """Return the columns of Gymnasium's table: state, action, probability, next state, reward, end of the episode."""
    rows: list[tuple[float, ...]] = []
    for state in range(len(table)):
        try:
            for action in range(len(table[state])):
                rows += [
                    (state, action, float(p), int(s), float(r), bool(end)) for p, s, r, end in table[state][action]
                ]
        except (LookupError, TypeError, ValueError) as error:
            raise ValueError(
                f"P[{state}] is no dictionary of actions 0, 1, ... with lists of (probability, next state, reward, end)"
            ) from error
    columns, kinds = np.array(rows, float).reshape(-1, 6).T, (int, int, float, int, float, bool)
    return tuple(column.astype(kind) for column, kind in zip(columns, kinds, strict=True))


def numbers(values: Any, name: str) -> Float[np.ndarray, "..."]:
    """Return an array of doubles; ValueError if these are no numbers, or doubles do not hold them exactly."""
    if isinstance(values, Mapping):
        raise ValueError(f"{name} is a dictionary: pomrl.from_gymnasium takes it, or pomrl.plan with R=None")
    return faces.float64(values, name)


def _probabilities(P: Any) -> Float[np.ndarray, "..."]:
    """Return transition probabilities as an array; ValueError if these are no numbers, or actions come first."""
    found = numbers(P, "P")
    if found.ndim > 2 and found.shape[-1] == found.shape[-2] != found.shape[-3]:
        raise ValueError(f"P has to be [..., S, A, S], and is {list(found.shape)}: swap the axes of states and actions")
    return found


def _checked_rewards(P: Float[np.ndarray, "..."], R: Float[np.ndarray, "..."]) -> Float[np.ndarray, "*M S A"]:
    """Return the expected rewards of pairs, of models that are checked with them."""
    # Before rewards of transitions, of which a wrong probability would make wrong expected rewards.
    evaluation.check_models(P, np.zeros(P.shape[:-1]))
    if R.shape == P.shape:
        evaluation.check_finite(R)
        R = expected_rewards(R, P)
    elif R.shape == P.shape[:1]:
        R = np.repeat(R[:, None], P.shape[-2], 1)
    evaluation.check_models(P, R)
    return R


def _named(P: Any, R: Float[np.ndarray, "S A"], states: Names | None, actions: Names | None) -> Model:
    S, A = R.shape
    return Model(P, R, _checked_names("states", states, S), _checked_names("actions", actions, A))


def _checked_names(what: str, names: Names | None, count: int) -> tuple[Hashable, ...]:
    """Return the names of states or actions; ValueError unless there are so many and all are different."""
    found = tuple(range(count) if names is None else names)
    try:
        different = len(set(found))
    except TypeError as error:
        raise ValueError(f"the names of {what} have to be hashable ({error})") from error
    if len(found) != count:
        raise ValueError(f"there are {count} {what}, and {len(found)} names of them")
    if different != count:
        raise ValueError(f"there are {count} {what}, and {different} different names of them")
    return found


def ascending(gammas: Any) -> Float[np.ndarray, " G"]:
    """Return discount factors in ascending order, each once; ValueError if there are none, or one is wrong."""
    found = numbers(gammas, "gammas")
    if found.ndim != 1 or not found.size:
        raise ValueError(f"gammas have to be a sequence of discount factors, and their shape is {list(found.shape)}")
    evaluation.check_gammas(found)
    return np.unique(found)


def _plan_dense(model: Model, gammas: Sequence[float] | np.ndarray) -> Plan:
    P = cast(np.ndarray, model.P)
    found = _plan_stack(P[None], model.R[None], gammas, model.states, model.actions)
    return replace(found, policies=found.policies[0], values=found.values[0], bounds=found.bounds[0])


def _plan_stack(
    P: Float[np.ndarray, "M S A S"],
    R: Float[np.ndarray, "M S A"],
    gammas: Sequence[float] | np.ndarray,
    states: Names,
    actions: Names,
) -> Plan:
    grid = ascending(gammas)
    policies = PolicyIteration().plan(P, R, grid)
    values = np.stack([evaluation.policy_value(P, R, policies[:, g], gamma) for g, gamma in enumerate(grid)], axis=1)
    kept = np.empty((len(P), len(grid) - 1), bool)
    for g, gamma in enumerate(grid[1:]):
        of_before = evaluation.policy_value(P, R, policies[:, g], gamma)
        kept[:, g] = (values[:, g + 1] - of_before).max(1) <= evaluation.action_tie_tolerance(
            evaluation.reward_scale(R), gamma
        )
    bounds = np.empty((len(P), len(grid)))
    for g, gamma in enumerate(grid.tolist()):
        Q = action_value(P, R, values[:, g], np.full(len(P), gamma))
        bounds[:, g] = evaluation.largest_loss(Q, policies[:, g], values[:, g], gamma, R.shape[1])
    return Plan(grid, policies, values, bounds, _changes(grid, policies, kept), tuple(states), tuple(actions))


def _changes(
    gammas: Float[np.ndarray, " G"], policies: Int[np.ndarray, "M G S"], kept: Bool[np.ndarray, "M G-1"]
) -> tuple[tuple[int, float, float, int], ...]:
    """Return the pairs of neighbouring discount factors of which the smaller one's policy is not optimal any more."""
    neighbours = list(pairwise(gammas.tolist()))
    return tuple(
        (int(model), *neighbours[g], int((policies[model, g] != policies[model, g + 1]).sum()))
        for model, g in np.argwhere(~kept)
    )


def _plan_sparse(model: Model, gammas: Float[np.ndarray, " G"]) -> Plan:
    """Plan a large sparse model by policy iteration, each discount factor from the policy of the one before."""
    rows = large.by_action(cast(sparse.csr_array, model.P), len(model.actions))
    policies, values = large.plan(rows, model.R, gammas)
    bounds = large.largest_losses(rows, model.R, policies, values, gammas)
    changes = _changes(gammas, policies[None], (policies[1:] == policies[:-1]).all(-1)[None])
    return Plan(gammas, policies, values, bounds, changes, model.states, model.actions)
