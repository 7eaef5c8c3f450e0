"""Locate configurations: `conf/`, user folders and studies."""

from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cache
from importlib.util import find_spec
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pomrl.configuration.composed import GROUPS, READING, ConfigError

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

DESCRIPTION = "study.yaml"
"""The description of a study; a folder with this file is a study."""

ENTRY_POINTS = "pomrl.studies"
"""The group of entry points for studies."""

LOOKS = "looks.yaml"
"""The file with the styles of a folder's options in figures, by group and option."""

SHIPPED = ("pomrl", "pomrl-papers")
"""The distributions of this project with studies. Their options and sweeps are available everywhere, if installed."""

OF_PAPERS = ("amit2020", "horizons", "jiang2015", "rathnam2023")
"""The studies of pomrl-papers, which may be missing. No user's study may have their names."""

PAPERS_REMEDY = "needs pomrl-papers: pip install ./packages/pomrl-papers"

SWEEPS = "conf/experiment"
"""The folder of sweeps in a study. They are options STUDY/NAME of the group `experiment`."""

PAPER = "pomrl2023"
"""The study of the paper. Its sweeps also have short names."""


@dataclass(frozen=True)
class Sources:
    """The folders of configurations."""

    folder: Path
    """The folder with the primary configuration."""
    own: Path | None = None
    """The folder of `--config-dir`."""
    named: tuple[Path, ...] = ()
    """The folders of users' studies."""

    @property
    def folders(self) -> tuple[Path, ...]:
        """The absolute folders of options; for equal names, the first counts."""
        studies = (folder / "conf" for folder in self.studies if (folder / "conf").is_dir())
        return tuple(folder.resolve() for folder in (self.folder, *filter(None, [self.own]), *studies))

    @property
    def studies(self) -> tuple[Path, ...]:
        return (*shipped_folders(), *self.named)

    def options(self, group: str) -> list[Path]:
        paths = {path.stem: path for folder in reversed(self.folders) for path in (folder / group).glob("*.yaml")}
        return [paths[name] for name in sorted(paths)]

    def content(self, group: str, option: str) -> dict[str, Any]:
        """Read the keys of an option, also those from the options in its defaults; empty if there is none."""
        import yaml  # here, because help needs none

        path = next((path for path in self.options(group) if path.stem == option), None)
        # the C loader if available, because a person waits for a completion
        loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
        own_keys: dict[str, Any] = (yaml.load(path.read_bytes(), loader) if path else None) or {}
        inherited_keys: dict[str, Any] = {}
        for default in own_keys.pop("defaults", []):
            if isinstance(default, str) and default != "_self_":
                inherited_keys |= self.content(group, default.partition("@")[0].rpartition("/")[2])
        return inherited_keys | own_keys

    def with_study(self, folder: Path) -> "Sources":
        """Add a study; ConfigError if it hides another folder's option."""
        self._refuse_hidden(folder.resolve() / "conf")
        return self if folder.resolve() in self.studies else replace(self, named=(*self.named, folder.resolve()))

    def with_options(self, folder: Path | None) -> "Sources":
        """Add a folder of options; ConfigError if missing, empty, or hiding others."""
        if folder and not folder.is_dir():
            raise ConfigError(f"{folder}: no such folder of options")
        if folder and not _has_groups(folder):
            if meant := next(filter(_has_groups, sorted(folder.glob("*/"))), None):
                raise ConfigError(f"{folder}: no options in this folder (did you mean {meant}?)")
            if not any(chain(folder.glob("*.yaml"), folder.glob("*/*.yaml"))):
                raise ConfigError(f"{folder}: no options in this folder; they are files such as estimator/mine.yaml")
        self._refuse_hidden(folder)
        return replace(self, own=folder)

    def _refuse_hidden(self, folder: Path | None) -> None:
        for path in sorted(folder.glob("*/**/*.yml")) if folder else []:
            if path.relative_to(folder or path).parts[0] in (*GROUPS, "experiment"):
                raise ConfigError(f"{path}: a file of options must end in .yaml; rename it")
        if folder is None or folder.resolve() in self.folders:
            return
        for path in sorted([*folder.glob("*/*.yaml"), *folder.glob("reading/*/*/*.yaml")]):
            inside = path.relative_to(folder)
            if hidden := next(filter(Path.exists, (other / inside for other in self.folders)), None):
                option = f"{inside.parent}={path.stem}"
                raise ConfigError(f"{path}: the option {option} exists already in {hidden}; choose another name")


def _has_groups(folder: Path) -> bool:
    return any((folder / group).is_dir() for group in (*GROUPS, READING, "experiment", "hydra"))


@cache
def shipped_packages() -> Mapping[Path, str]:
    """Return the packages of the shipped studies by folder, sorted."""
    from importlib.metadata import PackageNotFoundError, distribution  # here, because it is slow

    points: list[EntryPoint] = []
    for name in SHIPPED:
        with suppress(PackageNotFoundError):
            points += distribution(name).entry_points.select(group=ENTRY_POINTS)
    return _packages(points)


def shipped_folders() -> tuple[Path, ...]:
    """Return the folders of the shipped studies, sorted."""
    return tuple(shipped_packages())


@cache
def installed_packages() -> Mapping[Path, str]:
    """Return the packages of all installed studies by folder, sorted."""
    from importlib.metadata import entry_points  # here, because few commands need it

    return _packages(entry_points(group=ENTRY_POINTS))


def _packages(points: Iterable["EntryPoint"]) -> dict[Path, str]:
    packages = sorted((point.value for point in points), key=lambda package: package.rpartition(".")[2])
    specs = {package: find_spec(package) for package in packages}
    folders = {package: spec.submodule_search_locations for package, spec in specs.items() if spec}
    return {Path(paths[0]).resolve(): package for package, paths in folders.items() if paths}


