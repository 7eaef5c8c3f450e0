"""List what is stored: python -m src.runs [key=value ...] [--verify] [--prune [--yes]].

The list has the settings in which the stored experiments differ, how many runs of each are complete, and when and with
which commit they were computed.
"""

import argparse
import sys
from collections.abc import Sequence
from typing import Any

import yaml
from rich.console import Console
from rich.table import Table
from rich.text import Text

from pomrl import store
from pomrl.commands import tables
from pomrl.configuration.settings import varying_keys


def main() -> None:
    """Run the command. Its exit status is 1 where --verify finds a fault or --prune cannot remove something."""
    parser = argparse.ArgumentParser(prog="python -m src.runs", description="List what is stored.")
    parser.add_argument("filter", nargs="*", metavar="key=value", help="only those with this setting: estimator=pomrl")
    parser.add_argument("--verify", action="store_true", help="check settings, manifests and the digest of every block")
    parser.add_argument("--prune", action="store_true", help="list only what the present code does not use")
    parser.add_argument("--yes", action="store_true", help="with --prune: remove it")
    arguments = parser.parse_args()
    try:
        wanted = _filters(arguments.filter)
        raise SystemExit(listing(wanted, verify=arguments.verify, prune=arguments.prune, yes=arguments.yes))
    except (store.StoreError, OSError) as error:
        print(" ".join(str(error).split()), file=sys.stderr)
        raise SystemExit(1) from error


def listing(wanted: dict[str, Any], *, verify: bool, prune: bool, yes: bool) -> int:
    """Print the list of what is stored with the wanted settings, and return the exit status.

    Args:
        wanted: Values of settings by their dotted keys; if it is empty, all stored experiments are listed.
        verify: Print a line for each fault of the files.
        prune: List only experiments that the present code does not use and whose folders contain no other files than
            those that the store writes.
        yes: Remove the experiments that `prune` lists.
    """
    listed = store.find(**wanted) if wanted else store.all_experiments()
    if prune:
        listed = [stored for stored in listed if stored.outdated() and stored.is_removable()]
    if not listed:
        print(f"{store.root()}: no stored runs match", file=sys.stderr)
        return 0
    console = Console(width=None if sys.stdout.isatty() else 200)
    console.print(_table(listed, reasons=prune))
    if prune:
        return _prune(listed) if yes else _announce(listed)
    return _verify(listed) if verify else 0


def _table(listed: Sequence[store.StoredExperiment], *, reasons: bool) -> Table:
    """Return a table with a row for each stored experiment, sorted by the settings that vary.

    With `reasons`, the column of the status says why the present code does not use the experiment.
    """
    settings = [stored.flat_settings() for stored in listed]
    varying = varying_keys(settings) if len(listed) > 1 else []
    table = tables.plain_table(str(store.root()), "signature", *varying, "runs", "status", "computed", "commit")
    pairs = sorted(zip(listed, settings, strict=True), key=lambda pair: _order(pair[1], varying))
    for stored, values in pairs:
        manifest = stored.manifest()
        made = manifest.provenance if manifest else None
        commit = (made.commit or "")[:7] + ("+" if made.dirty else "") if made else ""
        status = (stored.outdated() if reasons else None) or stored.status()
        cells = (stored.signature, *(values.get(key, "") for key in varying), stored.complete(), status)
        table.add_row(*map(_cell, (*cells, made.start[:16] if made else "", commit)))
    return table


def _cell(value: Any) -> Text:
    """Return a value as text without markup and without the characters that control a terminal."""
    return Text("".join(letter for letter in str(value) if letter.isprintable()))


def _order(settings: dict[str, Any], keys: list[str]) -> list[tuple[str, Any]]:
    """Return a key that sorts stored experiments by the settings that vary.

    Numbers are sorted by their values; values of different types are sorted by the names of their types.
    """
    values = [settings[key] for key in keys if key in settings]
    return [(type(value).__name__, value if isinstance(value, int | float | str) else str(value)) for value in values]


def _verify(listed: Sequence[store.StoredExperiment]) -> int:
    faults = [fault for stored in listed for fault in stored.faults()]
    print("\n".join(faults) or f"all files of {len(listed)} stored experiments are as they were written")
    return 1 if faults else 0


def _announce(listed: Sequence[store.StoredExperiment]) -> int:
    print(f"{len(listed)} would be removed; --yes removes them")
    return 0


def _prune(listed: Sequence[store.StoredExperiment]) -> int:
    """Remove the listed experiments and return the exit status; one that cannot be removed does not stop the others."""
    failed = 0
    for stored in listed:
        try:
            store.remove(stored)
        except (store.StoreError, OSError) as error:
            failed += 1
            print(" ".join(str(error).split()), file=sys.stderr)
    print(f"{len(listed) - failed} removed")
    return 1 if failed else 0


def _filters(words: Sequence[str]) -> dict[str, Any]:
    """Return the settings that `key=value` words ask for; end the command with status 2 for any other word."""
    wanted = {}
    for word in words:
        key, equals, value = word.partition("=")
        try:
            wanted[key] = yaml.safe_load(value)
        except yaml.YAMLError:
            equals = ""
        if not key or not equals:
            print(f"{word}: a filter is key=value, such as estimator=pomrl", file=sys.stderr)
            raise SystemExit(2)
    return wanted
