"""The stage of claims: judge them on stored runs and print the verdicts.

All comparisons go to claims.csv in the outputs of the study.
"""

from collections.abc import Sequence
from itertools import chain, product
from math import isfinite

from pomrl import store
from pomrl.commands import computing
from pomrl.commands.stages import StageRequest, Work, find_variants
from pomrl.commands.terminal import console, exit_with, print_frame, printable, warn
from pomrl.configuration.composed import number_of
from pomrl.configuration.parsing import Experiment
from pomrl.configuration.study import Study
from pomrl.configuration.variants import Variant
from pomrl.judging import judgements, study_claims, views
from pomrl.judging.agreement import counts, rank
from pomrl.judging.answer import answer_text
from pomrl.judging.claim import JudgedClaim, claims_of
from pomrl.judging.judgements import Judgements
from pomrl.judging.study_claims import Basis, Reader
from pomrl.judging.verdict import Verdict
from pomrl.running.work import store_simulations

MAX_VARIANT_COLUMNS = 4
"""The most variants that have a column each; of more, verdicts are counted."""


def claims(request: StageRequest) -> Work | None:
    """Judge the claims of a study; a named stage computes nothing."""
    study, all_claims = request.study, claims_of(request.study)
    if request.is_named:
        variants = find_variants(study, request.variants)
        return lambda: _judge_and_show(study, variants)
    if not all_claims:
        return None
    about_runs = [claim for claim in all_claims if claim.sweeps]
    study_claims.refuse_failing(study, about_runs)
    for variant, name in product(
        study.variants, dict.fromkeys(chain.from_iterable(claim.sweeps for claim in about_runs))
    ):
        study.settings(name, variant)  # which fails before anything is computed

    def work() -> None:
        judge(study, study.variants, compute=request.runs is None)

    return work


def _judge_and_show(study: Study, variants: Sequence[Variant]) -> None:
    if any(claim.sweeps for claim in claims_of(study)) and not store.all_experiments():
        exit_with(_nothing_stored(study))
    names = judge(study, variants)
    show(study, study_claims.load_judgements(study), names)


def judge(study: Study, variants: Sequence[Variant], *, compute: bool = False) -> list[str]:
    """Judge claims under variants, write their table, and return the variants' names.

    Args:
        study: The study.
        variants: The variants.
        compute: Whether to compute runs that claims request after seeing losses.
    """
    all_claims = claims_of(study)
    if not all_claims:
        exit_with(f"{study.word}: it has no claims, which are functions with @claim in claims.py or claims/")
    store_simulations(study_claims.needed_simulations(all_claims), warn)
    study_claims.refuse_failing(study, all_claims)
    bases = [study_claims.basis(study, all_claims, variant) for variant in variants]
    new_judgements = [
        judgements.judgement(variant.name, outcome, variant.notes.get(outcome.claim.id, ""))
        for variant, outcomes in zip(variants, _judge(study, bases, compute=compute), strict=True)
        for outcome in outcomes
        if outcome.parts
    ]
    about_runs = {claim.id for claim in all_claims if claim.sweeps}
    run_based = [judgement for judgement in new_judgements if judgement.id in about_runs or not about_runs]
    if not any(isfinite(comparison.estimate) for judgement in run_based for comparison in judgement.comparisons):
        exit_with(_nothing_stored(study))
    names = list(dict.fromkeys(judgement.variant for judgement in new_judgements))
    judged_on = study_claims.digest_basis(study, all_claims, names)
    judgements.write(study.outputs, new_judgements, f"pomrl reproduce {study.word} claims", judged_on)
    return names


def needed_experiments(study: Study, variants: Sequence[Variant]) -> list[Experiment]:
    """Return the experiments of the claims under variants, with the needed runs."""
    all_claims = claims_of(study)
    bases = [study_claims.basis(study, all_claims, variant) for variant in variants]
    return [
        experiment for basis in bases for claim in basis.claims for experiment in basis.requested_experiments(claim)
    ]


def _judge(study: Study, bases: Sequence[Basis], *, compute: bool) -> list[list[JudgedClaim]]:
    """Judge claims on each basis, again after computing what they request."""
    reader = Reader()
    outcomes = [study_claims.judge_variant(study, basis, reader) for basis in bases]
    requested = [experiment for outcome in chain(*outcomes) for experiment in outcome.missing_experiments]
    if not (compute and requested):
        return outcomes
    computing.compute_all(requested)
    return _judge(study, bases, compute=compute)


def _nothing_stored(study: Study) -> str:
    return f"{study.word}: no stored runs for its claims; pomrl reproduce {study.word} computes them"


def show(study: Study, table: Judgements, variants: Sequence[str]) -> None:
    """Print verdicts under variants, the answer, and missing runs."""
    import pandas as pd

    terminal = console()
    if len(variants) > MAX_VARIANT_COLUMNS:
        verdict_counts = {name: counts(table.of(name).values()) for name in rank(table, variants)}
        print_frame(pd.DataFrame(verdict_counts).T.reindex(columns=list(Verdict)).rename_axis("variant").reset_index())
        return
    listed = table.first_under(variants)
    print_frame(pd.DataFrame(views.columns(table, variants)).map(lambda cell: cell.replace("**", "")))
    terminal.print(f"{views.legend(study)} All comparisons are in {judgements.FILE}.")
    if variants[0] in study.described.headline:
        terminal.print(answer_text(study, table))
    if table.older:
        terminal.print(printable(views.older_in_words(study, table)))
    for judgement in listed:
        if judgement.why:
            terminal.print(printable(f"{judgement.id} {judgement.why}"))
    few = [judgement for judgement in listed if judgement.provisional]
    if few:
        terminal.print(f"{number_of(len(few), 'claim')} with fewer runs than they need")
    judged_ids = {judgement.id for judgement in listed}
    has_exact = variants[0] == study.described.headline[0]  # claims about no sweep are judged under that variant alone
    missing = [claim.id for claim in claims_of(study) if claim.id not in judged_ids and (claim.sweeps or has_exact)]
    if missing:
        terminal.print(f"not computed: {', '.join(missing)}")
    if few or missing:  # a command that is broken cannot be copied
        terminal.print(f"    {printable(f'pomrl reproduce {study.word}')}", soft_wrap=True)
