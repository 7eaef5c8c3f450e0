"""Check an RO-Crate that `pomrl export` has written, and add its experiments to the store: pomrl import CRATE.zip.

Every file is compared with its digest, and every experiment is read, before anything is added. What is stored already
stays as it is. The exit status is 1 if the crate is damaged, or has more runs of an experiment than the store.
"""

from pathlib import Path

from pomrl.commands.arguments import Parser
from pomrl.commands.errors import one_line_errors
from pomrl.commands.terminal import exit_with, printable, warn
from pomrl.configuration.wording import number_of
from pomrl.store import ro_crates


@one_line_errors()
def main() -> None:
    """Run the command with the arguments of the process, and print the folders that are added."""
    parser = Parser(prog="pomrl import", description="Check an RO-Crate, and add its experiments to what is stored.")
    parser.add_argument("crate", type=Path, metavar="CRATE.zip", help="the archive, as pomrl export has written it")
    imported = ro_crates.import_(parser.parse_args().crate)
    for folder in imported.added:
        print(printable(str(folder)))
    for line in imported.refused:
        warn(line)
    warn(f"{len(imported.added)} added, {len(imported.kept)} stored already")
    if imported.refused:
        exit_with(f"not imported: {number_of(len(imported.refused), 'experiment')} of the crate")
