"""Exact claims, whose numbers are known, from the function to the page; and verdicts at other margins."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from tests.support.worlds import CLAIMS, PAPER

from pomrl.judging import claims_of_variants, judgements
from pomrl.judging.basis import Basis, Reader
from pomrl.judging.claim import Claim, claim
from pomrl.judging.comparisons import best_is_in, instead, near, no_better, on_a_par
from pomrl.judging.inference import Exact, mean, ratio
from pomrl.judging.judgements import Judgement, judgement
from pomrl.judging.precision import Outcome, Plan, judged_part
from pomrl.judging.verdict import Comparison, Part, Verdict
from pomrl.report.claims_page import claims_page
from pomrl.results.losses import Losses

HOLDS, NOT, OPEN = Verdict.HOLDS, Verdict.DOES_NOT_HOLD, Verdict.UNDECIDED
DEFAULT = PAPER.variants[0]


@claim("X.1", title="a coin is fair")
def fair() -> list[Part]:
    """a coin is fair.

    Sec. 1: "fair".
    """
    return [
        Part("heads", Exact(0.5), above=0.4, below=0.6, margin=0.1),
        Part("edge", Exact(0.0), below=0.1),
        Part("simulated", mean(np.linspace(0.0, 1.0, 50))),
    ]


@claim("X.2")
def loaded() -> list[Part]:
    """a coin is loaded.

    Sec. 2: "loaded".
    """
    return [Part("heads", Exact(0.987), below=0.05)]


def read(folder: Path, claims: Sequence[Claim]) -> dict[str, Judgement]:
    """Judge claims about no sweeps, write the table and read it."""
    on = Basis("printed", {}, claims, tuple(PAPER.described.analyses))
    judgements.write(folder, claims_of_variants.judged(PAPER, DEFAULT, on, Reader(), []), "pomrl claims pomrl")
    return dict(judgements.read(folder, ["printed"]).of("printed"))


class TestExactClaims:
    def test_they_pass_through_the_table_of_judgements(self, tmp_path: Path) -> None:
        read(tmp_path, [fair])
        found = read(tmp_path, [fair, loaded])  # which take the place of what was judged before
        assert {id: each.verdict for id, each in found.items()} == {"X.1": HOLDS, "X.2": NOT}
        assert found["X.2"].decisive.found == "exactly 0.987"
        assert found["X.2"].why == "does not hold: heads is claimed to be < 0.05, and it is exactly 0.987."
        assert not any(each.provisional or each.is_decided_by_too_few for each in found.values())

    def test_a_number_of_runs_beside_known_ones_claims_nothing(self, tmp_path: Path) -> None:
        *known, simulated = read(tmp_path, [fair])["X.1"].comparisons
        assert [part.found for part in known] == ["exactly 0.500", "exactly 0.000"]
        assert (simulated.verdict, simulated.runs) == (None, 50)
        assert "[" in simulated.found


def compared(estimate: float, lower: float, upper: float, above: float = -np.inf, below: float = np.inf) -> Comparison:
    return Comparison(estimate=estimate, lower=lower, upper=upper, above=above, below=below, runs=1000)


class TestOtherMargins:
    @pytest.mark.parametrize(
        ("part", "verdicts"),
        [
            (compared(0.08, 0.06, 0.09, above=-0.1, below=0.1), [NOT, HOLDS, HOLDS]),
            (compared(0.08, 0.04, 0.12, above=-0.1, below=0.1), [OPEN, OPEN, HOLDS]),
            (compared(-0.3, -0.4, -0.2, below=0.1), [HOLDS, HOLDS, HOLDS]),
            (compared(-0.12, -0.13, -0.11, above=-0.1), [NOT, NOT, HOLDS]),
            (compared(0.1, 0.09, 0.11, above=-0.1, below=0.1), [NOT, HOLDS, HOLDS]),  # narrow: at 0.1 no difference
        ],
    )
    def test_the_interval_decides(self, part: Comparison, verdicts: list[Verdict]) -> None:
        assert [part.at_margin(margin) for margin in (0.05, 0.1, 0.15)] == verdicts

    @pytest.mark.parametrize("gap", [0.0, 0.03, 0.07, 0.1, 0.12, 0.2])
    def test_it_is_the_verdict_that_judging_with_that_margin_gives(self, gap: float) -> None:
        rng = np.random.default_rng(1)
        b = rng.gamma(2.0, 0.5, 4000)
        a = (1.0 + gap) * b + rng.normal(0.0, 0.3, 4000)
        part = judged_part(on_a_par(a, b, "a less b"), 1e-3)
        stored = compared(part.estimate, part.lower, part.upper, above=-0.1, below=0.1)
        for margin in (0.05, 0.1, 0.15):
            with_it = Part("a less b", ratio(a, b), above=-margin, below=margin, margin=margin)
            assert stored.at_margin(margin) is judged_part(with_it, 1e-3).verdict

    def test_little_gained_is_a_margin_below(self) -> None:
        b = np.linspace(0.9, 1.1, 100)
        assert [no_better(share * b, b, "a").verdict() for share in (0.85, 0.95, 1.5)] == [NOT, HOLDS, HOLDS]

    def test_other_meanings_of_a_word_are_judged_and_nothing_rests_on_them(self, tmp_path: Path) -> None:
        gammas = np.array([0.0, 0.25, 0.5, 0.75, 0.99])
        noise = np.random.default_rng(0).normal(0.0, 0.01, (200, 1, 5))
        losses = Losses(np.array([1.0, 0.9, 0.8, 0.5, 0.7]) + noise, gammas)  # gamma* is 0.75
        close, far = (best_is_in(losses, inside=near(losses, 0.5, how), words="near") for how in (0.1, 0.3))
        part = instead(close, {"within 0.3": far})
        judged = judged_part(part, 0.01)
        assert (judged.verdict, judged.instead) == (NOT, "within 0.3: holds")

        judgements.write(tmp_path, [judgement("pomrl", "printed", Outcome(CLAIMS[0], Plan((200,))).after([part]))], "")
        (found,) = judgements.read(tmp_path).main
        assert (found.verdict, found.decisive.instead) == (NOT, "within 0.3: holds")
        page = claims_page(PAPER, judgements.read(tmp_path), {})
        assert "in pairs | " + found.decisive.found + " |  |  |  | within 0.3: holds |\n" in page

    def test_the_table_has_the_comparisons_with_a_margin_alone(self, tmp_path: Path) -> None:
        """And exact numbers have neither an interval nor runs in the table of all comparisons."""
        read(tmp_path, [fair, loaded])
        page = claims_page(PAPER, judgements.read(tmp_path, ["printed"]), {})
        assert "| X.2 | printed | heads | exactly 0.987 | < 0.05 |  | does not hold |\n" in page
        table = page.partition("## With other margins")[2].partition("\n\n\n")[0]
        assert [line.split(" | ")[:2] for line in table.strip().splitlines()[2:]] == [["| X.1", "heads"]]
