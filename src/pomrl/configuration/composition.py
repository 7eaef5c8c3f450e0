"""Compose the configurations of a sweep's jobs with Hydra, fast.

Hydra takes about 0.1 s per job. Here each file is read once, without the part for Hydra itself. Jobs that differ only
in values share a composition. Compositions are cached until a file changes.
"""

from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from copy import copy, deepcopy
from dataclasses import replace
from functools import cache, lru_cache
from glob import escape, glob
from itertools import islice, product
from pathlib import Path
from typing import Any, ClassVar, NamedTuple, NoReturn, cast

from hydra._internal import defaults_list
from hydra._internal.config_loader_impl import ConfigLoaderImpl, get_overrides_dirname
from hydra._internal.config_repository import CachingConfigRepository, ConfigRepository
from hydra._internal.config_search_path_impl import ConfigSearchPathImpl
from hydra._internal.core_plugins.file_config_source import FileConfigSource
from hydra._internal.core_plugins.structured_config_source import StructuredConfigSource
from hydra._internal.defaults_list import create_defaults_list
from hydra._internal.sources_registry import SourcesRegistry
from hydra._internal.utils import get_args_parser
from hydra.core.config_search_path import ConfigSearchPath
from hydra.core.config_store import ConfigStore
from hydra.core.default_element import GroupDefault, InputDefault
from hydra.core.override_parser.overrides_parser import OverridesParser
from hydra.core.override_parser.types import Override, Transformer, ValueType
from hydra.core.utils import setup_globals
from hydra.errors import ConfigCompositionException, HydraException, MissingConfigException, OverrideParseException
from hydra.plugins.config_source import ConfigResult
from omegaconf import DictConfig, OmegaConf
from omegaconf.errors import OmegaConfBaseException

from pomrl.configuration.composed import (
    GROUPS,
    READING,
    Composed,
    ConfigError,
    UnknownSweepError,
    UnreadableOverrideError,
    unknown_key,
)
from pomrl.configuration.resolvers import (
    Values,
    merge,
    register_resolvers,
    resolve,
    with_typed_environment,
    with_value,
)
from pomrl.configuration.sources import (
    PAPER,
    Sources,
    folder_of,
    known_studies,
    looks_of_own_options,
    options_outside_reading,
    sweep_names,
)

MAX_AXIS_VALUES = 100_000
"""The largest number of values of an axis."""


def _shallow_copy(repository: ConfigRepository, _: object) -> ConfigRepository:
    return copy(repository)


for repository_class in (ConfigRepository, CachingConfigRepository):
    # Hydra copies its repository for each group in help and each job; it then changes only the list of sources, by
    # binding a new one.
    setattr(repository_class, "__deepcopy__", _shallow_copy)  # noqa: B010 (type checkers refuse a new method)


_map_of_interpolations: Any = getattr(defaults_list, "_create_interpolation_map")  # noqa: B009


def _map_if_needed(overrides: Any, defaults: Sequence[InputDefault], self_added: bool) -> DictConfig:  # noqa: FBT001
    """Make the map of choices once, and only if needed; it takes most of the time of a composition."""
    names = [default.get_name() or "" for default in defaults if not default.is_self() and default.is_interpolation()]
    if any("${defaults." in name for name in names):  # a choice of the same list, as in Hydra 1.0
        return _map_of_interpolations(overrides, list(defaults), self_added)
    return _map_of_choices(tuple(overrides.known_choices.items()) if names else ())


@cache
def _map_of_choices(choices: tuple[tuple[str, Any], ...]) -> DictConfig:
    return OmegaConf.create(dict(choices))


setattr(defaults_list, "_create_interpolation_map", _map_if_needed)  # noqa: B010


def register_short_names() -> None:
    """Register the paper's sweeps with Hydra as `experiment=NAME` too."""
    for name in sweep_names(folder_of(PAPER)):
        node = {"defaults": [f"{PAPER}/{name}"]}
        ConfigStore.instance().store(name, node, group="experiment", package="_global_", provider="pomrl")


class _Loaded(NamedTuple):
    values: Values
    """The values by key as plain data, without the key `hydra`; interpolations are not resolved."""
    options: Mapping[str, str]
    looks: Mapping[str, Mapping[str, Any]]
    notes: tuple[str, ...]
    hydra: Mapping[str, Any]
    """The keys of the node `hydra` set by files, such as the axes of a sweep."""


