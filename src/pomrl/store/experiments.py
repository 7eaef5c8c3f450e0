"""The experiments of the store: looked up, found, and written.

    outputs/runs/<signature>/
      experiment.json                          settings, which give the signature; code, versions, tags
      runs-000000-000199-<digest>.parquet      a block of runs, under the digest of its content
      run.log

A file gets its name when it is whole, and its name says what its content is. So there is no list of blocks to keep
right, no lock, and nothing to repair: what has another digest than its name is not there. Processes that compute the
same block write the same file.
"""

import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, cast

import pandas as pd

from pomrl.configuration.composed import ConfigError
from pomrl.configuration.parsing import Experiment, Label
from pomrl.configuration.settings import component_classes, scientific_settings
from pomrl.configuration.wording import unknown_key
from pomrl.science.gamma_schedules import Hindsight
from pomrl.science.gamma_star import in_hindsight
from pomrl.store import block_files, files, manifests
from pomrl.store.block_files import StoredBlock
from pomrl.store.code_digest import code_digest
from pomrl.store.layout import BLOCK, SCHEMA_VERSION, StoreError, root
from pomrl.store.manifests import DESCRIPTION, Manifest
from pomrl.store.provenance import decisive_versions, now, provenance
from pomrl.store.stored_experiments import StoredExperiment


def signature(experiment: Experiment) -> str:
    """Return the signature of an experiment: 12 hex digits, made from its settings, the schema and its code.

    It is kept with the experiment, because it is asked for again and again.
    """
    kept = vars(experiment)
    if "signature" not in kept:
        kept["signature"] = _signature(scientific_settings(experiment))
    return kept["signature"]


def _signature(settings: Mapping[str, Any]) -> str:
    try:
        return manifests.signature_of(settings, schema=SCHEMA_VERSION, code=code_digest(component_classes(settings)))
    except (TypeError, ValueError) as error:
        raise ConfigError(f"fields of components have to be text, numbers, or lists of them ({error})") from error


def lookup(experiment: Experiment) -> StoredExperiment:
    """Return the stored experiment of this configuration; its folder need not exist yet."""
    return StoredExperiment(root() / signature(experiment))


