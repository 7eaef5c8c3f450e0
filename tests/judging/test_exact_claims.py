"""Exact claims, whose numbers are known, from the function to the page; and verdicts at other margins."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from tests.support.worlds import CLAIMS, PAPER

from pomrl.judging import claims_of_variants, judgements
from pomrl.judging.basis import Basis, Reader
from pomrl.judging.claim import Claim, claim
from pomrl.judging.comparisons import best_is_in, instead, near, no_better, no_worse, on_a_par
from pomrl.judging.inference import Exact, mean
from pomrl.judging.judgements import Judgement, judgement
from pomrl.judging.precision import Outcome, Plan, judged_part
from pomrl.judging.verdict import Part, Verdict
from pomrl.report.claims_page import claims_page
from pomrl.results.losses import Losses

HOLDS, NOT = Verdict.HOLDS, Verdict.DOES_NOT_HOLD
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


class TestOtherMargins:
    @pytest.mark.parametrize("compare", [on_a_par, no_worse, no_better])
    @pytest.mark.parametrize("gap", [-0.2, -0.12, -0.07, 0.0, 0.03, 0.07, 0.1, 0.12, 0.2])
    @pytest.mark.parametrize("spread", [0.3, 3.0])
    def test_it_is_the_verdict_that_judging_with_that_margin_gives(
        self, compare: Callable[..., Part], gap: float, spread: float
    ) -> None:
        rng = np.random.default_rng(1)
        b = rng.gamma(2.0, 0.5, 4000)
        part = compare((1.0 + gap) * b + rng.normal(0.0, spread, 4000), b, "a less b")
        for times in (0.5, 1.0, 1.5):
            with_it = replace(part, above=times * part.above, below=times * part.below, margin=times * 0.1)
            assert judged_part(part, 1e-3).at_margin(times * 0.1) is judged_part(with_it, 1e-3).verdict

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
