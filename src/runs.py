"""List what is stored: python -m src.runs [key=value ...] [--verify] [--prune [--yes]].

The settings in which the runs differ, the runs that are complete, when and with which commit they were computed.
"""

import argparse
import sys
from typing import Any

import yaml
from rich.console import Console

from pomrl import store, summary


def main() -> None:
    """The command. Exit status 1 where --verify finds a damaged block."""
    parser = argparse.ArgumentParser(prog="python -m src.runs", description="List what is stored.")
    parser.add_argument("filter", nargs="*", metavar="key=value", help="only runs with this setting: estimator=pomrl")
    parser.add_argument("--verify", action="store_true", help="check the digest of every block")
    parser.add_argument("--prune", action="store_true", help="list the runs that the present code does not find")
    parser.add_argument("--yes", action="store_true", help="with --prune: remove them")
    arguments = parser.parse_args()
    try:
        raise SystemExit(listing(_filters(arguments.filter), arguments.verify, arguments.prune, arguments.yes))
    except (store.StoreError, OSError) as error:
        print(" ".join(str(error).split()), file=sys.stderr)
        raise SystemExit(1) from error


def listing(wanted: dict[str, Any], verify: bool, prune: bool, yes: bool) -> int:
    """Print the list; the exit status."""
    runs = store.find(**wanted) if wanted else store.everything()
    if prune:
        runs = [run for run in runs if run.outdated()]
    if not runs:
        print(f"{store.root()}: there is nothing such", file=sys.stderr)
        return 0
    Console(width=None if sys.stdout.isatty() else 200).print(_table(runs, reasons=prune))
    if prune:
        return _pruned(runs, yes)
    return _verified(runs) if verify else 0


def _table(runs: list[store.Run], reasons: bool) -> Any:
    settings = [run.flat_settings() for run in runs]
    varying = summary.varying(settings) if len(runs) > 1 else []
    table = summary.plain_table(str(store.root()), "signature", *varying, "runs", "status", "computed", "commit")
    for run, of_run in sorted(zip(runs, settings, strict=True), key=lambda pair: _order(pair[1], varying)):
        manifest = run.manifest()
        origin = manifest.get("provenance", {})
        commit = str(origin.get("commit") or "")[:7] + ("+" if origin.get("dirty") else "")
        status = run.outdated() if reasons else manifest.get("status", "unreadable")
        values = (str(of_run.get(key, "")) for key in varying)
        table.add_row(run.signature, *values, str(run.complete()), status, origin.get("start", "")[:16], commit)
    return table


def _order(settings: dict[str, Any], keys: list[str]) -> list[tuple[str, Any]]:
    """Sorts by the settings that vary; numbers as such, and apart from text."""
    return [(type(settings.get(key)).__name__, settings.get(key)) for key in keys if key in settings]


def _verified(runs: list[store.Run]) -> int:
    faults = [fault for run in runs for fault in run.sound_blocks()[1]]
    print("\n".join(faults) or f"every block of {len(runs)} runs is as it was written")
    return 1 if faults else 0


def _pruned(runs: list[store.Run], yes: bool) -> int:
    if not yes:
        print(f"{len(runs)} would be removed; --yes removes them")
        return 0
    for run in runs:
        store.remove(run)
    print(f"{len(runs)} removed")
    return 0


def _filters(words: list[str]) -> dict[str, Any]:
    for word in words:
        if "=" not in word:
            print(f"{word}: a filter is key=value, such as estimator=pomrl", file=sys.stderr)
            raise SystemExit(2)
    return {key: yaml.safe_load(value) for key, _, value in (word.partition("=") for word in words)}


if __name__ == "__main__":
    main()
