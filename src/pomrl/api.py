"""The functions of `import pomrl` (docs/python.md).

Settings are keyword arguments; `estimator__prior` stands for `estimator.prior`. The commands `plot` and `table` take
options and help from here.
"""

import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from pomrl import store
from pomrl.configuration import overrides
from pomrl.configuration.composed import ConfigError
from pomrl.configuration.instances import Instances, extract
from pomrl.configuration.parsing import Experiment, parse
from pomrl.configuration.settings import flat_settings, scientific_settings
from pomrl.configuration.sources import PUBLISHED, Sources
from pomrl.configuration.sweeps import Setting, find_options
from pomrl.configuration.sweeps import sweep as sweep_settings
from pomrl.results.cross_tables import cross_table
from pomrl.results.intervals import Kind
from pomrl.results.result import Result, TaskChoice
from pomrl.results.selection import choose, filters
from pomrl.results.summaries import STATISTICS, summarise
from pomrl.results.sweep_results import SweepResults, concatenate, load_sweep
from pomrl.running.plan import check_time_limit, estimate, plan
from pomrl.running.work import raise_failures, work
from pomrl.science.problem import components
from pomrl.store import StoreError
from pomrl.store.code_digest import mark_notebook_classes

if TYPE_CHECKING:  # slow to import
    import pandas as pd
    from matplotlib.figure import Figure


Report = Callable[[str], object]
"""A function of a line about progress, such as `print`."""

MAX_LISTED_GAMMAS = 30
"""The maximum number of discount factors in a message."""


@dataclass(frozen=True)
class SweepJob:
    """An experiment of a sweep."""

    varied: Mapping[str, Any]
    """The values of the swept keys."""
    settings: Mapping[str, Any]
    """All settings that enter the signature, by dotted keys."""
    signature: str


def run(
    config: Mapping[str, Any] | None = None,
    *,
    gamma: float | None = None,
    config_dir: str | Path | None = None,
    report: Report | None = None,
    **settings: Any,
) -> "pd.DataFrame":
    """Compute missing runs of one experiment, and return its table.

    The default schedule plans with a grid of discount factors. Do not average `planning_loss` over them: `gamma=0.99`
    selects one.

    Args:
        config: A configuration composed by Hydra, instead of settings. Compose with `return_hydra_config=True` to keep
            its axes and the names of options.
        gamma: Only rows planned with this discount factor.
        config_dir: A folder like conf/ with your own options.
        report: Called with a line after each block of runs, such as `print`.
        **settings: Settings, such as `sigma=0.02, estimator="pomrl", runs=50`. The value of a group is the name of an
            option, or a component. A list is one value.

    Returns:
        A row for each run, task and discount factor, in this order, with the columns of
        `pomrl.science.stored_columns.SCHEMA`. `planning_loss` is the loss at gamma_eval of the policy planned with
        `gamma`. `attrs` has `signature`, `settings` by dotted keys, and `gammas`.

    Raises:
        ConfigError: A setting is wrong.
        StoreError: Stored runs used other package versions.
        ExecutionError: The experiment failed.
    """
    sources = _sources(config_dir)
    if config is None:
        experiment = _from_settings(settings, sources)
    else:
        experiment = _single_experiment(_sweep_settings(config, settings, sources))
    _mark([experiment])
    _compute_experiments([experiment], report)
    return _with_attrs(store.load(experiment, experiment.request.runs), experiment, gamma)


def jobs(
    experiment: str | Mapping[str, Any] | None = None, *, config_dir: str | Path | None = None, **settings: Any
) -> list[SweepJob]:
    """Return the experiments of a sweep without computing them.

    Args:
        experiment: A sweep, or a configuration, as in `sweep`.
        config_dir: A folder like conf/ with your own options and sweeps.
        **settings: Settings, as in `sweep`.

    Raises:
        ConfigError: A setting is wrong.
    """
    all_settings = _sweep_settings(experiment, settings, _sources(config_dir))
    _mark(setting.experiment for setting in all_settings)
    return [
        SweepJob(setting.varied, _flat(setting.experiment), store.signature(setting.experiment))
        for setting in all_settings
    ]


