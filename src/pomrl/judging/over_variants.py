"""How far verdicts depend on the variant: counts over variants and claims, and what single choices change."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from pomrl.judging.judgements import Judgement, Judgements
from pomrl.judging.verdict import Verdict


@dataclass(frozen=True)
class Change:
    """A verdict on a claim that is another one under a variant than under the one that it is compared with."""

    id: str
    before: Judgement
    after: Judgement

    @property
    def is_turned(self) -> bool:
        """Return whether both verdicts are decided, and opposite."""
        return {self.before.verdict, self.after.verdict} == {Verdict.HOLDS, Verdict.DOES_NOT_HOLD}


def counts(judgements: Collection[Judgement]) -> dict[Verdict, int]:
    """Return the number of claims with each verdict."""
    return {verdict: sum(judgement.verdict is verdict for judgement in judgements) for verdict in Verdict}


def rank(judgements: Judgements, variants: Sequence[str]) -> list[str]:
    """Return variants ordered by the number of claims that hold, then by the fewest that do not."""
    of = {name: counts(judgements.of(name).values()) for name in variants}
    return sorted(variants, key=lambda name: (-of[name][Verdict.HOLDS], of[name][Verdict.DOES_NOT_HOLD]))


def over(judgements: Judgements, variants: Sequence[str]) -> dict[str, dict[Verdict, int]]:
    """Return for each claim the number of variants under which it has each verdict."""
    ids = dict.fromkeys(id for name in variants for id in judgements.of(name))
    under = [judgements.of(name) for name in variants]
    return {id: counts([of[id] for of in under if id in of]) for id in ids}


def changes(judgements: Judgements, base: str, variants: Sequence[str]) -> list[Change]:
    """Return the verdicts that variants change from those under `base`, those that are turned first of each claim's."""
    found: list[Change] = []
    for id, before in judgements.of(base).items():
        under = [judgements.of(variant).get(id) for variant in variants]
        of_claim = [Change(id, before, after) for after in under if after and after.verdict is not before.verdict]
        found += sorted(of_claim, key=lambda change: not change.is_turned)
    return found


def opposite(judgements: Judgements, base: str, variants: Sequence[str]) -> dict[str, list[str]]:
    """Return the variants under which a claim has the opposite of its verdict under `base`, by the claim's id."""
    turned: dict[str, list[str]] = {}
    for change in changes(judgements, base, variants):
        if change.is_turned:
            turned.setdefault(change.id, []).append(change.after.variant)
    return turned
