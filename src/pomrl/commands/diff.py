"""The command `pomrl diff`."""

import io
import json
import os
import re
import shlex
import subprocess
import sys
import tarfile
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from tempfile import TemporaryDirectory
from textwrap import fill
from typing import TYPE_CHECKING, Annotated, Any, Literal

from pomrl import store
from pomrl.commands import published_sweeps
from pomrl.commands.errors import one_line_errors
from pomrl.commands.terminal import print_frame, printable
from pomrl.configuration.composed import ConfigError
from pomrl.configuration.settings import varying_keys
from pomrl.configuration.sources import PUBLISHED, Sources
from pomrl.results.comparison import (
    LOSS_AT_LARGEST,
    Pair,
    compared_runs,
    differences,
    effects,
    group_pairs,
    loss_differences,
    nearest,
    same_problem,
)
from pomrl.results.result import Result
from pomrl.results.selection import PREVIOUS, resolve
from pomrl.results.tables import markdown_text
from pomrl.store import StoredExperiment

if TYPE_CHECKING:  # slow to import
    import pandas as pd

RANGE = re.compile(r"([^\s=]*[^\s=./])\.\.([^\s=./][^\s=]*)?")
"""A pattern for OLD..NEW, two git revisions; without NEW, the working files."""

Published = Mapping[tuple[str, str, str], Mapping[str, Any]]
"""The results of `compose_published`, by study, sweep and variant."""

MAX_LINE_CHARACTERS = 78
"""The maximum length of a line."""


@one_line_errors(ValueError, status=2)
def diff(
    a: str,
    /,
    *b: Annotated[str, "B"],
    config_dir: Path | None = None,
    format: Literal["text", "csv", "markdown", "latex"] = "text",
) -> None:
    """Show differences between experiments, in settings and results.

    Each experiment of B is compared with the most similar one of A, and pairs with equal differences are grouped. A
    alone compares results of the previous and the present code. For older code, give both: "tag=dev code=LABEL"
    "tag=dev". OLD..NEW, two git revisions, lists published sweeps with changed settings; main.. compares main with the
    working files. The exit status is 0 if equal, 1 if different, and 2 on error, as in diff(1).

    Args:
        a: Settings, such as "estimator=pomrl sigma=0.01,0.02"; or a signature, a folder, or OLD..NEW.
        b: Settings, signatures or folders to compare with A.
        config_dir: A folder like conf/ with your own options.
        format: The format of tables (default: text).
    """
    sources = PUBLISHED.with_options(config_dir)
    _check_repeated([a, *b])
    if not b and (revisions := parse_range(a)):
        raise SystemExit(1 if compare_revisions(*revisions, format) else 0)
    if a and not b and "=" not in a:
        raise ConfigError(f"{a}: only settings can be compared with the previous code; give B to compare with")
    if b:
        pairs = [pair for other in b for pair in nearest(sides(a, sources), sides(other, sources))]
    else:
        pairs = _select_code_changes(nearest(sides(f"{a} code={PREVIOUS}", sources), sides(a, sources)), a)
    if groups := group_pairs(pairs):
        show(groups, format)
    else:
        print("no difference")
    raise SystemExit(1 if groups else 0)


def _check_repeated(selections: Sequence[str]) -> None:
    for index, text in enumerate(selections):
        if "=" in text and text in selections[:index]:
            raise ConfigError(f"{text} is given twice; quote a selection of several words")


def sides(text: str, sources: Sources) -> list[Result]:
    """Return the results of an argument's experiments; ConfigError without any."""
    matches, _ = resolve(shlex.split(text), sources=sources)
    if not matches:
        remedy = "give B to compare with other settings" if f"code={PREVIOUS}" in text else "pomrl runs lists all"
        raise ConfigError(f"no stored experiments for {text or 'the defaults'}; {remedy}")
    return [match.result(text) for match in matches]


def _select_code_changes(pairs: Sequence[Pair], text: str) -> list[Pair]:
    code_changes = [(a, b) for a, b in pairs if {*differences([a.settings, b.settings])} <= {"code"}]
    if pairs and not code_changes:
        changed = ", ".join(key for key in differences([side.settings for side in pairs[0]]) if key != "code")
        start = f"{text or 'the defaults'}: results of the previous code also differ in {changed}"
        raise ConfigError(f"{start}; give both A and B, with code=all")
    return code_changes


