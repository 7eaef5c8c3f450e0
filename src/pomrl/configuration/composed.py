"""Define composed configurations, group names and errors, without heavy imports."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches
from typing import Any

METHOD_GROUPS = ("estimator", "gamma_schedule", "planner", "agent", "metric")
"""The groups of the method; random draws do not depend on them."""

PROBLEM_GROUPS = ("task_distribution", "stream", "data", "meta_batch")
"""The groups of the problem; random draws depend on them."""

GROUPS = (*PROBLEM_GROUPS, *METHOD_GROUPS, "execution")
"""All groups, each with one option in a configuration."""

READING = "reading"
"""The group of readings of a paper. `reading/GROUP/OPTION/NAME.yaml` has the keys of an option in the reading NAME."""

MAX_JOBS = 10_000
"""The largest number of jobs of a sweep without `yes=true`."""


class ConfigError(ValueError):
    """An error of the configuration, in one line: key, value, remedy."""


class UnreadableOverrideError(ConfigError):
    """An error for an override without the form key=value."""


class UnknownSweepError(ConfigError):
    """An error for a sweep without a file."""

    def __init__(self, message: str, sweep: str) -> None:
        super().__init__(message, sweep)  # both, because processes exchange errors by their arguments
        self.message, self.sweep = message, sweep

    def __str__(self) -> str:
        return self.message


@dataclass(frozen=True)
class Composed:
    """A composed configuration as plain data, resolved but unchecked."""

    values: Mapping[str, Any]
    """The values by key. A group has the keys of its option, and the class under `_target_`."""
    options: Mapping[str, str]
    """The selected option of each group, also of `READING`."""
    looks: Mapping[str, Mapping[str, Any]] = field(default_factory=dict[str, Mapping[str, Any]])
    """The plot styles of user-defined options, by group."""
    notes: tuple[str, ...] = ()
    """A line for each option outside of the reading."""


def number_of(number: int, noun: str) -> str:
    """Format a number and noun, such as `2,000 claims`."""
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def unknown_key(start: str, key: str, keys: Sequence[str], what: str = "unknown key") -> str:
    """Format `START: WHAT (did you mean KEY?); available: KEYS`."""
    return f"{start}: {what}{suggest_key(key, keys)}" + (f"; available: {', '.join(keys)}" if keys else "")


def suggest_key(key: str, keys: Sequence[str]) -> str:
    """Format ` (did you mean KEY?)` for the most similar key; empty if none is."""
    by_name = {key.rpartition(".")[2]: key for key in sorted(keys, key=len, reverse=True)}
    near = get_close_matches(key.rpartition(".")[2], by_name, n=1)
    return f" (did you mean {by_name[near[0]]}?)" if near else ""
