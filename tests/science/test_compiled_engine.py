"""The compiled engine has the bits of the NumPy engine, on every kind of model that it serves."""

import os
from collections.abc import Callable
from unittest.mock import patch

import numpy as np
import pytest
from tests.support.engine_fuzzer import assert_engines_agree

from pomrl.science.solvers import compiled
from pomrl.science.solvers.evaluation import ELIMINATED_STATES, chain_value

built = pytest.mark.skipif(not compiled.is_built(), reason="the engine was not built, as POMRL_NO_ENGINE=1 allows")


def with_engines(call: Callable[[], np.ndarray]) -> tuple[np.ndarray, np.ndarray]:
    """Return the results of the compiled engine and of NumPy's."""
    ours = call()
    with patch.object(compiled, "is_built", lambda: False):
        return ours, call()


def test_the_engine_was_built_unless_its_absence_is_meant() -> None:
    assert compiled.is_built() or os.environ.get("POMRL_NO_ENGINE") == "1", (
        "the compiled engine was not built; POMRL_NO_ENGINE=1 says that this is meant"
    )


@built
@pytest.mark.parametrize("seed", range(4))
def test_results_and_errors_are_the_same_to_the_last_bit_whatever_the_arguments(seed: int) -> None:
    ends = [end for case in range(40) for end in assert_engines_agree(np.random.default_rng((seed, case)))]
    assert min(ends.count("result"), ends.count("error")) > 20


@built
@pytest.mark.parametrize("S", range(1, ELIMINATED_STATES + 1))
def test_values_of_chains_have_the_same_bits_at_every_size(S: int) -> None:
    rng = np.random.default_rng(S)
    P, R, gammas = rng.dirichlet(np.ones(S), (19, S)), rng.standard_normal((19, S)), rng.random(19)
    ours, theirs = with_engines(lambda: chain_value(P, R, gammas))
    np.testing.assert_array_equal(ours.view(np.int64), theirs.view(np.int64))


@built
def test_an_engine_that_was_built_from_another_source_is_not_used(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(compiled._compiled, "SOURCE_DIGEST", "of another source")
    compiled.is_built.cache_clear()
    assert not compiled.is_built()
    monkeypatch.undo()
    compiled.is_built.cache_clear()
    assert compiled.is_built()
