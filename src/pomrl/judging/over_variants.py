"""How far verdicts depend on the variant: counts over variants and claims, and what single choices change."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from itertools import chain

from pomrl.judging.judgements import Judgement, Judgements
from pomrl.judging.verdict import LOOKS, Verdict

ORDER = (Verdict.HOLDS, Verdict.DOES_NOT_HOLD, Verdict.UNDECIDED)
"""The order in which verdicts are counted."""


@dataclass(frozen=True)
class Change:
    """A verdict that is another one under a variant than under the one that it is compared with."""

    id: str
    before: Judgement
    after: Judgement

    @property
    def is_turned(self) -> bool:
        """Return whether both verdicts are decided, and opposite."""
        return _distance(self.before, self.after) == 2


def counts(judgements: Collection[Judgement]) -> dict[Verdict, int]:
    """Return the number of claims with each verdict."""
    return {verdict: sum(each.verdict is verdict for each in judgements) for verdict in ORDER}


def ranked(judgements: Judgements, variants: Sequence[str]) -> list[str]:
    """Return variants ordered by the number of claims that hold, then by the fewest that do not."""
    by_variant = {variant: counts(judgements.of(variant).values()) for variant in variants}
    return sorted(variants, key=lambda name: (-by_variant[name][ORDER[0]], by_variant[name][ORDER[1]]))


def over(judgements: Judgements, variants: Sequence[str]) -> dict[str, dict[Verdict, int]]:
    """Return for each claim the number of variants under which it has each verdict."""
    by_id: dict[str, list[Judgement]] = {}
    for id, each in chain.from_iterable(judgements.of(variant).items() for variant in variants):
        by_id.setdefault(id, []).append(each)
    return {id: counts(of_claim) for id, of_claim in by_id.items()}


def changes(judgements: Judgements, base: str, variants: Sequence[str]) -> list[Change]:
    """Return the verdicts that variants change from those under `base`, the largest changes of a claim first."""
    found = [
        Change(id, before, after)
        for id, before in judgements.of(base).items()
        for variant in variants
        if (after := judgements.of(variant).get(id)) and after.verdict is not before.verdict
    ]
    ids = list(judgements.of(base))
    return sorted(found, key=lambda each: (ids.index(each.id), -_distance(each.before, each.after)))


def opposite(judgements: Judgements, base: str, variants: Sequence[str]) -> dict[str, list[str]]:
    """Return the variants under which a claim has the opposite of its verdict under `base`, by the claim's id."""
    turned: dict[str, list[str]] = {}
    for change in changes(judgements, base, variants):
        if change.is_turned:
            turned.setdefault(change.id, []).append(change.after.variant)
    return turned


def _distance(one: Judgement, other: Judgement) -> int:
    """Return the size of the change from one verdict to another: 0, 1 or 2."""
    if one.verdict is None or other.verdict is None:
        return 0
    return abs(LOOKS[one.verdict].score - LOOKS[other.verdict].score)
