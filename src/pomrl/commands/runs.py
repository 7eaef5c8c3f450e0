"""List what is stored, newest first: pomrl runs [key=value ...] [--since DATE] [--format FORMAT].

The list has the settings in which the stored experiments differ, how many runs of each are complete, and when and by
which code it was computed. --verify checks the files instead, --tag and --untag change the labels of what is listed,
and --remove and --prune remove what is listed, or what the present code does not use. What is damaged is computed again
by the pomrl run that computed it. Each list leaves `index.csv` in the folder of all outputs, the same table of all that
is stored, for people who look with a file manager; no command reads it.
"""

import shutil
import sys
import time
from collections.abc import Sequence
from contextlib import suppress
from datetime import datetime
from pathlib import Path
from typing import Any

import pandas as pd

from pomrl import store
from pomrl.commands.arguments import Parser, add_format
from pomrl.commands.terminal import agrees, exit_with, print_frame, printable, warn
from pomrl.configuration.importing import find_modules_in
from pomrl.configuration.settings import varying_keys
from pomrl.configuration.wording import number_of
from pomrl.outputs import outputs
from pomrl.results.chosen_runs import filters, order
from pomrl.running.stored_settings import fault_of_settings
from pomrl.store import StoredExperiment, files
from pomrl.store.derived import DerivedFiles

ABANDONED = 3600.0
"""Seconds after which a temporary file is that of a process which was killed."""


def main(parser: Parser) -> None:
    """Run the command; the exit status is 1 where nothing matches the filters, or a file is damaged."""
    parser.add_argument("filter", nargs="*", metavar="KEY=VALUE", help="only those with this setting: sigma=0.01,0.02")
    date = "only those computed since this time of this machine, such as 2026-11-17 or 2026-11-17T14:30"
    parser.add_argument("--since", type=datetime.fromisoformat, metavar="DATE", help=date)
    add_format(parser)
    task = parser.add_mutually_exclusive_group()
    task.add_argument("--verify", action="store_true", help="print a line for each damaged file instead of the list")
    task.add_argument("--prune", action="store_true", help="remove what the present code does not use, after asking")
    task.add_argument("--remove", action="store_true", help="remove what is listed, after asking")
    task.add_argument("--tag", metavar="NEW", help="give a tag to what is listed")
    task.add_argument("--untag", action="store_true", help="take the tag of the filter tag=NAME away")
    parser.add_argument("--yes", action="store_true", help="with --remove and --prune: do not ask")
    arguments = parser.parse_intermixed_args()
    find_modules_in(Path.cwd())  # of components, whose present code is compared with that of what is stored
    wanted, is_whole = filters(arguments.filter), not (arguments.filter or arguments.since)
    is_shown = not (arguments.verify or arguments.prune or arguments.remove)  # only a list leaves out what has faults
    everything = store.usable_experiments if is_shown else store.all_experiments
    listed = since(arguments.since, store.find(**wanted) if wanted else everything())
    if not listed and not is_whole:
        exit_with(f"{store.root()}: no stored experiment matches {' '.join(sys.argv[1:])}")
    if arguments.verify:
        raise SystemExit(verify(listed, whole=is_whole))
    if arguments.prune:
        prune([stored for stored in listed if (said := stored.manifest()) and said.is_outdated()], yes=arguments.yes)
    elif arguments.remove and is_whole:
        exit_with("--remove: say what to remove, such as tag=NAME or --since DATE", 2)
    elif arguments.remove:
        remove(listed, yes=arguments.yes)
    elif arguments.untag and "tag" not in wanted:
        exit_with("--untag: say which tag to take away: tag=NAME --untag", 2)
    elif arguments.untag or arguments.tag:
        for stored in listed:
            store.label(stored, arguments.tag, without=wanted["tag"] if arguments.untag else None)
        print(f"{number_of(len(listed), 'experiment')} changed")
    is_changed = arguments.prune or arguments.remove or arguments.tag or arguments.untag
    index = describe(listed if is_whole and not is_changed else store.usable_experiments())
    with suppress(OSError):  # of a folder that cannot be written to
        files.write(outputs() / "index.csv", index.map(_without_formula).to_csv(index=False).encode())
    if not is_changed:
        show(listed, index if is_whole else None, arguments.format)


def since(time: datetime | None, listed: list[StoredExperiment]) -> list[StoredExperiment]:
    """Return those that were computed at this time, which is local unless it says otherwise, or later."""
    if time is None:
        return listed
    known = [(experiment, said) for experiment in listed if (said := experiment.manifest())]
    return [stored for stored, said in known if said.computed_at() >= time.astimezone()]


