"""The compiled engine has the bits of the NumPy engine, on every kind of model that it serves."""

import os
from collections.abc import Callable
from typing import Any
from unittest.mock import patch

import numpy as np
import pytest
from tests.support.engine_fuzzer import assert_engines_agree
from tests.support.sample_models import models_with_equal_actions, models_with_few_successors, random_models

from pomrl.science.planners import PolicyIteration
from pomrl.science.solvers import compiled
from pomrl.science.solvers.evaluation import ELIMINATED_STATES, chain_value

built = pytest.mark.skipif(not compiled.is_built(), reason="the engine was not built, as POMRL_NO_ENGINE=1 allows")


def with_engines(call: Callable[[], Any]) -> tuple[Any, Any]:
    """Return the results of the compiled engine and of NumPy's."""
    ours = call()
    with patch.object(compiled, "is_built", lambda: False):
        return ours, call()


def test_the_engine_is_built_or_opted_out() -> None:
    assert compiled.is_built() or os.environ.get("POMRL_NO_ENGINE") == "1", (
        "the compiled engine was not built; POMRL_NO_ENGINE=1 says that this is meant"
    )


@built
@pytest.mark.parametrize("seed", range(4))
def test_engines_agree_to_the_last_bit(seed: int) -> None:
    ends = [end for case in range(40) for end in assert_engines_agree(np.random.default_rng((seed, case)))]
    assert min(ends.count("result"), ends.count("error")) > 20


@built
@pytest.mark.parametrize("S", range(1, ELIMINATED_STATES + 1))
def test_chain_values_have_equal_bits(S: int) -> None:
    rng = np.random.default_rng(S)
    P, R, gammas = rng.dirichlet(np.ones(S), (19, S)), rng.standard_normal((19, S)), rng.random(19)
    ours, theirs = with_engines(lambda: chain_value(P, R, gammas))
    np.testing.assert_array_equal(ours.view(np.int64), theirs.view(np.int64))


@built
@pytest.mark.parametrize("M", [1, 5])
@pytest.mark.parametrize("S", [1, 2, 3, 12, 31, 64])
@pytest.mark.parametrize("draw", [random_models, models_with_equal_actions, models_with_few_successors])
def test_plans_and_values_have_equal_bits(M: int, S: int, draw: Callable[..., Any]) -> None:
    planner, gammas = PolicyIteration(), np.linspace(0, 0.99, 9)
    for seed in range(1 + 60 // S):
        P, R = draw(np.random.default_rng((S, seed)), M, S, 3)
        R = (R, R - 0.5, np.round(3.0 * R) - 1.0)[seed % 3]
        ours, theirs = with_engines(lambda P=P, R=R: planner.plan_and_evaluate(P, R, gammas))
        for array, other in zip(ours, theirs, strict=True):
            np.testing.assert_array_equal(array, other)


@built
def test_outdated_engines_are_not_used(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(compiled._compiled, "SOURCE_DIGEST", "of another source")
    compiled.is_built.cache_clear()
    assert not compiled.is_built()
    monkeypatch.undo()
    compiled.is_built.cache_clear()
    assert compiled.is_built()
