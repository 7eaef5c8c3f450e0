"""Look up and write stored experiments.

    outputs/runs/<signature>/
      experiment.json                          settings, code, versions; written once
      runs-000000-000199-<digest>.parquet      a block of runs
      runs-000600.complete                     an empty file: 600 runs were complete.
      tag-<name>, note-<digest>                labels
      run.log                                  times and commands

Complete files are renamed into place, and their names identify their content. So neither locks nor a list of blocks are
needed: processes that compute the same block write the same file.
"""

import errno
import json
import os
import re
import shutil
import warnings
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import TYPE_CHECKING, Any, cast
from uuid import uuid4

from pomrl.configuration.composed import ConfigError, number_of, unknown_key
from pomrl.configuration.parsing import Experiment, Label
from pomrl.configuration.settings import component_classes, flat_settings, scientific_settings
from pomrl.science.gamma_schedules import Hindsight
from pomrl.science.gamma_star import in_hindsight
from pomrl.store import block_files, files, manifests
from pomrl.store.block_files import StoredBlock
from pomrl.store.code_digest import code_digest
from pomrl.store.files import BLOCK, SCHEMA_VERSION, StoreError, StoreWarning, UnreadableError, root
from pomrl.store.manifests import DESCRIPTION, Manifest, decisive_versions, now, provenance, releases
from pomrl.store.stored_experiments import LOG, StoredExperiment, is_ours, name_of_count

if TYPE_CHECKING:  # slow to import
    import pandas as pd


IsReproduced = Callable[[StoredExperiment, StoredBlock], bool]
"""A function that recomputes a block, and returns whether its numbers are the same."""


def signature(experiment: Experiment) -> str:
    """Compute the signature: 12 hex digits over settings, schema and code.

    It is cached on the experiment. ConfigError if a field is not a JSON value.
    """
    cache = vars(experiment)
    if "signature" not in cache:
        settings = scientific_settings(experiment)
        code = code_digest(component_classes(settings))
        for key, value in flat_settings(settings, {}).items():
            if not manifests.is_json(value):
                values = "text, a finite number, a boolean, None or a list"
                raise ConfigError(f"{key} must be a JSON value ({values}), got {value!r}")
        cache["signature"] = manifests.compute_signature(settings, schema=SCHEMA_VERSION, code=code)
    return cache["signature"]


def lookup(experiment: Experiment) -> StoredExperiment:
    """Return the stored experiment of a configuration; its folder may be missing."""
    return StoredExperiment(root() / signature(experiment))


def find_missing(stored: StoredExperiment, runs: int) -> tuple[list[range], list[str]]:
    """Find the runs to compute, by block, and the faults of files.

    Without a description, runs of other or unknown package versions count as missing. UnreadableError if the system
    cannot read a file.
    """
    description, faulty = _read_description(stored), stored.faulty_blocks()
    unproven = [] if description else stored.unproven_blocks(decisive_versions())
    number = number_of(len(unproven), "block")
    doubt = f"{stored.folder}: {number} of other or unknown package versions will be recomputed if one differs"
    faults = [*stored.faults(faulty=faulty), *([doubt] if unproven else [])]
    return missing_runs(stored, max(runs, stored.logged_runs()), {*faulty, *unproven}), faults


