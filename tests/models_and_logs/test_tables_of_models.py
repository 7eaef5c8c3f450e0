"""Models of somebody else's in a file: the example is one, and a bad file is refused in one line."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from examples.models import FILE, models

from pomrl.science.tasks.families.table import Table

Arrays = dict[str, np.ndarray]


def elevators() -> Arrays:
    """Two floors, and being stuck between them; tasks differ in how often the lift sticks. The stairs are safe."""
    stuck = np.array([0.1, 0.2, 0.5])
    P, R = np.zeros((3, 3, 2, 3)), np.zeros((3, 3, 2, 3))
    for floor in range(2):
        P[:, floor, 0, 1 - floor], P[:, floor, 0, 2], P[:, floor, 1, 1 - floor] = 1 - stuck, stuck, 1
        R[:, floor, 0, 1 - floor], R[:, floor, 0, 2], R[:, floor, 1, 1 - floor] = 100, -300, 50
    P[:, 2, :, 0] = 1
    return {"P": P, "R": R}


def test_the_file_of_the_example_is_what_the_example_writes() -> None:
    candidates = Table(file=str(FILE)).candidate_models()
    np.testing.assert_allclose(candidates.P, models()["P"], rtol=0, atol=1e-15)
    np.testing.assert_array_equal(candidates.R[0], models()["R"])


def changed(name: str, index: tuple[int, ...], value: float) -> Callable[[], Arrays]:
    def arrays() -> Arrays:
        arrays = elevators()
        arrays[name][index] = value
        return arrays

    return arrays


BAD_ARRAYS = {
    "a row's sum": (changed("P", (2, 0, 1, 2), 0.9), r"the sum of the row P\[2, 0, 1\] = .* is not 1"),
    "a reward": (changed("R", (0, 2, 1, 2), np.nan), r"R\[0, 2, 1\] = nan is not finite"),
    "no rewards": (lambda: {"P": elevators()["P"]}, "it is no file of NumPy's format npz with the arrays P and R"),
    "a probability that is NaN": (changed("P", (1, 0, 1, 2), np.nan), r"P\[1, 0, 1, 2\] = nan is not a probability"),
    "the shape of R": (lambda: {"P": elevators()["P"], "R": np.ones((2, 3))}, r"R has to be .* and is \[2, 3\]"),
}


@pytest.mark.parametrize("name", BAD_ARRAYS)
def test_bad_arrays_are_refused_in_one_line(name: str, tmp_path: Path) -> None:
    arrays, message = BAD_ARRAYS[name]
    np.savez(tmp_path / "bad.npz", allow_pickle=False, **arrays())
    with pytest.raises(ValueError, match=rf"bad\.npz: {message}") as error:
        Table(file=str(tmp_path / "bad.npz")).candidate_models()
    assert "\n" not in str(error.value)
