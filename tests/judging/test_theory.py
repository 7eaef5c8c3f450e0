"""The claim about the bounds, which is about a simulation."""

import numpy as np
from scipy import stats
from tests.support.worlds import CLAIMS

from pomrl.judging.verdict import Evidence, Verdict
from pomrl.studies.pomrl.claims import theory


class TestTheory:
    def test_it_is_judged_with_the_misprint_repaired_and_reports_the_misprint(self, simulations):
        (claim,) = (claim for claim in CLAIMS if claim.id == "T.1")
        (repaired,) = claim.parts({}, simulations)
        table = simulations["model_error_coverage"]
        worst = table.groupby("variant")["coverage"].min()
        assert (table["variant"] == "repaired").sum() == 162
        assert repaired.estimate.value == worst["repaired"] >= 0.999
        assert f"{worst['as_printed']:.3f}" in repaired.compared
        assert worst["as_printed"] < 0.2
        assert Evidence((repaired,)).verdict is Verdict.REPRODUCED

    def test_p_values_of_a_coverage_are_binomial(self):
        coverage = theory.Coverage(0.9, 200)
        tail = sum(stats.binom.pmf(k, 200, 0.95) for k in range(181))
        np.testing.assert_allclose(coverage.at_least(0.95), tail)
        np.testing.assert_allclose(coverage.at_most(0.8), sum(stats.binom.pmf(k, 200, 0.8) for k in range(180, 201)))
