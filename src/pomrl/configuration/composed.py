"""A composed configuration as plain data, the names of its groups, and the error with its messages.

Nothing heavy is imported here, so that a command line that only asks for help is answered at once.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches
from typing import Any

METHOD_GROUPS = ("estimator", "gamma_schedule", "planner", "agent", "metric")
"""Groups that form the method; they do not affect the random draws."""

PROBLEM_GROUPS = ("task_distribution", "stream", "data", "meta_batch")
"""Groups that form the problem, together with the keys outside of groups; random draws depend on them."""

GROUPS = (*PROBLEM_GROUPS, *METHOD_GROUPS, "execution")
"""Groups; a configuration has one option of each."""


MOST_JOBS = 10_000
"""The most jobs of a sweep that is composed without `yes=true`."""


class ConfigError(ValueError):
    """A configuration is wrong. The message is one line: the key, its value and what would be right."""


class UnreadableOverrideError(ConfigError):
    """An override is not of the form key=value."""


@dataclass(frozen=True)
class Composed:
    """A composed configuration as plain data: no interpolations are left, and nothing is checked yet."""

    values: Mapping[str, Any]
    """The values by key; for a group, the keys of its option and the name of its class under `_target_`."""
    options: Mapping[str, str]
    """The name of the option that was chosen in each group."""
    looks: Mapping[str, Mapping[str, Any]] = field(default_factory=dict[str, Mapping[str, Any]])
    """The looks of options of the user's own, by group (`looks`)."""


def number_of(number: int, word: str) -> str:
    """Return a number with its word, such as `1 claim` or `2,000 claims`."""
    return f"{number:,} {word}{'' if number == 1 else 's'}"


def unknown_key(
    shown: str, key: str, known: Sequence[str], what: str = "unknown key", are: str = "the keys are"
) -> str:
    """Return the message about a key or name that is not among the known ones, with the nearest and with all of them.

    Args:
        shown: What the message begins with, such as the key with its value.
        key: The key, whose last name is compared with theirs.
        known: The known keys.
        what: What is wrong with the key.
        are: What the known ones are.
    """
    by_name = {key.rpartition(".")[2]: key for key in sorted(known, key=len, reverse=True)}
    near = get_close_matches(key.rpartition(".")[2], by_name, n=1)
    meant = f" (did you mean {by_name[near[0]]}?)" if near else ""
    return f"{shown}: {what}{meant}" + (f"; {are} {', '.join(known)}" if known else "")
