"""Composing the configurations of all jobs of a sweep with Hydra, fast.

Hydra takes about a tenth of a second for each composition. Jobs are therefore composed without Hydra's own part and
from files that are read once (`hydra_loader`), jobs that differ in values alone share one composition, and what was
composed before is read from `composition_cache`. `hydra_plugins.whole_sweep` hands over the jobs of a command.
"""

from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache, lru_cache, partial
from itertools import islice, product
from math import isfinite
from pathlib import Path
from typing import Any, cast

from hydra.core.config_loader import ConfigLoader
from hydra.core.override_parser.overrides_parser import OverridesParser
from hydra.core.override_parser.types import Override, RangeSweep
from hydra.errors import HydraException, MissingConfigException
from hydra.types import RunMode
from omegaconf import DictConfig, OmegaConf
from omegaconf.errors import MissingMandatoryValue, OmegaConfBaseException

from pomrl.configuration import composition_cache
from pomrl.configuration.composed import Composed, ConfigError
from pomrl.configuration.composition_cache import cached
from pomrl.configuration.hydra_loader import Files, Loaded, Loader, loader
from pomrl.configuration.sources import Sources
from pomrl.configuration.study_sweeps import StudySweeps

MOST_VALUES = 1_000_000
"""The most values that one axis of a sweep may have."""


def register_resolvers() -> None:
    """Make known to OmegaConf the functions that YAML files call: half, all_but and grid_to, such as `${half:${S}}`."""
    OmegaConf.register_new_resolver("half", _half, replace=True)
    OmegaConf.register_new_resolver("all_but", _all_but, replace=True)
    OmegaConf.register_new_resolver("grid_to", _grid_to, replace=True)


def _half(n: Any) -> Any:
    """Return half of an integer, rounded down, and anything else as it is."""
    return n // 2 if isinstance(n, int) else n


def _all_but(part: int, n: Any) -> Any:
    """Return an integer less a part of it, and anything else as it is."""
    return n - part if isinstance(n, int) else n


def _grid_to(gamma_eval: Any) -> Any:
    """Return the default grid: 0, 0.05, ..., 0.95 as far as they are below gamma_eval, and gamma_eval."""
    if not isinstance(gamma_eval, int | float):
        return gamma_eval
    return OmegaConf.create([*(i / 20 for i in range(20) if i / 20 < gamma_eval), float(gamma_eval)])


@contextmanager
def composing() -> Generator[None, None, None]:
    """Turn whatever is raised in this context because of somebody's YAML or overrides into an error of one line.

    Errors that name what is wrong are left as they are. Any other one is Hydra's or OmegaConf's answer to a file that
    neither of them expects.

    Raises:
        ConfigError: Something else was raised.
    """
    try:
        yield
    except (ConfigError, HydraException, OmegaConfBaseException, OSError, MemoryError):
        raise
    except RecursionError as error:
        raise ConfigError("the configuration contains itself, or is nested too deeply") from error
    except Exception as error:
        text = " ".join(str(error).split())
        raise ConfigError(f"the configuration cannot be composed: {text or type(error).__name__}") from error


def missing_option(error: MissingConfigException) -> str:
    """Return the line for an option that does not exist, with those that there are."""
    group, _, name = str(error.missing_cfg_file).rpartition("/")
    if not group or not error.options:
        return " ".join(str(error).split())
    return f"{group}={name}: there is no such option; there are {', '.join(sorted(error.options))}"


def plain(config: DictConfig, choices: Mapping[str, Any]) -> Composed:
    """Return what Hydra composed as plain data, without Hydra's own part and with all interpolations resolved.

    Args:
        config: The configuration, with or without its key `hydra`.
        choices: The option that was chosen in each group (`hydra.runtime.choices`); None where there is none.

    Raises:
        ConfigError: A value is missing, or refers to a key that does not exist.
    """
    try:
        with composing():
            values = OmegaConf.to_container(_ours(config), resolve=True, throw_on_missing=True)
    except MissingMandatoryValue as error:
        raise ConfigError(f"{error.full_key}: a value is missing") from error
    except OmegaConfBaseException as error:
        raise ConfigError(" ".join(str(error).split())) from error
    options = {str(group): str(option) for group, option in choices.items() if option}
    return Composed(cast(dict[str, Any], values), options)


