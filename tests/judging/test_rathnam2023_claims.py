"""The study `rathnam2023`: its estimators, and the rules of its claims on losses that are made up."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import pytest
from tests.support.worlds import holds, made_of

from pomrl.configuration.study import find
from pomrl.contracts import EstimatorContract
from pomrl.judging.claim import claims_of
from pomrl.results.losses import SweepLosses
from pomrl.science.data import Batch
from pomrl.science.estimators.estimator import Truth
from pomrl.studies.rathnam2023.claims import COMPARED, PRIORS, WEIGHTS
from pomrl.studies.rathnam2023.priors import LeastError, SamePrior, SameTransitions, SameWeight, least_error_weight

CLAIMS = {claim.id: claim for claim in claims_of(find("rathnam2023"))}
GAMMAS = 0.99 * (1.0 - np.array(WEIGHTS))
DATA = ("generative", "unequal")


class TestPriors(EstimatorContract):
    @pytest.fixture(
        params=[SameWeight(prior="visited"), SameTransitions(), LeastError()], ids=lambda of: type(of).__name__
    )
    def component(self, request: pytest.FixtureRequest) -> SamePrior:
        return request.param


def batch(*visits: int) -> tuple[Batch, Truth]:
    """Return the batch of a run with so many transitions from each action of a single state of three."""
    p = np.broadcast_to([0.5, 0.3, 0.2], (1, 3, len(visits), 3))
    counts = np.random.default_rng(0).multinomial(np.broadcast_to(visits, p.shape[:-1]), p)
    return Batch.of_counts(counts, 8), Truth(p, np.zeros_like(p))


def test_a_weight_is_one_number_and_transitions_are_another() -> None:
    given = batch(0, 1, 8, 15)
    assert (SameWeight(weight=0.2).weights(*given) == 0.2).all()
    of_pairs = SameTransitions(weight=0.2).weights(*given)[0, 0]
    np.testing.assert_allclose(of_pairs, [1.0, 2 / 3, 0.2, 2 / 17])  # two transitions of the prior
    assert (SameTransitions(weight=0.0).weights(*given) == 0.0).all()
    assert (SameTransitions(weight=1.0).weights(*given)[..., 1:] == 1.0).all()


@pytest.mark.parametrize("concentration", ["posterior", "frequencies", "known"])
def test_the_weight_of_least_error_falls_from_one_to_zero(concentration: Any) -> None:
    weights = LeastError(concentration=concentration).weights(*batch(0, 10**6))
    np.testing.assert_allclose(weights[..., 0], 1.0)
    np.testing.assert_allclose(weights[..., 1], 0.0, atol=1e-4)


def test_the_mean_of_the_posterior_is_that_of_draws_from_it() -> None:
    given, truth = batch(4)
    drawn = np.random.default_rng(1).dirichlet(given.counts[0, 0, 0] + 1.0, 200_000)
    expected = least_error_weight((drawn**2).sum(-1).mean(), 4, 3)
    assert LeastError().weights(given, truth)[0, 0, 0] == pytest.approx(float(expected), abs=2e-3)


def of_sweep(means: Mapping[str, float], **others: Mapping[Any, Any]) -> SweepLosses:
    """Return losses of each kind of data with these means, to which those of the values of another axis are added."""
    values = next(iter(others.values()), {})
    return made_of({"data": means, **others}, lambda data, value=None: means[data] + values.get(value, 0.0), GAMMAS)


CURVE = (GAMMAS - 0.594) ** 2


def discounting(equal: float, uneven: float) -> SweepLosses:
    """Return losses of discount factors, with these ones at the best of them."""
    return made_of({"data": DATA}, lambda data: (equal if data == DATA[0] else uneven) + CURVE, GAMMAS)


def transitions(equal: float, uneven: float) -> SweepLosses:
    return of_sweep(dict(zip(DATA, (equal, uneven), strict=True)), weight=dict(zip(WEIGHTS, CURVE, strict=True)))


def own(equal: float, uneven: float) -> SweepLosses:
    of_all = dict.fromkeys(("posterior", "frequencies", "known"), 0.0)
    return of_sweep(dict(zip(DATA, (equal, uneven), strict=True)), concentration=of_all)


@pytest.mark.parametrize(("error", "expected"), [(0.0, True), (1e-12, False)])
def test_equal_losses_are_equal_to_the_last_bit(error: float, expected: bool) -> None:
    curve = dict(zip(WEIGHTS, 0.5 + CURVE, strict=True))
    same = made_of({"prior": PRIORS, "weight": COMPARED}, lambda _, weight: curve[weight] + error, GAMMAS)
    assert holds(CLAIMS["D2"], discounting(0.5, 0.5), same) == expected
    assert holds(CLAIMS["D4"], discounting(0.5, 0.5), transitions(0.5 + error, 0.5)) == expected


@pytest.mark.parametrize(("uneven", "expected"), [(0.4, True), (0.6, False)])
def test_the_best_losses_are_compared(uneven: float, expected: bool) -> None:
    assert holds(CLAIMS["D5"], discounting(0.5, 0.5), transitions(0.5, uneven)) == expected
    assert holds(CLAIMS["D7"], discounting(0.5, 0.5), own(0.5, uneven)) == expected
    assert holds(CLAIMS["D8"], discounting(0.5, 0.5), own(0.5, uneven)) == expected
    assert holds(CLAIMS["D9"], discounting(0.5, 0.5), own(0.5, uneven)) == expected
