"""All published sweeps under the variants of their studies, as plain data.

`pomrl diff` runs this file with other versions of the package, so it must use only names common to all versions.
"""

import hashlib
import json
import sys
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from pomrl.configuration.composed import ConfigError
from pomrl.configuration.settings import flat_settings, scientific_settings
from pomrl.configuration.study import Study, shipped_studies
from pomrl.configuration.sweeps import Setting
from pomrl.store import signature


def compose_published() -> Iterator[dict[str, Any]]:
    """Compose each published sweep under each valid variant.

    Yields:
        `study`, `sweep`, `variant`, `digest`, and `experiments` with `varied`, flat `settings` and `signature`.
    """
    for line, settings in _published():
        yield {**line, "digest": digest(settings), "experiments": [*map(_plain, settings)]}


def digest_published() -> Iterator[dict[str, Any]]:
    """Yield `compose_published`, with numbers of experiments instead of lists."""
    for line, settings in _published():
        yield {**line, "experiments": len(settings), "digest": digest(settings)}


def _published() -> Iterator[tuple[dict[str, str], list[Setting]]]:
    for study in shipped_studies():
        for variant in study.variants:
            for sweep in study.sweeps if variant.sweeps is None else variant.sweeps:
                if settings := _settings(study, sweep, variant):
                    yield {"study": study.name, "sweep": sweep, "variant": variant.name}, settings


def _settings(study: Study, sweep: str, variant: Any) -> list[Setting]:
    try:
        return study.settings(sweep, variant)
    except ConfigError:
        return []


def digest(settings: Sequence[Setting]) -> str:
    """Digest all scientific settings to 12 hex digits."""
    content = [scientific_settings(setting.experiment) for setting in settings]
    return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()[:12]


def _plain(setting: Setting) -> Mapping[str, Any]:
    experiment = setting.experiment
    flat = flat_settings(scientific_settings(experiment), experiment.options)
    return {"varied": setting.varied, "settings": flat, "signature": signature(experiment)}


if __name__ == "__main__":
    json.dump(list(compose_published()), sys.stdout)
