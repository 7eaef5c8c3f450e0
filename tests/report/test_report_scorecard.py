"""The intervals that are drawn on the scorecard of the report."""

import numpy as np
import pytest

from pomrl.judging.verdict import Verdict
from pomrl.report.judged_claims import Comparison


class TestInterval:
    def comparison(self, above: float, below: float, lower: float = -1.0, upper: float = 3.0) -> Comparison:
        return Comparison(
            compared="a less b",
            estimate=1.0,
            lower=lower,
            upper=upper,
            above=above,
            below=below,
            verdict=Verdict.UNDECIDED,
            decisive=False,
        )

    def test_it_spans_the_interval_with_margins(self) -> None:
        drawn = self.comparison(-np.inf, 0.0).interval
        assert drawn is not None
        assert (drawn.low, drawn.value, drawn.high) == pytest.approx((8.33, 50.0, 91.67))
        assert drawn.claimed == pytest.approx((0.0, 29.17))
        assert drawn.thresholds == pytest.approx((29.17,))

    def test_thresholds_beside_the_interval_are_shown_too(self) -> None:
        drawn = self.comparison(-5.0, 5.0).interval
        assert drawn is not None
        assert drawn.thresholds == pytest.approx((8.33, 91.67))

    def test_a_single_run_has_none(self) -> None:
        assert self.comparison(-np.inf, 0.0, np.nan, np.nan).interval is None
