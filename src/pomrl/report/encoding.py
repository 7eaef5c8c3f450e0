"""Data, pictures and scripts in the form in which an HTML page contains them."""

import json
from base64 import b64encode
from typing import Any

from markupsafe import Markup


def data_uri(content: bytes, media_type: str) -> str:
    """A data URI containing `content`."""
    return f"data:{media_type};base64,{b64encode(content).decode()}"


def script_data(data: Any) -> Markup:
    """JSON for a script element; every "<" is escaped, so that no browser takes a string for the element's end."""
    return Markup(json.dumps(data, separators=(",", ":"), sort_keys=True, allow_nan=False).replace("<", "\\u003c"))


def script(code: str) -> Markup:
    """JavaScript for a script element, with "</script" and "<!--" escaped.

    Both can occur only in strings and regular expressions, where the inserted backslash has no effect.
    """
    return Markup(code.replace("</script", "<\\/script").replace("<!--", "<\\!--"))
