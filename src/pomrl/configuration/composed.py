"""Hold composed configurations, group names and errors, without heavy imports."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches
from typing import Any

METHOD_GROUPS = ("estimator", "gamma_schedule", "planner", "agent", "metric")
"""Groups of the method; random draws do not depend on them."""

PROBLEM_GROUPS = ("task_distribution", "stream", "data", "meta_batch")
"""Groups of the problem, besides the keys outside of groups; random draws depend on them."""

GROUPS = (*PROBLEM_GROUPS, *METHOD_GROUPS, "execution")
"""All groups; a configuration has one option of each."""

MOST_JOBS = 10_000
"""The most jobs of a sweep that is composed without `yes=true`."""


class ConfigError(ValueError):
    """Report a wrong configuration in one line: the key, its value and what would be right."""


class UnreadableOverrideError(ConfigError):
    """Report an override that is not of the form key=value."""


@dataclass(frozen=True)
class Composed:
    """A composed configuration as plain data, resolved but unchecked."""

    values: Mapping[str, Any]
    """The values by key; for a group, the keys of its option and the name of its class under `_target_`."""
    options: Mapping[str, str]
    """The name of each group's option."""
    looks: Mapping[str, Mapping[str, Any]] = field(default_factory=dict[str, Mapping[str, Any]])
    """The looks of the user's own options, by group (`sources.find_looks`)."""


def number_of(number: int, word: str) -> str:
    """Format a number with its noun, such as `1 claim` or `2,000 claims`."""
    return f"{number:,} {word}{'' if number == 1 else 's'}"


def unknown_key(
    shown: str, key: str, known: Sequence[str], what: str = "unknown key", are: str = "the keys are"
) -> str:
    """Format an error about an unknown key, with the nearest known key and all of them.

    Args:
        shown: The beginning of the message, such as the key with its value.
        key: The key, compared by its last name.
        known: The known keys.
        what: The fault of the key.
        are: The words before the known keys.
    """
    by_name = {key.rpartition(".")[2]: key for key in sorted(known, key=len, reverse=True)}
    near = get_close_matches(key.rpartition(".")[2], by_name, n=1)
    meant = f" (did you mean {by_name[near[0]]}?)" if near else ""
    return f"{shown}: {what}{meant}" + (f"; {are} {', '.join(known)}" if known else "")
