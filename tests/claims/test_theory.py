"""The claim about the bounds, which is about a simulation."""

import numpy as np
from scipy import stats

from pomrl.claims import CLAIMS
from pomrl.claims.paper import theory
from pomrl.claims.verdict import Evidence, Verdict


class TestTheory:
    def test_the_printed_bound_is_refuted_and_the_others_hold(self, simulations):
        (claim,) = (claim for claim in CLAIMS if claim.id == "T.1")
        printed, corrected, sharpened = claim.parts({}, simulations)
        assert printed.verdict is Verdict.NOT_REPRODUCED
        assert corrected.verdict is sharpened.verdict is Verdict.REPRODUCED
        assert Evidence((printed, corrected, sharpened)).verdict is Verdict.NOT_REPRODUCED

    def test_p_values_of_a_coverage_are_binomial(self):
        coverage = theory.Coverage(0.9, 0.85, 0.94, 200)
        tail = sum(stats.binom.pmf(k, 200, 0.95) for k in range(181))
        np.testing.assert_allclose(coverage.at_least(0.95), tail)
        np.testing.assert_allclose(coverage.at_most(0.8), sum(stats.binom.pmf(k, 200, 0.8) for k in range(180, 201)))