def _sweep_settings(
    experiment: str | Mapping[str, Any] | None, settings: Mapping[str, Any], sources: Sources
) -> list[Setting]:
    if isinstance(experiment, Mapping):
        _check_config(experiment, settings)
        return _from_config(experiment, sources)
    if not isinstance(experiment, str | None):
        kind = type(experiment).__name__
        raise TypeError(f"experiment must be the name of a sweep or a configuration, got {kind}")
    plain, instances = _extract(settings)
    return sweep_settings(sources, experiment, further=overrides.axes(plain), instances=instances)


def _mark(experiments: Iterable[Experiment]) -> None:
    """Set the source digests of notebook classes, before signatures."""
    used = (components(experiment.problem, experiment.method).values() for experiment in experiments)
    mark_notebook_classes(chain.from_iterable(used))


def _check_config(config: Mapping[str, Any], settings: Mapping[str, Any]) -> None:
    """Raise a ConfigError for settings besides a configuration; warn if its axes are unknown."""
    from pomrl.configuration.hydra_sweeps import lacks_axes  # commands that only read need no Hydra

    if settings:
        raise ConfigError(f"{next(iter(settings))} must not be a keyword argument if config is given; set it in config")
    if lacks_axes(config):
        problem = "config has no node hydra with the axes of a sweep, so it is one experiment"
        warnings.warn(f"{problem}; compose it with return_hydra_config=True", stacklevel=4)


def _extract(settings: Mapping[str, Any]) -> tuple[Mapping[str, Any], Instances]:
    """Replace instances in settings by texts, and mark notebook classes."""
    plain, instances = extract(settings)
    mark_notebook_classes(instance for _, instance in instances.values())
    return plain, instances


def _from_settings(settings: Mapping[str, Any], sources: Sources) -> Experiment:
    plain, instances = _extract(settings)
    axes = overrides.overrides(plain)
    try:
        (setting,) = sweep_settings(sources, None, further=axes, instances=instances)
    except ConfigError as error:
        has_lists = any(isinstance(value, list | tuple) for value in settings.values())
        raise ConfigError(f"{error}; use pomrl.sweep for several values") if has_lists else error from error
    return setting.experiment


def _from_config(config: Mapping[str, Any], sources: Sources) -> list[Setting]:
    from pomrl.configuration.composition import to_composed
    from pomrl.configuration.hydra_sweeps import sweep_of_config

    if settings := sweep_of_config(config):
        return settings
    composed = to_composed(config)
    options = composed.options or find_options(composed.values, sources)
    return [Setting({}, parse(replace(composed, options=options)))]


def _single_experiment(settings: Sequence[Setting]) -> Experiment:
    if len(settings) > 1:
        keys = ", ".join(settings[0].varied)
        raise ConfigError(f"config must be one experiment, got {len(settings)} ({keys}); use pomrl.sweep(config)")
    return settings[0].experiment


def _flat(experiment: Experiment) -> dict[str, Any]:
    return flat_settings(scientific_settings(experiment), experiment.options)


def _with_attrs(table: "pd.DataFrame", experiment: Experiment, gamma: float | None) -> "pd.DataFrame":
    gammas = sorted(set(table["gamma"].tolist()))
    if gamma is not None:
        table = table[np.isclose(table["gamma"], gamma, rtol=0, atol=1e-12)].reset_index(drop=True)
        if table.empty:
            listed = ", ".join(f"{value:g}" for value in gammas[:MAX_LISTED_GAMMAS])
            listed += ", ..." * (len(gammas) > MAX_LISTED_GAMMAS)
            raise ConfigError(f"gamma must be one of the planned discount factors ({listed}), got {gamma}")
        gammas = [gamma]
    table.attrs = {"signature": store.signature(experiment), "settings": _flat(experiment), "gammas": gammas}
    return table


