"""Prepare claims for pages: tables, columns and groups."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from math import isfinite
from typing import Any

import numpy as np

from pomrl.configuration.studies import Study
from pomrl.judging import views
from pomrl.judging.agreement import counts
from pomrl.judging.answer import answer_text, group_by_variants, headline, is_judged_once
from pomrl.judging.comparison_rows import Comparison
from pomrl.judging.judgements import Judgement, Judgements
from pomrl.results.tables import markdown
from pomrl_report.markup import greek, sentence
from pomrl_report.rendering import render
from verdicts.parts import LOOKS, Verdict

NOT_JUDGED = "–"
"""The cell of a claim without a verdict under a variant."""

MAX_LISTED_CLAIMS = 6
"""The largest number of listed claims of a group; the others are folded."""


def name_with_id(claim: Judgement) -> str:
    """Return the title of a claim with its identifier."""
    return f"{greek(claim.title)} ({claim.id})"


@dataclass(frozen=True)
class VariantColumn:
    """The counts of verdicts under a variant."""

    variant: str
    counts: Mapping[Verdict, int]
    n_alone: int
    """The number of claims that can be checked under this variant only."""
    n_judged: int
    """The number of claims with a verdict under this variant."""


def main_claims_table(study: Study, judgements: Judgements, describe: Callable[[Judgement], str] = name_with_id) -> str:
    """Format the main claims as a Markdown table, with the signs of verdicts by variant.

    Claims under all variants come first. `describe` returns the cell of a claim.
    """
    variants = headline(study, judgements)
    claims = [claim for claim in judgements.first_under(variants) if claim.is_main]
    signs = {claim.id: [verdict_sign(judgements, name, claim.id) for name in variants] for claim in claims}
    claims.sort(key=lambda claim: signs[claim.id].count(NOT_JUDGED))
    rows = [[" ".join(signs[claim.id]), describe(claim)] for claim in claims]
    return markdown(["verdicts", "claim"], rows).rstrip()


def verdict_sign(judgements: Judgements, variant: str, id: str) -> str:
    """Return the sign of the verdict on a claim under a variant."""
    claim = judgements.of(variant).get(id)
    return LOOKS[claim.verdict].sign if claim and claim.verdict else NOT_JUDGED


def claims_page(study: Study, judgements: Judgements) -> str:
    """Return the Markdown page of all claims."""
    named = [name for name in study.config.variants if judgements.of(name)]
    cells = views.columns(judgements, named)
    page = render(
        "claims.md.j2",
        escapes=False,
        study=study,
        judgements=judgements,
        named=named,
        listed=judgements.first_under(named),
        answer=answer_text(study, judgements),
        older=views.describe_older(study, judgements),
        legend=views.legend(study),
        table=markdown([*cells], [*zip(*cells.values(), strict=True)]),
    )
    return f"{greek(page).rstrip()}\n"


def columns(study: Study, judgements: Judgements) -> list[VariantColumn]:
    """Count the verdicts under each judged variant of the headline."""
    variants = headline(study, judgements)
    decided = {
        name: [judgement for judgement in judgements.of(name).values() if judgement.verdict] for name in variants
    }
    n_alone = {
        name: sum(is_judged_once(judgement, judgements, variants) for judgement in members)
        for name, members in decided.items()
    }
    return [
        VariantColumn(name, counts(members), n_alone[name], len(members))
        for name, members in decided.items()
        if members
    ]


def groups(study: Study, judgements: Judgements) -> dict[str, list[tuple[Judgement, str]]]:
    """Group claims with reasons by heading, main claims first."""
    variants = headline(study, judgements)
    claims = group_by_variants(judgements, variants)
    return {
        _heading(key, variants): [
            (claim, _why(claim.id, judgements, variants))
            for claim in sorted(claims[key], key=lambda claim: not claim.is_main)
        ]
        for key in sorted(claims, key=lambda key: (key is None, -len(key or ())))
    }


def _heading(holds: tuple[str, ...] | None, variants: Sequence[str]) -> str:
    has_several = len(variants) > 1
    if holds is None:
        return "Claims that are undecided" + " under at least one variant" * has_several
    if not holds:
        return "Claims that do not hold" + " under any variant" * has_several + ", and why"
    if len(holds) == len(variants):
        return "Claims that hold" + " under every variant" * has_several
    return f"Claims that hold only under {' and '.join(holds)}"


def _why(id: str, judgements: Judgements, variants: Sequence[str]) -> str:
    unheld = [judgement for name in variants if (judgement := judgements.of(name).get(id)) and judgement.why]
    for judgement in sorted(unheld, key=lambda judgement: judgement.verdict is not Verdict.UNDECIDED):
        return f"Under {judgement.variant} it {judgement.why}" if len(variants) > 1 else sentence(judgement.why)
    return ""


def positions(comparison: Comparison) -> Mapping[str, Any] | None:
    """Return a comparison's numbers as positions, in per cent of the width.

    None without an interval. `above` and `below` are the ends of the claimed range, `thresholds` the finite ones.
    """
    if not (isfinite(comparison.lower) and isfinite(comparison.upper)):
        return None
    thresholds = [end for end in (comparison.above, comparison.below) if isfinite(end)]
    numbers = [comparison.lower, comparison.estimate, comparison.upper, *thresholds]
    margin = 0.1 * (max(numbers) - min(numbers) or 1.0)
    to_percent = partial(np.interp, xp=[min(numbers) - margin, max(numbers) + margin], fp=[0.0, 100.0])
    names = ("lower", "estimate", "upper", "above", "below")
    percents = {name: round(float(to_percent(getattr(comparison, name))), 2) for name in names}
    return {**percents, "thresholds": [round(float(to_percent(end)), 2) for end in thresholds]}
