"""Models of one's own: from arrays, from sparse matrices or from Gymnasium's tables, and planning with them.

`plan` takes whatever describes an MDP, and returns the optimal policies and their values for a grid of discount
factors, as arrays and as tables with named columns. `from_arrays` and `from_gymnasium` keep the names of states and
actions.
"""

# SciPy's sparse linear algebra comes without types.
# pyright: reportMissingTypeStubs=false

from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from jaxtyping import Float, Int
from scipy import sparse

from pomrl.models_and_logs import sparse_models
from pomrl.science.mdp import LossNorm, check_gamma_eval, expected_rewards, for_each_model, planning_loss
from pomrl.science.planners import PolicyIteration
from pomrl.science.solvers import evaluation
from pomrl.science.solvers import sparse as large
from pomrl.science.solvers.faces import float64

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

    def __repr__(self) -> str:
        kind = "dense" if isinstance(self.P, np.ndarray) else "sparse"
        return f"Model(states={len(self.states)}, actions={len(self.actions)}, {kind})"

    def plan(self, gammas: Sequence[float] | np.ndarray) -> "Plan":
        """Return optimal policies and values at discount factors in [0, 1); see `pomrl.plan`."""
        grid = ascending(gammas)
        if isinstance(self.P, np.ndarray):
            policies, values = (of_stack[0] for of_stack in _plans(self.P[None], self.R[None], grid))
        else:
            policies, values = large.plan(large.by_action(self.P, len(self.actions)), self.R, grid)
        return Plan(grid, policies, values, self.states, self.actions)

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


