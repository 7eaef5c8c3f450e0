"""Where configurations are composed from: the folder `conf/`, one of one's own, and what stands in for what."""

import argparse
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from hydra._internal.hydra import Hydra
from hydra._internal.utils import create_config_search_path
from hydra.core.config_loader import ConfigLoader
from hydra.core.config_search_path import SearchPathQuery
from hydra.core.global_hydra import GlobalHydra

from pomrl.config import METHOD, ConfigError, register_resolvers

REPLACEABLE = (*METHOD, "task_distribution")
"""The groups whose options can stand in for one another."""


@dataclass(frozen=True)
class Replacement:
    """An option that stands in for another of its group, in every experiment that has that."""

    group: str
    old: str
    new: str

    def concerns(self, options: Mapping[str, str]) -> bool:
        """Whether an experiment with these options has what is replaced."""
        return options.get(self.group) == self.old


@dataclass(frozen=True)
class Conf:
    """Where configurations are composed from."""

    folder: Path
    own: Path | None = None
    """A folder like `conf/` with further options and sweeps: what `--config-dir` names."""
    replacement: Replacement | None = None

    @property
    def as_published(self) -> "Conf":
        """The same without the replacement."""
        return replace(self, replacement=None)

    def results(self, outputs: Path) -> Path:
        """Where what is made of the stored runs goes: a folder of its own for what a replacement changes."""
        return outputs / "extensions" / self.replacement.new if self.replacement else outputs


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The argument that names a folder of one's own."""
    parser.add_argument("--config-dir", type=Path, metavar="DIR", help="a folder like conf/ with options of your own")


def add_replacement(parser: "argparse._ActionsContainer") -> None:
    """The argument that names what stands in for what."""
    parser.add_argument("--replace", metavar="OURS=YOURS", help="an option of yours in the place of one of ours")


def conf_of(ours: Conf, arguments: argparse.Namespace) -> Conf:
    """Ours with what these arguments name. ConfigError where it is a folder or an option that does not exist."""
    own = arguments.config_dir
    if own and not own.is_dir():
        raise ConfigError(f"--config-dir {own}: there is no such folder")
    conf = replace(ours, own=own)
    asked = getattr(arguments, "replace", None)
    return replace(conf, replacement=_replacement(conf, asked)) if asked else conf


def _replacement(conf: Conf, asked: str) -> Replacement:
    old, equals, new = asked.partition("=")
    if not (old and equals and new):
        raise ConfigError(f"--replace {asked}: it has to be OURS=YOURS, such as ada_pomrl=empirical_bayes")
    folders = [folder for folder in (conf.folder, conf.own) if folder]
    for group in REPLACEABLE:
        options = {path.stem for folder in folders for path in (folder / group).glob("*.yaml")}
        if old in options and new in options:
            return Replacement(group, old, new)
        if old in options:
            raise ConfigError(f"--replace {asked}: {group} has no option {new}; it has {', '.join(sorted(options))}")
    raise ConfigError(f"--replace {asked}: there is no option {old} in {', '.join(REPLACEABLE)}")


@contextmanager
def composing(conf: Conf) -> Iterator[ConfigLoader]:
    """Hydra, ready to compose from these folders, while it lasts."""
    register_resolvers()
    search_path = create_config_search_path(str(conf.folder.resolve()))
    if conf.own:
        search_path.prepend("command-line", f"file://{conf.own.resolve()}", SearchPathQuery(provider="schema"))
    Hydra.create_main_hydra2(task_name="app", config_search_path=search_path)
    try:
        yield GlobalHydra.instance().config_loader()
    finally:
        GlobalHydra.instance().clear()
