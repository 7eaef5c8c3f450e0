"""Compositions kept on disk, because composing takes Hydra about a tenth of a second for each choice of options.

An entry is a file of JSON in `pomrl/compositions/` of the user's cache folder (`$XDG_CACHE_HOME`, or `~/.cache`). Its
name says what was asked for; its key is a digest of that and of everything the answer is made from: the YAML files of
all source folders, the environment variables they name, the code of this folder and of Hydra's plugins, and the
versions of Hydra and OmegaConf. An entry with another key (something was edited since), or with content that does not
match its checksum, is ignored and replaced. The folder may be removed at any time.
"""

import hashlib
import json
import os
import platform
import re
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import cache
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path
from typing import Any

_RESOLVER = re.compile(r"\$\{\s*([^{}:]*?)\s*[:{](?=\s*([^,}]*))")
"""A function that a configuration calls, such as ${half:${S}}, and its first argument."""

_PURE_RESOLVERS = ("half", "all_but", "grid_to")
"""Functions whose value depends on their arguments alone."""


def cached(folders: Sequence[Path], request: Any, compose: Callable[[], Any]) -> Any:
    """Return what `compose` returns for a request, from disk where it is kept there.

    Args:
        folders: The folders of YAML files that are composed from.
        request: What is asked for; data that JSON can represent.
        compose: Composes it. Called only where no valid entry exists. What it returns is kept if JSON represents it
            faithfully; errors are not kept.
    """
    texts = _texts(folders)
    environment = _environment([*texts.values(), json.dumps(request)])
    if environment is None or not _folder().is_absolute():  # it is not where there is no home
        return compose()
    asked = json.dumps([[str(folder) for folder in folders], request])
    key = _digest(json.dumps([asked, texts, environment, _code(), _versions()]))
    path = _folder() / f"{_digest(asked)[:24]}.json"
    content = _read(path, key)
    if content is None:
        content = compose()
        _write(path, key, content)
    return content


def state(folders: Sequence[Path]) -> str | None:
    """Return a digest of everything that is composed from; None where a composition may depend on more."""
    texts = _texts(folders)
    environment = _environment([*texts.values()])
    return None if environment is None else _digest(json.dumps([texts, environment]))


def _folder() -> Path:
    """Return the folder of all entries, which need not exist."""
    cache = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")  # noqa: PTH111 (raises without a home)
    return Path(cache) / "pomrl" / "compositions"


def _texts(folders: Sequence[Path]) -> dict[str, str]:
    """Return the text of every YAML file of the folders by its path; like Hydra, follow links."""
    paths = (
        Path(parent, name)
        for folder in folders
        for parent, _, names in os.walk(folder, followlinks=True)
        for name in names
        if name.endswith(".yaml")
    )
    return {str(path): path.read_text(errors="backslashreplace") for path in sorted(paths) if path.is_file()}


def _environment(texts: Sequence[str]) -> dict[str, str | None] | None:
    """Return the environment variables that the texts name; None where their meaning depends on anything else."""
    variables: dict[str, str | None] = {}
    for text in texts:
        if "searchpath" in text:  # further folders, which nobody has looked into here
            return None
        for resolver, argument in _RESOLVER.findall(text):
            if resolver == "oc.env" and re.fullmatch(r"\w+", argument.strip()):
                variables[argument.strip()] = os.environ.get(argument.strip())
            elif resolver not in _PURE_RESOLVERS:
                return None
    return variables


@cache
def _code() -> str:
    """Return a digest of the code that composes: this folder, and all plugins of Hydra."""
    plugins = find_spec("hydra_plugins")
    folders = [Path(__file__).parent, *map(Path, (plugins and plugins.submodule_search_locations) or [])]
    return _digest("\0".join(path.read_text() for folder in folders for path in sorted(folder.rglob("*.py"))))


@cache
def _versions() -> dict[str, str]:
    return {package: version(package) for package in ("hydra-core", "omegaconf")}


def _read(path: Path, key: str) -> Any:
    """Return the content of an entry, or None where there is none with this key that is as it was written."""
    try:
        entry = json.loads(path.read_bytes())
        valid = entry["key"] == key and entry["checksum"] == _checksum(key, entry["content"])
        return entry["content"] if valid else None
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        return None


def _write(path: Path, key: str, content: Any) -> None:
    """Write an entry whole or not at all; do nothing where that is impossible, or where JSON would change it."""
    temporary = path.with_name(f".{path.name}.{platform.node()}.{os.getpid()}.tmp")
    try:
        text = json.dumps({"key": key, "checksum": _checksum(key, content), "content": content})
        if json.loads(text)["content"] != content:
            return
        path.parent.mkdir(parents=True, exist_ok=True)
        temporary.write_text(text)
        temporary.replace(path)
    except (OSError, TypeError, ValueError):
        with suppress(OSError):
            temporary.unlink(missing_ok=True)


def _checksum(key: str, content: Any) -> str:
    return _digest(key + json.dumps(content, sort_keys=True))


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()