def folder_of(name: str) -> Path:
    """Return the folder of a study: shipped, at this path, or installed.

    An unknown name gives its path, perhaps missing.
    """
    shipped = {folder.name: folder for folder in shipped_packages()}
    folder = shipped.get(name, Path(name).resolve())
    if (folder / DESCRIPTION).is_file():
        return folder
    return next((installed for installed in installed_packages() if installed.name == name), folder)


def sweep_names(study: Path) -> list[str]:
    """Return the names of a study's sweeps, sorted."""
    return sorted(path.stem for path in study.glob(f"{SWEEPS}/{study.name}/*.yaml"))


def named_folders(sweeps: Iterable[str]) -> tuple[Path, ...]:
    """Return the folders of users' studies in sweep names."""
    names = {sweep.rpartition("/")[0] for sweep in sweeps if "/" in sweep}
    folders = [folder_of(name) for name in sorted(names.difference(folder.name for folder in shipped_folders()))]
    return tuple(folder for folder in folders if (folder / DESCRIPTION).is_file() and folder not in shipped_packages())


def sweep_option(name: str) -> str:
    """Return a sweep's option STUDY/NAME, resolving folders."""
    study, _, sweep = name.rpartition("/")
    is_there = any(sweep in sweep_names(folder) for folder in named_folders([name]))
    return f"{folder_of(study).name}/{sweep}" if is_there else name


_SEARCHED: list[Path] = []
"""The further folders of options that this process's `pomrl run` searches."""


def search_also(folders: Iterable[Path]) -> None:
    """Let Hydra search these folders of options too."""
    _SEARCHED[:] = folders


def searched_folders() -> list[Path]:
    """Return the folders of `search_also`."""
    return [*_SEARCHED]


_READ: dict[Path, None] = {}
"""Folders of users' studies read by this process, the latest last."""


def register_folder(folder: Path) -> None:
    """Record a user's study read by this process, for its plot styles."""
    if folder not in shipped_folders():
        _READ.pop(folder, None)
        _READ[folder] = None


def local_studies() -> list[Path]:
    """Return the absolute folders of studies in the current folder, sorted."""
    return [path.parent.resolve() for path in sorted(Path().glob(f"*/{DESCRIPTION}"))]


def own_studies() -> tuple[Path, ...]:
    """Return the folders of users' studies: last read first, then local ones."""
    return tuple(dict.fromkeys([*reversed(_READ), *local_studies()]))


def known_studies() -> list[Path]:
    """Return the folders of shipped, installed and local studies."""
    return list(dict.fromkeys([*shipped_folders(), *installed_packages(), *local_studies()]))


def beside_the_package(name: str) -> Path:
    """Return a folder of the checkout, or its installed copy."""
    package = Path(__file__).parents[1]
    inside = package / name
    return inside if inside.exists() else package.parents[1] / name


PUBLISHED = Sources(beside_the_package("conf"))
"""The options and sweeps of this project."""


def find_looks(group: str, option: str, folders: Iterable[Path]) -> Mapping[str, Any] | None:
    """Return an option's plot style from the first folder with the option, or None.

    ConfigError: the file of styles is invalid.
    """
    folder = next((folder for folder in folders if (folder / group / f"{option}.yaml").is_file()), None)
    if folder is None or not (path := folder / LOOKS).is_file():
        return None
    import yaml  # here, because help needs none

    try:
        # the C loader if available, because figures read styles often
        return yaml.load(path.read_bytes(), getattr(yaml, "CSafeLoader", yaml.SafeLoader))[group][option]
    except KeyError:
        return None
    except (yaml.YAMLError, TypeError) as error:
        raise ConfigError(
            f"{path}: the file must contain styles by group and option, such as agent: {{mine: {{color: red}}}}"
        ) from error


def looks_of_own_options(choices: Mapping[str, Any], folders: Iterable[str]) -> dict[str, Mapping[str, Any]]:
    """Return the plot styles of unpublished options, by group."""
    published = PUBLISHED.folders
    own = [path for path in map(Path, folders) if path.resolve() not in published]
    return {group: look for group, option in choices.items() if (look := find_looks(group, option, own))}


def options_outside_reading(choices: Mapping[str, Any], folders: Iterable[str | Path]) -> tuple[str, ...]:
    """Describe the options without keys in the selected reading, one a line.

    An option has keys if it or an option of its defaults has a file `reading/GROUP/OPTION/READING.yaml`. `choices` are
    those of Hydra, also of these files. Groups without such files for any option are left out.
    """
    name, paths = choices.get(READING), [*map(Path, folders)]
    lines: list[str] = []
    for group in (group for group in GROUPS if group in choices):
        inherited = [key.partition("@")[0] for key in choices if key.startswith(f"{READING}/{group}/")]
        has_keys = any((path / key / f"{name}.yaml").is_file() for path in paths for key in inherited)
        if not has_keys and any(any(path.glob(f"{READING}/{group}/*/{name}.yaml")) for path in paths):
            lines.append(f"{READING}={name} has no keys for {group}={choices[group]}, which keeps its own")
    return tuple(lines)


@cache
def keys_of_readings() -> frozenset[str]:
    """Return the keys outside of components, and the groups, set by published readings."""
    import yaml  # here, because help needs none

    keys: set[str] = set()
    for path in PUBLISHED.options(READING):
        content: dict[str, Any] = yaml.safe_load(path.read_text(encoding="utf-8"))
        groups = [key for choice in content.pop("defaults", []) for key in choice]
        keys |= {*content, *(group.removeprefix("override /") for group in groups)}
    return frozenset(keys)