def sweep(
    experiment: str | Mapping[str, Any] | None = None,
    *,
    config_dir: str | Path | None = None,
    report: Report | None = None,
    **settings: Any,
) -> "pd.DataFrame":
    """Compute missing runs of a sweep, and return its tables as one.

    Args:
        experiment: A sweep, such as "task_similarity" or "beyond/families"; or a configuration composed by Hydra, with
            `return_hydra_config=True`, for all jobs of its axes.
        config_dir: A folder like conf/ with your own options and sweeps.
        report: Called with a line after each block of runs, such as `print`.
        **settings: Settings, as in `run`. Lists, tuples, ranges and arrays are swept:
            `sigma=[0.01, 0.02], estimator=["pomrl", "oracle"]` are four experiments. Lists may have components.

    Returns:
        The tables of `run`, concatenated, with a column for each swept setting. `attrs` has `signatures` and `settings`
        of the experiments, in order.

    Raises:
        ConfigError: A setting is wrong; nothing is computed.
        ExecutionError: An experiment failed; the others are stored.
    """
    all_settings = _sweep_settings(experiment, settings, _sources(config_dir))
    experiments = [setting.experiment for setting in all_settings]
    _mark(experiments)
    _compute_experiments(experiments, report)
    table = concatenate(load_sweep(all_settings).tables)
    table.attrs = {"signatures": [*map(store.signature, experiments)], "settings": [*map(_flat, experiments)]}
    return table


def find(**settings: Any) -> "pd.DataFrame":
    """Find stored experiments with these settings.

    Args:
        **settings: Settings, such as `sigma=0.01`; none for everything stored.

    Returns:
        A row for each signature, with stored `runs`, `tags`, and settings by dotted keys.

    Raises:
        StoreError: A key is unknown.
    """
    import pandas as pd

    experiments = store.find(**{overrides.key(name): value for name, value in settings.items()})
    rows = [
        {"runs": stored.complete(), "tags": ", ".join(stored.tags()), **stored.flat_settings()}
        for stored in experiments
    ]
    index = pd.Index([stored.signature for stored in experiments], name="signature", dtype=object)
    return pd.DataFrame(rows, index=index, columns=None if rows else ["runs", "tags"])


def load(
    which: str | Path | None = None, *, runs: int | None = None, config_dir: str | Path | None = None, **settings: Any
) -> "pd.DataFrame":
    """Load the stored table of one experiment.

    Args:
        which: The first digits of its signature, or its folder, instead of settings.
        runs: The number of runs, from run 0 on; by default all stored ones.
        config_dir: A folder like conf/ with your own options.
        **settings: Settings, as in `plot`.

    Returns:
        The table, as from `run`; `attrs` has `signature` and `settings`.

    Raises:
        ConfigError: A setting is wrong, or given besides `which`.
        StoreError: No experiment, or more than one, is selected, or it has fewer runs.
    """
    if which and settings:
        raise ConfigError(f"which must be None with settings, got {str(which)!r} and {', '.join(settings)}")
    if runs is not None and runs < 1:
        raise ConfigError(f"runs must be at least 1, got {runs}")
    is_folder = isinstance(which, Path) and "/" not in str(which)
    plain, instances = _extract(settings)
    selectors = [f"./{which}" if is_folder else str(which)] if which else overrides.axes(plain)
    results = select(selectors, config_dir=config_dir, instances=instances)
    if len(results.results) > 1:
        values = {key: ", ".join(dict.fromkeys(map(str, results.setting_values(key)))) for key in results.keys}
        differing = ", ".join(f"{key} ({options})" for key, options in values.items())
        raise StoreError(
            f"settings must select one stored experiment, got {len(results.results)}; they differ in {differing}"
        )
    (result,), (stored,) = results.results, results.stored
    table = Result.of_stored(stored, runs or result.runs, result.experiment).table()
    table.attrs = {"signature": stored.signature, "settings": stored.flat_settings()}
    return table


