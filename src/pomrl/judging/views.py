"""Judgements as text for the terminal, and as Markdown for pages."""

from collections.abc import Sequence

from pomrl.configuration.studies import Study
from pomrl.judging.comparison_rows import REPORTED, Comparison
from pomrl.judging.judgements import Judgement, Judgements
from verdicts.parts import Verdict

SELECTED = "Claims marked (s) are about results that were looked at when readings of the paper were chosen."
"""The explanation of the mark (s)."""


def verdict_label(verdict: Verdict | None) -> str:
    """Format a verdict; `REPORTED` for None."""
    return str(verdict or REPORTED)


def describe_older(study: Study, judgements: Judgements) -> str:
    """Describe verdicts older than code or settings; may be empty."""
    if not judgements.older:
        return ""
    verdicts = f"The verdicts under {' and '.join(judgements.older)} are older than the present code and settings"
    return f"{verdicts}: pomrl reproduce {study.argument} renews them."


def verdict_with_topics(judgement: Judgement) -> str:
    """Format the verdict on a claim, and on its topics if several."""
    topics, text = judgement.topics, verdict_label(judgement.verdict)
    if len(topics) < 2:
        return text
    return f"{text} ({', '.join(f'{topic}: {verdict_label(verdict)}' for topic, verdict in topics.items())})"


DECISIVE = "decisive comparison, estimate [interval], claimed"
"""The heading of the column with the comparison that decides the verdict."""


def columns(judgements: Judgements, variants: Sequence[str]) -> dict[str, list[str]]:
    """Return the table of claims, as Markdown cells by column.

    The first variant includes verdicts on topics.
    """
    listed = judgements.first_under(variants)
    main, *further_variants = variants
    by_variant = {name: [judgements.of(name).get(judgement.id) for judgement in listed] for name in further_variants}
    return {
        "claim": [
            f"**{judgement.id}**{' (s)' * judgement.selected_on} {judgement.statement} ({judgement.where})"
            for judgement in listed
        ],
        main: [verdict_with_topics(judgement) if judgement.variant == main else "" for judgement in listed],
        **{
            name: [verdict_label(judgement.verdict) if judgement else "" for judgement in row]
            for name, row in by_variant.items()
        },
        DECISIVE: [describe_decisive(judgement.decisive) for judgement in listed],
    }


def legend(study: Study) -> str:
    """Explain the table of claims."""
    sentences = [
        "Each claim is judged once, on the number of runs that the study or the claim sets.",
        "No difference of interest: the interval shows that the number is closer to the threshold of the claim than "
        "the smallest effect of interest.",
        "Estimates are from decisive comparisons, with the intervals that decided them.",
    ]
    return " ".join([*sentences, *([SELECTED] if study.config.cite else [])])


def describe_decisive(comparison: Comparison) -> str:
    """Format a comparison with its estimate and claimed range."""
    return f"{comparison.compared}: {comparison.estimate_text}" + (
        f", claimed {comparison.claimed}" if comparison.claimed else ""
    )