@dataclass(frozen=True)
class Composer:
    """Composes configurations from YAML files."""

    folders: tuple[Path, ...]
    """Absolute paths. The first has the primary configuration; where a file is in several folders, the first counts."""
    studies: tuple[Path, ...] = ()
    """The folders of studies, as absolute paths, whose sweeps are options of the group `experiment`."""
    config_name: str = "config"
    """The primary configuration, whose defaults list names the groups."""
    hydra_overrides: tuple[str, ...] = ()
    """Overrides of Hydra's own configuration, which all jobs have."""
    keeps: bool = True
    """Whether compositions are read from and written to `composition_cache`."""

    @staticmethod
    def of_command(loader: ConfigLoader, config: DictConfig) -> "Composer":
        """Return the composer for the jobs of a sweep that Hydra has begun to run.

        It keeps nothing on disk: a dry run, and a sweep in which one job is wrong, write nothing.

        Args:
            loader: Hydra's loader, which has the folders of the command line.
            config: The configuration that Hydra composed for the sweep as a whole.
        """
        paths = [element.path for element in loader.get_search_path().get_path()]
        files = [path.removeprefix("file://") for path in paths if path.startswith("file://") or "://" not in path]
        scheme = f"{StudySweeps.scheme()}://"
        studies = [path.removeprefix(scheme) for path in paths if path.startswith(scheme)]
        overrides = cast(list[str], OmegaConf.to_container(config.hydra.overrides.hydra))
        folders = tuple(map(Path, files)), tuple(map(Path, studies))
        return Composer(*folders, config.hydra.job.config_name, tuple(overrides), keeps=False)

    @staticmethod
    def of_sources(sources: Sources) -> "Composer":
        """Return the composer for these folders of options and of studies."""
        return Composer(sources.folders, sources.studies)

    def one(self, overrides: Sequence[str]) -> Composed:
        """Return the configuration that these overrides of the defaults give."""
        return Composed(**self._cached("one", list(overrides), lambda: vars(self._one(overrides))))

    def each(self, jobs: Sequence[Sequence[str]]) -> list[Composed]:
        """Return the configuration of each job, given by its overrides."""
        composed = self._cached("each", [list(job) for job in jobs], lambda: list(map(vars, self._each(jobs))))
        return [Composed(**each) for each in composed]

    def sweep(self, name: str, further: Sequence[str] = ()) -> tuple[list[str], list[list[str]]]:
        """Return the keys that a published sweep varies, and the overrides of each of its jobs.

        Further overrides hold for all jobs; those of a key that the sweep varies replace its values.
        """
        axes, jobs = self._cached("sweep", [name, *further], lambda: self._sweep(name, further))
        return axes, jobs

    def choices(self, axes: Mapping[str, Any], further: Sequence[str]) -> list[list[str]]:
        """Return the overrides `key=value` of each key of a sweep, one for each of its values.

        Args:
            axes: The values of each key, separated by commas.
            further: Further overrides, of which some may have several values. Of two with the same key the later one
                counts, and each of them replaces an axis.

        Raises:
            ConfigError: An axis has no values, or more than `MOST_VALUES`.
        """
        overrides = [*(f"{key}={values}" for key, values in axes.items()), *further]
        last = {override.partition("=")[0]: override for override in overrides}
        parsed = self.parsed(list(last.values()))
        return list({override.get_key_element(): _one_for_each_value(override) for override in parsed}.values())

    def parsed(self, overrides: Sequence[str]) -> list[Override]:
        """Return overrides as Hydra reads them."""
        return OverridesParser.create(_loader(self.folders, self.studies)).parse_overrides(list(overrides))

    def _cached(self, kind: str, request: Any, compose: Callable[[], Any]) -> Any:
        if not self.keeps:
            return compose()
        folders = (*self.folders, *self.studies)
        return cached(folders, [kind, self.config_name, self.hydra_overrides, request], compose)

    def _load(self, overrides: Sequence[str]) -> DictConfig:
        """Let Hydra compose; the result has Hydra's own configuration under `hydra`."""
        with composing():
            return _loader(self.folders, self.studies).load_configuration(
                self.config_name, [*self.hydra_overrides, *overrides], RunMode.RUN, from_shell=False
            )

    def _one(self, overrides: Sequence[str]) -> Composed:
        config = self._load(overrides)
        return plain(config, config.hydra.runtime.choices)

    def _load_job(self, files: Files, overrides: Sequence[str]) -> Loaded:
        """Compose without Hydra's own part; what Hydra refuses, it refuses in its own words."""
        parsed = OverridesParser.create().parse_overrides([*self.hydra_overrides, *overrides])
        try:
            with composing():
                return _loader(self.folders, self.studies).load_ours(files, self.config_name, parsed)
        except (HydraException, OmegaConfBaseException):
            config = self._load(overrides)
            return Loaded(config, config.hydra.runtime.choices)

    def axes(self, name: str) -> dict[str, Any]:
        """Return the axes of a published sweep: for each key its values, separated by commas."""
        params = OmegaConf.to_container(self._load([f"experiment={name}"]).hydra.sweeper.params)
        return cast(dict[str, Any], params)

    def _sweep(self, name: str, further: Sequence[str]) -> list[Any]:
        axes = self.axes(name)
        return [list(axes), self.product({"experiment": name} | axes, further)[1]]

    def product(self, axes: Mapping[str, Any], further: Sequence[str]) -> tuple[list[str], list[list[str]]]:
        """Return the keys of the axes, and the overrides of each combination of their values."""
        return list(axes), [list(job) for job in product(*self.choices(axes, further))]

    def once_for_each_choice(self) -> Callable[[tuple[str, ...]], Loaded]:
        """Return a function of the overrides that choose options, or add or remove keys, which composes each once."""
        return cache(partial(self._load_job, _loader(self.folders, self.studies).files()))

    def _each(self, jobs: Sequence[Sequence[str]]) -> list[Composed]:
        groups = frozenset(_loader(self.folders, self.studies).list_groups(""))
        state = composition_cache.state((*self.folders, *self.studies)) if self.keeps else None
        shared = _while_files_are(self, state) if state else self.once_for_each_choice()
        composed: list[Composed] = []
        for job in jobs:
            parsed = OverridesParser.create().parse_overrides(list(job))
            values = [override for override in parsed if _sets_a_value(override, groups)]
            others = tuple(line for line, override in zip(job, parsed, strict=True) if override not in values)
            loaded = shared(others)
            try:
                changed = _updated(loaded.config, values)
            except OmegaConfBaseException:  # Hydra's own message says better what is wrong
                changed = self._load(job)
            composed.append(plain(changed, loaded.choices))
        return composed


