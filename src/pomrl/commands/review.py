"""Reviews of two git revisions, for `pomrl diff OLD..NEW`."""

import csv
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from io import StringIO
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from pomrl import store
from pomrl.commands.terminal import print_frame, printable, warn
from pomrl.configuration.composed import ConfigError, number_of, unknown_key
from pomrl.results.comparison import LOSS_AT_LARGEST, compared_runs, loss_differences, same_problem
from pomrl.results.result import Result
from pomrl.results.tables import format_table, markdown_text
from pomrl.review.changes import Line, Pair, by_change, new_errors, pair, read_lines
from pomrl.review.working_copies import Side, changed_modules, open_sides
from pomrl.store import StoredExperiment

if TYPE_CHECKING:  # slow to import
    import pandas as pd

RANGE = re.compile(r"([^\s=]*[^\s=./])\.\.([^\s=./][^\s=]*)?")
"""A pattern for OLD..NEW, two git revisions; without NEW, the working files."""

MAX_CHARACTERS = 60_000
"""The largest length of Markdown; the longest tables are left out first."""

MAX_OPEN_ROWS = 20
"""The largest number of rows of a table that is not folded in Markdown."""

MAX_SHOWN = 4
"""The largest number of experiments of a sweep with results, unless sweeps are named."""

MAX_NAMED = 8
"""The largest number of names in a line."""


class Section(NamedTuple):
    """A part of the answer: a heading, lines, and a table."""

    title: str
    lines: Sequence[str] = ()
    frame: "pd.DataFrame | None" = None


@dataclass(frozen=True)
class Review:
    """The answer for two revisions."""

    summary: Sequence[str]
    sections: Sequence[Section]
    status: int
    """0 if equal, 1 if different, 2 if a part cannot be composed."""


def parse_range(text: str) -> tuple[str, str] | None:
    """Split OLD..NEW, or OLD.., into revisions; None for other text."""
    match = None if Path(text).exists() else RANGE.fullmatch(text)
    return (match[1], match[2] or "") if match else None


def compare_revisions(old: str, new: str, form: str, runs: int | None, sweeps: Sequence[str]) -> int:
    """Print what changes between two revisions, and return the exit status."""
    with open_sides(old, new) as sides:
        review = _review(*sides, runs, sweeps)
    if form == "csv":
        _print_csv(review)
    elif form == "markdown":
        print(format_markdown(review), end="")
    else:
        _print_text(review, form)
    return review.status


def _review(old: Side, new: Side, runs: int | None, sweeps: Sequence[str]) -> Review:
    import pandas as pd

    compositions = _both(lambda side: side.composition(), old, new)
    lines = [read_lines(composition) for composition in compositions]
    pairs = _narrow(pair(*lines), sweeps)
    errors = new_errors(*(composition["errors"] for composition in compositions))
    solved = new_errors(*(composition["errors"] for composition in reversed(compositions)))
    broken = {name for names in (*errors.values(), *solved.values()) for name in names}
    broken |= {one.line.place.name for one in pairs if f"{one.line.place.study}/" in broken}
    changed = [one for one in pairs if not (one.line.place.name in broken and None in (one.old, one.new))]
    modules = changed_modules(old, new)
    recoded = [one for one in changed if _is_recoded(one)]
    differing = _probe(old, new, recoded) if recoded else []
    groups = by_change(changed)
    affected = [one for one in changed if one.changed and one.line.place.is_sweep]
    concerned = [*affected, *differing]
    shown = concerned if sweeps else _spread(concerned)
    results = _results(old, new, shown, runs)
    is_judged = bool(runs and (sweeps or not new.has_package))
    judged = _judged_anew(old, new, concerned, modules, runs or 0) if is_judged else pd.DataFrame()
    verdicts = pd.concat([_turned_verdicts(old, new), judged])
    sections = [
        *(Section(f"cannot be composed: {message}", frame=_names(names)) for message, names in errors.items()),
        *(
            Section(f"can be composed now, and could not: {message}", frame=_names(names))
            for message, names in solved.items()
        ),
        *(Section(what, frame=_places(group)) for what, group in groups.items()),
        *_code_section(modules, recoded, differing),
        *([Section("results", _result_lines(runs, len(shown), len(concerned)), results)] if concerned else []),
        *([Section("verdicts that turn", frame=verdicts)] if len(verdicts) else []),
    ]
    summary = [*_summary(errors, groups, modules, recoded, differing, results, verdicts)]
    status = 2 if errors else 1 if groups or modules or solved or len(verdicts) else 0
    return Review(summary, sections, status)


