"""Tasks whose models are listed in a file."""

from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from jaxtyping import Float, Int, Shaped

from pomrl.checks import DataFile, check_memory
from pomrl.science.mdp import Rewards
from pomrl.science.solvers import faces
from pomrl.science.tasks.families.family import Candidates, FiniteTasks

_INDICES = ["model", "state", "action", "next_state"]
_COLUMNS = [*_INDICES, "probability", "reward"]


class Table(FiniteTasks):
    """Models from a file, each of which a task has with the same chance.

    The file is NumPy's npz with P, [k, S, A, S] or [S, A, S] for one model, and R, [k, S, A] or [k, S, A, S], or
    [S, A] or [S, A, S] for all models alike; or parquet with a row for each transition of positive probability and the
    columns model, state, action, next_state, probability and reward, where all but the last two count from 0. It is
    checked when it is read.
    """

    file: DataFile
    """An npz or parquet file with models; docs/families.md has the format."""

    @property
    def size(self) -> tuple[int, int]:
        _, S, A, _ = self.candidate_models().P.shape
        return S, A

    def candidate_models(self) -> Candidates:
        status = Path(self.file).stat()
        return _candidates(self.file, status.st_mtime_ns, status.st_size)


@lru_cache(maxsize=2)
def _candidates(file: str, _time: int, _size: int) -> Candidates:
    """Return the models in a file; ValueError with one line that names the file and the first bad index."""
    try:
        P, R = _arrays(file) if file.lower().endswith(".npz") else _of_rows(_read_rows(file))
        return Candidates(np.arange(len(P), dtype=float), P, R)
    except ValueError as error:
        raise ValueError(f"{file}: {error}") from error


def _arrays(file: str) -> tuple[Shaped[np.ndarray, "..."], Shaped[np.ndarray, "..."]]:
    """Return the arrays P, with an axis for models, and R of an npz file."""
    try:
        with np.load(file, allow_pickle=False) as arrays:
            found = {name: arrays[name] for name in arrays.files}
    except Exception as error:  # NumPy raises errors of many kinds where a file is damaged
        raise ValueError(f"it is no file of NumPy's format npz with numbers ({error})") from error
    if missing := sorted({"P", "R"} - set(found)):
        raise ValueError(f"the array {missing[0]} is missing; it has {', '.join(sorted(found)) or 'none'}")
    P = found["P"]
    return P[None] if P.ndim == 3 else P, found["R"]


def _read_rows(file: str) -> "pd.DataFrame":
    if not file.lower().endswith(".parquet"):
        raise ValueError("the name of a file with models has to end with .npz or .parquet")
    try:
        return pd.read_parquet(file)
    except Exception as error:  # pandas and pyarrow raise errors of many kinds where a file is damaged
        raise ValueError(f"it is no file of the format parquet ({' '.join(str(error).split())})") from error


def _of_rows(rows: "pd.DataFrame") -> tuple[Float[np.ndarray, "k S A S"], Rewards]:
    """Return P and R(s, a, s') of rows with one transition each."""
    if missing := [column for column in _COLUMNS if column not in rows]:
        raise ValueError(f"the column {missing[0]} is missing; there are {', '.join(map(str, rows))}")
    for column in _COLUMNS:
        if (missing := rows[column].isna().to_numpy()).any():
            raise ValueError(f"row {int(missing.argmax())}: {column} is missing")
    for column in _INDICES:
        values: Any = rows[column].to_numpy()
        if values.dtype.kind not in "iu":
            raise ValueError(f"the column {column} has to be integers, and is {values.dtype}")
        if values.min(initial=0) < 0:
            raise ValueError(f"row {int(values.argmin())}: {column}={int(values.min())} is negative")
    if rows.empty:
        raise ValueError("it has no rows")
    if (twice := rows.duplicated(_INDICES).to_numpy()).any():
        raise ValueError(f"row {int(twice.argmax())}: this transition is there twice")
    index = tuple(rows[column].to_numpy() for column in _INDICES)
    k, S, A = _sizes(*index)
    P, R = np.zeros((2, k, S, A, S))
    P[index] = faces.float64(rows["probability"].to_numpy(), "probability")
    R[index] = faces.float64(rows["reward"].to_numpy(), "reward")
    return P, R


def _sizes(*index: Int[np.ndarray, " n"]) -> tuple[int, int, int]:
    """Return k, S and A; ValueError if memory does not suffice, or if a model, state or action has no row."""
    k, s, A, s_next = (int(column.max()) + 1 for column in index)
    S = max(s, s_next)
    largest = max(range(len(index)), key=lambda i: index[i].max())
    row = int(index[largest].argmax())
    check_memory(2 * 8 * k * S * A * S, f"row {row}: {_INDICES[largest]}={int(index[largest][row])}")
    for name, column, count in zip(_INDICES, index, (k, S, A), strict=False):
        if (lacking := np.setdiff1d(np.arange(count), column)).size:
            raise ValueError(f"there is no row for {name} {lacking[0]}; all of them count from 0")
    return k, S, A
