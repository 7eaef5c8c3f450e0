"""Read studies: `study.yaml`, and modules of claims, figures and variants."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from keyword import iskeyword
from pathlib import Path
from types import ModuleType
from typing import Annotated, Any, cast

import yaml
from pydantic import Field
from pydantic.dataclasses import dataclass as checked_dataclass

from pomrl.base import CHECKED
from pomrl.configuration.composed import ConfigError, unknown_key
from pomrl.configuration.importing import add_to_path, display_path, format_error, import_by_name, place_of
from pomrl.configuration.parsing import make
from pomrl.configuration.sources import (
    DESCRIPTION,
    OF_PAPERS,
    PAPER,
    PAPERS_REMEDY,
    PUBLISHED,
    SWEEPS,
    Sources,
    folder_of,
    installed_packages,
    known_studies,
    register_folder,
    shipped_folders,
    shipped_packages,
    sweep_names,
    sweep_option,
)
from pomrl.configuration.sweeps import Setting, names, sweep
from pomrl.configuration.variants import DEFAULT, Family, Variant, of_keys
from pomrl.outputs import outputs


@checked_dataclass(frozen=True, config=CHECKED, kw_only=True)
class StudyConfig:
    """The content of `study.yaml`."""

    title: Annotated[str, Field(min_length=1)]
    """The title of the study, or of its paper."""
    cite: str | None = None
    """The authors, journal and year of its paper."""
    about: str = ""
    """The question, in a few sentences."""
    links: dict[str, Annotated[str, Field(pattern=r"https?://\S+$")]] = field(default_factory=dict[str, str])
    """Addresses by label, such as that of its paper, for the top of its page."""
    headline: Annotated[list[str], Field(min_length=1)] = field(default_factory=lambda: [DEFAULT])
    """The main variants, which share `error`."""
    error: Annotated[float, Field(gt=0, lt=1)] = 0.05
    """Probability of any wrong verdict in all headline variants together, or in each other variant."""
    runs: Annotated[int, Field(ge=10)] = 1000
    """Number of runs for claims without `runs=`."""
    variants: dict[str, dict[str, Any] | str] = field(default_factory=lambda: {DEFAULT: {}})
    """The variants by name: changed keys with values, or a function as MODULE.NAME."""


@dataclass(frozen=True, eq=False)
class Study:
    """A study: its folder and description.

    A study equals itself only, so that functions can cache what they read from it.
    """

    folder: Path
    """The absolute path of the folder."""
    config: StudyConfig

    def __getstate__(self) -> dict[str, Any]:
        return {"folder": self.folder, "config": self.config}

    @property
    def name(self) -> str:
        return self.folder.name

    @property
    def is_shipped(self) -> bool:
        return self.folder in shipped_folders()

    @property
    def is_installed(self) -> bool:
        return self.folder in installed_packages()

    @property
    def argument(self) -> str:
        """The argument of commands: the name if shipped or installed, otherwise the folder."""
        if self.is_shipped or self.is_installed:
            return self.name
        current = Path.cwd().resolve()
        return str(self.folder.relative_to(current) if self.folder.is_relative_to(current) else self.folder)

    @property
    def outputs(self) -> Path:
        return outputs() / "studies" / self.name

    @property
    def sources(self) -> Sources:
        return PUBLISHED.with_study(self.folder)

    @property
    def sweeps(self) -> list[str]:
        return sweep_names(self.folder)

    def option(self, name: str) -> str:
        """Return a sweep's value for `experiment=`; ConfigError if unknown."""
        name = sweep_option(name)
        if name in self.sweeps:
            return name if self.is_shipped and self.name == PAPER else f"{self.name}/{name}"
        if "/" not in name:
            available = ", ".join(self.sweeps) or "none"
            raise ConfigError(
                f"{self.argument}: unknown sweep {name!r}; available in {SWEEPS}/{self.name}/: {available}"
            )
        if name not in names(self.sources):
            raise ConfigError(f"{self.argument}: unknown sweep {name!r}, neither of this study nor of a shipped one")
        return name

    def sweep_argument(self, name: str) -> str:
        """Return a sweep's value for `experiment=` in the current folder."""
        is_local = not self.is_shipped and name in self.sweeps
        return f"{self.argument}/{name}" if is_local else self.option(name)

    def check_sweeps(self, sweeps: Iterable[str], reader: str) -> None:
        """Raise a ConfigError for an unknown sweep of `reader`, such as `claim Q1.1`."""
        for name in sweeps:
            try:
                self.option(name)
            except ConfigError as error:
                raise ConfigError(f"{self.argument}: {reader}: {str(error).partition(': ')[2]}") from error

    def settings(self, name: str, variant: Variant | None = None) -> list[Setting]:
        """Return a sweep's experiments under a variant, composed once; ConfigError if composition fails."""
        key = name, id(variant)
        if key not in self._composed:
            self._composed[key] = variant, self._compose(name, variant)  # the id is unique while the variant lives
        return self._composed[key][1]

    @cached_property
    def _composed(self) -> dict[tuple[str, int], tuple[Variant | None, list[Setting]]]:
        return {}

    def _compose(self, name: str, variant: Variant | None) -> list[Setting]:
        self.register()
        axes = variant.sweeps.get(name) if variant and variant.sweeps else None
        try:
            return sweep(self.sources, self.option(name) if axes is None else name, variant, axes)
        except ConfigError as error:
            changing = variant.name if variant and variant.name != self.unchanged else ""
            is_described = changing in self.config.variants
            where = f"{display_path(str(self.path))}: variants.{changing}" if is_described else self.argument
            raise ConfigError(f"{where}: {error}") from error

    @cached_property
    def variants(self) -> tuple[Variant, ...]:
        """The variants of `study.yaml`, in its order."""
        return tuple(self._variant(name, value) for name, value in self.config.variants.items())

    def _variant(self, name: str, value: Mapping[str, Any] | str) -> Variant:
        where = f"{display_path(str(self.path))}: variants.{name}"
        if not isinstance(value, str):
            try:
                return of_keys(name, value)
            except ConfigError as error:
                raise ConfigError(f"{where}: {error}") from error
        module, _, function = ("variants." * ("." not in value) + value).rpartition(".")
        file = f"{module.replace('.', '/')}.py"
        variant = getattr(self.module(module), function, None) if (self.folder / file).is_file() else None
        if not isinstance(variant, Variant):
            raise ConfigError(f"{where}={value}: no function {function} with @variant in {file}")
        return replace(variant, name=name)

    @property
    def unchanged(self) -> str:
        return next((name for name, changes in self.config.variants.items() if changes == {}), DEFAULT)

    @cached_property
    def families(self) -> Mapping[str, Family]:
        """The families of `variants.py` by name; ConfigError if judged variants share names."""
        members = vars(self.module("variants")).values() if (self.folder / "variants.py").is_file() else ()
        families = {family.name: family for family in members if isinstance(family, Family)}
        names = [variant.name for family in families.values() if family.is_judged for variant in family.variants]
        if twice := [name for name in names if names.count(name) > 1 and name not in self.config.variants]:
            raise ConfigError(f"{self.argument}/variants.py: two families have the variant {twice[0]}; rename one")
        return families

    def family(self, name: str) -> Family:
        if name not in self.families:
            names = ", ".join([*self.config.variants, *self.families])
            raise ConfigError(f"{self.argument}: unknown variant or family {name}; available: {names}")
        return self.families[name]

    @property
    def path(self) -> Path:
        return self.folder / DESCRIPTION

    @property
    def article(self) -> Path:
        return self.folder / "article" / "article.typ"

    @property
    def package(self) -> str:
        return shipped_packages().get(self.folder) or installed_packages().get(self.folder, self.name)

    def modules(self, kind: str) -> list[ModuleType]:
        """Import the modules KIND.py and KIND/*.py, sorted."""
        inside = sorted(path.stem for path in (self.folder / kind).glob("*.py") if not path.stem.startswith("_"))
        names = [kind] * (self.folder / f"{kind}.py").is_file() + [f"{kind}.{stem}" for stem in inside]
        return [self.module(name) for name in names]

    def module(self, name: str) -> ModuleType:
        """Import a module by its name in the folder; ConfigError if impossible."""
        self.register()
        try:
            module = import_by_name(f"{self.package}.{name}")
        except SyntaxError as error:
            raise ConfigError(
                f"{self.argument}: {display_path(error.filename or name)}:{error.lineno}: {error.msg}"
            ) from error
        except (Exception, SystemExit) as error:  # a user's module may raise anything
            where = place_of(error, str(self.folder / f"{name.replace('.', '/')}.py"))
            raise ConfigError(f"{self.argument}: {where}: {format_error(error)}") from error
        if not Path(str(module.__file__)).resolve().is_relative_to(self.folder):
            raise ConfigError(f"{self.argument}: another package has the name {self.name}; rename the folder")
        return module

    def register(self) -> None:
        """Make the study's modules and plot styles available."""
        register_folder(self.folder)
        if not (self.is_shipped or self.is_installed):
            add_to_path(self.folder.parent)


