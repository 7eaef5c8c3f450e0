"""The answer of a study: verdicts counted under each variant, what holds, why not, and how sure this is.

Pages of HTML show columns and groups; Markdown and the terminal have the sentences of `answer.md.j2`, with which the
page of all claims begins.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from math import isfinite
from re import sub
from typing import Any

import numpy as np

from pomrl.configuration.study import Study
from pomrl.judging import views
from pomrl.judging.agreement import counts, opposite
from pomrl.judging.judgements import Judgement, Judgements
from pomrl.judging.verdict import LOOKS, Comparison, Verdict
from pomrl.report.markup import sentence
from pomrl.report.rendering import render
from pomrl.results.tables import markdown

MOST = 6
"""The most claims of a group that are listed at once; the others are folded."""


SENTENCES = {
    Verdict.HOLDS: ("holds", "hold"),
    Verdict.DOES_NOT_HOLD: ("does not hold", "do not hold"),
    Verdict.NO_DIFFERENCE: ("shows no difference of interest", "show no difference of interest"),
    Verdict.UNDECIDED: ("is undecided", "are undecided"),
}
"""What is said of one claim, and of several, with each verdict."""


@dataclass(frozen=True)
class VariantColumn:
    """The verdicts under a variant, counted."""

    variant: str
    counts: Mapping[Verdict, int]
    alone: int
    """The number of claims that can be checked under this variant only."""
    judged: int
    """The number of claims that have a verdict under the variant."""


def text(study: Study, judgements: Judgements, *, in_short: bool = False) -> str:
    """Return, as Markdown, how many claims hold under each variant that the description names.

    In short, there are the numbers alone, without which claims these are and how sure that is.
    """
    shown = tuple(headline(study, judgements))
    by_variants = group_by_variants(judgements, shown)
    once = [claim for found in by_variants.values() for claim in found if is_judged_once(claim, judgements, shown)]
    groups = {
        holds: kept for holds, found in by_variants.items() if (kept := [claim for claim in found if claim not in once])
    }
    several = [claim for found in groups.values() for claim in found]
    everywhere, nowhere, undecided = (groups.pop(key, []) for key in (shown, (), None))
    page = render(
        "answer.md.j2",
        escapes=False,
        **_collect(study, judgements),
        shown=shown,
        once=once,
        several=several,
        groups=groups,
        everywhere=everywhere,
        nowhere=nowhere,
        undecided=undecided,
        in_part=sum(_holds_in_part(claim.id, judgements, shown) for claim in nowhere),
        sure="" if in_short else how_sure(study, judgements),
        in_short=in_short,
    )
    return sub(r"\n{3,}", "\n\n", page.strip())


def table_of_main(study: Study, judgements: Judgements) -> str:
    """Return the main claims as a table in Markdown: for each variant the sign of its verdict, and the estimate.

    Claims that most variants have come first. A cell names the comparison that decides where it is not that of the last
    variant which has the claim.
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
    """Return the words of the deciding comparison, without how its interval was found."""
    return judged.decisive.compared.removesuffix(", in pairs").removesuffix(", bootstrap over runs")


def _cell(judged: Judgement | None, number: str) -> str:
    """Return the sign of a verdict with its deciding estimate, and what is compared unless it is this number."""
    if not judged or not judged.verdict:
        return ""
    other = "" if _number(judged) == number else f" ({_number(judged)})"
    return f"{LOOKS[judged.verdict].sign} {judged.decisive.found}{other}"


def _holds_in_part(id: str, judgements: Judgements, variants: Sequence[str]) -> bool:
    """Return whether a topic of a claim holds under one of the variants."""
    under = [judgements.of(name)[id] for name in variants if id in judgements.of(name)]
    return any(Verdict.HOLDS in judgement.topics.values() for judgement in under)


def is_judged_once(claim: Judgement, judgements: Judgements, variants: Sequence[str]) -> bool:
    """Return whether a claim is judged under one of several variants only, as claims about formulas are."""
    return len(variants) > 1 and sum(claim.id in judgements.of(name) for name in variants) == 1


def claims_page(study: Study, judgements: Judgements) -> str:
    """Return the page of all claims, as Markdown: the answer, their table, the reasons, and all comparisons."""
    named = [name for name in study.described.variants if judgements.of(name)]
    cells = views.columns(judgements, named)
    page = render(
        "claims.md.j2",
        escapes=False,
        study=study,
        judgements=judgements,
        named=named,
        listed=judgements.first_under(named),
        answer=text(study, judgements),
        older=views.older_in_words(study, judgements),
        legend=views.legend(study),
        table=markdown([*cells], [*zip(*cells.values(), strict=True)]),
    )
    return f"{page.rstrip()}\n"


