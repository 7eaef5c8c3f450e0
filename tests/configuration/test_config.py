"""What configurations become: the settings that a signature covers."""

import pytest
from tests.support.settings import OPTIONS

from pomrl.configuration import sweeps
from pomrl.configuration.composition import Composer
from pomrl.configuration.parsing import Experiment
from pomrl.configuration.settings import flat_settings, scientific_settings
from pomrl.configuration.sources import PUBLISHED
from pomrl.store import signature


def experiment(*overrides: str) -> Experiment:
    return sweeps.experiment(PUBLISHED, overrides)


def test_the_grid_ends_with_gamma_eval() -> None:
    assert scientific_settings(experiment("gamma_eval=0.2"))["gamma_schedule"]["gammas"] == [0.0, 0.05, 0.1, 0.15, 0.2]
    assert scientific_settings(experiment("gamma_eval=0.12"))["gamma_schedule"]["gammas"] == [0.0, 0.05, 0.1, 0.12]


@pytest.mark.parametrize(("horizon", "last"), [("null", 0.99), ("5", 1.0)])
def test_the_grid_reaches_1_with_a_horizon(horizon: str, last: float) -> None:
    described = scientific_settings(experiment("gamma_eval=1", f"horizon={horizon}"))
    assert described["gamma_schedule"]["gammas"][-1] == last


def test_options_follow_the_numbers_at_the_top() -> None:
    described = scientific_settings(experiment("S=20", "gamma_eval=0.9", "gamma_schedule=fixed"))
    assert described["task_distribution"]["zeros"] == 10
    assert described["gamma_schedule"]["gamma"] == 0.9


@pytest.mark.parametrize(
    "same", ["runs=7", "execution.workers=1", "force=true", "sigma=0.010", "gamma_schedule=best_fixed"]
)
def test_signatures_ignore_keys_without_effect(same: str) -> None:
    assert signature(experiment(same)) == signature(experiment())


def test_integers_and_equal_floats_share_signatures() -> None:
    assert signature(experiment("sigma=0")) == signature(experiment("sigma=0.0"))


NOT_IN_THE_SIGNATURE = {
    "runs": "more runs extend a run",
    "force": "says what to do, not what to compute",
    "dry_run": "says what to do, not what to compute",
    "yes": "says what to do, not what to compute",
    "tag": "a label",
    "note": "a label",
    "experiment": "names a sweep",
    "execution": "where and how many at a time changes no number",
    "gamma_schedule.scope": "hindsight schedules are read from the stored grid",
    "gamma_schedule.choice": "hindsight schedules are read from the stored grid",
    "gamma_schedule._convert_": "for hydra.utils.instantiate only",
    "stream._convert_": "for hydra.utils.instantiate only",
}


@pytest.mark.parametrize("option", OPTIONS)
def test_every_key_is_signed_or_excluded(option: str) -> None:
    group, _, name = option.partition("=")
    assert experiment(option).options[group] == name
    signed = set(flat_settings(scientific_settings(experiment(option)), {}))
    for key in flat_settings(Composer.from_sources(PUBLISHED).compose([option]).values, {}):
        excluded = key in NOT_IN_THE_SIGNATURE or key.partition(".")[0] in NOT_IN_THE_SIGNATURE
        assert (key in signed) != excluded, key
