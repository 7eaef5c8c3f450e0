"""The family of readings: sets of choices where the paper's text is open or wrong, and what each choice sets.

`conf/experiment/readings.yaml` says which there are. Nothing here composes or computes.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, product
from typing import Any

DEFAULT = "default"
"""The name of the reading without choices."""


@dataclass(frozen=True)
class Choice:
    """One reading of one ambiguity: an override, and in which options of which groups it has a meaning."""

    name: str
    of: str
    override: str
    where: tuple[tuple[str, tuple[str, ...]], ...]
    """Groups, each with the options in which it has a meaning; none where that is all of them."""

    def concerns(self, options: Mapping[str, str]) -> bool:
        """Whether it has a meaning in an experiment with these options."""
        return all(options.get(group) in names for group, names in self.where)


@dataclass(frozen=True)
class Reading:
    """A set of choices; what it does not choose is as by default."""

    choices: tuple[Choice, ...]

    @property
    def name(self) -> str:
        return " + ".join(choice.name for choice in self.choices) or DEFAULT

    def overrides(self, options: Mapping[str, str]) -> list[str]:
        """What it sets in an experiment with these options."""
        return [choice.override for choice in self.choices if choice.concerns(options)]


@dataclass(frozen=True)
class Family:
    """The readings, the default first, and the sweeps that are read under each."""

    readings: tuple[Reading, ...]
    sweeps: tuple[str, ...]


def family(described: Mapping[str, Any]) -> Family:
    """The family that a configuration describes, each reading once. ValueError where it names a choice it lacks."""
    choices = {name: _choice(name, what) for name, what in described["choices"].items()}
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


def _choice(name: str, what: Mapping[str, Any]) -> Choice:
    where = tuple((group, tuple(options)) for group, options in what.items() if group not in ("of", "set"))
    return Choice(name, what["of"], what["set"], where)


def _combinations(choices: Sequence[Choice], ambiguities: Sequence[str]) -> Iterator[tuple[Choice, ...]]:
    """All combinations of the choices of some ambiguities, their defaults included."""
    alternatives = [[None, *(choice for choice in choices if choice.of == of)] for of in ambiguities]
    for combination in product(*alternatives):
        yield tuple(choice for choice in combination if choice)
