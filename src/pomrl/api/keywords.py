"""Read the keyword arguments common to all functions."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pomrl.configuration.instances import Instances, extract
from pomrl.configuration.sources import PUBLISHED, Sources
from pomrl.store.notebook_classes import mark_notebook_classes


def extract_instances(settings: Mapping[str, Any]) -> tuple[Mapping[str, Any], Instances]:
    """Replace instances in settings by texts, and mark notebook classes."""
    plain, instances = extract(settings)
    mark_notebook_classes(instance for _, instance in instances.values())
    return plain, instances


def read_sources(config_dir: str | Path | None) -> Sources:
    """Return the sources of options, with a user's folder."""
    return PUBLISHED.with_options(None if config_dir is None else Path(config_dir))
