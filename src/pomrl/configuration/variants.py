"""Variants: the same sweeps, and so the same claims and figures, on other overrides.

A variant is a change of the jobs of sweeps. It comes from a mapping of keys to values in the description of a study,
from a function in its `variants.py`, or from a family of variants in `variants/NAME.yaml`; `replacing` puts one option
in the place of another. This module interprets descriptions; it composes and computes nothing.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain, product
from typing import Any, cast

from pomrl.configuration.composed import GROUPS, METHOD_GROUPS, PROBLEM_GROUPS, ConfigError
from pomrl.configuration.overrides import overrides as written

DEFAULT = "default"
"""The name of the variant that changes nothing."""


@dataclass(frozen=True)
class Job:
    """An experiment of a sweep before it is composed."""

    sweep: str
    """The name of the sweep."""
    overrides: tuple[str, ...]
    """What the sweep sets in this job, each as `key=value`."""
    options: Mapping[str, str]
    """The option of each group."""


Change = Callable[[Job], Sequence[str]]
"""A function of a job that returns its overrides under a variant."""


@dataclass(frozen=True)
class Variant:
    """A change of the jobs of sweeps, under a name."""

    name: str
    change: Change
    analyses: tuple[int, ...] | None = None
    """The numbers of runs at which claims are judged under it; None for those of the study."""
    notes: Mapping[str, str] = field(default_factory=dict[str, str])
    """What is to be said of a claim under this variant, by the claim's id."""
    about: str = ""
    """What the variant is, in a few sentences."""
    choices: tuple["Choice", ...] = ()
    """The choices that it consists of, if it is one of a family of choices."""
    replaced: tuple[str, str] | None = None
    """The group and the option that it puts another one in the place of, if it does that."""

    @property
    def is_single(self) -> bool:
        """Return whether the variant consists of a single choice."""
        return len(self.choices) == 1

    def sets(self, override: str, options: Mapping[str, str]) -> bool:
        """Return whether the variant sets a key so in an experiment with these options, given by group."""
        return override in self.change(Job("", (), options))


def setting(name: str, values: Mapping[str, Any]) -> Variant:
    """Return the variant that sets keys to values wherever a sweep does not vary them."""
    words = written(values)
    return Variant(name, lambda job: first_of_each_key([*job.overrides, *words]))


def variant(
    *, analyses: Sequence[int] | None = None, notes: Mapping[str, str] | None = None
) -> Callable[[Change], Variant]:
    """Make a variant of a function of a job, whose docstring says what the variant is.

    Args:
        analyses: The numbers of runs at which claims are judged under it, by default those of the study.
        notes: What is to be said of a claim under this variant, by the claim's id.
    """

    def make(change: Change) -> Variant:
        about = " ".join((change.__doc__ or "").split())
        return Variant(change.__name__, change, tuple(analyses) if analyses else None, notes or {}, about)

    return make


def replacing(group: str, old: str, new: str) -> Variant:
    """Return the variant with an option in the place of another one of its group, in every experiment that has it."""

    def change(job: Job) -> Sequence[str]:
        if job.options.get(group) != old:
            return job.overrides
        return [*(each for each in job.overrides if each.partition("=")[0] != group), f"{group}={new}"]

    return Variant(new, change, about=f"{new} in the place of {old}", replaced=(group, old))


REPLACEABLE = (*METHOD_GROUPS, *PROBLEM_GROUPS)
"""Groups in which one option can replace another."""


@dataclass(frozen=True)
class Choice:
    """One decision of a family of variants: a few keys, and the experiments in which they have a meaning."""

    name: str
    of: str | None
    """What it decides, such as an ambiguity or an error of a paper; None where that has no name."""
    overrides: tuple[str, ...]
    """What it sets, each as `key=value`."""
    needs: tuple[str, ...]
    """Choices that this one requires, by their names."""
    where: tuple[tuple[str, tuple[str, ...]], ...]
    """Groups, each with the options for which the keys have a meaning; empty where they have one for all options."""

    def concerns(self, options: Mapping[str, str]) -> bool:
        """Return whether the choice has a meaning in an experiment with these options, given by group."""
        return all(options.get(group) in names for group, names in self.where)


@dataclass(frozen=True)
class Family:
    """Variants that belong together, as `variants/NAME.yaml` describes them."""

    name: str
    about: str
    variants: tuple[Variant, ...]
    """The variants; in a family of choices the first one is the default, without choices."""
    choices: tuple[Choice, ...]
    """All choices, in the order of their description."""
    sweeps: Mapping[str, Mapping[str, Any] | None]
    """The sweeps that are computed by name, each with its axes; None for one of the study, which has its own."""
    budget: float | None
    """Estimated seconds of one core for runs that undecided claims need; None to judge on the runs of the sweeps."""
    is_sample: bool
    """Whether the variants are a sample of environments, of which a share is estimated in which a claim is true."""

    def of(self, choices: Sequence[Choice]) -> Variant:
        """Return the variant with these choices, of which those are left out that lack a choice that they require."""
        return combined(choices)


