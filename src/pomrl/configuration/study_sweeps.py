"""The sweeps of studies as options of Hydra's group `experiment`.

The sweep NAME of a study is the option `experiment=STUDY/NAME`. A study whose description says `short_names: true` has
its sweeps as `experiment=NAME` too. `StudySweeps` is a source of configurations in Hydra's sense, whose address is
`study://FOLDER`; `hydra_plugins.study_sweeps` makes it known to Hydra.
"""

from functools import cache
from pathlib import Path
from typing import Any, cast

import yaml
from hydra._internal.core_plugins.file_config_source import FileConfigSource
from hydra.core.object_type import ObjectType
from hydra.plugins.config_source import ConfigResult

from pomrl.configuration.sources import DESCRIPTION

GROUP = "experiment"
"""The group whose options are sweeps."""


class StudySweeps(FileConfigSource):
    """The folder `sweeps/` of a study, seen as the groups `experiment/STUDY` and, with short names, `experiment`."""

    @staticmethod
    def scheme() -> str:
        """Return the scheme of the addresses of such sources."""
        return "study"

    @property
    def _names(self) -> list[str]:
        return sorted(path.stem for path in (Path(self.path) / "sweeps").glob("*.yaml"))

    def _sweep(self, config_path: str) -> str | None:
        """Return the name of the sweep that a path such as `experiment/mine/first` means; None if there is none."""
        parts = config_path.removesuffix(".yaml").split("/")
        prefixes = [[GROUP, Path(self.path).name], *([[GROUP]] if has_short_names(self.path) else [])]
        names = [parts[-1] for prefix in prefixes if parts[:-1] == prefix]
        return names[0] if names and names[0] in self._names else None

    def load_config(self, config_path: str) -> ConfigResult:
        """Return the content of a sweep's file."""
        return super().load_config(f"sweeps/{self._sweep(config_path)}")

    def available(self) -> bool:
        """Return whether the study has sweeps."""
        return (Path(self.path) / "sweeps").is_dir()

    def is_group(self, config_path: str) -> bool:
        """Return whether a path is that of the group or of the study's part of it."""
        return config_path.strip("/") in ("", GROUP, f"{GROUP}/{Path(self.path).name}")

    def is_config(self, config_path: str) -> bool:
        """Return whether a path is that of a sweep of this study."""
        return self._sweep(config_path) is not None

    def list(self, config_path: str, results_filter: ObjectType | None) -> list[str]:
        """Return the names of sweeps, or of the groups that contain them."""
        short, group = has_short_names(self.path), config_path.strip("/")
        groups = {"": [GROUP], GROUP: [] if short else [Path(self.path).name]}.get(group, [])
        shows = group == f"{GROUP}/{Path(self.path).name}" or (group == GROUP and short)
        of_kind = {ObjectType.GROUP: groups, ObjectType.CONFIG: self._names if shows else []}
        return sorted(
            set(
                of_kind[results_filter]
                if results_filter in of_kind
                else [each for of in of_kind.values() for each in of]
            )
        )


@cache
def has_short_names(folder: str) -> bool:
    """Return whether the sweeps of a study are named without the name of the study too."""
    try:
        described: Any = yaml.safe_load((Path(folder) / DESCRIPTION).read_text())
    except (OSError, ValueError, RecursionError, yaml.YAMLError):
        return False
    return isinstance(described, dict) and cast(dict[str, Any], described).get("short_names") is True
