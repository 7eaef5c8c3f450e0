"""What is stored, as claims read it."""

from collections.abc import Mapping, Sequence
from contextlib import suppress

from pomrl import store
from pomrl.claims import CLAIMS
from pomrl.claims.losses import Choice, Sweep, last_part, losses
from pomrl.claims.report import Judged, judge
from pomrl.claims.verdict import Evidence
from pomrl.published import Setting
from pomrl.readings import Reading

ENVIRONMENT = "task_distribution.mean_seed"
"""The key that says which environment it is."""


def sweep(settings: Sequence[Setting], choice: Choice = "population") -> Sweep | None:
    """The losses of a sweep, of the complete runs that all its settings have; None where there are none."""
    runs = min(store.run_of(setting.experiment).complete() for setting in settings)
    if not runs:
        return None
    names = tuple(last_part(key) for key in settings[0].varied)
    found = {tuple(setting.varied.values()): losses(store.load(setting.experiment, runs)) for setting in settings}
    return Sweep(names, found, choice)


def sweeps(settings: Mapping[str, Sequence[Setting]], choice: Choice = "population") -> dict[str, Sweep]:
    """Those of several sweeps of which something is stored, by their names."""
    found = {name: sweep(of_sweep, choice) for name, of_sweep in settings.items()}
    return {name: of_sweep for name, of_sweep in found.items() if of_sweep}


def under(reading: Reading, settings: Mapping[str, Sequence[Setting]]) -> list[Judged]:
    """The verdicts under a reading, corrected for the number of claims under it; empty where nothing is stored."""
    chosen = reading.overrides({"gamma_schedule": "best_fixed"})
    return judge(sweeps(settings, "per_run" if "gamma_schedule.choice=per_run" in chosen else "population"))


def environments(settings: Sequence[Setting]) -> list[list[Setting]]:
    """The settings of a sweep over environments, one list for each, without the key that tells them apart."""
    found: dict[int, list[Setting]] = {}
    for setting in settings:
        varied = {key: value for key, value in setting.varied.items() if key != ENVIRONMENT}
        found.setdefault(setting.varied[ENVIRONMENT], []).append(Setting(varied, setting.experiment))
    return list(found.values())


def in_environment(settings: Sequence[Setting]) -> dict[str, Evidence]:
    """What the losses of one environment say of each claim that they decide; empty where nothing is stored."""
    of_environment = sweep(settings)
    found = {}
    for claim in CLAIMS:
        if of_environment and claim.experiments == ("task_similarity",):
            with suppress(LookupError):  # a claim about a similarity that the environments do not have
                found[claim.id] = Evidence(claim.parts(of_environment))
    return found
