"""The results of several experiments, such as a sweep."""

import warnings
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from pomrl import store
from pomrl.configuration.composed import METHOD_GROUPS, number_of, unknown_key
from pomrl.configuration.sweeps import Setting
from pomrl.results.result import NotInSweepError, Result
from pomrl.science.gamma_star import HindsightChoice
from pomrl.science.stored_columns import MEASURED, SCHEMA
from pomrl.store import StoredExperiment, StoreError
from pomrl.store.derived import Simulation

if TYPE_CHECKING:  # because it takes long to load
    import pandas as pd


@dataclass(frozen=True)
class Origin:
    """The stored files of an experiment or of a simulation."""

    signature: str
    runs: int
    """The number of runs in the table; for a simulation, the number of sequences (0 if it has none)."""
    settings: Mapping[str, Any]
    """The settings that vary in its sweep, by their dotted keys; empty for a simulation."""
    blocks: Mapping[str, str]
    """The SHA-256 digest of each file by name; of blocks, its first 16 hex digits."""


@dataclass(frozen=True)
class SweepResults:
    """The results of several experiments, and their differing settings."""

    keys: tuple[str, ...]
    """The settings that vary, by dotted keys."""
    values: Sequence[tuple[Any, ...]]
    """The values of these settings in each experiment."""
    results: Sequence[Result]
    choice: HindsightChoice = "population"
    """How schedules choose in hindsight, by the reading of the paper (R8)."""
    variant: str = ""
    """The variant of its study; empty outside of studies."""
    requested_runs: int = 0
    """The largest requested number of runs; 0 if unknown."""
    notes: tuple[str, ...] = ()
    """Lines about omitted or missing runs."""
    has_only_common_runs: bool = False
    """Whether runs are left out because another method on the same problem lacks them."""

    @property
    def names(self) -> tuple[str, ...]:
        """The last parts of the keys."""
        return tuple(key.rpartition(".")[2] for key in self.keys)

    def where(self, **fixed: Any) -> "SweepResults":
        """Select experiments by values of settings; drop these settings."""
        remaining = [column for column, name in enumerate(self.names) if name not in fixed]
        rows = [
            row
            for row, values in enumerate(self.values)
            if fixed.items() <= dict(zip(self.names, values, strict=True)).items()
        ]
        return replace(
            self,
            keys=tuple(self.keys[column] for column in remaining),
            values=[tuple(self.values[row][column] for column in remaining) for row in rows],
            results=[self.results[row] for row in rows],
        )

    def with_common_runs(self) -> "SweepResults":
        """Reduce methods on the same problem to their common first runs."""
        method_keys = (*METHOD_GROUPS, "code", "signature")
        keys = [key for key in self.keys if key.partition(".")[0] not in method_keys]
        problems = [tuple(repr(settings.get(key)) for key in keys) for settings in self.settings]
        common: dict[tuple[str, ...], int] = {}
        for problem, runs in zip(problems, self.runs, strict=True):
            common[problem] = min(runs, common.get(problem, runs))
        n_runs = [common[problem] for problem in problems]
        if n_runs == self.runs:
            return self
        pairs = zip(self.results, n_runs, strict=True)
        results = [result if result.runs == runs else result.first_runs(runs) for result, runs in pairs]
        return replace(self, results=results, has_only_common_runs=True)

    def with_pooled_seeds(self, value: str) -> "SweepResults":
        """Join the runs of experiments with different seeds and otherwise equal settings.

        Nothing changes unless all have the same seeds and runs, because other runs could not be paired. The results
        have the column or metric `value`.
        """
        if "seed" not in self.keys:
            return self
        column, groups = self.keys.index("seed"), dict[str, list[int]]()
        rests = [(*values[:column], *values[column + 1 :]) for values in self.values]
        for row, remaining_values in enumerate(rests):
            groups.setdefault(repr(remaining_values), []).append(row)
        if len({tuple((self.values[row][column], self.runs[row]) for row in rows) for rows in groups.values()}) > 1:
            return self
        names = {value, MEASURED, "gamma"}
        return replace(
            self,
            keys=(*self.keys[:column], *self.keys[column + 1 :]),
            values=[rests[rows[0]] for rows in groups.values()],
            results=[Result.pooled([self.results[row] for row in rows], names) for rows in groups.values()],
        )

    def at(self, **settings: Any) -> Result:
        """Return the result with these settings; NotInSweepError if missing."""
        values = tuple(settings.get(name) for name in self.names)
        if values not in self.values or not settings.keys() <= {*self.names}:
            request = ", ".join(f"{name}={value!r}" for name, value in settings.items())
            columns = zip(self.names, zip(*self.values, strict=True), strict=True)
            axes = "; ".join(f"{name} = {', '.join(dict.fromkeys(map(repr, column)))}" for name, column in columns)
            raise NotInSweepError(f"the sweep has no experiment with {request}; available: {axes or 'one experiment'}")
        return self.results[self.values.index(values)]

    def setting_values(self, key: str, others: Sequence[str] = ()) -> list[Any]:
        """Return a setting of each experiment; StoreError, also listing `others`, if one is missing."""
        settings = self.settings
        if not all(key in mapping for mapping in settings):
            shared = sorted(set(settings[0]).intersection(*settings))
            keys = [*others, *shared]
            raise StoreError(unknown_key(key, key, keys, "not all of these experiments have this setting"))
        return [mapping[key] for mapping in settings]

    @property
    def stored(self) -> list[StoredExperiment]:
        return [result.stored for result in self.results if result.stored]

    @property
    def settings(self) -> list[Mapping[str, Any]]:
        return [result.settings for result in self.results]

    @property
    def runs(self) -> list[int]:
        return [result.runs for result in self.results]

    @property
    def origins(self) -> list[Origin]:
        """The stored files of each experiment."""
        return [_origin(result, {key: result.settings.get(key) for key in self.keys}) for result in self.results]

    @cached_property
    def tables(self) -> "list[pd.DataFrame]":
        """The table of each experiment, with varying settings as first columns."""
        columns = {key: _as_column([mapping[key] for mapping in self.settings]) for key in self.keys if self.results}
        tables: list[pd.DataFrame] = []
        for index, table in enumerate(result.table() for result in self.results):
            for key in reversed(self.keys):
                table.insert(0, key, columns[key].iloc[[index]].repeat(len(table)).array)
            tables.append(table)
        return tables

    @property
    def table(self) -> "pd.DataFrame":
        return concatenate([table.copy(deep=False) for table in self.tables or [self.without_rows]])

    @property
    def without_rows(self) -> "pd.DataFrame":
        """An empty table with the same columns."""
        import pandas as pd

        if self.results:
            return self.tables[0].iloc[:0]
        return pd.DataFrame(columns=[*self.keys, *SCHEMA]).astype(SCHEMA)


