"""What a claim is: a function of sweeps that gives the parts to judge, and what is promised of it."""

from collections.abc import Callable
from dataclasses import dataclass

from pomrl.claims.losses import Sweep
from pomrl.claims.verdict import Part

Check = Callable[..., list[Part]]
"""From the sweeps that a claim names, in that order, to its parts."""


@dataclass(frozen=True)
class Claim:
    """A claim of the paper. `experiments` are published sweeps; `runs` the number promised of each of them."""

    id: str
    statement: str
    experiments: tuple[str, ...]
    runs: int
    selected_on: bool
    check: Check

    @property
    def mark(self) -> str:
        """(s) where readings were chosen after looking at what the claim is about."""
        return "(s)" if self.selected_on else ""

    def parts(self, *sweeps: Sweep) -> tuple[Part, ...]:
        return tuple(self.check(*sweeps))


def claim(id: str, *experiments: str, runs: int = 100, selected_on: bool = False) -> Callable[[Check], Claim]:
    """The claim that a function checks; the first line of its docstring is the statement."""

    def made(check: Check) -> Claim:
        statement = (check.__doc__ or "").strip().splitlines()[0].rstrip(".")
        return Claim(id, statement, experiments, runs, selected_on, check)

    return made
