"""The tables and the figure of the page `readings.md`."""

from collections.abc import Mapping, Sequence

import pandas as pd

from pomrl.figures import Page
from pomrl.study import Judgement, Verdict, VerdictChange, changes, markdown_table, over, rank
from pomrl_studies.pomrl2023 import readings_figure

COUNTS = {
    Verdict.HOLDS: "hold",
    Verdict.DOES_NOT_HOLD: "do not",
    Verdict.NO_DIFFERENCE: "no difference",
    Verdict.UNDECIDED: "undecided",
}
"""The column of each verdict in tables of counts."""

GROUPS = (
    "hold under all",
    "hold wherever they are decided",
    "do not hold under any",
    "do not hold wherever they are decided",
    "depend on the reading",
)
"""The groups of claims, in the order of the page."""


def parts(page: Page) -> dict[str, str]:
    """Write all tables and the figure, and return the page's tables.

    Nothing is written, and no table returned, if a reading has no judgements.
    """
    judgements, family = page.judgements, page.study.family("readings")
    names = [variant.name for variant in family.variants if judgements.of(variant.name)]
    if len(names) < len(family.variants):
        return {}
    page.save("readings", readings_figure.draw(judgements, names), readings_figure.__doc__ or "")
    single = [variant.name for variant in family.variants if variant.is_single]
    counts, figure_claims = over(judgements, names), readings_figure.in_all(judgements, names)
    page.write("readings_counts", _counts({name: judgements.of(name) for name in rank(judgements, names)}))
    claims = [
        {"claim": id} | {COUNTS[verdict]: verdict_counts[verdict] for verdict in COUNTS}
        for id, verdict_counts in counts.items()
    ]
    claim_rows = pd.DataFrame([row for row in claims if row["claim"] in figure_claims])
    changed = changes(judgements, page.study.unchanged, single)
    choice_rows = pd.DataFrame([_row(change) for change in sorted(changed, key=lambda change: change.after.variant)])
    return tables(page.write("readings_claims", claim_rows), page.write("readings_choices", choice_rows))


def tables(claims: pd.DataFrame, choices: pd.DataFrame) -> dict[str, str]:
    """Format the page's tables, given verdict counts and changed verdicts."""
    return {"claims": _groups(claims), "opposites": _opposites(choices)}


def _counts(readings: Mapping[str, Mapping[str, Judgement]]) -> pd.DataFrame:
    rows = [
        {"reading": name} | {COUNTS[verdict]: _number(verdict, judgements) for verdict in COUNTS}
        for name, judgements in readings.items()
    ]
    return pd.DataFrame(rows)


def _number(verdict: Verdict, judgements: Mapping[str, Judgement]) -> int:
    return sum(judgement.verdict is verdict for judgement in judgements.values())


def _row(change: VerdictChange) -> dict[str, str | int]:
    decisive = change.after.decisive
    return {
        "choice": change.after.variant,
        "claim": change.id,
        "by default": str(change.before.verdict),
        "under the choice": str(change.after.verdict),
        "comparison": decisive.compared,
        "estimate": decisive.estimate_text,
        "runs": change.after.runs,
    }


def _groups(claims: pd.DataFrame) -> str:
    claim_groups = claims.set_index("claim").apply(_group, axis=1)
    rows = [[group, ", ".join(claim_groups.index[claim_groups == group])] for group in GROUPS]
    return markdown_table(["claims that", ""], rows)


def _group(counts: "pd.Series[int]") -> str:
    against = counts["do not"] + counts["no difference"]
    if counts["hold"] and against:
        return GROUPS[-1]
    candidates = GROUPS[:2] if counts["hold"] else GROUPS[2:4]
    return candidates[1 if counts["undecided"] else 0]


def _opposites(choices: pd.DataFrame) -> str:
    decided: Sequence[str] = [Verdict.HOLDS, Verdict.DOES_NOT_HOLD]
    turned = choices[choices["by default"].isin(decided) & choices["under the choice"].isin(decided)]
    rows = [
        [f"`{row['choice']}`", row["claim"], row["under the choice"], f"{row['comparison']}: {row['estimate']}"]
        for _, row in turned.iterrows()
    ]
    return markdown_table(["choice", "claim", "under the choice", "comparison"], rows)
