"""Exact claims, whose numbers are known, from the function to the page."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
from tests.support.worlds import PAPER

from pomrl.judging import judgements, study_claims
from pomrl.judging.claim import Claim, claim
from pomrl.judging.comparison_rows import Comparison
from pomrl.judging.judgements import Judgement
from pomrl.judging.study_claims import Basis, Reader
from pomrl_report.claim_tables import claims_page
from verdicts.estimates import Exact, mean
from verdicts.parts import Part, Verdict

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


def write_and_read(folder: Path, claims: Sequence[Claim]) -> dict[str, Judgement]:
    """Judge claims about no sweeps, write the table and read it."""
    basis = Basis("printed", {}, claims, PAPER.config.runs)
    outcomes = study_claims.judge_variant(PAPER, basis, Reader())
    rows = [judgements.judgement("printed", outcome) for outcome in outcomes]
    judgements.write(folder, rows, "pomrl reproduce pomrl2023 claims")
    return dict(judgements.read(folder, ["printed"]).of("printed"))


class TestExactClaims:
    def test_exact_claims_pass_through_the_table(self, tmp_path: Path) -> None:
        write_and_read(tmp_path, [fair])
        actual = write_and_read(tmp_path, [fair, loaded])  # which take the place of what was judged before
        assert {id: judgement.verdict for id, judgement in actual.items()} == {"X.1": HOLDS, "X.2": NOT}
        assert actual["X.2"].decisive.estimate_text == "exactly 0.987"
        assert actual["X.2"].why == "does not hold. heads: claimed < 0.05, found exactly 0.987."
        assert not any(judgement.provisional for judgement in actual.values())

    def test_comparisons_without_topics_have_no_label(self) -> None:
        refuted = Comparison(compared="a", topic="first", verdict=NOT, decisive=True)
        open_parts = [Comparison(compared="b", topic=topic, verdict=Verdict.UNDECIDED) for topic in ("", "last")]
        why = [
            Judgement(variant="printed", id="X", statement="", verdict=NOT, comparisons=(refuted, comparison)).why
            for comparison in open_parts
        ]
        assert ["Undecided" in text for text in why] == [False, True]
        assert why[1].endswith(" Undecided: last.")

    def test_simulated_numbers_beside_exact_claim_nothing(self, tmp_path: Path) -> None:
        *exact, simulated = write_and_read(tmp_path, [fair])["X.1"].comparisons
        assert [comparison.estimate_text for comparison in exact] == ["exactly 0.500", "exactly 0.000"]
        assert (simulated.verdict, simulated.runs) == (None, 50)
        assert "[" in simulated.estimate_text

    def test_exact_claims_have_no_interval(self, tmp_path: Path) -> None:
        write_and_read(tmp_path, [fair, loaded])
        page = claims_page(PAPER, judgements.read(tmp_path, ["printed"]))
        assert "| X.2 | printed | heads | exactly 0.987 | < 0.05 |  | does not hold |\n" in page
