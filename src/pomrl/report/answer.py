"""The answer of a study, with which its page opens: verdicts counted under each variant, what holds, and why not."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from pomrl.configuration.study import Study
from pomrl.judging import views
from pomrl.judging.judgements import Judgement, Judgements
from pomrl.judging.over_variants import counts
from pomrl.judging.verdict import Verdict
from pomrl.report.markup import sentence

MOST = 6
"""The most claims of a group that are listed at once; of more, the main ones are, and the others are folded."""


@dataclass(frozen=True)
class Column:
    """The verdicts under a variant, counted."""

    variant: str
    counts: Mapping[Verdict, int]
    alone: int
    """The number of claims that can be checked under this variant only."""
    width: float
    """The length of its bar in percent of the longest one: bars have one scale."""

    @property
    def judged(self) -> int:
        """The number of claims that have a verdict under the variant."""
        return sum(self.counts.values())


@dataclass(frozen=True)
class Group:
    """Claims that have the same verdicts under the variants, each with a sentence on why it does not hold."""

    heading: str
    listed: Sequence[tuple[Judgement, str]]
    folded: Sequence[tuple[Judgement, str]]


def columns(study: Study, judgements: Judgements) -> list[Column]:
    """Return a column for each variant of the headline."""
    shown = views.headline(study, judgements)
    ids = {name: {id for id, each in judgements.of(name).items() if each.verdict} for name in shown}
    most = max(map(len, ids.values()), default=0)
    return [
        Column(
            name,
            counts(judgements.of(name).values()),
            len(ids[name].difference(*(ids[other] for other in shown if other != name))) if len(shown) > 1 else 0,
            100 * len(ids[name]) / most,
        )
        for name in shown
        if most
    ]


def groups(study: Study, judgements: Judgements) -> list[Group]:
    """Return what holds under every variant of the headline, under some of them, under none, and what is undecided."""
    shown = views.headline(study, judgements)
    found = views.grouped(judgements, shown)
    order = sorted(found, key=lambda key: (key is None, -len(key or ())))
    return [_group(_heading(key, shown), found[key], judgements, shown) for key in order]


def _heading(holds: tuple[str, ...] | None, shown: Sequence[str]) -> str:
    several = len(shown) > 1
    if holds is None:
        return "What is undecided" + " under at least one variant" * several
    if not holds:
        return "What does not hold" + " under any variant" * several + ", and why"
    if len(holds) == len(shown):
        return "What holds" + " under every variant" * several
    return f"What holds under {' and '.join(holds)} alone"


def _group(heading: str, members: Sequence[Judgement], judgements: Judgements, shown: Sequence[str]) -> Group:
    main = [each for each in members if each.is_main]
    listed = main if main and len(members) > MOST else members
    folded = [each for each in members if each not in listed]
    first, rest = ([(each, _why(each.id, judgements, shown)) for each in of] for of in (listed, folded))
    return Group(heading, first, rest)


def _why(id: str, judgements: Judgements, shown: Sequence[str]) -> str:
    """Say why a claim is undecided under the first variant under which it is, or else why it does not hold."""
    each_of = {name: each for name in shown if (each := judgements.of(name).get(id)) and each.why}
    undecided = (name for name, each in each_of.items() if each.verdict is Verdict.UNDECIDED)
    name = next(undecided, next(iter(each_of), ""))
    if not name:
        return ""
    return f"Under {name} it {each_of[name].why}" if len(shown) > 1 else sentence(each_of[name].why)
