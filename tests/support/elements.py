"""The elements of HTML pages."""

import gzip
import json
import re
from base64 import b64decode
from html.parser import HTMLParser
from typing import Any
from urllib.parse import unquote


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


def page_curves(page: str) -> dict[str, Any]:
    """Return the data of the curves of a page."""
    actual = re.search(r'<script type="application/gzip" id="curves-data">(.*?)</script>', page)
    assert actual
    return json.loads(gzip.decompress(b64decode(actual[1])))


def find_curve(curves: dict[str, Any], sweep: str, sigma: float, method: str) -> dict[str, Any]:
    """Return the curve of an experiment from the data of a page."""
    expected = (sweep, sigma, method)
    (name,) = (
        series["curve"]
        for series in curves["series"]
        if (series["sweep"], series["sigma"], series["method"]) == expected
    )
    return curves["curves"][name]


def assert_closed(page: str) -> None:
    """Check that a page fetches nothing but pictures of its folder, and its links."""
    actual = Elements(page)
    for attribute in ("src", "srcset", "action", "data", "poster", "background"):
        addresses = [value for value in actual.values(attribute) if not re.fullmatch(r"[\w-]+\.(?:webp|png)", value)]
        assert all(value.startswith(("#", "data:")) for value in addresses), attribute
    targets = [value for value in actual.values("href") if not re.fullmatch(r"[\w-]+\.csv", value)]
    assert all(value.startswith(("#", "data:", "https://")) for value in targets)
    fetched = [str(attributes.get("href")) for tag, attributes in actual.found if tag == "link"]
    assert all(address.startswith("data:") for address in fetched)
    ids = actual.values("id")
    assert len(ids) == len(set(ids))
    assert {unquote(value[1:]) for value in actual.values("href") if value.startswith("#")} <= set(ids)
