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
from pomrl.commands.arguments import Parser, add_study, add_variants, find_variants
from pomrl.commands.claims_view import show
from pomrl.commands.terminal import exit_with, warn
from pomrl.configuration.study import Study, find
from pomrl.configuration.variants import Family, Variant
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
    check(study, find_variants(study, arguments.variants, arguments.budget), decides=arguments.decide)


def check(study: Study, families: Sequence[Family], *, decides: bool) -> None:
    """Judge the claims of a study, write the table of judgements, and print the verdicts.

    Args:
        study: The study.
        families: The variants under which they are judged.
        decides: Whether runs are added that undecided claims need, within the budget of each family.
    """
    every = claims_of(study)
    if not every:
        exit_with(f"{study.word}: it has no claims, which are functions with @claim in claims.py or claims/")
    of_runs = {claim.id for claim in every if claim.sweeps}
    made: list[Judgement] = []
    if not of_runs or decides or store.all_experiments():
        simulate(claims_of_variants.needed_simulations(every), warn)
        claims_of_variants.refuse_failing(study, every)
        made = _judge(study, every, families, decides=decides)
    read = [judgement for judgement in made if judgement.id in of_runs or not of_runs]
    if not any(isfinite(part.estimate) for judgement in read for part in judgement.comparisons):
        named = ",".join(family.name for family in families if family.name)
        remedy = f"pomrl reproduce {study.word}" + (f" --variants {named}" if named else "")
        exit_with(f"{study.word}: nothing is stored that its claims are about; {remedy} computes it")
    shown = list(dict.fromkeys(judgement.variant for judgement in made))
    judged_on = claims_of_variants.digest_basis(study, every, shown)
    judgements.write(study.outputs, made, f"pomrl claims {study.word}", judged_on)
    show(study, claims_of_variants.load_judgements(study), shown)


def _judge(study: Study, claims: Sequence[Claim], families: Sequence[Family], *, decides: bool) -> list[Judgement]:
    """Judge claims under families of variants, each within its own budget."""
    reader = Reader()
    made: list[Judgement] = []
    described = {variant.name for variant in study.variants}
    for family in families:
        for variant, on, cases in _cases(study, claims, family.variants, family.budget if decides else None, reader):
            if not family.name:
                made += claims_of_variants.judge_variant(study, variant, on, reader, cases)
            elif variant.name not in described:
                made += claims_of_variants.at_precision(variant, cases)
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
