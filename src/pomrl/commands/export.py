"""Write stored experiments as an RO-Crate, ready for an archive: pomrl export CRATE.zip [KEY=VALUE ...]."""

from pathlib import Path

from pomrl.commands.arguments import Parser, add_asked, chosen
from pomrl.commands.terminal import exit_with, warn
from pomrl.configuration.wording import number_of
from pomrl.store import crates


def main(parser: Parser) -> None:
    """Run the command and print the path of the crate."""
    parser.add_argument("crate", type=Path, metavar="CRATE.zip", help="the archive to write")
    add_asked(parser)
    arguments = parser.parse_intermixed_args()
    if arguments.crate.suffix != ".zip":
        exit_with(f"{arguments.crate}: the name of the archive has to end with .zip", 2)
    of = chosen(arguments, value=None)
    count = crates.export(arguments.crate, of.stored)
    for line in (f"{number_of(len(of.stored), 'experiment')}, {number_of(count, 'file')}", *of.notes):
        warn(line)
    print(arguments.crate)
