"""Check an archive that `pomrl export` has written, and add its experiments to the store: pomrl import FILE.zip.

What is stored already stays as it is. The files of a study are put into the current folder only if you agree, because
commands that name the study run the code in them. If the archive is damaged, nothing is added and the exit status is 1.
"""

from collections.abc import Sequence
from functools import partial
from pathlib import Path

from pomrl.commands.arguments import Parser
from pomrl.commands.terminal import agrees, printable, warn
from pomrl.configuration.sources import DESCRIPTION
from pomrl.running.stored_settings import refuse_wrong_settings
from pomrl.store import archives


def main(parser: Parser) -> None:
    """Run the command."""
    parser.add_argument("file", type=Path, metavar="FILE.zip", help="the archive, as pomrl export has written it")
    most = archives.MAX_BYTES / 1e9
    parser.add_argument("--most", type=float, metavar="GB", default=most, help="the most gigabytes of its files; 8.6")
    parser.add_argument("--yes", action="store_true", help="agree to the files of a study")
    import_(**vars(parser.parse_args()))


def import_(file: Path, most: float = archives.MAX_BYTES / 1e9, *, yes: bool = False) -> None:
    """Check an archive and add its experiments to the store; print the folders that are added.

    Args:
        file: The archive, as `pomrl export` has written it.
        most: The most gigabytes of its files.
        yes: Agree to the files of a study.
    """
    added, present = archives.import_(file, most * 1e9, partial(_agrees, yes=yes), refuse_wrong_settings)
    for folder in added:
        print(printable(str(folder)))
    warn(f"{len(added)} added, {len(present)} stored already; pomrl runs --recompute 10 recomputes a sample of them")


def _agrees(files: Sequence[Path], *, yes: bool) -> bool:
    """Name the files of a study, and ask whether they are put here; where nobody can answer, they are not."""
    for file in files:
        warn(str(file))
    study = " ".join(str(file.parent) for file in files if file.name == DESCRIPTION)
    warn(f"these files of the study {study} are to be put here; pomrl reproduce {study} runs the code in them")
    if yes or agrees("put them into this folder?"):
        return True
    warn("they are left out; with --yes they are put into this folder")
    return False
