"""Models of one's own as sparse matrices: their forms, their checks, and what a policy loses in them."""

# SciPy's sparse matrices come without types.
# pyright: reportMissingTypeStubs=false

from typing import Any, cast

import numpy as np
from jaxtyping import Float, Int
from scipy import sparse

from pomrl.science.mdp import LossNorm, check_gamma_eval
from pomrl.science.solvers import evaluation, faces
from pomrl.science.solvers import sparse as large

DENSE_BYTES = 2**28
"""The size up to which transition probabilities that are no large sparse model are kept as an array."""


def is_sparse(P: Any) -> bool:
    """Return whether P is a sparse matrix, or a sequence in which there is one."""
    return sparse.issparse(P) or (isinstance(P, list | tuple) and any(map(sparse.issparse, P)))


def pairs_of(P: Any, name: str = "P") -> sparse.csr_array:
    """Return the rows of all pairs, s A + a, of one matrix [S A, S] or of one matrix [S, S] for each action.

    Raises:
        ValueError: These are no such matrices; the message names the first wrong one.
    """
    matrices = [P] if sparse.issparse(P) else list(P)
    for action, matrix in enumerate(matrices):
        if not sparse.issparse(matrix):
            raise ValueError(f"{name}[{action}] is no sparse matrix, and others are; all of them have to be")
        if matrix.dtype != np.float64:
            faces.float64(np.empty(0, matrix.dtype), name)
    S = matrices[0].shape[-1]
    if sparse.issparse(P):
        if P.ndim != 2 or not S or P.shape[0] % S:
            raise ValueError(f"a sparse {name} has to be [S A, S], and its shape is {list(P.shape)}")
        rows = sparse.csr_array(P, dtype=float)
    else:
        wrong = [action for action, matrix in enumerate(matrices) if matrix.shape != (S, S)]
        if wrong:
            shape = list(matrices[wrong[0]].shape)
            raise ValueError(f"{name}[{wrong[0]}] has to be [S, S] = {[S, S]} as {name}[0], and its shape is {shape}")
        rows = sparse.csr_array(sparse.hstack(matrices, dtype=float).reshape(-1, S))
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


def checked_rewards(rows: sparse.csr_array, R: Any) -> Float[np.ndarray, "S A"]:
    """Return the expected rewards of pairs of a model, both of which are checked.

    Args:
        rows: The rows of the pairs.
        R: Rewards [S], [S, A], or those of transitions as sparse matrices in one of the forms of P.

    Raises:
        ValueError: A row is no distribution, or rewards are not finite or of another shape; the message names the
            first wrong state and action.
    """
    S, A = size_of(rows)
    _check_rows(rows, S, A)
    if is_sparse(R):
        given = pairs_of(R, "R")
        if size_of(given) != (S, A):
            raise ValueError(f"a sparse R has to be [S A, S] = {[S * A, S]} as P, and is not")
        expected = np.asarray((rows * given).sum(1)).reshape(S, A)
    else:
        expected = faces.float64(R, "R")
        if expected.shape not in ((S,), (S, A)):
            wanted = f"[S], [S, A] = {[S, A]} or sparse with a large sparse P"
            raise ValueError(f"R has to be {wanted}, and is {list(expected.shape)}")
        expected = np.repeat(expected[:, None], A, 1) if expected.ndim == 1 else expected
    evaluation.check_finite(expected)
    return expected


def _check_rows(rows: sparse.csr_array, S: int, A: int) -> None:
    """Raise a ValueError that names the first wrong pair unless the rows of a sparse model are distributions."""
    pair = np.repeat(np.arange(S * A), np.diff(rows.indptr))
    total = np.bincount(pair, rows.data, S * A)
    wrong = np.zeros(len(total), bool)
    wrong[pair[~(rows.data >= 0.0)]] = True  # NaN is not either
    bad = ~(np.abs(total - 1.0) <= 64 * S * np.finfo(float).eps) | wrong
    if bad.any():
        first = int(bad.argmax())
        entries = slice(rows.indptr[first], rows.indptr[first + 1])
        place = f"P[{first // A}, {first % A}] is no distribution"
        if wrong[first]:
            at = entries.start + int((~(rows.data[entries] >= 0.0)).argmax())
            entry = f"P[{first // A}, {first % A}, {int(rows.indices[at])}] = {float(rows.data[at])!r}"
            raise ValueError(f"{place}: {entry} is not a probability")
        if entries.start == entries.stop:
            raise ValueError(f"{place}: the action {first % A} leads nowhere in the state {first // A}")
        raise ValueError(f"{place}: its sum is {float(total[first])!r}")


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
    lost = np.abs(best - large.policy_values(by_action, R, different, gamma_eval))
    loss = lost.max(1) if norm == "max" else lost.mean(1)
    tolerance = evaluation.action_tie_tolerance(evaluation.magnitude(R[None]), gamma_eval)
    return np.where(loss <= tolerance, 0.0, loss)[which]
