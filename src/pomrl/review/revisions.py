"""Find what changes between two revisions: settings, code, results and verdicts."""

import csv
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from io import StringIO
from pathlib import Path
from typing import Any

from pomrl import store
from pomrl.configuration.composed import ConfigError, number_of, unknown_key
from pomrl.results.comparison import LOSS_AT_LARGEST, compared_runs, loss_differences, same_problem
from pomrl.results.result import Result
from pomrl.review.changes import Line, LinePair, by_change, new_errors, pair_lines, read_lines
from pomrl.review.working_copies import Side, changed_modules
from pomrl.store import StoredExperiment

MAX_SHOWN = 4
"""The largest number of experiments of a sweep with results, unless sweeps are named."""

Report = Callable[[str], object]
"""A function of a line about the cost."""


@dataclass(frozen=True)
class Answer:
    """The changes between two revisions."""

    errors: Mapping[str, Sequence[str]]
    """Where the new side cannot be composed, computed or judged, by message."""
    solved_errors: Mapping[str, Sequence[str]]
    """Where only the old side cannot be composed, by message."""
    changes: Mapping[str, Sequence[LinePair]]
    """The pairs with each changed setting, and new, removed and renamed ones, by description."""
    modules: Sequence[str]
    """The changed modules."""
    recoded: Sequence[LinePair]
    """The experiments with equal settings and other signatures."""
    renumbered: Sequence[LinePair]
    """Those of them with other numbers in their first run."""
    results: Sequence[Mapping[str, Any]]
    """The mean losses of an experiment before and after, and the interval of their difference."""
    n_concerned: int
    """Experiments with changed settings or numbers; `results` has some of them."""
    verdicts: Sequence[Mapping[str, str]]
    """The verdicts that turn."""

    @property
    def status(self) -> int:
        """Return 2 with errors, otherwise 1 if anything differs, and 0 if nothing does."""
        differs = self.changes or self.modules or self.solved_errors or self.verdicts
        return 2 if self.errors else 1 if differs else 0


def find_answer(old: Side, new: Side, runs: int | None, sweeps: Sequence[str], report: Report) -> Answer:
    """Compare two sides in settings, code, results and verdicts.

    `runs` are computed for changed experiments; without, stored ones are compared. `sweeps` narrow the answer, to
    STUDY/NAME or STUDY. ConfigError if a side has no answer at all, or a sweep is unknown.
    """
    compositions = _ask_both(lambda side: side.composition(), old, new)
    errors = new_errors(*(composition["errors"] for composition in compositions))
    solved_errors = new_errors(*(composition["errors"] for composition in reversed(compositions)))
    pairs = _narrow(pair_lines(*map(read_lines, compositions)), sweeps)
    pairs = _without_broken(pairs, [name for names in (*errors.values(), *solved_errors.values()) for name in names])
    modules = changed_modules(old, new)
    recoded = [pair for pair in pairs if pair.is_recoded]
    failures = _compute(old, new, recoded, 1, report)
    renumbered = [pair for pair in recoded if not {*pair.signatures} & {*failures} and _differs(old, new, pair)]
    concerned = [*(pair for pair in pairs if pair.changed_settings and pair.line.place.is_sweep), *renumbered]
    compared = concerned if sweeps else _spread(concerned)
    if runs:
        failures |= _compute(old, new, [pair for pair in compared if pair.is_whole], runs, report)
    new_verdicts: list[dict[str, str]] = []
    if runs and (sweeps or not new.has_package):
        try:
            new_verdicts = _judge_anew(old, new, concerned, modules, runs, report)
        except ConfigError as error:
            errors = {**errors, str(error): ["claims"]}
    return Answer(
        errors={**errors, **_failed_places(pairs, failures)},
        solved_errors=solved_errors,
        changes=by_change(pairs),
        modules=modules,
        recoded=recoded,
        renumbered=renumbered,
        results=_compare_results(old, new, compared, runs),
        n_concerned=len(concerned),
        verdicts=[*_turned_verdicts(old, new), *new_verdicts],
    )


