"""The results of the experiments of a sweep, or of any that were selected, and where they are stored."""

import warnings
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from pomrl import store
from pomrl.configuration.composed import unknown_key
from pomrl.configuration.sweeps import Setting
from pomrl.results.result import NotInSweepError, Result
from pomrl.science.gamma_star import HindsightChoice
from pomrl.science.loss_tables import SCHEMA
from pomrl.store import StoredExperiment, StoreError
from pomrl.store.derived import Simulation

if TYPE_CHECKING:  # because it takes long to load
    import pandas as pd


@dataclass(frozen=True)
class Origin:
    """What is stored of an experiment or of a simulation."""

    signature: str
    runs: int
    """The number of runs in the table; of a simulation, the number of its sequences, or 0 if it has none."""
    settings: Mapping[str, Any]
    """The settings that vary in its sweep, by their dotted keys; empty for a simulation."""
    blocks: Mapping[str, str]
    """The SHA-256 digest of each file that was read, by the name of the file."""


@dataclass(frozen=True)
class SweepResults:
    """The results of several experiments, and the settings in which they differ."""

    keys: tuple[str, ...]
    """The settings that vary, by dotted keys."""
    values: Sequence[tuple[Any, ...]]
    """The values of these settings in each experiment."""
    results: Sequence[Result]
    choice: HindsightChoice = "population"
    """How the schedules that choose in hindsight do so, under the reading of the paper in question (R8)."""
    promised: int = 0
    """The number of runs that the sweep asks for in its YAML file; 0 if it is none of a file."""
    notes: tuple[str, ...] = ()
    """Lines about what is left out, or is not stored."""

    @staticmethod
    def of(keys: Sequence[str], results: Mapping[tuple[Any, ...], Result]) -> "SweepResults":
        """Return the results with these values of the keys."""
        return SweepResults(tuple(keys), [*results], [*results.values()])

    @property
    def names(self) -> tuple[str, ...]:
        """The last parts of the keys."""
        return tuple(key.rpartition(".")[2] for key in self.keys)

    def where(self, **fixed: Any) -> "SweepResults":
        """Return the experiments with these values of some names, as a sweep that varies the others."""
        kept = [place for place, name in enumerate(self.names) if name not in fixed]
        places = [
            place
            for place, values in enumerate(self.values)
            if fixed.items() <= dict(zip(self.names, values, strict=True)).items()
        ]
        return replace(
            self,
            keys=tuple(self.keys[place] for place in kept),
            values=[tuple(self.values[place][key] for key in kept) for place in places],
            results=[self.results[place] for place in places],
        )

    def at(self, **settings: Any) -> Result:
        """Return the experiment with these values; a name that is left out does not vary there.

        Raises:
            NotInSweepError: The sweep has no such experiment, or does not vary a key.
        """
        values = tuple(settings.get(name) for name in self.names)
        if values not in self.values or not settings.keys() <= {*self.names}:
            asked = ", ".join(f"{name}={value!r}" for name, value in settings.items())
            of_names = zip(self.names, zip(*self.values, strict=True), strict=True)
            known = "; ".join(f"{name} is {', '.join(dict.fromkeys(map(repr, of)))}" for name, of in of_names)
            raise NotInSweepError(f"the sweep has no experiment with {asked}; in it {known or 'nothing varies'}")
        return self.results[self.values.index(values)]

    def values_of(self, key: str) -> list[Any]:
        """Return the value of a setting in each experiment; StoreError if one has no such setting."""
        settings = self.settings
        if not all(key in each for each in settings):
            known = sorted(set(settings[0]).intersection(*settings))
            raise StoreError(unknown_key(key, key, known, "not all of these experiments have this setting"))
        return [each[key] for each in settings]

    @property
    def stored(self) -> list[StoredExperiment]:
        """The stored experiments."""
        return [result.stored for result in self.results if result.stored]

    @property
    def settings(self) -> list[Mapping[str, Any]]:
        """The settings of each experiment."""
        return [result.settings for result in self.results]

    @property
    def runs(self) -> list[int]:
        """The number of runs of each experiment."""
        return [result.runs for result in self.results]

    @property
    def origins(self) -> list[Origin]:
        """What is stored of each experiment."""
        return [origin(result, {key: result.settings.get(key) for key in self.keys}) for result in self.results]

    @cached_property
    def tables(self) -> "list[pd.DataFrame]":
        """The table of each experiment, with a column in front for each setting that varies; words are categories."""
        import pandas as pd

        settings = self.settings
        columns = {key: _as_column([each[key] for each in settings]) for key in self.keys if settings}
        tables = []
        for place, table in enumerate(result.table() for result in self.results):
            varied = {key: values.iloc[[place]].repeat(len(table)).array for key, values in columns.items()}
            tables.append(pd.DataFrame({**varied, **dict(table.items())}, copy=False))
        return tables

    @property
    def table(self) -> "pd.DataFrame":
        """The tables of all experiments, one below the other."""
        return concatenate([table.copy(deep=False) for table in self.tables or [self.without_rows]])

    @property
    def without_rows(self) -> "pd.DataFrame":
        """A table with the columns of this one, and without rows."""
        import pandas as pd

        if self.results:
            return self.tables[0].iloc[:0]
        return pd.DataFrame(columns=[*self.keys, *SCHEMA]).astype(SCHEMA)


