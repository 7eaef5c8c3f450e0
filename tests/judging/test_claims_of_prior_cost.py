"""Claims of the study `prior_cost`: their rules on made-up losses with a known law of the excess."""

from collections.abc import Callable

import numpy as np
import pytest
from tests.support.synthetic import AXES
from tests.support.worlds import verdict

from pomrl.configuration.studies import find
from pomrl.judging.claim import claims_of
from pomrl.results.result import Result
from pomrl.results.sweep_results import SweepResults
from pomrl_studies.prior_cost.claims import variance_ratio
from pomrl_studies.prior_cost.excess import blocks, constants, exponent, spread
from pomrl_studies.prior_cost.limit import limits
from verdicts.parts import Verdict

HOLDS, NOT = Verdict.HOLDS, Verdict.DOES_NOT_HOLD
CLAIMS = {claim.id: claim for claim in claims_of(find("prior_cost"))}
EARLIER = np.arange(1.0, 128.0)
RUNS = 2000

Law = Callable[[str, dict], np.ndarray]
"""The mean excess by the number of earlier tasks, in a sweep with these values of its keys."""


def judge(id: str, law: Law) -> Verdict:
    """Judge a claim on runs whose excess is the law times a number with mean 1; told learners lose shared noise."""
    return verdict(CLAIMS[id], *(made_up(name, law) for name in CLAIMS[id].sweeps))


def made_up(sweep: str, law: Law) -> SweepResults:
    names = [key.rpartition(".")[2] for key in AXES[sweep]]
    values = [
        tuple(row)
        for row in np.stack(np.meshgrid(*map(object_array, AXES[sweep].values())), -1).reshape(-1, len(names))
    ]
    results = [losses(law(sweep, keys), keys) for keys in (dict(zip(names, row, strict=True)) for row in values)]
    return SweepResults(tuple(names), values, results)


def object_array(values: list) -> np.ndarray:
    return np.array(values, object)


def losses(excess: np.ndarray, keys: dict) -> Result:
    rng = np.random.default_rng(7)
    shared, factor = rng.random((RUNS, 128)) * ("prior" in keys), 2.0 * rng.random((RUNS, 1))
    if keys.get("prior", "exclusive") == "exclusive":
        shared[:, 1:] += factor * excess
    return Result.of_losses(shared[..., None], np.array([0.99]))


def power(exponent: float, setting: object = None, other: float = -1.0) -> Law:
    """Return the law (t - 1)^exponent where a key has the value `setting`, or in this sweep, and `other` elsewhere."""
    return lambda sweep, keys: EARLIER ** (exponent if setting in (None, sweep, *keys.values()) else other)


@pytest.mark.parametrize(
    ("id", "setting"),
    [
        *(("C1", S) for S in (5, 10)),
        ("C2", None),
        *(("C3", m) for m in (2, 20)),
        *(("C4", sigma) for sigma in (0.025, 0.047)),
        ("C5", None),
        *(("C6", sweep) for sweep in ("ring_tasks", "ring_tied")),
        ("C11", None),
    ],
)
def test_each_setting_falls_as_one_over_tasks(id: str, setting: object) -> None:
    assert judge(id, power(-1.0)) is HOLDS
    assert judge(id, power(-0.8, setting)) is NOT
    assert judge(id, power(-1.2, setting)) is NOT


@pytest.mark.parametrize(("factor", "expected"), [(1.0, HOLDS), (1.1, HOLDS), (0.7, NOT), (1.3, NOT)])
def test_structure_must_divide_the_constant_as_predicted(factor: float, expected: Verdict) -> None:
    tied = factor * variance_ratio()
    assert judge("C7", lambda sweep, _: (tied if sweep == "ring_tied" else 1.0) / EARLIER) is expected


@pytest.mark.parametrize("states", [2, 3, 4, 5])
@pytest.mark.parametrize(("factor", "expected"), [(1.0, HOLDS), (0.6, NOT), (1.4, NOT)])
def test_every_number_of_states_has_the_limit(states: int, factor: float, expected: Verdict) -> None:
    def law(_: str, keys: dict) -> np.ndarray:
        return (factor if keys["S"] == states else 1.0) * limits(RUNS, keys["S"], 2, 5, 0.99).mean() / EARLIER

    assert judge("C8", law) is expected


def test_controls_must_have_another_law() -> None:
    assert judge("C9", power(-0.2)) is HOLDS
    assert judge("C9", power(-1.0)) is NOT
    assert judge("C10", lambda *_: np.exp(-EARLIER / 20.0)) is HOLDS
    assert judge("C10", power(-1.0)) is NOT
    assert judge("C10", lambda _, keys: 1.0 / EARLIER if keys["sigma"] else np.exp(-EARLIER / 20.0)) is NOT


def test_a_negative_excess_has_no_slope() -> None:
    assert np.isnan(exponent(np.full((100, 127), -1.0)).value)


def test_tasks_of_a_block_double() -> None:
    assert [EARLIER[block][[0, -1]].tolist() for block in blocks(14)] == [[1, 1], [2, 3], [4, 7], [8, 14]]


def test_constants_and_spreads_are_by_run() -> None:
    factors = np.random.default_rng(0).normal(3.0, 2.0, 5000)
    numbers = factors[:, None] / EARLIER
    np.testing.assert_allclose(constants(numbers), factors)
    assert spread(factors).lower < factors.std() < spread(factors).upper
