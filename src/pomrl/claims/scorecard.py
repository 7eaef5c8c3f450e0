"""The scorecard: one row for each claim, with its verdict at precision and what the paper's own runs could have shown.

A claim is judged on one basis or more (the paper's text; the authors' own code), and has a row for each of them.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import pandas as pd

from pomrl.claims import CLAIMS, authors
from pomrl.claims.chances import Chance
from pomrl.claims.claim import REVISED_ON, Claim
from pomrl.claims.environments import TrueShare
from pomrl.claims.judging import Judged
from pomrl.claims.precision import JudgedPart, Outcome, decisive
from pomrl.claims.summary import answer
from pomrl.claims.verdict import Verdict, claimed_range
from pomrl.results.intervals import ERROR_RATE, Interval

SELECTED = "Claims marked (s) are about results that were looked at when readings of the paper were chosen."
"""The explanation of the mark (s)."""


HEADS = {authors.TEXT: "by the text", authors.NOTEBOOK: "as the authors computed it"}
"""The heads of the columns of verdicts, by the name of the basis."""

AUTHORS = (
    "The same claims by the same rules, with the experiments that the first author's published notebook computes "
    "(`reading=notebook`, docs/notebook.md). Its schedules are those of ada-POMRL. A star marks claims about "
    "experiments that it does not contain, which are computed under its definitions of everything else. Its runs cost "
    f"more: claims are judged at {', '.join(map(str, authors.ANALYSES))} runs, as far as the budget reaches."
)
"""What the column of verdicts on the notebook's basis is."""


@dataclass(frozen=True)
class Row:
    """Everything that is known of a claim on one basis."""

    outcome: Outcome
    judged: Judged | None = None
    """The claim at the paper's number of runs; None if none is stored."""
    chance: Chance | None = None
    """How often that number of runs shows it; None if too few runs are stored."""
    true_share: TrueShare | None = None
    """In how many environments it is true; None if that is not known."""

    @property
    def claim(self) -> Claim:
        return self.outcome.claim

    @property
    def verdict(self) -> Verdict:
        return self.outcome.verdict

    @property
    def parts(self) -> tuple[JudgedPart, ...]:
        """The parts at precision; where there was no analysis, at the paper's number of runs, for simultaneous 95 %."""
        if self.outcome.parts or self.judged is None:
            return self.outcome.parts
        parts = self.judged.evidence.parts
        return tuple(
            JudgedPart(
                part,
                *part.estimate.interval(ERROR_RATE / len(parts)),
                self.judged.evidence.verdict_on(part),
                no_difference=False,
            )
            for part in parts
        )

    @property
    def decisive(self) -> JudgedPart:
        """The part on which the verdict rests."""
        return decisive(self.parts)


@dataclass(frozen=True)
class Scored:
    """The rows of all claims that are judged on a basis."""

    basis: str
    rows: tuple[Row, ...]
    remarks: tuple[str, ...] = field(default=())
    """Sentences about all of them."""
    flips: Mapping[str, Sequence[str]] = field(default_factory=dict)
    """The readings of the text, of one choice each, that turn the verdict on a claim, by the claim's id."""

    def row(self, claim: Claim) -> Row | None:
        """Return the row of a claim; None if it is not judged on this basis."""
        return next((row for row in self.rows if row.claim.id == claim.id), None)


def headline(scored: Sequence[Scored]) -> str:
    """Return the sentences that say how many claims hold on each basis; the first one is the text."""
    main, *others = scored
    if all(not row.outcome.parts for row in main.rows if row.claim.experiments):
        return (
            f"None of the {len(main.rows)} claims of which runs are stored is decided yet, because fewer than 1,000 "
            "runs are stored: python -m src.claims --decide adds them."
        )
    return answer(*({row.claim.id: row.verdict for row in each.rows} for each in (main, *others) if each.rows))


