"""Compute, judge, draw and report a study: pomrl reproduce STUDY [--runs N] [--variants NAME,...].

It computes all sweeps of the study, those of other studies that its claims and figures read, and the runs on which its
claims are judged; judges its claims; draws its figures, renews its pages, and writes the report, and the article of a
study that has one. Each stage is also a command of its own: pomrl run, claims, figures, report and article. With
--runs, each experiment has so many runs, and there is no article. With --variants, claims are judged under families of
variants too, or all.
"""

import sys
import time
from collections.abc import Callable, Mapping, Sequence
from itertools import chain, product

from pomrl import store
from pomrl.commands import claims, computing, figures, report
from pomrl.commands.arguments import Parser, add_study
from pomrl.commands.terminal import exit_with, warn
from pomrl.configuration.composed import ConfigError
from pomrl.configuration.parsing import MOST_RUNS
from pomrl.configuration.study import Study, find
from pomrl.configuration.variants import Family
from pomrl.drawing import figures_of_study
from pomrl.drawing.figure import figures_of
from pomrl.judging import study_claims, views
from pomrl.judging.agreement import compare
from pomrl.judging.claim import claims_of, with_runs
from pomrl.judging.judgements import FILE, Judgements, read_published
from pomrl.report import answer, pages
from pomrl.report.answer import claims_page

CLAIMS = "claims"
"""The page of a study with the table of its claims."""


def main(parser: Parser) -> None:
    """Run all stages, and print on standard error how long each of them took; exit with status 1 where one failed."""
    add_study(parser)
    parser.add_argument("--runs", type=int, metavar="N", help="runs of each experiment (default: as its sweeps say)")
    parser.add_argument("--variants", metavar="NAME,...", help="judge claims under these families too, or under all")
    arguments = parser.parse_args()
    if arguments.runs is not None and not 1 <= arguments.runs <= MOST_RUNS:
        exit_with(f"--runs {arguments.runs}: it has to be at least 1, and at most {MOST_RUNS}", 2)
    study = find(arguments.study)
    seconds, failed = dict[str, float](), False
    for name, work in stages(study, arguments.runs, arguments.variants).items():
        warn(f"== {name}")
        start = time.monotonic()
        failed |= bool(work())
        seconds[name] = time.monotonic() - start
    print("\n".join(f"{name:24} {of:6.1f} s" for name, of in seconds.items()), file=sys.stderr, flush=True)
    failed |= conclude(study, is_published=not arguments.runs)
    if failed:
        raise SystemExit(1)


def conclude(study: Study, *, is_published: bool) -> bool:
    """Print the answer, how it compares with the published one, and where results are.

    It returns whether a verdict is another one than published. With other numbers of runs than the published ones there
    is nothing to compare.
    """
    judged, published = study_claims.load_judgements(study), read_published(study)
    differs = False
    if judged.main and (counts := answer.text(study, judged, in_short=True)):
        print(counts.replace("**", "").replace("\n\n", "\n"))
    if judged.main and published.main and is_published:
        agreement = compare(judged, published, [variant.name for variant in study.variants])
        print("\n".join([*agreement.turned, *agreement.different, str(agreement)]))
        differs = bool(agreement.turned)
    places = {
        "report": study.outputs / "report" / "index.html",
        "article": study.outputs / "article.pdf",
        "claims": study.outputs / FILE,
        "figures": study.outputs / "figures",
    }
    print("\n".join(f"{name:8} {path}" for name, path in places.items() if path.exists()))
    return differs


def stages(study: Study, runs: int | None, variants: str | None) -> Mapping[str, Callable[[], object]]:
    """Return the stages by their names, in their order.

    `runs` is the number of runs of each experiment; None is what the study says.

    A stage returns whether some of it was not possible; it has named each such thing in a line.

    Raises:
        ConfigError: The study has no sweeps, claims or figures, or cannot be composed under one of its variants.
    """
    named = [*study.families] if variants == "all" else (variants or "").split(",")
    families = [study.family(name) for name in named if name and name not in study.described.variants]
    work: dict[str, Callable[[], object]] = {"sweeps": lambda: compute_sweeps(study, runs)}
    if every := claims_of(study):
        study_claims.refuse_failing(study, [claim for claim in every if claim.sweeps])
        work["claims"] = lambda: _judge(study, compute=runs is None)
    if families:
        work["variants"] = lambda: _variants(study, families, compute=runs is None)
    drawn = figures_of_study.Selection(study, figures_of_study.versions(study))
    if drawn.names:
        work["figures"] = lambda: figures.draw_all([drawn])[0]
    elif not sweeps_of(study) and "claims" not in work:
        raise ConfigError(f"{study.word}: it has no sweeps, no claims and no figures yet")
    _refuse_what_cannot_be_composed(drawn)
    work["pages"] = lambda: renew_pages(study, study_claims.load_judgements(study))
    work["report"] = lambda: _report(study)
    if study.article.is_file() and runs is None:
        work["article"] = lambda: _typeset(study)
    return work


