"""Hold composed configurations, group names and errors, without heavy imports."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches
from typing import Any

METHOD_GROUPS = ("estimator", "gamma_schedule", "planner", "agent", "metric")
"""Groups of the method, on which random draws do not depend."""

PROBLEM_GROUPS = ("task_distribution", "stream", "data", "meta_batch")
"""Groups of the problem, on which random draws depend."""

GROUPS = (*PROBLEM_GROUPS, *METHOD_GROUPS, "execution")
"""All groups, each with one option in a configuration."""

MOST_JOBS = 10_000
"""The most jobs of a sweep without `yes=true`."""


class ConfigError(ValueError):
    """Report a wrong configuration in one line: key, value, remedy."""


class UnreadableOverrideError(ConfigError):
    """Report an override that is not of the form key=value."""


@dataclass(frozen=True)
class Composed:
    """A composed configuration as plain data, resolved but unchecked."""

    values: Mapping[str, Any]
    """The values by key; for a group, its option's keys and its class under `_target_`."""
    options: Mapping[str, str]
    """Each group's option."""
    looks: Mapping[str, Mapping[str, Any]] = field(default_factory=dict[str, Mapping[str, Any]])
    """The looks of users' options, by group."""


def number_of(number: int, noun: str) -> str:
    """Format a number and noun, such as `2,000 claims`."""
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def unknown_key(start: str, key: str, keys: Sequence[str], what: str = "unknown key", are: str = "the keys are") -> str:
    """Format `START: WHAT (did you mean KEY?); ARE KEYS`."""
    by_name = {key.rpartition(".")[2]: key for key in sorted(keys, key=len, reverse=True)}
    near = get_close_matches(key.rpartition(".")[2], by_name, n=1)
    meant = f" (did you mean {by_name[near[0]]}?)" if near else ""
    return f"{start}: {what}{meant}" + (f"; {are} {', '.join(keys)}" if keys else "")
