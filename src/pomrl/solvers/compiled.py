"""The face of the compiled engine (`_engine.c`): policy iteration and evaluation for models of few states.

The engine does the operations of `policy_stacks.EliminationStack` and `elimination.eliminate` in the same order, and
its results have the same bits. It is built when the package is installed and a C compiler is there; without one, NumPy
does the same work, about a tenth as fast.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

import numpy as np
from jaxtyping import Float, Int16

from pomrl.components import Engine

try:
    from pomrl.solvers import _engine
except ImportError:  # there was no compiler when the package was installed
    _engine = None

_ENGINE: ContextVar[Engine] = ContextVar("engine", default="auto")


def is_built() -> bool:
    """Whether the compiled engine was built when the package was installed."""
    return _engine is not None


def check(engine: Engine) -> None:
    """Refuse an engine that is not here.

    Raises:
        ValueError: If `engine` is `compiled` and the engine was not built.
    """
    if engine == "compiled" and not is_built():
        raise ValueError(
            "execution.engine=compiled: the engine was not built when the package was installed; install a C compiler "
            "and the package again, or leave execution.engine at auto"
        )


def is_used() -> bool:
    """Whether small models are solved by the compiled engine at present."""
    return is_built() and _ENGINE.get() != "numpy"


@contextmanager
def using(engine: Engine) -> Iterator[None]:
    """Choose the engine for small models while the context lasts; `auto` takes the compiled one where it was built.

    Raises:
        ValueError: If `engine` is `compiled` and the engine was not built.
    """
    check(engine)
    token = _ENGINE.set(engine)
    try:
        yield
    finally:
        _ENGINE.reset(token)


def plan(
    P: Float[np.ndarray, "M S A S"],
    R: Float[np.ndarray, "M S A"],
    gammas: Float[np.ndarray, "M G"],
    tie_tolerance: float,
    patience: int,
) -> Int16[np.ndarray, "M G S"]:
    """Return optimal policies of M models at G discount factors each, by policy iteration from one to the next.

    Two actions are tied if their values differ by at most `tie_tolerance` max(1, max |R|) / (1 - gamma).

    Raises:
        ArithmeticError: If the policy of a model, which is named, changes more than `patience` times at a discount
            factor.
    """
    (M, S, A), G = R.shape, gammas.shape[1]
    policies = np.empty((M, G, S), np.int16)
    stuck = _engine.plan(*map(np.ascontiguousarray, (P, R, gammas)), policies, M, S, A, G, tie_tolerance, patience)
    if stuck >= 0:
        raise ArithmeticError(f"model {stuck}: policy iteration does not end")
    return policies


def evaluate(
    P_pi: Float[np.ndarray, "k S S"], R_pi: Float[np.ndarray, "k S"], gammas: Float[np.ndarray, " k"]
) -> Float[np.ndarray, "k S"]:
    """Return the values of k Markov chains with rewards, each at its own discount factor."""
    V = np.empty(R_pi.shape)
    _engine.evaluate(*map(np.ascontiguousarray, (P_pi, R_pi, gammas)), V, *R_pi.shape)
    return V
