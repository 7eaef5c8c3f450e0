"""Claims judged together at the promised numbers of runs, and the rows of the table of judgements for them."""

from collections.abc import Sequence

import pandas as pd
from tests.judging.conftest import Settings
from tests.support.worlds import CLAIMS, as_in_the_paper, simulated

from pomrl.judging.fixed_runs import Judged, judge
from pomrl.judging.judgement_rows import Row, rows
from pomrl.judging.precision import Outcome, Plan
from pomrl.judging.verdict import Evidence
from pomrl.store.csv_tables import csv_bytes


def table(judged: Sequence[Judged]) -> pd.DataFrame:
    """Return the rows of claims of which too few runs are stored for an analysis at precision."""
    return rows("pomrl", "printed", [Row(Outcome(each.claim, Plan((1000,))), each) for each in judged])


class TestJudging:
    def test_same_losses_same_bytes(self, settings: Settings) -> None:
        (claim,) = (claim for claim in CLAIMS if claim.id == "I.1")
        once, again = (
            judge([(claim, Evidence(claim.parts({"illustration": losses})), 100)])
            for losses in (simulated(as_in_the_paper, "illustration", settings["illustration"]) for _ in range(2))
        )
        assert csv_bytes(table(once)) == csv_bytes(table(again))

    def test_every_part_is_a_row(self, judged: list[Judged]) -> None:
        made = table(judged)
        assert len(made) == sum(len(each.evidence.parts) for each in judged)
        about_sweeps = made["claim"].isin([each.claim.id for each in judged if each.claim.sweeps])
        assert (made.loc[about_sweeps, "verdict_at_promised_runs"] == "holds").all()
        assert made.groupby("claim")["decisive"].sum().eq(1).all()

    def test_what_was_judged_at_the_promised_runs_alone_is_undecided_at_precision(self, judged: list[Judged]) -> None:
        made = table(judged)
        assert (made["verdict"] == "undecided").all()
        assert (made["runs"] == 0).all()
        assert made["reason"].str.contains("fewer than 1,000 runs").all()

    def test_few_runs_are_provisional_and_enough_are_not(self, judged: list[Judged]) -> None:
        about_sweeps = [each for each in judged if each.claim.sweeps]
        assert {each.claim.id for each in about_sweeps if each.runs >= each.promised} == {"A.4", "A.9"}
        assert all(each.runs >= each.promised for each in judged if not each.claim.sweeps)
