"""List what is stored: pomrl runs [key=value ...] [--format FORMAT] [--verify | --repair | --prune [--yes]].

The list has the settings in which the stored experiments differ, how many runs of each are complete, and when and with
which commit it was computed. With --sweeps it has the published sweeps that each experiment belongs to; the first time
this takes half a minute, because all of them are composed.
"""

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import pandas as pd
from rich.table import Table

from pomrl import store
from pomrl.commands import tables
from pomrl.commands.arguments import Parser, add_filters, filters
from pomrl.commands.errors import one_line_errors
from pomrl.commands.repairing import repair, sweeps_by_signature
from pomrl.commands.terminal import console, exit_with, one_line, printable, warn
from pomrl.configuration.settings import varying_keys
from pomrl.outputs import outputs
from pomrl.running.resources import size
from pomrl.store import StoredExperiment
from pomrl.store.everything import Kept, everything, of_experiment
from pomrl.store.origins import HERE

WIDE = 2000
"""The number of columns of a list that does not go to a terminal, so that each experiment has one line."""


@one_line_errors()
def main() -> None:
    """Run the command.

    The exit status is 1 where nothing matches the filters, faults remain, or something cannot be removed; it is 2 where
    a filter cannot be read.
    """
    parser = Parser(prog="pomrl runs", description="List what is stored.")
    add_filters(parser)
    parser.add_argument("--format", choices=("table", "json", "csv"), default="table", help="form of the list")
    parser.add_argument("--sweeps", action="store_true", help="name the published sweeps that each belongs to")
    task = parser.add_mutually_exclusive_group()
    task.add_argument("--verify", action="store_true", help="print a line for each damaged file instead of the list")
    task.add_argument("--repair", action="store_true", help="compute what is damaged again, then verify")
    task.add_argument("--prune", action="store_true", help="list only what the present code does not use")
    parser.add_argument("--yes", action="store_true", help="with --prune: remove it")
    arguments = parser.parse_args()
    wanted = filters(arguments.filter)
    listed = store.find(**wanted) if wanted else store.all_experiments()
    if wanted and not listed:
        exit_with(f"{store.root()}: no stored experiment matches {' '.join(arguments.filter)}")
    if arguments.repair:
        repair(listed)
    kept = map(of_experiment, listed) if wanted else everything()
    if arguments.verify or arguments.repair:
        beside = "" if wanted else " and of what is made of them"
        raise SystemExit(verify(kept, f"{len(listed)} stored experiments{beside}"))
    if arguments.prune:
        raise SystemExit(prune(kept, yes=arguments.yes))
    show(listed, arguments.format, sweeps=arguments.sweeps)


def show(listed: Sequence[StoredExperiment], form: str, *, sweeps: bool = False) -> None:
    """Print the list of stored experiments as a table, as JSON, or as CSV, if wanted with the sweeps they belong to."""
    if form == "table" and not listed:
        warn(f"{store.root()}: nothing is stored yet")
        return
    rows = [_row(stored) for stored in listed]
    if sweeps:
        names = sweeps_by_signature()
        rows = [{**row, "sweeps": names.get(row["signature"], [])} for row in rows]
    if form == "json":
        print(json.dumps(rows, indent=2))
    elif form == "csv":
        print(_csv(rows), end="")
    else:
        console(width=WIDE).print(_table(rows))


def _row(stored: StoredExperiment) -> dict[str, Any]:
    """Return what the list says of a stored experiment; its settings are under `settings`."""
    manifest = stored.manifest()
    made = manifest.provenance if manifest else None
    return {
        "signature": stored.signature,
        "settings": stored.flat_settings(),
        "runs": stored.complete(),
        "origin": stored.origin(),
        "status": stored.status(),
        "tags": list(manifest.tags) if manifest else [],
        "notes": list(manifest.notes) if manifest else [],
        "computed": made.start if made else None,
        "commit": made.commit if made else None,
        "dirty": made.dirty if made else None,
    }


def _csv(rows: Sequence[Mapping[str, Any]]) -> str:
    """Return the list as CSV, with a column for each setting."""
    if not rows:
        return ""
    lists = [key for key in ("sweeps", "tags", "notes") if key in rows[0]]
    flat = [{"signature": "", **row["settings"], **row, **{key: ", ".join(row[key]) for key in lists}} for row in rows]
    frame = pd.DataFrame(flat).drop(columns="settings")
    shown = frame.map(lambda value: printable(value) if isinstance(value, str) else value)
    return shown.to_csv(index=False, lineterminator="\n")


def _table(rows: Sequence[Mapping[str, Any]]) -> Table:
    """Return a table with a row for each stored experiment, sorted by the settings that vary."""
    varying = varying_keys([row["settings"] for row in rows]) if len(rows) > 1 else []
    labels = [label for label in ("sweeps", "tags", "notes") if any(row.get(label) for row in rows)]
    origins = [] if all(row["origin"] == HERE for row in rows) else ["origin"]
    columns = ("signature", *varying, "runs", "status", *origins, "computed", "commit", *labels)
    table = tables.plain_table(str(store.root()), *columns)
    for row in sorted(rows, key=lambda row: _order(row["settings"], varying)):
        commit = (row["commit"] or "")[:7] + ("+" if row["dirty"] else "")
        values = [row["settings"].get(key, "") for key in varying]
        made = (row["computed"] or "")[:16]
        lists = [", ".join(row[key]) for key in labels]
        of_origin = [row[key] for key in origins]
        tables.add_row(table, row["signature"], *values, row["runs"], row["status"], *of_origin, made, commit, *lists)
    return table


def _order(settings: Mapping[str, Any], keys: Sequence[str]) -> list[tuple[str, Any]]:
    """Return a key that sorts stored experiments by the settings that vary.

    Numbers are sorted by their values; values of different types are sorted by the names of their types.
    """
    values = [settings[key] for key in keys if key in settings]
    return [(type(value).__name__, value if isinstance(value, int | float | str) else str(value)) for value in values]


def verify(kept: Iterable[Kept], what: str) -> int:
    """Print a line for each fault of what is kept, or that there is none; return the exit status, 1 if there is one."""
    faults = [fault for each in kept for fault in each.faults()]
    for fault in faults:
        print(printable(fault))
    if not faults:
        print(f"all files of {what} are as they were written")
    return 1 if faults else 0


def prune(kept: Iterable[Kept], *, yes: bool) -> int:
    """List what is kept and not used, and why; remove it with `yes`; return the exit status.

    Folders with files that the store did not write are left out. What cannot be removed does not stop the others.
    """
    unused = [(each, reason) for each in kept if (reason := each.unused())]
    table = tables.plain_table(str(outputs()), "name", "size", "why it is not used")
    for each, reason in unused:
        tables.add_row(table, each.path.name, size(sum(path.stat().st_size for path in each.files)), reason)
    if unused:
        console(width=WIDE).print(table)
    if not yes:
        print(f"{len(unused)} would be removed{'; --yes removes them' if unused else ''}")
        return 0
    removed = sum(_is_removed(each) for each, _ in unused)
    print(f"{removed} removed")
    return 1 if removed < len(unused) else 0


def _is_removed(kept: Kept) -> bool:
    """Remove something; print a line if that is not possible; return whether it was."""
    try:
        kept.remove()
    except (store.StoreError, OSError) as error:
        warn(one_line(error))
        return False
    return True
