"""The family of readings of the paper: where its text is open or wrong, what each way to read it sets.

`conf/experiment/readings.yaml` lists the choices and how they are combined. This module interprets that description; it
composes and computes nothing.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, product
from typing import Any

DEFAULT = "default"
"""The name of the reading without choices."""


@dataclass(frozen=True)
class Choice:
    """One way to read one ambiguity or error of the paper."""

    name: str
    of: str
    """The ambiguity (A1, A2, ...) or error (E1, E2, ...) that it decides."""
    override: str
    """What it sets, as `key=value`."""
    where: tuple[tuple[str, tuple[str, ...]], ...]
    """Groups, each with the options for which the key has a meaning; empty where it has one for all options."""

    def concerns(self, options: Mapping[str, str]) -> bool:
        """Return whether the choice has a meaning in an experiment with these options, given by group."""
        return all(options.get(group) in names for group, names in self.where)


@dataclass(frozen=True)
class Reading:
    """A set of choices; whatever it does not choose stays as by default."""

    choices: tuple[Choice, ...]

    @property
    def name(self) -> str:
        """The names of the choices, joined by plus signs."""
        return " + ".join(choice.name for choice in self.choices) or DEFAULT

    def overrides(self, options: Mapping[str, str]) -> list[str]:
        """Return the overrides that the reading adds to an experiment with these options, given by group."""
        return [choice.override for choice in self.choices if choice.concerns(options)]


@dataclass(frozen=True)
class Family:
    """The readings, the default first, and the names of the sweeps that are repeated under each of them."""

    readings: tuple[Reading, ...]
    sweeps: tuple[str, ...]


def family(described: Mapping[str, Any]) -> Family:
    """Return the family of readings that a description stands for; each reading occurs once.

    Args:
        described: `choices` by name, `product` (ambiguities whose choices are combined in every way), `together` (lists
            of choices that form a reading), and `sweeps`. Besides the product and the lists, each choice by itself is
            a reading, and so is the empty set.

    Raises:
        ValueError: A list in `together` names a choice that does not exist.
    """
    choices = {name: _choice(name, choice) for name, choice in described["choices"].items()}
    unknown = {name for names in described["together"] for name in names} - set(choices)
    if unknown:
        raise ValueError(f"readings: there is no choice {', '.join(sorted(unknown))}; there are {', '.join(choices)}")
    sets = chain(
        [()],
        ((choice,) for choice in choices.values()),
        _combinations(list(choices.values()), described["product"]),
        (tuple(choices[name] for name in names) for names in described["together"]),
    )
    return Family(tuple(dict.fromkeys(map(Reading, sets))), tuple(described["sweeps"]))


def _choice(name: str, described: Mapping[str, Any]) -> Choice:
    where = tuple((group, tuple(options)) for group, options in described.items() if group not in ("of", "set"))
    return Choice(name, described["of"], described["set"], where)


def _combinations(choices: Sequence[Choice], ambiguities: Sequence[str]) -> Iterator[tuple[Choice, ...]]:
    """Yield every combination of one choice, or none, for each of the given ambiguities."""
    alternatives = [[None, *(choice for choice in choices if choice.of == of)] for of in ambiguities]
    for combination in product(*alternatives):
        yield tuple(choice for choice in combination if choice)