class _Files(CachingConfigRepository):
    latest: ClassVar[list[str]] = [""]
    """The name of the latest file, for all copies that Hydra makes."""

    def load_config(self, config_path: str) -> ConfigResult | None:
        self.latest[:] = [config_path]
        if f"config_path={config_path}" not in self.cache and (result := self._load_named(config_path)):
            result.defaults_list = [default for default in result.defaults_list or [] if not _is_of_hydra(default)]
        return super().load_config(config_path)

    def _load_named(self, config_path: str) -> ConfigResult | None:
        """Load a file; ConfigError with its name if it is not UTF-8, too deep, without keys, or has wrong defaults."""
        try:
            return super().load_config(config_path)
        except (ValueError, RecursionError, OSError) as error:
            if isinstance(error, OSError) and error.errno:  # others are of OmegaConf, for a file without keys
                raise
            paths = [Path(source.path, f"{config_path}.yaml") for source in self.get_sources()]
            path = next(filter(Path.is_file, paths), config_path)
            what = "too many nested brackets or levels" if isinstance(error, RecursionError) else error
            raise ConfigError(f"{path}: {what}") from error


def _is_of_hydra(default: InputDefault) -> bool:
    return isinstance(default, GroupDefault) and (default.group or "").lstrip("/").split("/")[0] == "hydra"


class Composer(ConfigLoaderImpl):
    """The loader of Hydra, with cached files and compositions."""

    def __init__(self, search_path: ConfigSearchPath, config_name: str = "config") -> None:
        register_resolvers()
        register_short_names()
        super().__init__(search_path)
        self._config_name = config_name
        self._files = _Files(self.repository)
        self._folders = [source.path for source in self.repository.get_sources() if source.scheme() == "file"]
        self._groups = frozenset(self.list_groups(""))
        self._load, self._compose, self._content = cache(self._load), cache(self._compose), cache(self._content)
        self._read: dict[str, Override] = {}

    @staticmethod
    def from_sources(sources: Sources) -> "Composer":
        """Return the composer for these folders, cached until a file changes."""
        return _composer(tuple(f"file://{folder}" for folder in sources.folders))

    @staticmethod
    def from_hydra(hydra: DictConfig) -> "Composer":
        sources = [source for source in hydra.runtime.config_sources if source.provider not in ("hydra", "schema")]
        return _composer(tuple(f"{source.schema}://{source.path}" for source in sources), hydra.job.config_name)

    def compose(self, overrides: Sequence[str]) -> Composed:
        with composing():
            return self._compose(*overrides)

    def axes(self, name: str) -> Mapping[str, Any]:
        """Return a sweep's axes: the values of each key, separated by commas."""
        with composing():
            return self._load(f"experiment={name}").hydra.get("sweeper", {}).get("params", {})

    def depends_on_hydra(self, overrides: Sequence[str], sweep_overrides: Sequence[str]) -> bool:
        """Return whether a job has other keys of the node `hydra` than its sweep, or values from it."""
        with composing():
            parsed = {line: self._parse(line) for line in overrides}
            file_lines = [line for line, override in parsed.items() if not self._sets_a_value(override)]
            job, sweep = self._load(*file_lines), self._load(*(line for line in file_lines if line in sweep_overrides))
        nodes = {*job.hydra, *sweep.hydra} - {"mode", "sweeper"}
        has_keys = any(job.hydra.get(node) != sweep.hydra.get(node) for node in nodes)
        return has_keys or "${hydra" in f"{[override.value() for override in parsed.values()]}{job.values}"

    def override_dirname(self, overrides: Sequence[str], config: Any) -> str:
        """Return `hydra.job.override_dirname`; `config` is `hydra.job.config.override_dirname`."""
        parsed = list(map(self._parse, overrides))
        return get_overrides_dirname(parsed, config.exclude_keys, config.item_sep, config.kv_sep)

    def choices(self, axes: Mapping[str, Any], overrides: Sequence[str] = ()) -> list[list[str]]:
        """Return the overrides `key=value` of each axis, one for each value.

        `overrides` replace axes; the last one for a key counts. ConfigError for an interval, or too many values.
        """
        lines = [*(f"{key}={values}" for key, values in axes.items()), *overrides]
        last = {line.partition("=")[0]: line for line in lines}
        parsed = self.parse(list(last.values()))
        with composing():
            return list({override.get_key_element(): self._each_value(override) for override in parsed}.values())

    def product(self, axes: Mapping[str, Any], overrides: Sequence[str] = ()) -> list[list[str]]:
        """Return the overrides of each combination of `choices`, in order."""
        return list(map(list, product(*self.choices(axes, overrides))))

    def parse(self, overrides: Sequence[str]) -> list[Override]:
        with composing():
            return OverridesParser.create(self).parse_overrides(list(overrides))

    def _compose(self, *overrides: str) -> Composed:
        """Compose the overrides of options and keys, then set plain values."""
        parsed = {override: self._parse(override) for override in overrides}
        values = {line: override for line, override in parsed.items() if self._sets_a_value(override)}
        config, options, looks_of_options, notes, _ = self._load(*(line for line in parsed if line not in values))
        try:
            for override in values.values():
                config = with_value(config, override.key_or_group.split("."), override.value())
        except KeyError:
            config = self._load(*overrides).values
        config = with_typed_environment(config)
        try:
            resolved = resolve(config, config)
        except (KeyError, OmegaConfBaseException):
            resolved = _resolve_all(config, options)
        return Composed(cast(Values, resolved), options, looks_of_options, notes)

    def _parse(self, line: str) -> Override:
        if line not in self._read:
            (override,) = OverridesParser.create().parse_overrides([line])
            if override.is_sweep_override():
                raise ConfigError(f"{line}: several values need a sweep; add -m to the command line")
            is_number = isinstance(override.value(), int | float)
            is_nothing = is_number or override.is_delete() or override.value() is None
            if override.key_or_group in (*GROUPS, READING) and is_nothing:
                raise ConfigError(f"{line}: a group must have the name of an option")
            if override.key_or_group == "experiment" and is_number:  # of a figure, perhaps
                name = override.get_value_element_as_str()
                raise UnknownSweepError(_no_sweep(name, sweep_names(folder_of(PAPER))), name)
            self._read[line] = override
        return self._read[line]

    def _each_value(self, override: Override) -> list[str]:
        key = override.get_key_element()
        if not override.is_sweep_override():
            return [f"{key}={override.get_value_element_as_str()}"]
        if not override.is_discrete_sweep():
            raise ConfigError(
                f"{override.input_line}: an interval cannot be listed; search it with hydra/sweeper=optuna"
            )
        values = list(islice(override.sweep_iterator(), MAX_AXIS_VALUES + 1))
        if len(values) > MAX_AXIS_VALUES:
            raise ConfigError(
                f"{override.input_line}: an axis must have at most {MAX_AXIS_VALUES:,} values; sweep fewer at a time"
            )
        lines = [f"{key}={Transformer.str(value)}" for value in values]
        for line, value in zip(lines, values, strict=True):
            if isinstance(value, int | float):
                self._read[line] = replace(override, value_type=ValueType.ELEMENT, _value=value, input_line=line)
        return lines

    def _sets_a_value(self, override: Override) -> bool:
        changes = override.is_add() or override.is_force_add() or override.is_delete() or override.package
        return not changes and "/" not in override.key_or_group and override.key_or_group not in self._groups

    def _load(self, *overrides: str) -> _Loaded:
        parsed = [self._parse(line) for line in overrides]
        try:
            tree = create_defaults_list(self._files, self._config_name, parsed, prepend_hydra=False, skip_missing=False)
        except RecursionError as error:
            raise ConfigError(f"{self._files.latest[0]}.yaml: its defaults must not lead back to this file") from error
        values: Values = {}
        for default in tree.defaults:
            merge(values, self._content(str(default.config_path), default.package))
        hydra = values.pop("hydra", {})
        if tree.config_overrides:
            config = OmegaConf.create(values)
            self._apply_overrides_to_config(tree.config_overrides, config)
            values = _to_values(config)
        choices = {group: option for group, option in tree.overrides.known_choices.items() if option}
        looks, notes = looks_of_own_options(choices, self._folders), options_outside_reading(choices, self._folders)
        return _Loaded(values, choices, looks, notes, hydra)

    def _content(self, path: str, package: str | None) -> Values:
        result = deepcopy(self._files.load_config(path))
        if result is None or not isinstance(result.config, DictConfig):
            raise ConfigCompositionException(f"{path}: the file has no keys")
        return _to_values(cast(DictConfig, self._embed_result_config(result, package).config))


