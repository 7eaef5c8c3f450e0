"""Rebuild experiments from stored settings."""

from collections.abc import Collection, Mapping
from functools import cache
from pathlib import Path
from typing import Any, cast

from pomrl.configuration.composed import GROUPS, Composed, ConfigError
from pomrl.configuration.importing import is_ours
from pomrl.configuration.parsing import Experiment, parse
from pomrl.configuration.sources import PUBLISHED
from pomrl.store import StoredExperiment


def from_settings(stored: StoredExperiment, own_classes: Collection[str] = ()) -> Experiment:
    """Rebuild the experiment of stored settings.

    ConfigError if they are invalid, or contain a user's class outside of `own_classes`, which must not be imported.
    """
    if not all(is_ours(name) or name in own_classes for name in _classes(stored)):
        raise ConfigError(
            "an experiment with user-defined components must be recomputed with its study or options; "
            "run pomrl runs STUDY --recompute N, or pomrl runs --recompute N --config-dir FOLDER"
        )
    manifest = stored.read_manifest()
    # Settings leave out defaults without an effect.
    return parse(Composed({**_defaults(), **manifest.settings}, manifest.options))


def is_of_package(stored: StoredExperiment) -> bool:
    """Return whether all stored components belong to this distribution."""
    return all(map(is_ours, _classes(stored)))


def _classes(stored: StoredExperiment) -> list[str]:
    settings = stored.read_manifest().settings
    groups = [cast(dict[str, Any], settings[group]) for group in GROUPS if isinstance(settings.get(group), dict)]
    return [str(group.get("_target_")) for group in groups]


def classes_of_options(folder: Path) -> set[str]:
    """Return the class names in the options of a user's folder; ConfigError if it has none."""
    sources = PUBLISHED.with_options(folder)
    contents = [
        (group, sources.content(group, path.stem)) for group in GROUPS for path in (folder / group).glob("*.yaml")
    ]
    # A file of a family has its keys below its group.
    return {str({**content, **content.get(group, {})}.get("_target_")) for group, content in contents}


def check_settings(stored: StoredExperiment) -> None:
    """Raise a ConfigError for invalid settings of shipped components."""
    if is_of_package(stored):
        from_settings(stored)


def fault_of_settings(stored: StoredExperiment) -> str | None:
    """Return why readable settings are invalid, or None."""
    try:
        if stored.manifest():
            check_settings(stored)
    except ConfigError as error:
        return f"{stored.folder}: its settings are invalid ({error}); remove the folder"
    return None


@cache
def _defaults() -> Mapping[str, Any]:
    from pomrl.configuration.composition import Composer  # here, because it is rarely needed

    return Composer.from_sources(PUBLISHED).compose([]).values
