"""Reviews of two git revisions, for `pomrl diff OLD..NEW`."""

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from pomrl.commands.terminal import print_frame, printable, warn
from pomrl.configuration.composed import number_of
from pomrl.results.tables import format_table, markdown_text
from pomrl.review.changes import LinePair
from pomrl.review.revisions import Answer, find_answer
from pomrl.review.working_copies import open_sides

if TYPE_CHECKING:  # slow to import
    import pandas as pd

RANGE = re.compile(r"([^\s=]*[^\s=./])\.\.([^\s=./][^\s=]*)?")
"""A pattern for OLD..NEW, two git revisions; without NEW, the working files."""

MAX_CHARACTERS = 60_000
"""The largest length of Markdown; the longest tables are left out first."""

MAX_OPEN_ROWS = 20
"""The largest number of rows of a table that is not folded in Markdown."""

MAX_NAMED = 8
"""The largest number of names in a line."""


class Section(NamedTuple):
    """A part of the answer: a heading, lines, and a table."""

    title: str
    lines: Sequence[str] = ()
    frame: "pd.DataFrame | None" = None


def parse_range(text: str) -> tuple[str, str] | None:
    """Split OLD..NEW, or OLD.., into revisions; None for other text."""
    match = None if Path(text).exists() else RANGE.fullmatch(text)
    return (match[1], match[2] or "") if match else None


def compare_revisions(old: str, new: str, form: str, runs: int | None, sweeps: Sequence[str]) -> int:
    """Print what changes between two revisions, and return the exit status."""
    with open_sides(old, new) as sides:
        answer = find_answer(*sides, runs, sweeps, warn)
    lines, sections = list(_summary(answer)), list(_sections(answer, runs))
    if form == "csv":
        _print_csv(sections)
    elif form == "markdown":
        print(format_markdown(lines, sections), end="")
    else:
        _print_text(lines, sections, form)
    return answer.status


def _summary(answer: Answer) -> Iterator[str]:
    """Yield the answer in a line for each part."""
    if answer.errors:
        yield f"no answer: {_listed(answer.errors)}"
    if answer.changes:
        sweeps = {name for pairs in answer.changes.values() for name in _sweep_names(pairs)}
        yield f"settings: {_listed(answer.changes)}; in {number_of(len(sweeps), 'sweep')}"
    else:
        yield "settings: no change"
    if not answer.modules:
        yield "code: no change"
    elif answer.recoded:
        yield f"code: {_listed(answer.modules)}; {_count_renumbered(answer)}"
    else:
        yield f"code: {_listed(answer.modules)}; no experiment with equal settings has another signature"
    if answer.results:
        yield f"results: {_describe_results(answer.results)}"
    if answer.verdicts:
        yield f"verdicts: {number_of(len(answer.verdicts), 'verdict')} turned"


def _sweep_names(pairs: Iterable[LinePair]) -> list[str]:
    return list(dict.fromkeys(pair.line.place.name for pair in pairs if pair.line.place.is_sweep))


def _count_renumbered(answer: Answer) -> str:
    counts = [len(_sweep_names(pairs)) for pairs in (answer.renumbered, answer.recoded)]
    return f"numbers change in {counts[0]} of {counts[1]} sweeps"


def _describe_results(results: Sequence[Mapping[str, Any]]) -> str:
    """Count the experiments with a larger, a smaller and an unclear mean loss."""
    larger = sum(row["difference_lower"] > 0 for row in results)
    smaller = sum(row["difference_upper"] < 0 for row in results)
    unclear = len(results) - larger - smaller
    counts = {"a larger": larger, "a smaller": smaller, "no clear difference in": unclear}
    phrases = [f"{what} mean loss in {count}" for what, count in counts.items() if count]
    return f"{', '.join(phrases)} of {number_of(len(results), 'experiment')}"


