"""Candidates for overrides: groups, options, keys, sweeps and tags, read from files.

Only words about Hydra import Hydra.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from importlib.util import find_spec
from itertools import chain
from pathlib import Path
from typing import Any, cast

import yaml

from pomrl.configuration.composed import READING
from pomrl.configuration.sources import PAPER, PUBLISHED, Sources, folder_of, known_studies, named_folders, sweep_names

PLAIN_TAG = re.compile(r"[\w./+-]+")
"""A tag without characters to quote in a shell or in Hydra."""


class OverrideCandidates:
    """Candidates after the earlier words of a command; only `pomrl run` has groups of Hydra."""

    def __init__(self, earlier: Sequence[str], *, is_run: bool) -> None:
        self._earlier, self._is_run = earlier, is_run

    def complete(self, unfinished: str) -> list[str]:
        """Return the words to replace an unfinished one, with its signs `+` or `++`."""
        text = unfinished.lstrip("+")
        key, equals, values = text.partition("=")
        if equals:
            offers = self._values(key, values)
        elif "." in text:
            offers = self._keys(text.split(".")[:-1])
        else:
            offers = [*self._names(has_sign=text != unfinished), *(self._hydra_names(text) if self._is_run else [])]
        return [unfinished.removesuffix(text) + offer for offer in offers]

    @cached_property
    def _sources(self) -> Sources:
        folder = _value_of_flag(self._earlier, "--config-dir", "-cd")
        own = Path(folder) if folder and Path(folder).is_dir() else None
        sweeps = chain.from_iterable(_option_values(argument, "experiment") for argument in self._earlier)
        return Sources(PUBLISHED.folder, own, named_folders(sweeps))

    @cached_property
    def _primary(self) -> dict[str, Any]:
        return _load_yaml(self._sources.folder / "config.yaml")

    @cached_property
    def _defaults(self) -> dict[str, str | None]:
        """The options of groups in the primary configuration, also of Hydra's groups."""
        items = [item for item in self._primary["defaults"] if isinstance(item, dict)]
        hydra_defaults = _load_yaml(self._sources.folder / "hydra" / "default.yaml")["defaults"]
        groups = {
            f"hydra/{key.removeprefix('override ')}": option for item in hydra_defaults for key, option in item.items()
        }
        return groups | {key: option for item in items for key, option in item.items()}

    @cached_property
    def _options(self) -> set[Path]:
        """The paths GROUP/OPTION, without those of Hydra, sweeps and parts of readings."""
        paths = _relative_paths(self._sources.folders, "*/**/*.yaml")
        return {path for path in paths if path.parts[0] not in ("experiment", "hydra", READING) or _is_reading(path)}

    @cached_property
    def _hydra_options(self) -> set[Path]:
        """The paths GROUP/OPTION of Hydra, its plugins and the folders of options."""
        (package,) = getattr(find_spec("hydra"), "submodule_search_locations", None) or [""]
        paths = _relative_paths([*self._sources.folders, Path(package) / "conf"], "hydra/*/**/*.yaml")
        return {*paths, *map(Path, _stored_paths("hydra"))}

    def _values(self, key: str, values: str) -> list[str]:
        """Return the values after the last comma, without those before it."""
        listed, comma, last = values.rpartition(",")
        if key == "experiment":
            options = self._sweeps(last)
        elif key == "tag":
            options = _stored_tags()
        else:
            options = self._options_of(key)
        return [f"{key}={listed}{comma}{option}" for option in options if option not in listed.split(",")]

    def _options_of(self, group: str) -> list[str]:
        paths = self._hydra_options if self._is_run and group.startswith("hydra/") else self._options
        return sorted(path.name for path in paths if path.parent.as_posix() == group)

    def _sweeps(self, typed: str) -> list[str]:
        """Return the sweeps of the typed study; otherwise the paper's, the user's, and all studies."""
        own = _relative_paths([self._sources.own / "experiment"] if self._sources.own else [], "**/*.yaml")
        study, slash, _ = typed.rpartition("/")
        names = sweep_names(folder_of(study if slash else PAPER))
        studies = [] if slash else [f"{folder.name}/" for folder in known_studies() if sweep_names(folder)]
        return [*(f"{study}{slash}{name}" for name in names), *studies, *sorted(map(Path.as_posix, own))]

    def _names(self, *, has_sign: bool) -> list[str]:
        """Return groups and keys; a sign may add a group without a default."""
        groups = [group for group in self._defaults if group.partition("/")[0] != "hydra"]
        added = sorted({path.parent.as_posix() for path in self._options}) if has_sign else []
        keys = [key for key in self._primary if key not in ("defaults", "hydra")]
        return [f"{name}=" for name in dict.fromkeys([*groups, *added, *keys])]

    def _hydra_names(self, text: str) -> list[str]:
        if not text.startswith("hydra/"):
            return ["hydra/", "hydra."]
        return [f"{group}=" for group in sorted({path.parent.as_posix() for path in self._hydra_options} - {"hydra"})]

    def _keys(self, nodes: Sequence[str]) -> list[str]:
        """Return the dotted keys below a group, or below a part of `hydra`."""
        group, *below = nodes
        content: Any = self._hydra_config() if self._is_run and group == "hydra" else self._group_content(group)
        for node in below:
            content = content.get(node) if isinstance(content, dict) else None
        start = ".".join(nodes)
        keys = [key for key in content if key not in ("_target_", "defaults")] if isinstance(content, dict) else []
        return [f"{start}.{key}{'.' if isinstance(content[key], dict) else '='}" for key in keys]

    def _group_content(self, group: str) -> dict[str, Any]:
        """Read the keys of the selected options of a group."""
        content: dict[str, Any] = {}
        for option in self._selected(group):
            content |= self._sources.content(group, option)
        return content

    def _selected(self, group: str) -> list[str]:
        """Return the options of a group in the earlier words, or the default one."""
        selections = [_option_values(argument, group) for argument in reversed(self._earlier)]
        return next(filter(None, selections), [self._defaults.get(group) or ""])

    def _hydra_config(self) -> dict[str, Any]:
        """Return the configuration of Hydra, with the selected launcher and sweeper."""
        paths = {name: f"hydra/{name}/{self._selected(f'hydra/{name}')[0]}" for name in ("launcher", "sweeper")}
        selected_nodes = {name: _stored_node(path) for name, path in paths.items() if path in _stored_paths("hydra")}
        return {**_stored_node("hydra/config"), **selected_nodes}


