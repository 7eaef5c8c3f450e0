"""Stages of `pomrl reproduce`: claims and figures.

Figures are written to NAME.pdf, NAME.png, NAME.csv (drawn values) and NAME.json (sources). NAME has the runs and bands
of the caption, NAME_intervals confidence intervals over all shared runs.
"""

import shlex
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, partial
from importlib.metadata import EntryPoint, entry_points
from itertools import chain, product

from pomrl import store
from pomrl.commands import computing
from pomrl.commands.terminal import console, exit_with, print_frame, printable, warn
from pomrl.configuration.composed import ConfigError, number_of
from pomrl.configuration.importing import MissingExtraError
from pomrl.configuration.studies import Study
from pomrl.configuration.sweeps import command
from pomrl.configuration.variants import Variant
from pomrl.drawing.figure import figures_of
from pomrl.drawing.figures_of_study import Selection, draw, find_figure, shown_settings, versions
from pomrl.judging import judgements, study_claims, views
from pomrl.judging.agreement import counts, rank
from pomrl.judging.answer import answer_text
from pomrl.judging.claim import claims_of
from pomrl.judging.judgements import Judgements
from pomrl.judging.study_verdicts import Compute, find_variants, judge_study
from pomrl.running.work import store_simulations
from verdicts.parts import Verdict


@dataclass(frozen=True)
class StageRequest:
    """The study to reproduce, and options."""

    study: Study
    runs: int | None = None
    """The runs of each experiment; None for the numbers of the study."""
    variants: str | None = None
    """The names of variants and families, separated by commas; or `all`."""
    figures: Sequence[str] = ()
    """The names or numbers of figures; empty for all."""
    is_named: bool = False
    """Whether the user selected the stage: it then prints its results, and failures are errors."""


Work = Callable[[], object]
"""The work of a stage: it prints a line about each failure, and returns whether there was one."""

Stage = Callable[[StageRequest], Work | None]
"""A function to validate a request and return the work; None without work.

Other packages add stages by entry points in the group `pomrl.stages`.
"""


@cache
def package_stages() -> Mapping[str, Stage]:
    """Return the stages of other packages by name."""
    return {point.name: _load(point) for point in sorted(entry_points(group="pomrl.stages"))}


def _load(point: EntryPoint) -> Stage:
    try:
        return point.load()
    except MissingExtraError as error:
        return partial(_leave_out, f"the stage {point.name} {error}")


def _leave_out(problem: str, request: StageRequest) -> None:
    if request.is_named:
        raise ConfigError(problem)
    warn(problem)


MAX_VARIANT_COLUMNS = 4
"""The largest number of variants with a column each; for more, only counts of verdicts are printed."""


def claims(request: StageRequest) -> Work | None:
    """Return the work to judge claims; a selected stage computes no runs."""
    study, all_claims = request.study, claims_of(request.study)
    if request.is_named:
        variants = find_variants(study, request.variants)
        return lambda: _judge_and_show(study, variants)
    if not all_claims:
        return None
    about_runs = [claim for claim in all_claims if claim.sweeps]
    study_claims.validate_claims(study, about_runs)
    for variant, name in product(
        study.variants, dict.fromkeys(chain.from_iterable(claim.sweeps for claim in about_runs))
    ):
        study.settings(name, variant)  # raises before anything is computed

    def work() -> None:
        judge(study, study.variants, computing.compute_all if request.runs is None else None)

    return work


def _judge_and_show(study: Study, variants: Sequence[Variant]) -> None:
    names = judge(study, variants)
    show_verdicts(study, study_claims.load_judgements(study), names)


def judge(study: Study, variants: Sequence[Variant], compute: Compute | None = None) -> list[str]:
    """Judge claims under variants, write their table, and return variant names."""
    new_judgements = judge_study(study, variants, compute, warn)
    names = list(dict.fromkeys(judgement.variant for judgement in new_judgements))
    judged_on = study_claims.digest_basis(study, claims_of(study), names)
    judgements.write(study.outputs, new_judgements, f"pomrl reproduce {study.argument} claims", judged_on)
    return names


