"""The judgements of a study in the terminal: the answer, a row for each claim, and what claims lack."""

from collections.abc import Sequence

from rich.table import Table

from pomrl.commands import tables
from pomrl.commands.terminal import console, printable
from pomrl.configuration.study import Study
from pomrl.configuration.wording import number_of
from pomrl.judging import judgements as table_of_judgements
from pomrl.judging import views
from pomrl.judging.claim import claims_of
from pomrl.judging.judgements import Judgement, Judgements
from pomrl.judging.over_variants import counts, ranked
from pomrl.judging.verdict import LOOKS, Verdict

LEGEND = {
    "estimate": "of the decisive comparison, with the interval that decided it, after so many runs",
    "power": "how often the promised number of runs shows the claim by itself",
    "envs": "the share of environments in which it is true, <= where it is that of the hardest part",
    "(s)": "readings were chosen after looking at what the claim is about",
}
"""What is said of columns and marks below the table."""

SHORT = {Verdict.HOLDS: "holds", Verdict.DOES_NOT_HOLD: "not", Verdict.UNDECIDED: "open"}
"""The verdicts in a word."""

MOST_COLUMNS = 4
"""The most variants that have a column each; more are counted."""


def show(study: Study, judged: Judgements, shown: Sequence[str]) -> None:
    """Print the verdicts of a study under these variants."""
    terminal = console()
    if len(shown) > MOST_COLUMNS:
        terminal.print(_counts(study, judged, shown))
        return
    main, *others = shown
    terminal.print(_rows(study, judged, main, others))
    if main in study.described.headline:
        terminal.print(views.answer(study, judged))
    if judged.older:
        terminal.print(printable(views.older_in_words(study, judged)))
    listed = judged.listed(shown)
    for each in listed:
        if each.why:
            terminal.print(printable(f"{each.id} {each.why}"))
    few = [each for each in listed if each.provisional]
    if few:
        terminal.print(f"{number_of(len(few), 'claim')} with fewer runs than their sweeps promise")
    known = {each.id for each in listed}
    has_exact = main == study.described.headline[0]  # claims about no sweep are judged under that variant alone
    lacking = [each.id for each in claims_of(study) if each.id not in known and (each.sweeps or has_exact)]
    if lacking:
        terminal.print(f"not computed: {', '.join(lacking)}")
    if few or lacking:  # a command that is broken cannot be copied
        terminal.print(f"    {printable(f'pomrl reproduce {study.word}')}", soft_wrap=True)


def _rows(study: Study, judged: Judgements, main: str, others: Sequence[str]) -> Table:
    """Return a table for the terminal with a row for each claim."""
    title = f"claims of {study.name}" + ("" if main in study.described.headline else f", variant {main}")
    listed = judged.listed([main, *others])
    known = {"power": any(each.power for each in listed), "envs": any(each.true_in_environments for each in listed)}
    further = [column for column, is_known in known.items() if is_known]
    shown = tables.plain_table(title, "claim", "verdict", *others, "estimate", *further)
    for column, name in zip(shown.columns[2:], others, strict=False):
        column.header = printable_lines(name.replace("_", "_\n"))
    for each in listed:
        mark = " (s)" if each.selected_on else ""
        sentence = f"{each.id}{mark}: {each.statement}" + (f" ({each.where})" if each.where else "")
        verdict = "\n".join([views.in_words(each.verdict), *_topics(each)]) if each.variant == main else ""
        under = [judged.of(name).get(each.id) for name in others]
        words = [SHORT[other.verdict] if other and other.verdict else "" for other in under]
        style = LOOKS[each.verdict].style if each.verdict else ""
        power = f"{100 * each.power.estimate:.0f} %\nof {each.promised}" if each.power else ""
        share = each.true_in_environments
        envs = f"{'<= ' * (len(each.comparisons) > 1)}{100 * share.estimate:.0f} %" if share else ""
        last = [{"power": power, "envs": envs}[column] for column in further]
        cells = [printable_lines(cell) for cell in (sentence, verdict, *words, _numbers(each), *last)]
        shown.add_row(*cells, style=style)
    marked = ["(s)"] if any(each.selected_on for each in listed) else []
    legend = [f"{name}: {LEGEND[name]}" for name in ("estimate", *further, *marked)]
    shown.caption = "; ".join([*legend, f"all comparisons are in {table_of_judgements.FILE}"])
    return shown


def printable_lines(text: str) -> str:
    """Return text of several lines, none of which can control the terminal."""
    return "\n".join(map(printable, text.split("\n")))


def _topics(each: Judgement) -> list[str]:
    """Return a line for each topic of a claim that has topics."""
    topics = each.topics
    return [f"{LOOKS[verdict].symbol} {topic}" for topic, verdict in topics.items()] if len(topics) > 1 else []


def _numbers(each: Judgement) -> str:
    """Return the estimate of the decisive part, what is claimed of it, and the number of runs."""
    part = each.decisive
    if not part.compared:
        return ""
    claimed = f"\nclaimed {part.claimed}" if part.claimed else ""
    runs = f"\n{number_of(part.runs, 'run')}" if part.runs else ""
    return f"{part.found.replace(' ', chr(10), 1)}{claimed}{runs}"


def _counts(study: Study, judged: Judgements, shown: Sequence[str]) -> Table:
    """Return a table with the number of claims that have each verdict under each of many variants."""
    table = tables.plain_table(f"claims of {study.name} under variants", "variant", *map(str, SHORT))
    for name in ranked(judged, shown):
        number = counts(judged.of(name).values())
        tables.add_row(table, name, *(number[verdict] for verdict in SHORT))
    return table