def _states_of_files(folders: Iterable[Path]) -> Iterator[tuple[Path, int, int]]:
    for folder in folders:
        names = glob(f"{escape(str(folder))}/**/*.yaml", recursive=True)  # noqa: PTH207 (Path.rglob follows no links)
        for path in map(Path, names):
            if path.exists():  # skips broken links, as Hydra does
                status = path.stat()
                yield path, status.st_mtime_ns, status.st_size


def _composer(paths: tuple[str, ...], config_name: str = "config") -> Composer:
    folders = [Path(path.removeprefix("file://")) for path in paths if path.startswith("file://")]
    return _cached_composer(paths, config_name, tuple(_states_of_files(folders)))


@lru_cache(maxsize=8)
def _cached_composer(paths: tuple[str, ...], config_name: str, _states: object) -> Composer:
    setup_globals()
    for source in (FileConfigSource, StructuredConfigSource):
        SourcesRegistry.instance().register(source)
    search_path = ConfigSearchPathImpl()
    for path in paths:
        search_path.append("main", path)
    search_path.append("schema", "structured://")
    return Composer(search_path, config_name)


def _to_values(config: DictConfig) -> Values:
    return cast(Values, OmegaConf.to_container(config))


def _resolve_all(values: Values, options: Mapping[str, str]) -> Values:
    """Resolve all interpolations; ConfigError with the key, and the file of its option, if one fails."""
    try:
        return cast(Values, OmegaConf.to_container(OmegaConf.create(values), resolve=True, throw_on_missing=True))
    except OmegaConfBaseException as error:
        group = (error.full_key or "").partition(".")[0]
        file = f" ({group}/{options[group]}.yaml)" if group in GROUPS and group in options else ""
        raise ConfigError(_describe(error, file)) from error


