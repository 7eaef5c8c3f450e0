"""Models of one's own from files, which may be large and sparse."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from jaxtyping import Int
from scipy.sparse import csr_array, load_npz

from pomrl.models_and_logs.models import Model, Names, from_arrays
from pomrl.models_and_logs.tables import read_table
from pomrl.science.solvers.faces import float64


def from_file(file: str | Path, R: Any = None, states: Names | None = None, actions: Names | None = None) -> Model:
    """Return the model in a file, checked. No array of S² entries is made where few states follow each pair.

    A file .npz has P, [S, A, S], and R, [S], [S, A] or [S, A, S]; or it is what `scipy.sparse.save_npz` writes of a CSR
    matrix [S A, S] with row s A + a for the pair (s, a). A file .parquet or .csv has a row for each transition of
    positive probability, with the columns state, action, next_state, probability, and reward, which may depend on the
    next state. There, states and actions are integers that count from 0, or names of any kind, in the order of their
    first row.

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
    try:
        P, found, of_states, of_actions = _of_arrays(path) if path.suffix.lower() == ".npz" else _of_table(path)
        if (found is None) == (R is None):
            raise ValueError("it has no rewards: give R" if R is None else "it has rewards, and R is given as well")
        return from_arrays(P, found if R is None else R, states or of_states, actions or of_actions)
    except ValueError as error:
        raise ValueError(f"{path}: {error}") from error


def _of_arrays(path: Path) -> tuple[Any, Any, None, None]:
    """Return P and R of a file of NumPy's; R is None where there is none."""
    try:
        with np.load(path, allow_pickle=False) as arrays:
            if "P" in arrays:
                return arrays["P"], arrays.get("R"), None, None
        rows = load_npz(path)
        rows.check_format()
        return rows, None, None, None
    except Exception as error:  # NumPy and SciPy raise errors of many kinds where a file is damaged
        raise ValueError(f"it is no file of the format npz with a model ({' '.join(str(error).split())})") from error


def _of_table(path: Path) -> tuple[csr_array, Any, Names, Names]:
    """Return P, the expected rewards if there are any, and the names of states and actions of a long table."""
    rows = read_table(path)
    columns = ["state", "action", "next_state", "probability", *(["reward"] if "reward" in rows else [])]
    if missing := set(columns) - set(rows):
        raise ValueError(f"it lacks {', '.join(sorted(missing))}; there are {', '.join(map(str, rows))}")
    if (lacking := rows[columns].isna()).any(axis=None) or rows.empty:
        raise ValueError(
            f"row {int(lacking.any(axis=1).argmax())}: a value is missing" if len(rows) else "it has no rows"
        )
    (state, following), states = _indices(rows["state"], rows["next_state"])
    (action,), actions = _indices(rows["action"])
    S, A = len(states), len(actions)
    if len(rows) < S * A:  # before memory is taken for pairs that a wrong number makes up
        raise ValueError(f"{len(rows)} rows are too few for {S} states and {A} actions, of which each pair needs one")
    pair, probability = state * A + action, float64(rows["probability"].to_numpy(), "probability")
    P = csr_array((probability, (pair, following)), shape=(S * A, S))
    if "reward" not in rows:
        return P, None, states, actions
    paid = probability * float64(rows["reward"].to_numpy(), "reward")
    return P, np.bincount(pair, paid, S * A).reshape(S, A), states, actions


def _indices(*columns: "pd.Series[Any]") -> tuple[list[Int[np.ndarray, " n"]], Sequence[Any]]:
    """Return the indices of names in columns, and the names: integers as they are, others as they occur."""
    both = pd.concat(columns, ignore_index=True)
    if both.dtype.kind in "iu":
        return np.split(both.to_numpy(), len(columns)), range(int(both.max()) + 1)
    index, names = pd.factorize(both)
    return np.split(index, len(columns)), names.tolist()
