"""Pages as the elements that they consist of."""

import gzip
import json
import re
from base64 import b64decode
from html.parser import HTMLParser
from typing import Any


class Elements(HTMLParser):
    """The start tags of a page, with their attributes."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.found: list[tuple[str, dict[str, str | None]]] = []
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, dict(attrs)))

    def values(self, attribute: str) -> list[str]:
        return [value for _, attributes in self.found if (value := attributes.get(attribute)) is not None]


def curves_of(page: str) -> dict[str, Any]:
    """Return the data of the curves that a page draws."""
    found = re.search(r'<script type="application/gzip" id="curves-data">(.*?)</script>', page)
    assert found
    return json.loads(gzip.decompress(b64decode(found[1])))
