"""Writing experiments: first the file of a block, then its line in the list of blocks.

A process that is killed between the two loses one block. The lock of an experiment's folder is held only while files
that are already on disk get their final names and lines are appended to the list.
"""

import json
import os
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import replace as replaced
from pathlib import Path

import pandas as pd
import yaml

from pomrl.configuration.derived import derived
from pomrl.configuration.parsing import Experiment
from pomrl.configuration.settings import component_classes, scientific_settings
from pomrl.store import blocks, code_labels, files, manifest, origins
from pomrl.store.blocks import StoredBlock
from pomrl.store.code_digest import code_digest
from pomrl.store.finding import lookup
from pomrl.store.layout import (
    BLOCK,
    BLOCK_LIST,
    CONFIG,
    LOG,
    MANIFEST,
    SCHEMA_VERSION,
    StoreError,
    is_block_name,
    is_replaced,
)
from pomrl.store.manifest import Manifest, Status
from pomrl.store.provenance import decisive_versions, now, provenance
from pomrl.store.reading import StoredExperiment
from pomrl.store.table_checks import fault_of_columns


def open_experiment(experiment: Experiment, *, force: bool = False) -> StoredExperiment:
    """Prepare the folder of an experiment for writing.

    Damaged settings and a damaged list of blocks are repaired, and the files of blocks that are not listed are removed.

    Args:
        experiment: The experiment.
        force: Remove the stored runs if they were computed with other versions, instead of raising an error.

    Raises:
        StoreError: The stored runs were computed with another version of NumPy, SciPy, pandas or pyarrow, whose numbers
            or bytes may differ; the folder is a symbolic link; or there is a folder in the place of one of its files.
    """
    stored = lookup(experiment)
    stored.folder.mkdir(parents=True, exist_ok=True)
    classes = component_classes(scientific_settings(experiment))
    code_labels.record(code_digest(classes), classes)
    if stored.folder.is_symlink():
        raise StoreError(f"{stored.folder}: it is a link, and what it leads to is left alone")
    with files.locked(stored.folder):
        _refuse_folders(stored.folder)
        said = stored.manifest()
        differing = _differing_versions(said)
        if differing and not force:
            raise StoreError(
                f"{stored.folder}: its runs were computed with {', '.join(differing)}; force=true computes them again"
            )
        said = None if differing else said
        _tidy(stored.folder, blocks.listed(stored.folder)[0] if said else [])
        plain = json.loads(
            json.dumps(scientific_settings(experiment))
        )  # of which the signature is made, and no aliases
        files.write(stored.folder / CONFIG, yaml.safe_dump(plain, sort_keys=False, allow_unicode=True).encode())
        begun = replaced(said, provenance=provenance(), status="incomplete") if said else _begun(stored, experiment)
        manifest.write(stored.folder, begun)
    return stored


def _refuse_folders(folder: Path) -> None:
    """Raise a StoreError if a file that is about to be written is a folder, before anything else is changed."""
    for path in (folder / CONFIG, folder / MANIFEST, folder / BLOCK_LIST):
        if path.is_dir():
            raise StoreError(f"{path}: it is a folder in the place of a file; remove it")


def _differing_versions(said: Manifest | None) -> list[str]:
    here = decisive_versions()
    began_with = said.versions if said else here
    return [f"{name} {began_with.get(name)}, this is {of}" for name, of in here.items() if began_with.get(name) != of]


def _begun(stored: StoredExperiment, experiment: Experiment) -> Manifest:
    """Return the manifest of an experiment of which no run has been computed yet."""
    return Manifest(
        schema=SCHEMA_VERSION,
        signature=stored.signature,
        code=code_digest(component_classes(scientific_settings(experiment))),
        versions=decisive_versions(),
        options=_options_computed(experiment),
        derived=derived(experiment.problem, experiment.method),
        status="incomplete",
        provenance=provenance(),
    )


def _options_computed(experiment: Experiment) -> dict[str, str]:
    """Return the name of each group's option; a hindsight schedule is named `grid`, because a grid is stored for it."""
    options = dict(experiment.options)
    schedule = experiment.method.gamma_schedule
    if schedule.computed() is not schedule:
        options["gamma_schedule"] = "grid"
    return options


def _tidy(folder: Path, listed: Sequence[StoredBlock]) -> None:
    """Rewrite the list to these blocks, and remove abandoned temporary files and the files of all other blocks.

    The caller holds the lock of the folder, so that no other process has renamed a file that it has yet to list.
    """
    blocks.rewrite(folder, listed)
    files.remove_abandoned(folder, is_replaced)
    names = {block.name for block in listed}
    for path in folder.glob("*.parquet"):
        if is_block_name(path.name) and path.name not in names:
            path.unlink(missing_ok=True)


def add_blocks(
    stored: StoredExperiment, tables: "Sequence[tuple[range, pd.DataFrame]]", *, replace: bool = False
) -> None:
    """Store tables of runs, and add their blocks to the list together.

    The table of a part of a block is joined with the runs of the block that are stored already. A block is never
    replaced by one with fewer runs. For whole blocks, the cost does not depend on how many blocks are stored.

    Args:
        stored: The experiment that the runs belong to.
        tables: Runs and their tables; the runs of each are a block, or a part of one block.
        replace: Let the table of a part take the place of the runs that are stored, instead of joining the two.

    Raises:
        StoreError: Earlier runs of the same block are not stored yet.
    """
    while not _add(stored, tables, replace=replace):
        pass  # another process stored a part of the same block meanwhile


