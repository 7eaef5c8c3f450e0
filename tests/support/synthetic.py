"""Sweeps with random losses, which figures are drawn from in tests."""

import itertools
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from functools import cache
from typing import TypeVar

import numpy as np
import pandas as pd

from pomrl.results.stored_sweeps import StoredSweep

Value = TypeVar("Value")

ESTIMATORS = ["oracle", "without_meta", "pomrl", "ada_pomrl", "aggregating"]
"""The estimators of the paper."""

SCHEDULES = ["fixed", "best_fixed", "dynamic_best", "dong", "upper_bound"]
"""The schedules that the paper draws."""

SIGMAS = [0.01, 0.025, 0.047]
GAMMAS = [0.0, 0.25, 0.5, 0.9, 0.99]
RUNS = 4
TASKS = 15

FAMILIES = [
    "river_swim", "inventory", "queue", "machine_replacement", "forest", "garnet", "frozen_lake", "frozen_lake_8x8",
    "cliff_walking",
]  # fmt: skip
FOUR = ["oracle", "without_meta", "pomrl", "ada_pomrl"]
LEARNERS, NUMBERS = ["td", "lstd", "certainty_equivalence"], [4, 8, 16, 32]
REGULARISED = ("discounting", "penalties", "penalties_of_steps", "mixing", "grid_worlds")
BATCHES = {"m5_T5": 5, "m20_T5": 5, "m5_T30": 30, "m5_T15": 15, "m100000_T30": 30}
AXES: dict[str, dict[str, list]] = {
    "task_similarity": {"sigma": SIGMAS, "estimator": ESTIMATORS},
    "illustration": {"estimator.mixing": [0.0, 0.25, 0.5, 0.75], "m": [5, 10, 20, 50]},
    "gamma_schedules": {"estimator": ["pomrl", "ada_pomrl"], "gamma_schedule": ["grid", "dong", "upper_bound"]},
    "gamma_0": {"gamma_schedule.gamma_0": [0.25, 0.3, 0.35, 0.4, 0.45, 0.5]},
    "samples_and_tasks": {"batches": ["m5_T5", "m20_T5", "m5_T30"], "estimator": ["ada_pomrl", "without_meta"]},
    "states_20": {"batches": ["m5_T5", "m20_T5", "m5_T30"], "estimator": ["ada_pomrl", "without_meta"]},
    "states_30": {"batches": ["m5_T5", "m20_T5", "m5_T15"], "estimator": ["ada_pomrl", "without_meta"]},
    "gaussian_tasks": {"sigma": SIGMAS, "estimator": FOUR},
    "varying_pairs": {
        "sigma": SIGMAS,
        "estimator": ["oracle", "pomrl", "ada_pomrl"],
        "estimator.scope": ["max", "per_pair"],
    },
    "varying_pairs_without_meta": {"sigma": SIGMAS},
    "theory": {"sigma": [0.0, 0.01, 0.03], "batches": ["m5_T5", "m20_T5", "m5_T30", "m100000_T30"]},
    "mixing_rates": {
        "sigma": [0.01, 0.047],
        "estimator.mixing": ["paper", "mse_bound", "mse_optimal"],
        "estimator.similarity": ["known", "welford", "debiased"],
    },
    "initial_similarity": {"estimator.sigma_1": [0.01, 0.1, 0.5]},
    "notebook_similarity": {
        "task_distribution.concentration_over_S": [1.5, 0.75, 0.375],
        "estimator": [*ESTIMATORS, "uniform_prior"],
    },
    "notebook_schedules": {"gamma_schedule": ["grid", "dong", "upper_bound"]},
    "notebook_gamma_0": {"gamma_schedule.gamma_0": [0.25, 0.35, 0.45, 0.5]},
    "notebook_samples_and_tasks": {
        "batches": ["m5_T5", "m20_T5", "m5_T30"],
        "estimator": ["ada_pomrl", "without_meta"],
    },
    "notebook_states_20": {"batches": ["m5_T5", "m20_T5", "m5_T30"], "estimator": ["ada_pomrl", "without_meta"]},
    "notebook_states_30": {"batches": ["m5_T5", "m20_T5", "m5_T15"], "estimator": ["ada_pomrl", "without_meta"]},
    "horizon_or_prior": {
        "sigma": SIGMAS,
        "estimator": ["without_meta", "pomrl", "ada_pomrl", "aggregating", "oracle", "empirical_bayes", "bayes"],
    },
    "known_law": {"sigma": SIGMAS, "estimator": ["ada_pomrl", "empirical_bayes", "hierarchical_bayes", "bayes"]},
    "wrong_priors": {
        "sigma": [0.01, 0.047],
        "estimator.prior": ["known", "uniform"],
        "estimator.mixing": [0.05, 0.1, 0.2, 0.3, 0.5, 0.7, 0.83],
    },
    "families": {
        "task_distribution": FAMILIES,
        "task_distribution.spread": [0.15],
        "estimator": [*ESTIMATORS, "empirical_bayes", "exact_posterior"],
    },
    "tied_rows": {
        "task_distribution": FAMILIES,
        "task_distribution.spread": [0.15],
        "estimator": ["without_meta", "ada_pomrl", "empirical_bayes", "tied_rows", "exact_posterior"],
    },
    "streams": {
        "stream": ["stationary", "drift", "switch", "cycle"],
        "estimator": [
            "oracle",
            "ada_pomrl",
            "ada_pomrl_forgetting",
            "empirical_bayes",
            "empirical_bayes_forgetting",
            "mixture",
        ],
    },
    "unequal_data": {
        "data.numbers": ["extremes", "geometric"],
        "estimator": ["pomrl", "ada_pomrl"],
        "estimator.samples": ["visits", "m"],
        "estimator.weights": ["tasks", "transitions"],
    },
    "online_collection": {
        "data.behaviour": ["uniform", "epsilon_greedy", "posterior_sampling"],
        "estimator": ["oracle", "without_meta", "ada_pomrl", "empirical_bayes"],
    },
    "unknown_rewards": {"reward_model": ["known", "own", "pooled", "shrunk"], "estimator": FOUR},
    "long_streams": {"sigma": [0.0, 0.01, 0.03], "estimator": ["pomrl", "ada_pomrl"]},
    "discounting": {"agent": LEARNERS, "m": NUMBERS},
    "penalties": {"agent.l2": [0.0001, 0.01, 0.03, 0.1, 0.3, 1, 3, 10], "m": NUMBERS},
    "penalties_of_steps": {"agent.l2": [0.0001, 0.0003, 0.001, 0.003, 0.01, 0.03], "m": NUMBERS},
    "mixing": {"task_distribution.leave": [0.02, 0.1, 0.5], "agent": LEARNERS},
    "grid_worlds": {"agent": ["td_5000", *LEARNERS[1:]], "m": NUMBERS},
    "fixed_mean_model": {"task_distribution.mean_model": ["per_run", "fixed"], "estimator": FOUR},
}
"""The values of the settings that each sweep varies; `tests/configuration/test_studies.py` draws the real sweeps."""

