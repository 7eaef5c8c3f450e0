"""Models of somebody else's in a file: the example is one, and a bad file is refused in one line."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from examples.models import FILE, models

from pomrl.science.tasks.table import Table

Arrays = dict[str, np.ndarray]


def test_the_example_file_is_what_it_writes() -> None:
    candidates = Table(file=str(FILE)).candidate_models()
    np.testing.assert_allclose(candidates.P, models()["P"], rtol=0, atol=1e-15)
    np.testing.assert_array_equal(candidates.R[0], models()["R"])


def changed(name: str, index: tuple[int, ...], value: float) -> Callable[[], Arrays]:
    def arrays() -> Arrays:
        arrays = models()
        arrays[name][index] = value
        return arrays

    return arrays


BAD_ARRAYS = {
    "a row's sum": (changed("P", (2, 0, 1, 2), 0.9), r"the sum of the row P\[2, 0, 1\] = .* is not 1"),
    "a reward": (changed("R", (2, 1), np.nan), r"R\[.*2, 1\] = nan is not finite"),
    "no rewards": (lambda: {"P": models()["P"]}, "not an npz file with the arrays P and R"),
    "the shape of R": (lambda: {"P": models()["P"], "R": np.ones((2, 3))}, r"R must be .*, got \[2, 3\]"),
}


@pytest.mark.parametrize("name", BAD_ARRAYS)
def test_bad_arrays_are_refused_in_one_line(name: str, tmp_path: Path) -> None:
    arrays, message = BAD_ARRAYS[name]
    np.savez(tmp_path / "bad.npz", allow_pickle=False, **arrays())
    with pytest.raises(ValueError, match=rf"bad\.npz: {message}") as error:
        Table(file=str(tmp_path / "bad.npz")).candidate_models()
    assert "\n" not in str(error.value)
