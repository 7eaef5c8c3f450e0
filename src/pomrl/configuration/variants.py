"""Variants: the same sweeps, and so the same claims and figures, on other overrides.

A variant is a change of the jobs of sweeps. It comes from a mapping of keys to values in the description of a study,
from a function in its `variants.py`, or from a family of variants in `variants/NAME.yaml`; `replacing` puts one option
in the place of another. This module interprets descriptions; it composes and computes nothing.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain, product
from typing import Annotated, Any, Literal, cast

from pydantic import Field
from pydantic.dataclasses import dataclass as checked_dataclass

from pomrl.checks import CHECKED
from pomrl.configuration.composed import GROUPS, METHOD_GROUPS, PROBLEM_GROUPS, ConfigError
from pomrl.configuration.importing import in_words, place_of
from pomrl.configuration.overrides import overrides as written
from pomrl.configuration.parsing import checked

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
    overrides: tuple[str, ...] | None = None
    """What it sets; None for a function of a job."""
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

    def __post_init__(self) -> None:
        if not self.name.isprintable() or not {*self.name}.isdisjoint("/\\") or self.name.startswith("."):
            raise ConfigError(f"{self.name!r}: a variant has a folder of its name, which cannot be called so")

    @property
    def is_single(self) -> bool:
        """Return whether the variant consists of a single choice."""
        return len(self.choices) == 1

    def sets(self, override: str, options: Mapping[str, str]) -> bool:
        """Return whether the variant sets a key so in an experiment with these options, given by group.

        Raises:
            ConfigError: As for `changed`.
        """
        return override in self.changed(Job("", (), {**dict.fromkeys(GROUPS, ""), **options}))

    def changed(self, job: Job) -> Sequence[str]:
        """Return the overrides of a job under the variant.

        Raises:
            ConfigError: Its function, which may be a user's, raises an error.
        """
        try:
            return self.change(job)
        except Exception as error:
            code = getattr(self.change, "__code__", None)
            place = place_of(error, code.co_filename, code.co_firstlineno) if code else f"variant {self.name}"
            raise ConfigError(f"{place}: variant {self.name}: {in_words(error)}") from error


def setting(name: str, values: Mapping[str, Any]) -> Variant:
    """Return the variant that sets keys to values wherever a sweep does not vary them."""
    words = written(values)
    return Variant(name, lambda job: first_of_each_key([*job.overrides, *words]), tuple(words))


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
        at = tuple(analyses) if analyses else None
        return Variant(change.__name__, change, analyses=at, notes=notes or {}, about=about)

    return make


def replacing(group: str, old: str, new: str, name: str) -> Variant:
    """Return the variant, of this name, with an option in the place of another one of its group.

    It changes every experiment that has the other option.
    """

    def change(job: Job) -> Sequence[str]:
        if job.options.get(group) != old:
            return job.overrides
        return [*(each for each in job.overrides if each.partition("=")[0] != group), f"{group}={new}"]

    return Variant(name, change, about=f"{new} in the place of {old}", replaced=(group, old))


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


@checked_dataclass(frozen=True, config=CHECKED, kw_only=True)
class DescribedFamily:
    """The content of `variants/NAME.yaml`.

    Each choice by itself is a variant, and so is the empty set of choices. A choice is left out of a variant that lacks
    a choice that it requires.
    """

    about: str = ""
    choices: dict[str, dict[str, Any]] = field(default_factory=dict[str, dict[str, Any]])
    """Choices by name: what each sets (`set`), requires (`needs`) and decides (`of`), and options by group."""
    product: list[str] = field(default_factory=list[str])
    """What is decided by choices that are combined in every way."""
    together: dict[str, list[str]] = field(default_factory=dict[str, list[str]])
    """Lists of choices that form a variant, by its name."""
    ladder: bool = False
    """Whether the first choice, the first two, and so on form variants."""
    all_but_one: bool = False
    """Whether all choices but one form a variant, for each of them."""
    values: dict[str, list[Any] | dict[Literal["range"], int]] = field(default_factory=dict[str, Any])
    """In the place of choices: a key, of which each value is a variant."""
    set: dict[str, Any] = field(default_factory=dict[str, Any])
    """Keys that all variants of `values` set besides."""
    sweeps: list[str] | dict[str, dict[str, Any]] = field(default_factory=list[str])
    """The sweeps that are computed under the variants: names of the study's, or axes by name."""
    budget: Annotated[float | None, Field(ge=0)] = None
    sample: bool = False
    without_key: dict[str, Any] = field(default_factory=dict[str, Any])
    """What pages alone read."""


