from collections.abc import Iterator
from functools import cache

import pytest
from hydra import compose, initialize_config_dir
from omegaconf import DictConfig, OmegaConf
from tests.support.settings import CONF, OPTIONS

from pomrl.configuration.composed import ConfigError
from pomrl.configuration.composition import plain, register_resolvers
from pomrl.configuration.parsing import Experiment, parse
from pomrl.configuration.settings import flat_settings, scientific_settings
from pomrl.store import signature


@pytest.fixture(autouse=True)
def hydra_is_ready() -> Iterator[None]:
    register_resolvers()
    with initialize_config_dir(str(CONF), version_base="1.3"):
        yield


@cache
def composed(*overrides: str) -> DictConfig:
    return compose("config", list(overrides), return_hydra_config=True)


def experiment(*overrides: str) -> Experiment:
    return parse(plain(composed(*overrides), composed(*overrides).hydra.runtime.choices))


@pytest.mark.parametrize("option", OPTIONS)
def test_every_option_is_a_component_whose_keys_are_all_in_its_file(option: str) -> None:
    group, _, name = option.partition("=")
    parsed = experiment(option)
    assert parsed.options[group] == name


def test_the_defaults_are_those_that_the_reading_of_the_paper_fixes() -> None:
    described = scientific_settings(experiment())
    assert described["task_distribution"] == {
        "_target_": "pomrl.science.tasks.random_chains.Dirichlet",
        "measure": "variance",
        "zeros": 5,
        "mean_model": "per_run",
        "mean_seed": 0,
        "varying": 1.0,
        "reward": "state_action",
        "smoothing": 0.0,
        "concentration_over_S": None,
        "reward_spread": 0.0,
    }
    assert described["estimator"] == {
        "_target_": "pomrl.science.estimators.pomrl.RegularisedLeastSquares",
        "mixing": "paper",
        "prior": "inclusive",
        "similarity": "welford",
        "index": "text",
        "plug": "variance",
        "scope": "max",
        "variance": "sample",
        "sigma_1": 0.5,
        "v2": 1.0,
        "samples": "visits",
        "first_task": None,
        "first_batch": "use",
        "start_weight": 0.0,
        "lag": 0,
        "forgetting": 1.0,
        "weights": "tasks",
    }
    assert described["stream"] == {"_target_": "pomrl.science.tasks.streams.Stationary"}
    assert described["data"] == {"_target_": "pomrl.science.data.Generative"}
    assert described["meta_batch"] == {"_target_": "pomrl.science.meta_batches.Own", "unvisited": "skip"}
    numbers = {key: described[key] for key in ("S", "A", "m", "T", "sigma", "gamma_eval", "seed", "trials", "loss")}
    assert numbers == {
        "S": 10, "A": 2, "m": 5, "T": 15, "sigma": 0.01, "gamma_eval": 0.99, "seed": 0, "trials": 1, "loss": "max"
    }  # fmt: skip
    assert described["gamma_schedule"]["gammas"] == [i / 20 for i in range(20)] + [0.99]


def test_the_grid_ends_with_gamma_eval_and_has_nothing_above_it() -> None:
    assert scientific_settings(experiment("gamma_eval=0.2"))["gamma_schedule"]["gammas"] == [0.0, 0.05, 0.1, 0.15, 0.2]
    assert scientific_settings(experiment("gamma_eval=0.12"))["gamma_schedule"]["gammas"] == [0.0, 0.05, 0.1, 0.12]


@pytest.mark.parametrize(("horizon", "last"), [("null", 0.99), ("5", 1.0)])
def test_the_grid_reaches_1_only_where_tasks_end_after_a_horizon(horizon: str, last: float) -> None:
    described = scientific_settings(experiment("gamma_eval=1", f"horizon={horizon}"))
    assert described["gamma_schedule"]["gammas"][-1] == last


def test_options_follow_the_numbers_at_the_top() -> None:
    described = scientific_settings(experiment("S=20", "gamma_eval=0.9", "gamma_schedule=fixed"))
    assert described["task_distribution"]["zeros"] == 10
    assert described["gamma_schedule"]["gamma"] == 0.9


@pytest.mark.parametrize(
    "same", ["runs=7", "execution.workers=1", "force=true", "sigma=0.010", "gamma_schedule=best_fixed"]
)
def test_what_cannot_change_a_number_is_not_in_the_signature(same: str) -> None:
    assert signature(experiment(same)) == signature(experiment())


def test_an_integer_where_a_number_is_meant_is_that_number() -> None:
    assert signature(experiment("sigma=0")) == signature(experiment("sigma=0.0"))


@pytest.mark.parametrize(
    "other",
    [
        "S=11", "A=3", "m=6", "T=16", "sigma=0.02", "gamma_eval=0.9", "seed=1", "task_distribution=gaussian",
        "task_distribution.reward=state", "estimator=pomrl", "estimator.sigma_1=0.1", "gamma_schedule=dong",
        "gamma_schedule.gammas=[0.5]", "planner=value_iteration",
    ],
)  # fmt: skip
def test_what_can_change_a_number_is_in_the_signature(other: str) -> None:
    assert signature(experiment(other)) != signature(experiment())


def test_a_default_of_a_class_that_a_file_leaves_out_is_in_the_settings() -> None:
    assert scientific_settings(experiment("estimator=without_meta"))["estimator"]["prior"] == "inclusive"


FAMILY = "science.estimators.pomrl.RegularisedLeastSquares"


def test_a_name_that_no_class_of_ours_ever_had_is_refused() -> None:
    for name in ("pomrl.planners.Nothing", "pomrl..Nothing", "pomrl.nothing.Nothing"):
        with pytest.raises(ConfigError, match="there is no such class"):
            experiment(f"planner._target_={name}")


def test_an_option_without_a_class_is_refused() -> None:
    with pytest.raises(ConfigError, match="_target_"):
        experiment("~estimator._target_")


NOT_IN_THE_SIGNATURE = {
    "runs": "more runs extend a run",
    "force": "says what to do, not what to compute",
    "dry_run": "says what to do, not what to compute",
    "yes": "says what to do, not what to compute",
    "experiment": "names a sweep",
    "execution": "where and how many at a time changes no number",
    "gamma_schedule.scope": "hindsight schedules are read from the stored grid",
    "gamma_schedule.choice": "hindsight schedules are read from the stored grid",
}


@pytest.mark.parametrize("option", OPTIONS)
def test_every_key_is_in_the_signature_or_has_a_reason_not_to_be(option: str) -> None:
    values = {key: value for key, value in composed(option).items() if key != "hydra"}
    signed = set(flat_settings(scientific_settings(experiment(option)), {}))
    keys = [
        f"{key}.{part}"
        for key, value in values.items()
        if OmegaConf.is_dict(value)
        for part in value
        if part != "_target_"
    ]
    keys += [str(key) for key, value in values.items() if not OmegaConf.is_dict(value)]
    for key in keys:
        excluded = key in NOT_IN_THE_SIGNATURE or key.partition(".")[0] in NOT_IN_THE_SIGNATURE
        assert (key in signed) != excluded, key
