"""Variants: the same sweeps, and so the same claims and figures, on other overrides.

A variant is a change of the jobs of sweeps. It comes from a mapping of keys to values in the description of a study, or
from its `variants.py`: from a function of a job with `@variant`, or from a function with `@family`, which yields many.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from pomrl.configuration.composed import GROUPS, ConfigError
from pomrl.configuration.importing import in_words, place_of
from pomrl.configuration.overrides import overrides

DEFAULT = "default"
"""The name of the variant that changes nothing."""


@dataclass(frozen=True)
class VariantJob:
    """An experiment of a sweep before it is composed."""

    sweep: str
    """The name of the sweep."""
    overrides: tuple[str, ...]
    """What the sweep sets in this job, each as `key=value`."""
    options: Mapping[str, str]
    """The option of each group."""


JobChange = Callable[[VariantJob], Sequence[str]]
"""A function of a job that returns its overrides under a variant; of two with the same key the first one counts."""


@dataclass(frozen=True)
class Variant:
    """A change of the jobs of sweeps, under a name."""

    name: str
    change: JobChange
    runs: int = 0
    """The number of runs on which claims are judged under it; 0 for that of the study."""
    notes: Mapping[str, str] = field(default_factory=dict[str, str])
    """What is to be said of a claim under this variant, by the claim's id."""
    is_single: bool = False
    """Whether it makes one change of many. Pages say what each change does by itself."""
    sweeps: Mapping[str, Mapping[str, Any] | None] | None = None
    """The sweeps that it is for, each with its axes, or None for one of the study; None if it is for all sweeps."""

    def __post_init__(self) -> None:
        if not self.name.isprintable() or not {*self.name}.isdisjoint("/\\") or self.name.startswith("."):
            raise ConfigError(f"{self.name!r}: a variant has a folder of its name, which cannot be called so")

    def sets(self, override: str, options: Mapping[str, str]) -> bool:
        """Return whether the variant sets a key so in an experiment with these options, given by group.

        Raises:
            ConfigError: As for `overrides_of`.
        """
        return override in self.overrides_of(VariantJob("", (), {**dict.fromkeys(GROUPS, ""), **options}))

    def overrides_of(self, job: VariantJob) -> list[str]:
        """Return the overrides of a job under the variant, in which what the sweep varies takes precedence.

        Raises:
            ConfigError: Its function, which may be a user's, raises an error.
        """
        try:
            first = {override.partition("=")[0]: override for override in reversed(self.change(job))}
        except Exception as error:
            code = getattr(self.change, "__code__", None)
            place = place_of(error, code.co_filename, code.co_firstlineno) if code else f"variant {self.name}"
            raise ConfigError(f"{place}: variant {self.name}: {in_words(error)}") from error
        return list(reversed(first.values()))


def of_keys(name: str, values: Mapping[str, Any]) -> Variant:
    """Return the variant that sets keys to values wherever a sweep does not vary them."""
    words = overrides(values)
    return Variant(name, lambda job: [*job.overrides, *words])


def variant(*, runs: int = 0, notes: Mapping[str, str] | None = None) -> Callable[[JobChange], Variant]:
    """Make a variant of a function of a job, with the name of the function.

    Args:
        runs: The number of runs on which claims are judged under it, by default that of the study.
        notes: What is to be said of a claim under this variant, by the claim's id.
    """

    def make(change: JobChange) -> Variant:
        return Variant(change.__name__, change, runs, notes or {})

    return make


@dataclass(frozen=True)
class Family:
    """Variants that belong together."""

    name: str
    variants: tuple[Variant, ...]
    is_judged: bool = True
    """Whether claims are judged under them; else they are only computed, because a page reads them."""


def family(
    *, sweeps: Sequence[str] | Mapping[str, Mapping[str, Any]], is_judged: bool = True
) -> Callable[[Callable[[], Iterable[Variant]]], Family]:
    """Make a family of a function that yields variants, which has the function's name.

    Args:
        sweeps: The sweeps that are computed under the variants: names of sweeps of the study, or axes by name.
        is_judged: Whether claims are judged under them; else they are only computed, because a page reads them.
    """

    def make(yielding: Callable[[], Iterable[Variant]]) -> Family:
        axes = sweeps if isinstance(sweeps, Mapping) else dict.fromkeys(sweeps)
        variants = [replace(variant, sweeps=axes) for variant in yielding()]
        names = [variant.name for variant in variants]
        if twice := [name for name in names if names.count(name) > 1]:
            raise ConfigError(f"{yielding.__name__}: there are two variants {twice[0]}")
        return Family(yielding.__name__, tuple(variants), is_judged)

    return make
