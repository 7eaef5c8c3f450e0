"""Order of axes of transition probabilities and rewards.

- An array [S, A, S] or [M, S, A, S] is `P[s, a, s']`; S = A gives a warning unless `axes` is set.
- An array [A, S, S] with S ≠ A is an error unless `axes="ass"`.
- A list of S x S matrices, dense or sparse, has one matrix per action.
- With `axes`, any of these is `[s, a, s']` (`sas`) or `[a, s, s']` (`ass`).
- Rewards [S, A] are `R[s, a]`; with `axes="ass"` also [A, S], where S ≠ A.
- Rewards with three axes follow `axes`, or the reading of P.
"""

import inspect
import warnings
from typing import Any, Literal

import numpy as np
from scipy import sparse

Axes = Literal["sas", "ass"]
"""The order of the axes: state, action, next state, or action, state, next state."""


class ReadingWarning(UserWarning):
    """A warning about the reading of an ambiguous input."""


def warn(line: str) -> None:
    """Issue a `ReadingWarning` located at the user's line of code."""
    level, frame = 1, inspect.currentframe()
    while frame is not None and str(frame.f_globals.get("__name__")).startswith(("pomrl.", "pomrl_logs.")):
        level, frame = level + 1, frame.f_back
    warnings.warn(line, ReadingWarning, stacklevel=level)


def is_object_array(values: Any) -> bool:
    """Return whether values are an array of objects."""
    return isinstance(values, np.ndarray) and values.dtype.kind == "O"


def is_list_of_matrices(values: Any) -> bool:
    """Return whether values are a sequence of matrices [S, S] by action."""
    if not isinstance(values, list | tuple) and not is_object_array(values):
        return False
    shapes = {matrix.shape if sparse.issparse(matrix) else np.shape(matrix) for matrix in values}
    return len(shapes) == 1 and len(shape := shapes.pop()) == 2 and shape[0] == shape[1]


def check_axes(axes: Any) -> None:
    """Raise a ValueError for an unknown order of axes."""
    if axes not in (None, "sas", "ass"):
        raise ValueError(f"axes must be 'sas' for [s, a, s'] or 'ass' for [a, s, s'], got {axes!r}")


def states_first(P: np.ndarray, axes: Axes | None, name: str = "P", *, by_action: bool = False) -> np.ndarray:
    """Reorder the axes of an array to [..., S, A, S].

    `by_action` marks a list of matrices, one per action. Of other arrays, without `axes`, S = A gives a
    `ReadingWarning`, and a shape [..., A, S, S] with S ≠ A a ValueError.
    """
    first, second, last = P.shape[-3:]
    if axes == "ass" or (axes is None and by_action):
        return P.swapaxes(-3, -2)
    if axes is None and first == second == last > 1:
        warn(
            f"{name} has S = A = {last} and was read as {name}[s, a, s']; set axes='ass' for {name}[a, s, s'], "
            "or axes='sas' to confirm"
        )
    if axes is None and first != second == last:
        raise ValueError(
            f"{name} must be [..., S, A, S], states before actions, got {list(P.shape)}; set axes='ass' for [a, s, s']"
        )
    return P
