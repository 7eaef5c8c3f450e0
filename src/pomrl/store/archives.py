"""Export and import zip archives of experiments and of a study's code.

    runs/<signature>/     an experiment
    code/                 a study's files; paths are relative to the folder in which its commands run
    studies/<study>/      results for readers, not imported

Equal files give equal archives. Files are checked before unpacking, and experiments before they are added.
"""

import filecmp
import os
import re
import shutil
import stat
import zipfile
import zlib
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from itertools import takewhile
from pathlib import Path, PurePosixPath
from tempfile import TemporaryDirectory
from unicodedata import normalize

from pomrl.configuration.composed import ConfigError
from pomrl.outputs import outputs
from pomrl.store import block_files
from pomrl.store.files import StoreError, replacing, root, write
from pomrl.store.manifests import MAX_NAME_BYTES, portable_name, tag_of
from pomrl.store.merging import Merge, plan_merge
from pomrl.store.stored_experiments import LOG, StoredExperiment, is_ours

MAX_BYTES = 8 * 2**30
"""The default limit on the size of an archive's files, and on the unpacked tables of an experiment, in bytes."""

MAX_TABLE_SHARE = 1 / 8
"""The limit on a block's unpacked table, as a share of the limit on the archive: readers hold a whole table."""

MAX_FILES = 200_000
"""The limit on the number of files in an archive."""

UNPACKED = ".import-"
"""The start of the name of a folder of unpacked files, in the folder of experiments: it may be on another disk."""

_CONTENT_ERRORS = (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError, UnicodeError)
"""Errors of `zipfile` for a damaged archive."""


def export(
    path: Path, stored: Sequence[StoredExperiment], extra_files: Mapping[str, Path] | None = None
) -> tuple[int, list[str]]:
    """Write an archive of experiments and other files.

    Returns:
        The number of files, and the other files or folders that are left out, because `import_` refuses their names.

    Raises:
        StoreError: There are no experiments or too many files, a file is damaged, or names differ only by case.
    """
    if not stored:
        raise StoreError(f"{root()}: no stored experiments to export")
    files = dict(extra_files or {})
    refused = sorted(name for name in files if not _is_expected(name.split("/")))
    for name in refused:
        del files[name]
    for experiment in stored:
        if faults := experiment.faults():
            raise StoreError(faults[0])
        unused = {LOG, *(block.name for block in {*experiment.files()} - {*experiment.blocks()})}
        names = {path.name for path in experiment.paths()} - unused
        files |= {f"runs/{experiment.signature}/{portable_name(name)}": experiment.folder / name for name in names}
    _check_names([*files])
    with replacing(path) as whole, zipfile.ZipFile(whole, "w") as archive:
        for name in sorted(files):
            entry = zipfile.ZipInfo(name)  # its constant default time keeps archives reproducible
            entry.create_system, entry.external_attr = 3, (stat.S_IFREG | 0o644) << 16
            entry.file_size = files[name].stat().st_size
            with files[name].open("rb") as source, archive.open(entry, "w") as target:
                shutil.copyfileobj(source, target)
    return len(files), list(dict.fromkeys(map(_through_refused_part, refused)))


def import_(
    path: Path,
    max_bytes: float = MAX_BYTES,
    agrees: Callable[[Sequence[Path]], bool] = lambda _: False,
    check: Callable[[StoredExperiment], object] = lambda _: None,
) -> list[Merge]:
    """Check an archive, and merge its experiments into the stored ones.

    `agrees` returns whether new files of a study may be written to the current folder. `check` raises a StoreError or
    ConfigError for an experiment with wrong settings. After a kill, a second import completes the first.

    Raises:
        StoreError: The archive is missing, invalid, too large or damaged, contradicts stored runs, or would change a
            file of the study. Nothing is changed.
    """
    root().mkdir(parents=True, exist_ok=True)
    with TemporaryDirectory(prefix=UNPACKED, dir=root()) as name:
        folder = Path(name)
        try:
            with zipfile.ZipFile(path) as archive:
                for entry in _select_entries(archive, max_bytes):
                    archive.extract(entry, folder)  # at most the size in the entry is extracted
            unpacked = [StoredExperiment(location) for location in sorted(folder.glob("runs/*"))]
            for stored in unpacked:
                _check_tables(stored, max_bytes)
                if faults := stored.faults() or ([] if stored.contiguous() else [f"{stored.folder}: no runs"]):
                    raise StoreError(faults[0].replace(f"{folder}/", "").partition("; ")[0])
                check(stored)
            merges = [plan_merge(stored, StoredExperiment(root() / stored.signature)) for stored in unpacked]
            new_files = _find_missing(folder / "code")
        except FileNotFoundError as error:
            raise StoreError(f"{path}: no such file") from error
        except _CONTENT_ERRORS as error:
            raise StoreError(f"{path}: damaged, or not a zip archive") from error
        except (StoreError, ConfigError) as error:
            raise StoreError(f"{path}: {error}") from error
        for merge in merges:
            merge.apply()
        for file in new_files if new_files and agrees(new_files) else ():
            write(file, (folder / "code" / file).read_bytes())
    return merges


