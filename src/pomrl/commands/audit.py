"""Recompute a random sample of what is stored: pomrl audit [KEY=VALUE ...] [--blocks N].

pomrl audit STUDY recomputes with the components of a study, such as one that pomrl import has added. Digests show that
files are as they were written, and not that the numbers in them are right. On another machine or with other packages,
rounding may break a tie otherwise, so that a block has other bytes.
"""

from argparse import Namespace
from collections import Counter
from secrets import SystemRandom

from pomrl.commands.arguments import Parser, add_asked, choose_experiments
from pomrl.commands.terminal import exit_with, printable
from pomrl.configuration.composed import ConfigError
from pomrl.configuration.parsing import Experiment
from pomrl.configuration.study import find, is_study
from pomrl.configuration.wording import number_of
from pomrl.running.stored_settings import from_settings
from pomrl.running.work import is_recomputed
from pomrl.store import StoredBlock, StoredExperiment, StoreError

SAME, DIFFERS, UNKNOWN = "has the same bytes", "differs from what the code gives", "cannot be recomputed"
"""What is found of a block."""


def main(parser: Parser) -> None:
    """Run the command; the exit status is 1 where numbers are not what the code gives, or cannot be recomputed."""
    add_asked(parser, "STUDY")
    parser.add_argument("--blocks", type=int, default=20, metavar="N", help="how many blocks; 20")
    arguments = parser.parse_intermixed_args()
    if arguments.blocks < 1:
        exit_with(f"--blocks {arguments.blocks}: it has to be at least 1", 2)
    everything = [(stored, block, known) for stored, known in _look_up(arguments) for block in stored.blocks()]
    drawn = SystemRandom().sample(everything, min(arguments.blocks, len(everything)))
    found = Counter(_compare(*pair) for pair in drawn)
    same, differing, unknown = (found[outcome] for outcome in (SAME, DIFFERS, UNKNOWN))
    of_all = number_of(len(drawn), "block")
    print(f"of {of_all}, {same:,} have the same bytes again, {differing:,} differ, {unknown:,} cannot be recomputed")
    raise SystemExit(int(found[SAME] < len(drawn)))


def _look_up(arguments: Namespace) -> list[tuple[StoredExperiment, Experiment | None]]:
    """Return the stored experiments that are meant, each as it was composed, or None where it was not."""
    if not any(map(is_study, arguments.words)):
        results = choose_experiments(arguments, value=None)
        return [(each.stored, each.experiment) for each in results.results if each.stored]
    from pomrl.commands.parcel import list_stored  # here, because it loads all that a study is made of

    return [stored for word in arguments.words for stored in list_stored(find(word))]


def _compare(stored: StoredExperiment, block: StoredBlock, known: Experiment | None) -> str:
    """Return the outcome of recomputing a block, and print a line where it has not the same bytes."""
    try:
        outcome, why = SAME if is_recomputed(stored, block, known or from_settings(stored)) else DIFFERS, ""
    except (StoreError, ConfigError) as error:
        outcome, why = UNKNOWN, f" ({error})"
    if outcome != SAME:
        print(printable(f"{stored.signature}/{block.name}: {outcome}{why}"), flush=True)
    return outcome
