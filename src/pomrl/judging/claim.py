"""A claim: the statement, the sweeps or the simulation that it is about, if any, and the function that checks it."""

import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import pandas as pd

from pomrl.configuration.composed import ConfigError
from pomrl.configuration.importing import imported, in_words, place_of
from pomrl.judging.verdict import Part, Verdict
from pomrl.results.losses import SweepLosses
from pomrl.store import StoreError
from pomrl.store.simulations import Simulation

Check = Callable[..., list[Part]]
"""A function of the losses of each sweep that a claim names, in that order, or of its simulation's table.

The function of an exact claim, which names neither, takes no arguments: its numbers are known (`Exact`)."""


class ClaimError(ConfigError):
    """The function of a claim raises an error. The message is one line, with the claim and the place in its file."""

    id: str = ""
    """The id of the claim."""


@dataclass(frozen=True)
class Revision:
    """A rule of a claim that was revised after verdicts had been seen."""

    on: str
    """The day of the revision, such as 2026-11-21."""
    reason: str
    """What was changed, and why."""
    before: Verdict
    """The verdict by the old rule, at the promised number of runs and with Holm's correction, as it was published."""


@dataclass(frozen=True)
class Claim:
    """A statement about the results of sweeps or of a simulation, or one that is computed exactly, and its check."""

    id: str
    statement: str
    where: str
    """The section and the figure of the source in which the claim is made, or the question that it belongs to."""
    sweeps: tuple[str, ...]
    """The names of the sweeps that it is about."""
    check: Check
    simulation: Simulation | None = None
    """The simulation that it is about, if it is about one and not about sweeps."""
    title: str = ""
    """A short form of the statement; empty for the statement itself."""
    figures: tuple[str, ...] = ()
    """The names of the figures that show what it is about."""
    selected_on: bool = False
    """Whether readings of a paper were chosen after looking at the results that it is about."""
    revised: Revision | None = None
    """How its rule was revised, if it was."""
    is_judged_once: bool = False
    """Whether it is judged at one analysis, of the promised number of runs."""
    fewest_runs: int = 0
    """The number of runs below which its intervals miss too often, so that earlier analyses are left out."""
    is_judged: bool = True
    """Whether there is a verdict; else estimates are reported."""
    is_main: bool = False
    """Whether it is named in a summary if it holds; claims that do not hold always are."""

    @property
    def is_exact(self) -> bool:
        """A claim is exact if it needs no runs, because its numbers are computed and not estimated."""
        return not self.sweeps and self.simulation is None

    def __reduce_ex__(self, protocol: Any) -> tuple[Any, ...] | str:
        """Pickle a claim by its name, because it stands in its module in the place of the function that checks it."""
        place = self.check.__module__, self.check.__name__
        stands_there = getattr(sys.modules.get(place[0]), place[1], None) is self
        return (_of_module, place) if stands_there else super().__reduce_ex__(protocol)

    def parts(
        self, sweeps: Mapping[str, SweepLosses], simulations: "Mapping[str, pd.DataFrame] | None" = None
    ) -> tuple[Part, ...]:
        """Check the claim on the losses of sweeps and the tables of simulations, which are found by their names.

        Raises:
            LookupError: A sweep or the simulation is not among them, or a sweep lacks a setting.
            TypeError: The function does not return a list of parts, of which there is at least one.
        """
        if self.simulation is not None:
            found = self.check((simulations or {})[self.simulation.name])
        else:
            found = self.check(*(sweeps[name] for name in self.sweeps))
        if not isinstance(found, list | tuple) or not found or not all(isinstance(part, Part) for part in found):
            what = f"{found!r:.40}" if not found else type(found).__name__
            raise TypeError(f"a claim returns a list of parts, such as [less(a, b, 'a less b')], and this one {what}")
        return tuple(found)

    @contextmanager
    def tried(self) -> Iterator[None]:
        """Raise a ClaimError where the function of the claim, which is called in this context, raises an error."""
        try:
            yield
        except (StoreError, ClaimError):
            raise
        except Exception as error:  # whatever a function of somebody's own raises
            code = self.check.__code__
            place = place_of(error, code.co_filename, code.co_firstlineno)
            of_claim = ClaimError(f"claim {self.id} ({place}): {in_words(error)}")
            of_claim.id = self.id
            raise of_claim from error


def _of_module(module: str, name: str) -> Claim:
    return getattr(imported(module), name)


def claim(  # noqa: PLR0913
    id: str,
    *sweeps: str,
    simulation: Simulation | None = None,
    title: str = "",
    figures: Sequence[str] = (),
    selected_on: bool = False,
    revised: Revision | None = None,
    is_judged_once: bool = False,
    fewest_runs: int = 0,
    is_judged: bool = True,
    is_main: bool = False,
) -> Callable[[Check], Claim]:
    """Make a claim of the function that checks it.

    The first line of the function's docstring is the statement. The second paragraph begins with the section and the
    figure of the source, up to a colon.

    Args:
        id: The claim's identifier, such as Q1.1.
        sweeps: The names of the sweeps whose losses the function takes, in this order; none for an exact claim.
        simulation: The simulation whose table the function takes instead.
        title: A short form of the statement.
        figures: The names of the figures that show what the claim is about.
        selected_on: Whether readings of a paper were chosen after looking at the results that the claim is about.
        revised: How the rule was revised, if it was.
        is_judged_once: Whether it is judged at one analysis, of the promised number of runs. By default its share of
            the error is spent over the analyses of the study (`pomrl.judging.precision`).
        fewest_runs: The number of runs below which its intervals miss too often, so that earlier analyses are left out.
        is_judged: Whether there is a verdict; else estimates are reported.
        is_main: Whether a summary names the claim if it holds.

    Raises:
        TypeError: The decorator stands without parentheses.
    """
    if callable(id):
        raise TypeError(
            f"{getattr(id, '__name__', id)}: @claim needs parentheses, an id and a sweep, as in @claim('A', 'SWEEP')"
        )

    def make(check: Check) -> Claim:
        statement, _, rest = (check.__doc__ or "").strip().partition("\n\n")
        return Claim(
            id=id,
            statement=" ".join(statement.split()).rstrip("."),
            where=" ".join(rest.partition(":")[0].split()),
            sweeps=sweeps,
            check=check,
            simulation=simulation,
            title=title,
            figures=tuple(figures),
            selected_on=selected_on,
            revised=revised,
            is_judged_once=is_judged_once,
            fewest_runs=fewest_runs,
            is_judged=is_judged,
            is_main=is_main,
        )

    return make
