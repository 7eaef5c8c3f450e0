"""Tasks with models from a file."""

from functools import lru_cache
from pathlib import Path

import numpy as np

from pomrl.base import DataFile
from pomrl.science.model_axes import Axes, states_first, warn
from pomrl.science.tasks.distribution import Candidates, FiniteTasks


class Table(FiniteTasks):
    """Models from a file; each task has one of these, all equally likely.

    The npz file has P, [k, S, A, S] or [S, A, S], and R, [k, S, A] or [k, S, A, S]. R without k is shared by all
    models.
    """

    file: DataFile
    """An npz file with models; docs/beyond.md has the format."""
    axes: Axes | None = None
    """Order of axes: sas, or ass for P[a, s, s'] and R[a, s, s']; null: sas, with a warning where S = A."""

    @property
    def size(self) -> tuple[int, int]:
        _, S, A, _ = self.candidate_models().P.shape
        return S, A

    def candidate_models(self) -> Candidates:
        status = Path(self.file).stat()
        return _candidates(self.file, self.axes, status.st_mtime_ns, status.st_size)


@lru_cache(maxsize=2)
def _candidates(file: str, axes: Axes | None, _time: int, _size: int) -> Candidates:
    try:
        with np.load(file, allow_pickle=False) as arrays:
            P, R = arrays["P"], arrays["R"]
    except Exception as error:  # NumPy raises many types of errors for damaged files
        raise ValueError(f"{file}: not an npz file with the arrays P and R ({error})") from error
    try:
        P = states_first(P[None] if P.ndim == 3 else P, axes) if P.ndim in (3, 4) else P
        A, S = P.shape[-2:]
        if axes == "ass" and A == S > 1 and R.shape in ((S, A), (len(P), S, A)):
            warn(f"{file}: R has S = A = {A} and was read as R[s, a]; store R.swapaxes(-2, -1) if it is R[a, s]")
        elif axes == "ass" and R.shape[-3:] == (A, S, S):
            R = R.swapaxes(-3, -2)
        return Candidates(np.arange(len(P), dtype=float), P, R)
    except ValueError as error:
        raise ValueError(f"{file}: {error}") from error
