"""Merge imported experiments into stored ones, without losing what is stored."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import product

from pomrl.configuration.composed import number_of
from pomrl.store import block_files, files
from pomrl.store.block_files import StoredBlock
from pomrl.store.files import StoreError
from pomrl.store.manifests import DESCRIPTION, LOOKS, NOTE, describe_versions, tag_of
from pomrl.store.stored_experiments import StoredExperiment, count_of, name_of_count

_OTHER_FOLDER = "set POMRL_OUTPUTS to import into another folder"


@dataclass(frozen=True)
class Merge:
    """The changes to a stored or missing experiment by an imported one."""

    imported: StoredExperiment
    stored: StoredExperiment
    is_new: bool
    sound: Sequence[StoredBlock]
    """The intact stored blocks."""
    blocks: Sequence[StoredBlock]
    """The imported blocks to add."""
    covered: Sequence[StoredBlock]
    """The stored blocks that they replace: shorter or damaged ones."""
    damaged: Sequence[StoredBlock]
    """The damaged stored blocks that stay, because the archive has not all of their runs."""
    others: Sequence[str]
    """The names of other files to add."""
    n_lost: int
    """The number of runs in the log that are neither stored nor in the archive."""

    def apply(self) -> None:
        """Add the new files, then remove replaced ones."""
        names = [*(block.name for block in self.blocks), *self.others]
        # If interrupted, the stored runs stay readable: the description is first, the number of runs after the blocks.
        for name in sorted(names, key=lambda name: (name != DESCRIPTION, name in self.others)):
            files.write(self.stored.folder / name, (self.imported.folder / name).read_bytes())
        for block in {*self.covered} - {*self.blocks}:
            (self.stored.folder / block.name).unlink(missing_ok=True)

    def changes(self) -> list[str]:
        """Describe the changes; none if everything is stored."""
        restored = {*self.covered} - {*self.sound}
        stored_runs = _runs([*self.sound, *restored])
        n_recorded = max(map(count_of, self.others), default=0)
        n_added = len(_runs(self.blocks) - stored_runs)
        tags = [tag for tag in map(tag_of, self.others) if tag is not None]
        n_notes = sum(name.startswith(NOTE) for name in self.others)
        changes = {
            f"{number_of(n_added, 'run')} added to {len(stored_runs):,} stored": n_added,
            f"{number_of(len(restored), 'damaged block')} restored": restored,
            f"{number_of(n_recorded, 'run')} recorded as complete": n_recorded and not n_added,
            "description restored": DESCRIPTION in self.others,
            **{f"tag {tag} added": True for tag in sorted(tags)},
            f"{number_of(n_notes, 'note')} added": n_notes,
            "looks added": any(name.startswith(LOOKS) for name in self.others),
        }
        return [change for change, is_made in changes.items() if is_made]


def plan_merge(imported: StoredExperiment, stored: StoredExperiment) -> Merge:
    """Find the changes to a stored experiment, and change nothing.

    StoreError: runs differ, or used other package versions.
    """
    if fault := stored.folder_fault():
        raise StoreError(fault)
    _check_versions(imported, stored)
    names = imported.column_names()  # the stored description may be lost
    sound = [block for block in stored.files() if not stored.block_fault(block, names)]
    _check_shared_runs(imported, stored, sound)
    blocks = [block for block in imported.blocks() if not any(_covers(old, block) for old in sound)]
    covered = [old for old in stored.files() if any(_covers(block, old) for block in blocks)]
    damaged = [old for old in stored.files() if old not in [*sound, *covered]]
    is_new, other_files = not stored.is_there(), _find_other_files(imported, stored)
    n_lost = max(0, stored.logged_runs() - len(_runs([*sound, *blocks])))
    return Merge(imported, stored, is_new, sound, blocks, covered, damaged, other_files, n_lost)


def _check_versions(imported: StoredExperiment, stored: StoredExperiment) -> None:
    manifest, new = stored.manifest(), imported.read_manifest()
    if manifest and (versions := describe_versions(new.versions, "stored", manifest.versions)):
        raise StoreError(f"runs/{stored.signature}: runs used other package versions ({versions}); {_OTHER_FOLDER}")


def _check_shared_runs(imported: StoredExperiment, stored: StoredExperiment, sound: Sequence[StoredBlock]) -> None:
    shared = [(new, old, runs) for new, old in product(imported.blocks(), sound) if (runs := _intersect(new, old))]
    for new, old, runs in shared:
        if new != old and _read_runs(imported, imported, new, runs) != _read_runs(stored, imported, old, runs):
            label = f"runs/{stored.signature}: runs {runs.start} to {runs.stop - 1}"
            raise StoreError(f"{label} differ from the stored ones; {_OTHER_FOLDER}")
    if sound and not shared and not stored.manifest():  # they may be of other package versions
        fault = "its description is missing or damaged, and the archive has none of its stored runs"
        raise StoreError(f"{stored.folder}: {fault}; {_OTHER_FOLDER}")


def _intersect(first: StoredBlock, other: StoredBlock) -> range:
    return range(max(first.runs.start, other.runs.start), min(first.runs.stop, other.runs.stop))


def _covers(first: StoredBlock, other: StoredBlock) -> bool:
    return _intersect(first, other) == other.runs


def _runs(blocks: Iterable[StoredBlock]) -> set[int]:
    return {run for block in blocks for run in block.runs}


def _read_runs(owner: StoredExperiment, described: StoredExperiment, block: StoredBlock, runs: range) -> list[bytes]:
    columns = block_files.columns(owner.folder, block, described.column_names(), described.shape())
    first, stop = runs.start - block.runs.start, runs.stop - block.runs.start
    return [column.reshape(len(block.runs), -1)[first:stop].tobytes() for column in columns.values()]


def _find_other_files(imported: StoredExperiment, stored: StoredExperiment) -> list[str]:
    """Find the files to add besides blocks: description, labels and number of complete runs."""
    sound_names = {*stored.names()} - {*stored.faulty_labels()}
    has_looks = any(name.startswith(LOOKS) for name in sound_names)
    recorded, tags = imported.recorded_runs(), stored.tags()
    return [
        *([] if stored.manifest() else [DESCRIPTION]),
        *(name for name in imported.names() if tag_of(name) not in (None, *tags)),
        *(name for name in imported.names() if name.startswith(NOTE) and name not in sound_names),
        *(name for name in imported.names() if name.startswith(LOOKS) and not has_looks),
        *([name_of_count(recorded)] if recorded > stored.recorded_runs() else []),
    ]
