"""Configurations come from these sources: the folder `conf/`, a folder of the user's own, and what replaces what."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from pomrl.configuration.composed import METHOD_GROUPS

REPLACEABLE = (*METHOD_GROUPS, "task_distribution")
"""Groups in which one option can replace another."""


@dataclass(frozen=True)
class Replacement:
    """The option `new` takes the place of the option `old` of its group, in every experiment that has `old`."""

    group: str
    old: str
    new: str

    def concerns(self, options: Mapping[str, str]) -> bool:
        """Return whether an experiment with these options, given by group, has the option that is replaced."""
        return options.get(self.group) == self.old


@dataclass(frozen=True)
class Sources:
    """The folders that configurations are composed from, and an option that replaces one of ours."""

    folder: Path
    own: Path | None = None
    """A folder like `conf/` with further options and sweeps, as named by `--config-dir`."""
    replacement: Replacement | None = None

    @property
    def folders(self) -> tuple[Path, ...]:
        """The folders as absolute paths. Of two files with the same name, the one in the earlier folder is read."""
        return tuple(folder.resolve() for folder in (self.folder, self.own) if folder)

    @property
    def as_published(self) -> "Sources":
        """The same folders without the replacement."""
        return replace(self, replacement=None)

    def results(self, outputs: Path) -> Path:
        """Return where figures and claims are written: with a replacement, a folder of its own below `outputs`."""
        return outputs / "extensions" / self.replacement.new if self.replacement else outputs


def beside_the_package(name: str) -> Path:
    """Return a file or folder that a checkout has at its top, and of which an installed package has a copy inside."""
    package = Path(__file__).parents[1]
    inside = package / name
    return inside if inside.exists() else package.parents[1] / name


PUBLISHED = Sources(beside_the_package("conf"))
"""The options and sweeps of this repository."""
