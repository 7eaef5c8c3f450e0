"""The rules of the claims on families, on losses that are made up."""

from collections.abc import Mapping

import numpy as np
from omegaconf import OmegaConf
from tests.support.worlds import BEYOND, OURS

from pomrl.judging.precision import Outcome, Plan
from pomrl.judging.verdict import Verdict
from pomrl.results.losses import Losses, SweepLosses
from pomrl.studies.beyond.claims.families import FAMILIES, SPREADS

GAMMAS = np.array([0.5, 0.9, 0.95, 0.99])
CLAIMS = {claim.id: claim for claim in OURS if claim.id in ("R1", "R2", "R3", "R4", "R5", "R6", "R7")}
RUNS = 30


def losses(more: float, *, grows: bool = False) -> Losses:
    """Losses that are 1 at gamma_eval and above it elsewhere, with noise that all settings share.

    Args:
        more: What is added to the loss at gamma_eval.
        grows: Whether the best gamma grows with the task.
    """
    mean = np.tile([1.3, 1.2, 1.1, 1.0 + more], (15, 1))
    if grows:
        mean[:5, 0], mean[5:10, 1] = 0.5, 0.5
    return Losses(mean + np.random.default_rng(0).normal(0.0, 0.01, (RUNS, 15, 1)), GAMMAS)


def verdict(id: str, grows: tuple[str, ...] = (), **more: Mapping[str, float]) -> Verdict:
    """Judge a claim; `more` is what is added to the loss of an estimator, or of the schedule, in each family."""
    of_estimators, of_schedule, of_rate = {}, {}, {}
    for family in FAMILIES:
        for spread in SPREADS:
            for name in ("ada_pomrl", "without_meta", "empirical_bayes", "exact_posterior"):
                added, growing = more.get(name, {}).get(family, 0.0), name == "ada_pomrl" and family in grows
                of_estimators[family, spread, name] = losses(added, grows=growing)
            of_schedule[family, spread, "upper_bound"] = losses(more.get("upper_bound", {}).get(family, 0.0))
            of_rate[family, spread] = losses(more.get("mse_optimal", {}).get(family, 0.0))
    names = ("task_distribution", "spread")
    sweeps = {
        "families": SweepLosses((*names, "estimator"), of_estimators),
        "families_schedules": SweepLosses((*names, "gamma_schedule"), of_schedule),
        "forest_mixing": SweepLosses(names, of_rate),
    }
    return Outcome(CLAIMS[id], Plan((RUNS,))).after(CLAIMS[id].parts(sweeps)).verdict


def test_the_sweeps_have_the_families_of_the_claims() -> None:
    for name in ("families", "families_schedules"):
        axes = OmegaConf.load(BEYOND.folder / "sweeps" / f"{name}.yaml").hydra.sweeper.params
        assert axes["task_distribution"] == ",".join(FAMILIES)
        assert axes["task_distribution.spread"] == ",".join(map(str, SPREADS))
    assert all(claim.is_judged_once for claim in CLAIMS.values())


def test_meta_learning_has_to_help_in_every_family() -> None:
    everywhere: dict[str, float] = dict.fromkeys(FAMILIES, -0.1)
    assert verdict("R1", ada_pomrl=everywhere) is Verdict.HOLDS
    one_worse = everywhere | {"forest": 0.1}
    assert verdict("R1", ada_pomrl=one_worse) is Verdict.DOES_NOT_HOLD


def test_one_family_is_enough_for_the_schedule() -> None:
    everywhere: dict[str, float] = dict.fromkeys(FAMILIES, 0.1)
    assert verdict("R2", upper_bound=everywhere) is Verdict.DOES_NOT_HOLD
    one_better = everywhere | {"garnet": -0.1}
    assert verdict("R2", upper_bound=one_better) is Verdict.HOLDS


def test_the_schedule_has_to_harm_in_more_than_half() -> None:
    worse: dict[str, float] = dict.fromkeys(FAMILIES[:5], 0.1)
    assert verdict("R5", upper_bound=worse) is Verdict.HOLDS
    better: dict[str, float] = dict.fromkeys(FAMILIES[4:], -0.1)
    assert verdict("R5", upper_bound=better | dict.fromkeys(FAMILIES[:4], 0.1)) is Verdict.DOES_NOT_HOLD


def test_in_forest_the_papers_rate_has_to_harm_and_the_better_one_to_help() -> None:
    assert verdict("R6", ada_pomrl={"forest": 0.1}, mse_optimal={"forest": -0.1}) is Verdict.HOLDS
    assert verdict("R6", ada_pomrl={"forest": -0.1}, mse_optimal={"forest": -0.1}) is Verdict.DOES_NOT_HOLD
    assert verdict("R6", ada_pomrl={"forest": 0.1}, mse_optimal={"forest": 0.1}) is Verdict.DOES_NOT_HOLD


def test_empirical_bayes_has_to_be_worse_in_each_of_the_four_and_worst_in_forest() -> None:
    worse: dict[str, float] = dict.fromkeys(("inventory", "queue", "forest", "frozen_lake_8x8"), 0.1)
    assert verdict("R7", empirical_bayes=worse) is Verdict.HOLDS
    assert verdict("R7", empirical_bayes=worse | {"queue": -0.1}) is Verdict.DOES_NOT_HOLD
    assert verdict("R7", empirical_bayes=worse, without_meta={"forest": 0.2}) is Verdict.DOES_NOT_HOLD


def test_horizons_have_to_grow_in_more_than_half() -> None:
    assert verdict("R3", grows=FAMILIES[:5]) is Verdict.HOLDS
    assert verdict("R3", grows=FAMILIES[:4]) is not Verdict.HOLDS


def test_a_gain_with_the_exact_posterior_refutes() -> None:
    assert verdict("R4") is Verdict.HOLDS
    assert verdict("R4", exact_posterior={"queue": 0.2}) is Verdict.DOES_NOT_HOLD