def show_verdicts(study: Study, table: Judgements, variants: Sequence[str]) -> None:
    """Print verdicts, the answer, and missing runs."""
    import pandas as pd

    terminal = console()
    if len(variants) > MAX_VARIANT_COLUMNS:
        verdict_counts = {name: counts(table.of(name).values()) for name in rank(table, variants)}
        print_frame(pd.DataFrame(verdict_counts).T.reindex(columns=list(Verdict)).rename_axis("variant").reset_index())
        return
    listed = table.first_under(variants)
    print_frame(pd.DataFrame(views.columns(table, variants)).map(lambda cell: cell.replace("**", "")))
    terminal.print(f"{views.legend(study)} All comparisons are in {judgements.FILE}.")
    if variants[0] in study.config.headline:
        terminal.print(answer_text(study, table))
    if table.older:
        terminal.print(printable(views.describe_older(study, table)))
    for judgement in listed:
        if judgement.why:
            terminal.print(printable(f"{judgement.id} {judgement.why}"))
    few = [judgement for judgement in listed if judgement.provisional]
    if few:
        terminal.print(f"too few runs for {number_of(len(few), 'claim')}")
    judged_ids = {judgement.id for judgement in listed}
    has_exact = variants[0] == study.config.headline[0]  # claims without sweeps have only this variant
    missing = [claim.id for claim in claims_of(study) if claim.id not in judged_ids and (claim.sweeps or has_exact)]
    if missing:
        terminal.print(f"not computed: {', '.join(missing)}")
    if few or missing:  # no line break, so that it can be copied
        terminal.print(f"    {printable(f'pomrl reproduce {study.argument}')}", soft_wrap=True)


def figures(request: StageRequest) -> Work | None:
    """Return the work to draw figures; a selected stage also draws variants."""
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
            raise ConfigError(f"{study.argument}: figure {figure.name}: {error}") from error


def _draw_named(study: Study, selections: Sequence[Selection], requested: Sequence[str]) -> None:
    """Draw figures; exit with status 1 if one is missing.

    One version of a requested figure is enough.
    """
    names = selections[0].names
    if not names:
        exit_with(f"{study.argument}: no figures; add functions with @figure to figures.py or figures/")
    if not requested and not store.all_experiments() and any(figure.sweeps for figure in figures_of(study)):
        exit_with(f"{study.argument}: no stored runs for its figures; pomrl reproduce {study.argument} computes them")
    missing, shortages = draw_all(selections, shows_paths=True)
    variants = ",".join(selection.variant.name for selection in selections if selection.variant)
    computing_all = shlex.join(["pomrl", "reproduce", study.argument, *(["--variants", variants] if variants else [])])
    for sweep, line in shortages.items():
        remedy = computing_all if variants else command(study.sweep_argument(sweep))
        warn(f"{line}; to compute them: {remedy}")
    if missing and not _is_enough(study, requested, {*names} - {*missing}):
        remedy = f"; {computing_all} computes all of its sweeps"
        exit_with(f"not drawn: {len(missing)} of {number_of(len(names) * len(selections), 'figure')}{remedy}")


def _is_enough(study: Study, requested: Sequence[str], names: set[str]) -> bool:
    all_names = {*versions(study)}
    return bool(requested) and all(name not in all_names and names & {*versions(study, [name])} for name in requested)


def draw_all(selections: Sequence[Selection], *, shows_paths: bool = False) -> tuple[list[str], Mapping[str, str]]:
    """Draw figures, with their simulations; warn of each figure not drawn.

    With `shows_paths`, it prints the paths of the files.

    Returns:
        The names of missing figures, and a line for each sweep with too few runs.
    """
    drawable = [find_figure(selection.study, name) for selection in selections for name in selection.names]
    store_simulations(dict.fromkeys(simulation for figure in drawable for simulation in figure.simulations), warn)
    missing, shortages = list[str](), dict[str, str]()
    for outcome in draw(selections):
        for path in outcome.files if shows_paths else ():
            print(path)
        if outcome.problem:
            warn(outcome.problem)
            missing.append(outcome.name)
        shortages |= outcome.missing_runs
    return missing, shortages