def _judge(study: Study, *, compute: bool) -> None:
    claims.judge(study, study.variants, compute=compute)


def _report(study: Study) -> None:
    report.write(study)


def renew_pages(study: Study, judged: Judgements) -> None:
    """Write the pages of a study to its outputs, and a line where results are old.

    A page whose results are not stored stays as the folder of the study has it. So do pages that look numbers up, where
    these are provisional.
    """
    lacking = pages.renew(study)
    if not study.families:  # under which such results are computed
        for line in lacking:
            warn(line)
    if is_final(judged):
        for name, text in pages.look_up(study, judged).items():
            pages.write(study, name, text)
    if judged.older:
        warn(f"{study.word}: {views.older_in_words(study, judged)}")
    if judged.main:
        pages.write(study, CLAIMS, claims_page(study, judged))


def is_final(judged: Judgements) -> bool:
    """Return whether there are judgements, all of them on the runs that they need, and by the present code."""
    return bool(judged.main) and not judged.older and not any(judgement.provisional for judgement in judged.main)


def _typeset(study: Study) -> None:
    """Write the article of a study, or a line where Typst, which is an extra of the installation, is missing."""
    try:
        from pomrl.report import article
    except ModuleNotFoundError:
        warn("the article is left out, because typst is not installed; pip install 'pomrl[article]' installs it")
    else:
        article.write(study)


def _refuse_what_cannot_be_composed(drawn: figures_of_study.Selection) -> None:
    """Compose what claims read under every variant of the description, and look for what figures show in their sweeps.

    Nothing is computed before.
    """
    read = dict.fromkeys(name for claim in claims_of(drawn.study) for name in claim.sweeps)
    for variant, name in product(drawn.study.variants, read):
        drawn.study.settings(name, variant)
    for figure in figures_of(drawn.study):
        try:
            figures_of_study.shown_settings(figure, drawn)
        except ConfigError as error:
            raise ConfigError(f"{drawn.study.word}: figure {figure.name}: {error}") from error


def _variants(study: Study, families: Sequence[Family], *, compute: bool) -> None:
    """Judge claims under families of variants."""
    for family in families:
        if family.is_judged:
            variants = [variant for variant in family.variants if variant.name not in study.described.variants]
            if compute:
                computing.compute_all(claims.needed_experiments(study, variants))
            claims.judge(study, variants, compute=compute)
            continue
        wanted = [(variant, name) for variant in family.variants for name in variant.sweeps or ()]
        settings = chain.from_iterable(study.settings(name, variant) for variant, name in wanted)
        computing.compute_all([setting.experiment for setting in settings])


def compute_sweeps(study: Study, runs: int | None) -> None:
    """Compute what the store lacks of all sweeps of a study, and of what its claims need.

    With `runs`, each experiment of the sweeps has so many runs, and there is nothing else. The command ends with status
    1 if an experiment fails.
    """
    experiments = [setting.experiment for name in sweeps_of(study) for setting in study.settings(name)]
    if runs:
        experiments = [with_runs(experiment, runs) for experiment in experiments]
    else:
        experiments += claims.needed_experiments(study, study.variants)
    by_runs = sorted(experiments, key=lambda experiment: experiment.request.runs)
    computing.compute_all(list({store.signature(experiment): experiment for experiment in by_runs}.values()))


def sweeps_of(study: Study) -> list[str]:
    """Return the names of all sweeps of a study, and of those of other studies that its claims and figures read."""
    read = chain.from_iterable(reader.sweeps for reader in (*claims_of(study), *figures_of(study)))
    return list({study.option(name): name for name in (*study.sweeps, *read)}.values())
