"""Convert Gymnasium transition tables to sparse rows and rewards."""

# SciPy's sparse matrices come without types.
# pyright: reportMissingTypeStubs=false

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from jaxtyping import Float, Int
from scipy import sparse


def read_table(table: Any) -> tuple[sparse.csr_array, Float[np.ndarray, "S A"], bool]:
    """Return rows `s A + a` of P, rewards, and whether an end state was added.

    Raises:
        ValueError: An entry is wrong; the message locates it.
    """
    state, action, probability, following, reward, is_end = _entries(table)
    S, A = len(table), int(action.max(initial=-1)) + 1
    is_idle = np.bincount(state, (following != state) | (reward != 0.0), S) == 0
    has_end = int((is_end & ~is_idle[following]).any())
    following, total = np.where(is_end & ~is_idle[following], S, following), S + has_end
    last = _ends_without_actions(state, action, following, is_end, S)
    ends = np.append(last, np.arange(S, total))
    pair = state * A + action
    weight = np.bincount(pair, probability, total * A)
    R = np.bincount(pair, probability * reward, total * A) / np.where(weight > 0.0, weight, 1.0)
    end_pairs = (ends[:, None] * A + np.arange(A)).ravel()
    indices = np.concatenate([pair, end_pairs]), np.concatenate([following, np.repeat(ends, A)])
    data = np.concatenate([probability, np.ones(len(end_pairs))])
    rows = sparse.csr_array((data, indices), shape=(total * A, total))
    return rows, R.reshape(total, A), bool(has_end)


def _ends_without_actions(
    state: np.ndarray, action: np.ndarray, following: np.ndarray, is_end: np.ndarray, S: int
) -> Int[np.ndarray, " k"]:
    """Return states without actions; ValueError if one is entered without an end."""
    ends = np.flatnonzero(np.bincount(state, minlength=S) == 0)
    goes_on = np.isin(following, ends) & ~is_end
    if goes_on.any():
        row = int(goes_on.argmax())
        raise ValueError(
            f"P[{state[row]}][{action[row]}] leads to state {following[row]}, which has no actions, without an end; "
            f"write True for terminated, or actions in P[{following[row]}]"
        )
    return ends


def make_environment(name: str) -> Any:
    """Make a Gymnasium environment; ValueError if unknown."""
    try:
        import gymnasium
    except ImportError as error:
        raise ValueError(f"{name}: gymnasium is not installed; run `pip install 'pomrl[families]'`") from error
    try:
        return gymnasium.make(name)
    except gymnasium.error.Error as error:
        raise ValueError(f"{name}: {' '.join(str(error).split())}") from error


def _entries(table: Any) -> list[np.ndarray]:
    """Return columns: state, action, probability, next state, reward, end."""
    if isinstance(table, Mapping) and (unknown := [name for name in table if name not in range(len(table))]):
        raise ValueError(
            f"the keys of P must be the states 0, ..., {len(table) - 1}, got {unknown[0]!r}; "
            "use numbers as keys, and names in states="
        )
    outcomes = [(s, a, *outcome) for s, a, outcome in _outcomes(table)]
    columns = list(zip(*outcomes, strict=True))
    if not columns:
        raise ValueError("P[s][a] must list tuples (probability, next state, reward, terminated), got none")
    S = len(table)
    for s, a, p, t, r, done in outcomes:
        if not _is_index(a, None):
            raise ValueError(
                f"the keys of P[{s}] must be actions 0, 1, ..., got {a!r}; use numbers as keys, and names in actions="
            )
        if not (_is_index(t, S) and _is_flag(done)):
            raise ValueError(
                f"P[{s}][{a}] must have a next state of 0, ..., {S - 1} and True or False for terminated, "
                f"got ({p!r}, {t!r}, {r!r}, {done!r})"
            )
    kinds = (int, int, float, int, float, bool)
    try:
        return [np.array(column, float).astype(kind) for column, kind in zip(columns, kinds, strict=True)]
    except ValueError as error:
        raise ValueError(f"P must have numbers as probabilities and rewards ({error})") from error


def _outcomes(table: Any) -> list[tuple[int, Any, Any]]:
    entries: list[tuple[int, Any, Any]] = []
    for s in range(len(table)):
        try:
            entries += [(s, a, outcome) for a in _actions(table[s]) for outcome in table[s][a]]
        except (LookupError, TypeError) as error:
            raise ValueError(
                f"P[{s}][a] must list tuples (probability, next state, reward, terminated) for each action a ({error})"
            ) from error
    for s, a, outcome in entries:
        if not (isinstance(outcome, Sequence | np.ndarray) and len(outcome) == 4):
            raise ValueError(
                f"P[{s}][{a}] must list tuples (probability, next state, reward, terminated), got {outcome!r}"
            )
    return entries


def _actions(outcomes: Any) -> Iterable[Any]:
    return outcomes if isinstance(outcomes, Mapping) else range(len(outcomes))


def _is_index(value: Any, count: int | None) -> bool:
    if isinstance(value, bool) or not isinstance(value, int | float | np.integer | np.floating):
        return False
    return bool(float(value).is_integer() and value >= 0 and (count is None or value < count))


def _is_flag(value: Any) -> bool:
    return isinstance(value, bool | np.bool_) or (isinstance(value, int | float | np.number) and value in (0, 1))
