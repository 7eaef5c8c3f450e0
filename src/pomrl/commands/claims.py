"""Judge the claims of a study on what is stored: pomrl claims STUDY.

The command prints a verdict for each claim, and writes every comparison behind the verdicts to claims.csv in the
outputs of the study. `pomrl reproduce` first computes the runs that claims need. By default the claims are judged under
the variants of study.yaml; --variants names others.
"""

from collections.abc import Sequence
from itertools import chain
from math import isfinite

from pomrl import store
from pomrl.commands import computing
from pomrl.commands.arguments import Parser, add_study, add_variants, find_variants
from pomrl.commands.claims_view import show
from pomrl.commands.terminal import exit_with, warn
from pomrl.configuration.parsing import Experiment
from pomrl.configuration.study import Study, find
from pomrl.configuration.variants import Variant
from pomrl.judging import judgements, study_claims
from pomrl.judging.claim import JudgedClaim, claims_of
from pomrl.judging.study_claims import Basis, Reader
from pomrl.running.work import store_simulations


def main(parser: Parser) -> None:
    """Run the command; exit with status 1 and one line where nothing is stored, or a claim is faulty."""
    add_study(parser)
    add_variants(parser)
    arguments = parser.parse_args()
    study = find(arguments.study)
    variants = find_variants(study, arguments.variants)
    if any(claim.sweeps for claim in claims_of(study)) and not store.all_experiments():
        exit_with(_nothing_stored(study))
    names = judge(study, variants)
    show(study, study_claims.load_judgements(study), names)


def judge(study: Study, variants: Sequence[Variant], *, compute: bool = False) -> list[str]:
    """Judge the claims of a study under variants, and write the table of judgements; return their names.

    Args:
        study: The study.
        variants: The variants.
        compute: Whether runs are computed of experiments that claims ask for only when they see losses.
    """
    claims = claims_of(study)
    if not claims:
        exit_with(f"{study.word}: it has no claims, which are functions with @claim in claims.py or claims/")
    store_simulations(study_claims.needed_simulations(claims), warn)
    study_claims.refuse_failing(study, claims)
    bases = [study_claims.basis(study, claims, variant) for variant in variants]
    outcomes = _judge(study, bases, compute=compute)
    made = [
        judgements.judgement(variant.name, outcome, variant.notes.get(outcome.claim.id, ""))
        for variant, of_variant in zip(variants, outcomes, strict=True)
        for outcome in of_variant
        if outcome.parts
    ]
    about_runs = {claim.id for claim in claims if claim.sweeps}
    of_runs = [judgement for judgement in made if judgement.id in about_runs or not about_runs]
    if not any(isfinite(part.estimate) for judgement in of_runs for part in judgement.comparisons):
        exit_with(_nothing_stored(study))
    names = list(dict.fromkeys(judgement.variant for judgement in made))
    judged_on = study_claims.digest_basis(study, claims, names)
    judgements.write(study.outputs, made, f"pomrl claims {study.word}", judged_on)
    return names


def needed_experiments(study: Study, variants: Sequence[Variant]) -> list[Experiment]:
    """Return the experiments that claims read under variants, with the runs on which they are judged."""
    claims = claims_of(study)
    bases = [study_claims.basis(study, claims, variant) for variant in variants]
    return [experiment for basis in bases for claim in basis.claims for experiment in basis.experiments_of(claim)]


def _judge(study: Study, bases: Sequence[Basis], *, compute: bool) -> list[list[JudgedClaim]]:
    """Judge claims on each basis; again, if they ask for further experiments when they see losses."""
    reader = Reader()
    outcomes = [study_claims.judge_variant(study, basis, reader) for basis in bases]
    lacking = [experiment for outcome in chain(*outcomes) for experiment in outcome.lacking]
    if not (compute and lacking):
        return outcomes
    computing.compute_all(lacking)
    return _judge(study, bases, compute=compute)


def _nothing_stored(study: Study) -> str:
    return f"{study.word}: no stored runs for its claims; pomrl reproduce {study.word} computes them"
