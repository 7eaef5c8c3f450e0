"""Configurations come from these sources: the folder `conf/`, folders of the user's own, and the folders of studies."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pomrl.configuration.composed import GROUPS, ConfigError

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

DESCRIPTION = "study.yaml"
"""The file that makes a folder a study."""

ENTRY_POINTS = "pomrl.studies"
"""The group of the entry points by which packages name the studies that they are."""

LOOKS = "looks.yaml"
"""The file in a folder of options that says how they look in figures, by group and option."""

SWEEPS = "conf/experiment"
"""The place in a study's folder of the group `experiment`, whose options STUDY/NAME are sweeps."""

PAPER = "pomrl2023"
"""The study of the paper, whose sweeps are named without the name of the study too."""

FORMER_NAMES = {"pomrl": PAPER}
"""Names of studies in version 1, which still answer."""


@dataclass(frozen=True)
class Sources:
    """The folders that configurations are composed from."""

    folder: Path
    """The folder with the primary configuration."""
    own: Path | None = None
    """A folder like `conf/` with further options and sweeps, as named by `--config-dir`."""
    named: tuple[Path, ...] = ()
    """The folders of studies that are not shipped, whose sweeps and options can be named."""

    @property
    def folders(self) -> tuple[Path, ...]:
        """The folders of options, absolute. Of two files with the same name, that of the earlier folder is read."""
        of_studies = (folder / "conf" for folder in self.studies if (folder / "conf").is_dir())
        return tuple(folder.resolve() for folder in (self.folder, *filter(None, [self.own]), *of_studies))

    @property
    def studies(self) -> tuple[Path, ...]:
        """The folders of studies: those that are shipped, and those of anybody's own."""
        return (*shipped_folders(), *self.named)

    def options(self, group: str) -> list[Path]:
        """Return the files of the options of a group, in alphabetical order of their names."""
        paths = {path.stem: path for folder in reversed(self.folders) for path in (folder / group).glob("*.yaml")}
        return [paths[name] for name in sorted(paths)]

    def with_study(self, folder: Path) -> "Sources":
        """Return the sources with the sweeps and options of a study; ConfigError if one hides a shipped option."""
        self._refuse_hidden(folder.resolve() / "conf")
        return self if folder.resolve() in self.studies else replace(self, named=(*self.named, folder.resolve()))

    def with_options(self, folder: Path | None) -> "Sources":
        """Return the sources with a folder of further options; ConfigError if it is none, or hides a shipped one."""
        if folder and not folder.is_dir():
            raise ConfigError(f"{folder}: there is no such folder of options")
        self._refuse_hidden(folder)
        return replace(self, own=folder)

    def _refuse_hidden(self, folder: Path | None) -> None:
        others = sorted(folder.glob("*/**/*.yml")) if folder else []
        for path in others:
            if path.relative_to(folder or path).parts[0] in (*GROUPS, "experiment"):
                raise ConfigError(f"{path}: files of options must end in .yaml, and this one is not read: rename it")
        for path in sorted(folder.glob("*/*.yaml")) if folder and folder.resolve() not in self.folders else ():
            if any((other / path.parent.name / path.name).exists() for other in self.folders):
                raise ConfigError(f"{path}: {path.parent.name}={path.stem} is shipped; give yours another name")


@cache
def shipped_packages() -> Mapping[Path, str]:
    """Return the packages of the shipped studies by their folders, in alphabetical order."""
    from importlib.metadata import distribution  # here, because it takes a few milliseconds

    return _packages(distribution("pomrl").entry_points.select(group=ENTRY_POINTS))


def shipped_folders() -> tuple[Path, ...]:
    """Return the folders of the shipped studies, in alphabetical order."""
    return tuple(shipped_packages())


@cache
def installed_packages() -> Mapping[Path, str]:
    """Return the packages of all installed studies by their folders, in alphabetical order."""
    from importlib.metadata import entry_points  # here, because most commands name no such study

    return _packages(entry_points(group=ENTRY_POINTS))


