"""Data and pictures in the form in which an HTML page contains them."""

import gzip
import json
from base64 import b64encode
from typing import Any


def data_uri(content: bytes, media_type: str) -> str:
    """Return a data URI that contains `content`."""
    return f"data:{media_type};base64,{b64encode(content).decode()}"


def packed(content: bytes) -> str:
    """Return `content` packed with gzip, in letters, without the time at which it was packed."""
    return b64encode(gzip.compress(content, 9, mtime=0)).decode()


def packed_json(data: Any) -> str:
    """Return data as JSON, packed; a page unpacks it with `unpacked` of `packed.js`."""
    return packed(json.dumps(data, separators=(",", ":"), sort_keys=True, allow_nan=False).encode())