@dataclass(frozen=True, eq=False)
class Plan:
    """Optimal policies and their values, for one model or for each of M models."""

    gammas: Float[np.ndarray, " G"]
    """The discount factors, ascending."""
    policies: Int[np.ndarray, "*M G S"]
    """The index of the action in each state."""
    values: Float[np.ndarray, "*M G S"]
    """The expected discounted sum of rewards from each state, at the same discount factor, in the units of rewards."""
    states: tuple[Hashable, ...]
    actions: tuple[Hashable, ...]

    def __repr__(self) -> str:
        models = "" if self.policies.ndim == 2 else f"models={len(self.policies)}, "
        gammas = ", ".join(f"{gamma:g}" for gamma in self.gammas[:5]) + ", ..." * (len(self.gammas) > 5)
        return f"Plan({models}states={len(self.states)}, actions={len(self.actions)}, gammas=[{gammas}])"

    @property
    def changes(self) -> "pd.DataFrame":
        """The neighbouring discount factors between which the optimal policy changes.

        The columns are model, below and above, and states, the number of states in which the action differs. A policy
        that is as good at the larger discount factor does not change there.
        """
        import pandas as pd  # here, because planning needs no tables, and pandas takes long to load

        policies = self.policies.reshape(-1, *self.policies.shape[-2:])
        states = (policies[:, 1:] != policies[:, :-1]).sum(-1)
        model, g = np.nonzero(states)
        columns = {"model": model, "below": self.gammas[g], "above": self.gammas[g + 1], "states": states[model, g]}
        return pd.DataFrame(columns)

    def table(self) -> "pd.DataFrame":
        """Return a row for each model, discount factor and state, with columns model, gamma, state, action, value."""
        import pandas as pd

        G, S = self.policies.shape[-2:]
        index = pd.MultiIndex.from_product([range(self.policies.size // (G * S)), self.gammas, range(S)])
        table = index.to_frame(index=False, name=["model", "gamma", "state"])
        return table.assign(
            state=pd.Series(self.states, dtype=object)[table["state"]].to_numpy(),
            action=pd.Series(self.actions, dtype=object)[self.policies.ravel()].to_numpy(),
            value=self.values.ravel(),
        )


def plan(P: Any, R: Any, gammas: Sequence[float] | np.ndarray) -> Plan:
    """Return the optimal policies of one model or of several, at each of several discount factors.

    Args:
        P: Transition probabilities: an array [S, A, S], or [M, S, A, S] for M models; a SciPy sparse matrix [S A, S]
            with row s A + a for the pair (s, a), or a sequence of one sparse matrix [S, S] for each action; or
            Gymnasium's dictionary, whose `P[s][a]` lists tuples of probability, next state, reward and whether the
            episode ends.
        R: Rewards: [S], [S, A] or [S, A, S], the last not with a large sparse P; for several models [S, A] or [S, A, S]
            for all alike, [M, S, A] or [M, S, A, S]. None with Gymnasium's dictionary, which contains them.
        gammas: Discount factors in [0, 1).

    Raises:
        ValueError: P and R are no model, or a discount factor is outside of [0, 1); the message names the first index.
    """
    if R is None:
        return from_gymnasium(P).plan(gammas)
    if sparse_models.is_sparse(P) or (stack := float64(P, "P")).ndim != 4:
        return from_arrays(P, R).plan(gammas)
    rewards = for_each_model(float64(R, "R"), stack)
    if rewards.shape[:1] != stack.shape[:1] or rewards.ndim < 3:
        shapes = f"{list(stack.shape)}, {list(rewards.shape)}"
        raise ValueError(f"P and R have to have the same models, and their shapes are {shapes}")
    S, A = stack.shape[1:3]
    grid = ascending(gammas)
    policies, values = _plans(stack, _check_rewards(stack, rewards), grid)
    return Plan(grid, policies, values, tuple(range(S)), tuple(range(A)))


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
    if sparse_models.is_sparse(P):
        rows = sparse_models.pairs_of(P)
        S, A = sparse_models.size_of(rows)
        if not sparse_models.is_small(rows):
            return _make_model(rows, sparse_models.check_rewards(rows, R), states, actions)
        P = rows.toarray().reshape(S, A, S)
    dense = float64(P, "P")
    if dense.ndim != 3:
        raise ValueError(f"P has to be [S, A, S] or sparse matrices, and its shape is {list(dense.shape)}")
    return _make_model(dense, _check_rewards(dense, float64(R, "R")), states, actions)


def from_gymnasium(environment: Any, states: Names | None = None, actions: Names | None = None) -> Model:
    """Return the model of an environment with a table of transitions, such as Gymnasium's toy texts, or of the table.

    A state in which episodes end is never left, and pays nothing. Where other transitions lead there too, after which
    the episode goes on, ends lead to a state of their own instead, whose name is "end".

    Args:
        environment: An environment with `unwrapped.P`, its id, such as "FrozenLake-v1", or P itself: `P[s][a]` lists
            tuples of probability, next state, reward and whether the episode ends.
        states: Names of the states; by default 0, 1, ...
        actions: Names of the actions; by default 0, 1, ...

    Raises:
        ValueError: There is no such environment or table, or it is no model.
    """
    table = environment
    if isinstance(environment, str):
        table = environment = _make_environment(environment)
    if (
        not isinstance(table, Mapping | list)
        and (table := getattr(getattr(table, "unwrapped", table), "P", None)) is None
    ):
        name = type(environment).__name__
        raise ValueError(f"{name} has no table of transitions P; arrays and matrices need rewards R")
    state, action, probability, following, reward, ends = _entries(table)
    S, A = len(table), int(action.max(initial=-1)) + 1
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


def _make_environment(name: str) -> Any:
    """Return the environment with this id, if Gymnasium is installed and has it."""
    try:
        import gymnasium
    except ImportError as error:
        raise ValueError(f"{name}: gymnasium is not installed; pip install 'pomrl[families]' installs it") from error
    try:
        return gymnasium.make(name)
    except gymnasium.error.Error as error:
        raise ValueError(f"{name}: {' '.join(str(error).split())}") from error


def _entries(table: Any) -> list[np.ndarray]:
    """Return the columns of Gymnasium's table: state, action, probability, next state, reward, end of the episode."""
    try:
        rows = [(s, a, *outcome) for s in range(len(table)) for a in range(len(table[s])) for outcome in table[s][a]]
        columns = np.array(rows, float).reshape(-1, 6).T
    except (LookupError, TypeError, ValueError) as error:
        raise ValueError(f"P[s][a] has to list tuples of probability, next state, reward and end ({error})") from error
    return [column.astype(kind) for column, kind in zip(columns, (int, int, float, int, float, bool), strict=True)]


def _check_rewards(P: Float[np.ndarray, "..."], R: Float[np.ndarray, "..."]) -> Float[np.ndarray, "*M S A"]:
    """Return the expected rewards of pairs, of models that are checked with them."""
    if P.shape[-3] != P.shape[-1]:
        raise ValueError(f"P has to be [..., S, A, S], and is {list(P.shape)}: states come before actions")
    # Before rewards of transitions, because a wrong probability would make wrong expected rewards.
    evaluation.check_models(P, np.zeros(P.shape[:-1]))
    if R.shape == P.shape:
        evaluation.check_finite(R)
        R = expected_rewards(R, P)
    elif R.shape == P.shape[:1]:
        R = np.repeat(R[:, None], P.shape[-2], 1)
    evaluation.check_models(P, R)
    return R


def _make_model(P: Any, R: Float[np.ndarray, "S A"], states: Names | None, actions: Names | None) -> Model:
    S, A = R.shape
    return Model(P, R, _check_names("states", states, S), _check_names("actions", actions, A))


def _check_names(what: str, names: Names | None, count: int) -> tuple[Hashable, ...]:
    """Return the names of states or actions; ValueError unless there are so many and all are different."""
    found = tuple(range(count) if names is None else names)
    if len(found) != count or len(set(found)) != count:
        raise ValueError(f"there have to be {count} different names of {what}, and they are {list(found)}")
    return found


def ascending(gammas: Any) -> Float[np.ndarray, " G"]:
    """Return discount factors in ascending order, each once; ValueError if there are none, or one is wrong."""
    found = float64(gammas, "gammas")
    if found.ndim != 1 or not found.size:
        raise ValueError(f"gammas have to be a sequence of discount factors, and their shape is {list(found.shape)}")
    evaluation.check_gammas(found)
    return np.unique(found)


def _plans(
    P: Float[np.ndarray, "M S A S"], R: Float[np.ndarray, "M S A"], gammas: Float[np.ndarray, " G"]
) -> tuple[Int[np.ndarray, "M G S"], Float[np.ndarray, "M G S"]]:
    """Return policies and values of models; a policy changes from one discount factor to the next only if it has to."""
    policies = PolicyIteration().plan(P, R, gammas)
    values = [evaluation.policy_value(P, R, policies[:, g], gamma) for g, gamma in enumerate(gammas)]
    return policies, np.stack(values, axis=1)
