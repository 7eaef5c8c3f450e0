"""Define the command `horizon`."""

import hashlib
import shlex
import sys
import textwrap
from collections.abc import Sequence
from datetime import UTC, datetime
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Annotated, Any

from pomrl.planning import check_gamma_eval
from pomrl.reports import WIDTH, outputs, print_frame, printable, warn, write
from pomrl_logs.amounts import amount
from pomrl_logs.follow_up import follow_up
from pomrl_logs.horizon_reports import HorizonReport, horizon_report, longest_time
from pomrl_logs.log_files import table_name
from pomrl_logs.log_tables import ColumnRoles, read_log
from pomrl_logs.logs import Log
from pomrl_logs.recommendations import LIMIT_WORDS, NOT_SHOWN, two_digits
from pomrl_logs.table_columns import TableError

MAX_PRINTED_CHANGES = 20
"""The largest number of printed changes."""

FIGURE, CHANGES, PAGE = "gains", "changes.csv", "report.html"
"""The names of the figure, without suffix, the table of changes, and the page."""

FILES = (PAGE, CHANGES, *(f"{FIGURE}.{suffix}" for suffix in ("pdf", "png", "csv", "json")))
"""The files of a report; the command replaces them."""

TEMPLATES = Path(__file__).with_name("templates")

Column = Annotated[str | None, "COLUMN"]
Columns = Annotated[str, "COLUMN"]


def horizon(  # noqa: PLR0913  (the options of the command)
    log: Sequence[Path],
    /,
    *,
    task: Column = None,
    state: Columns = "state",
    action: Columns = "action",
    reward: Column = None,
    cost: Column = None,
    next_state: Column = None,
    terminated: Column = None,
    episode: Column = None,
    time: Column = None,
    weight: Column = None,
    ends: Annotated[Sequence[str], "STATE"] = (),
    bins: Annotated[Sequence[str], "COLUMN=N"] = (),
    missing: Annotated[Sequence[str], "NAME"] = (),
    dates: Annotated[str | None, "FORM"] = None,
    accept: Annotated[Sequence[str], "FINDING"] = (),
    gamma_eval: float = 0.99,
    after: Annotated[Sequence[Path], "OLD"] = (),
    output: Annotated[Path | None, "FOLDER"] = None,
) -> None:
    """Recommend changes to the decisions recorded in a log.

    The command prints the findings of an audit of the log, the recommendation and the largest changes. It writes a
    page, a figure and tables to a folder, and replaces an earlier report there.

    Args:
        log: Tables with a row for each transition (.parquet, .csv, .tsv, .jsonl, .gz).
        task: Column of tasks (default task, if present).
        state: Column of states, or A,B for several (default state).
        action: Column of actions, or A,B for several (default action).
        reward: Column of rewards (default reward).
        cost: Column of costs, instead of rewards.
        next_state: Column of next states (default next_state, or the state of the next row).
        terminated: Column that is true where episodes terminate.
        episode: Column that identifies episodes.
        time: Column that orders the rows of an episode.
        weight: Column that counts equal transitions.
        ends: States in which episodes end, without later rewards.
        bins: Number of bins of a numeric state or action.
        missing: Codes of missing values, such as NA; episodes end at rows with one.
        dates: Form of dates, such as %d/%m/%Y.
        accept: Findings of the audit to ignore, such as chain.
        gamma_eval: Discount factor of evaluation (default 0.99).
        after: Earlier log: report whether the gain promised for OLD came true in LOG.
        output: Folder of the report (default outputs/horizon/LOG).
    """
    roles = ColumnRoles(
        task=task,
        state=_split(state),
        action=_split(action),
        reward=reward,
        cost=cost,
        next_state=_split(next_state) if next_state else None,
        terminated=terminated,
        episode=episode,
        time=time,
        weight=weight,
    )
    options = {"bins": _bins(bins), "ends": ends, "missing": missing, "dates": dates, "accept": accept}
    load = partial(_read_or_exit, roles=roles, **options)
    check_gamma_eval(gamma_eval)
    new = load(log)
    if after:
        old = load(after)
        _print_longest_time(old, gamma_eval)
        _print_follow_up(old, new, gamma_eval)
    else:
        folder = output.expanduser() if output else outputs() / "horizon" / table_name(log[0])
        _refuse_other_files(folder)
        _print_longest_time(new, gamma_eval)
        _print_report(new, gamma_eval, folder, log)