def _packages(points: Iterable["EntryPoint"]) -> dict[Path, str]:
    """Return the packages that entry points name, by their folders."""
    specs = {package: find_spec(package) for package in sorted(point.value for point in points)}
    folders = {package: spec.submodule_search_locations for package, spec in specs.items() if spec}
    return {Path(paths[0]).resolve(): package for package, paths in folders.items() if paths}


def folder_of(word: str) -> Path:
    """Return the folder of a study: a shipped one of this name, one of this path, or an installed one."""
    shipped = {folder.name: folder for folder in shipped_packages()}
    folder = shipped.get(FORMER_NAMES.get(word, word), Path(word).resolve())
    if (folder / DESCRIPTION).is_file():
        return folder
    return next((installed for installed in installed_packages() if installed.name == word), folder)


def sweep_names(study: Path) -> list[str]:
    """Return the names of the sweeps in the folder of a study, in alphabetical order."""
    return sorted(path.stem for path in study.glob(f"{SWEEPS}/{study.name}/*.yaml"))


def named_folders(sweeps: Iterable[str]) -> tuple[Path, ...]:
    """Return the folders of one's own studies that names of sweeps begin with, such as `mine/first`."""
    names = {sweep.rpartition("/")[0] for sweep in sweeps if "/" in sweep}
    folders = [folder_of(name) for name in sorted(names.difference(folder.name for folder in shipped_folders()))]
    return tuple(folder for folder in folders if (folder / DESCRIPTION).is_file() and folder not in shipped_packages())


def sweep_option(name: str) -> str:
    """Return the option STUDY/NAME of a sweep; its study may be a folder, or have a former name."""
    study, _, sweep = name.rpartition("/")
    is_there = any(sweep in sweep_names(folder) for folder in named_folders([name]))
    return f"{folder_of(study).name}/{sweep}" if is_there or study in FORMER_NAMES else name


_READ: dict[Path, None] = {}
"""The folders of the studies of anybody's own that this process has read, the latest last."""


def remember(folder: Path) -> None:
    """Note that this process reads a study, so that the looks of its options are known."""
    if folder not in shipped_folders():
        _READ.pop(folder, None)
        _READ[folder] = None


def own_studies() -> tuple[Path, ...]:
    """Return the folders of the studies that this process has read, the latest first, and of those in this folder."""
    here = (path.parent.resolve() for path in sorted(Path().glob(f"*/{DESCRIPTION}")))
    return tuple(dict.fromkeys([*reversed(_READ), *here]))


def beside_the_package(name: str) -> Path:
    """Return a folder that a checkout has at its top, and an installed package as a copy inside."""
    package = Path(__file__).parents[1]
    inside = package / name
    return inside if inside.exists() else package.parents[1] / name


PUBLISHED = Sources(beside_the_package("conf"))
"""The options and sweeps of this project."""


def find_looks(group: str, option: str, folders: Iterable[Path]) -> Mapping[str, Any] | None:
    """Return what is said of the look of an option, in the first of the folders that has this option.

    Raises:
        ConfigError: The file with the looks cannot be read.
    """
    folder = next((folder for folder in folders if (folder / group / f"{option}.yaml").is_file()), None)
    if folder is None or not (path := folder / LOOKS).is_file():
        return None
    import yaml  # here, because help needs none

    try:
        # libyaml's loader where it was built, because figures ask for looks often
        return yaml.load(path.read_bytes(), getattr(yaml, "CSafeLoader", yaml.SafeLoader))[group][option]
    except KeyError:
        return None
    except (yaml.YAMLError, TypeError) as error:
        raise ConfigError(f"{path}: cannot be read; it has looks by group and option") from error


def looks_of_own_options(choices: Mapping[str, Any], folders: Iterable[str]) -> dict[str, Mapping[str, Any]]:
    """Return the looks of the options that are not published, by group, as these folders say them."""
    own = [path for path in map(Path, folders) if path.resolve() not in PUBLISHED.folders]
    return {group: look for group, option in choices.items() if (look := find_looks(group, option, own))}
