"""Verdicts follow from estimates, on single claims and on all of them together."""

import numpy as np
import pytest
from scipy import stats
from tests.claims.worlds import heavy_tailed

from pomrl.claims.comparisons import less, on_a_par
from pomrl.claims.inference import mean
from pomrl.claims.verdict import LOOKS, Evidence, Part, Verdict, claimed_range, holm


class TestVerdicts:
    def pairs(self, shift: float, n: int = 50) -> tuple[np.ndarray, np.ndarray]:
        rng = np.random.default_rng(0)
        common = heavy_tailed(rng, n)
        return 2.0 + common, 2.0 + common + shift + 0.1 * rng.normal(size=n)

    def test_swapping_two_methods_swaps_the_verdict(self):
        a, b = self.pairs(0.5)
        # Without pairs the same difference drowns in the spread of the runs, unless it is large.
        for paired, shift in ((True, 0.0), (False, 5.0)):
            assert less(a, b + shift, "", paired=paired).verdict is Verdict.REPRODUCED
            assert less(b + shift, a, "", paired=paired).verdict is Verdict.NOT_REPRODUCED

    def test_no_difference_is_inconclusive_and_on_a_par(self):
        a, b = self.pairs(0.0)
        assert less(a, b, "").verdict is Verdict.INCONCLUSIVE
        assert on_a_par(a, b, "").verdict is Verdict.REPRODUCED

    def test_on_a_par_is_refuted_only_beyond_the_margin(self):
        a, b = self.pairs(0.0)
        assert on_a_par(a, b + 0.2, "").verdict is Verdict.REPRODUCED  # some 7 % of a mean of 3
        assert on_a_par(a, b + 0.31, "").verdict is Verdict.INCONCLUSIVE
        assert on_a_par(a, b + 1.0, "").verdict is Verdict.NOT_REPRODUCED

    def test_two_one_sided_tests_by_hand(self):
        a, b = self.pairs(0.15)
        part = on_a_par(a, b, "")
        below, above = (
            stats.t.sf(sign * d.mean() / (d.std(ddof=1) / np.sqrt(50)), 49)
            for sign, d in ((-1, a - 1.1 * b), (1, a - 0.9 * b))
        )
        assert part.p_hold == pytest.approx(max(below, above))
        assert part.p_refute == pytest.approx(min(1 - below, 1 - above))

    @pytest.mark.parametrize("shift", [-0.4, -0.1, -0.02, 0.0, 0.05, 0.3, 0.6])
    def test_the_verdict_is_what_the_interval_shows(self, shift):
        a, b = self.pairs(shift)
        for part in (less(a, b, ""), less(a, b, "", paired=False), on_a_par(a, b, "")):
            holds = part.above < part.estimate.lower and part.estimate.upper < part.below
            refuted = part.estimate.upper < part.above or part.below < part.estimate.lower
            assert (part.verdict is Verdict.REPRODUCED, part.verdict is Verdict.NOT_REPRODUCED) == (holds, refuted)

    def test_a_compound_claim(self):
        a, b = self.pairs(0.5)
        holds, refuted, open_part = less(a, b, ""), less(b, a, ""), less(*self.pairs(0.0), "")
        assert Evidence((holds, holds)).verdict is Verdict.REPRODUCED
        assert Evidence((holds, open_part)).verdict is Verdict.INCONCLUSIVE
        assert Evidence((holds, open_part, refuted)).verdict is Verdict.NOT_REPRODUCED
        assert Evidence((holds, open_part, refuted)).decisive is refuted
        assert Evidence((holds, open_part)).decisive is open_part
        assert Evidence((holds, open_part)).p_hold == open_part.p_hold
        assert Evidence((holds, refuted)).p_refute == 2 * refuted.p_refute

    def test_holm_by_hand(self):
        assert holm([0.01, 0.04, 0.03, 0.005]) == pytest.approx([0.03, 0.06, 0.06, 0.02])
        assert holm([0.6, 0.5]) == [1.0, 1.0]
        assert holm([0.02]) == [0.02]

    def test_holm_makes_a_weak_claim_inconclusive_and_keeps_the_direction(self):
        a, b = self.pairs(0.05, n=40)
        weak, strong = Evidence((less(a, b, ""),)), Evidence((less(b + 1, a, ""),))
        assert weak.verdict is Verdict.REPRODUCED
        assert weak.corrected(0.051) is Verdict.INCONCLUSIVE
        assert weak.corrected(0.05) is Verdict.REPRODUCED
        assert strong.corrected(strong.p) is Verdict.NOT_REPRODUCED

    def test_false_verdicts_are_as_rare_as_holm_promises(self):
        """Ten claims at the very edge of truth: any verdict on any of them is false."""
        rng = np.random.default_rng(6)
        wrong = 0
        for _ in range(200):
            evidence = [Evidence((Part("", mean(rng.normal(size=15)), below=0.0),)) for _ in range(10)]
            adjusted = holm([one.p for one in evidence])
            wrong += any(
                one.corrected(p) is not Verdict.INCONCLUSIVE for one, p in zip(evidence, adjusted, strict=True)
            )
        assert wrong <= stats.binom(200, 0.05).ppf(0.999)

    def test_so_many_runs_do_decide_it(self):
        rng = np.random.default_rng(7)
        runs = Evidence((Part("", mean(rng.normal(-0.2, 1.0, 40)), below=0.0),)).runs_to_decide(1)
        assert runs is not None
        truth = float(np.random.default_rng(7).normal(-0.2, 1.0, 40).mean())
        found = [Part("", mean(rng.normal(truth, 1.0, runs)), below=0.0).verdict for _ in range(200)]
        decided = sum(verdict is Verdict.REPRODUCED for verdict in found)
        assert 0.6 * 200 <= decided <= 0.97 * 200

    def test_what_sits_on_its_threshold_is_never_decided(self):
        assert Evidence((Part("", mean(np.r_[-np.ones(20), np.ones(20)]), below=0.0),)).runs_to_decide(27) is None

    def test_each_has_a_look_of_its_own(self):
        assert set(LOOKS) == set(Verdict)
        for field in ("score", "symbol", "style", "sign", "color"):
            assert len({getattr(look, field) for look in LOOKS.values()}) == 3

    def test_what_is_claimed_in_words(self):
        words = [claimed_range(-np.inf, 0.0), claimed_range(0.95, np.inf), claimed_range(-0.1, 0.1)]
        assert words == ["< 0", "> 0.95", "within ±0.1"]
