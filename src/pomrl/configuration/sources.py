"""Configurations come from these sources: the folder `conf/`, folders of the user's own, and the folders of studies."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cache
from importlib.util import find_spec
from pathlib import Path

from pomrl.configuration.composed import GROUPS, ConfigError

DESCRIPTION = "study.yaml"
"""The file that makes a folder a study."""

ENTRY_POINTS = "pomrl.studies"
"""The group of the entry points by which packages name the studies that they are."""

STUDIES = Path(__file__).parents[1] / "studies"
"""The folder of the studies that are shipped."""

SWEEPS = "conf/experiment"
"""The place in a study's folder of the group `experiment`, whose options STUDY/NAME are sweeps."""

PAPER = (STUDIES / "pomrl").resolve()
"""The folder of the paper's study, whose sweeps are named without the name of the study too."""


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
def shipped_folders() -> tuple[Path, ...]:
    """Return the folders of the studies that are shipped, in alphabetical order."""
    return tuple(path.parent.resolve() for path in sorted(STUDIES.glob(f"*/{DESCRIPTION}")))


@cache
def installed_folders() -> Mapping[str, Path]:
    """Return the folders of studies that are packages on their own, which name themselves as entry points."""
    from importlib.metadata import entry_points  # here, because most commands name no such study

    specs = {point.value: find_spec(point.value) for point in entry_points(group=ENTRY_POINTS)}
    found = {name: spec.submodule_search_locations for name, spec in specs.items() if spec}
    return {name: Path(folders[0]).resolve() for name, folders in found.items() if folders}


def folder_of(word: str) -> Path:
    """Return the folder of a study of somebody's own: one of this path, or the one that is installed with this name."""
    folder = Path(word).resolve()
    return folder if (folder / DESCRIPTION).is_file() else installed_folders().get(word, folder)


def sweep_names(study: Path) -> list[str]:
    """Return the names of the sweeps in the folder of a study, in alphabetical order."""
    return sorted(path.stem for path in study.glob(f"{SWEEPS}/{study.name}/*.yaml"))


def named_folders(sweeps: Iterable[str]) -> tuple[Path, ...]:
    """Return the folders of one's own studies that names of sweeps begin with, such as `mine/first`."""
    names = {sweep.rpartition("/")[0] for sweep in sweeps if "/" in sweep}
    folders = [folder_of(name) for name in sorted(names.difference(folder.name for folder in shipped_folders()))]
    return tuple(folder for folder in folders if (folder / DESCRIPTION).is_file())


def sweep_option(name: str) -> str:
    """Return the option STUDY/NAME of a sweep that is named by the path of its study's folder; others as they are."""
    study, _, sweep = name.rpartition("/")
    is_there = any(sweep in sweep_names(folder) for folder in named_folders([name]))
    return f"{folder_of(study).name}/{sweep}" if is_there else name


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
