"""Tables and figure of the page on readings of the paper's text."""

from collections.abc import Mapping

from pomrl.study import Change, Judgement, Page, Verdict, changes, markdown_table, over, rank
from pomrl_studies.pomrl2023 import readings_figure

WORDS = {
    Verdict.HOLDS: "holds",
    Verdict.DOES_NOT_HOLD: "does not",
    Verdict.NO_DIFFERENCE: "no difference",
    Verdict.UNDECIDED: "undecided",
}
"""Short names of the verdicts."""

COUNTS = ("hold", "do not", "no difference", "undecided")
"""The heads of the columns of verdict counts."""


def parts(page: Page) -> dict[str, str]:
    """Return the tables of the page; those without results stay unchanged."""
    judgements, family = page.judgements, page.study.family("readings")
    names = [variant.name for variant in family.variants if judgements.of(variant.name)]
    if len(names) < len(family.variants):
        return {}
    page.save("readings", readings_figure.draw(judgements, names), readings_figure.__doc__ or "")
    single = [variant.name for variant in family.variants if variant.is_single]
    counts, changed = over(judgements, names), readings_figure.in_all(judgements, names)
    return {
        "readings": markdown_table(
            ["reading", *COUNTS], [[f"`{name}`", *_counts(judgements.of(name))] for name in rank(judgements, names)]
        ),
        "choices": _choice_rows(changes(judgements, page.study.unchanged, single)),
        "claims under readings": markdown_table(
            ["claim", *COUNTS],
            [
                [id, *(str(verdict_counts[verdict]) for verdict in WORDS)]
                for id, verdict_counts in counts.items()
                if id in changed
            ],
        ),
    }


def _counts(judgements: Mapping[str, Judgement]) -> list[str]:
    return [str(sum(judgement.verdict is verdict for judgement in judgements.values())) for verdict in WORDS]


def _choice_rows(all_changes: list[Change]) -> str:
    """Return the verdicts changed by a single choice, with the decisive comparison."""
    rows = [
        [
            f"`{change.after.variant}`",
            change.id,
            _verdict_word(change.before),
            _verdict_word(change.after),
            _comparison(change.after),
        ]
        for change in sorted(all_changes, key=lambda change: change.after.variant)
    ]
    return markdown_table(["choice", "claim", "by default", "under the choice", "comparison [interval]"], rows)


def _verdict_word(judgement: Judgement) -> str:
    return WORDS[judgement.verdict] if judgement.verdict else ""


def _comparison(judgement: Judgement) -> str:
    decisive = judgement.decisive
    return f"{decisive.compared}: {decisive.found}, {judgement.runs:,} runs" if decisive.compared else ""
