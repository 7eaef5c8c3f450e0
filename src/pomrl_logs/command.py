"""The command `horizon`: advice on the decisions of a log."""

import textwrap
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Annotated

from pomrl.commands.terminal import WIDTH, print_frame, printable
from pomrl.outputs import outputs
from pomrl_logs.follow_up import follow_up
from pomrl_logs.horizon_reports import HorizonReport, horizon_report
from pomrl_logs.log_files import table_name
from pomrl_logs.log_tables import ColumnRoles, read_log
from pomrl_logs.logs import Log

MOST_CHANGES = 20
"""The number of changes that are printed."""

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
    ends: Annotated[Sequence[str], "STATE"] = (),
    bins: Annotated[Sequence[str], "COLUMN=N"] = (),
    missing: Annotated[Sequence[str], "NAME"] = (),
    accept: Annotated[Sequence[str], "FINDING"] = (),
    gamma_eval: float = 0.99,
    after: Annotated[Sequence[Path], "OLD"] = (),
    output: Annotated[Path | None, "FOLDER"] = None,
) -> None:
    """Say what to change in the decisions of a log.

    The command prints what the audit of the log found, the recommendation and the largest changes. It writes a page, a
    figure, and tables of the recommended changes and of gains to a folder.

    Args:
        log: Tables of transitions: .parquet, .csv, .tsv, .jsonl, also .gz.
        task: Its column (default task, if there is one).
        state: Its column, or A,B for several (default state).
        action: Its column, or A,B for several (default action).
        reward: Its column (default reward).
        cost: The column of costs, in the place of rewards.
        next_state: Its column (default next_state, or the state of the next row).
        terminated: The column that says where episodes have ended.
        episode: The column that says which episode a transition is of.
        time: The column by which the rows of an episode are in order.
        ends: States after which nothing is paid.
        bins: Numbers in a state, as N bins.
        missing: Names that mean: missing.
        accept: Findings that are meant.
        gamma_eval: What policies are judged at (default 0.99).
        after: Say instead whether what the log OLD promised came true in LOG.
        output: Default: outputs/horizon/ and the log's name.
    """
    folder = output.expanduser() if output else outputs() / "horizon" / table_name(log[0])
    if not after and folder.exists() and any(folder.iterdir()):
        raise ValueError(
            f"{folder}: there is a report already, and nothing is overwritten; --output names another folder"
        )
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
    )
    read = partial(read_log, roles=roles, bins=_bins(bins), ends=ends, missing=missing, accept=accept)
    new = read(log)
    if after:
        old = read(after)
        _say(*(finding.line for each in (old, new) for finding in each.findings))
        _say(follow_up(old, new, gamma_eval).words)
        return
    report = horizon_report(new, gamma_eval)
    paths = _write(report, new, folder, log[0])
    _print(report, new)
    for path in paths:
        print(path)


def _split(names: str) -> str | list[str]:
    return names.split(",") if "," in names else names


def _bins(words: Sequence[str]) -> dict[str, int]:
    """Return the number of bins of each column; ValueError unless each word is COLUMN=NUMBER."""
    found = dict[str, int]()
    for word in words:
        column, _, count = word.rpartition("=")
        if not column or not count.isdigit() or int(count) < 2:
            raise ValueError(f"--bins must be COLUMN=NUMBER, such as age=5, got {word!r}")
        found[column] = int(count)
    return found


def _say(*sentences: str) -> None:
    for sentence in sentences:
        print(textwrap.fill(printable(sentence), WIDTH))


def _print(report: HorizonReport, log: Log) -> None:
    _say(*log.audit, *report.words[len(report.findings) :], *log.remarks)
    if len(report.changes):
        print_frame(report.changes.head(MOST_CHANGES).round({"gain": 3, "difference": 3, "probability": 2}))
        if len(report.changes) > MOST_CHANGES:
            print(f"and {len(report.changes) - MOST_CHANGES} more, which changes.csv has")


def _write(report: HorizonReport, log: Log, folder: Path, source: Path) -> list[Path]:
    """Write the files of a report, and return their paths."""
    from pomrl.drawing.files import Sidecar, save
    from pomrl.store import files
    from pomrl_logs import figure  # here, because help and errors need no figures
    from pomrl_report.rendering import render

    paths = save(figure.draw(report), folder, "gains", Sidecar("gains", command=f"pomrl horizon {source}"))
    changes, page = folder / "changes.csv", folder / "report.html"
    files.write(changes, report.changes.to_csv(index=False).encode())
    shown = {"title": table_name(source), "report": report, "log": log, "picture": (folder / "gains.png").read_bytes()}
    files.write(page, render("log.html.j2", **shown).encode())
    return [page, changes, *paths]
