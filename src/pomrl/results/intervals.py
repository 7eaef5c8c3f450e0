"""An estimate with its confidence interval, the error of all intervals, and how they are written."""

from dataclasses import dataclass
from math import isnan

ERROR_RATE = 0.05
"""The probability that an interval misses the number, unless another is named, and the error that all claims share."""

ENDS = (0.025, 0.975)
"""The quantiles at the ends of such an interval."""


@dataclass(frozen=True)
class Interval:
    """An estimate with its confidence interval."""

    estimate: float
    lower: float
    """The lower end; NaN where there is no interval, as with a single run."""
    upper: float

    def text(self, digits: int = 3, *, signed: bool = False) -> str:
        """Return `0.437 [0.401, 0.473]`; the estimate alone without an interval, and nothing without an estimate."""
        if isnan(self.estimate):
            return ""
        form = f"{'+' if signed else ''}.{digits}f"
        ends = "" if isnan(self.lower) else f" [{self.lower:{form}}, {self.upper:{form}}]"
        return f"{self.estimate:{form}}{ends}"

    def columns(self, name: str) -> dict[str, float]:
        """Return the cells of the columns `name`, `name_lower` and `name_upper` of a table."""
        return {name: self.estimate, f"{name}_lower": self.lower, f"{name}_upper": self.upper}