def _sections(answer: Answer, runs: int | None) -> Iterator[Section]:
    import pandas as pd

    for message, names in answer.errors.items():
        yield Section(f"no answer: {message}", frame=_name_table(names))
    for message, names in answer.solved_errors.items():
        yield Section(f"could not be composed before: {message}", frame=_name_table(names))
    for description, pairs in answer.changes.items():
        yield Section(description, frame=_place_table(pairs))
    if answer.modules:
        lines = [f"changed modules: {', '.join(answer.modules)}"]
        lines += [f"one run of each experiment with both codes: {_count_renumbered(answer)}"] * bool(answer.recoded)
        yield Section("code", lines, _place_table(answer.renumbered))
    if answer.n_concerned:
        lines = _result_lines(runs, len(answer.results), answer.n_concerned)
        yield Section("results", lines, pd.DataFrame(list(answer.results)))
    if answer.verdicts:
        yield Section("verdicts that turn", frame=pd.DataFrame(list(answer.verdicts)))


def _result_lines(runs: int | None, n_results: int, n_concerned: int) -> list[str]:
    how = f"{number_of(runs, 'run')} of each" if runs else "stored runs; --runs N computes missing ones on both sides"
    line = f"mean planning loss at the largest gamma, averaged over tasks, after less before: {how}"
    note = f"{n_results} of {number_of(n_concerned, 'changed experiment')}; --sweeps NAME shows all, and judges claims"
    return [line, *([note] if runs and n_results < n_concerned else [])]


def _name_table(names: Sequence[str]) -> "pd.DataFrame":
    import pandas as pd

    return pd.DataFrame({"where": list(dict.fromkeys(names))})


def _place_table(pairs: Sequence[LinePair]) -> "pd.DataFrame":
    """Tabulate pairs by sweep, option or file, with the varied values of few new or removed experiments."""
    import pandas as pd

    groups: defaultdict[str, list[LinePair]] = defaultdict(list)
    for pair in pairs:
        groups[pair.line.place.name].append(pair)
    return pd.DataFrame(
        {
            "where": name,
            "variants": ", ".join(dict.fromkeys(pair.line.place.variant for pair in group)) * bool(_sweep_names(group)),
            "experiments": len(group) * bool(_sweep_names(group)),
            "varied": _list_varied(group),
        }
        for name, group in groups.items()
    )


def _list_varied(pairs: Sequence[LinePair]) -> str:
    values = dict.fromkeys(pair.line.varied_text for pair in pairs if not pair.is_whole)
    return "; ".join(values) if len(values) <= MAX_NAMED else ""


def _listed(names: Iterable[str]) -> str:
    names = list(names)
    ending = f" and {len(names) - MAX_NAMED} more" if len(names) > MAX_NAMED else ""
    return "; ".join(names[:MAX_NAMED]) + ending


def _print_text(lines: Sequence[str], sections: Sequence[Section], form: str) -> None:
    for line in lines:
        print(printable(line))
    for section in sections:
        print(f"\n{printable(section.title)}")
        for line in section.lines:
            print(printable(line))
        if section.frame is not None and len(section.frame):
            print_frame(section.frame, form)


def _print_csv(sections: Sequence[Section]) -> None:
    import pandas as pd

    frames = [section.frame.assign(what=section.title) for section in sections if section.frame is not None]
    if frames:
        print_frame(pd.concat(frames, ignore_index=True), "csv")


def format_markdown(lines: Sequence[str], sections: Sequence[Section]) -> str:
    """Format the answer; the longest tables are left out until it is short enough."""
    head = "".join(f"- {markdown_text(printable(line))}\n" for line in lines)
    tables = [_table(section.frame) for section in sections]
    by_length = sorted(range(len(tables)), key=lambda index: len(tables[index]))
    while len(text := head + "".join(map(_section, sections, tables))) > MAX_CHARACTERS and by_length:
        longest = by_length.pop()
        n_rows = tables[longest].count("\n|") - 2
        tables[longest] = f"\n{number_of(max(0, n_rows), 'row')} left out; `--format csv` has all.\n"
    return text[:MAX_CHARACTERS]


def _section(section: Section, table: str) -> str:
    lines = "".join(f"\n{markdown_text(printable(line))}\n" for line in section.lines)
    return f"\n### {markdown_text(printable(section.title))}\n{lines}{table}"


def _table(frame: "pd.DataFrame | None") -> str:
    if frame is None or not len(frame):
        return ""
    table = f"\n{format_table(frame, 'markdown')}"
    if len(frame) <= MAX_OPEN_ROWS:
        return table
    return f"\n<details><summary>{number_of(len(frame), 'row')}</summary>\n{table}\n</details>\n"
