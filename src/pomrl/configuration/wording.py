"""Numbers in sentences."""


def number_of(number: int, word: str) -> str:
    """Return a number with its word, such as `1 claim` or `2,000 claims`."""
    return f"{number:,} {word}{'' if number == 1 else 's'}"
