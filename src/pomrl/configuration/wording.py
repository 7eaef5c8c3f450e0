"""Numbers in sentences, and what is said of a key that there is not."""

from collections.abc import Sequence
from difflib import get_close_matches


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
