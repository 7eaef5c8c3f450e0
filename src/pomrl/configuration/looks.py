"""How options look in figures: a line of their YAML files, in a comment that Hydra does not read."""

import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from pomrl.configuration.sources import PUBLISHED

_LOOK = re.compile(r"^# look: (\{.*\})\s*$", re.MULTILINE)


def said(group: str, option: str, folders: Iterable[Path]) -> str | None:
    """Return what the file of an option says of its look; of files in several folders, that of the first one."""
    paths = (folder / group / f"{option}.yaml" for folder in folders)
    path = next(filter(Path.is_file, paths), None)
    found = _LOOK.search(path.read_text(encoding="utf-8")) if path else None
    return found[1] if found else None


def of_own_options(choices: Mapping[str, Any], folders: Iterable[str]) -> dict[str, str]:
    """Return the looks of the options that are not published, by group, as files in these folders say them."""
    own = [path for path in map(Path, folders) if path.resolve() not in PUBLISHED.folders]
    return {group: look for group, option in choices.items() if (look := said(group, option, own))}
