"""Define variants: the same sweeps, claims and figures with changed settings.

A variant comes from `study.yaml` (keys and values), or from `variants.py`: a function with `@variant`, or with
`@family` for several.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from pomrl.configuration.composed import GROUPS, ConfigError
from pomrl.configuration.importing import format_error, place_of
from pomrl.configuration.overrides import overrides

DEFAULT = "default"
"""The name of the variant that changes nothing."""


@dataclass(frozen=True)
class VariantJob:
    """An experiment of a sweep before composition."""

    sweep: str
    overrides: tuple[str, ...]
    """The sweep's overrides in this job."""
    options: Mapping[str, str]
    """The selected option of each group."""


JobChange = Callable[[VariantJob], Sequence[str]]
"""A function from a job to its overrides under a variant. The first override of a key counts."""


@dataclass(frozen=True)
class Variant:
    """A named change of the jobs of sweeps."""

    name: str
    change: JobChange
    is_single: bool = False
    """Whether it changes a single choice, for pages about such changes."""
    sweeps: Mapping[str, Mapping[str, Any] | None] | None = None
    """Its sweeps with their axes (None: the axes in the file); None for all sweeps."""

    def __post_init__(self) -> None:
        if not self.name.isprintable() or not {*self.name}.isdisjoint("/\\") or self.name.startswith("."):
            raise ConfigError(
                f"the name of a variant must be printable, without / or \\, and not start with a dot, got {self.name!r}"
            )

    def sets(self, override: str, options: Mapping[str, str]) -> bool:
        return override in self.overrides_of(VariantJob("", (), {**dict.fromkeys(GROUPS, ""), **options}))

    def overrides_of(self, job: VariantJob) -> list[str]:
        """Return a job's overrides under the variant; the first of a key counts.

        ConfigError if its function raises an error.
        """
        try:
            first = {override.partition("=")[0]: override for override in reversed(self.change(job))}
        except Exception as error:
            code = getattr(self.change, "__code__", None)
            where = place_of(error, code.co_filename, code.co_firstlineno) if code else f"variant {self.name}"
            raise ConfigError(f"{where}: variant {self.name}: {format_error(error)}") from error
        return list(reversed(first.values()))


def of_keys(name: str, values: Mapping[str, Any]) -> Variant:
    """Make a variant with values for keys outside of a sweep's axes."""
    changed = overrides(values)
    return Variant(name, lambda job: [*job.overrides, *changed])


def variant() -> Callable[[JobChange], Variant]:
    """Make a variant, named after the decorated function of a job."""
    return lambda change: Variant(change.__name__, change)


@dataclass(frozen=True)
class Family:
    """Variants made by one function."""

    name: str
    variants: tuple[Variant, ...]
    is_judged: bool = True
    """Whether claims are judged under the variants; otherwise only pages report them."""


def family(
    *, sweeps: Sequence[str] | Mapping[str, Mapping[str, Any]], is_judged: bool = True
) -> Callable[[Callable[[], Iterable[Variant]]], Family]:
    """Make a family from a decorated generator of variants.

    `sweeps` are computed under them: names in the study, or axes by name.
    """

    def make(yielding: Callable[[], Iterable[Variant]]) -> Family:
        axes = sweeps if isinstance(sweeps, Mapping) else dict.fromkeys(sweeps)
        variants = [replace(variant, sweeps=axes) for variant in yielding()]
        names = [variant.name for variant in variants]
        if twice := [name for name in names if names.count(name) > 1]:
            raise ConfigError(f"{yielding.__name__}: two variants have the name {twice[0]}")
        return Family(yielding.__name__, tuple(variants), is_judged)

    return make
