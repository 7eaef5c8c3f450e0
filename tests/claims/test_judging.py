"""Claims judged together: the table and the scorecard."""

from tests.claims.worlds import as_in_the_paper, simulated

from pomrl.claims.judging import judge, scorecard, table


class TestJudging:
    def test_same_losses_same_bytes(self, settings, simulations):
        once, again = (
            judge(
                {
                    name: simulated(as_in_the_paper, name, settings[name])
                    for name in ("samples_and_tasks", "illustration")
                },
                simulations,
            )
            for _ in range(2)
        )
        assert table(once).to_csv() == table(again).to_csv()
        assert scorecard(once) == scorecard(again)

    def test_every_part_is_a_row(self, judged):
        rows = table(judged)
        assert len(rows) == sum(len(each.evidence.parts) for each in judged)
        assert set(rows.loc[rows["selected_on"], "claim"]) == {"Q1.5", "Q3.1", "Q4.2", "Q4.3", "A.1", "A.2"}
        assert (rows.loc[rows["claim"] != "T.1", "verdict"] == "reproduced").all()

    def test_few_runs_are_provisional_and_enough_are_not(self, judged):
        # Of A.4 20 of the 40 were promised; T.1 has its own sequences.
        assert {each.claim.id for each in judged if not each.provisional} == {"A.4", "T.1"}
        assert scorecard(judged).startswith("Provisional: 26 claims have fewer runs than promised (as few as 40).")

    def test_the_scorecard_counts_and_says_why(self, judged):
        card = scorecard(judged)
        assert "Of 28 claims 27 reproduced, 1 not reproduced, 0 inconclusive, with Holm's correction" in card
        assert "- **Q1.5** (s) reproduced: ada-POMRL is behind POMRL in the first tasks" in card
        assert card.count("\n- ") == 28

    def test_only_claims_whose_sweeps_are_there_are_judged(self, paper, simulations):
        judged = judge({"gamma_0": paper["gamma_0"], "illustration": paper["illustration"]}, simulations)
        assert [each.claim.id for each in judged] == ["I.1", "I.2", "T.1"]
        assert {each.claims for each in judged} == {3}
        assert [each.claim.id for each in judge({"illustration": paper["illustration"]}, {})] == ["I.1", "I.2"]
