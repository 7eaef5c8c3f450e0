"""Inject faults and print what became of them: python -m tests.faults [--all] [--seed SEED] [--only PART ...].

The exit status is 1 if anything was lost, wrong in silence, hanging, or a traceback.
"""

import argparse
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from itertools import chain

from tests.faults import commands, damages, kills
from tests.faults.outcomes import Result, table, wrong

from pomrl.commands.terminal import print_frame

PARTS: dict[str, tuple[int, int, Callable[[int, int], Iterator[Result]]]] = {
    "kills": (100, 8, kills.results),
    "commands": (30, 5, commands.results),
    "damages": (1500, 40, damages.results),
}
"""How many faults of each part --all injects, how many are injected without it, and the function that does it."""


def main() -> None:
    """Run the command with the arguments of the process."""
    parser = argparse.ArgumentParser(prog="python -m tests.faults", description="Inject faults.")
    parser.add_argument("--all", action="store_true", help="all faults, which takes about an hour on two cores")
    parser.add_argument("--seed", type=int, default=0, help="the faults are drawn from it (default: 0)")
    parser.add_argument("--only", nargs="+", choices=PARTS, default=list(PARTS), help="these parts only")
    arguments = parser.parse_args()
    found: list[Result] = []
    start = time.monotonic()
    parts = (PARTS[name] for name in arguments.only)
    injected = (inject(arguments.seed, most if arguments.all else few) for most, few, inject in parts)
    with suppress(KeyboardInterrupt):  # what there is until then is shown
        for each in chain.from_iterable(injected):
            found.append(each)
            print(f"\r{len(found)}", end="", file=sys.stderr)
    print_frame(table(found))
    print(f"{sum(each.number for each in found)} faults in {time.monotonic() - start:.0f} s")
    for each in wrong(found):
        print(f"{each.became}: {each.kind}: {each.name}\n{each.detail}\n")
    raise SystemExit(bool(wrong(found)))


if __name__ == "__main__":
    main()
