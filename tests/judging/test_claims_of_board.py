"""Claims of the board on the horizon: their rules on made-up losses."""

from collections.abc import Callable
from itertools import product

import numpy as np
import pytest
from tests.support.worlds import verdict

from pomrl.configuration.studies import find
from pomrl.judging.claim import claims_of
from pomrl.results.result import Result
from pomrl.results.sweep_results import SweepResults
from pomrl_studies.board.claims.horizon import LABELS, LEARNERS, WEIGHTS
from pomrl_studies.board.horizon import FAMILIES, SPREADS, cells, concordance, kendall, mean_share, saved
from verdicts.parts import Verdict

HOLDS, NOT, SMALL, OPEN = Verdict.HOLDS, Verdict.DOES_NOT_HOLD, Verdict.NO_DIFFERENCE, Verdict.UNDECIDED
CLAIMS = {claim.id: claim for claim in claims_of(find("board"))}
GAMMAS = np.array([0.5, 0.9, 0.95, 0.99])
RUNS = 300

Curve = Callable[[str], tuple[float, float]]
"""The mean loss of a learner at gamma_eval, and what the best gamma saves, as shares of no meta-learning."""

LOSS = dict(zip(LABELS, (1.0, 0.6, 0.5, 0.4, 0.35, 0.3, 0.2, 0.1), strict=True))


def losses(at_eval: float, saving: float, scale: float, seed: int) -> Result:
    """Return losses with a minimum at gamma = .9, and noise shared by all gammas."""
    curve = at_eval - saving * np.array([0.5, 1.0, 0.75, 0.0])
    noise = np.random.default_rng(seed).normal(0.0, 0.1, (RUNS, 1, 1))
    return Result.of_losses(scale * (curve + noise + np.zeros((RUNS, 2, 1))), GAMMAS)


def horizons(curve: Curve) -> SweepResults:
    axes = [*product(FAMILIES, SPREADS, LABELS)]
    scales = dict(zip(FAMILIES, np.geomspace(0.1, 100.0, len(FAMILIES)), strict=True))
    results = [losses(*curve(name), scales[family], seed) for seed, (family, _, name) in enumerate(axes)]
    return SweepResults(("task_distribution", "task_distribution.spread", "estimator"), axes, results)


def weights(loss: float) -> SweepResults:
    axes = [*product(FAMILIES, SPREADS, WEIGHTS.values())]
    scales = dict(zip(FAMILIES, np.geomspace(0.1, 100.0, len(FAMILIES)), strict=True))
    results = [losses(loss, 0.0, scales[family], 0) for family, _, _ in axes]
    return SweepResults(("task_distribution", "task_distribution.spread", "estimator.mixing"), axes, results)


def with_savings(**savings: float) -> Curve:
    return lambda name: (LOSS[name], savings.get(name, 0.3 * LOSS[name] - 0.03))


@pytest.mark.parametrize(
    ("savings", "expected"),
    [
        ({}, HOLDS),
        ({"ada_pomrl": 0.35}, NOT),
        ({"tied_rows": 0.15}, NOT),
        ({"tied_rows": 0.09}, SMALL),
        ({"oracle": 0.04}, NOT),
    ],
)
def test_each_better_prior_must_save_less(savings: dict[str, float], expected: Verdict) -> None:
    assert verdict(CLAIMS["V1"], horizons(with_savings(**savings))) is expected


def test_learners_that_lose_more_must_save_more() -> None:
    reverse = dict(zip(LABELS, (0.0, 0.03, 0.04, 0.06, 0.07, 0.09, 0.1, 0.2), strict=True))
    assert verdict(CLAIMS["V3"], horizons(with_savings()), weights(0.5)) is HOLDS
    assert verdict(CLAIMS["V3"], horizons(with_savings(**reverse)), weights(0.5)) is NOT


def test_other_means_of_equal_weight_lose_less() -> None:
    assert verdict(CLAIMS["V3"], horizons(with_savings()), weights(0.9)) is NOT


def test_noise_of_losses_is_no_concordance() -> None:
    sweep = horizons(lambda _: (1.0, 0.0))
    results = [cells(sweep, estimator=name) for name in LEARNERS]
    noise = np.random.default_rng(1).normal(size=(len(LEARNERS), RUNS, len(results[0])))
    estimate = concordance([*noise], [*noise])
    assert abs(estimate.value) < 0.2
    assert max(estimate.p_values(0.0)) > 0.05
    assert (saved(results[0]) == 0.0).all()


def test_families_count_alike() -> None:
    scale = np.array([1.0, 1000.0])
    share = np.array([0.1, 0.5]) + np.random.default_rng(0).normal(0.0, 0.1, (RUNS, 2))
    estimate = mean_share(scale * share, scale * np.ones((RUNS, 2)))
    assert estimate.value == pytest.approx(share.mean())


def test_tied_learners_are_neither_concordant_nor_discordant() -> None:
    assert kendall(np.array([1.0, 2.0, 3.0]), np.array([0.0, 0.0, 1.0])) == pytest.approx(2 / 3)
    assert kendall(np.array([1.0, 1.0 + 1e-12]), np.array([0.0, 1.0])) == 0.0


def sepsis(worth_short: float, worth_long: float) -> SweepResults:
    rng = np.random.default_rng(0)
    without = rng.normal(1.0, 0.1, (150, 1, 2))
    with_prior = without - np.array([worth_short, worth_long]) - rng.normal(0.0, 0.002, (150, 1, 2))
    results = [Result.of_losses(loss, np.array([0.5, 0.99])) for loss in (without, with_prior)]
    return SweepResults(("estimator",), [("without_meta",), ("action_prior",)], results)


@pytest.mark.parametrize(
    ("short", "long", "expected"),
    [(0.002, 0.3, HOLDS), (0.0, 0.3, HOLDS), (0.06, 0.3, NOT), (0.3, 0.1, NOT), (0.03, 0.3, OPEN)],
)
def test_priors_gain_a_tenth_at_short_horizons(short: float, long: float, expected: Verdict) -> None:
    assert verdict(CLAIMS["V2"], sepsis(short, long)) is expected


def test_a_prior_must_help_with_both_horizons() -> None:
    assert verdict(CLAIMS["S2"], sepsis(0.03, 0.3)) is HOLDS
    assert verdict(CLAIMS["S2"], sepsis(0.0, 0.3)) is SMALL
    assert verdict(CLAIMS["S2"], sepsis(-0.03, 0.3)) is NOT
