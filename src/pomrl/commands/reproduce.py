"""The command `pomrl reproduce`."""

import shlex
import sys
import time
from collections.abc import Mapping, Sequence
from itertools import chain
from pathlib import Path
from typing import Annotated

from pomrl import store
from pomrl.commands import computing, expected_time
from pomrl.commands.main import STAGES
from pomrl.commands.reproduce_stages import (
    Stage,
    StageRequest,
    Work,
    claims,
    figures,
    judge,
    package_stages,
)
from pomrl.commands.terminal import exit_with, print_frame, warn
from pomrl.configuration.composed import ConfigError, unknown_key
from pomrl.configuration.parsing import MAX_RUNS, Experiment
from pomrl.configuration.sources import DESCRIPTION, installed_packages, shipped_packages
from pomrl.configuration.studies import Study, find, shipped_studies
from pomrl.configuration.sweeps import Setting
from pomrl.configuration.variants import Family
from pomrl.drawing.figure import figures_of
from pomrl.drawing.figures_of_study import Selection, shown_settings
from pomrl.judging import study_claims
from pomrl.judging.agreement import compare
from pomrl.judging.answer import answer_text
from pomrl.judging.claim import claims_of, with_runs
from pomrl.judging.judgements import FILE, read_published
from pomrl.judging.study_verdicts import find_variants, needed_experiments
from pomrl.store.derived import write_file


def reproduce(
    study: Annotated[str | None, "STUDY"] = None,
    /,
    *stages: Annotated[str, "STAGE"],
    runs: Annotated[int | None, "N"] = None,
    variants: Annotated[str | None, "NAME,..."] = None,
    only: Annotated[Sequence[str], "NAME"] = (),
    list_: bool = False,
) -> None:
    """Compute, judge, draw and report a study.

    By default all stages run: they compute missing runs, judge claims, draw figures, and write pages, report and
    article. Of selected stages, only `sweeps` and `variants` compute runs; `claims` prints verdicts, and `figures`
    paths.

    Args:
        study: The name of a shipped study, or your folder.
        stages: Only these stages: sweeps, claims, variants, figures, pages, report, article.
        runs: Runs of each experiment (default: as in its sweeps); no article is then made.
        variants: Also judge claims, or compute the sweeps of a study without claims, under these variants or families,
            or under all; selected stages use only these.
        only: Names of figures to draw, or numbers in the paper such as 4 or F2, with the stage figures. NAME_intervals
            has confidence intervals.
        list_: List shipped and installed studies, and studies in this folder.
    """
    if list_:
        list_studies()
        return
    if study is None:
        exit_with("no study given; pomrl reproduce --list lists studies", 2)
    if runs is not None and not 1 <= runs <= MAX_RUNS:
        exit_with(f"--runs must be between 1 and {MAX_RUNS:,}, got {runs:,}", 2)
    if only and "figures" not in stages:
        exit_with("--only must be used with the stage figures, as in pomrl reproduce STUDY figures --only NAME", 2)
    request = StageRequest(find(study), runs, variants, only, is_named=bool(stages))
    failed = [work() for work in prepare(request, stages).values()] if stages else [_execute_all(request)]
    if any(failed):
        raise SystemExit(1)


def _execute_all(request: StageRequest) -> bool:
    if not (study_sweeps(request.study) or claims_of(request.study) or figures_of(request.study)):
        raise ConfigError(f"{request.study.argument}: no sweeps, claims or figures yet")
    seconds, failed, is_first = dict[str, float](), False, not store.root().exists()
    for name, work in prepare(request).items():
        warn(f"== {name}")
        start = time.monotonic()
        failed |= bool(work())
        seconds[name] = time.monotonic() - start
    print("\n".join(f"{name:24} {duration:6.1f} s" for name, duration in seconds.items()), file=sys.stderr, flush=True)
    if is_first and not (request.runs or failed):  # otherwise some runs were stored before
        write_times(request.study, seconds)
    return conclude(request.study, is_published=not request.runs) or failed


def write_times(study: Study, seconds: Mapping[str, float]) -> None:
    """Write the seconds of each stage, with the cores and the speed of this machine."""
    machine = f"{expected_time.usable_cores()},{expected_time.loop_seconds():.4f}"
    rows = [f"{name},{duration:.1f},{machine}" for name, duration in seconds.items()]
    content = "\n".join(["stage,seconds,cores,loop_seconds", *rows, ""])
    write_file(study.outputs / "times.csv", content.encode(), f"pomrl reproduce {study.argument}")


def prepare(request: StageRequest, names: Sequence[str] = ()) -> Mapping[str, Work]:
    """Validate stages, by default all, and return their work in order.

    Raises:
        ConfigError: A stage is unknown, or the study cannot be composed.
    """
    stages: dict[str, Stage] = {
        "sweeps": sweeps,
        "claims": claims,
        "variants": judge_families,
        "figures": figures,
        **package_stages(),
    }
    order = [name for name in dict.fromkeys([*STAGES, *stages]) if name in stages]
    if unknown := [name for name in names if name not in stages]:
        hint = f"; select a figure by --only {unknown[0]}" if "figures" in names else ""
        raise ConfigError(unknown_key(unknown[0], unknown[0], order, "unknown stage") + hint)
    works = {name: stages[name](request) for name in order if name in (names or order)}
    return {name: work for name, work in works.items() if work}


