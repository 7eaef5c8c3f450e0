"""Claims judged together at the paper's numbers of runs."""

from tests.claims.worlds import as_in_the_paper, simulated

from pomrl.claims import CLAIMS
from pomrl.judging.fixed_runs import judge, table
from pomrl.judging.verdict import Evidence


class TestJudging:
    def test_same_losses_same_bytes(self, settings):
        (claim,) = (claim for claim in CLAIMS if claim.id == "I.1")
        once, again = (
            judge([(claim, Evidence(claim.parts({"illustration": losses})), 100)])
            for losses in (simulated(as_in_the_paper, "illustration", settings["illustration"]) for _ in range(2))
        )
        assert table(once).to_csv() == table(again).to_csv()

    def test_every_part_is_a_row(self, judged):
        rows = table(judged)
        assert len(rows) == sum(len(each.evidence.parts) for each in judged)
        assert (rows["verdict"] == "reproduced").all()
        assert rows.groupby("claim")["decisive"].sum().eq(1).all()

    def test_few_runs_are_provisional_and_enough_are_not(self, judged):
        assert {each.claim.id for each in judged if not each.provisional} == {"A.4", "T.1"}
