"""The command `pomrl import`: check an archive and add it to the store."""

from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Annotated

from pomrl.commands.terminal import agrees, printable, warn
from pomrl.configuration.sources import DESCRIPTION
from pomrl.running.stored_settings import refuse_wrong_settings
from pomrl.store import archives


def import_(
    file: Annotated[Path, "FILE.zip"], /, *, most: Annotated[float, "GB"] = archives.MAX_BYTES / 1e9, yes: bool = False
) -> None:
    """Check an archive and add its experiments, and its study on agreement.

    What is stored already stays as it is. A study's files are put into the current folder only if you agree, because
    commands that name the study run its code. From a damaged archive nothing is added, and the exit status is 1.

    Args:
        file: An archive of `pomrl export`.
        most: The most gigabytes of its files (default: 8.6).
        yes: Agree to the files of a study.
    """
    added, present = archives.import_(file, most * 1e9, partial(_agrees, yes=yes), refuse_wrong_settings)
    for folder in added:
        print(printable(str(folder)))
    warn(f"{len(added)} added, {len(present)} stored already; pomrl runs --recompute 10 recomputes a sample of them")


def _agrees(files: Sequence[Path], *, yes: bool) -> bool:
    for file in files:
        warn(str(file))
    study = " ".join(str(file.parent) for file in files if file.name == DESCRIPTION)
    warn(f"these files of the study {study} are to be put here; pomrl reproduce {study} runs the code in them")
    if yes or agrees("put them into this folder?"):
        return True
    warn("they are left out; with --yes they are put into this folder")
    return False
