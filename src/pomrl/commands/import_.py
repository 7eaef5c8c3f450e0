"""The command `pomrl import`."""

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

from pomrl.commands.terminal import agrees, printable, warn
from pomrl.configuration.composed import number_of
from pomrl.configuration.sources import DESCRIPTION
from pomrl.judging import agreement, judgements
from pomrl.outputs import outputs
from pomrl.running.stored_settings import check_settings
from pomrl.store import archives
from pomrl.store.merging import Merge


def import_(
    file: Annotated[Path, "FILE.zip"], /, *, most: Annotated[float, "GB"] = archives.MAX_BYTES / 1e9, yes: bool = False
) -> None:
    """Check an archive, and merge its experiments into the stored ones.

    Missing runs, tags and notes are added, and damaged files are restored. Nothing changes if the archive is damaged,
    or if its runs or package versions differ from stored ones (exit status 1). Files of a study are added to this
    folder only if you agree, because commands run its code. The exit status is 1 if nobody can be asked. If nothing is
    new, the verdicts of the archive are compared with yours.

    Args:
        file: An archive of `pomrl export`.
        most: The maximum size of its files, and of the tables of an experiment in memory (default: 8.6). A block may
            have an eighth of it.
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

    merges = archives.import_(file, most * 1e9, is_agreed, check_settings)
    changes = _print_changes(merges)
    command = " ".join(["pomrl runs", *added_studies, "--recompute 10"])  # components of a study need its name
    warn(f"{changes or 'nothing new'}; {command} recomputes a sample of the stored blocks")
    for study, content in archives.read_results(file, judgements.FILE).items():
        _compare_verdicts(file, study, content, is_judged=not changes)
    if status:
        raise SystemExit(status)


def _print_changes(merges: Sequence[Merge]) -> str:
    """Print the changed experiments; return their numbers in words, empty if nothing is new."""
    added = [merge for merge in merges if merge.is_new]
    extended = [merge for merge in merges if merge.changes() and not merge.is_new]
    for merge in added:
        print(printable(str(merge.stored.folder)))
    for merge in extended:
        print(printable(f"{merge.stored.folder}: {', '.join(merge.changes())}"))
    for merge in (merge for merge in merges if merge.damaged):
        n_blocks = number_of(len(merge.damaged), "damaged block")
        warn(f"{merge.stored.folder}: the archive lacks runs of {n_blocks}; pomrl run computes them again")
    for merge in (merge for merge in merges if merge.n_lost and not merge.damaged):
        n_runs = number_of(merge.n_lost, "run")
        warn(f"{merge.stored.folder}: the archive lacks {n_runs} of its log; pomrl run computes them again")
    n_same = len(merges) - len(added) - len(extended)
    counts = f"{number_of(len(added), 'experiment')} added, {len(extended):,} changed, {n_same:,} stored already"
    return counts if added or extended else ""


def _compare_verdicts(file: Path, study: str, content: bytes, *, is_judged: bool) -> None:
    own = judgements.read(outputs() / "studies" / study)
    if not (is_judged and own.main):
        warn(f"to compare verdicts: pomrl reproduce {study}, then pomrl import {file}")
        return
    received = judgements.parse(content, Path(f"{file}: studies/{study}/{judgements.FILE}"))
    result = agreement.compare(own, received, received.variants, other="received")
    print("\n".join(map(printable, [*result.turned, *result.different, f"{study}: {result}"])))


def _agrees(files: Sequence[Path], study: str, *, yes: bool) -> bool:
    for file in files:
        warn(str(file))
    warn(f"these files belong to the study {study}; pomrl reproduce {study} runs their code")
    if yes or agrees("add them to this folder?"):
        return True
    warn("files of the study are not added; repeat with --yes to add them")
    return False