def how_sure(study: Study, judgements: Judgements) -> str:
    """Return the sentences that say how sure the verdicts are, and what they are under variants beside the headline."""
    known = _collect(study, judgements)
    shown = headline(study, judgements)
    others = [
        (name, [of for of in judgements.of(name).values() if of.verdict], opposite(judgements, shown[0], [name]))
        for name in known["named"]
        if name not in shown
    ]
    verdicts = [judgement.verdict for name in shown for judgement in judgements.of(name).values()]
    alike = verdicts.count(Verdict.NO_DIFFERENCE)
    return " ".join(render("how_sure.j2", escapes=False, **known, shown=shown, others=others, alike=alike).splitlines())


def _collect(study: Study, judgements: Judgements) -> dict[str, Any]:
    named = [name for name in study.described.variants if judgements.of(name)]
    judged = [judgement for judgement in judgements.first_under(named) if judgement.verdict]
    few = [judgement for judgement in judged if judgement.provisional]
    return {"study": study, "named": named, "judged": judged, "few": few, "counted": _count}


def _count(judgements: Sequence[Judgement]) -> str:
    numbers = counts(judgements)
    words = [f"{number} {SENTENCES[verdict][number != 1]}" for verdict, number in numbers.items() if number]
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} and {words[-1]}"


def headline(study: Study, judgements: Judgements) -> list[str]:
    """Return the variants of the headline under which claims are judged, or else the first one of all that are."""
    return [name for name in study.described.headline if judgements.of(name)] or judgements.variants[:1]


def group_by_variants(judgements: Judgements, variants: Sequence[str]) -> dict[tuple[str, ...] | None, list[Judgement]]:
    """Return the claims by the variants under which they hold.

    The key of claims that hold wherever they are judged has all variants, and that of claims which are undecided under
    one of them is None.
    """
    groups: dict[tuple[str, ...] | None, list[Judgement]] = {}
    for id in dict.fromkeys(id for name in variants for id in judgements.of(name)):
        found = {name: of[id] for name in variants if id in (of := judgements.of(name)) and of[id].verdict}
        verdicts = [judgement.verdict for judgement in found.values()]
        holds = tuple(name for name, judgement in found.items() if judgement.verdict is Verdict.HOLDS)
        key = None if Verdict.UNDECIDED in verdicts else tuple(variants) if len(holds) == len(found) else holds
        if found:
            groups.setdefault(key, []).append(next(iter(found.values())))
    return groups


def count_groups(study: Study, judgements: Judgements) -> dict[str, int]:
    """Return the number of claims, and of those that hold under all variants of the headline, none, or some of them.

    The keys are `claims`, `all`, `none`, `undecided`, and the names of variants, such as `printed+computed`.
    """
    shown = headline(study, judgements)
    found = group_by_variants(judgements, shown)
    names = {tuple(shown): "all", (): "none", None: "undecided"}
    by_name = {names.get(key, "+".join(key or ())): len(claims) for key, claims in found.items()}
    return {"all": 0, "none": 0, "undecided": 0, **by_name, "claims": sum(by_name.values())}


def columns(study: Study, judgements: Judgements) -> list[VariantColumn]:
    """Return a column for each variant of the headline; none if nothing is judged."""
    shown = headline(study, judgements)
    judged = {name: [judgement for judgement in judgements.of(name).values() if judgement.verdict] for name in shown}
    alone = {name: sum(is_judged_once(judgement, judgements, shown) for judgement in of) for name, of in judged.items()}
    return [VariantColumn(name, counts(of), alone[name], len(of)) for name, of in judged.items() if of]


def groups(study: Study, judgements: Judgements) -> dict[str, list[tuple[Judgement, str]]]:
    """Return claims under a heading that says where they hold, each with why it does not hold; main ones come first.

    The order is: under every variant of the headline, under some of them, under none, and what is undecided.
    """
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
    """Say why a claim is undecided under the first variant under which it is, or else why it does not hold."""
    found = [judgement for name in shown if (judgement := judgements.of(name).get(id)) and judgement.why]
    for judgement in sorted(found, key=lambda judgement: judgement.verdict is not Verdict.UNDECIDED):
        return f"Under {judgement.variant} it {judgement.why}" if len(shown) > 1 else sentence(judgement.why)
    return ""


def positions(part: Comparison) -> Mapping[str, Any] | None:
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
