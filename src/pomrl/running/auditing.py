"""Recomputing stored blocks: digests show damage, and this shows numbers that are wrong."""

from collections.abc import Mapping
from functools import cache
from typing import Any, cast

from pomrl.configuration.composed import GROUPS, Composed, ConfigError
from pomrl.configuration.parsing import Experiment, parse
from pomrl.configuration.sources import PUBLISHED
from pomrl.configuration.sweeps import compose_sweep
from pomrl.execution.parallel import one_thread
from pomrl.running.work import Failure, Part, compute_part
from pomrl.store import StoredBlock, StoredExperiment, StoreError, signature


def is_recomputed(stored: StoredExperiment, block: StoredBlock, experiment: Experiment) -> bool:
    """Return whether the present code gives the file of a block again, to the byte.

    Raises:
        StoreError: The settings have another signature under the present code, or the computation failed.
    """
    if signature(experiment) != stored.signature:
        raise StoreError("its settings have another signature under the present code")
    part = Part(experiment.problem, {stored.signature: experiment.method}, block.runs, block.runs)
    with one_thread():
        outcome = compute_part(part, experiment.execution.runs_at_a_time)[stored.signature]
    if isinstance(outcome, Failure):
        raise StoreError(outcome.reason)
    return StoredBlock.of(block.runs, outcome) == block


def from_settings(stored: StoredExperiment) -> Experiment:
    """Return the experiment that the stored settings describe.

    Raises:
        StoreError: The description of the experiment is missing or damaged.
        ConfigError: The settings are wrong, or a class is not of this package, so that it must not be imported.
    """
    if not is_of_package(stored):
        raise ConfigError("it has components of somebody's own; pomrl audit STUDY takes them from a study")
    manifest = stored.read_manifest()
    # Settings leave out defaults where they decide nothing.
    return parse(Composed({**_defaults(), **manifest.settings}, manifest.options))


def is_of_package(stored: StoredExperiment) -> bool:
    """Return whether all components that the stored settings name are of this package."""
    settings = stored.read_manifest().settings
    groups = [cast(dict[str, Any], settings[group]) for group in GROUPS if isinstance(settings.get(group), dict)]
    return all(str(group.get("_target_")).startswith("pomrl.") for group in groups)


def refuse_wrong_settings(stored: StoredExperiment) -> None:
    """Raise a ConfigError if the stored settings are those of no experiment, as far as components of ours can tell."""
    if is_of_package(stored):
        from_settings(stored)


def fault_of_settings(stored: StoredExperiment) -> str | None:
    """Return why the stored settings, whose description can be read, are those of no experiment; or None."""
    try:
        if stored.manifest():
            refuse_wrong_settings(stored)
    except ConfigError as error:
        return f"{stored.folder}: its settings are wrong ({error}); remove the folder"
    return None


@cache
def _defaults() -> Mapping[str, Any]:
    (defaults,) = compose_sweep(PUBLISHED, [], is_sweep=False).jobs
    return defaults.values
