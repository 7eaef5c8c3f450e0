"""The compiled engine: planning and evaluation of small models (`_compiled.c`), and of sparse ones (`_sparse.c`).

Results of small models are bit-identical to `policy_stacks.PolicyStack` and `evaluation.eliminate`, ten times as fast.
The engine also plans large models with narrow rows. It is built at installation if there is a C compiler.
"""

# SciPy's sparse matrices come without types.
# pyright: reportMissingTypeStubs=false

import hashlib
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import NamedTuple, TypeVar

import numpy as np
from jaxtyping import Float, Int, Int16
from scipy.sparse import csr_array

from pomrl.science.solvers import GammaGrid, ModelStack, RewardStack, action_ties, input_checks

ModuleT = TypeVar("ModuleT")

HEADER = Path(__file__).parents[1] / "_buffers.h"
"""The header of all C sources."""


def is_built_from(module: ModuleType | None, source: Path) -> bool:
    """Return whether a module was built from the present source and header."""
    if module is None or not (source.is_file() and HEADER.is_file()):
        return False
    return hashlib.sha256(HEADER.read_bytes() + source.read_bytes()).hexdigest() == module.SOURCE_DIGEST


try:
    from pomrl.science.solvers import _compiled, _sparse
except ImportError:  # there was no compiler when the package was installed
    _compiled = _sparse = None


@cache
def is_built() -> bool:
    """Return whether the engine was built from the present source."""
    return all(
        is_built_from(module, Path(__file__).with_name(source))
        for module, source in ((_compiled, "_compiled.c"), (_sparse, "_sparse.c"))
    )


def _built(module: ModuleT | None) -> ModuleT:
    if module is None:
        raise RuntimeError("the compiled engine was not built; install the package again with a C compiler")
    return module


def plan(
    P: ModelStack, R: RewardStack, gammas: GammaGrid, rounding: float, patience: int
) -> Int16[np.ndarray, "M G S"]:
    """Return optimal policies of M models at G discount factors each.

    `rounding` is `action_ties.ROUNDING_SHARE`. ArithmeticError: a policy changes more than `patience` times at one
    discount factor.
    """
    return _plan(P, R, gammas, rounding, patience, np.empty(0))


def plan_and_evaluate(
    P: ModelStack, R: RewardStack, gammas: GammaGrid, rounding: float, patience: int
) -> tuple[Int16[np.ndarray, "M G S"], Float[np.ndarray, "k M G S"]]:
    """Return the policies of `plan` and their values for `action_ties.signed_and_absolute`."""
    values = np.empty((1 + action_ties.have_both_signs(R), *gammas.shape, R.shape[1]))
    return _plan(P, R, gammas, rounding, patience, values), values


def _plan(
    P: ModelStack, R: RewardStack, gammas: GammaGrid, rounding: float, patience: int, values: Float[np.ndarray, "..."]
) -> Int16[np.ndarray, "M G S"]:
    (M, S, A), G = R.shape, gammas.shape[1]
    policies = np.empty((M, G, S), np.int16)
    P, R, gammas = input_checks.float64(P, "P"), input_checks.float64(R, "R"), input_checks.float64(gammas, "gammas")
    sides = 1 + action_ties.have_both_signs(R)
    stuck_model = _built(_compiled).plan(P, R, gammas, policies, values, M, S, A, G, sides, rounding, patience)
    if stuck_model >= 0:
        raise ArithmeticError(
            f"model {stuck_model}: policy iteration did not converge in {patience} steps at one gamma"
        )
    return policies


def evaluate(
    P_pi: Float[np.ndarray, "k S S"], R_pi: Float[np.ndarray, "k S"], gammas: Float[np.ndarray, " k"]
) -> Float[np.ndarray, "k S"]:
    """Return the values of k Markov chains, each at its discount factor."""
    k, S = R_pi.shape  # a chain is a model with one action
    return evaluate_policies(P_pi[:, :, None], R_pi[..., None], np.arange(k), np.zeros((k, S), np.int16), gammas)


def evaluate_policies(
    P: ModelStack,
    R: RewardStack,
    models: Int[np.ndarray, " k"],
    policies: Int[np.ndarray, "k S"],
    gammas: Float[np.ndarray, " k"],
) -> Float[np.ndarray, "k S"]:
    """Return the values of k policies, each on its model at its gamma."""
    V = np.empty(policies.shape)
    P, R, gammas = input_checks.float64(P, "P"), input_checks.float64(R, "R"), input_checks.float64(gammas, "gammas")
    models, policies = np.require(models, np.int64, ["C", "A"]), np.require(policies, np.int16, ["C", "A"])
    (k, S), A = policies.shape, R.shape[2]
    _built(_compiled).evaluate(P, R, models, policies, gammas, V, k, S, A)
    return V


FAILED, UNSORTED = 0, 2
"""Results of `improve_sparse`: an evaluation did not converge; states should be sorted before the next call."""


class SparseLimits(NamedTuple):
    """The limits of `improve_sparse`, in the order of the C function."""

    residual: float
    """Largest residual of an evaluation, in units of its right-hand side."""
    reduction: float
    """Reduction of the residual in an approximate evaluation."""
    rounding: float
    """`action_ties.ROUNDING_SHARE`."""
    noise: float
    """Rounding error of values with rewards of both signs."""
    steps: int
    """Steps of BiCGSTAB after each start."""
    starts: int
    """Starts of BiCGSTAB."""
    sweeps: int
    """Sweeps of improvement before the first evaluation."""
    rounds: int
    """Rounds of evaluation and improvement; 0: only evaluation."""
    misplaced: int
    """Number of transitions to a state out of order from which states should be sorted."""


def improve_sparse(
    rows: csr_array,
    R: Float[np.ndarray, "S A"],
    V: Float[np.ndarray, " S"],
    policy: Int16[np.ndarray, " S"],
    gamma: float,
    limits: SparseLimits,
) -> int:
    """Improve and evaluate a policy in place; row s A + a is pair (s, a).

    Returns:
        `FAILED`, `UNSORTED`, or 1.
    """
    starts, successors = rows.indptr.astype(np.int32, copy=False), rows.indices.astype(np.int32, copy=False)
    probabilities, (S, A) = np.asarray(rows.data, float), R.shape
    return _built(_sparse).improve(starts, successors, probabilities, R, V, policy, S, A, gamma, *limits)