def show(groups: Sequence[Sequence[Pair]], form: str) -> None:
    """Print groups of pairs with common differences and effects."""
    import pandas as pd

    if form == "csv":
        tables = [effects(group).assign(changed="; ".join(_changed_settings(group))) for group in groups]
        print_frame(pd.concat(tables, ignore_index=True), form)
        return
    for group in groups:
        for line in [*_changed_settings(group, whole=form != "text"), *_remarks(group)]:
            text = f"- {markdown_text(printable(line))}" if form == "markdown" else printable(line)
            print(fill(text, MAX_LINE_CHARACTERS, subsequent_indent="  ", break_on_hyphens=False))
        if len(table := effects(group)):
            print()
            print_frame(table, form)
        print()


def _changed_settings(group: Sequence[Pair], *, whole: bool = False) -> list[str]:
    settings = [side.settings for side in group[0]]
    changed = differences(settings)
    keys = [*varying_keys(settings), *(changed if whole else [])]
    return [f"{key}: {changed[key][0]} -> {changed[key][1]}" for key in dict.fromkeys(keys)]


def _remarks(group: Sequence[Pair]) -> Iterator[str]:
    if any(a.runs and b.runs for a, b in group):
        pairs = "in pairs over runs" if same_problem(*group[0]) else "not paired: the problems differ"
        yield f"second minus first, averaged over tasks, {pairs}"
    keys = varying_keys([a.settings for a, _ in group])
    for pair in group:
        if missing := list(dict.fromkeys(side.name for side in pair if not side.runs)):
            where = "".join(f"{key}={pair[0].settings.get(key)}: " for key in keys)
            commands = " and ".join(f"pomrl run -m {name}" for name in missing)
            yield f"{where}no stored runs to compare; to compute them: {commands}"


@dataclass(frozen=True)
class ExperimentChange:
    """A changed, added or removed experiment of a published sweep."""

    sweep: str
    variant: str
    varied: Mapping[str, Any]
    old: Mapping[str, Any] | None
    new: Mapping[str, Any] | None

    @cached_property
    def what(self) -> str:
        """The changed settings, as `key: old -> new; ...`."""
        if self.old is None or self.new is None:
            return "added experiments" if self.old is None else "removed experiments"
        changed = differences([self.old["settings"], self.new["settings"]])
        return "; ".join(f"{key}: {old} -> {new}" for key, (old, new) in changed.items())

    @cached_property
    def sides(self) -> tuple[Result | None, Result | None]:
        return _side(self.old), _side(self.new)


def _side(experiment: Mapping[str, Any] | None) -> Result | None:
    stored = StoredExperiment(store.root() / experiment["signature"]) if experiment else None
    if not experiment or not stored or not (runs := stored.complete()):
        return None
    return Result.of_stored(stored, runs, settings=experiment["settings"], name=stored.signature)


def parse_range(text: str) -> tuple[str, str] | None:
    """Split OLD..NEW, or OLD.., into revisions; None for other text."""
    match = None if Path(text).exists() else RANGE.fullmatch(text)
    return (match[1], match[2] or "") if match else None


def compare_revisions(old: str, new: str, form: str) -> bool:
    """Print changes of published sweeps; return whether there are any."""
    before, after = compose_revisions(old, new)
    changes = [change for key in {**before, **after} for change in _changes(key, before.get(key), after.get(key))]
    if form == "csv":
        print_frame(_sweeps(changes, what=True), form)
    else:
        _print_changes(changes, form)
        _print_code(before, after)
        if not changes:
            print("no published sweep has changed settings")
    return bool(changes)


def compose_revisions(old: str, new: str) -> tuple[Published, Published]:
    """Compose the published sweeps of two revisions, each with its own code.

    An empty `new` stands for the working files.

    Raises:
        ConfigError: A revision does not exist, or its sweeps cannot be composed.
    """
    with ExitStack() as stack:
        folders = [_checkout(revision, Path(stack.enter_context(TemporaryDirectory()))) for revision in (old, new)]
        processes = [stack.enter_context(_compose(folder)) for folder in folders]
        ended = [process.communicate() for process in processes]
        for revision, process, (_, errors) in zip((old, new), processes, ended, strict=True):
            if process.returncode:
                reason = (errors.decode().strip().splitlines() or ["no reason given"])[-1]
                raise ConfigError(f"{revision or 'working files'}: sweeps cannot be composed ({reason})")
    before, after = ({_key(line): line for line in json.loads(out)} for out, _ in ended)
    return before, after


def _key(line: Mapping[str, Any]) -> tuple[str, str, str]:
    return line["study"], line["sweep"], line["variant"]


