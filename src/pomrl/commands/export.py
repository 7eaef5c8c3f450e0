"""Write what is stored as an RO-Crate: pomrl export CRATE.zip [KEY=VALUE ...].

A crate is a zip archive with a description in JSON-LD and the digest of each file, which archives such as Zenodo take.
With filters it has the experiments that they choose. Without, it has all experiments and simulations, and the figures,
tables and reports that were made of them.
"""

from pathlib import Path

from pomrl import store
from pomrl.commands.arguments import Parser, add_filters, filters
from pomrl.commands.errors import one_line_errors
from pomrl.commands.terminal import exit_with, warn
from pomrl.configuration.wording import number_of
from pomrl.store import ro_crates

MADE_OF_IT = "pomrl import takes experiments and simulations alone; pomrl reproduce makes verdicts and figures of them"
"""What becomes of the other files of a crate."""


@one_line_errors()
def main() -> None:
    """Run the command with the arguments of the process, and print the path of the crate."""
    parser = Parser(prog="pomrl export", description="Write what is stored as an RO-Crate, ready for an archive.")
    parser.add_argument("crate", type=Path, metavar="CRATE.zip", help="the archive to write")
    add_filters(parser)
    arguments = parser.parse_args()
    if arguments.crate.suffix != ".zip":
        exit_with(f"{arguments.crate}: the name of the archive has to end with .zip", 2)
    stored = [each for each in store.find(**filters(arguments.filter)) if each.complete()]
    if arguments.filter and not stored:
        exit_with(f"{store.root()}: no stored experiment matches {' '.join(arguments.filter)}")
    count = ro_crates.export(arguments.crate, stored, everything=not arguments.filter)
    what = f"{number_of(len(stored), 'experiment')}, {number_of(count, 'file')}"
    warn(f"{what}, {arguments.crate.stat().st_size / 1e6:.1f} MB; {MADE_OF_IT}")
    print(arguments.crate)
