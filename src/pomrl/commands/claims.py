"""Judge the claims of a study: pomrl claims STUDY [--decide].

The command prints a verdict for each claim, and writes every comparison behind the verdicts to claims.csv in the
outputs of the study. With --decide, it first adds runs to the experiments that undecided claims read, within a budget;
without, it judges what is stored. By default the claims are judged under the variants that the description of the study
names; --variants names others, or families of variants, or all. With --replace, they are judged with one option in the
place of another, and the paired differences between the two options are written too.
"""

from collections.abc import Mapping, Sequence
from typing import NoReturn

import pandas as pd

from pomrl import store
from pomrl.commands.arguments import Parser, Selection, add_selection, add_study, selected
from pomrl.commands.claims_view import show
from pomrl.commands.deciding import compute, decided
from pomrl.commands.errors import one_line_errors
from pomrl.commands.tables import print_table
from pomrl.commands.terminal import exit_with, warn
from pomrl.configuration.composed import ConfigError
from pomrl.configuration.study import Study, find
from pomrl.configuration.variants import Family
from pomrl.drawing.figure import figures_of
from pomrl.judging import claims_of_variants, deciding, judgements
from pomrl.judging.basis import Basis, Reader
from pomrl.judging.claim import Claim, ClaimError
from pomrl.judging.claims_of_study import claims_of
from pomrl.judging.deciding import Spending
from pomrl.judging.true_shares import TrueShare
from pomrl.results.variant_differences import paired_differences, wide
from pomrl.running.simulating import simulate
from pomrl.store.csv_tables import write_table


@one_line_errors()
def main() -> None:
    """Run the command; exit with status 1 and one line where nothing is stored, or for each claim that is faulty."""
    parser = Parser(prog="pomrl claims", description="Judge the claims of a study on what is stored.")
    add_study(parser)
    parser.add_argument("--decide", action="store_true", help="add the runs that undecided claims need")
    parser.add_argument(
        "--budget", type=float, metavar="SECONDS", help="of one core, estimated, for --decide (default: the study's)"
    )
    add_selection(parser)
    arguments = parser.parse_args()
    study = find(arguments.study)
    selection = selected(study, arguments)
    budget = (study.described.budget if arguments.budget is None else arguments.budget) if arguments.decide else None
    if check(study, selection, budget):
        raise SystemExit(1)


def check(study: Study, selection: Selection, budget: float | None) -> int:
    """Judge the claims of a study, write the table of judgements, and print the verdicts.

    Args:
        study: The study.
        selection: The variants under which they are judged.
        budget: What the runs may cost that are added, in estimated seconds of one core; None to add none.

    Returns:
        The number of claims that are not judged, because their functions do not work.
    """
    every = known(study)
    if not every:
        exit_with(f"{study.word}: it has no claims, which are functions with @claim in claims.py or claims/")
    of_runs = {claim.id for claim in every if claim.sweeps}
    if of_runs and budget is None and not store.all_experiments():
        _exit_with_nothing(study, selection)
    simulate(claims_of_variants.needed_simulations(every), warn)
    failed, frames = _judged(study, every, failing(study, every), selection, budget)
    of_runs = of_runs or {claim.id for claim in every}
    if not any(len(frame) and (frame["claim"].isin(of_runs) & frame["estimate"].notna()).any() for frame in frames):
        _exit_with_nothing(study, selection)
    renewed = {name for frame in frames if len(frame) for name in frame["variant"]}
    judged_on = claims_of_variants.judged_on(study, every, renewed)
    judgements.write(study.outputs, frames, f"pomrl claims {study.word}", judged_on)
    if selection.variants and selection.variants[0].replaced:
        _show_differences(study, every, selection)
    show(study, claims_of_variants.stored(study), frames, failed)
    return len(failed)


def _exit_with_nothing(study: Study, selection: Selection) -> NoReturn:
    named = ",".join(family.name for family in selection.families)
    remedy = f"pomrl reproduce {study.word}" + (f" --variants {named}" if named else "")
    exit_with(f"{study.word}: nothing is stored that its claims are about; {remedy} computes it")


def known(study: Study) -> list[Claim]:
    """Return the claims of a study; ConfigError where one names a figure that the study does not have."""
    claims = claims_of(study)
    there = [each.name for each in figures_of(study)] if any(each.figures for each in claims) else []
    for claim in claims:
        for name in claim.figures:
            if name not in there:
                what = f"figures={name!r}: there is no such figure; there is {', '.join(there) or 'none'}"
                raise ConfigError(f"{study.word}: claim {claim.id}: {what}")
    return claims


