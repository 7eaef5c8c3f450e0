"""Make the experiments of sweeps, as published or under a variant."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from itertools import chain, product
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from pomrl.configuration.composed import GROUPS, READING, Composed, ConfigError, UnknownSweepError
from pomrl.configuration.instances import Instances, name_varied, separate, with_components
from pomrl.configuration.instances import names as names_of
from pomrl.configuration.parsing import Experiment, parse
from pomrl.configuration.sources import PAPER, Sources, folder_of, named_folders, sweep_names, sweep_option
from pomrl.configuration.variants import Variant, VariantJob

if TYPE_CHECKING:
    from pomrl.configuration.composition import Composer


@dataclass(frozen=True)
class Setting:
    """An experiment of a sweep with its varied values."""

    varied: dict[str, Any]
    experiment: Experiment


Axes = Mapping[str, Any]
"""The values of each key, separated by commas."""


def experiment(sources: Sources, overrides: Sequence[str]) -> Experiment:
    """Make the experiment with these overrides of the defaults; ConfigError if invalid."""
    return parse(_composer(sources).compose(overrides))


def sweep(
    sources: Sources,
    name: str | None,
    variant: Variant | None = None,
    axes: Axes | None = None,
    further: Sequence[str] = (),
    instances: Instances | None = None,
) -> list[Setting]:
    """Make the experiments of a sweep, in the order of its axes.

    `name` is as in `experiment=NAME`. `further` overrides replace axes; without a name they are the sweep. `axes` are
    for a sweep without a file. A variant changes the experiments, but not `varied`. `instances` belong to `further`.

    Raises:
        ConfigError: The sweep is unknown, or a setting is invalid.
    """
    composer, instances = _composer(sources, [name] if name else []), instances or {}
    name = sweep_option(name) if name else None
    try:
        published = composer.axes(name) if name and axes is None else axes or {}
        sweep_key = {"experiment": name} if name and axes is None else {}
        swept = [override.get_key_element() for override in composer.parse(further) if override.is_sweep_override()]
        jobs = composer.product({**sweep_key, **published}, further)
        jobs_with_components = [separate(job, instances) for job in jobs]
        composed = [composer.compose(lines) for lines, _ in jobs_with_components]
        keys = dict.fromkeys([*published, *swept])
        varied = [
            name_varied(varied_values(config, keys), components, instances)
            for config, (_, components) in zip(composed, jobs_with_components, strict=True)
        ]
        if variant:
            short_name = (name or "").rpartition("/")[2]
            pairs = zip(jobs, composed, strict=True)
            variant_jobs = (VariantJob(short_name, tuple(job), config.options) for job, config in pairs)
            composed = [composer.compose(variant.overrides_of(job)) for job in variant_jobs]
        experiments = [
            with_components(parse(config), components)
            for config, (_, components) in zip(composed, jobs_with_components, strict=True)
        ]
        return list(map(Setting, varied, experiments))
    except ConfigError as error:
        if not name or isinstance(error, UnknownSweepError):
            raise
        message = str(error).removeprefix(f"experiment={name}: ")
        raise ConfigError(f"{name}{f', variant {variant.name}' if variant else ''}: {message}") from error


def expand(composer: "Composer", overrides: Sequence[str], axes: Axes | None = None) -> list[list[list[str]]]:
    """Return the overrides of each axis of each sweep, one for each value.

    `experiment=a,b` selects two sweeps with separate axes; otherwise the primary configuration has the `axes`.
    ConfigError if a sweep is unknown, all sweeps are empty, or an axis has too many values.
    """
    extra = [line for line in overrides if not line.startswith("experiment=")]
    named = [*chain.from_iterable(composer.choices({}, [line])[0] for line in overrides if line not in extra)]
    if empty := [line for line in overrides if line not in extra and not named]:
        raise ConfigError(f"{empty[0]}: no sweep has such a name")
    options = [sweep_option(line.partition("=")[2]) for line in named]
    own = axes if len(options) < 2 else None
    sweeps = [{"experiment": name, **(composer.axes(name) if own is None else own)} for name in options] or [own or {}]
    expanded = [composer.choices(sweep_axes, extra) for sweep_axes in sweeps]
    if not any(map(all, expanded)):
        lines = [*extra, *(f"{key}={values}" for sweep_axes in sweeps for key, values in sweep_axes.items())]
        empty = [line for line in dict.fromkeys(lines) if not all(composer.choices({}, [line]))]
        raise ConfigError(f"{', '.join(empty)}: an axis must have values")
    return expanded


def selection(sources: Sources, overrides: Sequence[str], instances: Instances | None = None) -> list[Experiment]:
    """Make the experiments of `pomrl run -m` with these overrides.

    The options of groups with instances are named by their classes.
    """
    named = [line.partition("=")[2].split(",") for line in overrides if line.startswith("experiment=")]
    composer = _composer(sources, chain.from_iterable(named))
    jobs = chain.from_iterable(product(*choices) for choices in expand(composer, overrides))
    jobs_with_components = [separate(job, instances or {}) for job in jobs]
    return [
        replace(experiment, options={**experiment.options, **names_of(components, instances or {})})
        for lines, components in jobs_with_components
        for experiment in [with_components(parse(composer.compose(lines)), components)]
    ]


def check_first(sources: Sources, overrides: Sequence[str], *, is_sweep: bool) -> None:
    """Raise a ConfigError if a command line's first job is invalid."""
    composer = _composer(sources)
    parse(composer.compose([axis[0] for axis in expand(composer, overrides)[0]] if is_sweep else overrides))