def _describe(error: OmegaConfBaseException, file: str = "") -> str:
    """Format an error as KEY: REASON."""
    line = str(error).partition("\n")[0]
    reason = line.partition(" raised while resolving interpolation: ")[2].strip('"') or line
    return f"{error.full_key}{file}: {reason}" if error.full_key else " ".join(str(error).split())


def to_composed(config: Mapping[str, Any], hydra: Any = None) -> Composed:
    """Convert a Hydra configuration; options come from `hydra` or `config.hydra`."""
    register_resolvers()
    config = config if isinstance(config, DictConfig) else OmegaConf.create(dict(config))
    own = OmegaConf.masked_copy(config, [str(key) for key in config if key != "hydra"])
    hydra = hydra or config.get("hydra")
    options = {group: option for group, option in hydra.runtime.choices.items() if option} if hydra else {}
    with composing():
        values = _resolve_all(with_typed_environment(_to_values(own)), options)
    if hydra is None:
        return Composed(values, {})
    folders = [source.path for source in hydra.runtime.config_sources if source.schema == "file"]
    return Composed(values, options, looks_of_own_options(options, folders), options_outside_reading(options, folders))


def parse_flags(arguments: Sequence[str] | None, refuse: Callable[[str], NoReturn]) -> Any:
    """Parse the flags and overrides of Hydra; `refuse` receives errors."""
    parser = get_args_parser()
    setattr(parser, "error", refuse)  # noqa: B010 (type checkers refuse a replaced method)
    flags = parser.parse_intermixed_args(arguments)
    if sum(map(bool, (flags.multirun, flags.cfg, flags.info, flags.shell_completion))) > 1:
        refuse("only one of --multirun, --cfg, --info and --shell-completion can be given")
    return flags


@contextmanager
def composing() -> Generator[None, None, None]:
    """Turn exceptions of a composition into a ConfigError of one line.

    ConfigError, MemoryError and errors of the operating system are raised unchanged.
    """
    try:
        yield
    except OverrideParseException as error:
        what = "an override must be key=value, such as sigma=0.01; quote text with special characters: 'key=\"...\"'"
        key, equals, value = error.override.partition("=")
        if equals and key.isascii() and not value.isascii():
            what = f"non-ASCII letters must be quoted: '{key}=\"{value}\"'"
        raise UnreadableOverrideError(f"{error.override}: {what}") from error
    except MissingConfigException as error:
        raise _no_option(error) from error
    except Exception as error:
        is_of_system = isinstance(error, OSError) and not isinstance(error, HydraException)
        if is_of_system or isinstance(error, ConfigError | MemoryError):
            raise
        if "'${reading}'" in str(error):
            raise ConfigError(
                "the defaults of the primary configuration must list reading: NAME, such as repaired, after the groups"
            ) from error
        is_of_value = isinstance(error, OmegaConfBaseException)
        line = _describe(error) if is_of_value else " ".join(str(error).split())
        raise ConfigError(line or type(error).__name__) from error


def _no_option(error: MissingConfigException) -> ConfigError:
    path = error.missing_cfg_file or ""
    if path.startswith("experiment/"):
        sweep = path.partition("/")[2]
        return UnknownSweepError(_no_sweep(sweep, sorted(error.options or ())), sweep)
    group, _, name = path.rpartition("/")
    own = f"; add user-defined options as {group}/NAME.yaml in --config-dir FOLDER" if group in GROUPS else ""
    what = unknown_key(f"{group}={name}", name, sorted(error.options or ()), "unknown option")
    return ConfigError(f"{what}{own}" if group else " ".join(str(error).split()))


def _no_sweep(sweep: str, paper_sweeps: Sequence[str]) -> str:
    study, _, name = sweep.rpartition("/")
    folder = folder_of(study)
    if study and not folder.is_dir():
        return f"experiment={sweep}: unknown study {study}; it is neither shipped nor a folder"
    if matching := [] if study else [other.name for other in known_studies() if name in sweep_names(other)]:
        meant = " or ".join(f"experiment={other}/{name}" for other in matching)
        return f"experiment={sweep}: the paper has no such sweep (did you mean {meant}?)"
    sweeps = sweep_names(folder) if study else paper_sweeps
    return unknown_key(f"experiment={sweep}", name, sweeps, "unknown sweep")