def markdown(scored: Sequence[Scored]) -> str:
    """Return the scorecard in Markdown: the headline, a table with a row for each claim, and the details beneath it.

    Args:
        scored: The claims on each basis. The first is the text; of the others the table has the verdicts alone.
    """
    main, *others = scored
    heads = ["claim", "by the text", *(HEADS[other.basis] for other in others), "estimate", "claimed", "runs"]
    heads += ["the paper's runs show it", "true in environments"]
    lines = [headline(scored), "", " | ".join(["", *heads, ""]).strip(), "|" + " --- |" * len(heads)]
    cells = [_cells(row, [verdict_on_other_basis(other, row.claim) for other in others]) for row in main.rows]
    lines += [" | ".join(["", *of_row, ""]).strip() for of_row in cells]
    lines += ["", *_legend(), *main.remarks, "", "## Why, where it does not hold or is not decided", ""]
    lines += [f"- **{row.claim.id}** {why(row)}" for row in main.rows if why(row)]
    for other in others:
        lines += ["", "## As the authors computed it", "", AUTHORS, "", *_other_basis(main, other)]
    if main.flips:
        lines += ["", "## Under which other readings of the text the verdict is the opposite", ""]
        lines += [f"- **{id}** {', '.join(readings)}" for id, readings in main.flips.items() if readings]
    lines += ["", f"## Rules that were revised on {REVISED_ON}, after verdicts had been seen", ""]
    lines += [_revision(row) for row in main.rows if row.claim.revised]
    lines += ["", "## At the paper's numbers of runs", "", *_at_paper_runs(main)]
    return "\n".join(lines) + "\n"


def verdict_on_other_basis(other: Scored, claim: Claim) -> str:
    """Return the verdict on a claim on another basis, with a star where the authors lack the experiment."""
    row = other.row(claim)
    if row is None:
        return ""
    return verdict_in_words(row) + (" *" if claim.id in authors.ADDED else "")


def _other_basis(main: Scored, other: Scored) -> list[str]:
    """Return a line for each claim that is open, turned or not judged on another basis, with its estimate there."""
    lines = []
    for row in main.rows:
        theirs = other.row(row.claim)
        if theirs is None:
            reason = authors.NOT_JUDGED.get(row.claim.id, "its experiments are not stored")
            lines.append(f"- **{row.claim.id}** is not judged: {reason}.")
        elif theirs.verdict is Verdict.UNDECIDED:
            lines.append(f"- **{row.claim.id}** {why(theirs)}")
        elif turned(row.verdict, theirs.verdict):
            shown = theirs.decisive
            claimed = claimed_range(shown.part.above, shown.part.below)
            found = f"{shown.part.compared} is {estimate(shown)}, claimed {claimed}"
            lines.append(f"- **{row.claim.id}** {theirs.verdict}: {found}. {authors.difference(row.claim.id)}")
    return lines


def turned(text: Verdict, other: Verdict) -> bool:
    """Return whether two verdicts are decided and differ."""
    return Verdict.UNDECIDED not in (text, other) and text is not other


def _cells(row: Row, others: Sequence[str]) -> list[str]:
    mark = f" {row.claim.mark}" if row.claim.mark else ""
    sentence = f"**{row.claim.id}**{mark} {row.claim.statement} ({row.claim.where})"
    cells = [sentence, verdict_in_words(row), *others]
    shown = row.decisive
    claimed = claimed_range(shown.part.above, shown.part.below)
    return [
        *cells,
        f"{shown.part.compared}: {estimate(shown)}",
        claimed,
        f"{shown.part.estimate.runs:,}",
        chance_in_words(row),
        environments_in_words(row),
    ]


def verdict_in_words(row: Row) -> str:
    """Return the verdict on a claim, and on each of its topics."""
    topics = row.outcome.verdicts
    if len(topics) < 2:
        return str(row.verdict)
    return f"{row.verdict} ({', '.join(f'{topic}: {verdict}' for topic, verdict in topics.items())})"


def estimate(judged: JudgedPart) -> str:
    """Return the estimate of a part with its interval at precision, in words."""
    return Interval(judged.part.estimate.value, judged.lower, judged.upper).text()


def chance_in_words(row: Row) -> str:
    """Return the probability that the paper's number of runs shows a claim; empty where it is not known."""
    if row.chance is None or row.judged is None:
        return ""
    return f"{row.chance.shown.percent()} of {row.judged.promised} runs"


def environments_in_words(row: Row) -> str:
    """Return the share of environments in which a claim is true; empty where it is not known."""
    if row.true_share is None:
        return ""
    return ("at most " if row.true_share.parts > 1 else "") + row.true_share.share.percent()


def why(row: Row) -> str:
    """Return a sentence on why a claim does not hold or is not decided; empty for one that holds."""
    if row.verdict is Verdict.REPRODUCED:
        return ""
    if row.verdict is Verdict.UNDECIDED:
        return f"is undecided. {row.outcome.reason}."
    part = row.decisive
    nothing = "there is no difference of interest" if part.no_difference else f"it is {estimate(part)}"
    claimed = claimed_range(part.part.above, part.part.below)
    sentence = f"does not hold: {part.part.compared} is claimed to be {claimed}, and {nothing}."
    open_topics = [topic for topic, verdict in row.outcome.verdicts.items() if verdict is Verdict.UNDECIDED]
    return sentence + (f" Undecided: {', '.join(open_topics)}." if open_topics else "")


