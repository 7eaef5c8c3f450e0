"""Compute experiments and sweeps."""

import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from pomrl import store
from pomrl.api.keywords import extract_instances, read_sources
from pomrl.configuration import overrides
from pomrl.configuration.composed import ConfigError
from pomrl.configuration.parsing import Experiment, parse
from pomrl.configuration.settings import flat_settings, scientific_settings
from pomrl.configuration.sources import Sources
from pomrl.configuration.sweeps import Setting, find_options
from pomrl.configuration.sweeps import sweep as sweep_settings
from pomrl.results.sweep_results import concatenate, load_sweep
from pomrl.running.plan import check_time_limit, estimate, plan
from pomrl.running.work import raise_failures, work
from pomrl.science.problem import components
from pomrl.store.notebook_classes import mark_notebook_classes

if TYPE_CHECKING:  # slow to import
    import pandas as pd


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
    sources = read_sources(config_dir)
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
    points = _sweep_settings(experiment, settings, read_sources(config_dir))
    _mark(setting.experiment for setting in points)
    return [
        SweepJob(setting.varied, _flat(setting.experiment), store.signature(setting.experiment)) for setting in points
    ]


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
    points = _sweep_settings(experiment, settings, read_sources(config_dir))
    experiments = [setting.experiment for setting in points]
    _mark(experiments)
    _compute_experiments(experiments, report)
    table = concatenate(load_sweep(points).tables)
    table.attrs = {"signatures": [*map(store.signature, experiments)], "settings": [*map(_flat, experiments)]}
    return table


def _sweep_settings(
    experiment: str | Mapping[str, Any] | None, settings: Mapping[str, Any], sources: Sources
) -> list[Setting]:
    if isinstance(experiment, Mapping):
        _check_config(experiment, settings)
        return _from_config(experiment, sources)
    if not isinstance(experiment, str | None):
        kind = type(experiment).__name__
        raise TypeError(f"experiment must be the name of a sweep or a configuration, got {kind}")
    plain, instances = extract_instances(settings)
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


def _from_settings(settings: Mapping[str, Any], sources: Sources) -> Experiment:
    plain, instances = extract_instances(settings)
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
            gammas_text = ", ".join(f"{value:g}" for value in gammas[:MAX_LISTED_GAMMAS])
            gammas_text += ", ..." * (len(gammas) > MAX_LISTED_GAMMAS)
            raise ConfigError(f"gamma must be one of the planned discount factors ({gammas_text}), got {gamma}")
        gammas = [gamma]
    table.attrs = {"signature": store.signature(experiment), "settings": _flat(experiment), "gammas": gammas}
    return table


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