def plot(  # noqa: PLR0913  (which experiments, and how they are drawn)
    x: str = "task",
    y: str = "planning_loss",
    *,
    task: TaskChoice = "all",
    against: Mapping[str, Any] | str | None = None,
    hue: str | None = None,
    col: str | None = None,
    row: str | None = None,
    band: Kind = "ci",
    where: Mapping[str, Any] | None = None,
    config_dir: str | Path | None = None,
    **settings: Any,
) -> "Figure":
    """Plot stored experiments against tasks, discount factors or a setting.

    Runs of different seeds are pooled, unless `seed` is an axis.

    Args:
        x: The horizontal axis: `task` (default), `gamma`, or a setting, such as `sigma`.
        y: A column of stored tables, such as `alpha`, or a metric (default: `planning_loss`).
        task: Tasks to average: all (default), first, last, or a number.
        against: The method to subtract in each run, such as `estimator=pomrl`.
        hue: The setting shown as colours; by default, hue, col and row are varying settings.
        col: The setting shown as columns of panels.
        row: The setting shown as rows of panels.
        band: Confidence intervals of the mean (ci, default), standard errors (se) or standard deviations (sd).
        where: Only stored experiments with these settings, such as `sigma=0.01,0.02`.
        config_dir: A folder like conf/ with your own options.
        **settings: Settings, as in `sweep`, or a `tag`; none for everything stored. `code` is "all", "previous", or a
            label from `pomrl runs`.

    Raises:
        ConfigError: A setting is wrong, or the column is unknown.
        StoreError: No such runs are stored.
        ValueError: The experiments differ in too many settings, or none has the method `against`.
    """
    from pomrl.drawing.plots import PlotLayout, PlotOptions, draw  # slow to import

    plain, instances = _extract(settings)
    results = select(overrides.axes(plain), y, where, config_dir, instances)
    return draw(results, x, y, PlotLayout(hue, col, row), PlotOptions(band, task, read_method(against))).figure


def table(  # noqa: PLR0913  (which experiments, and how they are tabulated)
    *,
    against: Mapping[str, Any] | str | None = None,
    y: str = "planning_loss",
    task: TaskChoice = "all",
    statistic: Literal["mean", "iqm", "median"] | None = None,
    rows: str | None = None,
    columns: str | None = None,
    best: Literal["bold"] | None = None,
    where: Mapping[str, Any] | None = None,
    config_dir: str | Path | None = None,
    **settings: Any,
) -> "pd.DataFrame":
    """Tabulate mean, interquartile mean and median over runs, with intervals.

    Runs of different seeds are pooled, unless `seed` is an axis.

    Args:
        against: The method to subtract in each run, such as `estimator=pomrl`, in columns NAME_difference.
        y: A column of stored tables, or a metric (default: `planning_loss`), at gamma_eval or the chosen gamma.
        task: Tasks to average: all (default), first, last, or a number.
        statistic: Only this statistic (default: all; with rows and columns: mean).
        rows: The setting shown as rows, such as `m`; set columns too.
        columns: The setting shown as columns, such as `estimator`; set rows too.
        best: Mark the smallest value of each row, and all not significantly larger ones, in bold.
        where: Only stored experiments with these settings, such as `sigma=0.01,0.02`.
        config_dir: A folder like conf/ with your own options.
        **settings: Settings, as in `plot`.

    Raises:
        ConfigError: A setting is wrong, or the column is unknown.
        StoreError: No such runs are stored.
        ValueError: The experiments cannot be paired, or rows and columns do not distinguish them.
    """
    plain, instances = _extract(settings)
    selection = select(overrides.axes(plain), y, where, config_dir, instances)
    return tabulate(selection, against, y, task, statistic, rows, columns, best)


