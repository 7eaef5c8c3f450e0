"""Signatures: short names of experiments, made of everything that can change one of their numbers."""

import hashlib
import json
from collections.abc import Mapping
from typing import Any

from pomrl.configuration.composed import ConfigError
from pomrl.configuration.parsing import Experiment
from pomrl.configuration.settings import component_classes, scientific_settings
from pomrl.store.code_digest import code_digest
from pomrl.store.layout import SCHEMA_VERSION


def signature(experiment: Experiment) -> str:
    """Return the signature of an experiment: 12 hex digits, made from its settings, the schema and its code.

    Raises:
        ConfigError: A field of a component holds something else than plain data.
    """
    settings = scientific_settings(experiment)
    code = code_digest(component_classes(settings))
    try:
        return signature_of(settings, schema=SCHEMA_VERSION, code=code)
    except (TypeError, ValueError) as error:
        raise ConfigError(f"fields of components have to be text, numbers, or lists of them ({error})") from error


def signature_of(settings: Mapping[str, Any], *, schema: int, code: str) -> str:
    """Return the signature of these settings.

    Args:
        settings: The scientific settings of an experiment.
        schema: A version of the store, the present one or an earlier one.
        code: The digest of the code, at present or when the experiment was stored.
    """
    identity = {"settings": settings, "schema": schema, "code": code}
    return hashlib.sha256(json.dumps(identity, sort_keys=True).encode()).hexdigest()[:12]