StoredSweeps = Mapping[str, Any]
"""The `SweepResults` of sweeps and the tables of simulations, by name."""


def _origin(result: Result, settings: Mapping[str, Any]) -> Origin:
    if result.stored is None:
        return Origin("", result.runs, settings, {})
    blocks = {block.name: block.sha256 for block in result.stored.blocks() if block.runs.start < result.runs}
    return Origin(result.stored.signature, result.runs, settings, blocks)


def simulation_origin(simulation: Simulation) -> Origin:
    """Return the files of a simulation; StoreError if damaged."""
    files = simulation.files.read_sidecar()["files"]
    return Origin(simulation.signature, simulation.sequences, settings={}, blocks=files)


def shared_runs(settings: Iterable[Setting]) -> int:
    """Return the smallest number of runs among experiments with runs."""
    complete = [store.lookup(setting.experiment).complete() for setting in settings]
    return min((runs for runs in complete if runs), default=0)


def max_requested_runs(settings: Iterable[Setting]) -> int:
    """Return the largest requested number of runs."""
    return max(setting.experiment.request.runs for setting in settings)


def load_sweep(settings: Sequence[Setting], max_runs: int | None = None) -> SweepResults:
    """Load the stored results of a sweep; warn about damaged files.

    At most `max_runs` runs are loaded, by default as many as requested. The experiments must vary the same keys.
    """
    requested_runs = max_requested_runs(settings)
    max_runs = requested_runs if max_runs is None else max_runs
    results: list[Result] = []
    incomplete: list[str] = []
    for setting in settings:
        stored = store.lookup(setting.experiment)
        complete = stored.complete()
        if complete < requested_runs:
            varied = ", ".join(f"{key}={value}" for key, value in setting.varied.items())
            incomplete.append(f"{varied or 'it'} has {complete}")
        try:
            if runs := min(max_runs, complete):
                table = store.load(setting.experiment, runs)
                results.append(Result.of_table(table, settings=setting.varied, stored=stored))
        except store.StoreError as error:
            warnings.warn(str(error), store.StoreWarning, stacklevel=2)
    verb = "has" if len(incomplete) == 1 else "have"
    few = f"{len(incomplete)} of {number_of(len(settings), 'experiment')} {verb} fewer than"
    notes = (f"{few} {number_of(requested_runs, 'run')} ({incomplete[0]})",) if incomplete else ()
    values = [tuple(result.settings.values()) for result in results]
    return SweepResults(tuple(settings[0].varied), values, results, requested_runs=requested_runs, notes=notes)


def _as_column(values: Sequence[Any]) -> "pd.Series":
    import pandas as pd

    column = pd.concat([pd.Series([value]) for value in values], ignore_index=True)
    return column.astype("category") if isinstance(values[0], str) else column


def concatenate(tables: "Sequence[pd.DataFrame]") -> "pd.DataFrame":
    """Concatenate tables, and empty them to save memory; missing columns are NaN."""
    import pandas as pd

    columns: dict[str, Any] = {}
    for name in dict.fromkeys(str(name) for table in tables for name in table):
        pieces = [table.pop(name) if name in table else pd.Series(np.nan, table.index) for table in tables]
        columns[name] = pd.concat(pieces, ignore_index=True)
    return pd.DataFrame(columns, copy=False)
