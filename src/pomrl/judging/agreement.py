"""Differences between judgements: of variants, or from published ones."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from itertools import zip_longest
from math import isclose, isnan

from pomrl.judging.comparison_rows import Comparison
from pomrl.judging.judgements import DIGITS, Judgement, Judgements
from pomrl.judging.views import verdict_label
from verdicts.parts import Verdict

TOLERANCE = 1e-9
"""The relative and absolute tolerance for numbers of other processors than x86-64; there they are equal."""


@dataclass(frozen=True)
class VerdictChange:
    """Two different verdicts on a claim, under two variants."""

    id: str
    before: Judgement
    after: Judgement

    @property
    def is_turned(self) -> bool:
        return {self.before.verdict, self.after.verdict} == {Verdict.HOLDS, Verdict.DOES_NOT_HOLD}


def counts(judgements: Collection[Judgement]) -> dict[Verdict, int]:
    """Count claims by verdict."""
    return {verdict: sum(judgement.verdict is verdict for judgement in judgements) for verdict in Verdict}


def rank(judgements: Judgements, variants: Sequence[str]) -> list[str]:
    """Rank variants: most `holds` first, then fewest `does not hold`."""
    verdict_counts = {name: counts(judgements.of(name).values()) for name in variants}
    return sorted(
        variants, key=lambda name: (-verdict_counts[name][Verdict.HOLDS], verdict_counts[name][Verdict.DOES_NOT_HOLD])
    )


def over(judgements: Judgements, variants: Sequence[str]) -> dict[str, dict[Verdict, int]]:
    """Count variants by verdict, for each claim."""
    ids = dict.fromkeys(id for name in variants for id in judgements.of(name))
    by_variant = [judgements.of(name) for name in variants]
    return {id: counts([verdicts[id] for verdicts in by_variant if id in verdicts]) for id in ids}


def changes(judgements: Judgements, base: str, variants: Sequence[str]) -> list[VerdictChange]:
    """List changes of verdicts from `base`; for each claim, opposite ones first."""
    all_changes: list[VerdictChange] = []
    for id, before in judgements.of(base).items():
        changed = [judgements.of(variant).get(id) for variant in variants]
        claim_changes = [
            VerdictChange(id, before, after) for after in changed if after and after.verdict is not before.verdict
        ]
        all_changes += sorted(claim_changes, key=lambda change: not change.is_turned)
    return all_changes


def opposite(judgements: Judgements, base: str, variants: Sequence[str]) -> dict[str, list[str]]:
    """Return the variants with a verdict opposite to `base`, by claim id."""
    turned: dict[str, list[str]] = {}
    for change in changes(judgements, base, variants):
        if change.is_turned:
            turned.setdefault(change.id, []).append(change.after.variant)
    return turned


@dataclass(frozen=True)
class Agreement:
    """The differences between computed judgements and others."""

    verdicts: int
    """The number of compared verdicts."""
    numbers: int
    """The number of compared estimates and interval ends."""
    inexact: int
    """The number of compared numbers with different digits."""
    turned: Sequence[str]
    """A line for each verdict that differs, or is missing on one side."""
    different: Sequence[str]
    """A line for each comparison whose numbers, runs, text or verdict differ."""
    other: str = "published"
    """What the other judgements are called."""

    @property
    def is_exact(self) -> bool:
        return not (self.turned or self.different or self.inexact)

    def __str__(self) -> str:
        what = f"{self.verdicts} verdicts and {self.numbers:,} numbers"
        if self.is_exact:
            return f"All {what} agree with the {self.other} ones."
        if not (self.turned or self.different):
            return f"All {what} agree with the {self.other} ones, {self.inexact} of these numbers within {TOLERANCE:g}."
        return (
            f"Of {what}, {len(self.turned)} verdicts and the numbers of {len(self.different)} comparisons differ from "
            f"the {self.other} ones."
        )


def compare(
    computed: Judgements, published: Judgements, variants: Sequence[str], other: str = "published"
) -> Agreement:
    """Compare computed with published or `other` judgements."""
    claims = [
        (f"{id} under {variant}", computed.of(variant).get(id), published.of(variant).get(id))
        for variant in variants
        for id in dict.fromkeys([*published.of(variant), *computed.of(variant)])
    ]
    comparisons = [
        (name, *pair)
        for name, ours, theirs in claims
        if ours and theirs
        for pair in zip_longest(ours.comparisons, theirs.comparisons, fillvalue=Comparison())
    ]
    numbers = [pair for _, ours, theirs in comparisons for pair in _numbers(ours, theirs)]
    return Agreement(
        verdicts=len(claims),
        numbers=len(numbers),
        inexact=sum(a != b for a, b in numbers),
        turned=[
            f"{name}: {_verdict(ours)}, {other}: {_verdict(theirs)}"
            for name, ours, theirs in claims
            if not (ours and theirs and ours.verdict is theirs.verdict)
        ],
        different=[
            f"{name}, {theirs.compared or ours.compared}: {ours.estimate_text}, {other}: {theirs.estimate_text}"
            for name, ours, theirs in comparisons
            if not is_close(ours, theirs)
        ],
        other=other,
    )


def _verdict(judgement: Judgement | None) -> str:
    return verdict_label(judgement.verdict) if judgement else "not judged"


def _numbers(ours: Comparison, theirs: Comparison) -> list[tuple[float, float]]:
    pairs = zip(_written(ours), _written(theirs), strict=True)
    return [(a, b) for a, b in pairs if not (isnan(a) and isnan(b))]


def _written(comparison: Comparison) -> list[float]:
    return [float(f"{number:.{DIGITS}g}") for number in (comparison.estimate, comparison.lower, comparison.upper)]


def is_close(ours: Comparison, theirs: Comparison) -> bool:
    """Return whether text, verdict and runs are equal, and numbers within `TOLERANCE`."""
    is_same = (ours.compared, ours.verdict, ours.runs) == (theirs.compared, theirs.verdict, theirs.runs)
    return is_same and all(isclose(*pair, rel_tol=TOLERANCE, abs_tol=TOLERANCE) for pair in _numbers(ours, theirs))