def shipped_studies() -> list[Study]:
    """Return the shipped studies, sorted."""
    return [read_study(folder) for folder in shipped_folders()]


def is_study(name: str) -> bool:
    """Return whether a word is the name or folder of a study."""
    try:
        return (folder_of(name) / DESCRIPTION).is_file()
    except OSError:  # e.g. a name too long for a file
        return False


def find(name: str) -> Study:
    """Find a study by name or folder; ConfigError if unknown or invalid."""
    folder = folder_of(name)
    if folder in shipped_folders():
        return read_study(folder)
    if name in OF_PAPERS and not (folder / DESCRIPTION).is_file():
        raise ConfigError(f"{name} {PAPERS_REMEDY}")
    if not (folder / DESCRIPTION).is_file():
        what = f"no {DESCRIPTION} in this folder" if folder.is_dir() else "unknown study or folder"
        names = [path.name for path in known_studies()]
        raise ConfigError(f"{unknown_key(name, name, names, what)}; create a study with pomrl new FOLDER")
    check_study_name(folder.name, name)
    return read_study(folder)


def check_study_name(name: str, start: str) -> None:
    """Raise a ConfigError for an invalid name of a user's study."""
    if name in {"pomrl", *OF_PAPERS, *(folder.name for folder in shipped_folders())}:
        raise ConfigError(f"{start}: the name {name} is reserved for a package or a shipped study; choose another name")
    if not name.isidentifier() or iskeyword(name):
        raise ConfigError(f"{start}: the name of the folder must be a Python identifier, such as my_study")


def read_study(folder: Path) -> Study:
    """Read the study in a folder; ConfigError with file and key."""
    path, content = display_path(str(folder / DESCRIPTION)), _read_yaml(folder / DESCRIPTION)
    try:
        config: StudyConfig = make(StudyConfig, content)
    except ConfigError as error:
        raise ConfigError(f"{path}: {error}") from error
    if unknown := [name for name in config.headline if name not in config.variants]:
        available = ", ".join(config.variants) or "none"
        raise ConfigError(f"{path}: headline: unknown variant {unknown[0]}; available: {available}")
    return Study(folder, config)


def _read_yaml(path: Path) -> dict[str, Any]:
    try:
        content: Any = yaml.safe_load(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, yaml.YAMLError) as error:
        raise ConfigError(f"{display_path(str(path))}: {' '.join(str(error).split())}") from error
    if not isinstance(content, dict):
        raise ConfigError(f"{display_path(str(path))}: the file must have keys and values, such as title: ...")
    return {str(key): value for key, value in cast(dict[Any, Any], content).items()}
