"""State claims before looking, in a file: `claims.lock` beside `claims.txt`.

A lock has the date, the claims and the planned number of units. `judge` appends each look at another table. Nothing is
refused; judgements say what happened.
"""

import hashlib
import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path

import pandas as pd

from verdicts.language import Claim, read_claims

DIGEST_LENGTH = 16
"""The length of digests, in characters."""


class LockError(ValueError):
    """A lock cannot be read."""


@dataclass(frozen=True)
class Look:
    """A judgement of a table."""

    date: str
    table: str
    """The digest of the table."""
    n: int
    """The smallest number of units of a claim."""


@dataclass(frozen=True)
class Lock:
    """Claims as they were stated."""

    date: str
    claims: dict[str, str]
    """The text of each claim, by id."""
    n: int | None = None
    """The planned number of units in each group."""
    earlier: list[str] = field(default_factory=list)
    """The dates of earlier locks in the same file."""
    looks: list[Look] = field(default_factory=list)

    @property
    def digest(self) -> str:
        """The digest of all but the looks."""
        return _digest(json.dumps([self.date, self.claims, self.n, self.earlier], sort_keys=True).encode())

    def write(self, path: Path) -> None:
        """Write the lock."""
        text = json.dumps({"digest": self.digest, **asdict(self)}, indent=1, ensure_ascii=False)
        path.write_text(text + "\n", encoding="utf-8")


def lock_claims(claims: str | Path, path: str | Path | None = None, n: int | None = None) -> Path:
    """Write the lock of a file of claims, and return its path.

    An existing lock is replaced; its date and its looks stay in the file.
    """
    if n is not None and n < 1:
        raise LockError(f"n must be 1 or more, got {n}")
    path = Path(path) if path else Path(claims).with_suffix(".lock")
    texts = {claim.id: claim.text for claim in read_claims(claims)}
    lock = Lock(_today(), texts, n)
    if path.exists():
        old = read_lock(path)
        lock = replace(lock, earlier=[*old.earlier, old.date], looks=old.looks)
    lock.write(path)
    return path


def read_lock(path: Path) -> Lock:
    """Read a lock, or raise a LockError if it is damaged."""
    try:
        loaded = json.loads(path.read_text("utf-8"))
        digest, looks = loaded.pop("digest"), [Look(**look) for look in loaded.pop("looks")]
        lock = Lock(**loaded, looks=looks)
        is_intact = lock.digest == digest
    except (ValueError, TypeError, KeyError, AttributeError):
        raise LockError(f"{path} is damaged: it must be written by `verdicts lock`") from None
    if not is_intact:
        raise LockError(f"{path} is damaged: its claims, date or n were changed by hand")
    return lock


def lock_notes(path: Path | None, claims: Sequence[Claim], frame: pd.DataFrame, n: int) -> list[str]:
    """Compare claims with their lock, record the look, and return what must be said."""
    if path is None:
        return []
    lock = read_lock(path)
    look = Look(_today(), _digest(frame.to_csv(index=False).encode()), n)
    notes = [_lock_date(lock), *_changes(lock, claims), *_looks(lock, look)]
    if look.table in [earlier.table for earlier in lock.looks]:
        return notes
    try:
        replace(lock, looks=[*lock.looks, look]).write(path)
    except OSError as error:
        notes.append(f"this look is not recorded: {error.strerror}")
    return notes


def _lock_date(lock: Lock) -> str:
    earlier = f", and earlier on {', '.join(lock.earlier)}" if lock.earlier else ""
    return f"locked on {lock.date}{earlier}"


def _changes(lock: Lock, claims: Sequence[Claim]) -> list[str]:
    """Name the claims changed, added or removed after the lock."""
    texts = {claim.id: claim.text for claim in claims}
    names = [name for name in {**lock.claims, **texts} if lock.claims.get(name) != texts.get(name)]
    return [f"changed after the lock: {', '.join(names)}"] if names else []


def _looks(lock: Lock, look: Look) -> list[str]:
    """Name earlier looks at other tables, and a number of units below the planned one."""
    planned_text = f" of {lock.n} planned" if lock.n else ""
    earlier_looks = [
        earlier for earlier in lock.looks if earlier.table != look.table and (not lock.n or earlier.n < lock.n)
    ]
    notes = [f"looked before: on {earlier.date} with {earlier.n}{planned_text} units" for earlier in earlier_looks]
    if lock.n and look.n < lock.n:
        notes.append(f"only {look.n}{planned_text} units")
    return notes


def _digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()[:DIGEST_LENGTH]


def _today() -> str:
    return datetime.now(UTC).date().isoformat()
