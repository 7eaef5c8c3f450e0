"""The estimate of what computing costs, as far as it does not depend on the machine."""

import pytest

from pomrl.configuration import sweeps
from pomrl.configuration.sources import PUBLISHED
from pomrl.running.plan import estimate_seconds


def estimate(*overrides: str, runs: int = 1) -> float:
    experiment = sweeps.experiment(PUBLISHED, overrides)
    return estimate_seconds(experiment.problem, experiment.method, runs)


def test_it_is_proportional_to_runs_and_tasks() -> None:
    assert estimate(runs=30) == pytest.approx(30 * estimate())
    assert estimate("T=30") == pytest.approx(2 * estimate("T=15"))


@pytest.mark.parametrize("S", [10, 30, 100])
def test_another_trial_costs_less_than_another_task(S: int) -> None:
    """Trials share the model and what is learned; only data, plans and losses are their own."""
    once, often = estimate(f"S={S}"), estimate(f"S={S}", "trials=100")
    assert once < often < 100 * once
    assert often < 40 * once or S > 30


def test_sampling_a_posterior_takes_hundreds_of_times_as_long() -> None:
    assert 100 < estimate("estimator=hierarchical_bayes") / estimate("estimator=pomrl") < 1000


def test_a_plan_costs_more_with_more_states_and_discount_factors() -> None:
    fixed = [estimate("gamma_schedule=fixed", f"S={S}") for S in (10, 30, 40, 100)]
    grid = [estimate("gamma_schedule=grid", f"S={S}") for S in (10, 30, 40, 100)]
    assert fixed == sorted(fixed)
    assert grid == sorted(grid)
    assert all(many > one for one, many in zip(fixed, grid, strict=True))
