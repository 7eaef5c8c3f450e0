"""Models of one's own from files, which may be large and sparse."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from jaxtyping import Int
from scipy.sparse import csr_array

from pomrl.models_and_logs.models import Model, Names, from_arrays, numbers

_INDICES = ["state", "action", "next_state"]


def from_file(file: str | Path, R: Any = None, states: Names | None = None, actions: Names | None = None) -> Model:
    """Return the model in a file, checked. No array of S² entries is made where few states follow each pair.

    A file .npz has P, [S, A, S], or in its place `data`, `indices`, `indptr` and `shape` of a sparse matrix [S A, S]
    with row s A + a for the pair (s, a), as `scipy.sparse.save_npz` writes them; and R, [S], [S, A] or [S, A, S]. A
    file .parquet or .csv has a row for each transition of positive probability, with the columns state, action,
    next_state, probability, and reward, which may depend on the next state. There, states and actions are integers that
    count from 0, or names of any kind, in the order of their first row.

    Args:
        file: Its path.
        R: Rewards as `pomrl.plan` takes them, for a file without any.
        states: Names of the states, where the file has none.
        actions: Names of the actions, where the file has none.

    Raises:
        ValueError: The file cannot be read, or is no model; the message names the file, and the first wrong row, state
            and action.
    """
    path = Path(file)
    readers = {".npz": _of_arrays, ".parquet": _of_table, ".csv": _of_table}
    if path.suffix.lower() not in readers:
        raise ValueError(f"{path}: a model is a file that ends with .npz, .parquet or .csv")
    try:
        P, found, of_states, of_actions = readers[path.suffix.lower()](path)
        if (found is None) == (R is None):
            raise ValueError("it has no rewards: give R" if R is None else "it has rewards, and R is given as well")
        return from_arrays(P, found if R is None else R, states or of_states, actions or of_actions)
    except ValueError as error:
        raise ValueError(f"{path}: {error}") from error


def _of_arrays(path: Path) -> tuple[Any, Any, None, None]:
    """Return P and R of a file of NumPy's; R is None where there is none."""
    try:
        with np.load(path, allow_pickle=False) as arrays:
            found = {name: arrays[name] for name in arrays.files if name != "format"}
    except Exception as error:  # NumPy raises errors of many kinds where a file is damaged
        raise ValueError(f"it is no file of NumPy's format npz with numbers ({error})") from error
    if "P" in found:
        return found["P"], found.get("R"), None, None
    if missing := sorted({"data", "indices", "indptr", "shape"} - set(found)):
        raise ValueError(f"it has neither P nor {missing[0]}; it has {', '.join(sorted(found)) or 'nothing'}")
    parts = (numbers(found["data"], "data"), found["indices"], found["indptr"])
    rows = csr_array(parts, shape=tuple(found["shape"].tolist()))
    rows.check_format()
    return rows, found.get("R"), None, None


def _of_table(path: Path) -> tuple[csr_array, Any, Names, Names]:
    """Return P, the expected rewards if there are any, and the names of states and actions of a long table."""
    try:
        rows = pd.read_csv(path) if path.suffix.lower() == ".csv" else pd.read_parquet(path)
    except Exception as error:  # pandas and pyarrow raise errors of many kinds where a file is damaged
        raise ValueError(f"it cannot be read ({' '.join(str(error).split())})") from error
    columns = [*_INDICES, "probability", *(["reward"] if "reward" in rows else [])]
    if missing := [column for column in columns if column not in rows]:
        raise ValueError(f"the column {missing[0]} is missing; there are {', '.join(map(str, rows))}")
    for column in columns:
        if (lacking := rows[column].isna().to_numpy()).any():
            raise ValueError(f"row {int(lacking.argmax())}: {column} is missing")
    if rows.empty:
        raise ValueError("it has no rows")
    if (twice := rows.duplicated(_INDICES).to_numpy()).any():
        raise ValueError(f"row {int(twice.argmax())}: this transition is there twice")
    (state, following), states = _indices([rows["state"], rows["next_state"]])
    (action,), actions = _indices([rows["action"]])
    S, A = len(states), len(actions)
    pair, probability = state * A + action, numbers(rows["probability"].to_numpy(), "probability")
    if len(rows) < S * A:  # before memory is taken for pairs that a wrong number makes up
        present = np.unique(pair)
        gap = int((np.append(present, -1) != np.arange(len(present) + 1)).argmax())
        raise ValueError(f"there is no row for state {states[gap // A]!r} and action {actions[gap % A]!r}")
    P = csr_array((probability, (pair, following)), shape=(S * A, S))
    if "reward" not in rows:
        return P, None, states, actions
    paid = probability * numbers(rows["reward"].to_numpy(), "reward")
    return P, np.bincount(pair, paid, S * A).reshape(S, A), states, actions


def _indices(columns: Sequence["pd.Series[Any]"]) -> tuple[list[Int[np.ndarray, " n"]], Sequence[Any]]:
    """Return the indices of names in columns, and the names: integers as they are, others as they occur."""
    if all(column.dtype.kind in "iu" for column in columns):
        values: list[Any] = [column.to_numpy() for column in columns]
        for column, value in zip(columns, values, strict=True):
            if value.min() < 0:
                raise ValueError(f"row {int(value.argmin())}: {column.name}={int(value.min())} is negative")
        return values, range(int(max(value.max() for value in values)) + 1)
    index, names = pd.factorize(pd.concat(columns, ignore_index=True))
    return np.split(index, len(columns)), names.tolist()
