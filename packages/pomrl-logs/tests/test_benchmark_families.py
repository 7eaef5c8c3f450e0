"""The families that join the benchmark of the advice on logs are models, and differ from task to task as they say."""

import numpy as np
import pytest
from families_after_the_freeze import LATENT_FAMILIES
from families_after_the_limit import AFTER_THE_LIMIT
from families_after_the_rule import AFTER_THE_RULE

from pomrl.components import TaskFamily
from pomrl.planning import PolicyIteration

GAMMA = 0.95


def _best(P: np.ndarray, R: np.ndarray) -> np.ndarray:
    return PolicyIteration().plan(P, R, np.array([GAMMA]))[:, 0]


OF_THE_RULE = {name: kind(centre=centre, spread=0.15) for name, (kind, centre) in AFTER_THE_RULE.items()}


FAMILIES = {**LATENT_FAMILIES, **OF_THE_RULE, **AFTER_THE_LIMIT}


@pytest.mark.parametrize("family", FAMILIES.values(), ids=FAMILIES)
def test_rows_sum_to_one(family: TaskFamily) -> None:
    P, R = family.models(family.latents())  # not `candidate_models`, which divides rows by their sums
    assert (P.shape[0], P.shape[1:3]) == (family.values, family.size)
    assert (P >= 0).all()
    np.testing.assert_allclose(P.sum(-1), 1.0, atol=1e-12)
    assert np.isfinite(R).all()


@pytest.mark.parametrize(
    ("name", "at_least", "at_most"),
    [("mountain_passes", 5, 15), ("playlist", 5, 15), ("dosing", 5, 15), ("fermentation", 1, 1)],
)
def test_tasks_need_the_stated_policies(name: str, at_least: int, at_most: int) -> None:
    candidates = LATENT_FAMILIES[name].candidate_models()
    policies = np.unique(_best(candidates.P, candidates.R), axis=0)
    assert at_least <= len(policies) <= at_most


def test_fermentation_tasks_are_equal() -> None:
    candidates = LATENT_FAMILIES["fermentation"].candidate_models()
    assert np.ptp(candidates.P, axis=0).max() == 0.0
    assert np.count_nonzero(candidates.R[0]) == 3