def family(name: str, content: Mapping[str, Any], unchanged: str = DEFAULT) -> Family:
    """Return the family that the content of `variants/NAME.yaml` stands for; each variant occurs once.

    The variant without choices has the name `unchanged`.

    Raises:
        ConfigError: A key is unknown or has a wrong value, or a list names a choice that does not exist.
    """
    try:
        return _family(name, checked(DescribedFamily, content), unchanged)
    except ConfigError as error:
        raise ConfigError(f"variants/{name}.yaml: {error}") from error


def _family(name: str, described: DescribedFamily, unchanged: str) -> Family:
    choices = {key: _choice(key, choice) for key, choice in described.choices.items()}
    every, together = tuple(choices.values()), described.together
    named = {key for keys in together.values() for key in keys}.union(*(choice.needs for choice in every))
    if lacking := sorted(named - {*choices}):
        raise ConfigError(f"there is no choice {lacking[0]}; there are {', '.join(choices)}")
    sets = chain(
        [()],
        ((choice,) for choice in every),
        _combinations(every, described.product),
        (every[:length] for length in range(1, len(every) + 1) if described.ladder),
        (without(every, choice) for choice in every if described.all_but_one),
    )
    of_sets = [combined(each, "" if each else unchanged) for each in sets]
    of_sets += [combined([choices[key] for key in keys], of_keys) for of_keys, keys in together.items()]
    variants = {each.name: each for each in of_sets} if every else _valued(described)
    sweeps = described.sweeps if isinstance(described.sweeps, dict) else dict.fromkeys(described.sweeps)
    about = " ".join(described.about.split())
    return Family(name, about, tuple(variants.values()), every, sweeps, described.budget, described.sample)


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

    overrides = tuple(word for choice in of_variant for word in choice.overrides)
    words = name or " + ".join(choice.name for choice in of_variant) or DEFAULT
    return Variant(words, change, overrides, choices=of_variant)


def without(choices: Sequence[Choice], left_out: Choice) -> tuple[Choice, ...]:
    """Return all choices but one."""
    return tuple(choice for choice in choices if choice != left_out)


def first_of_each_key(overrides: Sequence[str]) -> list[str]:
    """Keep the first override of each key: a sweep's axis takes precedence over a variant."""
    first = {override.partition("=")[0]: override for override in reversed(overrides)}
    return list(reversed(first.values()))


def _valued(described: DescribedFamily) -> dict[str, Variant]:
    """Return a variant for each value of a key."""
    named: dict[str, Variant] = {}
    for key, values in described.values.items():
        each = range(values["range"]) if isinstance(values, dict) else values
        named |= {f"{key}={value}": setting(f"{key}={value}", {**described.set, key: value}) for value in each}
    return named


def _choice(name: str, described: Mapping[str, Any]) -> Choice:
    """Return a choice; keys that are not mentioned here are for pages."""
    if "set" not in described:
        raise ConfigError(f"choices.{name}.set: a value is missing")
    words = {key: _words(f"choices.{name}.{key}", described.get(key, [])) for key in ("set", "needs", *GROUPS)}
    where = tuple((group, words[group]) for group in GROUPS if group in described)
    of = described.get("of")
    return Choice(name, None if of is None else str(of), words["set"], words["needs"], where)


def _words(key: str, value: Any) -> tuple[str, ...]:
    words = [value] if isinstance(value, str) else cast(list[Any], value)
    if not isinstance(value, str | list) or not all(isinstance(word, str) for word in words):
        raise ConfigError(f"{key}={value!r}: it has to be text or a list of texts")
    return tuple(words)


def _combinations(choices: Sequence[Choice], decided: Sequence[str]) -> Iterator[tuple[Choice, ...]]:
    """Yield every combination of one choice, or none, for each of the things that are decided."""
    alternatives = [[None, *(choice for choice in choices if choice.of == of)] for of in decided]
    for combination in product(*alternatives):
        yield tuple(choice for choice in combination if choice)