@lru_cache(maxsize=2)
def _while_files_are(composer: Composer, _state: str) -> Callable[[tuple[str, ...]], Loaded]:
    """Return a function that composes each choice of options once while the files are as they are."""
    return composer.once_for_each_choice()


@cache
def _loader(folders: tuple[Path, ...], studies: tuple[Path, ...]) -> Loader:
    register_resolvers()
    return loader(folders, studies)


def _one_for_each_value(override: Override) -> list[str]:
    """Return an override with each of its values."""
    key = override.get_key_element()
    if not override.is_sweep_override():
        return [f"{key}={override.get_value_element_as_str()}"]
    if not override.is_discrete_sweep():
        raise ConfigError(f"{override.input_line}: an interval has no values to sweep; list them, or use range()")
    wanted = override.value()
    if isinstance(wanted, RangeSweep) and not _is_finite(wanted):
        raise ConfigError(f"{override.input_line}: a range needs a start, a stop and a step that is not 0")
    values = list(islice(override.sweep_string_iterator(), MOST_VALUES + 1))
    if not values:
        raise ConfigError(f"{override.input_line}: there is no such value, and so there is nothing to compute")
    if len(values) > MOST_VALUES:
        raise ConfigError(f"{override.input_line}: these are more than {MOST_VALUES:,} values; sweep fewer at a time")
    return [f"{key}={value}" for value in values]


def _is_finite(wanted: RangeSweep) -> bool:
    """Return whether a range ends, and does so before it has more than `MOST_VALUES` values if it is to be shuffled."""
    if wanted.start is None or wanted.stop is None or not wanted.step:
        return False
    length = (wanted.stop - wanted.start) / wanted.step
    return isfinite(length) and (not wanted.shuffle or length <= MOST_VALUES)


def _sets_a_value(override: Override, groups: frozenset[str]) -> bool:
    """Return whether an override only gives another value to a key: it chooses no option, adds and removes no key."""
    changes = override.is_add() or override.is_force_add() or override.is_delete() or override.package
    return not changes and "/" not in override.key_or_group and override.key_or_group not in groups


def _updated(config: DictConfig, values: Sequence[Override]) -> DictConfig:
    """Return a copy of our part of a configuration with other values."""
    copy = _ours(config)
    for override in values:
        OmegaConf.update(copy, override.key_or_group, override.value(), merge=True)
    return copy


def _ours(config: DictConfig) -> DictConfig:
    """Return a copy of a configuration without Hydra's own part, whose interpolations would fail to resolve."""
    return OmegaConf.masked_copy(config, [str(key) for key in config if key != "hydra"])
