"""Convert, check and evaluate sparse models."""

# SciPy's sparse matrices come without types.
# pyright: reportMissingTypeStubs=false

from typing import Any, cast

import numpy as np
from jaxtyping import Bool, Float
from scipy import sparse

from pomrl.science.model_axes import Axes
from pomrl.science.solvers import input_checks
from pomrl.science.solvers import sparse as large

DENSE_BYTES = 2**28
"""Largest size of transition probabilities as an array, in bytes."""


def is_sparse(P: Any) -> bool:
    """Return whether P is sparse, or a sequence with a sparse matrix."""
    return sparse.issparse(P) or (isinstance(P, list | tuple) and any(map(sparse.issparse, P)))


def pair_rows(P: Any, axes: Axes | None = None, name: str = "P") -> sparse.csr_array:
    """Return a sparse model as a matrix of rows s A + a.

    P is one matrix [S A, S], or a matrix [S, S] for each action. With `axes="ass"`, rows of one matrix are a S + s.
    Other shapes raise a ValueError with `name`.
    """
    if sparse.issparse(P):
        S = P.shape[-1]
        if P.ndim != 2 or not S or P.shape[0] % S:
            raise ValueError(f"a sparse {name} must be [S A, S], got {list(P.shape)}")
        if axes == "ass":
            P = sparse.csr_array(P)[np.arange(P.shape[0]).reshape(-1, S).T.ravel()]
    else:
        S = P[0].shape[-1]
        for action, matrix in enumerate(P):
            if not sparse.issparse(matrix) or matrix.shape != (S, S):
                wrong = list(matrix.shape) if sparse.issparse(matrix) else type(matrix).__name__
                raise ValueError(f"{name}[{action}] must be a sparse matrix [S, S] = {[S, S]}, got {wrong}")
        P = sparse.hstack(P).reshape(-1, S)
    input_checks.float64(np.empty(0, P.dtype), name)
    rows = sparse.csr_array(P, dtype=float)
    input_checks.check_size(*model_size(rows))
    return rows


def model_size(rows: sparse.csr_array) -> tuple[int, int]:
    """Return S and A of a matrix [S A, S]."""
    pairs, S = cast(tuple[int, int], rows.shape)
    return S, pairs // S


def is_small(rows: sparse.csr_array) -> bool:
    """Return whether a dense array is within `DENSE_BYTES`, and faster."""
    S, A = model_size(rows)
    return 8 * S * A * S <= DENSE_BYTES and (S < large.SPARSE_STATES or rows.nnz > large.SPARSE_SHARE * S * A * S)


def dense(rows: sparse.csr_array) -> Float[np.ndarray, "S A S"]:
    """Return the rows as an array; ValueError above `DENSE_BYTES`."""
    S, A = model_size(rows)
    if 8 * S * A * S > DENSE_BYTES:
        limit = f"S A S must be at most {DENSE_BYTES // 8:,} for gamma = 1"
        raise ValueError(f"{limit}, got S = {S:,}, A = {A:,}; choose a gamma below 1")
    return rows.toarray().reshape(S, A, S)


def check_distributions(bad: Bool[np.ndarray, " pairs"], rows: sparse.csr_array, A: int) -> None:
    """Raise a ValueError with the first bad pair, if any."""
    if bad.any():
        first = int(bad.argmax())
        entries = rows.data[rows.indptr[first] : rows.indptr[first + 1]]
        pair, least, total = f"P[{first // A}, {first % A}]", entries.min().item(), entries.sum().item()
        raise ValueError(f"{pair} must be a distribution, got the sum {total!r} and the smallest entry {least!r}")


def chain_values(
    rows: sparse.csr_array, R: Float[np.ndarray, "S A"], weights: Float[np.ndarray, "S A"], gamma: float
) -> Float[np.ndarray, " S"]:
    """Return the values of a policy with action probabilities `weights`."""
    S, A = R.shape
    indices = np.repeat(np.arange(S), A), np.arange(S * A)
    chain = sparse.csr_array((weights.ravel(), indices), shape=(S, S * A)) @ rows
    return large.policy_values(chain, (weights * R).sum(1, keepdims=True), np.zeros((1, S), int), gamma)[0]
