"""Claims judged together at the promised numbers of runs, and the table of judgements of them."""

from collections.abc import Mapping

from tests.support.worlds import BY_ID, CLAIMS

from pomrl.judging.judgements import Judgement, judgement
from pomrl.judging.precision import Outcome, Plan
from pomrl.judging.promised import AtPromised
from pomrl.judging.verdict import Verdict


def made(judged: Mapping[str, AtPromised]) -> list[Judgement]:
    """Return the judgements of claims of which too few runs are stored for an analysis at precision."""
    return [judgement("pomrl", "printed", Outcome(claim, Plan((1000,))), judged[claim.id]) for claim in CLAIMS]


def test_every_part_is_a_comparison_of_which_one_is_decisive(judged: dict[str, AtPromised]) -> None:
    for each in made(judged):
        assert len(each.comparisons) == len(judged[each.id].evidence.parts)
        assert [part.decisive for part in each.comparisons].count(True) == 1
        assert each.at_promised_runs is Verdict.HOLDS or each.id not in BY_ID


def test_what_was_judged_at_the_promised_runs_alone_is_undecided_at_precision(judged: dict[str, AtPromised]) -> None:
    for each in made(judged):
        assert (each.verdict, each.runs) == (Verdict.UNDECIDED, 0)
        assert "fewer than 1,000 runs" in each.reason


def test_few_runs_are_provisional_and_enough_are_not(judged: dict[str, AtPromised]) -> None:
    assert {each.id for each in made(judged) if each.id in BY_ID and not each.provisional} == {"A.4", "A.9"}
    assert not any(each.provisional for each in made(judged) if each.id not in BY_ID)
