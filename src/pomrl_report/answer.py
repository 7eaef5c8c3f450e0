"""Claims on pages: their table, and columns and groups of the HTML page."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from math import isfinite
from typing import Any

import numpy as np

from pomrl.configuration.study import Study
from pomrl.judging import views
from pomrl.judging.agreement import counts
from pomrl.judging.answer import answer_text, group_by_variants, headline, is_judged_once
from pomrl.judging.judgements import Judgement, Judgements
from pomrl.judging.verdict import LOOKS, Comparison, Verdict
from pomrl.results.tables import markdown
from pomrl_report.markup import sentence
from pomrl_report.rendering import render

MAX_LISTED_CLAIMS = 6
"""The number of claims of a group that are listed at once; the others are folded."""


@dataclass(frozen=True)
class VariantColumn:
    """Hold the counted verdicts under a variant."""

    variant: str
    counts: Mapping[Verdict, int]
    alone: int
    """The number of claims that can be checked under this variant only."""
    judged: int
    """The number of claims that have a verdict under the variant."""


def table_of_main(study: Study, judgements: Judgements) -> str:
    """Return the main claims as a table in Markdown, by variant.

    Cells have the sign of the verdict and the estimate, and name another deciding comparison than the last variant's.
    """
    shown = headline(study, judgements)
    rows: list[list[str]] = []
    for claim in judgements.first_under(shown):
        if claim.is_main:
            under = [judgements.of(name).get(claim.id) for name in shown]
            number = next(_number(judged) for judged in reversed(under) if judged)
            rows.append([f"{claim.title} ({claim.id})", *(_cell(judged, number) for judged in under), number])
    rows.sort(key=lambda row: row.count(""))
    return markdown(["claim", *shown, "number"], rows).rstrip()


def _number(judged: Judgement) -> str:
    return judged.decisive.compared.removesuffix(", in pairs").removesuffix(", bootstrap over runs")


def _cell(judged: Judgement | None, number: str) -> str:
    """Return sign and estimate of a verdict, and another comparison's name."""
    if not judged or not judged.verdict:
        return ""
    other = "" if _number(judged) == number else f" ({_number(judged)})"
    return f"{LOOKS[judged.verdict].sign} {judged.decisive.found}{other}"


def claims_page(study: Study, judgements: Judgements) -> str:
    """Return the page of all claims as Markdown."""
    named = [name for name in study.described.variants if judgements.of(name)]
    cells = views.columns(judgements, named)
    page = render(
        "claims.md.j2",
        escapes=False,
        study=study,
        judgements=judgements,
        named=named,
        listed=judgements.first_under(named),
        answer=answer_text(study, judgements),
        older=views.older_in_words(study, judgements),
        legend=views.legend(study),
        table=markdown([*cells], [*zip(*cells.values(), strict=True)]),
    )
    return f"{page.rstrip()}\n"


def columns(study: Study, judgements: Judgements) -> list[VariantColumn]:
    """Return a column for each judged variant of the headline."""
    shown = headline(study, judgements)
    judged = {name: [judgement for judgement in judgements.of(name).values() if judgement.verdict] for name in shown}
    alone = {name: sum(is_judged_once(judgement, judgements, shown) for judgement in of) for name, of in judged.items()}
    return [VariantColumn(name, counts(of), alone[name], len(of)) for name, of in judged.items() if of]


def groups(study: Study, judgements: Judgements) -> dict[str, list[tuple[Judgement, str]]]:
    """Return claims with reasons, main ones first, by a heading."""
    shown = headline(study, judgements)
    found = group_by_variants(judgements, shown)
    return {
        _heading(key, shown): [
            (of, _why(of.id, judgements, shown)) for of in sorted(found[key], key=lambda of: not of.is_main)
        ]
        for key in sorted(found, key=lambda key: (key is None, -len(key or ())))
    }


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
    found = [judgement for name in shown if (judgement := judgements.of(name).get(id)) and judgement.why]
    for judgement in sorted(found, key=lambda judgement: judgement.verdict is not Verdict.UNDECIDED):
        return f"Under {judgement.variant} it {judgement.why}" if len(shown) > 1 else sentence(judgement.why)
    return ""


def positions(part: Comparison) -> Mapping[str, Any] | None:
    """Return positions of estimate, interval and thresholds in percent of a drawing.

    The range between `above` and `below` is claimed. None without an interval.
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
