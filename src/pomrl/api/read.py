"""Find, load, plot, tabulate and judge stored experiments.

The commands `plot` and `table` take options and help from here.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from pomrl import store
from pomrl.api.keywords import extract_instances, read_sources
from pomrl.configuration import overrides
from pomrl.configuration.composed import ConfigError
from pomrl.configuration.instances import Instances
from pomrl.results.cross_tables import cross_table
from pomrl.results.intervals import Kind
from pomrl.results.result import Result, TaskChoice
from pomrl.results.selection import choose, filters
from pomrl.results.summaries import STATISTICS, summarise
from pomrl.results.sweep_results import SweepResults
from pomrl.store import StoreError

if TYPE_CHECKING:  # slow to import
    import pandas as pd
    from matplotlib.figure import Figure


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
    plain, instances = extract_instances(settings)
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

    plain, instances = extract_instances(settings)
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
    plain, instances = extract_instances(settings)
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
    from pomrl.configuration.studies import find as find_study  # slow to import, with what judges
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
    return choose(selectors, by_key, value, read_sources(config_dir), instances)
