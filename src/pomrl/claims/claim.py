"""A claim: the statement, the sweeps or the simulation that it is about, and the function that checks it."""

import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import pandas as pd

from pomrl.claims.verdict import Part, Verdict
from pomrl.results.losses import SweepLosses

Check = Callable[..., list[Part]]
"""A function of the losses of each sweep that a claim names, in that order, or of its simulation's table."""

REVISED_ON = "2026-11-21"
"""The day on which rules were revised, after verdicts had been seen."""


@dataclass(frozen=True)
class Revision:
    """A rule of a claim that was revised after verdicts had been seen."""

    reason: str
    """What was changed, and why."""
    before: Verdict
    """The verdict by the old rule, at the paper's number of runs and with Holm's correction, as it was published."""


@dataclass(frozen=True)
class Claim:
    """A claim of the paper, or one of ours."""

    id: str
    statement: str
    where: str
    """The section and the figure of the paper in which the claim is made; of a claim of ours, its question."""
    experiments: tuple[str, ...]
    """The names of the published sweeps that it is about."""
    simulation: str | None
    """The name of the simulation that it is about, if it is about one and not about sweeps."""
    selected_on: bool
    """Whether readings of the paper were chosen after looking at the results that it is about."""
    revised: Revision | None
    """How its rule was revised, if it was."""
    check: Check
    fixed_error: float | None = None
    """Where the rule fixes it: the error of the interval of each part, at one analysis of the published runs."""
    is_judged: bool = True
    """Whether there is a verdict; else estimates are reported."""

    def __reduce_ex__(self, protocol: Any) -> tuple[Any, ...] | str:
        """Pickle a claim by its name, because it stands in its module in the place of the function that checks it."""
        place = self.check.__module__, self.check.__name__
        return (_of_module, place) if _of_module(*place) is self else super().__reduce_ex__(protocol)

    @property
    def mark(self) -> str:
        """The mark (s) of a claim about results that were looked at when readings were chosen; empty for others."""
        return "(s)" if self.selected_on else ""

    def parts(
        self, sweeps: Mapping[str, SweepLosses], simulations: Mapping[str, pd.DataFrame] | None = None
    ) -> tuple[Part, ...]:
        """Check the claim on the losses of sweeps and the tables of simulations, which are found by their names.

        Raises:
            LookupError: A sweep or the simulation is not among them, or a sweep lacks a setting.
            TypeError: The function does not return a list of parts, of which there is at least one.
        """
        if self.simulation is not None:
            found = self.check((simulations or {})[self.simulation])
        else:
            found = self.check(*(sweeps[name] for name in self.experiments))
        if not isinstance(found, list | tuple) or not found or not all(isinstance(part, Part) for part in found):
            what = f"{found!r:.40}" if not found else type(found).__name__
            raise TypeError(f"a claim returns a list of parts, such as [less(a, b, 'a less b')], and this one {what}")
        return tuple(found)


def _of_module(module: str, name: str) -> Claim | None:
    return getattr(sys.modules.get(module), name, None)  # the package of claims imports the modules of all of them


def claim(
    id: str,
    *experiments: str,
    simulation: str | None = None,
    selected_on: bool = False,
    revised: Revision | None = None,
    fixed_error: float | None = None,
    is_judged: bool = True,
) -> Callable[[Check], Claim]:
    """Make a claim of the function that checks it.

    The first line of the function's docstring is the statement. The second paragraph begins with the section and the
    figure of the paper, up to a colon.

    Args:
        id: The claim's identifier, such as Q1.1.
        experiments: The names of the published sweeps whose losses the function takes, in this order.
        simulation: The name of the simulation whose table the function takes instead.
        selected_on: Whether readings of the paper were chosen after looking at the results that the claim is about.
        revised: How the rule was revised, if it was.
        fixed_error: Where the rule fixes it, the error of the interval of each part, at one analysis of the published
            number of runs; 0.1 is that of one-sided 95 % intervals. By default the error of 5 % over all claims is
            spent over analyses (`pomrl.claims.precision`).
        is_judged: Whether there is a verdict; else estimates are reported.

    Raises:
        TypeError: The decorator stands without parentheses.
    """
    if callable(id):
        raise TypeError(
            f"{getattr(id, '__name__', id)}: @claim needs parentheses, an id and a sweep, as in @claim('A', 'SWEEP')"
        )

    def make(check: Check) -> Claim:
        statement, _, rest = (check.__doc__ or "").strip().partition("\n\n")
        where = " ".join(rest.partition(":")[0].split())
        return Claim(
            id,
            statement.rstrip("."),
            where,
            experiments,
            simulation,
            selected_on,
            revised,
            check,
            fixed_error,
            is_judged,
        )

    return make
