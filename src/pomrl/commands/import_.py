"""Check an RO-Crate that `pomrl export` has written, and add its experiments to the store: pomrl import CRATE.zip.

Every file is compared with its digest, and every experiment is read, before anything is added. What is stored already
stays as it is. What is added counts as imported until `pomrl audit` has recomputed it. The exit status is 1 if the
crate is damaged, or has more runs of an experiment than the store.
"""

from pathlib import Path

from pomrl.commands.arguments import Parser
from pomrl.commands.errors import one_line_errors
from pomrl.commands.progress import progress_of_bytes
from pomrl.commands.terminal import exit_with, printable, warn
from pomrl.configuration.wording import number_of
from pomrl.store import ro_crates
from pomrl.store.ro_crates import MOST_BYTES


@one_line_errors()
def main() -> None:
    """Run the command with the arguments of the process, and print the folders that are added."""
    parser = Parser(prog="pomrl import", description="Check an RO-Crate, and add its experiments to what is stored.")
    parser.add_argument("crate", type=Path, metavar="CRATE.zip", help="the archive, as pomrl export has written it")
    parser.add_argument(
        "--most",
        type=float,
        metavar="GB",
        default=MOST_BYTES / 1e9,
        help="the most gigabytes that its files may have; 8.6",
    )
    arguments = parser.parse_args()
    with progress_of_bytes("checked") as advance:
        imported = ro_crates.import_(arguments.crate, arguments.most * 1e9, advance)
    for folder in imported.added:
        print(printable(str(folder)))
    for line in imported.refused:
        warn(line)
    audited = "; pomrl audit recomputes a sample of it" if imported.added else ""
    warn(f"{len(imported.added)} added, {len(imported.kept)} stored already{audited}")
    if imported.refused:
        exit_with(f"not imported: {number_of(len(imported.refused), 'experiment')} of the crate")
