"""The sweeps of studies as options in Hydra's sense.

The sweep NAME of a study is the option `experiment=STUDY/NAME`, where STUDY is its name or the path of its folder.
Those of the paper's study are `experiment=NAME` too. Hydra's search path has no such names for the files of a folder
`sweeps/`: `StudySweeps`, a source of configurations in Hydra's sense, has them.
`hydra_plugins.study_search_path` adds the studies to the search path of a command.
"""

from collections.abc import Sequence
from pathlib import Path

from hydra._internal.core_plugins.file_config_source import FileConfigSource
from hydra._internal.sources_registry import SourcesRegistry
from hydra.core.config_search_path import ConfigSearchPath, SearchPathQuery
from hydra.core.object_type import ObjectType
from hydra.plugins.config_source import ConfigResult

from pomrl.configuration.sources import PAPER, sweep_names

GROUP = "experiment"
"""The group whose options are sweeps."""


class StudySweeps(FileConfigSource):
    """The folder `sweeps/` of a study, seen as the groups `experiment/STUDY` and, with short names, `experiment`."""

    @staticmethod
    def scheme() -> str:
        """Return the scheme of the addresses of such sources."""
        return "study"

    def _sweeps(self, group: str) -> list[str]:
        """Return the names of the sweeps in a group: none, unless it is the study's own, or has its short names."""
        folder, (_, _, word) = Path(self.path), group.partition("/")
        is_named = word == folder.name or (word != "" and Path(word).resolve() == folder)
        is_own = is_named or (word == "" and group == GROUP and folder == PAPER)
        return sweep_names(folder) if is_own else []

    def load_config(self, config_path: str) -> ConfigResult:
        """Return the content of a sweep's file."""
        return super().load_config(f"sweeps/{Path(config_path).stem}")

    def is_group(self, config_path: str) -> bool:
        """Return whether a path is that of the group or of the study's part of it."""
        group = config_path.rstrip("/")
        return group in ("", GROUP) or bool(self._sweeps(group))

    def is_config(self, config_path: str) -> bool:
        """Return whether a path such as `experiment/mine/first` is that of a sweep of this study."""
        group, _, name = config_path.removesuffix(".yaml").rpartition("/")
        return name in self._sweeps(group)

    def list(self, config_path: str, results_filter: ObjectType | None) -> list[str]:
        """Return the names of sweeps, or of the groups that contain them."""
        group = config_path.strip("/")
        inside = {"": [GROUP], GROUP: [Path(self.path).name]}.get(group, [])
        groups = [] if results_filter == ObjectType.CONFIG else inside
        sweeps = [] if results_filter == ObjectType.GROUP else self._sweeps(group)
        return sorted({*groups, *sweeps})


def append_studies(search_path: ConfigSearchPath, studies: Sequence[Path]) -> None:
    """Add folders of studies, and the options that they bring, to the end of a search path."""
    for source in (FileConfigSource, StudySweeps):
        SourcesRegistry.instance().register(source)
    known = {element.path for element in search_path.get_path()}
    for folder in studies:
        options = [f"file://{folder / 'conf'}"] if (folder / "conf").is_dir() else []
        for path in (f"{StudySweeps.scheme()}://{folder}", *options):
            if path not in known:
                search_path.append("study", path, SearchPathQuery(provider="main"))