def _checkout(revision: str, folder: Path) -> Path:
    top = Path(_git("rev-parse", "--show-toplevel").decode().strip())
    if revision:
        archive = io.BytesIO(_git("-C", str(top), "archive", "--format=tar", revision, "--", "src", "conf"))
        with tarfile.open(fileobj=archive) as files:
            files.extractall(folder, filter="data")
    return folder if revision else top


def _git(*arguments: str) -> bytes:
    try:
        return subprocess.run(["git", *arguments], check=True, capture_output=True).stdout
    except FileNotFoundError as error:
        raise ConfigError("git must be installed to compare revisions") from error
    except subprocess.CalledProcessError as error:
        name = next(word for word in arguments if word[0].isalpha())
        lines = error.stderr.decode().strip().splitlines()
        raise ConfigError(f"git {name}: {lines[-1] if lines else error}") from error


def _compose(folder: Path) -> subprocess.Popen[bytes]:
    text = Path(published_sweeps.__file__).read_text(encoding="utf-8")
    environment = {**os.environ, "PYTHONPATH": str(folder / "src")}
    command = [sys.executable, "-P", "-c", text]
    return subprocess.Popen(command, cwd=folder, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE)


def _changes(
    key: tuple[str, str, str], old: Mapping[str, Any] | None, new: Mapping[str, Any] | None
) -> Iterator[ExperimentChange]:
    if old and new and old["digest"] == new["digest"]:
        return
    sides = [_by_varied(side) for side in (old, new)]
    for varied in {**sides[0], **sides[1]}:
        a, b = (side.get(varied) for side in sides)
        if a is None or b is None or differences([a["settings"], b["settings"]]):
            experiment = a or b or {}
            yield ExperimentChange(f"{key[0]}/{key[1]}", key[2], experiment["varied"], a, b)


def _by_varied(side: Mapping[str, Any] | None) -> dict[str, Mapping[str, Any]]:
    return {repr(experiment["varied"]): experiment for experiment in (side["experiments"] if side else ())}


def _print_changes(changes: Sequence[ExperimentChange], form: str) -> None:
    groups: defaultdict[str, list[ExperimentChange]] = defaultdict(list)
    for change in changes:
        groups[change.what].append(change)
    for what, group in groups.items():
        print(f"### {markdown_text(printable(what))}\n" if form == "markdown" else printable(what))
        print_frame(_sweeps(group), form)
        print()
        if len(losses := _losses(group)):
            print_frame(losses, form)
            print()


def _sweeps(changes: Sequence[ExperimentChange], *, what: bool = False) -> "pd.DataFrame":
    import pandas as pd

    rows: defaultdict[tuple[str, ...], list[ExperimentChange]] = defaultdict(list)
    for change in changes:
        rows[(change.what, change.sweep) if what else (change.sweep,)].append(change)
    names = ["what", "sweep"] if what else ["sweep"]
    return pd.DataFrame(
        {
            **dict(zip(names, key, strict=True)),
            "variants": ", ".join(dict.fromkeys(change.variant for change in group)),
            "experiments": len(group),
            "stored before": sum(change.sides[0] is not None for change in group),
            "stored after": sum(change.sides[1] is not None for change in group),
        }
        for key, group in rows.items()
    )


def _losses(changes: Sequence[ExperimentChange]) -> "pd.DataFrame":
    import pandas as pd

    rows: dict[tuple[str, str], dict[str, Any]] = {}
    for change in changes:
        a, b = change.sides
        if a and b:
            paired = same_problem(a, b)
            values = " ".join(f"{key}={value}" for key, value in change.varied.items())
            rows.setdefault(
                (a.name, b.name),
                {"sweep": change.sweep, "experiment": values, "runs": compared_runs(a, b, paired=paired)}
                | {"paired": paired}
                | loss_differences(a, b, paired=paired)[LOSS_AT_LARGEST].columns("difference"),
            )
    return pd.DataFrame(list(rows.values()))


def _print_code(before: Published, after: Published) -> None:
    pairs = [(before[key], after[key]) for key in before.keys() & after.keys()]
    edited = [
        1
        for old, new in pairs
        if old["digest"] == new["digest"]
        and [experiment["signature"] for experiment in old["experiments"]]
        != [experiment["signature"] for experiment in new["experiments"]]
    ]
    if edited:
        print(f"{len(edited)} of {len(pairs)} pairs of sweep and variant have equal settings but different code")