def judge(study: str | Path, variants: str | None = None) -> "pd.DataFrame":
    """Judge the claims of a study on stored runs.

    Args:
        study: The name of a study, or its folder.
        variants: Names of variants and families, separated by commas, or `all` (default: those in `study.yaml`).

    Returns:
        The table `claims.csv`, with a row for each comparison, claim and variant.

    Raises:
        ConfigError: A name is unknown, the study has no claims, or one of them fails.
        StoreError: No runs of its claims are stored.
    """
    from pomrl.configuration.study import find as find_study  # slow to import, with what judges
    from pomrl.judging.judgements import to_frame
    from pomrl.judging.study_verdicts import find_variants, judge_study

    described = find_study(str(study))
    return to_frame(judge_study(described, find_variants(described, variants)))


def tabulate(  # noqa: PLR0913  (the options of `table`)
    selection: SweepResults,
    against: Mapping[str, Any] | str | None,
    y: str,
    task: TaskChoice,
    statistic: str | None,
    rows: str | None,
    columns: str | None,
    best: str | None,
) -> "pd.DataFrame":
    """Tabulate selected experiments, as in `table`."""
    if statistic not in (None, *STATISTICS):
        raise ValueError(f"statistic must be one of {', '.join(STATISTICS)}, got {statistic!r}")
    if "seed" not in (rows, columns):
        selection = selection.with_pooled_seeds(y)
    if not (rows or columns or best):
        return summarise(selection, y, task, [statistic] if statistic else STATISTICS, read_method(against))
    if best not in (None, "bold"):
        raise ValueError(f"best must be 'bold' or None, got {best!r}")
    if best and not (rows and columns):
        raise ValueError("best needs rows and columns; set both, such as rows=sigma and columns=estimator")
    if against:
        raise ValueError("against cannot be combined with rows and columns; use best to compare methods there")
    from pomrl.drawing.plots import labels  # slow to import

    rows, columns = (key and overrides.key(key) for key in (rows, columns))
    names = {key: labels(selection, key) for key in (rows, columns) if key in selection.keys}
    options = {"value": y, "tasks": task, "statistic": statistic or "mean", "marks_best": best is not None}
    return cross_table(selection, rows, columns, labels=names, **options)


def read_method(against: Mapping[str, Any] | Sequence[str] | str | None) -> Mapping[str, Any] | None:
    """Parse the settings of a method, such as `estimator=pomrl`."""
    if isinstance(against, Mapping | None):
        return against
    return filters([against] if isinstance(against, str) else against) or None


def select(
    selectors: Sequence[str],
    value: str | None = "planning_loss",
    where: Mapping[str, Any] | Sequence[str] | None = None,
    config_dir: str | Path | None = None,
    instances: Instances | None = None,
) -> SweepResults:
    """Select stored experiments by command-line words, instances in them, and `where`."""
    conditions = where if isinstance(where, Mapping | None) else filters(where)
    by_key = {overrides.key(name): value for name, value in (conditions or {}).items()}
    return choose(selectors, by_key, value, _sources(config_dir), instances)


def _sources(config_dir: str | Path | None) -> Sources:
    return PUBLISHED.with_options(None if config_dir is None else Path(config_dir))


def _compute_experiments(experiments: Sequence[Experiment], report: Report | None) -> None:
    if experiments[0].request.dry_run:
        raise ConfigError("dry_run must be False in Python; use it in `pomrl run`")
    for note in dict.fromkeys(chain.from_iterable(experiment.notes for experiment in experiments)):
        warnings.warn(note, stacklevel=3)
    jobs = plan(experiments)
    expected = estimate(jobs)
    if not experiments[0].request.yes:
        check_time_limit(expected)

    def advance(done: int, _failed: int) -> None:
        if report:
            report(f"{done}/{expected.runs} runs")

    raise_failures(work(jobs, advance))
