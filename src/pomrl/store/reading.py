"""Reading stored experiments. Reading changes no file, and it neither imports nor runs anything that is stored."""

import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from copy import deepcopy
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any, TypeVar, cast

import numpy as np
import pandas as pd
import yaml
from jaxtyping import Float

from pomrl.configuration.settings import component_classes, flat_settings
from pomrl.science.loss_tables import MEASURED, SCHEMA
from pomrl.store import code_labels, files, manifest
from pomrl.store.blocks import StoredBlock, fault, listed, verified
from pomrl.store.code_digest import code_digest
from pomrl.store.layout import (
    BLOCK,
    BLOCK_LIST,
    CONFIG,
    MANIFEST,
    MOST_BYTES,
    REPAIR,
    StoreError,
    is_block_name,
    is_our_name,
    is_signature,
    runs_of_name,
)
from pomrl.store.manifest import Manifest, OtherVersionError
from pomrl.store.origins import origin
from pomrl.store.signatures import signature_of
from pomrl.store.table_checks import Shape, fault_of_columns

Found = TypeVar("Found")

RUNS_AT_A_TIME = 1000
"""The number of runs in a part of a table, a multiple of those in a block."""

DEEPEST = 20
"""The deepest nesting of settings that is read; deeper settings count as damaged."""