def read_results(path: Path, name: str) -> dict[str, bytes]:
    """Read the file `name` of each study's results in an archive, by study."""
    with zipfile.ZipFile(path) as archive:
        entries = (entry.split("/") for entry in archive.namelist())
        studies = [inside[1] for inside in entries if (inside[0], *inside[2:]) == ("studies", name)]
        return {study: archive.read(f"studies/{study}/{name}") for study in studies}


def _check_tables(stored: StoredExperiment, max_bytes: float) -> None:
    """Raise a StoreError if the tables of an experiment are too large by the footers of its blocks."""
    paths = [stored.folder / block.name for block in stored.files()]
    sizes = [(*block_files.size(path), "/".join(path.parts[-3:])) for path in paths]
    total = sum(size for size, _, _ in sizes)
    largest, rows, name = max(sizes, default=(0, 0, ""))
    needed, is_readable = max(total, largest / MAX_TABLE_SHARE), largest <= block_files.MAX_TABLE_BYTES
    if needed > max_bytes or not is_readable:
        limit = f"a block must have at most {block_files.MAX_TABLE_BYTES / 1e9:.1f} GB"
        advice = f"set --most {needed / 1e9 + 0.1:.1f}" if is_readable else limit
        counts = f"{rows:,} rows and {largest / 1e9:.1f} GB, and its experiment has {total / 1e9:.1f} GB"
        raise StoreError(f"{name}: unpacked, it has {counts}; {advice}")


def _select_entries(archive: zipfile.ZipFile, max_bytes: float) -> list[zipfile.ZipInfo]:
    entries = archive.infolist()
    if (total := sum(entry.file_size for entry in entries) / 1e9) > max_bytes / 1e9:
        raise StoreError(
            f"the unpacked size must be at most {max_bytes / 1e9:.1f} GB, got {total:.1f} GB; "
            f"set --most {total + 0.1:.1f}"
        )
    for entry in entries:
        is_file = stat.S_IFMT(entry.external_attr >> 16) in (0, stat.S_IFREG)
        if not (is_file and _is_expected(entry.filename.split("/"))):
            raise StoreError(f"{entry.filename}: not a file of an experiment or study")
    _check_names([entry.filename for entry in entries])
    if damaged := archive.testzip():  # also files that are not imported
        raise StoreError(f"{damaged}: damaged in the archive; export or copy it again")
    for entry in entries:
        folder, _, name = entry.filename.rpartition("/")
        entry.filename = f"{folder}/{portable_name(name)}" if folder.startswith("runs/") else entry.filename
    return [entry for entry in entries if not entry.filename.startswith("studies/")]


def _check_names(names: Sequence[str]) -> None:
    if len(names) > MAX_FILES:
        raise StoreError(
            f"the number of files must be at most {MAX_FILES:,}, got {len(names):,}; export fewer experiments, "
            "such as those of a tag"
        )
    paths = [PurePosixPath(_fold(name)) for name in names]
    counts = Counter([*paths, *{folder for path in paths for folder in path.parents}])
    if twice := [path for path, count in counts.items() if count > 1]:
        raise StoreError(f"{twice[0]}: two files, or a file and a folder, must not have the same name, ignoring case")


def _fold(name: str) -> str:
    """Return a name as macOS compares it; tags have portable names after import."""
    is_tag = name.startswith("runs/") and tag_of(name.rpartition("/")[2]) is not None
    return name if is_tag else normalize("NFC", name).casefold()


def _is_expected(names: Sequence[str]) -> bool:
    if any(len(os.fsencode(name)) > MAX_NAME_BYTES for name in names):
        return False
    match names:
        case ["runs", signature, name]:
            return re.fullmatch("[0-9a-f]{12}", signature) is not None and is_ours(name) and name != LOG
        case ["code" | "studies", *inside] if inside:
            return all(map(_is_portable, inside))
        case _:
            return False


def _is_portable(name: str) -> bool:
    return name != "" and name[0] != "." and name.isprintable() and "\\" not in name


def _through_refused_part(name: str) -> str:
    """Return a path up to its first refused part, such as a hidden folder."""
    segments = name.split("/")
    return "/".join(segments[: len([*takewhile(_is_portable, segments)]) + 1])


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
