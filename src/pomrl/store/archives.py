"""Export and import zip archives of experiments and of a study's code.

    runs/<signature>/     an experiment
    code/                 a study's files; paths are relative to the folder in which its commands run
    studies/<study>/      results for readers, not imported

Equal files give equal archives. Files are checked before unpacking, and experiments before they are added.
"""

import filecmp
import re
import shutil
import stat
import zipfile
import zlib
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

from pomrl.configuration.composed import ConfigError
from pomrl.outputs import outputs
from pomrl.store.files import StoreError, replacing, root, sync_all, sync_folder, write
from pomrl.store.stored_experiments import LOG, StoredExperiment, is_ours

MAX_BYTES = 8 * 2**30
"""The default limit on the unpacked size of an archive, in bytes."""

MAX_FILES = 200_000
"""The limit on the number of files in an archive."""

_CONTENT_ERRORS = (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError, UnicodeError)
"""Errors of `zipfile` for a damaged archive."""
_NAME_ERRORS = (FileExistsError, IsADirectoryError, NotADirectoryError)  # a name of both a file and a folder


def export(path: Path, stored: Sequence[StoredExperiment], extra_files: Mapping[str, Path] | None = None) -> int:
    """Write an archive of experiments and other files; return the number of files.

    StoreError without experiments, or for a damaged file.
    """
    if not stored:
        raise StoreError(f"{root()}: no stored experiments to export")
    files = dict(extra_files or {})
    for experiment in stored:
        if faults := experiment.faults():
            raise StoreError(faults[0])
        unused = {LOG, *(block.name for block in {*experiment.files()} - {*experiment.blocks()})}
        names = {path.name for path in experiment.paths()} - unused
        files |= {f"runs/{experiment.signature}/{name}": experiment.folder / name for name in names}
    with replacing(path) as whole, zipfile.ZipFile(whole, "w") as archive:
        for name in sorted(files):
            entry = zipfile.ZipInfo(name)  # its constant default time keeps archives reproducible
            entry.create_system, entry.external_attr = 3, (stat.S_IFREG | 0o644) << 16
            entry.file_size = files[name].stat().st_size
            with files[name].open("rb") as source, archive.open(entry, "w") as target:
                shutil.copyfileobj(source, target)
    return len(files)


def import_(
    path: Path,
    max_bytes: float = MAX_BYTES,
    agrees: Callable[[Sequence[Path]], bool] = lambda _: False,
    check: Callable[[StoredExperiment], object] = lambda _: None,
) -> tuple[list[Path], list[Path]]:
    """Check an archive and add its experiments.

    `agrees` returns whether new files of a study may be written to the current folder. `check` raises a StoreError or
    ConfigError for an experiment with wrong settings.

    Returns:
        The added folders, and the folders already stored.

    Raises:
        StoreError: The archive is missing, invalid, too large or damaged, or would change a file of the study. Nothing
            is added.
    """
    root().mkdir(parents=True, exist_ok=True)
    with TemporaryDirectory(prefix=".import-", dir=outputs()) as name:
        folder = Path(name)
        try:
            with zipfile.ZipFile(path) as archive:
                for entry in _select_entries(archive, max_bytes):
                    archive.extract(entry, folder)  # at most the size in the entry is extracted
            unpacked = [StoredExperiment(location) for location in sorted(folder.glob("runs/*"))]
            for stored in unpacked:
                if faults := stored.faults() or ([] if stored.contiguous() else [f"{stored.folder}: no runs"]):
                    raise StoreError(faults[0].replace(f"{folder}/", "").partition("; ")[0])
                check(stored)
            new_files = _find_missing(folder / "code")
            sync_all(folder)
        except FileNotFoundError as error:
            raise StoreError(f"{path}: no such file") from error
        except (*_CONTENT_ERRORS, *_NAME_ERRORS) as error:
            raise StoreError(f"{path}: damaged, or not a zip archive") from error
        except (StoreError, ConfigError) as error:
            raise StoreError(f"{path}: {error}") from error
        new = [stored for stored in unpacked if not (root() / stored.signature).exists()]
        added = [stored.folder.rename(root() / stored.signature) for stored in new]
        sync_folder(root())
        for file in new_files if new_files and agrees(new_files) else ():
            write(file, (folder / "code" / file).read_bytes())
    return added, [root() / stored.signature for stored in unpacked if stored not in new]


def _select_entries(archive: zipfile.ZipFile, max_bytes: float) -> list[zipfile.ZipInfo]:
    entries = archive.infolist()
    if len(entries) > MAX_FILES:
        raise StoreError(f"the number of files must be at most {MAX_FILES:,}, got {len(entries):,}")
    if (total := sum(entry.file_size for entry in entries) / 1e9) > max_bytes / 1e9:
        raise StoreError(
            f"the unpacked size must be at most {max_bytes / 1e9:.1f} GB, got {total:.1f} GB; "
            f"set --most {total + 0.1:.1f}"
        )
    names = Counter(entry.filename.casefold() for entry in entries)
    if twice := [name for name, count in names.items() if count > 1]:
        raise StoreError(f"{twice[0]}: two files must not have the same name, ignoring case")
    for entry in entries:
        is_file = stat.S_IFMT(entry.external_attr >> 16) in (0, stat.S_IFREG)
        if not (is_file and _is_expected(entry.filename.split("/"))):
            raise StoreError(f"{entry.filename}: not a file of an experiment or study")
    if damaged := archive.testzip():  # also files that are not imported
        raise StoreError(f"{damaged}: damaged in the archive; export or copy it again")
    return [entry for entry in entries if not entry.filename.startswith("studies/")]


def _is_expected(names: Sequence[str]) -> bool:
    match names:
        case ["runs", signature, name]:
            return re.fullmatch("[0-9a-f]{12}", signature) is not None and is_ours(name) and name != LOG
        case ["code" | "studies", *inside] if inside:
            return all(name and name[0] != "." and name.isprintable() and "\\" not in name for name in inside)
        case _:
            return False


def _find_missing(code: Path) -> list[Path]:
    files = sorted(path.relative_to(code) for path in code.rglob("*") if path.is_file())
    for file in files:
        target = file.resolve()
        is_of_store = any(target.is_relative_to((outputs() / kind).resolve()) for kind in ("runs", "simulations"))
        if is_of_store or not target.is_relative_to(Path.cwd().resolve()):
            folders = f"inside the current folder and outside {outputs() / 'runs'} and {outputs() / 'simulations'}"
            raise StoreError(f"code/{file} must be {folders}; import it in another folder")
        if blocked := [parent for parent in file.parents if parent.is_file()]:
            raise StoreError(f"{file}: {blocked[0]} is a file, not a folder; import into an empty folder")
        if file.exists() and not (file.is_file() and filecmp.cmp(file, code / file, shallow=False)):
            raise StoreError(f"{file}: a file exists with different content; import into an empty folder")
    return [file for file in files if not file.exists()]