def conclude(study: Study, *, is_published: bool) -> bool:
    """Print the answer, its agreement with the published one, and result paths.

    Return whether a verdict differs. Verdicts are compared only if `is_published`.
    """
    judgements, published = study_claims.load_judgements(study), read_published(study)
    differs = False
    if judgements.main and (counts := answer_text(study, judgements, in_short=True)):
        print(counts.replace("**", "").replace("\n\n", "\n"))
    if judgements.main and published.main and is_published:
        agreement = compare(judgements, published, [variant.name for variant in study.variants])
        print("\n".join([*agreement.turned, *agreement.different, str(agreement)]))
        differs = bool(agreement.turned)
    files = {"report": "report/index.html", "article": "article.pdf", "claims": FILE, "figures": "figures"}
    paths = {name: study.outputs / file for name, file in files.items()}
    print("\n".join(f"{name:8} {path}" for name, path in paths.items() if path.exists()))
    return differs


def sweeps(request: StageRequest) -> Work | None:
    """Return the work to compute sweeps.

    For a selected stage of a study without claims, these are the sweeps under the requested variants.
    """
    study = request.study
    if request.is_named and request.variants and not claims_of(study):
        return variant_sweeps(request)
    return lambda: compute_sweeps(study, request.runs)


def variant_sweeps(request: StageRequest) -> Work | None:
    """Return the work to compute the sweeps of a study under variants."""
    study, variants = request.study, find_variants(request.study, request.variants)
    pairs = [(variant, name) for variant in variants for name in variant.sweeps or study_sweeps(study)]
    settings = chain.from_iterable(study.settings(name, variant) for variant, name in pairs)
    experiments = _distinct_experiments([setting.experiment for setting in settings], request.runs)

    def work() -> None:
        computing.compute_all(experiments)
        names = [variant.name for variant in variants]
        drawing = shlex.join(["pomrl", "reproduce", study.argument, "figures", "--variants", ",".join(names)])
        hint = f"; to draw figures: {drawing}" if figures_of(study) else ""
        warn(f"{study.argument}: sweeps computed under {', '.join(names)}{hint}")

    return work if experiments else None


def compute_sweeps(study: Study, runs: int | None) -> None:
    """Compute missing runs of a study's sweeps, claims and figures.

    With `runs`, compute only sweeps, with this number of runs. Exit with status 1 if an experiment fails.
    """
    settings = [*chain.from_iterable(map(study.settings, study_sweeps(study))), *_settings_of_variant_figures(study)]
    experiments = [setting.experiment for setting in settings]
    if not runs:
        experiments += needed_experiments(study, study.variants)
    computing.compute_all(_distinct_experiments(experiments, runs))


def _distinct_experiments(experiments: Sequence[Experiment], runs: int | None) -> list[Experiment]:
    """Return each experiment once, with these runs, by default its largest number."""
    requested = [with_runs(experiment, runs) for experiment in experiments] if runs else experiments
    by_runs = sorted(requested, key=lambda experiment: experiment.request.runs)
    return list({store.signature(experiment): experiment for experiment in by_runs}.values())


def _settings_of_variant_figures(study: Study) -> list[Setting]:
    """Return the experiments of figures with a variant of their own."""
    figure_settings = (shown_settings(figure, Selection(study, [])) for figure in figures_of(study) if figure.variant)
    return [*chain.from_iterable(chain.from_iterable(by_sweep.values()) for by_sweep in figure_settings)]


def study_sweeps(study: Study) -> list[str]:
    """Return the sweeps of a study, its claims and its figures."""
    needed_sweeps = chain.from_iterable(reader.sweeps for reader in (*claims_of(study), *figures_of(study)))
    return list({study.option(name): name for name in (*study.sweeps, *needed_sweeps)}.values())


def judge_families(request: StageRequest) -> Work | None:
    """Return the work to judge, or only compute, families of variants.

    Without claims, it computes the sweeps under the requested variants.
    """
    study, described = request.study, request.study.config.variants
    if not claims_of(study):
        return variant_sweeps(request) if request.variants or request.is_named else None
    named = [*study.families] if request.variants == "all" else (request.variants or "").split(",")
    families = [study.family(name) for name in named if name and name not in described]

    def work() -> None:
        for family in families:
            _judge_family(study, family, compute=request.runs is None)

    return work if families else None


def _judge_family(study: Study, family: Family, *, compute: bool) -> None:
    if family.is_judged:
        variants = [variant for variant in family.variants if variant.name not in study.config.variants]
        if compute:
            computing.compute_all(needed_experiments(study, variants))
        judge(study, variants, computing.compute_all if compute else None)
        return
    pairs = [(variant, name) for variant in family.variants for name in variant.sweeps or ()]
    settings = chain.from_iterable(study.settings(name, variant) for variant, name in pairs)
    computing.compute_all([setting.experiment for setting in settings])


def list_studies() -> None:
    """Print a table of shipped, installed and local studies."""
    import pandas as pd

    rows = [
        {
            "name": study.argument,
            "title": "; ".join(filter(None, [study.config.title, study.config.cite])),
            "sweeps": len(study.sweeps),
        }
        for study in [*shipped_studies(), *_further_studies()]
    ]
    print_frame(pd.DataFrame(rows))


def _further_studies() -> list[Study]:
    studies = []
    installed = [path.name for path in installed_packages() if path not in shipped_packages()]
    for name in (*installed, *(str(path.parent) for path in sorted(Path().glob(f"*/{DESCRIPTION}")))):
        try:
            studies.append(find(name))
        except ConfigError as error:
            warn(str(error))
    return studies
