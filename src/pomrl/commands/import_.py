"""Check an RO-Crate that `pomrl export` has written, and add its experiments to the store: pomrl import CRATE.zip.

What is stored already stays as it is. The exit status is 1 if the crate is damaged; nothing is added then.
"""

from pathlib import Path

from pomrl.commands.arguments import Parser
from pomrl.commands.terminal import printable, warn
from pomrl.store import crates


def main(parser: Parser) -> None:
    """Run the command and print the folders that are added."""
    parser.add_argument("crate", type=Path, metavar="CRATE.zip", help="the archive, as pomrl export has written it")
    most = crates.MOST_BYTES / 1e9
    parser.add_argument("--most", type=float, metavar="GB", default=most, help="the most gigabytes of its files; 8.6")
    arguments = parser.parse_args()
    added, kept = crates.import_(arguments.crate, arguments.most * 1e9)
    for folder in added:
        print(printable(str(folder)))
    warn(f"{len(added)} added, {len(kept)} stored already; pomrl audit recomputes a sample of what is stored")
