"""The compiled engine (`_compiled.c`): planning and evaluation of small models.

Results are bit-identical to `policy_stacks.PolicyStack` and `evaluation.eliminate`, ten times as fast. The engine also
plans large models with narrow rows. It is built at installation if there is a C compiler.
"""

import hashlib
from functools import cache
from pathlib import Path
from types import ModuleType

import numpy as np
from jaxtyping import Float, Int, Int16

from pomrl.science.solvers import GammaGrid, ModelStack, RewardStack, action_ties, input_checks

HEADER = Path(__file__).parents[1] / "_buffers.h"
"""The header of all C sources."""


def is_built_from(module: ModuleType | None, source: Path) -> bool:
    """Return whether a module was built from the present source and header."""
    if module is None or not (source.is_file() and HEADER.is_file()):
        return False
    return hashlib.sha256(HEADER.read_bytes() + source.read_bytes()).hexdigest() == module.SOURCE_DIGEST


try:
    from pomrl.science.solvers import _compiled
except ImportError:  # there was no compiler when the package was installed
    _compiled = None


@cache
def is_built() -> bool:
    """Return whether the engine was built from the present source."""
    return is_built_from(_compiled, Path(__file__).with_name("_compiled.c"))


def _built():  # without annotation, so that pyright takes the type from `_compiled.pyi`
    if _compiled is None:
        raise RuntimeError("the compiled engine was not built; install the package again with a C compiler")
    return _compiled


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
    stuck_model = _built().plan(P, R, gammas, policies, values, M, S, A, G, sides, rounding, patience)
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
    _built().evaluate(P, R, models, policies, gammas, V, k, S, A)
    return V
