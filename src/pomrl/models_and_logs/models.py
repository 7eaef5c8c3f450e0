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

from pomrl.checks import check_memory
from pomrl.science.mdp import expected_rewards, for_each_model
from pomrl.science.planners import PolicyIteration
from pomrl.science.solvers import evaluation, faces
from pomrl.science.solvers.policy_stacks import SparseStack

if TYPE_CHECKING:
    import pandas as pd

DENSE_BYTES = 2**28
"""The size of a transition model up to which a sparse one is planned as a dense one, which is faster."""

MOST_STEPS = 10_000
"""The number of steps at one discount factor after which the policy iteration of a sparse model fails."""

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
            Gymnasium's dictionary, whose P[s][a] lists tuples of probability, next state, reward and whether the
            episode ends.
        R: Rewards: [S], [S, A] or [S, A, S]; for several models [S, A] or [S, A, S] for all alike, [M, S, A] or
            [M, S, A, S]. None with Gymnasium's dictionary, which contains them.
        gammas: Discount factors in [0, 1).

    Raises:
        ValueError: P and R are no model, or a discount factor is outside of [0, 1); the message names the first index.
    """
    if R is None:
        return from_gymnasium(P).plan(gammas)
    if _is_sparse(P) or (stack := _probabilities(P)).ndim != 4:
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
        R: Rewards, [S], [S, A] or [S, A, S].
        states: Names of the states; by default 0, 1, ...
        actions: Names of the actions; by default 0, 1, ...

    Raises:
        ValueError: P and R are no model; the message names the first wrong index.
    """
    if not _is_sparse(P):
        dense = _probabilities(P)
        if dense.ndim != 3:
            raise ValueError(f"P has to be [S, A, S] or sparse matrices, and its shape is {list(dense.shape)}")
        return _named(dense, _checked_rewards(dense, numbers(R, "R")), states, actions)
    rows = _rows(P)
    pairs, S = cast(tuple[int, int], rows.shape)
    A = pairs // max(S, 1)
    if pairs != S * A:
        raise ValueError(f"a sparse P has to be [S A, S], and its shape is {[pairs, S]}")
    if 8 * pairs * S <= DENSE_BYTES:
        return from_arrays(rows.toarray().reshape(S, A, S), R, states, actions)
    expected = numbers(R, "R")
    if expected.shape not in ((S,), (S, A)):
        raise ValueError(f"R has to be [S] or [S, A] = {[S, A]} with a large sparse P, and is {list(expected.shape)}")
    expected = np.repeat(expected[:, None], A, 1) if expected.ndim == 1 else expected
    _check_rows(rows, expected, A)
    return _named(rows, expected, states, actions)


def from_gymnasium(environment: Any, states: Names | None = None, actions: Names | None = None) -> Model:
    """Return the model of an environment with a table of transitions, such as Gymnasium's toy texts, or of the table.

    A state in which episodes end is never left, and pays nothing. Where other transitions lead there too, after which
    the episode goes on, ends lead to a state of their own instead, whose name is "end".

    Args:
        environment: An environment with `unwrapped.P`, or P itself: P[s][a] lists tuples of probability, next state,
            reward and whether the episode ends.
        states: Names of the states; by default 0, 1, ...
        actions: Names of the actions; by default 0, 1, ...

    Raises:
        ValueError: There is no such table, or it is no model.
    """
    if isinstance(environment, np.ndarray) or _is_sparse(environment):
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
    check_memory(8 * (S + extra) ** 2 * A, f"{S} states and {A} actions")
    P, R = np.zeros((S + extra, A, S + extra)), np.zeros((S + extra, A))
    np.add.at(P, (state, action, np.where(ends, S, following) if extra else following), probability)
    np.add.at(R, (state, action), probability * reward)
    for end in [S] if extra else set(ending.tolist()):
        P[end], R[end] = 0.0, 0.0
        P[end, :, end] = 1.0
    names = range(S) if states is None else states
    return _named(P, _checked_rewards(P, R), [*names, END] if extra else names, actions)


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


def _is_sparse(P: Any) -> bool:
    """Return whether P is a sparse matrix, or a sequence in which there is one."""
    return sparse.issparse(P) or (isinstance(P, list | tuple) and any(map(sparse.issparse, P)))


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


def _rows(P: Any) -> sparse.csr_array:
    """Return the rows of the pairs of a sparse model."""
    if sparse.issparse(P):
        return sparse.csr_array(P)
    matrices = list(P)
    for action, matrix in enumerate(matrices):
        if not sparse.issparse(matrix):
            raise ValueError(f"P[{action}] is no sparse matrix, and others are; all of them have to be")
    shapes = {matrix.shape for matrix in matrices}
    S = matrices[0].shape[1]
    if shapes != {(S, S)}:
        raise ValueError(f"the matrices of all actions have to be [S, S] = {[S, S]}, and their shapes are {shapes}")
    return sparse.csr_array(sparse.hstack(matrices).reshape(-1, S))


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


def _check_rows(rows: sparse.csr_array, R: Float[np.ndarray, "S A"], A: int) -> None:
    """Raise a ValueError that names the first wrong pair unless the rows of a sparse model are distributions."""
    total = np.asarray(rows.sum(1)).ravel()
    negative = np.asarray(rows.min(axis=1).todense()).ravel() < 0
    bad = ~(np.abs(total - 1.0) <= 64 * R.shape[0] * np.finfo(float).eps) | negative
    if bad.any():
        pair = int(bad.argmax())
        why = "an entry is negative" if negative[pair] else f"its sum is {float(total[pair])!r}"
        raise ValueError(f"P[{pair // A}, {pair % A}] is no distribution: {why}")
    evaluation.check_finite(R)


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
    return replace(found, policies=found.policies[0], values=found.values[0])


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
    return Plan(grid, policies, values, _changes(grid, policies, kept), tuple(states), tuple(actions))


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
    stack, every = SparseStack(cast(sparse.csr_array, model.P), model.R), np.ones(1, bool)
    policies, values = np.empty((1, len(gammas), len(model.R)), int), np.empty((len(gammas), len(model.R)))
    for g, gamma in enumerate(gammas):
        if all(stack.improve(gammas[[g]]).item() for _ in range(MOST_STEPS)):
            raise ArithmeticError(f"gamma = {gamma}: policy iteration does not end after {MOST_STEPS} steps")
        policies[:, g], values[g] = stack.policies(every), stack.V
    changes = _changes(gammas, policies, (policies[:, 1:] == policies[:, :-1]).all(-1))
    return Plan(gammas, policies[0], values, changes, model.states, model.actions)
