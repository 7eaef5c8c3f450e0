"""The stage of figures: draw them from stored runs.

Each gives NAME.pdf, NAME.png, NAME.csv (drawn values) and NAME.json (sources), with the promised runs and the bands of
its caption. NAME_intervals.* has 95 % intervals over all shared runs.
"""

from collections.abc import Mapping, Sequence

from pomrl import store
from pomrl.commands.stages import StageRequest, Work, find_variants
from pomrl.commands.terminal import exit_with, warn
from pomrl.configuration.composed import ConfigError, number_of
from pomrl.configuration.study import Study
from pomrl.configuration.sweeps import command
from pomrl.drawing.figure import figures_of
from pomrl.drawing.figures_of_study import Selection, draw, shown_settings, version_of, versions
from pomrl.running.work import store_simulations


def figures(request: StageRequest) -> Work | None:
    """Draw the figures of a study; a named stage also under variants."""
    study, names = request.study, versions(request.study, request.figures)
    if request.is_named:
        variants = find_variants(study, request.variants) if request.variants else [None]
        return lambda: _draw_named(study, [Selection(study, names, variant) for variant in variants], request.figures)
    _check_series(study)
    return (lambda: draw_all([Selection(study, names)])[0]) if names else None


def _check_series(study: Study) -> None:
    for figure in figures_of(study):
        try:
            shown_settings(figure, Selection(study, []))
        except ConfigError as error:
            raise ConfigError(f"{study.word}: figure {figure.name}: {error}") from error


def _draw_named(study: Study, selections: Sequence[Selection], requested: Sequence[str]) -> None:
    """Draw figures, print their paths, and name sweeps without enough runs.

    The status is 1 if a figure is not drawn. Of figures with one number, one drawn version is enough.
    """
    names = selections[0].names
    if not names:
        exit_with(f"{study.word}: it has no figures, which are functions with @figure in figures.py or figures/")
    if not requested and not store.all_experiments() and any(figure.sweeps for figure in figures_of(study)):
        exit_with(f"{study.word}: nothing is stored that its figures show; pomrl reproduce {study.word} computes it")
    missing, shortages = draw_all(selections, shows_paths=True)
    for sweep, line in shortages.items():
        own = not study.is_shipped and sweep in study.sweeps
        name = f"{study.word}/{sweep}" if own else study.option(sweep)
        warn(f"{line}; to compute them: {command(name)}")
    if missing and not _is_enough(study, requested, {*names} - {*missing}):
        remedy = f"; pomrl reproduce {study.word} computes all of its sweeps"
        exit_with(f"not drawn: {len(missing)} of {number_of(len(names) * len(selections), 'figure')}{remedy}")


def _is_enough(study: Study, requested: Sequence[str], names: set[str]) -> bool:
    """Return whether each word is a number with a drawn figure."""
    all_names = {*versions(study)}
    return bool(requested) and all(name not in all_names and names & {*versions(study, [name])} for name in requested)


def draw_all(selections: Sequence[Selection], *, shows_paths: bool = False) -> tuple[list[str], Mapping[str, str]]:
    """Draw figures after their simulations, and print why some are missing.

    Args:
        selections: The figures.
        shows_paths: Whether to print the paths of their files.

    Returns:
        The names of missing figures, and a line for each sweep without enough runs.
    """
    drawable = [version_of(selection.study, name) for selection in selections for name in selection.names]
    store_simulations(dict.fromkeys(simulation for figure in drawable for simulation in figure.simulations), warn)
    missing, shortages = list[str](), dict[str, str]()
    for outcome in draw(selections):
        for path in outcome.files if shows_paths else ():
            print(path)
        if outcome.problem:
            warn(outcome.problem)
            missing.append(outcome.name)
        shortages |= outcome.lacking
    return missing, shortages