def _print_longest_time(log: Log, gamma_eval: float) -> None:
    if log.is_large:
        seconds = two_digits(longest_time(log, gamma_eval))
        warn(f"{len(log.states):,} states: the report takes at most about {seconds:,} s")


def _read_or_exit(log: Sequence[Path], **options: Any) -> Log:
    """Read a log, or print a line for each fault and exit."""
    try:
        return read_log(log, **options)
    except TableError as error:
        for line in error.lines:
            print(printable(line), file=sys.stderr)
        raise SystemExit(1) from None


def _refuse_other_files(folder: Path) -> None:
    if folder.exists() and not folder.is_dir():
        raise ValueError(f"{folder}: must be a folder, got a file; choose another one with --output")
    extra = sorted({path.name for path in folder.iterdir()} - {*FILES}) if folder.exists() else []
    if extra:
        raise ValueError(
            f"{folder}: must have only files of an earlier report, got {extra[0]}; choose another folder with --output"
        )


def _split(names: str) -> str | list[str]:
    return names.split(",") if "," in names else names


def _bins(settings: Sequence[str]) -> dict[str, int]:
    bins_by_column = dict[str, int]()
    for setting in settings:
        column, _, count = setting.rpartition("=")
        if not column or not count.isdigit() or int(count) < 2:
            raise ValueError(f"--bins must be COLUMN=NUMBER with at least 2 bins, such as age=5, got {setting!r}")
        bins_by_column[column] = int(count)
    return bins_by_column


def _print_follow_up(old: Log, new: Log, gamma_eval: float) -> None:
    _print_text(*(finding.line for log in (old, new) for finding in log.findings))
    _print_text(follow_up(old, new, gamma_eval).words)


def _print_report(log: Log, gamma_eval: float, folder: Path, sources: Sequence[Path]) -> None:
    import_module("pomrl_report.rendering")  # says what is missing before anything is computed
    report = horizon_report(log, gamma_eval)
    paths = _write(report, log, folder, sources)
    _print_summary(report, log)
    for path in paths:
        print(path)


def _print_text(*sentences: str) -> None:
    for sentence in sentences:
        print(textwrap.fill(printable(sentence), WIDTH))


def _print_summary(report: HorizonReport, log: Log) -> None:
    _print_text(*log.audit, *report.words[len(report.findings) :], *log.remarks)
    if len(changes := report.merged_changes):
        numbers = {name: changes[name].map(amount, na_action="ignore") for name in ("gain", "difference")}
        print_frame(changes.assign(**numbers).head(MAX_PRINTED_CHANGES).round({"probability": 2}))
        if len(changes) > MAX_PRINTED_CHANGES:
            print(f"{len(changes) - MAX_PRINTED_CHANGES} more changes are in {CHANGES}")


def _write(report: HorizonReport, log: Log, folder: Path, sources: Sequence[Path]) -> list[Path]:
    from pomrl.figures import Sidecar, save  # here, because help and errors need no figures
    from pomrl_logs import gain_figure
    from pomrl_report.rendering import render

    command = f"{sys.argv[0]} {shlex.join(sys.argv[1:])}"
    paths = save(gain_figure.draw(report), folder, FIGURE, Sidecar(FIGURE, command=command))
    changes, page = folder / CHANGES, folder / PAGE
    write(changes, report.changes.to_csv(index=False).encode())
    context = {
        "title": table_name(sources[0]),
        "date": datetime.now(UTC).date().isoformat(),
        "command": command,
        "digests": {path.name: _digest(path) for path in sources},
        "not_shown": NOT_SHOWN,
        "limit_words": LIMIT_WORDS,
        "amount": amount,
        "report": report,
        "log": log,
        "picture": (folder / f"{FIGURE}.png").read_bytes(),
    }
    write(page, render("log.html.j2", folder=TEMPLATES, **context).encode())
    return [page, changes, *paths]


def _digest(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