KEYS = (
    "about", "choices", "product", "together", "ladder", "all_but_one", "values", "set", "sweeps", "budget",
    "sample", "without_key",
)  # fmt: skip
"""The keys of the description of a family."""


def family(name: str, described: Mapping[str, Any], unchanged: str = DEFAULT) -> Family:
    """Return the family that a description stands for; each variant occurs once.

    Args:
        name: The name of the family.
        described: `choices` by name; `product` (what is decided by choices that are combined in every way); `together`
            (lists of choices that form a variant, by its name); `ladder` (the first choice, the first two, and so on
            form variants) and `all_but_one`. Besides these, each choice by itself is a variant, and so is the empty
            set. A choice is left out of a variant that lacks a choice that it requires. Or `values`, of one key, each
            of which is a variant; `set` sets further keys in all of them. `sweeps` names sweeps of the study, or has
            axes by name. `budget` and `sample` are those of `Family`, and `without_key` is read by pages alone.
        unchanged: The name of the variant without choices.

    Raises:
        ConfigError: A key is unknown, or a list names a choice that does not exist.
    """
    if unknown := [key for key in described if key not in KEYS]:
        raise ConfigError(f"variants/{name}.yaml: {unknown[0]}: unknown key; the keys are {', '.join(KEYS)}")
    choices = {key: _choice(key, choice) for key, choice in described.get("choices", {}).items()}
    together: Mapping[str, Sequence[str]] = described.get("together", {})
    named = {key for keys in together.values() for key in keys}.union(*(choice.needs for choice in choices.values()))
    if lacking := sorted(named - set(choices)):
        raise ConfigError(f"variants/{name}.yaml: there is no choice {lacking[0]}; there are {', '.join(choices)}")
    every = tuple(choices.values())
    sets = chain(
        [()],
        ((choice,) for choice in every),
        _combinations(every, described.get("product", [])),
        (every[:length] for length in range(1, len(every) + 1) if described.get("ladder")),
        (without(every, choice) for choice in every if described.get("all_but_one")),
    )
    of_sets = [combined(each, "" if each else unchanged) for each in sets]
    of_sets += [combined([choices[key] for key in keys], name) for name, keys in together.items()]
    variants = {each.name: each for each in of_sets} if every else _valued(described)
    sweeps: Mapping[str, Mapping[str, Any] | None] | Sequence[str] = described.get("sweeps", [])
    by_name = sweeps if isinstance(sweeps, Mapping) else dict.fromkeys(sweeps, None)
    about = " ".join(described.get("about", "").split())
    budget, is_sample = described.get("budget"), described.get("sample", False)
    seconds = None if budget is None else float(budget)
    return Family(name, about, tuple(variants.values()), every, by_name, seconds, is_sample)


def combined(choices: Sequence[Choice], name: str = "") -> Variant:
    """Return the variant with these choices, of which those are left out that lack a choice that they require.

    Its name is by default made of the names of the choices.
    """
    kept: list[Choice] = []
    for choice in choices:
        if {*choice.needs} <= {each.name for each in kept}:
            kept.append(choice)
    of_variant = tuple(kept)

    def change(job: Job) -> Sequence[str]:
        words = [word for choice in of_variant if choice.concerns(job.options) for word in choice.overrides]
        return first_of_each_key([*job.overrides, *words])

    words = name or " + ".join(choice.name for choice in of_variant) or DEFAULT
    return Variant(words, change, choices=of_variant)


def without(choices: Sequence[Choice], left_out: Choice) -> tuple[Choice, ...]:
    """Return all choices but one."""
    return tuple(choice for choice in choices if choice != left_out)


def first_of_each_key(overrides: Sequence[str]) -> list[str]:
    """Keep the first override of each key: a sweep's axis takes precedence over a variant."""
    first = {override.partition("=")[0]: override for override in reversed(overrides)}
    return list(reversed(first.values()))


def _valued(described: Mapping[str, Any]) -> dict[str, Variant]:
    """Return a variant for each value of a key."""
    further = cast(Mapping[str, Any], described.get("set", {}))
    named: dict[str, Variant] = {}
    for key, values in described.get("values", {}).items():
        each = range(int(cast(Any, values)["range"])) if isinstance(values, Mapping) else values
        named |= {f"{key}={value}": setting(f"{key}={value}", {**further, key: value}) for value in each}
    return named


def _choice(name: str, described: Mapping[str, Any]) -> Choice:
    overrides = described["set"]
    return Choice(
        name,
        described.get("of"),
        (overrides,) if isinstance(overrides, str) else tuple(overrides),
        tuple(described.get("needs", ())),
        tuple((group, tuple(described[group])) for group in GROUPS if group in described),
    )


def _combinations(choices: Sequence[Choice], decided: Sequence[str]) -> Iterator[tuple[Choice, ...]]:
    """Yield every combination of one choice, or none, for each of the things that are decided."""
    alternatives = [[None, *(choice for choice in choices if choice.of == of)] for of in decided]
    for combination in product(*alternatives):
        yield tuple(choice for choice in combination if choice)


def renamed(of: Variant, name: str) -> Variant:
    """Return a variant under another name."""
    return replace(of, name=name)
