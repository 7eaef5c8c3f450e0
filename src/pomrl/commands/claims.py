"""Judge the claims of a study: pomrl claims STUDY [--decide].

The command prints a verdict for each claim, and writes every comparison behind the verdicts to claims.csv in the
outputs of the study. With --decide, it first adds runs to the experiments that undecided claims read, within a budget;
without, it judges what is stored. By default the claims are judged under the variants that the description of the study
names; --variants names others, or families of variants, or all.
"""

from collections.abc import Iterator, Sequence
from math import isfinite

from pomrl import store
from pomrl.commands import computing
from pomrl.commands.arguments import Parser, Selection, add_study, add_variants, find_variants
from pomrl.commands.claims_view import show
from pomrl.commands.terminal import exit_with, warn
from pomrl.configuration.study import Study, find
from pomrl.configuration.variants import Variant
from pomrl.judging import claims_of_variants, judgements
from pomrl.judging.basis import Basis, Reader
from pomrl.judging.budget import Case, decide, judge_stored
from pomrl.judging.claim import Claim, claims_of
from pomrl.judging.judgements import Judgement
from pomrl.running.simulating import simulate


def main(parser: Parser) -> None:
    """Run the command; exit with status 1 and one line where nothing is stored, or a claim is faulty."""
    add_study(parser)
    parser.add_argument("--decide", action="store_true", help="add the runs that undecided claims need")
    parser.add_argument(
        "--budget", type=float, metavar="SECONDS", help="of one core, estimated, for --decide (default: the study's)"
    )
    add_variants(parser)
    arguments = parser.parse_args()
    study = find(arguments.study)
    selection = find_variants(study, arguments.variants)
    budget = (study.described.budget if arguments.budget is None else arguments.budget) if arguments.decide else None
    check(study, selection, budget)


def check(study: Study, selection: Selection, budget: float | None) -> None:
    """Judge the claims of a study, write the table of judgements, and print the verdicts.

    Args:
        study: The study.
        selection: The variants under which they are judged.
        budget: What the runs may cost that are added, in estimated seconds of one core; None to add none.
    """
    every = claims_of(study)
    if not every:
        exit_with(f"{study.word}: it has no claims, which are functions with @claim in claims.py or claims/")
    of_runs = {claim.id for claim in every if claim.sweeps}
    made: list[Judgement] = []
    if not of_runs or budget is not None or store.all_experiments():
        simulate(claims_of_variants.needed_simulations(every), warn)
        claims_of_variants.refuse_failing(study, every)
        made = _judge(study, every, selection, budget)
    if not any(
        isfinite(part.estimate) for each in made if each.id in of_runs or not of_runs for part in each.comparisons
    ):
        named = ",".join(family.name for family in selection.families)
        remedy = f"pomrl reproduce {study.word}" + (f" --variants {named}" if named else "")
        exit_with(f"{study.word}: nothing is stored that its claims are about; {remedy} computes it")
    shown = list(dict.fromkeys(each.variant for each in made))
    judged_on = claims_of_variants.digest_basis(study, every, shown)
    judgements.write(study.outputs, made, f"pomrl claims {study.word}", judged_on)
    show(study, claims_of_variants.load_judgements(study), shown)


def _judge(study: Study, claims: Sequence[Claim], selection: Selection, budget: float | None) -> list[Judgement]:
    """Judge claims under single variants, within one budget, and under families, each within its own."""
    reader = Reader()
    made: list[Judgement] = []
    for variant, on, cases in _cases(study, claims, selection.variants, budget, reader):
        made += claims_of_variants.judge_variant(study, variant, on, reader, cases)
    named = {variant.name for variant in study.variants}
    for family in selection.families:
        of_family = _cases(study, claims, family.variants, None if budget is None else family.budget, reader)
        for variant, _, cases in of_family:
            made += [] if variant.name in named else claims_of_variants.at_precision(variant, cases)
    return made


def _cases(
    study: Study, claims: Sequence[Claim], variants: Sequence[Variant], budget: float | None, reader: Reader
) -> Iterator[tuple[Variant, Basis, list[Case]]]:
    """Judge claims at precision under variants together, with the runs that undecided ones need within a budget.

    Yields:
        Each variant, what the claims are judged on under it, and the claims as judged.
    """
    bases = [claims_of_variants.basis(study, claims, variant) for variant in variants]
    if budget is None:
        cases = judge_stored(bases, reader)
    else:
        warn(f"adding runs until claims are decided; budget: {budget:.0f} s of one core, estimated; --budget sets it")
        cases = decide(bases, budget, reader, computing.compute_all)
    for variant, on in zip(variants, bases, strict=True):
        yield variant, on, [case for case in cases if case.basis is on]
