"""Checks of the arguments of planning and evaluation.

Arrays become native doubles in C order, without a copy where possible.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
from jaxtyping import Float, Int16, Shaped

MAX_ACTIONS = int(np.iinfo(np.int16).max)
"""Largest number of actions; policies are 16-bit integers."""

_ROW_SUM_ULPS = 64.0
"""Largest distance of a row's sum from 1, in units of S times the machine epsilon."""


def float64(values: Shaped[np.ndarray, "..."] | Sequence[Any] | float, name: str) -> Float[np.ndarray, "..."]:
    """Convert numbers to native doubles; ValueError for dtypes without a safe cast."""
    array = np.asarray(values)
    if not np.can_cast(array.dtype, np.float64):
        raise ValueError(
            f"{name} must have a dtype with a safe cast to float64, got {array.dtype}; use np.asarray({name}, float)"
        )
    return np.require(array, np.float64, ["C", "A"])


def policies(values: Shaped[np.ndarray, "..."] | Sequence[Any], S: int, A: int) -> Int16[np.ndarray, "*n {S}"]:
    """Convert policies to 16-bit integers.

    ValueError unless they are integers 0, ..., A - 1 of shape [..., S].
    """
    array = np.asarray(values)
    if array.dtype.kind not in "iu":
        raise ValueError(f"policy must be an array of integers, got the dtype {array.dtype}")
    if array.shape[-1:] != (S,):
        raise ValueError(f"policy must be [..., S] with S = {S}, got {list(array.shape)}")
    if array.min(initial=0) < 0 or array.max(initial=0) >= A:
        refuse((array < 0) | (array >= A), array, "policy", f"is not one of the {A} actions")
    return array.astype(np.int16, copy=False)


def check_size(S: int, A: int) -> None:
    """Raise a ValueError unless S >= 1 and 1 <= A <= `MAX_ACTIONS`."""
    if S < 1:
        raise ValueError(f"S must be at least 1, got {S}")
    if not 1 <= A <= MAX_ACTIONS:
        raise ValueError(f"A must be between 1 and {MAX_ACTIONS}, got {A}")


def refuse(bad: np.ndarray, values: np.ndarray, name: str, reason: str) -> None:
    """Raise a ValueError with the first bad index and value, if any."""
    if bad.any():
        index = tuple(np.argwhere(bad)[0].tolist())
        raise ValueError(f"{name}{list(index)} = {values[index].item()!r} {reason}")


def check_models(P: Float[np.ndarray, "*n S A S"], R: Float[np.ndarray, "*n S A"]) -> None:
    """Raise a ValueError unless P and R are stacks of models and rewards.

    Rewards must be finite, probabilities at least 0, and rows must sum to 1 (`row_sum_tolerance`).
    """
    if R.shape != P.shape[:-1]:
        raise _shape_error(P, R)
    check_shapes(P, R)
    check_finite(R)
    if not P.min(initial=0.0) >= 0.0:  # also for NaN
        refuse(~(P >= 0.0), P, "P", "is not a probability")
    total, tolerance = row_sums(P)
    refuse(~(np.abs(total - 1.0) <= tolerance), total, "the sum of the row P", f"is not 1 (within {tolerance:.1e})")


def row_sums(P: Float[np.ndarray, "*n S A S"]) -> tuple[Float[np.ndarray, "*n S A"], float]:
    """Return the sums of the rows, and their tolerated distance from 1."""
    S = P.shape[-1]
    total = P.reshape(-1, S) @ np.ones(S)  # ten times as fast as a sum over a short axis
    return total.reshape(P.shape[:-1]), row_sum_tolerance(S)


def row_sum_tolerance(S: int) -> float:
    """Return the largest distance of a row's sum from 1 due to rounding."""
    return _ROW_SUM_ULPS * S * float(np.finfo(float).eps)


def check_shapes(P: Float[np.ndarray, "..."], R: Float[np.ndarray, "..."]) -> None:
    """Raise a ValueError unless shapes fit; leading axes may broadcast."""
    if P.ndim < 3 or R.ndim < 2 or P.shape[-1] != P.shape[-3] or R.shape[-2:] != P.shape[-3:-1]:
        raise _shape_error(P, R)
    check_size(*R.shape[-2:])


def _shape_error(P: Float[np.ndarray, "..."], R: Float[np.ndarray, "..."]) -> ValueError:
    return ValueError(f"P must be [..., S, A, S] and R [..., S, A], got {list(P.shape)} and {list(R.shape)}")


def check_finite(R: Float[np.ndarray, "..."]) -> None:
    """Raise a ValueError with the first infinite or NaN reward, if any."""
    refuse(~np.isfinite(R), R, "R", "is not finite")


def check_gammas(gammas: Float[np.ndarray, "..."], *, undiscounted: bool = False) -> None:
    """Raise a ValueError unless gammas are in [0, 1), or [0, 1] if `undiscounted`."""
    is_valid = (gammas >= 0.0) & ((gammas <= 1.0) if undiscounted else (gammas < 1.0))
    refuse(~is_valid, gammas, "gamma", f"is not in [0, 1{']' if undiscounted else ')'}")


def check_policies(policies: Any, shape: tuple[int, ...], A: int, planner: str) -> None:
    """Raise a ValueError unless policies have this shape and valid actions."""
    if not isinstance(policies, np.ndarray) or policies.dtype.kind not in "iu" or policies.shape != shape:
        kind = (
            f"{policies.dtype} {list(policies.shape)}" if isinstance(policies, np.ndarray) else type(policies).__name__
        )
        raise ValueError(f"{planner} must return an array of integers of shape {list(shape)}, got {kind}")
    if policies.min(initial=0) < 0 or policies.max(initial=0) >= A:
        bad = (policies < 0) | (policies >= A)
        refuse(bad, policies, f"{planner}: policy", f"is not one of the {A} actions")
