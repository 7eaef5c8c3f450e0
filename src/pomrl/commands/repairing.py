"""Computing damaged experiments and simulations again, and the sweeps that experiments belong to."""

import shlex
from collections.abc import Sequence
from dataclasses import replace

from pomrl import store
from pomrl.commands.progress import progress_of, simulate
from pomrl.commands.terminal import PROGRAM, one_line
from pomrl.configuration.composed import GROUPS, Composed, ConfigError
from pomrl.configuration.parsing import Experiment, parse
from pomrl.configuration.study import shipped
from pomrl.execution import ExecutionError
from pomrl.running.ensuring import ensure
from pomrl.science.agents.agent import CertaintyEquivalence
from pomrl.science.metrics.metric import PlanningLoss
from pomrl.store import StoredExperiment, StoreError, stored_simulations
from pomrl.theory.simulations import SIMULATIONS


def sweeps_by_signature() -> dict[str, list[str]]:
    """Return the names of the sweeps of studies that each of their experiments belongs to, by signature."""
    names: dict[str, list[str]] = {}
    for study in shipped():
        for name in study.sweeps:
            for signature in dict.fromkeys(store.signature(each.experiment) for each in study.settings(name)):
                names.setdefault(signature, []).append(study.option(name))
    return names


def repair(listed: Sequence[StoredExperiment]) -> list[str]:
    """Compute again what is damaged of stored experiments and of simulations; return a line for what cannot be.

    An experiment can be computed again if it belongs to a sweep of a shipped study, or if its settings can be read,
    name classes of this package only, and have its signature under the present code. The other runs of it are kept.
    """
    lines: list[str] = []
    for stored in (stored for stored in listed if stored.faults()):
        try:
            _compute_again(stored)
        except (StoreError, ConfigError, ExecutionError, OSError) as error:
            lines.append(f"{stored.folder}: not mended ({one_line(error)}); {_command(stored)} computes it again")
    damaged = {each.sidecar.parent.name for each in stored_simulations.all_simulations() if each.fault()}
    simulate(name for name, each in SIMULATIONS.items() if damaged and stored_simulations.signature(each) in damaged)
    return lines


def _command(stored: StoredExperiment) -> str:
    """Return the command that has computed an experiment, as a shell reads it, as far as that is known."""
    said = stored.manifest()
    command = said.provenance.command if said else ()
    known = command[:1] == (f"{PROGRAM} run",)
    return f"{PROGRAM} run {shlex.join(command[1:]) if known else 'with its settings'}"


def _compute_again(stored: StoredExperiment) -> None:
    """Compute the runs of a stored experiment that are damaged, as `pomrl run` would.

    Raises:
        ConfigError: No settings are known that have its signature, or it does not fit into the memory or on the disk.
        ExecutionError: The experiment fails.
    """
    runs = max(1, stored.extent())
    experiment = _published(stored.signature) or from_settings(stored)
    if store.signature(experiment) != stored.signature:
        raise ConfigError("its settings have another signature under the present code")
    experiment = replace(experiment, request=replace(experiment.request, runs=runs, force=False, dry_run=False))
    ensure([experiment], progress_of)


def _published(signature: str) -> Experiment | None:
    """Return the experiment of a sweep of a study that has this signature, or None if there is none."""
    settings = (each for study in shipped() for name in study.sweeps for each in study.settings(name))
    return next((each.experiment for each in settings if store.signature(each.experiment) == signature), None)


def from_settings(stored: StoredExperiment) -> Experiment:
    """Return the experiment that the stored settings describe, if all classes in them are of this package.

    Raises:
        StoreError: The file of the settings is missing or damaged.
        ConfigError: The settings are wrong, or a class is not of this package, so that it must not be imported.
    """
    settings = stored.written_settings()
    if not isinstance(settings, dict):
        raise ConfigError(f"{stored.folder}: its settings are damaged")
    groups = {group: value for group, value in settings.items() if group in GROUPS and isinstance(value, dict)}
    if not all(str(value.get("_target_")).startswith("pomrl.") for value in groups.values()):
        raise ConfigError("it has components of your own: the pomrl run or pomrl reproduce that made it does so")
    manifest = stored.manifest()
    default = {"agent": {"_target_": _named(CertaintyEquivalence)}, "metric": {"_target_": _named(PlanningLoss)}}
    here = {"execution": {"_target_": "pomrl.execution.local.Local"}, "runs": 1}
    return parse(Composed({**default, **settings, **here}, manifest.options if manifest else {}))


def _named(cls: type) -> str:
    return f"{cls.__module__}.{cls.__qualname__}"
