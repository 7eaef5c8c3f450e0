"""A stored experiment: what its folder holds, and its tables. Nothing is written here."""

import json
import os
import re
import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import numpy as np
from jaxtyping import Float

from pomrl.science.loss_tables import MEASURED, SCHEMA
from pomrl.store import block_files, labels, manifests
from pomrl.store.block_files import Shape, StoredBlock
from pomrl.store.layout import StoreError, StoreWarning, UnreadableError
from pomrl.store.manifests import Manifest

if TYPE_CHECKING:  # because it takes long to load
    import pandas as pd

LOG, COMPLETE = "run.log", ".complete"

ATTEMPTS = 3
"""How often the names of files are read that do not fit together."""

MOST_GAMMAS = 10_000
"""The most discount factors of a task where a schedule of somebody's own does not say how many there are."""

_COUNT = re.compile(rf"runs-(\d{{6,9}})\{COMPLETE}")


@dataclass(frozen=True)
class StoredExperiment:
    """The folder of one experiment, which may be incomplete, damaged, or not exist yet."""

    folder: Path

    @property
    def signature(self) -> str:
        """The name of its folder."""
        return self.folder.name

    def read_manifest(self) -> Manifest:
        """Return what is stored of it besides runs; StoreError if that is missing or damaged."""
        return manifests.read(self.folder)

    def manifest(self) -> Manifest | None:
        """Return what is stored of it besides runs, if that can be used."""
        try:
            return self.read_manifest()
        except StoreError:
            return None

    def flat_settings(self) -> dict[str, Any]:
        """Return its settings by dotted keys, and the name of each group's option."""
        return self.read_manifest().flat_settings()

    def names(self) -> list[str]:
        """Return the names of the files in its folder."""
        try:
            return os.listdir(self.folder)  # noqa: PTH208 (a third of the time)
        except (FileNotFoundError, NotADirectoryError):
            return []

    def is_there(self) -> bool:
        """Return whether its folder has files that the store wrote, or cannot be read."""
        return self._fault_of_folder() is not None or any(map(is_ours, self.names()))

    def files(self) -> list[StoredBlock]:
        """Return what the names of its files say, in the order of their runs."""
        return _blocks(self.names())

    def paths(self) -> list[Path]:
        """Return the paths of all files that the store wrote into its folder."""
        return [self.folder / name for name in self.names() if is_ours(name)]

    def blocks(self) -> list[StoredBlock]:
        """Return its blocks in the order of their runs; of several that begin with the same run, the longest."""
        return _longest(self.files())

    def contiguous(self) -> int:
        """Return how many runs are stored without a gap, from run 0 on."""
        return _contiguous(self.blocks())

    def promised(self) -> int:
        """Return how many runs were once complete, as the names of empty files say."""
        return _promised(self.names())

    def complete(self) -> int:
        """Return how many runs can be shown; none, with a `StoreWarning`, where some were lost."""
        if fault := self.fault():
            warnings.warn(fault, StoreWarning, stacklevel=2)
            return 0
        return self.contiguous()

    def fault(self) -> str | None:
        """Return why none of its runs can be shown, as its names and its description say; None if they can."""
        return self._fault_of_folder() or self._gap() or self._fault_of_description()

    def faults(self, names: Sequence[str] = (), faulty: Mapping[StoredBlock, str] | None = None) -> list[str]:
        """Return a line for each file that is not what was written, or cannot be read, and for runs that are lost.

        Args:
            names: The columns of blocks that are looked at; all by default.
            faulty: Why blocks cannot be used, where that is known.
        """
        if fault := self._fault_of_folder():
            return [fault]
        try:
            of_blocks = list((self.faulty_blocks(names) if faulty is None else faulty).values())
        except UnreadableError as error:
            of_blocks = [str(error)]
        of_labels = (labels.fault(self.folder / name) for name in self.faulty_labels())
        return [*filter(None, [self._fault_of_description(), *of_blocks, *of_labels, self._gap()])]

    def _fault_of_folder(self) -> str | None:
        try:
            self.names()
        except OSError as error:
            return f"{self.folder}: {error.strerror}"
        return None

    def _gap(self) -> str | None:
        stored = last = promised = 0
        for _ in range(ATTEMPTS):  # because another process may have put one file in the place of another meanwhile
            names = self.names()
            blocks, promised = _longest(_blocks(names)), _promised(names)
            stored, last = _contiguous(blocks), max((block.runs.stop for block in blocks), default=0)
            if stored == max(promised, last):
                return None
        path = self.folder / name_of_count(promised) if promised > last else self.folder  # the file that alone says so
        of_all = f"{stored} of {max(promised, last)} runs are stored without a gap"
        return f"{path}: {of_all}; the same pomrl run computes them"

    def _fault_of_description(self) -> str | None:
        try:
            if any(map(is_ours, self.names())):
                self.read_manifest()
        except StoreError as error:
            return str(error)
        return None

    def faulty_blocks(self, names: Sequence[str] = ()) -> dict[StoredBlock, str]:
        """Return why blocks cannot be used, those that cannot; of these columns, or of all."""
        return {block: fault for block in self.files() if (fault := self.fault_of(block, names))}

    def faulty_labels(self) -> list[str]:
        """Return the names of notes and looks that are not what was written."""
        of_labels = (name for name in self.names() if name.startswith((labels.NOTE, labels.LOOKS)))
        return [name for name in of_labels if labels.fault(self.folder / name)]

    def fault_of(self, block: StoredBlock, names: Sequence[str] = ()) -> str | None:
        """Return why a block cannot be used; None if it can, or if a longer one has taken its place meanwhile.

        Raises:
            UnreadableError: The system could not read it.
        """
        shape = self.shape()
        try:
            block_files.columns(self.folder, block, names or (shape.names if shape else ["run"]), shape)
        except UnreadableError:
            raise
        except StoreError as error:
            return str(error) if block in self.files() else None
        return None

    def shape(self) -> Shape | None:
        """Return what its description says about its table, if that can be used."""
        if (manifest := self.manifest()) is None:
            return None
        settings, schedule = manifest.settings, manifest.settings["gamma_schedule"]
        gammas = schedule.get("gammas") or [0]
        grid = len(cast(list[Any], gammas)) if isinstance(gammas, list) else 1
        is_ours = str(schedule.get("_target_")).startswith("pomrl.science.")
        gammas = {grid} if "agent" not in settings else {1, grid}  # an agent may choose one of them
        columns = [*SCHEMA, *([MEASURED] if "metric" in settings else [])]
        return Shape(settings["T"], gammas if is_ours else range(1, MOST_GAMMAS), columns)

    def tags(self) -> list[str]:
        """Return its tags, sorted."""
        manifest = self.manifest()
        return sorted({*self._labels(labels.TAG), *(manifest.tags if manifest else [])})

    def notes(self) -> list[str]:
        """Return its notes, sorted."""
        manifest = self.manifest()
        return sorted({*self._labels(labels.NOTE), *(manifest.notes if manifest else [])})

    def look(self, group: str, option: Any) -> Mapping[str, Any] | None:
        """Return how an option looks in figures, if it is the one that this experiment has and is not published."""
        manifest = self.read_manifest()
        stored = self._labels(labels.LOOKS)
        looks = json.loads(stored[-1]) if stored else manifest.looks
        return looks.get(group) if manifest.options.get(group) == option else None

    def _labels(self, kind: str) -> list[str]:
        return labels.texts(self.folder, self.names(), kind)

    def table(self, runs: int | None = None) -> "pd.DataFrame":
        """Return the table of the first `runs` runs, or of all; StoreError if runs are missing or damaged."""
        import pandas as pd

        wanted = self._count_wanted(runs)
        return pd.DataFrame(self.columns(self.column_names(), wanted), copy=False)

    def parts(self, names: Sequence[str], runs: int) -> Iterator[dict[str, Float[np.ndarray, "n T G"]]]:
        """Yield columns of the table of the first `runs` runs, as arrays over runs, tasks and discount factors.

        Each part has whole runs; StoreError if runs are missing or damaged.
        """
        T = self.read_manifest().settings["T"]
        for n, part in self._parts(names, runs):
            yield {name: column.reshape(n, T, -1) for name, column in part.items()}

    def columns(self, names: Sequence[str], runs: int | None = None) -> dict[str, np.ndarray]:
        """Return columns of the table of the first `runs` runs, or of all; memory is that of the columns."""
        wanted = self._count_wanted(runs)
        return _join(wanted, self._parts(names, wanted))

    def losses(self, runs: int | None = None) -> tuple[np.ndarray, np.ndarray]:
        """Return the planning losses, or the metric, over runs, tasks and discount factors, and the latter."""
        wanted, name = self._count_wanted(runs), self._loss
        gammas, T = self._gammas(), self.read_manifest().settings["T"]
        return self.columns([name], wanted)[name].reshape(-1, T, len(gammas)), gammas

    def mean_losses(self, runs: int | None = None) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return the losses at the largest discount factor, those averaged over tasks, and the discount factors.

        They are of `losses`, which are never in memory as a whole.
        """
        wanted, name = self._count_wanted(runs), self._loss
        losses = (part[name] for part in self.parts([name], wanted))
        means = _join(wanted, ((len(x), {"last": x[..., -1], "mean": x.mean(1)}) for x in losses))
        return means["last"], means["mean"], self._gammas()

    def _gammas(self) -> np.ndarray:
        """Return the discount factors of the first task of the first run."""
        return next(self.parts(["gamma"], 1))["gamma"][0, 0]

    @property
    def _loss(self) -> str:
        return MEASURED if MEASURED in self.column_names() else "planning_loss"

    def column_names(self) -> list[str]:
        """Return the names of the columns of its table."""
        return [*SCHEMA, *([MEASURED] if "metric" in self.read_manifest().settings else [])]

    def _count_wanted(self, runs: int | None) -> int:
        if fault := self.fault():
            raise StoreError(fault)
        complete = self.contiguous()
        wanted = complete if runs is None else runs
        if complete < wanted or wanted <= 0:
            raise StoreError(f"{self.folder}: {complete} of {max(wanted, 1)} runs are stored")
        return wanted

    def _parts(self, names: Sequence[str], wanted: int) -> Iterator[tuple[int, dict[str, np.ndarray]]]:
        """Yield columns of the table of the first `wanted` runs, block by block, each with its number of runs."""
        start, shape = 0, self.shape()
        while start < wanted:
            # Looked up each time, because another process may have put a longer block in the place of a part of one.
            block = next((block for block in self.blocks() if start in block.runs), None)
            if block is None:
                raise StoreError(f"{self.folder}: runs were removed while they were read")
            try:
                columns = block_files.columns(self.folder, block, names, shape)
            except StoreError:
                if block in self.files():
                    raise
                continue
            rows = len(columns[names[0]]) // len(block.runs)
            first, stop = start - block.runs.start, min(block.runs.stop, wanted) - block.runs.start
            yield stop - first, {name: column[first * rows : stop * rows] for name, column in columns.items()}
            start = block.runs.stop


def is_ours(name: str) -> bool:
    """Return whether the store gives such a name to a file of an experiment."""
    is_ours = name in (manifests.DESCRIPTION, LOG) or name.startswith((labels.TAG, labels.NOTE, labels.LOOKS))
    return is_ours or _COUNT.fullmatch(name) is not None or block_files.parse_name(name) is not None


def name_of_count(runs: int) -> str:
    """Return the name of the empty file that says that so many runs were complete."""
    return f"runs-{runs:06d}{COMPLETE}"


def _promised(names: Iterable[str]) -> int:
    return max((int(found[1]) for name in names if (found := _COUNT.fullmatch(name))), default=0)


def _blocks(names: Iterable[str]) -> list[StoredBlock]:
    found = [block for name in names if (block := block_files.parse_name(name))]
    return sorted(found, key=lambda block: (block.runs.start, block.runs.stop, block.sha256))


def _longest(blocks: Iterable[StoredBlock]) -> list[StoredBlock]:
    return list({block.runs.start: block for block in blocks}.values())


def _contiguous(blocks: Iterable[StoredBlock]) -> int:
    stop = 0
    for block in blocks:
        stop = block.runs.stop if block.runs.start == stop else stop
    return stop


def _join(runs: int, parts: Iterable[tuple[int, dict[str, np.ndarray]]]) -> dict[str, np.ndarray]:
    """Return arrays of so many runs joined along their first axis, with the joined arrays alone in memory."""
    joined: dict[str, np.ndarray] = {}
    filled = 0
    for of_part, part in parts:
        for name, column in part.items():
            if name not in joined:
                joined[name] = np.empty((len(column) // of_part * runs, *column.shape[1:]), column.dtype)
            rows = len(joined[name]) // runs
            joined[name][filled * rows : (filled + of_part) * rows] = column
        filled += of_part
    return joined
