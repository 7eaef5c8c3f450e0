"""Reading what is stored. Nothing here changes a file, and nothing that is stored is imported or run."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import yaml
from jaxtyping import Float

from pomrl.configuration.parsing import Experiment
from pomrl.configuration.settings import component_classes, flat_settings
from pomrl.experiment import SCHEMA
from pomrl.gamma_schedules import Hindsight
from pomrl.gamma_star import in_hindsight
from pomrl.store import files, manifest
from pomrl.store.blocks import StoredBlock, listed, verified
from pomrl.store.code_digest import code_digest
from pomrl.store.layout import BLOCK, CONFIG, MANIFEST, MOST_BYTES, StoreError, is_our_name, is_signature, root
from pomrl.store.manifest import Manifest, OtherVersionError
from pomrl.store.signatures import signature, signature_of

DEEPEST = 20
"""How deep the settings of an experiment may be nested."""


@dataclass(frozen=True)
class StoredExperiment:
    """The folder of one experiment, as it is on disk. Reading never changes it."""

    folder: Path

    @property
    def signature(self) -> str:
        """The signature that the folder is named by."""
        return self.folder.name

    def manifest(self) -> Manifest | None:
        """Return the manifest; None where it is missing, damaged, of another version or of another experiment."""
        try:
            return manifest.read(self.folder)
        except StoreError:
            return None

    def status(self) -> str:
        """Return in a word or a few how far the computation is, also where the manifest cannot be used."""
        try:
            return manifest.read(self.folder).status
        except OtherVersionError:
            return "other version"
        except StoreError:
            return "unreadable"

    def is_closed(self) -> bool:
        """Whether the computation came to its end, and all beside the blocks is in place."""
        said = self.manifest()
        return said is not None and said.status == "complete" and bool(self.settings())

    def settings(self) -> dict[str, Any]:
        """Return the scientific settings, as data; empty where they are missing or do not give the signature."""
        said = self.manifest()
        if said is None:
            return {}
        try:
            return _settings(self.folder, said)
        except StoreError:
            return {}

    def flat_settings(self) -> dict[str, Any]:
        """Return the settings with dotted keys, and under the key of each group the name of its option."""
        said = self.manifest()
        return flat_settings(self.settings(), said.options) if said else {}

    def outdated(self) -> str | None:
        """Return why the present code never uses this experiment; None where it may, and where that cannot be told.

        It cannot be told where a file is damaged and where the code of a component is not found from here.
        """
        try:
            said = manifest.read(self.folder)
            settings = _settings(self.folder, said)
            same = code_digest(component_classes(settings)) == said.code
        except OtherVersionError:
            return "another version of the store wrote it"
        except (StoreError, ImportError, OSError, SyntaxError, ValueError):
            return None
        return None if same else "the code has changed since"

    def is_removable(self) -> bool:
        """Whether the folder has the name and contains only files that the store gives it."""
        ordinary = is_signature(self.signature) and self.folder.is_dir() and not self.folder.is_symlink()
        return ordinary and all(
            is_our_name(path.name) and not path.is_symlink() and path.is_file() for path in self.folder.iterdir()
        )

    def blocks(self) -> list[StoredBlock]:
        """Return the complete blocks, in order of their runs; none where there is no manifest that can be used."""
        return listed(self.folder)[0] if self.manifest() else []

    def sound_blocks(self) -> tuple[list[StoredBlock], list[str]]:
        """Return the blocks whose content is what was written, and a line for each fault of the list and of a block."""
        try:
            manifest.read(self.folder)
        except StoreError as error:
            begun = any(self.folder.glob("*.parquet"))
            return [], [f"{error}; its runs are computed again"] if begun else []
        blocks, faults = listed(self.folder)
        reasons = {block.name: fault for block in blocks if (fault := self.fault(block)) is not None}
        if reasons and self.blocks() != blocks:  # another process has completed a block meanwhile
            return self.sound_blocks()
        lines = [f"{fault}; its block is computed again" for fault in faults]
        lines += [f"{self.folder / name}: {reason}; it is computed again" for name, reason in reasons.items()]
        return [block for block in blocks if block.name not in reasons], lines

    def faults(self) -> list[str]:
        """Return a line for each fault of the manifest, the settings, the list of blocks and the blocks."""
        try:
            said = manifest.read(self.folder)
        except StoreError as error:
            return [str(error)]
        try:
            _settings(self.folder, said)
        except StoreError as error:
            return [str(error), *self.sound_blocks()[1]]
        return self.sound_blocks()[1]

    def fault(self, block: StoredBlock) -> str | None:
        """Return what is wrong with the file of a block; None where it is what was written."""
        try:
            verified(self.folder, block)
        except StoreError as error:
            return str(error)
        return None

    def complete(self) -> int:
        """Return how many runs are stored without a gap, counted from run 0."""
        return _contiguous(self.blocks())

    def table(self, runs: int | None = None) -> pd.DataFrame:
        """Return the table of the first `runs` runs, or of all, with the columns of `pomrl.experiment.SCHEMA`.

        StoreError where runs are missing or a block is damaged.
        """
        return pd.DataFrame(self.columns(list(SCHEMA), runs), copy=False)

    def column(self, name: str, runs: int | None = None) -> np.ndarray:
        """Return one column of the table of the first `runs` runs, or of all; nothing else is decoded for it."""
        return self.columns([name], runs)[name]

    def losses(self, runs: int | None = None) -> tuple[Float[np.ndarray, "n T G"], Float[np.ndarray, " G"]]:
        """Return the planning losses over runs, tasks and discount factors, and the discount factors.

        It needs little more memory than the losses take. Where a schedule chose the discount factors, G is 1 and the
        discount factor that is returned is that of the first row. StoreError as for `table`.
        """
        loss = self.column("planning_loss", runs)
        first = self.columns(["task", "gamma"], 1)
        rows, T = len(first["task"]), len(np.unique(first["task"]))
        return loss.reshape(-1, T, rows // T), first["gamma"][: rows // T]

    def columns(self, names: Sequence[str], runs: int | None = None) -> dict[str, np.ndarray]:
        """Return columns of the table of the first `runs` runs, or of all, each as an array over its rows.

        Blocks are read one after the other, so that memory beyond the arrays themselves does not grow with the runs.
        StoreError where runs are missing or a block is damaged.
        """
        blocks = self.blocks()
        try:
            return self._columns(blocks, names, runs)
        except StoreError:
            if self.blocks() == blocks:
                raise
            return self.columns(names, runs)  # another process has completed a block meanwhile

    def _columns(self, blocks: Sequence[StoredBlock], names: Sequence[str], runs: int | None) -> dict[str, np.ndarray]:
        complete = _contiguous(blocks)
        wanted = complete if runs is None else runs
        if complete < wanted or wanted <= 0:
            raise StoreError(f"{self.folder}: {complete} of {wanted} runs are stored")
        arrays: dict[str, np.ndarray] = {}
        for block in blocks:
            if block.runs.start < wanted:
                self._fill(arrays, block, names, wanted)
        return arrays

    def _fill(self, arrays: dict[str, np.ndarray], block: StoredBlock, names: Sequence[str], wanted: int) -> None:
        """Put the rows of a block in their place. All runs have as many rows as those of the first block."""
        try:
            read = verified(self.folder, block).read(columns=list(names), use_threads=False)
        except StoreError as error:
            raise StoreError(f"{self.folder / block.name}: {error}; it is computed again") from error
        rows = read.num_rows // len(block.runs)
        start, stop = rows * block.runs.start, rows * min(block.runs.stop, wanted)
        if any(len(column) != rows * wanted for column in arrays.values()) or read.num_rows != rows * len(block.runs):
            raise StoreError(f"{self.folder / block.name}: its runs have another number of rows than those before")
        for name in names:
            if name not in arrays:
                arrays[name] = np.empty(rows * wanted, SCHEMA[name])
            arrays[name][start:stop] = read[name].to_numpy()[: stop - start]


def _settings(folder: Path, said: Manifest) -> dict[str, Any]:
    """The settings in a folder. StoreError unless they give its signature, with the code that the manifest records."""
    path = folder / CONFIG
    try:
        content = files.read(path, MOST_BYTES)
    except OSError as error:
        raise StoreError(f"{path}: it is missing or cannot be read") from error
    try:
        settings = _plain_yaml(content)
        if signature_of(settings, schema=said.schema, code=said.code) == folder.name:
            return settings
    except (yaml.YAMLError, ValueError, TypeError, RecursionError) as error:
        raise StoreError(f"{path}: it is damaged") from error
    raise StoreError(f"{path}: its settings are not those that were computed here")


def _plain_yaml(content: bytes) -> Any:
    """Data in YAML. ValueError for aliases, which can stand for more than fits into memory, and for deep nesting."""
    depth = 0
    for event in yaml.parse(content, Loader=yaml.CSafeLoader):
        depth += isinstance(event, yaml.CollectionStartEvent) - isinstance(event, yaml.CollectionEndEvent)
        if isinstance(event, yaml.AliasEvent) or depth > DEEPEST:
            raise ValueError("aliases and deep nesting are refused")
    return yaml.load(content, Loader=yaml.CSafeLoader)


def _contiguous(blocks: Sequence[StoredBlock]) -> int:
    """How many runs these blocks hold without a gap, counted from run 0; each but the last has to be whole."""
    stop = 0
    for block in blocks:
        if block.runs.start != stop:
            break
        stop = block.runs.stop
    return stop


def lookup(experiment: Experiment) -> StoredExperiment:
    """Return the place where an experiment is stored, or would be."""
    return StoredExperiment(root() / signature(experiment))


def missing(stored: StoredExperiment, runs: int) -> tuple[list[range], list[str]]:
    """Return what has to be computed to have the first `runs` runs.

    Returns:
        The runs that are missing, as parts of aligned blocks; and a line for each fault of what is stored.
    """
    sound, faults = stored.sound_blocks()
    stop = {block.runs.start: block.runs.stop for block in sound}
    parts = [range(stop.get(part.start, part.start), part.stop) for part in aligned(range(runs))]
    return [part for part in parts if part], faults


def aligned(runs: range) -> list[range]:
    """Return the runs, which begin with 0, in the parts that are stored together."""
    return [runs[start : start + BLOCK] for start in range(0, len(runs), BLOCK)]


def load(which: str | Experiment, runs: int | None = None) -> pd.DataFrame:
    """Return the table of an experiment, given as such or by the start of its signature.

    A hindsight schedule gives one row for each run and task, with the discount factor it chooses over these runs.

    Args:
        which: an experiment, or the first digits of its signature.
        runs: how many runs, from run 0 on; by default all that are stored.

    Raises StoreError where it is not stored, or not with so many runs.
    """
    if isinstance(which, str):
        return by_signature(which).table(runs)
    table = lookup(which).table(runs)
    schedule = which.method.gamma_schedule
    return in_hindsight(table, schedule) if isinstance(schedule, Hindsight) else table


def find(**wanted: Any) -> list[StoredExperiment]:
    """Return the stored experiments with these settings: sigma=0.01, estimator="pomrl", **{"estimator.prior": ...}.

    Raises StoreError for a key that no stored experiment has.
    """
    settings = {stored: stored.flat_settings() for stored in all_experiments() if stored.manifest()}
    known = {key for each in settings.values() for key in each}
    for key in wanted:
        if settings and key not in known:
            raise StoreError(f"{key}: no stored experiment has this key; there are {', '.join(sorted(known))}")
    return [
        stored
        for stored, each in settings.items()
        if all(key in each and each[key] == value for key, value in wanted.items())
    ]


def all_experiments() -> list[StoredExperiment]:
    """Return all folders that are named by a signature, whether they can be used or not; links do not count."""
    folders = (path for path in sorted(root().glob("*")) if is_signature(path.name))
    return [StoredExperiment(path) for path in folders if path.is_dir() and not path.is_symlink()]


def by_signature(start: str) -> StoredExperiment:
    """Return the one stored experiment whose signature starts so. StoreError where there is none, or several."""
    matches = [stored for stored in all_experiments() if stored.signature.startswith(start)]
    matches = [stored for stored in matches if (stored.folder / MANIFEST).exists()]
    if len(matches) != 1:
        raise StoreError(f"{start}: {len(matches)} stored experiments have a signature that starts so")
    return matches[0]
