"""Numbers in sentences, and what is said of keys that there are not."""

from collections.abc import Collection
from difflib import get_close_matches


def number_of(number: int, word: str) -> str:
    """Return a number with its word, such as `1 claim` or `2,000 claims`."""
    return f"{number:,} {word}{'' if number == 1 else 's'}"


def unknown_key(shown: str, key: str, known: Collection[str]) -> str:
    """Return the message about an unknown key, which begins with what was given."""
    there = f"; the keys are {', '.join(known)}" if known else ""
    return f"{shown}: unknown key{did_you_mean(key, known)}{there}"


def did_you_mean(key: str, known: Collection[str]) -> str:
    """Return a question that proposes the known key whose last name is the nearest; empty if none is near."""
    by_name = {each.rpartition(".")[2]: each for each in sorted(known, key=len, reverse=True)}
    near = get_close_matches(key.rpartition(".")[2], by_name, n=1)
    return f" (did you mean {by_name[near[0]]}?)" if near else ""