@dataclass(frozen=True)
class StoredExperiment:
    """The folder of one experiment on disk, which may be incomplete, damaged, or not exist yet."""

    folder: Path

    @property
    def signature(self) -> str:
        """The signature of the experiment, which is the name of its folder."""
        return self.folder.name

    def manifest(self) -> Manifest | None:
        """Return the manifest, or None if it is missing, damaged, or of another version or experiment."""
        try:
            return manifest.read(self.folder)
        except StoreError:
            return None

    def status(self) -> str:
        """Return how far the computation is, as the manifest says, or in two words why the manifest cannot be used."""
        try:
            return manifest.read(self.folder).status
        except StoreError as error:
            return "other version" if isinstance(error, OtherVersionError) else "unreadable"

    def is_closed(self) -> bool:
        """Return whether the manifest says that the computation is complete, and the settings can be read.

        The blocks are not checked.
        """
        return self.status() == "complete" and bool(self.settings())

    def settings(self) -> dict[str, Any]:
        """Return the scientific settings as plain data; empty if they are missing or do not give the signature."""
        try:
            return deepcopy(_settings(self.folder, manifest.read(self.folder)))
        except StoreError:
            return {}

    def flat_settings(self) -> dict[str, Any]:
        """Return the settings by dotted keys, and the name of each group's option by the name of the group."""
        try:
            said = manifest.read(self.folder)
            return flat_settings(_settings(self.folder, said), said.options)
        except StoreError:
            return {}

    def code(self) -> str:
        """Return the label of the code that computed it (`code_labels`); empty without a usable manifest."""
        said = self.manifest()
        return code_labels.label(said) if said else ""

    def identity(self) -> str:
        """Return its settings as text that is the same for every code that computed them; empty if they are damaged."""
        try:
            return json.dumps(_settings(self.folder, manifest.read(self.folder)), sort_keys=True)
        except StoreError:
            return ""

    def begun(self) -> str:
        """Return when the last computation of it began, ISO 8601 in UTC; empty without a usable manifest."""
        said = self.manifest()
        return said.provenance.start if said else ""

    def shape(self) -> Shape | None:
        """Return what the settings say of the tables; None if the settings cannot be used."""
        try:
            return Shape.of(_settings(self.folder, manifest.read(self.folder)))
        except StoreError:
            return None

    def outdated(self) -> str | None:
        """Return why the present code cannot use this experiment.

        Returns:
            The reason in a few words; None if the present code may use the experiment, or if this cannot be decided
            because a file is damaged or the code of a component cannot be found.
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

    def damage(self) -> str | None:
        """Return what is wrong with the manifest, the settings or the list of blocks, or None if they can be used.

        It is None for an experiment of which no block is stored, unless a folder is in the place of its manifest. The
        files of the blocks are not read. If the manifest says that the computation is complete, blocks that the list
        lacks count as damage of the list.
        """
        there = {path.name for path in self.folder.glob("*.parquet") if is_block_name(path.name)}
        if not there and not (self.folder / MANIFEST).is_dir():  # which no command replaces
            return None
        try:
            said = manifest.read(self.folder)
            _settings(self.folder, said)
        except StoreError as error:
            return str(error)
        blocks, faults = listed(self.folder)
        lacking = there - {block.name for block in blocks}
        if not faults and lacking and said.status == "complete":
            faults = [f"{self.folder / BLOCK_LIST}: it lacks {', '.join(sorted(lacking)[:3])}"]
        return faults[0] if faults else None

    def refuse_damage(self) -> None:
        """Raise an error if the manifest, the settings or the list of blocks of what is stored cannot be used.

        Raises:
            StoreError: One of them is damaged. The message names it, and the command that mends it.
        """
        if fault := self.damage():
            raise StoreError(f"{fault}; {REPAIR}")

    def is_removable(self) -> bool:
        """Return whether the folder has a signature as its name and contains only files that the store writes."""
        ordinary = is_signature(self.signature) and self.folder.is_dir() and not self.folder.is_symlink()
        return ordinary and all(
            is_our_name(path.name) and not path.is_symlink() and path.is_file() for path in self.folder.iterdir()
        )

    def blocks(self) -> list[StoredBlock]:
        """Return the complete blocks in the order of their runs; none if there is no usable manifest."""
        return listed(self.folder)[0] if self.manifest() else []

    def fault_of(self, block: StoredBlock) -> str | None:
        """Return what is wrong with the file of a block, whose table is not decoded; None if nothing is."""
        return fault(self.folder / block.name, block, self.shape())

    def table_of(self, block: StoredBlock) -> "pd.DataFrame":
        """Return the table of one block; StoreError if it is damaged."""
        return pd.DataFrame(self._columns_of(block, self._names()), copy=False)

    def sound_blocks(self) -> tuple[list[StoredBlock], list[str]]:
        """Return the blocks whose files are as they were written, and a message for each fault.

        Faults are an unusable manifest beside blocks, damaged lines of the list, and damaged files of blocks.
        """
        try:
            manifest.read(self.folder)
        except StoreError as error:
            begun = any(self.folder.glob("*.parquet"))
            return [], [str(error)] if begun else []
        blocks, faults = listed(self.folder)
        reasons = {block.name: reason for block in blocks if (reason := self.fault_of(block))}
        if reasons and self.blocks() != blocks:  # another process has completed a block meanwhile
            return self.sound_blocks()
        lines = [f"{self.folder / name}: {reason}" for name, reason in reasons.items()]
        return [block for block in blocks if block.name not in reasons], [*faults, *lines]

    def faults(self) -> list[str]:
        """Return a message for each fault of the manifest, the settings, the list of blocks and the blocks.

        In contrast to `sound_blocks`, the tables of blocks are decoded and checked too.
        """
        try:
            said = manifest.read(self.folder)
        except StoreError as error:
            return [str(error)]
        sound, found = self.sound_blocks()
        try:
            _settings(self.folder, said)
        except StoreError as error:
            return [str(error), *found]
        found += [line for block in sound if (line := _fault_of_table(self.folder / block.name, self, block))]
        return found or [fault for fault in [self.damage()] if fault]

    def origin(self) -> str:
        """Say where the runs come from: they were computed here or imported (`pomrl.store.origins`)."""
        return origin([block.sha256 for block in self.blocks()])

    def complete(self) -> int:
        """Return how many runs are stored without a gap, counted from run 0."""
        return _contiguous(self.blocks())

    def extent(self) -> int:
        """Return how many runs were stored, as far as the list of blocks and the names of files tell, damaged or not.

        Neither a name nor a line of the list can make the number larger than so many blocks can hold.
        """
        names = {block.name for block in listed(self.folder)[0]} | {path.name for path in self.folder.glob("*.parquet")}
        ends = [runs.stop for name in names if (runs := runs_of_name(name))]
        return min(max(ends, default=0), BLOCK * len(ends))

    def written_settings(self) -> Any:
        """Return what the file of the settings describes, which nothing vouches for, as plain data.

        Raises:
            StoreError: The file is missing or damaged.
        """
        return _written(self.folder / CONFIG)

    def table(self, runs: int | None = None) -> "pd.DataFrame":
        """Return the table of the first `runs` runs, or of all, with the columns of `pomrl.science.loss_tables.SCHEMA`,
        and that of the metric if the experiment has one.

        Raises:
            StoreError: Runs are missing, or a block is damaged.
        """
        return pd.DataFrame(self.columns(self._names(), runs), copy=False)

    def tables(self, runs: int | None = None) -> "Iterator[pd.DataFrame]":
        """Yield `table` in parts of whole runs, which are small beside the memory that a process has.

        Raises:
            StoreError: Runs are missing, or a block is damaged.
        """
        wanted = self.complete() if runs is None else runs
        for start in range(0, max(wanted, 1), RUNS_AT_A_TIME):
            of_runs = range(start, min(start + RUNS_AT_A_TIME, wanted))
            yield pd.DataFrame(self._columns(self._names(), of_runs), copy=False)

    def _names(self) -> Sequence[str]:
        shape = self.shape()
        return shape.columns if shape else tuple(SCHEMA)

    def column(self, name: str, runs: int | None = None) -> np.ndarray:
        """Return one column of the table of the first `runs` runs, or of all, without decoding the other columns.

        Raises:
            StoreError: Runs are missing, or a block is damaged.
        """
        return self.columns([name], runs)[name]

    def losses(self, runs: int | None = None) -> tuple[Float[np.ndarray, "n T G"], Float[np.ndarray, " G"]]:
        """Return the planning losses over runs, tasks and discount factors, or the metric, and the discount factors.

        This takes little more memory than the losses themselves. If a schedule chose the discount factors, G is 1, and
        the discount factor that is returned is the one in the first row of the table.

        Raises:
            StoreError: Runs are missing, or a block is damaged.
        """
        loss, (T, gammas) = self.column(self._loss, runs), self._grid()
        return loss.reshape(-1, T, len(gammas)), gammas

    def mean_losses(
        self, runs: int | None = None
    ) -> tuple[Float[np.ndarray, "n T"], Float[np.ndarray, "n G"], Float[np.ndarray, " G"]]:
        """Return the losses at the largest discount factor, those averaged over tasks, and the discount factors.

        They are of `losses`, which are never in memory as a whole.

        Raises:
            StoreError: Runs are missing, or a block is damaged.
        """
        _refuse_lack(self, _contiguous(self.blocks()), 1 if runs is None else runs)
        (T, gammas), name = self._grid(), self._loss

        def read(blocks: Sequence[StoredBlock]) -> tuple[np.ndarray, np.ndarray]:
            at_largest: list[np.ndarray] = []
            average: list[np.ndarray] = []
            for columns, _ in self._parts(blocks, [name], range(_contiguous(blocks) if runs is None else runs)):
                loss = columns[name].reshape(-1, T, len(gammas))
                at_largest.append(loss[..., -1].copy())  # a view would keep the whole block in memory
                average.append(loss.mean(1))
            return np.concatenate(at_largest), np.concatenate(average)

        return *self._read(read), gammas

    @property
    def _loss(self) -> str:
        """The column of losses, or that of the metric of an experiment that has one."""
        return MEASURED if MEASURED in self._names() else "planning_loss"

    def _grid(self) -> tuple[int, Float[np.ndarray, " G"]]:
        """Return the number of tasks, and the discount factors of the first one."""
        first = self.columns(["task", "gamma"], 1)
        T = len(np.unique(first["task"]))
        return T, first["gamma"][: len(first["task"]) // T]

    def columns(self, names: Sequence[str], runs: int | None = None) -> dict[str, np.ndarray]:
        """Return columns of the table of the first `runs` runs, or of all, each as an array over its rows.

        Blocks are read one after the other, so that memory beyond the arrays themselves does not grow with the runs.

        Raises:
            StoreError: Runs are missing, or a block is damaged.
        """
        return self._columns(names, None if runs is None else range(runs))

    def _columns(self, names: Sequence[str], runs: range | None) -> dict[str, np.ndarray]:
        """Return columns of the table of these runs."""

        def read(blocks: Sequence[StoredBlock]) -> dict[str, np.ndarray]:
            arrays: dict[str, np.ndarray] = {}
            wanted, filled = range(_contiguous(blocks)) if runs is None else runs, 0
            for columns, rows in self._parts(blocks, names, wanted):
                arrays = arrays or {name: np.empty(rows * len(wanted), SCHEMA.get(name, "float64")) for name in names}
                stop = filled + len(columns[names[0]])
                for name, column in columns.items():
                    arrays[name][filled:stop] = column
                filled = stop
            return arrays

        return self._read(read)

    def _read(self, read: Callable[[Sequence[StoredBlock]], Found]) -> Found:
        """Return what a function reads of the blocks, once more if another process completes a block meanwhile."""
        blocks = self.blocks()
        try:
            return read(blocks)
        except StoreError:
            if self.blocks() == blocks:
                raise
            return self._read(read)

    def _parts(
        self, blocks: Sequence[StoredBlock], names: Sequence[str], runs: range
    ) -> Iterator[tuple[dict[str, np.ndarray], int]]:
        """Yield columns of one block after the other, of these runs, and how many rows each run has."""
        rows = 0
        _refuse_lack(self, _contiguous(blocks), runs.stop if runs else 0)
        for block in (block for block in blocks if block.runs.start < runs.stop and block.runs.stop > runs.start):
            columns = self._columns_of(block, names)
            length = len(columns[names[0]])
            rows = rows or length // len(block.runs)
            if length != rows * len(block.runs):
                raise StoreError(f"{self.folder / block.name}: its runs have another number of rows than those before")
            first, last = max(runs.start, block.runs.start), min(runs.stop, block.runs.stop)
            kept = slice(rows * (first - block.runs.start), rows * (last - block.runs.start))
            yield {name: column[kept] for name, column in columns.items()}, rows

    def _columns_of(self, block: StoredBlock, names: Sequence[str]) -> dict[str, np.ndarray]:
        """Return columns of one block over the rows of all its runs.

        Raises:
            StoreError: The block is damaged.
        """
        shape = self.shape()
        try:
            read = cast(Any, verified(self.folder, block, shape)).read(columns=list(names), use_threads=False)
            columns = {name: read[name].to_numpy() for name in names}
            if shape and (reason := fault_of_columns(columns, block.runs, shape)):
                raise StoreError(reason)
        except (StoreError, OSError, KeyError) as error:  # Arrow's, of pages that cannot be decoded, or of no column
            raise StoreError(f"{self.folder / block.name}: {error}; {REPAIR}") from error
        return columns


@files.remembered
def _fault_of_table(_path: Path, stored: StoredExperiment, block: StoredBlock) -> str | None:
    """Return what is wrong with the table of a block, whose file is at this path; None if nothing is."""
    try:
        stored.table_of(block)
    except StoreError as error:
        return str(error)
    return None


def _written(path: Path) -> Any:
    """Return what a file of settings describes, as plain data.

    Raises:
        StoreError: The file is missing or damaged.
    """
    try:
        return plain_yaml(files.read(path, MOST_BYTES))
    except OSError as error:
        raise StoreError(f"{path}: it is missing or cannot be read") from error
    except (yaml.YAMLError, ValueError, TypeError, RecursionError) as error:
        raise StoreError(f"{path}: it is damaged") from error


def _settings(folder: Path, said: Manifest) -> dict[str, Any]:
    """Return the settings in the folder of an experiment, which nobody may change.

    Raises:
        StoreError: The settings, with the code that the manifest records, do not give the signature of the folder, or
            the file is missing or damaged.
    """
    return _vouched(folder / CONFIG, said.schema, said.code)


@files.remembered
def _vouched(path: Path, schema: int, code: str) -> dict[str, Any]:
    settings = _written(path)
    try:
        if not isinstance(settings, dict):
            raise TypeError("settings have keys")
        named = cast(dict[str, Any], settings)
        if signature_of(named, schema=schema, code=code) == path.parent.name:
            Shape.of(named)
            return named
    except (KeyError, ValueError, TypeError, RecursionError) as error:
        raise StoreError(f"{path}: it is damaged") from error
    raise StoreError(f"{path}: its settings are not those that were computed here")


def plain_yaml(content: bytes | str) -> Any:
    """Return the data that YAML text describes, of which nothing is imported or run.

    The data are built while the text is parsed, which takes a third of the time of `yaml.load`.

    Raises:
        ValueError: The text has aliases, with which a few lines can describe more data than fits into memory, tags of
            collections or several documents, it is nested too deeply, or a value in it does not exist, such as the
            date 2000-02-30.
        yaml.YAMLError: The text is no YAML, or has tags of types that YAML itself does not have.
    """
    opened: list[list[Any]] = [[]]  # what is read so far of the text, and of each collection that has not ended
    for event in cast(Iterable[Any], yaml.parse(content, Loader=yaml.CSafeLoader)):  # pyright: ignore[reportUnknownMemberType]
        match event:
            case yaml.ScalarEvent():
                opened[-1].append(_scalar(event.value, event.tag, event.implicit))
            case yaml.CollectionStartEvent() if event.implicit and len(opened) <= DEEPEST:
                opened.append([])
            case yaml.CollectionStartEvent() | yaml.AliasEvent():
                raise ValueError("aliases, tags and deep nesting are refused")
            case yaml.CollectionEndEvent():
                read = opened.pop()
                opened[-1].append(_mapping(read) if isinstance(event, yaml.MappingEndEvent) else read)
            case _:
                pass
    if len(opened[0]) > 1:
        raise ValueError("several documents are refused")
    return opened[0][0] if opened[0] else None


def _mapping(read: Sequence[Any]) -> dict[Any, Any]:
    """Return the mapping of which these are the keys and the values in turns."""
    try:
        return dict(zip(read[::2], read[1::2], strict=True))
    except TypeError as error:
        raise ValueError("keys have to be text or numbers") from error


@lru_cache(maxsize=10_000)
def _scalar(text: str, tag: str | None, implicit: tuple[bool, bool]) -> Any:
    """Return the value of a scalar, as `yaml.SafeLoader` reads it."""
    loader: Any = yaml.SafeLoader("")
    named = loader.resolve(yaml.ScalarNode, text, implicit) if tag in (None, "!") else tag
    return loader.construct_object(yaml.ScalarNode(named, text))


def _contiguous(blocks: Sequence[StoredBlock]) -> int:
    """Return how many runs from run 0 on these blocks hold without a gap."""
    stop = 0
    for block in blocks:
        if block.runs.start != stop:
            break
        stop = block.runs.stop
    return stop


def _refuse_lack(stored: StoredExperiment, complete: int, wanted: int) -> None:
    """Raise a StoreError if fewer runs are complete than are wanted, or none are wanted."""
    if complete < wanted or wanted <= 0:
        raise StoreError(f"{stored.folder}: {complete} of {wanted} runs are stored")


def missing(stored: StoredExperiment, runs: int) -> tuple[list[range], list[str]]:
    """Return the runs that still have to be computed so that the first `runs` runs are stored.

    Returns:
        The missing runs, divided at the boundaries of blocks; and a message for each fault of the stored files.
    """
    sound, faults = stored.sound_blocks()
    stop = {block.runs.start: block.runs.stop for block in sound}
    parts = [range(stop.get(part.start, part.start), part.stop) for part in aligned(range(runs))]
    return [part for part in parts if part], faults


def aligned(runs: range) -> list[range]:
    """Return `runs`, which begin with run 0, divided into blocks of `BLOCK` runs; the last block may have fewer."""
    return [runs[start : start + BLOCK] for start in range(0, len(runs), BLOCK)]
