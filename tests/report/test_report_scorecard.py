"""The intervals that are drawn on the scorecard of the report."""

import numpy as np
import pytest

from pomrl.judging.judgements import Comparison
from pomrl.judging.verdict import Verdict
from pomrl.report.intervals import placed


def comparison(above: float, below: float, lower: float = -1.0, upper: float = 3.0) -> Comparison:
    return Comparison(
        compared="a less b",
        topic="",
        estimate=1.0,
        lower=lower,
        upper=upper,
        above=above,
        below=below,
        runs=100,
        verdict=Verdict.UNDECIDED,
        no_difference=False,
    )


class TestInterval:
    def test_it_spans_the_interval_with_margins(self) -> None:
        drawn = placed(comparison(-np.inf, 0.0))
        assert drawn is not None
        assert (drawn.low, drawn.value, drawn.high) == pytest.approx((8.33, 50.0, 91.67))
        assert drawn.claimed == pytest.approx((0.0, 29.17))
        assert drawn.thresholds == pytest.approx((29.17,))

    def test_thresholds_beside_the_interval_are_shown_too(self) -> None:
        drawn = placed(comparison(-5.0, 5.0))
        assert drawn is not None
        assert drawn.thresholds == pytest.approx((8.33, 91.67))

    def test_a_single_run_has_none(self) -> None:
        assert placed(comparison(-np.inf, 0.0, np.nan, np.nan)) is None
