"""Everything in the folder of outputs, in one enumeration: what is verified, removed and exported, wherever it lies.

Experiments, simulations and sets of derived files have faults, and may be unused. Processes that are killed leave
temporary files, and folders of imports. Of other files nothing is known; those beside experiments, and links, are left
out.
"""

import shutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from pomrl.outputs import outputs
from pomrl.store import files
from pomrl.store.derived import DerivedFiles, derived
from pomrl.store.finding import all_experiments
from pomrl.store.layout import REPAIR, is_our_name, name_of_temporary
from pomrl.store.reading import StoredExperiment
from pomrl.store.stored_simulations import StoredSimulation, all_simulations
from pomrl.store.writing import remove

IMPORTS = ".import-"
"""How the names of the folders begin into which crates are unpacked."""


@dataclass(frozen=True)
class Kept:
    """Something that is kept in the folder of outputs."""

    path: Path
    """Its folder, or the file that describes it."""
    files: tuple[Path, ...]
    """Its ordinary files."""
    faults: Callable[[], list[str]] = list
    """Return a line for each fault, with what mends it."""
    unused: Callable[[], str | None] = lambda: None
    """Return why it may be removed; None if it is used, or if nobody knows."""
    remove: Callable[[], None] = lambda: None
    """Remove what is unused; an OSError or a StoreError says why it cannot be removed."""


def everything() -> Iterator[Kept]:
    """Yield everything in the folder of outputs: what is known of, by kind and path, and then all other files."""
    top = outputs()
    known = [
        *map(of_experiment, all_experiments()),
        *map(_of_simulation, all_simulations()),
        *(Kept(made.sidecar, made.paths(), partial(_faults, made, made.remedy())) for made in derived(top)),
        *(_leftover(path, shutil.rmtree) for path in sorted(top.glob(f"{IMPORTS}*"))),
        *(_leftover(path, Path.unlink) for path in _ordinary(top, "**/.*.tmp") if name_of_temporary(path.name)),
    ]
    yield from known
    theirs = {path for each in known for path in each.files}
    for path in _ordinary(top):
        parts = path.relative_to(top).parts
        if path not in theirs and parts[0] != "runs" and not any(part.startswith(".") for part in parts):
            yield Kept(path, (path,))


def of_experiment(stored: StoredExperiment) -> Kept:
    """Return a stored experiment as something that is kept."""
    own = tuple(path for path in _ordinary(stored.folder, "*") if is_our_name(path.name))
    reason = stored.outdated if stored.is_removable() else lambda: None
    return Kept(stored.folder, own, partial(_repaired, stored), reason, partial(remove, stored))


def _of_simulation(stored: StoredSimulation) -> Kept:
    folder, own = stored.sidecar.parent, stored.paths()
    reason = stored.outdated if set(folder.iterdir()) <= set(own) else lambda: None
    faults = partial(_faults, stored, REPAIR)
    return Kept(folder, own, faults, reason, partial(shutil.rmtree, folder))


def _repaired(stored: StoredExperiment) -> list[str]:
    return [f"{fault}; {REPAIR}" for fault in stored.faults()]


def _faults(made: DerivedFiles, remedy: str) -> list[str]:
    return [f"{fault}; {remedy}" for fault in [made.fault()] if fault]


def _leftover(path: Path, remove: Callable[[Path], None]) -> Kept:
    reason = "a process that was killed has left it"
    own = _ordinary(path) if path.is_dir() else (path,)
    return Kept(path, own, unused=lambda: reason if files.is_abandoned(path) else None, remove=partial(remove, path))


def _ordinary(folder: Path, pattern: str = "**/*") -> tuple[Path, ...]:
    return tuple(path for path in sorted(folder.glob(pattern)) if path.is_file() and not path.is_symlink())
