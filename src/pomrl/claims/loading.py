"""Loading the stored losses that claims are judged on, and judging under readings and in environments."""

from collections.abc import Mapping, Sequence
from contextlib import suppress

import pandas as pd

from pomrl import store
from pomrl.claims import CLAIMS
from pomrl.claims.judging import Judged, judge
from pomrl.claims.verdict import Evidence
from pomrl.configuration.readings import Reading
from pomrl.configuration.studies import Setting
from pomrl.gamma_star import HindsightChoice
from pomrl.results.losses import Losses, SweepLosses
from pomrl.store import simulations as stored_simulations
from pomrl.theory.simulations import SIMULATIONS

ENVIRONMENT = "task_distribution.mean_seed"
"""The key whose values tell environments (mean models) apart."""


def sweep(settings: Sequence[Setting], choice: HindsightChoice = "population") -> SweepLosses | None:
    """Return the losses of a sweep over the complete runs that all its settings have; None where there are none.

    Raises:
        StoreError: A file of what is stored is damaged.
    """
    experiments = [store.lookup(setting.experiment) for setting in settings]
    for stored in experiments:
        stored.refuse_damage()
    runs = min(stored.complete() for stored in experiments)
    if not runs:
        return None
    names = tuple(key.rpartition(".")[2] for key in settings[0].varied)
    losses = {tuple(setting.varied.values()): Losses.of_experiment(setting.experiment, runs) for setting in settings}
    return SweepLosses(names, losses, max(setting.experiment.request.runs for setting in settings), choice)


def sweeps(settings: Mapping[str, Sequence[Setting]], choice: HindsightChoice = "population") -> dict[str, SweepLosses]:
    """Return the losses of each sweep of which runs are stored, by its name."""
    losses = {name: sweep(of_sweep, choice) for name, of_sweep in settings.items()}
    return {name: of_sweep for name, of_sweep in losses.items() if of_sweep}


def simulations() -> dict[str, pd.DataFrame]:
    """Return the tables of all simulations that claims read, by name.

    Raises:
        StoreError: One is not stored, or is damaged.
    """
    return {name: stored_simulations.load(SIMULATIONS[name]) for name in needed_simulations()}


def needed_simulations() -> list[str]:
    """Return the names of the simulations that claims read."""
    return [claim.simulation for claim in CLAIMS if claim.simulation]


def under(reading: Reading, settings: Mapping[str, Sequence[Setting]]) -> list[Judged]:
    """Judge the claims under a reading, with Holm's correction over these; empty where none of its sweeps is stored."""
    chosen = reading.overrides({"gamma_schedule": "best_fixed"})
    losses = sweeps(settings, "per_run" if "gamma_schedule.choice=per_run" in chosen else "population")
    return judge(losses, simulations()) if losses else []


def environments(settings: Sequence[Setting]) -> list[list[Setting]]:
    """Return the settings of each environment of a sweep over environments, without the key that tells these apart."""
    by_environment: dict[int, list[Setting]] = {}
    for setting in settings:
        varied = {key: value for key, value in setting.varied.items() if key != ENVIRONMENT}
        by_environment.setdefault(setting.varied[ENVIRONMENT], []).append(Setting(varied, setting.experiment))
    return list(by_environment.values())


def in_environment(settings: Sequence[Setting]) -> dict[str, Evidence]:
    """Return the evidence on claims in one environment, by the claim's id.

    Claims that need other settings than the environment has are left out. The result is empty if runs of a setting are
    not stored.
    """
    losses = sweep(settings)
    evidence = {}
    for claim in CLAIMS:
        if losses and claim.experiments == ("task_similarity",):
            with suppress(LookupError):  # a claim about a similarity that the environments do not have
                evidence[claim.id] = Evidence(claim.parts({"task_similarity": losses}))
    return evidence
