"""The stored tables of a sweep, put together into one."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pandas as pd

from pomrl import store
from pomrl.configuration.studies import Setting
from pomrl.experiment import SCHEMA
from pomrl.store import simulations
from pomrl.theory.simulations import Simulation


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


@dataclass(frozen=True)
class StoredSweep:
    """What is stored of a sweep."""

    table: pd.DataFrame
    """The tables of all settings, one below the other; columns of the settings that vary stand in front."""
    sources: list[Source]
    """Where the tables come from: one source for each setting that is stored."""
    promised: int | None
    """The number of runs that the sweep asks for in its YAML file; None for a simulation, which has no runs."""
    lacking: str | None
    """A line that says which runs are missing; None where none is."""


StoredSweeps = Mapping[str, StoredSweep]
"""What is stored of several sweeps, by their names."""


def stored_simulation(simulation: Simulation) -> StoredSweep:
    """Return the stored table of a simulation, in the form in which figures get the tables of sweeps.

    Raises:
        StoreError: The simulation is not stored, or its table is damaged.
    """
    sequences = simulation.parameters.get("sequences", 0)
    files = {simulations.TABLE: simulations.digest(simulation)}
    source = Source(simulations.signature(simulation), sequences, settings={}, blocks=files)
    return StoredSweep(simulations.load(simulation), [source], promised=None, lacking=None)


def stored_sweep(settings: Sequence[Setting], runs: int | None = None) -> StoredSweep:
    """Load what is stored of the settings of a sweep.

    Args:
        settings: The settings, which all vary the same keys.
        runs: The number of runs of each setting to load at most; by default the number that the sweep promises.

    Raises:
        StoreError: A file of what is stored is damaged.
    """
    promised = max(setting.experiment.request.runs for setting in settings)
    wanted = promised if runs is None else runs
    tables, sources, lacking = [], [], []
    for setting in settings:
        stored = store.lookup(setting.experiment)
        stored.refuse_damage()
        complete = min(wanted, stored.complete())
        if complete < wanted:
            varied = ", ".join(f"{key}={value}" for key, value in setting.varied.items())
            lacking.append(f"{varied} has {complete}")
        if complete:
            table = store.load(setting.experiment, complete)
            tables.append(table.assign(**setting.varied)[[*setting.varied, *table.columns]])
            sources.append(_source(stored, setting, complete))
    line = (
        f"{len(lacking)} of {len(settings)} settings have fewer than {wanted} runs ({lacking[0]})" if lacking else None
    )
    return StoredSweep(_concatenated(tables, settings[0].varied), sources, promised, line)


def _source(stored: store.StoredExperiment, setting: Setting, runs: int) -> Source:
    """Return the source of the first `runs` runs of a stored experiment."""
    blocks = {block.name: block.sha256 for block in stored.blocks() if block.runs.start < runs}
    return Source(stored.signature, runs, setting.varied, blocks)


def _concatenated(tables: Sequence[pd.DataFrame], varied: Mapping[str, Any]) -> pd.DataFrame:
    """Concatenate tables, of which there may be none; settings whose values are words become categories."""
    nothing = pd.DataFrame(columns=[*varied, *SCHEMA])
    table = pd.concat(tables, ignore_index=True) if tables else nothing
    words = [key for key, value in varied.items() if isinstance(value, str)]
    return table.astype(dict.fromkeys(words, "category"))
