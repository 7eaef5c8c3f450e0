"""List what is stored: pomrl runs [key=value ...] [--format FORMAT] [--verify | --prune [--yes]].

The list has the settings in which the stored experiments differ, how many runs of each are complete, and when and by
which code it was computed. What is damaged is computed again by the pomrl run that computed it.
"""

import time
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

import pandas as pd

from pomrl import store
from pomrl.commands.arguments import Parser, add_format, filters
from pomrl.commands.terminal import exit_with, print_frame, printable, warn
from pomrl.configuration.importing import find_modules_in
from pomrl.configuration.settings import varying_keys
from pomrl.outputs import outputs
from pomrl.results.chosen_runs import order
from pomrl.store import StoredExperiment
from pomrl.store.derived import DerivedFiles
from pomrl.store.manifests import Manifest

ABANDONED = 3600.0
"""Seconds after which a temporary file is that of a process which was killed."""


def main(parser: Parser) -> None:
    """Run the command; the exit status is 1 where nothing matches the filters, or a file is damaged."""
    parser.add_argument("filter", nargs="*", metavar="KEY=VALUE", help="only those with this setting: sigma=0.01,0.02")
    add_format(parser)
    task = parser.add_mutually_exclusive_group()
    task.add_argument("--verify", action="store_true", help="print a line for each damaged file instead of the list")
    task.add_argument("--prune", action="store_true", help="list only what the present code does not use")
    parser.add_argument("--yes", action="store_true", help="with --prune: remove it")
    arguments = parser.parse_args()
    find_modules_in(Path.cwd())  # of components, whose present code is compared with that of what is stored
    listed = store.find(**filters(arguments.filter)) if arguments.filter else store.all_experiments()
    if arguments.filter and not listed:
        exit_with(f"{store.root()}: no stored experiment matches {' '.join(arguments.filter)}")
    if arguments.verify:
        raise SystemExit(verify(listed, whole=not arguments.filter))
    if arguments.prune:
        prune([each for each in listed if each.outdated()], yes=arguments.yes)
    else:
        show(listed, arguments.format)


def verify(listed: list[StoredExperiment], *, whole: bool) -> int:
    """Print a line for each file that is not what was written; return the exit status."""
    faults = [fault for each in listed for fault in each.faults()]
    folders = [outputs() / kind for kind in ("simulations", "studies", "plots", "reports")] if whole else []
    made = [DerivedFiles(path) for folder in folders for path in sorted(folder.rglob("*.json"))]
    faults += [fault for each in made if (fault := each.fault())]
    print("\n".join(map(printable, faults)) or "all files are as they were written")
    return int(bool(faults))


def prune(unused: list[StoredExperiment], *, yes: bool) -> None:
    """List what the present code does not use; with `yes` remove it, and temporary files of processes that were killed.

    Files in the folder of an experiment that are not the store's stay.
    """
    for each in unused:
        print(f"{each.folder}: {each.outdated()}")
    if yes:
        temporary = [path for path in outputs().rglob(".*.tmp") if path.stat().st_mtime < time.time() - ABANDONED]
        for path in (*temporary, *(path for each in unused for path in each.paths())):
            path.unlink(missing_ok=True)
        for each in unused:
            with suppress(OSError):  # of a folder with files of somebody's own
                each.folder.rmdir()
    print(f"{len(unused)} {'removed' if yes else 'would be removed; --yes removes them'}")


def show(listed: list[StoredExperiment], form: str) -> None:
    """Print the list; CSV has all settings, and the other forms those in which the experiments differ."""
    known = [(each, each.manifest()) for each in listed]
    for each in (each for each, said in known if said is None):
        warn(each.faults()[0])
    if not listed:
        warn(f"{store.root()}: nothing is stored")
        return
    settings = [said.flat_settings() if said else {} for _, said in known]
    varying = varying_keys(settings) if len(listed) > 1 else []
    keys = [*dict.fromkeys(key for each in settings for key in each)] if form == "csv" else varying
    rows = [_row(*each, {key: of.get(key, "") for key in keys}) for each, of in zip(known, settings, strict=True)]
    frame = pd.DataFrame(rows).map(_cell)
    if form != "csv":
        frame = frame.drop(columns=[name for name in ("tags", "notes") if not frame[name].any()])
    print_frame(frame.sort_values(varying, key=lambda column: column.map(order)) if varying else frame, form)


def _row(stored: StoredExperiment, said: Manifest | None, settings: Mapping[str, Any]) -> dict[str, Any]:
    """Return what the list says of a stored experiment, with some of its settings."""
    return {
        "signature": stored.signature,
        **settings,
        "runs": stored.complete(),
        "computed": said.provenance.start[:16] if said else "",
        "code": said.label() if said else "",
        "tags": list(said.tags) if said else [],
        "notes": list(said.notes) if said else [],
    }


def _cell(value: Any) -> Any:
    text = ", ".join(map(str, value)) if isinstance(value, list) else value
    return printable(text) if isinstance(text, str) else text