def names(sources: Sources) -> list[str]:
    """List all sweeps of studies and the user's folder, sorted."""
    own = sources.own / "experiment" if sources.own else None
    all_names = (
        {path.relative_to(own).with_suffix("").as_posix() for path in own.rglob("*.yaml")} if own else set[str]()
    )
    for folder in sources.studies:
        sweeps = {*sweep_names(folder)}
        all_names |= {f"{folder.name}/{sweep}" for sweep in sweeps} | (sweeps if folder == folder_of(PAPER) else set())
    return sorted(all_names)


def _composer(sources: Sources, named: Iterable[str] = ()) -> "Composer":
    from pomrl.configuration.composition import Composer  # here, because finding stored experiments needs no Hydra

    for folder in named_folders(named):
        sources = sources.with_study(folder)
    return Composer.from_sources(sources)


def varied_values(composed: Composed, axes: Iterable[str]) -> dict[str, Any]:
    """Return the values of axes; None for a missing key."""
    return {key: composed.options.get(key) or reduce(_entry, key.split("."), composed.values) for key in axes}


def _entry(values: Any, name: str) -> Any:
    return cast(dict[str, Any], values).get(name) if isinstance(values, dict) else None


def command(name: str, *overrides: str) -> str:
    """Return the command for a sweep, with overrides such as `runs=1000`."""
    return " ".join(["pomrl run", f"experiment={name}", *overrides])


def find_options(values: Mapping[str, Any], sources: Sources) -> dict[str, str]:
    """Find each group's option of the same class with the fewest differences, and the nearest reading.

    Groups without a unique nearest option are left out.
    """
    nearest = {group: _nearest(group, values.get(group), sources) for group in GROUPS}
    options = {group: name for group, name in nearest.items() if name}
    return options | {READING: _nearest_reading(values, options, sources)}


def _nearest_reading(values: Mapping[str, Any], options: Mapping[str, str], sources: Sources) -> str:
    """Return the reading whose composition has the fewest other components; the default one in a tie."""
    composer, overrides = _composer(sources), [f"{group}={name}" for group, name in options.items()]
    default = composer.compose(overrides).options[READING]
    names = sorted((path.stem for path in sources.options(READING)), key=lambda name: name != default)
    composed = {name: composer.compose([*overrides, f"{READING}={name}"]).values for name in names}
    return min(
        names,
        key=lambda name: sum(
            _component_keys(composed[name][group]) != _component_keys(values[group]) for group in options
        ),
    )


def _nearest(group: str, value: Any, sources: Sources) -> str | None:
    if not isinstance(value, dict):
        return None
    values = _component_keys(cast(dict[str, Any], value))
    composer, distances = _composer(sources), dict[str, int]()
    for path in [path for folder in sources.folders for path in sorted((folder / group).glob("*.yaml"))]:
        if _may_have(path, str(values.get("_target_"))):
            try:
                option = _component_keys(composer.compose([f"{group}={path.stem}"]).values[group])
            except ConfigError:  # an option with required settings
                continue
            if option["_target_"] == values["_target_"]:
                keys = {*option, *values}
                distances[path.stem] = sum(option.get(key) != values.get(key) for key in keys)
    nearest = [name for name, distance in distances.items() if distance == min(distances.values())]
    return nearest[0] if len(nearest) == 1 else None


def _component_keys(component: Mapping[str, Any]) -> dict[str, Any]:
    """Return a component's keys; files written by earlier versions lack `_convert_`."""
    return {key: value for key, value in component.items() if key != "_convert_"}


def _may_have(path: Path, target: str) -> bool:
    text = path.read_text(encoding="utf-8")
    return target in text or "_target_" not in text
