"""Finding stored experiments, by what they are or by their settings, and loading their tables."""

from collections.abc import Sequence
from typing import Any, cast

import pandas as pd

from pomrl.configuration.parsing import Experiment
from pomrl.science.gamma_schedules import Hindsight
from pomrl.science.gamma_star import in_hindsight
from pomrl.store.layout import MANIFEST, StoreError, is_signature, root
from pomrl.store.reading import StoredExperiment
from pomrl.store.signatures import signature


def lookup(experiment: Experiment) -> StoredExperiment:
    """Return the stored experiment of this configuration; its folder need not exist yet."""
    return StoredExperiment(root() / signature(experiment))


def load(which: str | Experiment, runs: int | None = None) -> "pd.DataFrame":
    """Return the stored table of an experiment.

    For an experiment with a hindsight schedule, the table has one row for each run and task, with the discount factor
    that the schedule chooses given the losses of these runs.

    Args:
        which: An experiment, or the first digits of its signature.
        runs: The number of runs, from run 0 on; by default all that are stored.

    Raises:
        StoreError: The experiment is not stored, or has fewer runs, or a block of it is damaged.
    """
    if isinstance(which, str):
        return by_signature(which).table(runs)
    table = lookup(which).table(runs)
    schedule = which.method.gamma_schedule
    return in_hindsight(table, schedule) if isinstance(schedule, Hindsight) else table


def find(tag: object = None, **wanted: Any) -> list[StoredExperiment]:
    """Return the stored experiments with these settings, such as `find(sigma=0.01, estimator="pomrl")`.

    Args:
        tag: A tag that they have, which `+tag=...` gave them.
        **wanted: Values by dotted key. A key with a dot is given as in `find(**{"estimator.prior": "exclusive"})`.
            A list or tuple stands for each of its elements, and for itself.

    Raises:
        StoreError: No stored experiment has one of the keys.
    """
    tagged = [
        each for each in all_experiments() if (said := each.manifest()) and (tag is None or str(tag) in said.tags)
    ]
    settings = {stored: stored.flat_settings() for stored in tagged}
    known = {key for each in settings.values() for key in each}
    for key in wanted:
        if settings and key not in known:
            raise StoreError(f"{key}: no stored experiment has this key; there are {', '.join(sorted(known))}")
    return [
        stored
        for stored, each in settings.items()
        if all(key in each and _is(each[key], value) for key, value in wanted.items())
    ]


def _is(value: Any, wanted: Any) -> bool:
    """Return whether a value is what is wanted, or one of several that are."""
    return value == wanted or (isinstance(wanted, list | tuple) and value in cast(Sequence[Any], wanted))


def all_experiments() -> list[StoredExperiment]:
    """Return all folders in the store whose name is a signature, usable or not; symbolic links are left out."""
    folders = (path for path in sorted(root().glob("*")) if is_signature(path.name))
    return [StoredExperiment(path) for path in folders if path.is_dir() and not path.is_symlink()]


def only_copies() -> set[StoredExperiment]:
    """Return what other code has computed of settings of which the present code has computed fewer runs, or none."""
    everything = {stored: stored.identity() for stored in all_experiments()}
    outdated = {stored for stored in everything if stored.outdated()}
    kept: dict[str, int] = {}
    for stored in everything.keys() - outdated:
        kept[everything[stored]] = max(stored.complete(), kept.get(everything[stored], 0))
    return {stored for stored in outdated if stored.complete() > kept.get(everything[stored], 0)}


def by_signature(start: str) -> StoredExperiment:
    """Return the stored experiment whose signature starts with these digits.

    Raises:
        StoreError: There is no such experiment, or more than one.
    """
    matches = [stored for stored in all_experiments() if stored.signature.startswith(start)]
    matches = [stored for stored in matches if (stored.folder / MANIFEST).exists()]
    if not matches:
        raise StoreError(f"no stored experiment has a signature that starts with {start}")
    if len(matches) > 1:
        raise StoreError(f"{len(matches)} stored experiments have a signature that starts with {start}")
    return matches[0]