def verify(listed: list[StoredExperiment], *, whole: bool) -> int:
    """Print a line for each file that is not what was written; return the exit status."""
    faults = [
        fault for experiment in listed for fault in [*experiment.faults(), fault_of_settings(experiment)] if fault
    ]
    folders = [outputs() / kind for kind in ("simulations", "studies", "plots", "reports")] if whole else []
    made = {path.with_suffix(".json") for folder in folders for path in folder.rglob("[!.]*") if path.is_file()}
    faults += [fault for path in sorted(made) if (fault := DerivedFiles(path).fault())]
    print("\n".join(map(printable, faults)) or "all files are as they were written")
    return int(bool(faults))


def prune(unused: list[StoredExperiment], *, yes: bool) -> None:
    """List and remove what the present code does not use, and temporary files of processes that were killed."""
    for experiment in unused:
        print(f"{experiment.folder}: the code has changed since")
    found = (path for form in (".*.tmp", "runs/.removed-*") for path in outputs().rglob(form))
    temporary = [path for path in found if path.stat().st_mtime < time.time() - ABANDONED]
    remove(unused, temporary, yes=yes)


def remove(unwanted: list[StoredExperiment], temporary: Sequence[Path] = (), *, yes: bool) -> None:
    """Say what is unwanted and how large it is, and remove it unless the answer is no.

    Files in the folder of an experiment that are not the store's stay.
    """
    paths = [*temporary, *(path for experiment in unwanted for path in experiment.paths() if path.exists())]
    runs, size = sum(experiment.contiguous() for experiment in unwanted), sum(path.stat().st_size for path in paths)
    tags = sorted({printable(tag) for experiment in unwanted for tag in experiment.tags()})
    tagged = f" (tags {', '.join(tags)})" if tags else ""
    what = f"{number_of(len(unwanted), 'experiment')}{tagged} with {number_of(runs, 'run')}, {size / 1e6:,.1f} MB"
    if not (yes or agrees(f"{what}: remove?")):
        print(f"{what} would be removed; --yes removes them")
        return
    for path in temporary:
        shutil.rmtree(path) if path.is_dir() else path.unlink(missing_ok=True)
    for experiment in unwanted:
        store.remove(experiment)
    print(f"{what} removed")


def show(listed: list[StoredExperiment], frame: "pd.DataFrame | None", form: str) -> None:
    """Print the list, which may be described already; CSV has all settings, and other forms those that differ."""
    if not listed:
        warn(f"{store.root()}: nothing is stored")
        return
    if form == "csv":
        print_frame(describe(listed, whole=True), form)
        return
    frame = describe(listed) if frame is None else frame
    frame = frame.drop(columns=[name for name in ("tags", "notes") if not frame[name].any()])
    settings = [*map(str, frame)][1 : list(frame).index("runs")]
    print_frame(frame, form, optional=["notes", "code", "tags", "computed", *reversed(settings)])


def describe(listed: Sequence[StoredExperiment], *, whole: bool = False) -> "pd.DataFrame":
    """Return a row for each experiment, the newest first, with the settings that differ, or with the whole of them."""
    known = [(experiment, experiment.manifest()) for experiment in listed]
    settings = [said.flat_settings() if said else {} for _, said in known]
    varying = varying_keys(settings) if len(listed) > 1 else []
    keys = dict.fromkeys(key for setting in settings for key in setting) if whole else varying
    columns: dict[str, list[Any]] = {
        "signature": [experiment.signature for experiment in listed],
        **{key: [_cell(setting.get(key, "")) for setting in settings] for key in keys},
        "runs": [experiment.contiguous() for experiment in listed],
        "computed": [said.provenance.start[:16] if said else "" for _, said in known],
        "code": [said.label() if said else "" for _, said in known],
        "tags": [_cell(experiment.tags()) for experiment in listed],
        "notes": [_cell(experiment.notes()) for experiment in listed],
    }
    places = sorted(range(len(listed)), key=lambda place: [order(settings[place].get(key)) for key in varying])
    places.sort(key=lambda place: columns["computed"][place], reverse=True)
    return pd.DataFrame({name: [of[place] for place in places] for name, of in columns.items()})


def _cell(value: Any) -> Any:
    text = ", ".join(map(str, value)) if isinstance(value, list) else value
    return printable(text) if isinstance(text, str) else text


def _without_formula(cell: Any) -> Any:
    """Return a cell; text that a spreadsheet would take for a formula has an apostrophe in front."""
    return f"'{cell}" if isinstance(cell, str) and cell.startswith(("=", "+", "-", "@")) else cell
