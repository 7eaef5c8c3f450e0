"""Write amounts in the units and with the sign of a log."""

from dataclasses import dataclass
from math import floor, log10

MIN_DECIMAL, MAX_DECIMAL = 1e-4, 1e15
"""The range of amounts without an exponent."""


@dataclass(frozen=True)
class Unit:
    """The column whose sum plans increase, or decrease if it has costs."""

    column: str = "reward"
    is_cost: bool = False

    @property
    def rises(self) -> str:
        return f"'{self.column}' {'falls' if self.is_cost else 'rises'}"

    @property
    def rose(self) -> str:
        return "fell" if self.is_cost else "rose"


REWARD = Unit()
"""The unit of logs without column names."""


def amount(value: float) -> str:
    """Write three significant digits, with separators of thousands."""
    rounded = float(f"{value:.3g}")
    if not MIN_DECIMAL <= abs(rounded) < MAX_DECIMAL:
        return f"{value:.3g}"
    return f"{rounded:,.{max(2 - floor(log10(abs(rounded))), 0)}f}"