def missing_runs(stored: StoredExperiment, runs: int, faulty: Collection[StoredBlock] = ()) -> list[range]:
    """List the missing runs by block, including runs of faulty blocks.

    Runs beyond `runs` count if stored or recorded as complete.
    """
    stop = {block.runs.start // BLOCK: block.runs.stop for block in stored.blocks() if block not in faulty}
    total = max(runs, stored.recorded_runs(), *stop.values())
    starts = [(max(block.start, stop.get(block.start // BLOCK, 0)), block) for block in divide_into_blocks(total)]
    return [range(start, block.stop) for start, block in starts if start < block.stop]


def divide_into_blocks(runs: int) -> list[range]:
    """Divide runs into blocks of `BLOCK`; the last may be shorter."""
    return [range(start, min(start + BLOCK, runs)) for start in range(0, runs, BLOCK)]


def open_experiment(
    experiment: Experiment,
    *,
    force: bool = False,
    is_reproduced: IsReproduced = lambda _stored, _block: False,
) -> StoredExperiment:
    """Write the description of an experiment unless it is stored.

    Other patch releases, or blocks of unknown versions without a description, are accepted if `is_reproduced` confirms
    one block; otherwise these blocks are removed.

    StoreError if its runs used other package versions, unless `force`; UnreadableError if the description exists, but
    cannot be read.
    """
    stored, present = lookup(experiment), decisive_versions()
    before = _read_description(stored)
    if before and not force and releases(before.versions) == releases(present) and before.versions != present:
        unproven = stored.unproven_blocks(present)
        present = before.versions if _is_proven(stored, unproven, is_reproduced) else present
    if before and before.versions != present and not force:
        versions = manifests.describe_versions(before.versions, "now", present)
        raise StoreError(
            f"{stored.folder}: runs were computed with other package versions ({versions}); "
            "set force=true to compute them again"
        )
    if before is None:
        _remove_unproven(stored, is_reproduced)
        files.remove(stored.folder / DESCRIPTION)
    if before is None or before.versions != present:
        settings = scientific_settings(experiment)
        code, plain = code_digest(component_classes(settings)), json.loads(json.dumps(settings))
        manifest = Manifest(plain, SCHEMA_VERSION, code, present, _options(experiment), provenance())
        manifests.write(stored.folder, manifest)
    return stored


def _read_description(stored: StoredExperiment) -> Manifest | None:
    try:
        return stored.read_manifest()
    except UnreadableError:
        raise  # an error of the system does not show that the description is lost
    except StoreError:
        return None


def _is_proven(stored: StoredExperiment, unproven: Sequence[StoredBlock], is_reproduced: IsReproduced) -> bool:
    return not unproven or is_reproduced(stored, min(unproven, key=lambda block: len(block.runs)))


def _remove_unproven(stored: StoredExperiment, is_reproduced: IsReproduced) -> None:
    """Remove blocks of other or unknown versions unless one is reproduced."""
    unproven = stored.unproven_blocks(decisive_versions())
    if not _is_proven(stored, unproven, is_reproduced):
        number = number_of(len(unproven), "block")
        log(stored, f"removed {number} of other or unknown package versions, because one was not reproduced")
        for block in unproven:
            files.remove(stored.folder / block.name)


def repair(stored: StoredExperiment) -> None:
    """Remove damaged blocks and labels."""
    for name in [*(block.name for block in stored.faulty_blocks()), *stored.faulty_labels()]:
        files.remove(stored.folder / name)


def _options(experiment: Experiment) -> dict[str, str]:
    schedule = experiment.method.gamma_schedule
    return {
        **experiment.options,
        **({"gamma_schedule": "grid"} if schedule.computed_schedule() is not schedule else {}),
    }


def add_block(stored: StoredExperiment, runs: range, encoded: Mapping[range, bytes]) -> bool:
    """Store encoded runs of a block, joined to its stored runs.

    Only the longest block with the same first run is kept. Return False, with nothing stored, if another
    process removed earlier runs.
    """
    merged = range(runs.start // BLOCK * BLOCK, runs.stop)
    try:
        content = encoded.get(merged) or block_files.encode(_join(stored, merged, encoded), stored.signature, merged)
    except StoreError:
        return False
    block = StoredBlock.from_content(merged, content)
    files.write(stored.folder / block.name, content)
    siblings = [other for other in stored.files() if other.runs.start == merged.start and other != block]
    longer = [other for other in siblings if other.runs.stop > merged.stop and not stored.block_fault(other)]
    for other in {block, *siblings} - {*longer} if longer else siblings:
        (stored.folder / other.name).unlink(missing_ok=True)
    return True


def _join(stored: StoredExperiment, merged: range, encoded: Mapping[range, bytes]) -> "pd.DataFrame":
    import pandas as pd

    names, shape = stored.column_names(), stored.shape()
    ordered = sorted(encoded, key=lambda runs: runs.start)
    tables = [pd.DataFrame(block_files.decode(encoded[runs], stored.signature, runs, names, shape)) for runs in ordered]
    first = ordered[0].start
    if first > merged.start:
        # Another process may have stored more runs meanwhile.
        before = [block for block in stored.files() if block.runs.start == merged.start and block.runs.stop >= first]
        if not before:
            raise StoreError(f"{stored.folder}: the runs before run {first} were removed")
        stored_rows = pd.DataFrame(block_files.columns(stored.folder, before[-1], names, shape))
        tables.insert(0, stored_rows[stored_rows["run"] < first])
    return pd.concat(tables, ignore_index=True)


def label(
    stored: StoredExperiment,
    tag: Label = None,
    note: Label = None,
    without: Label = None,
    looks: Mapping[str, Mapping[str, Any]] | None = None,
) -> None:
    """Add a tag and a note, remove the tag `without`, and replace plot styles."""
    looks_text = json.dumps(looks) if looks else None
    for kind, text in ((manifests.TAG, tag), (manifests.NOTE, note), (manifests.LOOKS, looks_text)):
        if text is not None:
            manifests.add_label(stored.folder, kind, str(text))
    outdated = [] if without is None else [name for name in stored.names() if manifests.tag_of(name) == str(without)]
    if looks_text:
        present = manifests.label_name(manifests.LOOKS, looks_text)
        outdated += [name for name in stored.names() if name.startswith(manifests.LOOKS) and name != present]
    for name in outdated:
        (stored.folder / name).unlink(missing_ok=True)


def complete(stored: StoredExperiment) -> None:
    """Record the number of complete runs in the name of an empty file."""
    if stored.recorded_runs() < (runs := stored.contiguous()):
        files.write(stored.folder / name_of_count(runs), b"")


def remove(stored: StoredExperiment) -> None:
    """Remove an experiment's stored files, and keep other files; of a link, remove only the link.

    The folder is renamed first, so that blocks of other processes are removed or kept whole. PermissionError, before
    any change, if its files cannot be removed.
    """
    away = root() / f".removed-{stored.signature}-{uuid4().hex[:8]}"
    try:
        if stored.folder.is_symlink():
            stored.folder.unlink()  # its files belong to another place
            return
        if stored.folder.is_dir() and not os.access(stored.folder, os.W_OK):
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(stored.folder))
        stored.folder.rename(away)
    except FileNotFoundError:
        return
    for path in [path for path in away.iterdir() if not (is_ours(path.name) or path.name.endswith(".tmp"))]:
        files.make_folder(stored.folder)
        path.rename(stored.folder / path.name)
    shutil.rmtree(away)
    files.sync_folder(root())


def log(stored: StoredExperiment, text: str) -> None:
    """Append lines to the experiment's log, with the present time."""
    files.make_folder(stored.folder)
    with (stored.folder / LOG).open("a") as file:
        file.writelines(f"{now()[:19]} {line}\n" for line in text.splitlines())


def load(experiment: Experiment, runs: int | None = None) -> "pd.DataFrame":
    """Load the stored table, with a hindsight schedule applied to its losses.

    StoreError: runs are missing or damaged.
    """
    table, schedule = lookup(experiment).table(runs), experiment.method.gamma_schedule
    return in_hindsight(table, schedule) if isinstance(schedule, Hindsight) else table


def all_experiments() -> list[StoredExperiment]:
    """List all stored experiments, usable or not."""
    folder = root()
    names = os.listdir(folder) if folder.is_dir() else []  # noqa: PTH208 (three times as fast)
    stored = [StoredExperiment(folder / name) for name in sorted(names) if _SIGNATURE.fullmatch(name)]
    return [experiment for experiment in stored if experiment.is_there()]


_SIGNATURE = re.compile("[0-9a-f]{12}")


def usable_experiments() -> list[StoredExperiment]:
    """List the usable experiments; emit a `StoreWarning` for each unusable one."""
    faults = {stored: stored.fault() for stored in all_experiments()}
    for fault in filter(None, faults.values()):
        warnings.warn(fault, StoreWarning, stacklevel=2)
    return [stored for stored, fault in faults.items() if not fault]


def find(tag: object = None, **filters: Any) -> list[StoredExperiment]:
    """Find stored experiments by settings; a list matches any of its elements.

    StoreError for a key of no stored experiment.
    """
    settings = {
        stored: stored.flat_settings() for stored in usable_experiments() if tag is None or str(tag) in stored.tags()
    }
    keys = {key for setting in settings.values() for key in setting}
    if unknown := [key for key in filters if settings and key not in keys]:
        raise StoreError(unknown_key(unknown[0], unknown[0], sorted(keys), "unknown key of stored experiments"))
    return [
        stored
        for stored, setting in settings.items()
        if all(key in setting and _matches(setting[key], value) for key, value in filters.items())
    ]


def _matches(value: Any, accepted: Any) -> bool:
    return value == accepted or (isinstance(accepted, list | tuple) and value in cast(Sequence[Any], accepted))


def by_signature(start: str) -> StoredExperiment:
    """Find a stored experiment by the start of its signature.

    StoreError unless exactly one matches.
    """
    matches = [stored for stored in all_experiments() if stored.signature.startswith(start)]
    if len(matches) != 1:
        raise StoreError(
            f"the signature {start} must match one stored experiment, got {len(matches)}; pomrl runs lists all"
        )
    return matches[0]
