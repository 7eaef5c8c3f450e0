"""The tables of the page on readings of the paper's text, and a figure of all claims under all of them."""

from collections.abc import Mapping

from pomrl.figures import Page
from pomrl.study import Judgement, Verdict, VerdictChange, changes, markdown_table, over, rank
from pomrl_studies.pomrl2023 import readings_figure

WORDS = {
    Verdict.HOLDS: "holds",
    Verdict.DOES_NOT_HOLD: "does not",
    Verdict.NO_DIFFERENCE: "no difference",
    Verdict.UNDECIDED: "undecided",
}
"""The verdicts in a word or two."""

COUNTS = ("hold", "do not", "no difference", "undecided")
"""The heads of the columns that count verdicts."""


def parts(page: Page) -> dict[str, str]:
    """Return the tables of the page; those without results are left as they are."""
    judgements, family = page.judgements, page.study.family("readings")
    names = [variant.name for variant in family.variants if judgements.of(variant.name)]
    if len(names) < len(family.variants):
        return {}
    page.save("readings", readings_figure.draw(judgements, names), readings_figure.__doc__ or "")
    single = [variant.name for variant in family.variants if variant.is_single]
    counts, shown = over(judgements, names), readings_figure.in_all(judgements, names)
    return {
        "readings": markdown_table(
            ["reading", *COUNTS], [[f"`{name}`", *_counts(judgements.of(name))] for name in rank(judgements, names)]
        ),
        "choices": _of_choices(changes(judgements, page.study.unchanged, single)),
        "claims under readings": markdown_table(
            ["claim", *COUNTS],
            [[id, *(str(of[verdict]) for verdict in WORDS)] for id, of in counts.items() if id in shown],
        ),
    }


def _counts(judgements: Mapping[str, Judgement]) -> list[str]:
    return [str(sum(judgement.verdict is verdict for judgement in judgements.values())) for verdict in WORDS]


def _of_choices(found: list[VerdictChange]) -> str:
    """Return the verdicts that a single choice changes, with the comparison that decides under that choice."""
    rows = [
        [f"`{change.after.variant}`", change.id, _word(change.before), _word(change.after), _comparison(change.after)]
        for change in sorted(found, key=lambda change: change.after.variant)
    ]
    return markdown_table(["choice", "claim", "by default", "under the choice", "comparison [interval]"], rows)


def _word(judgement: Judgement) -> str:
    return WORDS[judgement.verdict] if judgement.verdict else ""


def _comparison(judgement: Judgement) -> str:
    shown = judgement.decisive
    return f"{shown.compared}: {shown.found}, {judgement.runs:,} runs" if shown.compared else ""