def _ask_both(request: Callable[[Side], Mapping[str, Any]], old: Side, new: Side) -> list[Any]:
    """Send a request to both sides at once."""
    with ThreadPoolExecutor(2) as threads:
        return list(threads.map(request, (old, new)))


def _without_broken(pairs: Sequence[LinePair], broken: Sequence[str]) -> list[LinePair]:
    """Leave out the entries missing on a side with errors; `STUDY/` stands for a study."""
    return [
        pair for pair in pairs if pair.is_whole or not {pair.line.place.name, f"{pair.line.place.study}/"} & {*broken}
    ]


def _narrow(pairs: Sequence[LinePair], sweeps: Sequence[str]) -> list[LinePair]:
    """Select the pairs of named sweeps, STUDY/NAME or STUDY; ConfigError for an unknown one."""
    if not sweeps:
        return list(pairs)
    known_sweeps = {pair.line.place for pair in pairs if pair.line.place.is_sweep}
    names = sorted({*(sweep.name for sweep in known_sweeps), *(sweep.study for sweep in known_sweeps)})
    if unknown := [name for name in sweeps if name not in names]:
        raise ConfigError(unknown_key(f"--sweeps {unknown[0]}", unknown[0], names, "unknown sweep"))
    return [pair for pair in pairs if {pair.line.place.name, pair.line.place.study} & {*sweeps}]