StoredSweeps = Mapping[str, Any]
"""What figures show, by name: the `SweepResults` of a sweep, and the table of a simulation."""


def origin(result: Result, settings: Mapping[str, Any]) -> Origin:
    """Return what is stored of a result, with these settings in its sweep."""
    if result.stored is None:
        return Origin("", result.runs, settings, {})
    blocks = {block.name: block.sha256 for block in result.stored.blocks() if block.runs.start < result.runs}
    return Origin(result.stored.signature, result.runs, settings, blocks)


def simulation_origin(simulation: Simulation) -> Origin:
    """Return what is stored of a simulation; StoreError if it is not, or its description is damaged."""
    files = simulation.files.read_sidecar()["files"]
    return Origin(simulation.signature, simulation.sequences, settings={}, blocks=files)


def shared_runs(settings: Iterable[Setting]) -> int:
    """Return the number of runs that all of these experiments have, of those that have any; 0 if none has.

    The runs of an experiment are counted from run 0 to the first that is missing.
    """
    complete = [store.lookup(setting.experiment).complete() for setting in settings]
    return min((runs for runs in complete if runs), default=0)


def promised_runs(settings: Iterable[Setting]) -> int:
    """Return the number of runs that a sweep of these experiments asks for in its YAML file."""
    return max(setting.experiment.request.runs for setting in settings)


def load_sweep(settings: Sequence[Setting], most: int | None = None) -> SweepResults:
    """Load what is stored of a sweep; a `StoreWarning` names a damaged file, which is left out.

    Args:
        settings: The experiments, which vary the same keys.
        most: The most runs of each experiment; by default the number that the sweep promises.
    """
    promised = promised_runs(settings)
    most = promised if most is None else most
    results: list[Result] = []
    lacking: list[str] = []
    for setting in settings:
        stored = store.lookup(setting.experiment)
        complete = stored.complete()
        if complete < promised:
            varied = ", ".join(f"{key}={value}" for key, value in setting.varied.items())
            lacking.append(f"{varied} has {complete}")
        try:
            if runs := min(most, complete):
                table = store.load(setting.experiment, runs)
                results.append(Result.of_table(table, settings=setting.varied, stored=stored))
        except store.StoreError as error:
            warnings.warn(str(error), store.StoreWarning, stacklevel=2)
    few = f"{len(lacking)} of {len(settings)} experiments have fewer than {promised} runs"
    notes = (f"{few} ({lacking[0]})",) if lacking else ()
    values = [tuple(result.settings.values()) for result in results]
    return SweepResults(tuple(settings[0].varied), values, results, promised=promised, notes=notes)


def _as_column(values: Sequence[Any]) -> "pd.Series":
    import pandas as pd

    column = pd.concat([pd.Series([value]) for value in values], ignore_index=True)
    return column.astype("category") if isinstance(values[0], str) else column


def concatenate(tables: "Sequence[pd.DataFrame]") -> "pd.DataFrame":
    """Return tables one below the other. They lose their columns, because two copies of all take much memory."""
    import pandas as pd

    columns: dict[str, Any] = {}
    for name in dict.fromkeys(str(name) for table in tables for name in table):
        parts = [table.pop(name) if name in table else pd.Series(np.nan, table.index) for table in tables]
        columns[name] = pd.concat(parts, ignore_index=True)
    return pd.DataFrame(columns, copy=False)
