"""The face of planning and evaluation: what callers give becomes what both engines compute with, or is refused.

Both engines compute with native doubles in C's order, and store actions as 16-bit integers. An array of another kind is
converted here where that is exact, so that the engines have the same results for it, and is refused in one line
otherwise. An array that is right already is returned as it is, without a copy.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
from jaxtyping import Float, Int16, Shaped

MOST_ACTIONS = int(np.iinfo(np.int16).max)
"""The largest number of actions that a model may have, because policies are stored as 16-bit integers."""


def float64(values: Shaped[np.ndarray, "..."] | Sequence[Any] | float, name: str) -> Float[np.ndarray, "..."]:
    """Return numbers as native doubles, aligned and in C's order.

    Args:
        values: An array, nested sequences of numbers, or a number.
        name: What a message calls them.

    Raises:
        ValueError: If doubles do not hold all numbers of this kind, as those of long double, complex numbers, objects
            and texts.
    """
    array = np.asarray(values)
    if not np.can_cast(array.dtype, np.float64):
        raise ValueError(f"{name} has the dtype {array.dtype}, which float64 does not hold exactly; convert it first")
    return np.require(array, np.float64, ["C", "A"])


def policies(values: Shaped[np.ndarray, "..."] | Sequence[Any], S: int, A: int) -> Int16[np.ndarray, "*n {S}"]:
    """Return the actions that policies take in each state as 16-bit integers.

    Args:
        values: An array of integers of any kind, or nested sequences of them; its last axis are the states.
        S: Number of states.
        A: Number of actions, at most `MOST_ACTIONS`.

    Raises:
        ValueError: If they are not integers, are not S for each policy, or are not between 0 and A - 1; the message
            names the first bad index.
    """
    array = np.asarray(values)
    if array.dtype.kind not in "iu":
        raise ValueError(f"policy has the dtype {array.dtype}; it has to be an array of integers")
    if array.shape[-1:] != (S,):
        raise ValueError(f"policy must be [..., S] with S = {S}, but its shape is {array.shape}")
    if array.min(initial=0) < 0 or array.max(initial=0) >= A:
        refuse((array < 0) | (array >= A), array, "policy", f"is not one of the {A} actions")
    return array.astype(np.int16, copy=False)


def check_size(S: int, A: int) -> None:
    """Refuse numbers of states and actions that no model has.

    Raises:
        ValueError: Unless there is a state, and between 1 and `MOST_ACTIONS` actions.
    """
    if S < 1:
        raise ValueError(f"S = {S}: a model has to have at least one state")
    if not 1 <= A <= MOST_ACTIONS:
        raise ValueError(f"A = {A}: a model has to have at least one action, and at most {MOST_ACTIONS}")


def refuse(bad: np.ndarray, values: np.ndarray, name: str, why: str) -> None:
    """Raise a ValueError with the index and the value of the first bad entry, if there is one."""
    if bad.any():
        index = tuple(np.argwhere(bad)[0].tolist())
        raise ValueError(f"{name}{list(index)} = {values[index].item()!r} {why}")