def _legend() -> list[str]:
    return [
        "Each claim was computed until it was decided, at fixed numbers of runs over which its error is spread. The "
        "estimate is that of the decisive comparison, with the interval that decided it. Where a claim is about one "
        "drawn environment, the verdict is about the average over environments, and the last column about single ones; "
        "'at most' stands where it is the share for the hardest part of a claim. The column before it has the "
        "probability that the paper's own number of runs shows the claim when it is judged by itself, at 95 %. The "
        "intervals of these two columns are for 95 %. " + SELECTED
    ]


def _revision(row: Row) -> str:
    revised = row.claim.revised
    assert revised is not None
    now = f", by the new rule {row.judged.verdict}" if row.judged else ""
    return (
        f"- **{row.claim.id}** {revised.reason}. At the paper's number of runs, with Holm's correction: by the old "
        f"rule {revised.before}{now}; at precision {row.verdict}."
    )


def _at_paper_runs(scored: Scored) -> list[str]:
    """Return the table of verdicts at the paper's numbers of runs."""
    judged = [row.judged for row in scored.rows if row.judged]
    few = [each.runs for each in judged if each.provisional]
    lines = []
    if few:
        lines = [f"Provisional: {len(few)} claims have fewer runs than the paper (as few as {min(few)}).", ""]
    lines += ["| claim | runs | with Holm's correction | by itself | decisive comparison, 95 % |", "|" + " --- |" * 5]
    for each in judged:
        part = each.evidence.decisive
        interval = Interval(part.estimate.value, part.estimate.lower, part.estimate.upper).text()
        lines.append(
            f"| {each.claim.id} | {each.runs} | {each.verdict} | {each.evidence.verdict} | "
            f"{part.compared}: {interval}, claimed {claimed_range(part.above, part.below)} |"
        )
    return lines


def table(scored: Sequence[Scored]) -> pd.DataFrame:
    """Return a row for each basis, claim and part, with all that is known of the claim and of the part."""
    rows = [
        {"basis": each.basis} | _claim_columns(row, each.basis) | _part_columns(row, judged)
        for each in scored
        for row in each.rows
        for judged in row.parts
    ]
    return pd.DataFrame(rows)


def _claim_columns(row: Row, basis: str) -> dict[str, Any]:
    claim, revised = row.claim, row.claim.revised
    return {
        "claim": claim.id,
        "selected_on": claim.selected_on,
        "statement": claim.statement,
        "where": claim.where,
        "verdict": str(row.verdict),
        "reason": row.outcome.reason,
        "runs": row.outcome.runs,
        "paper_runs": row.judged.promised if row.judged else None,
        "verdict_at_paper_runs": str(row.judged.verdict) if row.judged else "",
        "verdict_at_paper_runs_by_itself": str(row.judged.evidence.verdict) if row.judged else "",
        "revised_on": REVISED_ON if revised else "",
        "revision": revised.reason if revised else "",
        "verdict_by_old_rule": str(revised.before) if revised else "",
        **_share_columns("paper_runs_show_it", row.chance.shown if row.chance else None),
        **_share_columns("paper_runs_refute_it", row.chance.refuted if row.chance else None),
        **_share_columns("true_in_environments", row.true_share.share if row.true_share else None),
        "environments": row.true_share.environments if row.true_share else None,
        "parts": row.true_share.parts if row.true_share else None,
        "in_the_notebook": basis != authors.NOTEBOOK or claim.id not in authors.ADDED,
    }


def _share_columns(name: str, share: Interval | None) -> Mapping[str, float | None]:
    return share.columns(name) if share else dict.fromkeys((name, f"{name}_lower", f"{name}_upper"))


def _part_columns(row: Row, judged: JudgedPart) -> dict[str, Any]:
    part = judged.part
    return {
        "compared": part.compared,
        "topic": part.topic,
        "estimate": part.estimate.value,
        "lower": judged.lower,
        "upper": judged.upper,
        "above": part.above,
        "below": part.below,
        "part_runs": part.estimate.runs,
        "part_verdict": str(judged.verdict),
        "no_difference_of_interest": judged.no_difference,
        "decisive": part is row.decisive.part,
    }


def not_judged(scored: Scored) -> list[Claim]:
    """Return the claims that have no row."""
    judged = {row.claim.id for row in scored.rows}
    return [claim for claim in CLAIMS if claim.id not in judged]
