"""The answer of a study, with which its page opens: verdicts counted under each variant, what holds, and why not."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from math import isfinite
from typing import Any

import numpy as np

from pomrl.configuration.study import Study
from pomrl.judging import views
from pomrl.judging.judgements import Judgement, Judgements
from pomrl.judging.over_variants import counts
from pomrl.judging.verdict import Comparison, Verdict
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
    judged: int
    """The number of claims that have a verdict under the variant."""


@dataclass(frozen=True)
class Group:
    """Claims that have the same verdicts under the variants, each with a sentence on why it does not hold."""

    heading: str
    listed: Sequence[tuple[Judgement, str]]
    folded: Sequence[tuple[Judgement, str]]


def columns(study: Study, judgements: Judgements) -> list[Column]:
    """Return a column for each variant of the headline; none if nothing is judged."""
    shown = views.headline(study, judgements)
    ids = {name: {id for id, each in judgements.of(name).items() if each.verdict} for name in shown}
    others = {name: set().union(*(ids[other] for other in shown if other != name)) for name in shown}
    return [
        Column(name, counts(judgements.of(name).values()), len(of - others[name]) * (len(shown) > 1), len(of))
        for name, of in ids.items()
        if any(ids.values())
    ]


def groups(study: Study, judgements: Judgements) -> list[Group]:
    """Return what holds under every variant of the headline, under some of them, under none, and what is undecided."""
    shown = views.headline(study, judgements)
    found = views.grouped(judgements, shown)
    order = sorted(found, key=lambda key: (key is None, -len(key or ())))
    made = []
    for key in order:
        why = [(each, _why(each.id, judgements, shown)) for each in found[key]]
        main = [each for each in why if each[0].is_main]
        listed = main if main and len(why) > MOST else why
        made.append(Group(_heading(key, shown), listed, [each for each in why if each not in listed]))
    return made


def _heading(holds: tuple[str, ...] | None, shown: Sequence[str]) -> str:
    several = len(shown) > 1
    if holds is None:
        return "What is undecided" + " under at least one variant" * several
    if not holds:
        return "What does not hold" + " under any variant" * several + ", and why"
    if len(holds) == len(shown):
        return "What holds" + " under every variant" * several
    return f"What holds under {' and '.join(holds)} alone"


def _why(id: str, judgements: Judgements, shown: Sequence[str]) -> str:
    """Say why a claim is undecided under the first variant under which it is, or else why it does not hold."""
    each_of = {name: each for name in shown if (each := judgements.of(name).get(id)) and each.why}
    undecided = (name for name, each in each_of.items() if each.verdict is Verdict.UNDECIDED)
    name = next(undecided, next(iter(each_of), ""))
    if not name:
        return ""
    return f"Under {name} it {each_of[name].why}" if len(shown) > 1 else sentence(each_of[name].why)


def placed(part: Comparison) -> Mapping[str, Any] | None:
    """Return positions in a small drawing of an estimate, its interval and its thresholds, in percent of its width.

    Margins are a tenth of what they span; what is claimed is the range between `above` and `below`. It is None where
    there are too few runs for an interval.
    """
    if not (isfinite(part.lower) and isfinite(part.upper)):
        return None
    thresholds = [end for end in (part.above, part.below) if isfinite(end)]
    shown = [part.lower, part.estimate, part.upper, *thresholds]
    margin = 0.1 * (max(shown) - min(shown) or 1.0)
    place = partial(np.interp, xp=[min(shown) - margin, max(shown) + margin], fp=[0.0, 100.0])
    names = ("lower", "estimate", "upper", "above", "below")
    places = {name: round(float(place(getattr(part, name))), 2) for name in names}
    return {**places, "thresholds": [round(float(place(end)), 2) for end in thresholds]}
