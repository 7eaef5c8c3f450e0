"""Order of axes of transition probabilities and rewards.

| input | reading |
|---|---|
| an array [S, A, S], or [M, S, A, S] | `P[s, a, s']` |
| an array with S = A | `P[s, a, s']`, with a warning unless `axes` is given |
| an array [A, S, S] with S ≠ A | an error: `axes="ass"` reads it |
| a list of S x S matrices, dense or sparse | one matrix for each action |
| any of these with `axes="sas"` or `axes="ass"` | `[s, a, s']` or `[a, s, s']` |
| rewards [S, A] | `R[s, a]`; with `axes="ass"` also [A, S], where S ≠ A |
| rewards with three axes | in the order of `axes`, or as P is read |
"""

import inspect
import warnings
from typing import Any, Literal

import numpy as np
from scipy import sparse

Axes = Literal["sas", "ass"]
"""The order of the axes: state, action, next state, or action, state, next state."""


class ReadingWarning(UserWarning):
    """Warns of the reading of an ambiguous input."""


def warn(line: str) -> None:
    """Warn of an input's reading, at the caller's line outside this package."""
    level, frame = 1, inspect.currentframe()
    while frame is not None and str(frame.f_globals.get("__name__")).startswith(("pomrl.", "pomrl_logs.")):
        level, frame = level + 1, frame.f_back
    warnings.warn(line, ReadingWarning, stacklevel=level)


def is_object_array(values: Any) -> bool:
    """Return whether this is an array of objects."""
    return isinstance(values, np.ndarray) and values.dtype.kind == "O"


def is_list_of_matrices(values: Any) -> bool:
    """Return whether these are matrices [S, S] in a sequence, by action."""
    if not isinstance(values, list | tuple) and not is_object_array(values):
        return False
    shapes = {matrix.shape if sparse.issparse(matrix) else np.shape(matrix) for matrix in values}
    return len(shapes) == 1 and len(shape := shapes.pop()) == 2 and shape[0] == shape[1]


def check_axes(axes: Any) -> None:
    """Check the order of axes."""
    if axes not in (None, "sas", "ass"):
        raise ValueError(f"axes must be 'sas' for [s, a, s'] or 'ass' for [a, s, s'], got {axes!r}")


def states_first(P: np.ndarray, axes: Axes | None, name: str = "P", *, by_action: bool = False) -> np.ndarray:
    """Return an array [..., S, A, S], from the order in the table above.

    Messages call it `name`; `by_action` states that it was a list of matrices, one for each action. ValueError: actions
    seem to come before states, without `axes`.
    """
    first, second, last = P.shape[-3:]
    if axes == "ass" or (axes is None and by_action):
        return P.swapaxes(-3, -2)
    if axes is None and first == second == last > 1:
        warn(
            f"{name} has S = A = {last} and was read as {name}[s, a, s']; axes='ass' reads {name}[a, s, s'], "
            "axes='sas' says that it is right"
        )
    if axes is None and first != second == last:
        raise ValueError(
            f"{name} must be [..., S, A, S], states before actions, got {list(P.shape)}; axes='ass' reads [a, s, s']"
        )
    return P
