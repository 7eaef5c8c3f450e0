"""How options look in figures: `looks.yaml` in a folder of configuration says it, by group and option."""

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import yaml

from pomrl.configuration.composed import ConfigError
from pomrl.configuration.sources import PUBLISHED

FILE = "looks.yaml"

_LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
"""libyaml's loader where it was built, because figures ask for looks often."""


def find(group: str, option: str, folders: Iterable[Path]) -> Mapping[str, Any] | None:
    """Return what is said of the look of an option, in the first of the folders that has this option.

    Raises:
        ConfigError: The file with the looks cannot be read.
    """
    folder = next((folder for folder in folders if (folder / group / f"{option}.yaml").is_file()), None)
    if folder is None or not (path := folder / FILE).is_file():
        return None
    try:
        return yaml.load(path.read_bytes(), _LOADER)[group][option]
    except KeyError:
        return None
    except (yaml.YAMLError, TypeError) as error:
        raise ConfigError(f"{path}: cannot be read; it has looks by group and option") from error


def of_own_options(choices: Mapping[str, Any], folders: Iterable[str]) -> dict[str, Mapping[str, Any]]:
    """Return the looks of the options that are not published, by group, as these folders say them."""
    own = [path for path in map(Path, folders) if path.resolve() not in PUBLISHED.folders]
    return {group: look for group, option in choices.items() if (look := find(group, option, own))}
