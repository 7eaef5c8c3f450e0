"""The checks of shapes that the tests run with: the first calls of a function, in each test anew."""

import numpy as np
import pytest
from jaxtyping import Float, TypeCheckError, jaxtyped
from tests.support import shapes


@jaxtyped(typechecker=shapes.first_calls)
def same(x: Float[np.ndarray, " n"]) -> Float[np.ndarray, " n"]:
    return x


def test_each_test_checks_the_first_calls() -> None:
    wrong = np.zeros((2, 2))
    for _ in range(shapes.CHECKED):
        with pytest.raises(TypeCheckError):
            same(wrong)
    assert same(wrong) is wrong
    shapes.begin()
    with pytest.raises(TypeCheckError):
        same(wrong)
