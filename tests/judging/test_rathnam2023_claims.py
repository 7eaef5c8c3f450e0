"""The study `rathnam2023`: its estimators, and the rules of its claims on losses that are made up."""

from collections.abc import Mapping
from itertools import product
from typing import Any

import numpy as np
import pytest

from pomrl.configuration.study import find
from pomrl.contracts import EstimatorContract
from pomrl.judging.claim import claims_of
from pomrl.results.losses import Losses, SweepLosses
from pomrl.science.data import Batch
from pomrl.science.estimators.estimator import Truth
from pomrl.studies.rathnam2023 import claims
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


def of_sweep(names: tuple[str, ...], losses: Mapping[tuple[Any, ...], Any]) -> SweepLosses:
    """Return losses of 200 runs with these means, one for each discount factor."""
    noise = 0.01 * np.random.default_rng(0).standard_normal((200, 1, 1))
    arrays = {key: np.atleast_1d(mean) for key, mean in losses.items()}
    return SweepLosses(names, {key: Losses(mean + noise, GAMMAS[-len(mean) :]) for key, mean in arrays.items()})


def discounting(equal: float, uneven: float) -> SweepLosses:
    """Return losses of discount factors, with these ones at the best of them."""
    curve = (GAMMAS - 0.594) ** 2
    return of_sweep(("data",), {("generative",): equal + curve, ("unequal",): uneven + curve})


def transitions(equal: float, uneven: float) -> SweepLosses:
    levels = dict(zip(DATA, (equal, uneven), strict=True))
    pairs = product(DATA, zip(WEIGHTS, (GAMMAS - 0.594) ** 2, strict=True))
    return of_sweep(("data", "weight"), {(data, weight): levels[data] + loss for data, (weight, loss) in pairs})


def own(equal: float, uneven: float) -> SweepLosses:
    levels = dict(zip(DATA, (equal, uneven), strict=True))
    keys = product(DATA, ("posterior", "frequencies", "known"))
    return of_sweep(("data", "concentration"), {key: levels[key[0]] for key in keys})


def holds(claim: str, *sweeps: SweepLosses) -> bool:
    parts = CLAIMS[claim].parts(dict(zip(CLAIMS[claim].sweeps, sweeps, strict=True)))
    return all(part.above < part.estimate.value < part.below for part in parts)


@pytest.mark.parametrize(("error", "expected"), [(0.0, True), (1e-12, False)])
def test_equal_losses_are_equal_to_the_last_bit(error: float, expected: bool) -> None:
    curve = dict(zip(WEIGHTS, 0.5 + (GAMMAS - 0.594) ** 2, strict=True))
    same = of_sweep(("prior", "weight"), {key: curve[key[1]] + error for key in product(PRIORS, COMPARED)})
    assert holds("D2", discounting(0.5, 0.5), same) == expected
    assert holds("D4", discounting(0.5, 0.5), transitions(0.5 + error, 0.5)) == expected


@pytest.mark.parametrize(("uneven", "expected"), [(0.4, True), (0.6, False)])
def test_the_best_losses_are_compared(uneven: float, expected: bool) -> None:
    assert holds("D5", discounting(0.5, 0.5), transitions(0.5, uneven)) == expected
    assert holds("D7", discounting(0.5, 0.5), own(0.5, uneven)) == expected
    assert holds("D8", discounting(0.5, 0.5), own(0.5, uneven)) == expected
    assert holds("D9", discounting(0.5, 0.5), own(0.5, uneven)) == expected


@pytest.mark.parametrize("claim", ["D1", "D3", "D6"])
def test_exact_claims_hold(claim: str) -> None:
    assert holds(claim)


def test_another_formula_has_a_larger_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(claims, "least_error_weight", lambda C, n, S: least_error_weight(C, n + 1, S))
    assert not holds("D6")