def _both(function: Any, old: Side, new: Side) -> list[Any]:
    """Call a function of both sides at once."""
    with ThreadPoolExecutor(2) as threads:
        return list(threads.map(function, (old, new)))


def _narrow(pairs: Sequence[Pair], sweeps: Sequence[str]) -> list[Pair]:
    """Select the pairs of named sweeps, STUDY/NAME or STUDY; ConfigError for an unknown one."""
    if not sweeps:
        return list(pairs)
    places = {one.line.place for one in pairs if one.line.place.is_sweep}
    names = sorted({*(place.name for place in places), *(place.study for place in places)})
    if unknown := [name for name in sweeps if name not in names]:
        raise ConfigError(unknown_key(f"--sweeps {unknown[0]}", unknown[0], names, "unknown sweep"))
    return [one for one in pairs if {one.line.place.name, one.line.place.study} & {*sweeps}]


def _spread(pairs: Sequence[Pair]) -> list[Pair]:
    """Select evenly spaced experiments of each sweep, so that a review of all sweeps is quick."""
    by_name: defaultdict[str, list[Pair]] = defaultdict(list)
    for one in pairs:
        by_name[one.line.place.name].append(one)
    return [
        group[index * len(group) // number]
        for group in by_name.values()
        for number in [min(MAX_SHOWN, len(group))]
        for index in range(number)
    ]


def _is_recoded(one: Pair) -> bool:
    return bool(one.old and one.new) and one.old.signature != one.new.signature and not one.changed  # pyright: ignore


def _places_of(pairs: Iterable[Pair], side: str) -> list[list[str]]:
    lines: list[Line | None] = [getattr(one, side) for one in pairs]
    return [list(place) for place in dict.fromkeys(line.place for line in lines if line)]


def _signatures_of(pairs: Iterable[Pair], side: str) -> list[str]:
    lines: list[Line | None] = [getattr(one, side) for one in pairs]
    return list(dict.fromkeys(line.signature for line in lines if line))


def _compute(old: Side, new: Side, pairs: Sequence[Pair], runs: int) -> None:
    """Compute missing runs of pairs, each side with its own code; first print the cost."""
    requests = [
        (side, {"sweeps": _places_of(pairs, name), "signatures": _signatures_of(pairs, name), "runs": runs})
        for side, name in ((old, "old"), (new, "new"))
        if _missing(side, name, pairs, runs)
    ]
    for side, request in requests:
        cost = side.ask(do="estimate", **request)
        warn(f"{side.name}: {number_of(cost['runs'], 'run')} to compute, about {cost['seconds']:.0f} s in one process")
    for side, request in requests:
        failures = side.ask(do="compute", **request)["failures"]
        for reason in sorted({*failures.values()}):
            warn(f"{side.name}: failed: {reason}")


def _missing(side: Side, name: str, pairs: Sequence[Pair], runs: int) -> bool:
    lines: list[Line | None] = [getattr(one, name) for one in pairs]
    return any(_stored_runs(side.folder / "runs", line) < runs for line in lines if line and line.signature)


def _stored_runs(folder: Path, line: Line) -> int:
    return StoredExperiment(folder / line.signature).complete()


def _probe(old: Side, new: Side, recoded: Sequence[Pair]) -> list[Pair]:
    """Compute one run of each experiment with both codes; return the pairs with other numbers."""
    _compute(old, new, recoded, 1)
    return [one for one in recoded if _differs(old, new, one)]


def _differs(old: Side, new: Side, one: Pair) -> bool:
    assert one.old
    assert one.new
    stored = (
        StoredExperiment(old.folder / "runs" / one.old.signature),
        StoredExperiment(new.folder / "runs" / one.new.signature),
    )
    if not all(experiment.complete() for experiment in stored):
        return True  # a failure on one side
    tables = [experiment.table(1) for experiment in stored]
    return not tables[0].equals(tables[1])


def _results(old: Side, new: Side, pairs: Sequence[Pair], runs: int | None) -> "pd.DataFrame":
    """Tabulate mean losses before and after; without `runs`, of what is stored."""
    import pandas as pd

    whole = [one for one in pairs if one.old and one.new]
    if runs and whole:
        _compute(old, new, whole, runs)
    rows: dict[Any, dict[str, Any]] = {}
    for one in whole:
        assert one.old
        assert one.new
        a, b = _result(old, one.old, runs), _result(new, one.new, runs)
        if a and b:
            rows.setdefault((one.old.signature, one.new.signature), _row(one, a, b))
    return pd.DataFrame(list(rows.values()))


def _result(side: Side, line: Line, runs: int | None) -> Result | None:
    """Return the stored result of an experiment, of the review or of the user."""
    folders = [side.folder / "runs"] if runs else [store.root(), side.folder / "runs"]
    stored = max((StoredExperiment(folder / line.signature) for folder in folders), key=lambda one: one.complete())
    n_runs = min(stored.complete(), runs or stored.complete())
    return Result.of_stored(stored, n_runs, settings=line.settings, name=line.signature) if n_runs else None


def _row(one: Pair, a: Result, b: Result) -> dict[str, Any]:
    paired = same_problem(a, b) or not one.changed
    place = one.line.place
    return {
        "sweep": place.name,
        "variant": place.variant,
        "experiment": " ".join(f"{key}={value}" for key, value in one.line.varied.items()),
        "runs": compared_runs(a, b, paired=paired),
        "before": float(f"{a.regret.mean():.4g}"),
        "after": float(f"{b.regret.mean():.4g}"),
        **loss_differences(a, b, paired=paired)[LOSS_AT_LARGEST].columns("difference"),
    }


def _result_lines(runs: int | None, n_shown: int, n_concerned: int) -> list[str]:
    how = f"{number_of(runs, 'run')} of each" if runs else "stored runs; --runs N computes missing ones on both sides"
    line = f"mean planning loss at the largest gamma, averaged over tasks, after less before: {how}"
    more = f"{n_shown} of {number_of(n_concerned, 'changed experiment')}; --sweeps NAME shows all, and judges claims"
    return [line, *([more] if n_shown < n_concerned else [])]


def _names(names: Sequence[str]) -> "pd.DataFrame":
    import pandas as pd

    return pd.DataFrame({"where": list(dict.fromkeys(names))})


def _places(pairs: Sequence[Pair]) -> "pd.DataFrame":
    import pandas as pd

    rows: defaultdict[str, list[Pair]] = defaultdict(list)
    for one in pairs:
        rows[one.line.place.name].append(one)
    return pd.DataFrame(
        {
            "where": name,
            "variants": ", ".join(dict.fromkeys(one.line.place.variant for one in group if one.line.place.is_sweep)),
            "experiments": sum(one.line.place.is_sweep for one in group),
            "varied": _varied(group),
        }
        for name, group in rows.items()
    )


def _varied(pairs: Sequence[Pair]) -> str:
    """Format the varied values of new or removed experiments, if few."""
    if any(one.old and one.new for one in pairs):
        return ""
    values = dict.fromkeys(" ".join(f"{key}={value}" for key, value in one.line.varied.items()) for one in pairs)
    return "; ".join(values) if len(values) <= MAX_NAMED else ""


def _code_section(modules: Sequence[str], recoded: Sequence[Pair], differing: Sequence[Pair]) -> Iterator[Section]:
    if not modules:
        return
    lines = [f"changed modules: {', '.join(modules)}"]
    if recoded:
        names = [dict.fromkeys(one.line.place.name for one in group) for group in (recoded, differing)]
        lines.append(
            f"one run of each experiment with both codes: numbers change in {len(names[1])} of {len(names[0])} sweeps"
        )
    yield Section("code", lines, _places(differing) if differing else None)


def _turned_verdicts(old: Side, new: Side) -> "pd.DataFrame":
    """Tabulate changed published verdicts, from the files claims.csv of both sides."""
    import pandas as pd

    paths = [path for path in dict.fromkeys([*old.blobs, *new.blobs]) if Path(path).name == "claims.csv"]
    rows: list[dict[str, str]] = []
    for path in (path for path in paths if old.blobs.get(path) != new.blobs.get(path)):
        before, after = _verdicts(old.read(path)), _verdicts(new.read(path))
        for claim, variant in {**before, **after}:
            verdicts = before.get((claim, variant), "-"), after.get((claim, variant), "-")
            if verdicts[0] != verdicts[1]:
                named = {"study": Path(path).parent.name, "claim": claim, "variant": variant}
                rows.append({**named, "before": verdicts[0], "after": verdicts[1], "judged on": "published runs"})
    return pd.DataFrame(rows)


def _judged_anew(old: Side, new: Side, concerned: Iterable[Pair], modules: Sequence[str], runs: int) -> "pd.DataFrame":
    """Tabulate changed verdicts on the runs of the review, about changed sweeps or studies."""
    import pandas as pd

    sweeps: defaultdict[str, list[str]] = defaultdict(list)
    for one in concerned:
        sweeps[one.line.place.study].append(one.line.place.sweep)
    studies = {Path(path).parent.name for path in [*old.blobs, *new.blobs] if Path(path).name == "study.yaml"}
    edited = {name for path in modules for name in Path(path).parts if name in studies}
    request = {**sweeps, **{name: [] for name in edited}}
    if not request:
        return pd.DataFrame()
    try:
        before, after = _both(lambda side: side.ask(do="judge", sweeps=request, runs=runs), old, new)
    except ConfigError as error:
        warn(f"claims cannot be judged: {error}")
        return pd.DataFrame()
    rows = [
        dict(zip(("study", "claim", "variant"), name.split(" ", 2), strict=True))
        | {"before": before.get(name, "-"), "after": after.get(name, "-"), "judged on": f"{runs} runs"}
        for name in {**before, **after}
        if before.get(name) != after.get(name)
    ]
    return pd.DataFrame(rows)


def _verdicts(content: bytes) -> dict[tuple[str, str], str]:
    rows = csv.DictReader(StringIO(content.decode()))
    return {(row["claim"], row["variant"]): row["verdict"] for row in rows if not row.get("part")}


def _summary(
    errors: Mapping[str, Sequence[str]],
    groups: Mapping[str, Sequence[Pair]],
    modules: Sequence[str],
    recoded: Sequence[Pair],
    differing: Sequence[Pair],
    results: "pd.DataFrame",
    verdicts: "pd.DataFrame",
) -> Iterator[str]:
    """Yield the answer in a line for each part."""
    if errors:
        yield f"cannot be composed: {_listed(errors)}"
    if groups:
        sweeps = {one.line.place.name for group in groups.values() for one in group if one.line.place.is_sweep}
        yield f"settings: {_listed(groups)}; in {number_of(len(sweeps), 'sweep')}"
    else:
        yield "settings: no change"
    if not modules:
        yield "code: no change"
    elif not recoded:
        yield f"code: {_listed(modules)}; no experiment with equal settings has another signature"
    else:
        counts = [len({one.line.place.name for one in group}) for group in (differing, recoded)]
        yield f"code: {_listed(modules)}; numbers change in {counts[0]} of {counts[1]} sweeps"
    if len(results):
        yield f"results: {_described(results)}"
    if len(verdicts):
        yield f"verdicts: {number_of(len(verdicts), 'verdict')} turned"


def _described(results: "pd.DataFrame") -> str:
    """Count the experiments with a larger, a smaller and an unclear mean loss."""
    larger, smaller = int((results["difference_lower"] > 0).sum()), int((results["difference_upper"] < 0).sum())
    unclear = len(results) - larger - smaller
    counts = {"a larger": larger, "a smaller": smaller, "no clear difference in": unclear}
    parts = [f"{what} mean loss in {count}" for what, count in counts.items() if count]
    return f"{', '.join(parts)} of {number_of(len(results), 'experiment')}"


def _listed(names: Iterable[str]) -> str:
    names = list(names)
    more = f" and {len(names) - MAX_NAMED} more" if len(names) > MAX_NAMED else ""
    return "; ".join(names[:MAX_NAMED]) + more


def _print_text(review: Review, form: str) -> None:
    for line in review.summary:
        print(printable(line))
    for section in review.sections:
        print(f"\n{printable(section.title)}")
        for line in section.lines:
            print(printable(line))
        if section.frame is not None and len(section.frame):
            print_frame(section.frame, form)


def _print_csv(review: Review) -> None:
    import pandas as pd

    frames = [section.frame.assign(what=section.title) for section in review.sections if section.frame is not None]
    if frames:
        print_frame(pd.concat(frames, ignore_index=True), "csv")


def format_markdown(review: Review) -> str:
    """Format the answer; the longest tables are left out until it is short enough."""
    head = "".join(f"- {markdown_text(printable(line))}\n" for line in review.summary)
    tables = [_table(section.frame) for section in review.sections]
    order = sorted(range(len(tables)), key=lambda index: -len(tables[index]))
    for index in order:
        text = head + "".join(map(_section, review.sections, tables))
        if len(text) <= MAX_CHARACTERS:
            return text
        frame = review.sections[index].frame
        rows = 0 if frame is None else len(frame)
        tables[index] = f"\n{number_of(rows, 'row')} left out; `--format csv` has all.\n"
    text = head + "".join(map(_section, review.sections, tables))
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
