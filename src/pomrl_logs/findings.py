"""What an audit of a log finds: a line each, with a count, an example row, and what to do."""

from dataclasses import dataclass
from typing import Literal

Effect = Literal["stops", "weakens", "note"]
"""Whether a finding makes advice void, weakens it, or only says how the table was read."""


class LogWarning(UserWarning):
    """Says in one line what weakens advice on a log."""


@dataclass(frozen=True)
class Finding:
    """One thing that an audit has found."""

    name: str
    """What it is called where somebody says that it is meant: `accept`, or `--accept`."""
    effect: Effect
    line: str
    """What it is in this table, with an example row, and what to write instead."""