def missing(stored: StoredExperiment, runs: int) -> tuple[list[range], list[str]]:
    """Return the runs that are to be computed, in parts of blocks, and a line for each fault of what is stored."""
    needed = [block for block in stored.blocks() if block.runs.start < runs]
    faulty = {block: fault for block in needed if (fault := stored.fault_of(block))}
    stop = {block.runs.start // BLOCK: block.runs.stop for block in needed if block not in faulty}
    parts = [range(max(part.start, stop.get(part.start // BLOCK, 0)), part.stop) for part in divide_into_blocks(runs)]
    return [part for part in parts if part], [*faulty.values()]


def divide_into_blocks(runs: int) -> list[range]:
    """Return the runs from 0 on, divided into blocks of `BLOCK` runs; the last block may have fewer."""
    return [range(start, min(start + BLOCK, runs)) for start in range(0, runs, BLOCK)]


def open_experiment(experiment: Experiment, *, force: bool = False) -> StoredExperiment:
    """Write what an experiment is, unless that is stored; StoreError if runs were computed with other packages."""
    stored, settings = lookup(experiment), scientific_settings(experiment)
    said, here = stored.manifest(), decisive_versions()
    if said and said.versions != here and not force:
        before = ", ".join(f"{package} {version}" for package, version in said.versions.items())
        raise StoreError(f"{stored.folder}: its runs were computed with {before}; force=true computes them again")
    if said is None or said.versions != here:
        manifests.write(
            stored.folder,
            Manifest(
                json.loads(json.dumps(settings)),
                SCHEMA_VERSION,
                code_digest(component_classes(settings)),
                here,
                _options(experiment),
                provenance(),
            ),
        )
    return stored


def _options(experiment: Experiment) -> dict[str, str]:
    schedule = experiment.method.gamma_schedule
    return {
        **experiment.options,
        **({"gamma_schedule": "grid"} if schedule.computed_schedule() is not schedule else {}),
    }


def add_block(stored: StoredExperiment, runs: range, parts: Mapping[range, bytes]) -> None:
    """Store runs of a block, encoded in one or more parts, together with the runs before them that are stored."""
    held = range(runs.start // BLOCK * BLOCK, runs.stop)
    before = [block for block in stored.files() if block.runs.start == held.start]
    content = parts.get(held) or block_files.encode(_join(stored, before, parts), stored.signature, held)
    block = StoredBlock.of(held, content)
    files.write(stored.folder / block.name, content)
    for old in before:
        if old != block and (old.runs.stop <= held.stop or stored.fault_of(old)):
            (stored.folder / old.name).unlink(missing_ok=True)


def _join(stored: StoredExperiment, before: Sequence[StoredBlock], parts: Mapping[range, bytes]) -> "pd.DataFrame":
    """Return the table of parts of a block, below the stored runs of the block that come before them."""
    names, first = stored.names(), min(part.start for part in parts)
    of_parts = {part.start: block_files.decode(parts[part], stored.signature, part, names) for part in parts}
    tables = [pd.DataFrame(of_parts[start]) for start in sorted(of_parts)]
    if first % BLOCK:
        # It may have more by now, of another process.
        kept = pd.DataFrame(block_files.columns(stored.folder, before[-1], names))
        tables.insert(0, kept[kept["run"] < first])
    return pd.concat(tables, ignore_index=True)


def label(
    stored: StoredExperiment,
    tag: Label = None,
    note: Label = None,
    without: Label = None,
    looks: Mapping[str, Mapping[str, Any]] | None = None,
) -> None:
    """Add a tag and a note to what is stored, and take another tag away; say how options look now."""
    said = stored.read_manifest()
    tags = dict.fromkeys([*said.tags, *([] if tag is None else [str(tag)])])
    notes = dict.fromkeys([*said.notes, *([] if note is None else [str(note)])])
    if without is not None:
        tags.pop(str(without), None)
    labelled = replace(said, tags=[*tags], notes=[*notes], looks=said.looks if looks is None else {**looks})
    if labelled != said:
        manifests.write(stored.folder, labelled)


def close_experiment(stored: StoredExperiment, experiment: Experiment) -> None:
    """Say when the computation of runs ended, and what the options were called that asked for them."""
    said = stored.read_manifest()
    ended = replace(said, options=_options(experiment), provenance=replace(said.provenance, end=now()))
    manifests.write(stored.folder, ended)


def log(stored: StoredExperiment, text: str) -> None:
    """Append lines to the log of an experiment, each with the present time before it."""
    with (stored.folder / "run.log").open("a") as file:
        file.writelines(f"{now()[:19]} {line}\n" for line in text.splitlines())


def load(experiment: Experiment, runs: int | None = None) -> "pd.DataFrame":
    """Return the stored table of an experiment; a hindsight schedule chooses given the losses of these runs."""
    table, schedule = lookup(experiment).table(runs), experiment.method.gamma_schedule
    return in_hindsight(table, schedule) if isinstance(schedule, Hindsight) else table


def all_experiments() -> list[StoredExperiment]:
    """Return all experiments in the store, usable or not."""
    folder = root()
    names = os.listdir(folder) if folder.is_dir() else []  # noqa: PTH208 (a third of the time)
    return [StoredExperiment(folder / name) for name in sorted(names) if (folder / name / DESCRIPTION).exists()]


def find(tag: object = None, **wanted: Any) -> list[StoredExperiment]:
    """Return the stored experiments with these settings; a list stands for each of its elements."""
    settings = {
        experiment: said.flat_settings()
        for experiment in all_experiments()
        if (said := experiment.manifest()) and (tag is None or str(tag) in said.tags)
    }
    known = {key for setting in settings.values() for key in setting}
    if unknown := [key for key in wanted if settings and key not in known]:
        raise StoreError(unknown_key(unknown[0], unknown[0], sorted(known), "no stored experiment has this key"))
    return [
        stored
        for stored, setting in settings.items()
        if all(key in setting and _is(setting[key], value) for key, value in wanted.items())
    ]


def _is(value: Any, wanted: Any) -> bool:
    return value == wanted or (isinstance(wanted, list | tuple) and value in cast(Sequence[Any], wanted))


def by_signature(start: str) -> StoredExperiment:
    """Return the one stored experiment whose signature starts with these digits."""
    matches = [stored for stored in all_experiments() if stored.signature.startswith(start)]
    if len(matches) != 1:
        raise StoreError(f"{len(matches)} stored experiments have a signature that starts with {start}")
    return matches[0]
