"""Render templates, and embed data in HTML."""

import gzip
import json
from base64 import b64encode
from functools import cache
from pathlib import Path
from typing import Any

from jinja2 import ChoiceLoader, Environment, FileSystemLoader, PackageLoader, StrictUndefined

from pomrl.configuration.composed import number_of
from pomrl.judging.views import describe_decisive, verdict_label
from pomrl.results.intervals import CONFIDENCE_PERCENT
from pomrl_report.address import repository_address
from pomrl_report.markup import sentence, symbols


def render(template: str, *, escapes: bool = True, folder: Path | None = None, **values: Any) -> str:
    """Render a template of this package or of `folder`.

    By default values are escaped as HTML. An unknown name is an error.
    """
    return _environment(escapes, folder).get_template(template).render(values)


@cache
def _environment(escapes: bool, folder: Path | None) -> Environment:  # noqa: FBT001
    loaders = [FileSystemLoader(folder)] if folder else []
    environment = Environment(
        loader=ChoiceLoader([*loaders, PackageLoader("pomrl_report")]),
        autoescape=escapes,
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=StrictUndefined,
    )
    filters = (symbols, sentence, number_of, data_uri, pack_json, css_class, verdict_label, describe_decisive)
    environment.globals |= {"CONFIDENCE_PERCENT": CONFIDENCE_PERCENT, "repository_address": repository_address}
    environment.filters |= {function.__name__: function for function in filters}
    return environment


def data_uri(content: bytes, media_type: str) -> str:
    """Return content as a data URI, for templates of other packages."""
    return f"data:{media_type};base64,{b64encode(content).decode()}"


def pack_json(data: Any) -> str:
    """Return JSON in gzip and base64 for `unpacked` of `packed.js`, without a timestamp."""
    content = json.dumps(data, separators=(",", ":"), sort_keys=True, allow_nan=False).encode()
    return b64encode(gzip.compress(content, 9, mtime=0)).decode()


def css_class(verdict: object) -> str:
    """Return a verdict's CSS class."""
    return str(verdict or "reported").replace(" ", "-")
