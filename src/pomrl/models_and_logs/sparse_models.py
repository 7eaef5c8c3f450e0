"""Models of one's own as sparse matrices: their forms, their checks, and what a policy loses in them."""

# SciPy's sparse matrices come without types.
# pyright: reportMissingTypeStubs=false

from typing import Any, cast

import numpy as np
from jaxtyping import Float, Int
from scipy import sparse

from pomrl.science.mdp import LossNorm, check_gamma_eval
from pomrl.science.solvers import action_ties, evaluation, faces
from pomrl.science.solvers import sparse as large

DENSE_BYTES = 2**28
"""The size up to which transition probabilities that are no large sparse model are kept as an array."""


def is_sparse(P: Any) -> bool:
    """Return whether P is a sparse matrix, or a sequence in which there is one."""
    return sparse.issparse(P) or (isinstance(P, list | tuple) and any(map(sparse.issparse, P)))


def pairs_of(P: Any) -> sparse.csr_array:
    """Return the rows of all pairs, s A + a, of one matrix [S A, S] or of one matrix [S, S] for each action.

    Raises:
        ValueError: These are no such matrices; the message names the first wrong one.
    """
    if sparse.issparse(P):
        S = P.shape[-1]
        if P.ndim != 2 or not S or P.shape[0] % S:
            raise ValueError(f"a sparse P has to be [S A, S], and its shape is {list(P.shape)}")
    else:
        S = P[0].shape[-1]
        for action, matrix in enumerate(P):
            if not sparse.issparse(matrix) or matrix.shape != (S, S):
                raise ValueError(f"P[{action}] has to be a sparse matrix [S, S] = {[S, S]}, and is not")
        P = sparse.hstack(P).reshape(-1, S)
    faces.float64(np.empty(0, P.dtype), "P")
    rows = sparse.csr_array(P, dtype=float)
    faces.check_size(*size_of(rows))
    return rows


def size_of(rows: sparse.csr_array) -> tuple[int, int]:
    """Return the numbers S and A of the model whose pairs have these rows."""
    pairs, S = cast(tuple[int, int], rows.shape)
    return S, pairs // S


def is_small(rows: sparse.csr_array) -> bool:
    """Return whether a model is planned faster as an array: it has few states, or many positive entries."""
    S, A = size_of(rows)
    return 8 * S * A * S <= DENSE_BYTES and (S < large.LARGE or rows.nnz > large.SHARE * S * A * S)


def check_rewards(rows: sparse.csr_array, R: Any) -> Float[np.ndarray, "S A"]:
    """Check a model and its rewards, and return the expected reward of each pair.

    Args:
        rows: The rows of the pairs.
        R: Rewards, [S] or [S, A].

    Raises:
        ValueError: A row is no distribution, or rewards are not finite or of another shape; the message names the
            first wrong state and action.
    """
    S, A = size_of(rows)
    _check_rows(rows, S, A)
    expected = faces.float64(R, "R")
    if expected.shape not in ((S,), (S, A)):
        raise ValueError(f"R has to be [S] or [S, A] = {[S, A]} with a large sparse P, and is {list(expected.shape)}")
    expected = np.repeat(expected[:, None], A, 1) if expected.ndim == 1 else expected
    evaluation.check_finite(expected)
    return expected


def _check_rows(rows: sparse.csr_array, S: int, A: int) -> None:
    """Raise a ValueError that names the first wrong pair unless the rows of a sparse model are distributions."""
    pair = np.repeat(np.arange(S * A), np.diff(rows.indptr))
    bad = ~(np.abs(np.bincount(pair, rows.data, S * A) - 1.0) <= 64 * S * np.finfo(float).eps)
    bad[pair[~(rows.data >= 0.0)]] = True  # NaN is not either
    if bad.any():
        first = int(bad.argmax())
        entries = rows.data[rows.indptr[first] : rows.indptr[first + 1]]
        raise ValueError(f"P[{first // A}, {first % A}] is no distribution: it has the entries {entries.tolist()}")


def planning_losses(
    rows: sparse.csr_array,
    R: Float[np.ndarray, "S A"],
    policies: Int[np.ndarray, "G S"],
    gamma_eval: float,
    norm: LossNorm,
) -> Float[np.ndarray, " G"]:
    """Return the planning loss of policies in a sparse model; see `pomrl.science.mdp.planning_loss`."""
    check_gamma_eval(gamma_eval)
    by_action = large.by_action(rows, R.shape[1])
    different, which = np.unique(faces.policies(policies, *R.shape), axis=0, return_inverse=True)
    (best,) = large.plan(by_action, R, np.array([gamma_eval]))[1]
    V = large.policy_values(by_action, R, different, gamma_eval)
    both = action_ties.have_both_signs(R)
    size = large.policy_values(by_action, np.abs(R), different, gamma_eval) if both else np.abs(V)
    lost = action_ties.differences(best, V, size)
    return (lost.max(1) if norm == "max" else lost.mean(1))[which]
