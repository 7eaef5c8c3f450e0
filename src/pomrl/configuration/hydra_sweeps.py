"""Make the experiments of a configuration composed by Hydra, with its axes."""

from collections.abc import Mapping, Sequence
from itertools import chain, product
from typing import Any, cast

from hydra.core.hydra_config import HydraConfig
from omegaconf import DictConfig, OmegaConf

from pomrl.configuration.composed import ConfigError
from pomrl.configuration.composition import Composer, to_composed
from pomrl.configuration.parsing import parse
from pomrl.configuration.sweeps import Setting, expand, varied_values


def lacks_axes(config: Mapping[str, Any]) -> bool:
    """Return whether Hydra composed a configuration, but its axes are unknown.

    Files of jobs and plain dictionaries have no axes. The jobs of a Hydra application are single experiments.
    """
    is_composed = isinstance(config, DictConfig) and bool(OmegaConf.is_struct(config))
    return is_composed and "hydra" not in config and not HydraConfig.initialized()


def sweep_of_config(config: Mapping[str, Any]) -> list[Setting] | None:
    """Make the experiments of a configuration, in the order of its axes; None without axes.

    Raises:
        ConfigError: The configuration was edited after its composition, or a setting is invalid.
    """
    config = config if isinstance(config, DictConfig) else OmegaConf.create(dict(config))
    hydra: Any = config.get("hydra")
    if hydra is None:
        return None
    params: Any = OmegaConf.select(hydra, "sweeper.params")
    axes = cast(dict[str, Any], OmegaConf.to_container(params, resolve=True)) if params else {}
    composer, overrides = Composer.from_hydra(hydra), cast(list[str], OmegaConf.to_container(hydra.overrides.task))
    swept = [line.is_sweep_override() for line in composer.parse(overrides)]
    if not axes and not any(swept):
        return None
    fixed = [line for line, is_swept in zip(overrides, swept, strict=True) if not is_swept]
    _check_unedited(to_composed(config).values, composer.compose(fixed).values)
    choices = expand(composer, overrides, axes)
    jobs = [composer.compose(job) for job in chain.from_iterable(product(*sweep) for sweep in choices)]
    return [Setting(varied_values(job, _varied_keys(choices, axes)), parse(job)) for job in jobs]


def _check_unedited(values: Any, composed: Any, path: tuple[str, ...] = ()) -> None:
    """Raise a ConfigError for the first key with another value than composed."""
    if isinstance(values, Mapping) and isinstance(composed, Mapping):
        values, composed = cast(Mapping[str, Any], values), cast(Mapping[str, Any], composed)
        for name in {**composed, **values}:
            _check_unedited(values.get(name), composed.get(name), (*path, name))
    elif values != composed:
        key = ".".join(path)
        raise ConfigError(
            f"{key}={values!r} was set after compose, which gave {composed!r}; add it to the overrides of compose"
        )


def _varied_keys(choices: Sequence[Sequence[Sequence[str]]], axes: Mapping[str, Any]) -> list[str]:
    """List the keys with several values; the published axes come first."""
    swept = [axis[0].partition("=")[0] for sweep in choices for axis in sweep if len(axis) > 1]
    return list(dict.fromkeys([*["experiment"] * (len(choices) > 1), *axes, *swept]))
