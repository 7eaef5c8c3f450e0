"""The public address of this project."""

from importlib.metadata import metadata

LABEL = "Repository"
"""The key of `[project.urls]` in pyproject.toml."""


def repository_address() -> str:
    """Return the address of the installed distribution's metadata; empty if it has none."""
    urls = metadata("pomrl").get_all("Project-URL") or []
    return next((address for label, address in (url.split(", ", 1) for url in urls) if label == LABEL), "")
