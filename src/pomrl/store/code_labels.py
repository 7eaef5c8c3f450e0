"""Labels of code: what is stored has one for the code that computed it.

A label is made when code computes for the first time: the commit of the repository in which the component lives, with a
digest of what was changed since, or a counter with the date where there is no repository. The record of labels,
`.codes.json` in the folder of outputs, has one for each digest of code.
"""

import hashlib
import os
import subprocess
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from typing import Any, cast

from pomrl.outputs import outputs
from pomrl.store import files
from pomrl.store.code_digest import source_of
from pomrl.store.layout import MOST_LIST_BYTES, StoreError
from pomrl.store.manifest import Manifest

FILE = ".codes.json"

_SOURCES = ("*.py", "*.c")
"""What of a repository is code; other files that were changed do not matter to a label."""


def label(said: Manifest) -> str:
    """Return the label of the code that computed an experiment.

    Where the record has none, as of what was imported or stored before there were labels, it is the commit of this
    package or the date, with the first digits of the digest of the code.
    """
    known = _recorded().get(said.code)
    made = said.provenance
    return known["label"] if known else f"{(made.commit or made.start[:10])[:10]}+{said.code[:4]}"


def record(code: str, classes: Sequence[str]) -> None:
    """Give the present code of these components a label, unless it has one.

    Args:
        code: The digest of the code.
        classes: The dotted names of the classes of the components.

    Raises:
        StoreError: The record is damaged.
    """
    if code in _recorded():
        return
    with files.locked(outputs()):
        known, of = _recorded(), sorted(classes)
        earlier = [each["label"] for each in known.values() if each["classes"] == of]
        new = {code: {"label": _new(_commit(source_of(classes)), earlier), "classes": of}}
        files.write(outputs() / FILE, files.json_with_checksum({"codes": {**new, **known}}))


def _new(commit: str | None, earlier: Sequence[str]) -> str:
    """Return a label that none of the earlier ones of the same components is equal to."""
    if commit is None:
        return f"v{len(earlier) + 1}-{datetime.now(UTC).date()}"
    same = sum(each.partition(".")[0] == commit for each in earlier)
    return f"{commit}.{same + 1}" if same else commit


def _recorded() -> Mapping[str, Mapping[str, Any]]:
    path = outputs() / FILE
    return _read(path) if os.path.lexists(path) else {}


@files.remembered
def _read(path: Path) -> Mapping[str, Mapping[str, Any]]:
    said, is_sound = files.read_json(path, MOST_LIST_BYTES)
    if not is_sound:
        raise StoreError(f"{path}: it is damaged; without it, commits and dates are the labels of code")
    return cast(dict[str, dict[str, Any]], said["codes"])


@cache
def _commit(source: Path) -> str | None:
    """Return the commit of the repository of a source file, such as a1b2c3d, or a1b2c3d+9f3e with code changed since.

    It is None where git does not follow the file, as one of an installed package.
    """

    def git(*arguments: str) -> bytes | None:
        command = ["git", "-C", str(source.parent), *arguments]
        try:
            return subprocess.run(command, capture_output=True, check=True).stdout
        except (OSError, subprocess.CalledProcessError):
            return None

    commit = git("rev-parse", "--short=7", "HEAD")
    if commit is None or git("check-ignore", "-q", str(source)) is not None:
        return None
    new = (git("ls-files", "-z", "--others", "--exclude-standard", "--", *_SOURCES) or b"").split(b"\0")
    contents = [(source.parent / os.fsdecode(name)).read_bytes() for name in new if name]
    changed = b"\0".join([git("diff", "HEAD", "--", *_SOURCES) or b"", *contents])
    dirty = f"+{hashlib.sha256(changed).hexdigest()[:4]}" if changed else ""
    return commit.decode().strip() + dirty