PROMISED = dict.fromkeys(AXES, 100) | dict.fromkeys(("gamma_schedules", "gamma_0"), 600)
PROMISED |= dict.fromkeys(("families_repaired", "tied_rows", "tied_rows_in_practice"), 300) | {
    "tied_rows_in_chains": 1000
}
PROMISED |= {"families": 300, "horizon_or_prior": 1200, "wrong_priors": 300, "known_law": 100}
PROMISED |= {"streams": 200, "unequal_data": 200, "unknown_rewards": 200, "long_streams": 60}
PROMISED |= dict.fromkeys(("notebook_schedules", "notebook_gamma_0"), 600)
PROMISED |= dict.fromkeys(("states_20", "states_30", "notebook_states_20", "notebook_states_30"), 20)
PROMISED |= dict.fromkeys(REGULARISED, 200)
"""The number of runs that each sweep promises."""


def make_table(axes: dict[str, list], runs: int = RUNS, tasks: int = TASKS, seed: int = 0) -> pd.DataFrame:
    """Return random losses for a whole sweep; a schedule that chooses its gamma has one gamma in each task."""
    rng = np.random.default_rng(seed)
    parts = []
    for values in itertools.product(*axes.values()):
        setting = dict(zip(axes, values, strict=True))
        chosen = setting.get("gamma_schedule") in ("dong", "upper_bound") or "gamma_schedule.gamma_0" in setting
        T = BATCHES[setting["batches"]] if "batches" in setting else tasks
        keys = itertools.product(range(runs), range(1, T + 1), [0.6] if chosen else GAMMAS)
        parts.append(pd.DataFrame(keys, columns=["run", "task", "gamma"]).assign(**setting))
    frame = pd.concat(parts, ignore_index=True)
    others = ["planning_loss", "alpha", "sigma_hat", "model_error"]
    frame[others] = rng.random((len(frame), len(others)))
    return frame.astype({"run": "int32", "task": "int16"})


class Lazy(Mapping[str, Value]):
    """A mapping that makes each value when it is first asked for, and keeps it.

    There are many sweeps and figures, of which a single test needs one or two.
    """

    def __init__(self, names: Iterable[str], make: Callable[[str], Value]) -> None:
        self._names = list(names)
        self._make = cache(make)

    def __getitem__(self, name: str) -> Value:
        if name not in self._names:
            raise KeyError(name)
        return self._make(name)

    def __iter__(self) -> Iterator[str]:
        return iter(self._names)

    def __len__(self) -> int:
        return len(self._names)


def make_sweep(name: str, runs: int = RUNS, tasks: int = TASKS) -> StoredSweep:
    """Return a sweep with this number of runs and, unless a setting says otherwise, of tasks."""
    return StoredSweep(make_table(AXES[name], runs, 1 if name == "illustration" else tasks), [], PROMISED[name], None)


def make_sweeps(runs: int = RUNS, tasks: int = TASKS) -> Lazy[StoredSweep]:
    """Return all sweeps as `make_sweep` makes them."""
    return Lazy(AXES, lambda name: make_sweep(name, runs, tasks))


def with_sweep(sweeps: Mapping[str, StoredSweep], name: str, sweep: StoredSweep) -> Lazy[StoredSweep]:
    """Return the sweeps with another one under this name."""
    return Lazy(sweeps, lambda one: sweep if one == name else sweeps[one])


def with_table(sweeps: Mapping[str, StoredSweep], name: str, table: pd.DataFrame) -> Lazy[StoredSweep]:
    """Return the sweeps with another table for one of them."""
    return with_sweep(sweeps, name, replace(sweeps[name], table=table))