def failing(study: Study, claims: Sequence[Claim]) -> frozenset[str]:
    """Return the ids of the claims whose functions do not work, each named in a line on standard error."""
    default = next((each for each in study.variants if each.name == study.unchanged), study.variants[0])
    basis = claims_of_variants.basis(study, claims, default)
    failed = set[str]()
    for claim in claims:
        try:
            claims_of_variants.try_out(claim, basis)
        except ClaimError as error:
            warn(f"{study.word}: {error}")
            failed.add(claim.id)
    return frozenset(failed)


def _judged(
    study: Study, claims: Sequence[Claim], failed: frozenset[str], selection: Selection, budget: float | None
) -> "tuple[frozenset[str], list[pd.DataFrame]]":
    """Return the rows of each variant, and the ids of the claims whose functions do not work on what is stored either.

    A claim that fails there is named in a line, and the others are judged with the error that they have beside it; what
    was estimated is kept.
    """
    reader = Reader()
    while len(failed) < len(claims):
        try:
            frames = _under_variants(study, claims, failed, selection, budget, reader)
            for family in selection.families:
                if not family.is_sample:
                    frames += _under_family(study, claims, failed, family, budget, reader)
            return failed, frames
        except ClaimError as error:
            warn(f"{study.word}: {error}")
            failed |= {error.id}
    raise SystemExit(1)


def _under_variants(
    study: Study,
    claims: Sequence[Claim],
    failed: frozenset[str],
    selection: Selection,
    budget: float | None,
    reader: Reader,
) -> "list[pd.DataFrame]":
    """Judge claims under single variants, one after the other: each has what those before leave of the budget."""
    frames, spending = [], Spending(budget or 0.0)
    for variant in selection.variants:
        refused: list[str] = []
        on = claims_of_variants.basis(
            study, claims, variant, own=selection.own, refused=refused if variant.replaced else None, failed=failed
        )
        for line in refused:
            warn(line)
        cases = _cases([on], reader, spending, budget)
        is_headline = variant.name in study.described.headline
        if budget is not None and is_headline:
            compute(deciding.pools(cases), ", beyond analyses and budget, for the power of the promised numbers")
        shares = _shares(study, claims, failed) if variant.name == study.unchanged else {}
        frames.append(claims_of_variants.judged(study, variant, on, reader, cases, shares, is_main=True))
    return frames


def _under_family(
    study: Study, claims: Sequence[Claim], failed: frozenset[str], family: Family, budget: float | None, reader: Reader
) -> "list[pd.DataFrame]":
    """Judge claims under all variants of a family together, within the budget of the family."""
    variants = family.variants
    bases = [claims_of_variants.basis(study, claims, variant, failed=failed) for variant in variants]
    own_budget = None if budget is None else family.budget
    cases = _cases(bases, reader, Spending(own_budget or 0.0), own_budget)
    named = {variant.name for variant in study.variants}
    return [
        claims_of_variants.judged(
            study, variant, on, reader, [case for case in cases if case.basis is on], is_main=False
        )
        for variant, on in zip(variants, bases, strict=True)
        if variant.name not in named
    ]


def _cases(bases: Sequence[Basis], reader: Reader, spending: Spending, budget: float | None) -> Sequence[deciding.Case]:
    for basis in bases:
        basis.refuse_damage()
    return deciding.stored_outcomes(bases, reader) if budget is None else decided(bases, reader, spending)


def _shares(study: Study, claims: Sequence[Claim], failed: frozenset[str]) -> Mapping[str, TrueShare]:
    """Return in how many environments each claim is true, from the first family that is a sample of environments."""
    sample = next((family for family in study.families.values() if family.is_sample), None)
    return claims_of_variants.true_shares(study, claims, sample, failed) if sample else {}


def _show_differences(study: Study, claims: Sequence[Claim], selection: Selection) -> None:
    """Write and print the differences in loss between an option and the one that it takes the place of."""
    (variant,) = selection.variants
    replaced = claims_of_variants.basis(study, claims, variant, own=selection.own, refused=[]).settings
    pairs = {name: list(zip(study.settings(name), replaced[name], strict=True)) for name in replaced}
    differences = paired_differences(pairs, variant)
    if not differences.empty:
        path = study.outputs / "differences" / f"{variant.name}.csv"
        write_table(differences, path, f"pomrl claims {study.word} --replace OLD={variant.name}")
        title = "loss with the new option less that with the old one, on average over tasks, in pairs, 95 %"
        print_table(title, wide(differences))
