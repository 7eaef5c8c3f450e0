"""The stored tables of a sweep, put together into one."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from pomrl import store
from pomrl.configuration.sweeps import Setting
from pomrl.science.loss_tables import SCHEMA
from pomrl.store.simulations import Simulation


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

    table: "pd.DataFrame"
    """The tables of all experiments, one below the other; columns of the settings that vary stand in front."""
    sources: list[Source]
    """Where the tables come from: one source for each experiment that is stored."""
    promised: int | None
    """The number of runs that the sweep asks for in its YAML file; None for a simulation, which has no runs."""
    lacking: str | None
    """A line that says which runs are missing; None where none is."""


StoredSweeps = Mapping[str, StoredSweep]
"""What is stored of several sweeps, by their names."""


def load_simulation(simulation: Simulation) -> StoredSweep:
    """Return the stored table of a simulation, in the form in which figures get the tables of sweeps.

    Raises:
        StoreError: The simulation is not stored, or its table is damaged.
    """
    table, digests = simulation.load(), simulation.files.read_sidecar()["files"]
    source = Source(simulation.signature, simulation.sequences, settings={}, blocks=digests)
    return StoredSweep(table, [source], promised=None, lacking=None)


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

    Raises:
        StoreError: A file of what is stored is damaged.
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
        if shown := min(most, complete):
            tables.append(store.load(setting.experiment, shown))
            sources.append(Source.of(stored, shown, setting.varied))
    few = f"{len(lacking)} of {len(settings)} experiments have fewer than {promised} runs"
    line = f"{few} ({lacking[0]})" if lacking else None
    keys = {key: isinstance(value, str) for key, value in settings[0].varied.items()}
    return StoredSweep(_concatenate(tables, [source.settings for source in sources], keys), sources, promised, line)


def _concatenate(
    tables: "Sequence[pd.DataFrame]", varied: Sequence[Mapping[str, Any]], keys: Mapping[str, bool]
) -> "pd.DataFrame":
    """Concatenate the tables of experiments, with a column for each key that varies. There may be no tables.

    Columns are moved one after the other, because all of them together take much memory.

    Args:
        tables: The tables, which are empty afterwards.
        varied: The values of the keys in each of them.
        keys: Whether the values of each key are words, which become categories.
    """
    if not tables:
        nothing = pd.DataFrame(columns=[*keys, *SCHEMA])
        return nothing.astype(dict.fromkeys([key for key, is_word in keys.items() if is_word], "category"))
    rows, columns = [len(table) for table in tables], {}
    for key, is_word in keys.items():
        values = pd.concat([pd.Series([settings[key]]) for settings in varied], ignore_index=True)
        columns[key] = (values.astype("category") if is_word else values).repeat(rows).array
    for name in dict.fromkeys(str(name) for table in tables for name in table):
        parts = [table.pop(name) if name in table else pd.Series(np.nan, table.index) for table in tables]
        columns[name] = pd.concat(parts, ignore_index=True)
    return pd.DataFrame(columns, copy=False)
