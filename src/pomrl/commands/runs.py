"""List what is stored: pomrl runs [key=value ...] [--format FORMAT] [--verify | --repair | --prune [--yes]].

The list has the settings in which the stored experiments differ, how many runs of each are complete, and when and by
which code it was computed. With --sweeps it has the published sweeps that each experiment belongs to; the first time
this takes half a minute, because all of them are composed.
"""

import json
from collections.abc import Iterable, Mapping, Sequence
from itertools import accumulate
from pathlib import Path
from typing import Any

import pandas as pd

from pomrl import store
from pomrl.commands.arguments import Parser, add_filters, filters
from pomrl.commands.errors import one_line_errors
from pomrl.commands.progress import progress_of_bytes
from pomrl.commands.repairing import repair, sweeps_by_signature
from pomrl.commands.terminal import exit_with, one_line, print_rows, printable, warn
from pomrl.configuration.importing import find_modules_in
from pomrl.configuration.settings import varying_keys
from pomrl.configuration.wording import number_of
from pomrl.outputs import outputs
from pomrl.running.resources import size
from pomrl.store import StoredExperiment
from pomrl.store.derived import LARGEST
from pomrl.store.everything import Kept, everything, of_experiment
from pomrl.store.origins import HERE

MOST_READ = 3 * 10**11
"""The most bytes that are verified without `--yes`, which takes about an hour."""


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
    parser.add_argument("--yes", action="store_true", help="with --prune: remove it; else: read what is very large")
    arguments = parser.parse_args()
    find_modules_in(Path.cwd())  # of components, whose present code is compared with that of what is stored
    wanted = filters(arguments.filter)
    listed = store.find(**wanted) if wanted else store.all_experiments()
    if wanted and not listed:
        exit_with(f"{store.root()}: no stored experiment matches {' '.join(arguments.filter)}")
    if (arguments.verify or arguments.repair) and not arguments.yes:
        _refuse_much(map(of_experiment, listed))
    unmended = repair(listed) if arguments.repair else []
    kept = map(of_experiment, listed) if wanted else everything()
    if arguments.verify or arguments.repair:
        beside = "" if wanted else " and of what is made of them"
        status = verify(list(kept), f"{len(listed)} stored experiments{beside}")
        for line in unmended:
            warn(line)
        raise SystemExit(status)
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
        print_rows(*_table(rows))


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
        "code": stored.code(),
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


def _table(rows: Sequence[Mapping[str, Any]]) -> tuple[list[str], list[list[Any]]]:
    """Return the head and the rows of a table of stored experiments, sorted by the settings that vary."""
    varying = varying_keys([row["settings"] for row in rows]) if len(rows) > 1 else []
    labels = [label for label in ("sweeps", "tags", "notes") if any(row.get(label) for row in rows)]
    origins = [] if all(row["origin"] == HERE for row in rows) else ["origin"]
    head = ["signature", *varying, "runs", "status", *origins, "computed", "code", *labels]
    body: list[list[Any]] = []
    for row in sorted(rows, key=lambda row: _order(row["settings"], varying)):
        values = [row["settings"].get(key, "") for key in varying]
        made = (row["computed"] or "")[:16]
        lists = [", ".join(row[key]) for key in labels]
        of_origin = [row[key] for key in origins]
        body.append([row["signature"], *values, row["runs"], row["status"], *of_origin, made, row["code"], *lists])
    return head, body


def _order(settings: Mapping[str, Any], keys: Sequence[str]) -> list[tuple[str, Any]]:
    """Return a key that sorts stored experiments by the settings that vary.

    Numbers are sorted by their values; values of different types are sorted by the names of their types.
    """
    values = [settings[key] for key in keys if key in settings]
    return [(type(value).__name__, value if isinstance(value, int | float | str) else str(value)) for value in values]


def _refuse_much(kept: Iterable[Kept]) -> None:
    """End the command where it would take more than an hour or so to read what is kept."""
    if (total := sum(map(_readable, kept))) > MOST_READ:
        exit_with(f"{outputs()}: {size(total)} take long to read; --yes reads them, and filters choose experiments")


def _readable(kept: Kept) -> int:
    """Return the size of what is kept, as far as it is read: larger files are refused."""
    return sum(min(path.stat().st_size, LARGEST) for path in kept.files if path.exists())


def verify(kept: Sequence[Kept], what: str) -> int:
    """Print a line for each fault of what is kept, or that there is none; return the exit status, 1 if there is one."""
    faults: list[str] = []
    sizes = list(map(_readable, kept))
    with progress_of_bytes("read") as advance:
        for each, done in zip(kept, accumulate(sizes), strict=True):
            faults += (found := each.faults())
            for fault in found:
                print(printable(fault))
            advance(done, sum(sizes))
    if not faults:
        print(f"all files of {what} are as they were written")
    return 1 if faults else 0


def prune(kept: Iterable[Kept], *, yes: bool) -> int:
    """List what is kept and not used, and why; remove it with `yes`; return the exit status.

    Folders with files that the store did not write are left out. What cannot be removed does not stop the others.
    """
    unused = [(each, reason) for each in kept if (reason := each.unused())]
    only = {stored.folder: stored.complete() for stored in store.only_copies()} if unused else {}
    lost = [each for each, _ in unused if each.path in only]
    if unused:
        sizes = [size(sum(path.stat().st_size for path in each.files)) for each, _ in unused]
        reasons = [
            f"{why}; the only copy of {number_of(only[each.path], 'run')}" if each.path in only else why
            for each, why in unused
        ]
        rows = [[each.path.name, *row] for (each, _), *row in zip(unused, sizes, reasons, strict=True)]
        print_rows(["name", "size", "why it is not used"], rows)
    if not yes:
        of_lost = f", {len(lost)} of them the only copy of their runs (pomrl adopt may carry them over)" if lost else ""
        print(f"{len(unused)} would be removed{of_lost}{'; --yes removes them' if unused else ''}")
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
