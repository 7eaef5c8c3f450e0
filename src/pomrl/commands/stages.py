"""The request of a stage of `pomrl reproduce`, and stages of other packages."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.metadata import entry_points
from itertools import chain

from pomrl.configuration.study import Study
from pomrl.configuration.variants import Variant


@dataclass(frozen=True)
class StageRequest:
    """Hold the study to reproduce and its options."""

    study: Study
    runs: int | None = None
    """The runs of each experiment; None for what the study says."""
    variants: str | None = None
    """Names of variants and families, separated by commas; or `all`."""
    figures: Sequence[str] = ()
    """Names or numbers of figures; empty for all."""
    is_named: bool = False
    """Whether the stage is named, so that it prints its results, and what it cannot do is an error."""


Work = Callable[[], object]
"""The work of a stage, which returns whether some of it was not possible, and has named each such thing in a line."""

Stage = Callable[[StageRequest], Work | None]
"""Checks what is asked, and returns the work; None where the study has nothing for this stage.

A package adds a stage by an entry point in the group `pomrl.stages`.
"""


@cache
def stages_of_packages() -> Mapping[str, Stage]:
    """Return the stages of other packages by name."""
    return {point.name: point.load() for point in sorted(entry_points(group="pomrl.stages"))}


def find_variants(study: Study, names: str | None = None) -> list[Variant]:
    """Return the named variants and families; by default those of `study.yaml`.

    Raises:
        ConfigError: There is no variant or family of a name.
    """
    by_name = {variant.name: variant for variant in study.variants}
    requested = [*by_name, *(study.families if names == "all" else [])] if names in (None, "all") else names.split(",")
    groups = ([by_name[name]] if name in by_name else study.family(name).variants for name in requested)
    variants = chain.from_iterable(groups)
    return list({variant.name: by_name.get(variant.name, variant) for variant in variants}.values())
