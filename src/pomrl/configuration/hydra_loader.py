"""Hydra's loader of configurations, and a way to load many of them without Hydra's own part.

Hydra reads all YAML files anew for each configuration, and composes its own settings (logging, launchers, help) with
it, which takes most of the time. `Loader.load_ours` leaves them out and reads each file once.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from hydra._internal.config_loader_impl import ConfigLoaderImpl
from hydra._internal.config_repository import CachingConfigRepository
from hydra._internal.defaults_list import create_defaults_list
from hydra._internal.sources_registry import SourcesRegistry
from hydra._internal.utils import create_config_search_path
from hydra.core.config_search_path import ConfigSearchPath, SearchPathQuery
from hydra.core.override_parser.types import Override
from hydra.core.utils import setup_globals
from omegaconf import DictConfig, OmegaConf

from pomrl.configuration import yaml_files
from pomrl.configuration.study_sweeps import StudySweeps

Files = CachingConfigRepository
"""YAML files, each of which is read once."""


@dataclass(frozen=True)
class Loaded:
    """A configuration that Hydra composed, and the option that was chosen in each group."""

    config: DictConfig
    choices: Mapping[str, Any]


class Loader(ConfigLoaderImpl):
    """Hydra's loader; `load_configuration` is Hydra's own."""

    def files(self) -> Files:
        """Return the YAML files of this loader."""
        return Files(self.repository)

    def load_ours(self, files: Files, config_name: str, overrides: Sequence[Override]) -> Loaded:
        """Compose as Hydra does, but without Hydra's own part of the configuration.

        Args:
            files: The YAML files of this loader, which further calls may share as long as nobody edits them.
            config_name: The primary configuration.
            overrides: All overrides; those of Hydra's own values are ignored.

        Raises:
            HydraException: An override does not fit. `load_configuration` says more precisely what is wrong.
            OmegaConfBaseException: Likewise.
        """
        found = create_defaults_list(files, config_name, list(overrides), prepend_hydra=True, skip_missing=False)
        ours = [each for each in found.defaults if not (each.config_path or "").startswith("hydra/")]
        config = self._compose_config_from_defaults_list(ours, files)
        OmegaConf.set_struct(config, value=True)
        values = [each for each in found.config_overrides if each.key_or_group.split(".")[0] != "hydra"]
        self._apply_overrides_to_config(values, config)
        return Loaded(config, found.overrides.known_choices)


def loader(folders: tuple[Path, ...], studies: tuple[Path, ...]) -> Loader:
    """Return Hydra's loader for folders of options and of studies.

    Args:
        folders: The folders of options. The first has the primary configuration. Where a file is in several folders,
            that of the first one counts.
        studies: The folders of studies, whose sweeps are options of the group `experiment`.
    """
    yaml_files.check([*folders, *studies])
    setup_globals()
    search_path = create_config_search_path(str(folders[0]))
    for folder in folders[1:]:
        search_path.prepend("command-line", f"file://{folder}", SearchPathQuery(provider="schema"))
    append_studies(search_path, studies)
    return Loader(search_path)


def append_studies(search_path: ConfigSearchPath, studies: Sequence[Path]) -> None:
    """Add folders of studies, and the options that they bring, to the end of a search path."""
    SourcesRegistry.instance().register(StudySweeps)
    known = {element.path for element in search_path.get_path()}
    for folder in studies:
        options = [f"file://{folder / 'conf'}"] if (folder / "conf").is_dir() else []
        for path in (f"{StudySweeps.scheme()}://{folder}", *options):
            if path not in known:
                search_path.append("study", path, SearchPathQuery(provider="main"))
