"""The stored tables of a sweep, put together into one."""

import warnings
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from pomrl import store
from pomrl.configuration.sweeps import Setting
from pomrl.science.loss_tables import SCHEMA
from pomrl.store.derived import Simulation


@dataclass(frozen=True)
class Source:
    """A stored experiment or simulation from which a table comes."""

    signature: str
    """The signature under which it is stored."""
    runs: int
    """The number of runs in the table; of a simulation, the number of its sequences, or 0 if it has none."""
    settings: Mapping[str, Any]
    """The settings that vary in its sweep, by their dotted keys, with its values; empty for a simulation."""
    blocks: Mapping[str, str]
    """The SHA-256 digest of each file that was read, by the name of the file."""

    @staticmethod
    def of(stored: store.StoredExperiment, runs: int, settings: Mapping[str, Any]) -> "Source":
        """Return the source of the first `runs` runs of a stored experiment with these settings in its sweep."""
        blocks = {block.name: block.sha256 for block in stored.blocks() if block.runs.start < runs}
        return Source(stored.signature, runs, settings, blocks)


@dataclass(frozen=True)
class StoredSweep:
    """What is stored of a sweep."""

    tables: "Sequence[pd.DataFrame]"
    """The table of each experiment that is stored; columns of the settings that vary stand in front."""
    sources: Sequence[Source]
    """Where each of the tables comes from."""
    promised: int | None = None
    """The number of runs that the sweep asks for in its YAML file; None for a simulation, which has no runs."""
    lacking: str | None = None
    """A line that says which runs are missing; None where none is."""
    keys: Sequence[str] = ()
    """The settings that vary."""

    @property
    def table(self) -> "pd.DataFrame":
        """The tables of all experiments, one below the other."""
        return concatenate([table.copy(deep=False) for table in self.tables or [self.nothing]])

    @property
    def nothing(self) -> "pd.DataFrame":
        """A table with the columns of this one, and without rows."""
        if self.tables:
            return self.tables[0].iloc[:0]
        return pd.DataFrame(columns=[*self.keys, *SCHEMA]).astype(SCHEMA)


StoredSweeps = Mapping[str, StoredSweep]
"""What is stored of several sweeps, by their names."""


def load_simulation(simulation: Simulation) -> StoredSweep:
    """Return the stored table of a simulation, in the form in which figures get the tables of sweeps.

    Raises:
        StoreError: The simulation is not stored, or its table is damaged.
    """
    table, digests = simulation.load(), simulation.files.read_sidecar()["files"]
    source = Source(simulation.signature, simulation.sequences, settings={}, blocks=digests)
    return StoredSweep([table], [source])


def shared_runs(settings: Iterable[Setting]) -> int:
    """Return the number of runs that all of these experiments have; those without any run do not count.

    The runs of an experiment are counted from run 0 to the first that is missing. If none has any, the number is 0.
    """
    complete = [store.lookup(setting.experiment).complete() for setting in settings]
    return min((runs for runs in complete if runs), default=0)


def promised_runs(settings: Iterable[Setting]) -> int:
    """Return the number of runs that a sweep of these experiments asks for in its YAML file."""
    return max(setting.experiment.request.runs for setting in settings)


def load_sweep(settings: Sequence[Setting], most: int | None = None) -> StoredSweep:
    """Load what is stored of the experiments of a sweep.

    Args:
        settings: The experiments, which all vary the same keys.
        most: The number of runs of each experiment to load at most; by default the number that the sweep promises.

    A `StoreWarning` names each file that is damaged; its experiment is left out.
    """
    promised = promised_runs(settings)
    most = promised if most is None else most
    tables: list[pd.DataFrame] = []
    sources: list[Source] = []
    lacking: list[str] = []
    for setting in settings:
        stored = store.lookup(setting.experiment)
        complete = stored.complete()
        if complete < promised:
            varied = ", ".join(f"{key}={value}" for key, value in setting.varied.items())
            lacking.append(f"{varied} has {complete}")
        try:
            if shown := min(most, complete):
                tables.append(store.load(setting.experiment, shown))
                sources.append(Source.of(stored, shown, setting.varied))
        except store.StoreError as error:
            warnings.warn(str(error), store.StoreWarning, stacklevel=2)
    few = f"{len(lacking)} of {len(settings)} experiments have fewer than {promised} runs"
    line = f"{few} ({lacking[0]})" if lacking else None
    tables = _with_settings(tables, [source.settings for source in sources])
    return StoredSweep(tables, sources, promised, line, keys=[*settings[0].varied])


def _with_settings(tables: "Sequence[pd.DataFrame]", settings: Sequence[Mapping[str, Any]]) -> "list[pd.DataFrame]":
    """Return the tables of experiments with a column for each of their settings in front; words are categories."""
    columns = {key: _column([of_table[key] for of_table in settings]) for key in (settings[0] if settings else ())}
    of_tables = [
        {key: values.iloc[[place]].repeat(len(table)).array for key, values in columns.items()}
        for place, table in enumerate(tables)
    ]
    return [
        pd.DataFrame({**varied, **dict(table.items())}, copy=False)
        for varied, table in zip(of_tables, tables, strict=True)
    ]


def _column(values: Sequence[Any]) -> "pd.Series":
    column = pd.concat([pd.Series([value]) for value in values], ignore_index=True)
    return column.astype("category") if isinstance(values[0], str) else column


def concatenate(tables: "Sequence[pd.DataFrame]") -> "pd.DataFrame":
    """Return tables one below the other. They lose their columns, because two copies of all take much memory."""
    columns: dict[str, Any] = {}
    for name in dict.fromkeys(str(name) for table in tables for name in table):
        parts = [table.pop(name) if name in table else pd.Series(np.nan, table.index) for table in tables]
        columns[name] = pd.concat(parts, ignore_index=True)
    return pd.DataFrame(columns, copy=False)
