"""Data and scripts as parts of a page."""

import json
from base64 import b64encode
from typing import Any

from markupsafe import Markup


def data_uri(content: bytes, kind: str) -> str:
    """An address that holds what it leads to."""
    return f"data:{kind};base64,{b64encode(content).decode()}"


def script_data(data: Any) -> Markup:
    """JSON that no browser takes for the end of its element."""
    return Markup(json.dumps(data, separators=(",", ":"), sort_keys=True, allow_nan=False).replace("<", "\\u003c"))


def script(code: str) -> Markup:
    """JavaScript, likewise; in strings and patterns, where it may contain such an end, the backslash means nothing."""
    return Markup(code.replace("</script", "<\\/script").replace("<!--", "<\\!--"))
