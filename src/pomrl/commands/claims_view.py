"""The judgements of a study in the terminal: the table of its claims, the answer, and what claims lack."""

from collections.abc import Sequence

import pandas as pd
from rich.table import Table

from pomrl.commands.terminal import console, plain_table, print_frame, printable
from pomrl.configuration.study import Study
from pomrl.configuration.wording import number_of
from pomrl.judging import judgements as table_of_judgements
from pomrl.judging import views
from pomrl.judging.claim import claims_of
from pomrl.judging.judgements import Judgement, Judgements
from pomrl.judging.over_variants import ORDER, counts, ranked
from pomrl.judging.verdict import LOOKS

MOST_COLUMNS = 4
"""The most variants that have a column each; more are counted."""


def show(study: Study, judged: Judgements, shown: Sequence[str]) -> None:
    """Print the verdicts of a study under these variants."""
    terminal = console()
    if len(shown) > MOST_COLUMNS:
        of_each = {name: counts(judged.of(name).values()) for name in ranked(judged, shown)}
        print_frame(pd.DataFrame(of_each).T.reindex(columns=ORDER).rename_axis("variant").reset_index())
        return
    listed = judged.listed(shown)
    terminal.print(_rows(study, judged, shown))
    if shown[0] in study.described.headline:
        from pomrl.report import answer  # here, because templates take long to load

        terminal.print(answer.text(study, judged))
    if judged.older:
        terminal.print(printable(views.older_in_words(study, judged)))
    for each in listed:
        if each.why:
            terminal.print(printable(f"{each.id} {each.why}"))
    few = [each for each in listed if each.provisional]
    if few:
        terminal.print(f"{number_of(len(few), 'claim')} with fewer runs than their sweeps promise")
    known = {each.id for each in listed}
    has_exact = shown[0] == study.described.headline[0]  # claims about no sweep are judged under that variant alone
    lacking = [each.id for each in claims_of(study) if each.id not in known and (each.sweeps or has_exact)]
    if lacking:
        terminal.print(f"not computed: {', '.join(lacking)}")
    if few or lacking:  # a command that is broken cannot be copied
        terminal.print(f"    {printable(f'pomrl reproduce {study.word}')}", soft_wrap=True)


def _rows(study: Study, judged: Judgements, shown: Sequence[str]) -> Table:
    """Return the table of claims in narrow columns, with the colour of the verdict under the first variant."""
    listed, columns = judged.listed(shown), views.columns(study, judged, shown, {})
    columns[views.DECISIVE] = ["\nclaimed ".join(filter(None, _numbers(each))) for each in listed]
    table = plain_table(f"claims of {study.name}", *columns)
    for column, name in zip(table.columns, columns, strict=True):
        column.header = "estimate" if name == views.DECISIVE else name.replace("_", "_\n")
    for each, cells in zip(listed, zip(*columns.values(), strict=True), strict=True):
        style = LOOKS[each.verdict].style if each.verdict else ""
        lines = (map(printable, cell.replace("**", "").split("\n")) for cell in cells)
        table.add_row(*("\n".join(of_cell) for of_cell in lines), style=style)
    table.caption = f"{views.legend(study, columns)} All comparisons are in {table_of_judgements.FILE}."
    return table


def _numbers(each: Judgement) -> tuple[str, str]:
    """Return the estimate of the decisive comparison above its interval, and what is claimed of it."""
    return each.decisive.found.replace(" ", "\n", 1), each.decisive.claimed
