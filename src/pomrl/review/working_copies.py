"""Working copies of git revisions, and answers of their own code, kept under a digest of their files."""

import hashlib
import io
import json
import os
import re
import shutil
import subprocess
import sys
import tarfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from pomrl.configuration.composed import ConfigError
from pomrl.outputs import outputs
from pomrl.store.code_digest import LANGUAGES, normalise_source

PACKAGE = Path(__file__).parents[1]

SIDE = Path(__file__).with_name("side.py")
"""The program that the code of each side runs."""

PATIENCE_SECONDS = 10.0
"""The time for a program to end, in seconds."""

LEFT_OUT = re.compile(r"(packages/[^/]+/)?(tests|docs|site|benchmarks|examples|\.github)/")
"""The beginnings of paths of files that experiments do not depend on."""

TEXTS = (".md", ".in", ".j2", ".html", ".css", ".js", ".svg", ".png", ".lock", ".typ", ".bib")
"""Suffixes of files that experiments do not depend on."""


@dataclass
class Side:
    """One side of a review: the files of a git tree."""

    name: str
    """The revision, or `working files`."""
    tree: str
    """The git tree with its files."""
    top: Path
    """The top folder of the repository."""
    workplace: Path
    """The folder for the working copy."""
    process: "subprocess.Popen[str] | None" = field(default=None, init=False)
    """The program of this side, started by the first request."""

    @cached_property
    def blobs(self) -> dict[str, str]:
        """The git blobs of inputs of experiments, by path."""
        lines = _git("-C", str(self.top), "ls-tree", "-r", "-z", self.tree).decode().split("\0")
        entries = [line.partition("\t") for line in lines if line]
        blobs = {path: about.split()[2] for about, _, path in entries}
        texts = {path for path in blobs if Path(path).suffix in TEXTS}
        left_out = texts | {path for path in blobs if LEFT_OUT.match(path) or "outputs" in Path(path).parts}
        return {path: blob for path, blob in blobs.items() if path not in left_out}

    @cached_property
    def digest(self) -> str:
        """The digest of its files, of this program, and of the installed package if it has no code of its own."""
        content = [*sorted(self.blobs.items()), SIDE.read_text(encoding="utf-8")]
        if not self.has_package:
            content += [(str(path.relative_to(PACKAGE)), path.read_bytes()) for path in sorted(PACKAGE.rglob("*.py"))]
        return hashlib.sha256(repr(content).encode()).hexdigest()[:16]

    @property
    def has_package(self) -> bool:
        """Return whether the repository is a checkout of this package."""
        return "src/pomrl/__init__.py" in self.blobs

    @property
    def folder(self) -> Path:
        """The folder of what is kept of this side."""
        return (outputs() / "reviews" / self.digest).absolute()

    def read(self, path: str) -> bytes:
        """Return the content of a file; empty if the side has no such file."""
        return _git("-C", str(self.top), "cat-file", "blob", self.blobs[path]) if path in self.blobs else b""

    def composition(self) -> Mapping[str, Any]:
        """Compose all sweeps, or read what was kept; ConfigError if the code of this side fails."""
        cache_file = self.folder / "composition.json"
        with suppress(OSError, ValueError, KeyError):  # nothing kept, or damaged
            composed = json.loads(cache_file.read_text(encoding="utf-8"))
            return {name: composed[name] for name in ("lines", "errors")}
        composed = self.ask(do="compose")
        for error in composed["errors"]:
            error["message"] = error["message"].replace(f"{self.workplace.resolve()}/", "")
        if composed["errors"]:
            return composed  # something outside of the files may be missing
        cache_file.parent.mkdir(parents=True, exist_ok=True)
        partial = cache_file.with_suffix(f".{os.getpid()}")
        partial.write_text(json.dumps(composed), encoding="utf-8")
        partial.replace(cache_file)
        return composed

    def ask(self, **request: Any) -> Mapping[str, Any]:
        """Send a request to the program of this side, and return the answer."""
        self.process = self.process or _start(self)
        requests, answers = self.process.stdin, self.process.stdout
        assert requests is not None
        assert answers is not None
        try:
            requests.write(f"{json.dumps(request)}\n")
            requests.flush()
            answer: Mapping[str, Any] = json.loads(answers.readline())
        except (OSError, ValueError):  # the program has ended
            lines = _messages(self).read_text(encoding="utf-8", errors="replace").strip().splitlines()
            raise ConfigError(f"{self.name}: {(lines or ['no reason given'])[-1]}") from None
        if "error" in answer:
            raise ConfigError(f"{self.name}: {answer['error']}")
        return answer


def _messages(side: Side) -> Path:
    return side.workplace.with_suffix(".messages")


