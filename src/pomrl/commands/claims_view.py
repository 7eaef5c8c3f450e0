"""The judgements of a study in the terminal: the table of its claims, the answer, and what claims lack."""

from collections.abc import Sequence

from pomrl.commands.terminal import console, print_frame, printable
from pomrl.configuration.composed import number_of
from pomrl.configuration.study import Study
from pomrl.judging import judgements as table_of_judgements
from pomrl.judging import views
from pomrl.judging.agreement import counts, rank
from pomrl.judging.claim import claims_of
from pomrl.judging.judgements import Judgements
from pomrl.judging.verdict import Verdict

MOST_COLUMNS = 4
"""The most variants that have a column each; more are counted."""


def show(study: Study, judged: Judgements, shown: Sequence[str]) -> None:
    """Print the verdicts of a study under these variants."""
    import pandas as pd

    terminal = console()
    if len(shown) > MOST_COLUMNS:
        of_each = {name: counts(judged.of(name).values()) for name in rank(judged, shown)}
        print_frame(pd.DataFrame(of_each).T.reindex(columns=list(Verdict)).rename_axis("variant").reset_index())
        return
    listed = judged.first_under(shown)
    columns = views.columns(judged, shown)
    print_frame(pd.DataFrame(columns).map(lambda cell: cell.replace("**", "")))
    terminal.print(f"{views.legend(study)} All comparisons are in {table_of_judgements.FILE}.")
    if shown[0] in study.described.headline:
        from pomrl.report import answer  # here, because templates take long to load

        terminal.print(answer.text(study, judged))
    if judged.older:
        terminal.print(printable(views.older_in_words(study, judged)))
    for judgement in listed:
        if judgement.why:
            terminal.print(printable(f"{judgement.id} {judgement.why}"))
    few = [judgement for judgement in listed if judgement.provisional]
    if few:
        terminal.print(f"{number_of(len(few), 'claim')} with fewer runs than they need")
    known = {judgement.id for judgement in listed}
    has_exact = shown[0] == study.described.headline[0]  # claims about no sweep are judged under that variant alone
    lacking = [claim.id for claim in claims_of(study) if claim.id not in known and (claim.sweeps or has_exact)]
    if lacking:
        terminal.print(f"not computed: {', '.join(lacking)}")
    if few or lacking:  # a command that is broken cannot be copied
        terminal.print(f"    {printable(f'pomrl reproduce {study.word}')}", soft_wrap=True)
