"""Families of readings of the paper: sets of choices, each of which sets some keys.

There are two. `conf/experiment/readings.yaml` has the ways to read what the paper's text leaves open or has wrong, and
`conf/experiment/notebook_ledger.yaml` the differences between the text and the authors' notebook. This module
interprets such a description; it composes and computes nothing.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, product
from typing import Any

from pomrl.configuration.composed import GROUPS

DEFAULT = "default"
"""The name of the reading without choices."""


@dataclass(frozen=True)
class Choice:
    """One way to read the paper at one place, or one difference between its text and the authors' notebook."""

    name: str
    of: str | None
    """The ambiguity (A1, A2, ...) or error (E1, E2, ...) that it decides; None where it decides none of these."""
    overrides: tuple[str, ...]
    """What it sets, each as `key=value`."""
    needs: tuple[str, ...]
    """The names of choices without which this one means nothing."""
    where: tuple[tuple[str, tuple[str, ...]], ...]
    """Groups, each with the options for which the keys have a meaning; empty where they have one for all options."""

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
        return [override for choice in self.choices if choice.concerns(options) for override in choice.overrides]


@dataclass(frozen=True)
class Family:
    """The readings, the default first, and the sweeps that are repeated under each of them."""

    choices: tuple[Choice, ...]
    """All choices, in the order of their description."""
    readings: tuple[Reading, ...]
    sweeps: Mapping[str, Mapping[str, Any] | None]
    """The sweeps by name, each with the values of its axes; None for a published sweep, which has its own."""


def family(described: Mapping[str, Any]) -> Family:
    """Return the family of readings that a description stands for; each reading occurs once.

    Args:
        described: `choices` by name; `product` (ambiguities whose choices are combined in every way); `together` (lists
            of choices that form a reading); and `sweeps`, a list of names of published sweeps, or axes by name. With
            `ladder` the first choice, the first two, and so on form readings, and with `all_but_one` all choices but
            one. Besides these, each choice by itself is a reading, and so is the empty set. A choice is left out of a
            reading that lacks a choice that it needs.

    Raises:
        ValueError: A list in `together` or `needs` names a choice that does not exist.
    """
    choices = {name: _choice(name, choice) for name, choice in described["choices"].items()}
    named = {name for names in described["together"] for name in names}
    unknown = named.union(*(choice.needs for choice in choices.values())) - set(choices)
    if unknown:
        raise ValueError(f"readings: there is no choice {', '.join(sorted(unknown))}; there are {', '.join(choices)}")
    every = tuple(choices.values())
    sets = chain(
        [()],
        ((choice,) for choice in every),
        _combinations(every, described["product"]),
        (tuple(choices[name] for name in names) for names in described["together"]),
        (every[:length] for length in range(1, len(every) + 1) if described.get("ladder")),
        (without(every, choice) for choice in every if described.get("all_but_one")),
    )
    sweeps: Mapping[str, Mapping[str, Any] | None] | Sequence[str] = described["sweeps"]
    by_name = sweeps if isinstance(sweeps, Mapping) else dict.fromkeys(sweeps, None)
    return Family(every, tuple(dict.fromkeys(map(reading_of, sets))), by_name)


def reading_of(choices: Sequence[Choice]) -> Reading:
    """Return the reading with these choices, of which those are left out that lack a choice that they need."""
    kept: list[Choice] = []
    for choice in choices:
        if {*choice.needs} <= {each.name for each in kept}:
            kept.append(choice)
    return Reading(tuple(kept))


def without(choices: Sequence[Choice], left_out: Choice) -> tuple[Choice, ...]:
    """Return all choices but one."""
    return tuple(choice for choice in choices if choice != left_out)


def _choice(name: str, described: Mapping[str, Any]) -> Choice:
    overrides = described["set"]
    return Choice(
        name,
        described.get("of"),
        (overrides,) if isinstance(overrides, str) else tuple(overrides),
        tuple(described.get("needs", ())),
        tuple((group, tuple(described[group])) for group in GROUPS if group in described),
    )


def _combinations(choices: Sequence[Choice], ambiguities: Sequence[str]) -> Iterator[tuple[Choice, ...]]:
    """Yield every combination of one choice, or none, for each of the given ambiguities."""
    alternatives = [[None, *(choice for choice in choices if choice.of == of)] for of in ambiguities]
    for combination in product(*alternatives):
        yield tuple(choice for choice in combination if choice)
