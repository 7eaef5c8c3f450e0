"""The rules of the claims of the study `horizons`, on losses that are made up."""

import itertools
from collections.abc import Mapping

import numpy as np
import pytest
from tests.support.synthetic import AXES

from pomrl.configuration.study import find
from pomrl.judging.claim import claims_of
from pomrl.judging.precision import Outcome, Plan
from pomrl.judging.verdict import Verdict
from pomrl.results.losses import Losses, SweepLosses
from pomrl.studies.horizons.claims import PROBLEMS, SIZES

CLAIMS = {claim.id: claim for claim in claims_of(find("horizons"))}
RUNS = 100
GAMMAS = np.array([0.9, 0.99])


def losses(level: float) -> Losses:
    """Losses of this mean at gamma_eval, with noise that all settings share."""
    return Losses(level + np.random.default_rng(0).normal(0.0, 0.01, (RUNS, 2, 2)), GAMMAS)


def sweep(name: str, levels: Mapping[str, float], where: float) -> SweepLosses:
    """Return a sweep whose losses are 1, but where `levels` has it or its option, in this share of the problems."""
    axes = AXES[name]
    names = tuple(axes)
    changed = PROBLEMS[: round(where * len(PROBLEMS))]
    found = {}
    for values in itertools.product(*axes.values()):
        setting = dict(zip(names, values, strict=True))
        level = next((levels[option] for option in (name, *setting.values()) if option in levels), 1.0)
        found[values] = losses(level if setting["task_distribution"] in changed else 1.0)
    return SweepLosses(names, found)


def verdict(id: str, where: float = 1.0, **levels: float) -> Verdict:
    claim = CLAIMS[id]
    sweeps = {name: sweep(name, levels, where) for name in claim.sweeps}
    return Outcome(claim, Plan((RUNS,))).after(claim.parts(sweeps)).verdict


@pytest.mark.parametrize("name", ["frequencies", "penalties", "weights", "priors", "posteriors", "schedules"])
def test_the_sweeps_have_the_cells_of_the_claims(name: str) -> None:
    assert tuple(AXES[name]["task_distribution"]) == PROBLEMS
    assert tuple(AXES[name]["m"]) == SIZES


@pytest.mark.parametrize(
    ("claim", "option"),
    [
        ("A1", "cross_validated_gamma"),
        ("A2", "penalties"),
        ("A3", "weights"),
        ("A4", "upper_bound"),
        ("A5", "tied_rows"),
    ],
)
def test_a_method_has_to_be_better_in_more_than_half_of_the_cells(claim: str, option: str) -> None:
    assert verdict(claim, **{option: 0.9}) is Verdict.HOLDS
    assert verdict(claim, 0.6, **{option: 0.9}) is Verdict.HOLDS
    assert verdict(claim, **{option: 1.1}) is Verdict.DOES_NOT_HOLD


def test_priors_are_compared_with_cross_validation() -> None:
    assert verdict("A5", tied_rows=0.9, cross_validated_gamma=0.8) is Verdict.DOES_NOT_HOLD


def test_no_cell_may_be_harmed() -> None:
    assert verdict("A6", posteriors=1.0) is Verdict.HOLDS
    assert verdict("A6", 0.1, posteriors=1.1) is Verdict.DOES_NOT_HOLD


def test_both_schedules_have_to_be_beaten_in_a_cell() -> None:
    assert verdict("A7", posteriors=0.9) is Verdict.HOLDS
    assert verdict("A7", posteriors=0.9, dong=0.8) is Verdict.DOES_NOT_HOLD