@contextmanager
def open_sides(old: str, new: str) -> Iterator[tuple[Side, Side]]:
    """Make a working copy of each revision, with a process of its own code.

    An empty `new` stands for the working files. ConfigError if a revision does not exist.
    """
    top = Path(_git("rev-parse", "--show-toplevel").decode().strip())
    with TemporaryDirectory() as folder:
        sides = _side(old, top, Path(folder, "old")), _side(new, top, Path(folder, "new"))
        try:
            yield sides
        finally:
            for process in filter(None, (side.process for side in sides)):
                _end(process)


def _end(process: "subprocess.Popen[str]") -> None:
    """Let a program end after its last answer; kill it after `PATIENCE_SECONDS`."""
    try:
        process.communicate(timeout=PATIENCE_SECONDS)  # which closes its input
    except subprocess.TimeoutExpired:
        process.kill()
        process.communicate()


def _side(revision: str, top: Path, workplace: Path) -> Side:
    if not revision:
        return Side("working files", _working_tree(top), top, workplace)
    try:
        tree = _git("-C", str(top), "rev-parse", "--verify", "--quiet", f"{revision}^{{tree}}").decode().strip()
    except ConfigError as error:
        raise ConfigError(f"{revision}: no such revision") from error
    return Side(revision, tree, top, workplace)


def _working_tree(top: Path) -> str:
    """Write the working files, also untracked ones, as a git tree, without a change of the index."""
    with TemporaryDirectory() as folder:
        # a new index, because one with times of files misses edits within a second
        environment = {**os.environ, "GIT_INDEX_FILE": str(Path(folder, "index"))}
        _git("-C", str(top), "read-tree", "HEAD", environment=environment)
        # without results, which are large and no input
        _git("-C", str(top), "add", "--all", "--", ".", ":(exclude,glob)**/outputs/**", environment=environment)
        return _git("-C", str(top), "write-tree", environment=environment).decode().strip()


def _start(side: Side) -> "subprocess.Popen[str]":
    """Make the working copy, and start its program."""
    folder = side.workplace
    archive = io.BytesIO(_git("-C", str(side.top), "archive", "--format=tar", side.tree))
    try:
        with tarfile.open(fileobj=archive) as files:
            files.extractall(folder, filter="data")
    except tarfile.TarError as error:  # such as a link to a place outside
        raise ConfigError(f"{side.name}: {error}") from error
    if side.has_package:
        _copy_extensions(folder / "src" / "pomrl")
    environment = {**os.environ, "POMRL_OUTPUTS": str(side.folder)}
    code = [folder / "src", *sorted(folder.glob("packages/*/src"))]
    environment |= {"PYTHONPATH": os.pathsep.join(map(str, code))} if side.has_package else {}
    command, pipe = [sys.executable, "-P", str(SIDE)], subprocess.PIPE
    with _messages(side).open("w") as messages:
        return subprocess.Popen(
            command, cwd=folder, env=environment, stdin=pipe, stdout=pipe, stderr=messages, text=True
        )


def _copy_extensions(package: Path) -> None:
    """Copy compiled modules of equal sources; others are replaced by NumPy, with equal results."""
    for compiled in PACKAGE.rglob("*.abi3.so"):
        relative = compiled.relative_to(PACKAGE)
        source = relative.with_name(f"{compiled.name.partition('.')[0]}.c")
        sources = [source, Path("science", "_buffers.h")]
        if all(
            (package / path).is_file() and (package / path).read_bytes() == (PACKAGE / path).read_bytes()
            for path in sources
        ):
            shutil.copyfile(compiled, package / relative)


def _git(*arguments: str, environment: Mapping[str, str] | None = None) -> bytes:
    try:
        return subprocess.run(["git", *arguments], check=True, capture_output=True, env=environment).stdout
    except FileNotFoundError as error:
        raise ConfigError("git must be installed to compare revisions") from error
    except subprocess.CalledProcessError as error:
        name = next(argument for argument in arguments if argument.isalpha() or "-" in argument[1:])
        lines = error.stderr.decode().strip().splitlines()
        raise ConfigError(f"git {name}: {lines[-1] if lines else error}") from error


def changed_modules(old: Side, new: Side) -> list[str]:
    """List the modules with other code, without comments, docstrings and layout."""

    def text(side: Side, path: str) -> str:
        source = side.read(path)
        try:
            return normalise_source(source, is_python=path.endswith(".py"))
        except SyntaxError:
            return repr(source)

    paths = sorted({*old.blobs, *new.blobs})
    edited = [path for path in paths if Path(path).suffix in LANGUAGES and old.blobs.get(path) != new.blobs.get(path)]
    return [path for path in edited if text(old, path) != text(new, path)]
