"""The scorecard in the terminal: the headline, a row for each claim, and what claims lack."""

from collections.abc import Sequence

from rich.console import Console
from rich.table import Table

from pomrl.claims import authors, scorecard
from pomrl.claims.scorecard import Row, Scored
from pomrl.claims.verdict import LOOKS, Verdict, claimed_range
from pomrl.commands import tables
from pomrl.commands.terminal import console, printable
from pomrl.configuration import studies
from pomrl.configuration.sources import PUBLISHED, Sources

LEGEND = (
    "estimate: of the decisive comparison, with the interval that decided it, after so many runs; N runs: the "
    "probability that the paper's number of runs shows the claim by itself; envs: the share of environments in which "
    "it is true, <= where it is that of the hardest part; (s): readings were chosen after looking at what the claim is "
    "about; all comparisons are in claims.csv"
)

OTHER_BASIS = "authors"
"""The head of the column of verdicts on the basis of the authors' notebook."""

OTHER_LEGEND = (
    "authors: whether it holds as the authors' published notebook computes it, * where the notebook does not contain "
    "the experiment"
)

SHORT = {Verdict.REPRODUCED: "holds", Verdict.NOT_REPRODUCED: "not", Verdict.UNDECIDED: "open"}
"""The verdicts in a word."""


def show(scored: Sequence[Scored], sources: Sources = PUBLISHED) -> None:
    """Print the headline, a row for each claim, and the commands that compute what claims lack.

    Args:
        scored: The claims that were judged, by the text and then on other bases.
        sources: Where the configurations come from, with the replacement if there is one.
    """
    terminal = console()
    replacement = sources.replacement
    title = f"claims, with {replacement.new} in the place of {replacement.old}" if replacement else "claims"
    main, *others = scored
    terminal.print(_rows(main, others, title))
    terminal.print(scorecard.headline(scored))
    for row in main.rows:
        if reason := scorecard.why(row):
            terminal.print(f"{row.claim.id} {reason}")
        if row.judged and row.judged.provisional:
            sentence = f"{row.claim.id}: {row.judged.runs} of {row.judged.promised} runs"
            _print_advice(terminal, sentence, [studies.command(sources, name) for name in row.claim.experiments])
    lacking: dict[tuple[str, ...], list[str]] = {}
    for claim in scorecard.not_judged(main):
        lacking.setdefault(claim.experiments, []).append(claim.id)
    for names, ids in lacking.items():
        _print_advice(terminal, f"not computed: {', '.join(ids)}", [studies.command(sources, name) for name in names])


def _rows(main: Scored, others: Sequence[Scored], title: str) -> Table:
    """Return a table for the terminal with a row for each claim."""
    heads = [OTHER_BASIS for _ in others]
    shown = tables.plain_table(title, "claim", "verdict", *heads, "estimate", "N runs", "envs")
    for row in main.rows:
        name = " ".join([row.claim.id, row.claim.mark]).strip()
        sentence = f"{name}: {row.claim.statement} ({row.claim.where})"
        verdict = "\n".join([str(row.verdict), *_topics(row)])
        chance_of, envs = _percent(row.chance.shown.estimate if row.chance else None), ""
        if row.chance and row.judged:
            chance_of += f"\nof {row.judged.promised}"
        if row.true_share:
            envs = ("<= " if row.true_share.parts > 1 else "") + _percent(row.true_share.share.estimate)
        theirs = [_on_other_basis(other, row) for other in others]
        shown.add_row(sentence, verdict, *theirs, _numbers(row), chance_of, envs, style=LOOKS[row.verdict].style)
    shown.caption = LEGEND + (f"; {OTHER_LEGEND}" if others else "")
    return shown


def _on_other_basis(other: Scored, row: Row) -> str:
    """Return what a claim's verdict is on another basis, in a word."""
    theirs = other.row(row.claim)
    if theirs is None:
        return ""
    return SHORT[theirs.verdict] + (" *" if row.claim.id in authors.ADDED else "")


def _topics(row: Row) -> list[str]:
    """Return a line for each topic of a claim that has topics."""
    verdicts = row.outcome.verdicts
    return [f"{LOOKS[verdict].symbol} {topic}" for topic, verdict in verdicts.items()] if len(verdicts) > 1 else []


def _numbers(row: Row) -> str:
    """Return the estimate of the decisive part, what is claimed of it, and the number of runs."""
    decisive = row.decisive
    claimed = claimed_range(decisive.part.above, decisive.part.below)
    value = f"{decisive.part.estimate.value:.3f}\n[{decisive.lower:.3f}, {decisive.upper:.3f}]"
    return f"{value}\nclaimed {claimed}\n{decisive.part.estimate.runs} runs"


def _percent(share: float | None) -> str:
    return "" if share is None else f"{100 * share:.0f} %"


def _print_advice(terminal: Console, sentence: str, commands: Sequence[str]) -> None:
    terminal.print(sentence)
    for command in commands:
        terminal.print(f"    {printable(command)}", soft_wrap=True)  # a command that is broken cannot be copied
