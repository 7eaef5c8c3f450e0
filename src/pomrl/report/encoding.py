"""Data and pictures in the form in which an HTML page contains them."""

import gzip
import json
from base64 import b64encode
from typing import Any

from markupsafe import Markup


def data_uri(content: bytes, media_type: str) -> str:
    """Return a data URI that contains `content`."""
    return f"data:{media_type};base64,{b64encode(content).decode()}"


def packed(content: bytes) -> str:
    """Return a data URI that contains `content` packed with gzip, without the time at which it was packed."""
    return data_uri(gzip.compress(content, 9, mtime=0), "application/gzip")


def script_data(data: Any) -> Markup:
    """Return JSON for a script element; every "<" is escaped, so that no string can end the element."""
    return Markup(json.dumps(data, separators=(",", ":"), sort_keys=True, allow_nan=False).replace("<", "\\u003c"))