def _spread(pairs: Sequence[LinePair]) -> list[LinePair]:
    """Select evenly spaced experiments of each sweep, so that a review of all sweeps is quick."""
    by_name: defaultdict[str, list[LinePair]] = defaultdict(list)
    for pair in pairs:
        by_name[pair.line.place.name].append(pair)
    return [
        group[index * len(group) // number]
        for group in by_name.values()
        for number in [min(MAX_SHOWN, len(group))]
        for index in range(number)
    ]


def _compute(old: Side, new: Side, pairs: Sequence[LinePair], runs: int, report: Report) -> dict[str, str]:
    """Compute missing runs of pairs, each side with its own code; return reasons of failures by signature."""
    requests = [
        (side, {"sweeps": _listed_places(lines), "signatures": [line.signature for line in lines], "runs": runs})
        for side, all_lines in ((old, [pair.old for pair in pairs]), (new, [pair.new for pair in pairs]))
        for lines in [[line for line in all_lines if line and _stored(side, line).complete() < runs]]
        if lines
    ]
    for side, request in requests:
        _report_cost(side, request, report)
    failures: dict[str, str] = {}
    for side, request in requests:
        failures |= side.ask(do="compute", **request)["failures"]
    return failures


def _report_cost(side: Side, request: Mapping[str, Any], report: Report) -> None:
    cost = side.ask(do="estimate", **request)
    if cost["runs"]:
        report(
            f"{side.name}: {number_of(cost['runs'], 'run')} to compute, about {cost['seconds']:.0f} s in one process"
        )


def _listed_places(lines: Iterable[Line]) -> list[list[str]]:
    return [list(sweep) for sweep in dict.fromkeys(line.place for line in lines)]


def _stored(side: Side, line: Line) -> StoredExperiment:
    """Return the experiment in the store of a side's reviews."""
    return StoredExperiment(side.folder / "runs" / line.signature)


def _failed_places(pairs: Sequence[LinePair], failures: Mapping[str, str]) -> dict[str, list[str]]:
    """Group the sweeps with failed experiments by reason."""
    sweeps_by_reason: defaultdict[str, list[str]] = defaultdict(list)
    for pair in pairs:
        for signature in pair.signatures:
            if signature in failures:
                sweeps_by_reason[failures[signature]].append(pair.line.place.name)
    return dict(sweeps_by_reason)


def _differs(old: Side, new: Side, pair: LinePair) -> bool:
    """Return whether the first runs of both codes differ in any number."""
    tables = [_stored(side, line).table(1) for side, line in ((old, pair.old), (new, pair.new)) if line]
    return not tables[0].equals(tables[1])


def _compare_results(old: Side, new: Side, pairs: Sequence[LinePair], runs: int | None) -> list[Mapping[str, Any]]:
    """List mean losses before and after, of each pair of signatures once."""
    rows: dict[Any, dict[str, Any]] = {}
    for pair in pairs:
        results = [_load(side, line, runs) for side, line in ((old, pair.old), (new, pair.new)) if line]
        loaded = [result for result in results if result]
        if len(loaded) == 2:
            rows.setdefault(tuple(pair.signatures), _row(pair, *loaded))
    return list(rows.values())


def _load(side: Side, line: Line, runs: int | None) -> Result | None:
    """Load the first runs of an experiment; without `runs`, all stored ones of the review or the user."""
    candidates = [_stored(side, line), *([] if runs else [StoredExperiment(store.root() / line.signature)])]
    stored = max(candidates, key=StoredExperiment.complete)
    n_runs = min(stored.complete(), runs or stored.complete())
    return Result.of_stored(stored, n_runs, settings=line.settings, name=line.signature) if n_runs else None


def _row(pair: LinePair, before: Result, after: Result) -> dict[str, Any]:
    paired = same_problem(before, after) or not pair.changed_settings
    place = pair.line.place
    return {
        "sweep": place.name,
        "variant": place.variant,
        "experiment": pair.line.varied_text,
        "runs": compared_runs(before, after, paired=paired),
        "before": float(f"{before.regret.mean():.4g}"),
        "after": float(f"{after.regret.mean():.4g}"),
        **loss_differences(before, after, paired=paired)[LOSS_AT_LARGEST].columns("difference"),
    }


def _turned_verdicts(old: Side, new: Side) -> list[dict[str, str]]:
    """List changed published verdicts, from the files claims.csv of both sides."""
    paths = [path for path in dict.fromkeys([*old.blobs, *new.blobs]) if Path(path).name == "claims.csv"]
    rows: list[dict[str, str]] = []
    for path in (path for path in paths if old.blobs.get(path) != new.blobs.get(path)):
        before, after = _verdicts(old.read(path)), _verdicts(new.read(path))
        for claim, variant in {**before, **after}:
            verdicts = before.get((claim, variant), "-"), after.get((claim, variant), "-")
            if verdicts[0] != verdicts[1]:
                named = {"study": Path(path).parent.name, "claim": claim, "variant": variant}
                rows.append({**named, "before": verdicts[0], "after": verdicts[1], "judged on": "published runs"})
    return rows


def _judge_anew(
    old: Side, new: Side, concerned: Iterable[LinePair], modules: Sequence[str], runs: int, report: Report
) -> list[dict[str, str]]:
    """Judge claims about changed sweeps and studies anew, and list changed verdicts."""
    sweeps: defaultdict[str, list[str]] = defaultdict(list)
    for pair in concerned:
        sweeps[pair.line.place.study].append(pair.line.place.sweep)
    studies = {Path(path).parent.name for path in [*old.blobs, *new.blobs] if Path(path).name == "study.yaml"}
    edited_studies = {name for path in modules for name in Path(path).parts if name in studies}
    request = {"claims": {**sweeps, **{name: [] for name in edited_studies}}, "runs": runs}
    if not request["claims"]:
        return []
    for side in (old, new):
        _report_cost(side, request, report)
    before, after = _ask_both(lambda side: side.ask(do="judge", **request), old, new)
    return [
        dict(zip(("study", "claim", "variant"), name.split(" ", 2), strict=True))
        | {"before": before.get(name, "-"), "after": after.get(name, "-"), "judged on": f"{runs} runs"}
        for name in {**before, **after}
        if before.get(name) != after.get(name)
    ]


def _verdicts(content: bytes) -> dict[tuple[str, str], str]:
    rows = csv.DictReader(StringIO(content.decode()))
    return {(row["claim"], row["variant"]): row["verdict"] for row in rows}