def _add(stored: StoredExperiment, tables: "Sequence[tuple[range, pd.DataFrame]]", *, replace: bool) -> bool:
    """Write the files of blocks, then name and list them under the lock; return whether this was done.

    It is not done, and has to be tried again, if a part of a block was joined with stored runs that another process has
    replaced meanwhile. A whole block replaces what is stored of it, because no block has more runs.
    """
    depends = any(len(runs) < BLOCK for runs, _ in tables)
    listed = stored.blocks() if depends else []
    earlier = {block.runs.start: block for block in listed}
    with ExitStack() as stack:
        written: dict[StoredBlock, Path] = {}
        for runs, table in tables:
            held = range(runs.start // BLOCK * BLOCK, runs.stop)
            whole, before = len(runs) == BLOCK, earlier.get(held.start)
            joined = table if whole else _joined(stored, before, runs, table, replace=replace)
            if joined is not None:
                _refuse_other_table(stored, held, joined)
                content = blocks.encode(joined, stored.signature, held)
                block = blocks.described(held, content)
                written[block] = stack.enter_context(files.flushed(stored.folder / block.name, content))
        with files.locked(stored.folder):
            if depends and stored.blocks() != listed:
                return False
            for block, temporary in written.items():
                temporary.replace(stored.folder / block.name)
            if written:
                blocks.append(stored.folder, written)
            for block in written:
                old = earlier.get(block.runs.start, block)
                if not replace:
                    origins.inherit(old.sha256, block.sha256)
                if old.name != block.name:
                    (stored.folder / old.name).unlink(missing_ok=True)
    return True


def _refuse_other_table(stored: StoredExperiment, runs: range, table: "pd.DataFrame") -> None:
    """Raise a StoreError if a table is not one of these runs of the experiment."""
    shape = stored.shape()
    columns = {str(name): column.to_numpy() for name, column in table.items()}
    if shape and (reason := fault_of_columns(columns, runs, shape)):
        raise StoreError(f"{stored.folder}: runs {runs.start} to {runs.stop - 1} are not stored; {reason}")


def _joined(
    stored: StoredExperiment, listed: StoredBlock | None, runs: range, table: "pd.DataFrame", *, replace: bool
) -> "pd.DataFrame | None":
    """Return the table of a part of a block, joined with the runs of the block that are stored already.

    It is None if all of these runs are stored already, or if it would replace a block by one with fewer runs.
    """
    kept = listed if listed and not replace and not stored.fault_of(listed) else None
    stop = kept.runs.stop if kept else runs.start // BLOCK * BLOCK
    if runs.stop <= stop or (replace and listed and runs.stop < listed.runs.stop):
        return None
    if runs.start > stop:
        raise StoreError(f"{stored.folder}: runs {stop} to {runs.start - 1} have to be stored before {runs.start}")
    before = [stored.table_of(kept)] if kept else []
    return pd.concat([*before, table.loc[table["run"] >= stop]], ignore_index=True)


def close_experiment(stored: StoredExperiment, status: Status, wall_seconds: float) -> None:
    """Record in the manifest how the computation ended, and remove files of blocks that are no longer in the list."""
    with files.locked(stored.folder):
        said = manifest.read(stored.folder)
        made = replaced(said.provenance, end=now(), wall_seconds=round(wall_seconds, 3))
        listed, faults = blocks.listed(stored.folder)
        if not faults:
            _tidy(stored.folder, listed)
        manifest.write(stored.folder, replaced(said, status=status, provenance=made))


def label(experiment: Experiment) -> None:
    """Add to what is stored of an experiment the tag and the note of the request, unless it has them already.

    The names of its options become those of the request. No number depends on labels and names.
    """
    stored, request = lookup(experiment), experiment.request
    with files.locked(stored.folder):
        said = manifest.read(stored.folder)
        labelled = replaced(
            said,
            options=_options_computed(experiment),
            tags=_with(said.tags, request.tag),
            notes=_with(said.notes, request.note),
        )
        if labelled != said:
            manifest.write(stored.folder, labelled)


def _with(texts: Sequence[str], further: str | int | float | None) -> tuple[str, ...]:
    return tuple(dict.fromkeys([*texts, *([] if further is None else [str(further)])]))


def log(stored: StoredExperiment, text: str) -> None:
    """Append lines to the log of an experiment, each with the present time before it."""
    stamp = pd.Timestamp.now("UTC").isoformat(timespec="seconds")
    lines = "".join(f"{stamp} {line}\n" for line in text.splitlines())
    with files.opened(stored.folder / LOG, os.O_WRONLY | os.O_APPEND | os.O_CREAT) as descriptor:
        os.write(descriptor, lines.encode())


def remove(stored: StoredExperiment) -> None:
    """Remove the folder of an experiment with all its files.

    Raises:
        StoreError: The folder contains a file that the store did not write; nothing is removed.
    """
    if not stored.is_removable():
        raise StoreError(f"{stored.folder}: it contains files that are not the store's, and is left alone")
    for path in stored.folder.iterdir():
        path.unlink()
    stored.folder.rmdir()
