"""The command `pomrl import`."""

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

from pomrl.commands.terminal import agrees, printable, warn
from pomrl.configuration.composed import number_of
from pomrl.configuration.sources import DESCRIPTION
from pomrl.running.stored_settings import check_settings
from pomrl.store import archives


def import_(
    file: Annotated[Path, "FILE.zip"], /, *, most: Annotated[float, "GB"] = archives.MAX_BYTES / 1e9, yes: bool = False
) -> None:
    """Check an archive and add its experiments, and its study if you agree.

    Stored results do not change. Files of a study are added to this folder only if you agree, because commands run its
    code. The exit status is 1 if nobody can be asked. Of a damaged archive, nothing is added (exit status 1).

    Args:
        file: An archive of `pomrl export`.
        most: The maximum size of its unpacked files (default: 8.6).
        yes: Agree to add files of a study.
    """
    added_studies: list[str] = []
    status = 0

    def is_agreed(files: Sequence[Path]) -> bool:
        nonlocal status
        studies = [str(path.parent) for path in files if path.name == DESCRIPTION]
        is_added = _agrees(files, " ".join(studies), yes=yes)
        added_studies.extend(studies if is_added else ())
        status = 0 if is_added or sys.stdin.isatty() else 1
        return is_added

    added, present = archives.import_(file, most * 1e9, is_agreed, check_settings)
    for folder in added:
        print(printable(str(folder)))
    command = " ".join(["pomrl runs", *added_studies, "--recompute 10"])  # components of a study need its name
    warn(
        f"{number_of(len(added), 'experiment')} added, {len(present):,} stored already; "
        f"{command} recomputes a sample of them"
    )
    if status:
        raise SystemExit(status)


def _agrees(files: Sequence[Path], study: str, *, yes: bool) -> bool:
    for file in files:
        warn(str(file))
    warn(f"these files belong to the study {study}; pomrl reproduce {study} runs their code")
    if yes or agrees("add them to this folder?"):
        return True
    warn("files of the study are not added; repeat with --yes to add them")
    return False