def _value_of_flag(arguments: Sequence[str], *flags: str) -> str | None:
    """Return the last value of a flag, as `FLAG VALUE` or `FLAG=VALUE`."""
    lines = "\n".join(arguments)
    values = re.findall(rf"^(?:{'|'.join(flags)})[=\n](.+)$", lines, re.MULTILINE)
    return values[-1] if values else None


def _option_values(argument: str, group: str) -> list[str]:
    key, equals, values = argument.lstrip("+").partition("=")
    return values.split(",") if equals and key == group else []


def _load_yaml(path: Path) -> dict[str, Any]:
    # the C loader if available, because a person waits
    return yaml.load(path.read_bytes(), getattr(yaml, "CSafeLoader", yaml.SafeLoader)) or {}


def _relative_paths(folders: Iterable[Path], pattern: str) -> set[Path]:
    return {path.relative_to(folder).with_suffix("") for folder in folders for path in folder.glob(pattern)}


def _is_reading(path: Path) -> bool:
    return path.parent == Path(READING)


def _stored_tags() -> list[str]:
    from pomrl import store  # slow

    tags = sorted({tag for stored in store.all_experiments() for tag in stored.tags()})
    return [tag for tag in tags if PLAIN_TAG.fullmatch(tag)]


def _stored_paths(group: str) -> Iterator[str]:
    """Yield the paths GROUP/OPTION in a group of Hydra's store, with those of plugins."""
    from hydra.core.config_store import ConfigStore
    from hydra.core.plugins import Plugins

    Plugins.instance()
    for name in ConfigStore.instance().list(group):
        path = f"{group}/{name}"
        yield from [path.removesuffix(".yaml")] if name.endswith(".yaml") else _stored_paths(path)


def _stored_node(path: str) -> dict[str, Any]:
    from hydra.core.config_store import ConfigStore
    from omegaconf import OmegaConf

    return cast(dict[str, Any], OmegaConf.to_container(ConfigStore.instance().load(f"{path}.yaml").node))
