"""Recompute a random sample of what is stored: pomrl audit [key=value ...] [--share SHARE | --blocks N].

Digests show that files are as they were written, and not that the numbers in them are right: whoever makes a crate
makes its digests too. Where blocks were computed with the same packages on the same platform, their numbers have to
agree to 1e-9 in all rows; elsewhere rounding may break a tie otherwise in one row of a thousand.
"""

import os

from pomrl import store
from pomrl.commands.arguments import Parser, add_filters, filters
from pomrl.commands.errors import one_line_errors
from pomrl.commands.progress import progress
from pomrl.commands.repairing import from_settings
from pomrl.commands.terminal import exit_with, printable, warn
from pomrl.running import auditing
from pomrl.running.resources import LONG, duration

FORGED = 0.05
"""The share of blocks for which the summary says how likely it is that a forgery of so many is found."""


@one_line_errors()
def main() -> None:
    """Run the command; the exit status is 1 where numbers are not what the code gives, or cannot be recomputed."""
    parser = Parser(prog="pomrl audit", description="Recompute a random sample of what is stored, and compare it.")
    add_filters(parser)
    number = parser.add_mutually_exclusive_group()
    number.add_argument("--share", type=float, default=0.05, help="the share of all blocks and simulations; 0.05")
    number.add_argument("--blocks", type=int, metavar="N", help="how many of them instead")
    parser.add_argument("--yes", action="store_true", help="also if it takes more than an hour")
    arguments = parser.parse_args()
    if not 0.0 < arguments.share <= 1.0 or (arguments.blocks is not None and arguments.blocks < 1):
        exit_with("--share has to be above 0 and at most 1, and --blocks at least 1", 2)
    wanted = filters(arguments.filter)
    stored = store.find(**wanted) if wanted else store.all_experiments()
    drawn, total = auditing.sample(stored, arguments.share, arguments.blocks)
    if not drawn:
        exit_with(f"{store.root()}: nothing is stored to recompute")
    seconds = auditing.seconds(drawn, from_settings) / (os.cpu_count() or 1)
    warn(f"recomputing {len(drawn):,} of {total:,} blocks and simulations in about {duration(seconds)}")
    if seconds > LONG and not arguments.yes:
        exit_with("what takes more than an hour is recomputed with --yes; --blocks 20 draws fewer")
    found: list[auditing.Found] = []
    with progress("recomputed") as advance:
        for each in auditing.audited(drawn, from_settings):
            found.append(each)
            advance(len(found), len(drawn), "")
            if not each.is_equal:
                print(printable(f"{each.name}: {_what_is_wrong(each)}"), flush=True)
    _summarise(found)


def _what_is_wrong(found: auditing.Found) -> str:
    if found.failure:
        return f"it cannot be recomputed ({found.failure})"
    return f"{found.differing:,} of {found.rows:,} rows are not what the code gives here"


def _summarise(found: list[auditing.Found]) -> None:
    """Say how many were equal and how, and how likely a forgery would have been found."""
    equal = [each for each in found if each.is_equal]
    same = sum(each.same_bytes for each in equal)
    flipped = sum(each.differing for each in equal)
    ties = f" but for {flipped:,} rows in which a tie was broken otherwise" if flipped else ""
    print(f"{same:,} have the same bytes, {len(equal) - same:,} agree to {auditing.TOLERANCE:g}{ties}")
    chance = auditing.chance_to_find(FORGED, sum(not each.failure for each in found))
    print(f"if {FORGED:.0%} of all were forged, this would have found it with probability {chance:.4f}")
    if len(equal) < len(found):
        exit_with(f"{len(found) - len(equal):,} of {len(found):,} are not what the code gives, or cannot be recomputed")
