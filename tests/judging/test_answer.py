"""The answer where there is little to say: nothing judged, no verdicts, too few runs, one variant; and in short."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from tests.support.judged import FOUND, HOLDS, NOT, OPEN, write_judgements
from tests.support.worlds import PAPER

from pomrl.judging.answer import answer_text, certainty, count_groups
from pomrl.judging.judgements import Judgements
from verdicts.parts import Verdict

NOBODY = "No claims are judged yet under the variants of the study; pomrl reproduce pomrl2023 claims judges them."
NO_FORMULAS = {"formulas": 0, "formulas_hold": 0}
RUNS = f"{PAPER.config.runs:,}"


def with_changes(original: Judgements, **changes: Any) -> Judgements:
    """The same judgements with other values of their fields."""
    return Judgements(
        {
            name: {id: judgement.model_copy(update=changes) for id, judgement in ofs.items()}
            for name, ofs in original.by_variant.items()
        }
    )


def counts(judgements: Judgements) -> Mapping[str, int]:
    return count_groups(PAPER, judgements)


def test_mixed_claims_hold_under_some_readings(tmp_path: Path) -> None:
    mixed = {"printed": {"Q1.1": NOT}, "repaired": {"Q1.1": OPEN}, "computed": {"Q1.1": HOLDS}}
    actual = write_judgements(tmp_path, mixed)
    assert counts(actual) == {"all": 0, "none": 0, "undecided": 0, "computed": 1, "claims": 1, **NO_FORMULAS}
    assert "(undecided under repaired)" in answer_text(PAPER, actual)


@pytest.mark.parametrize("decided", [HOLDS, NOT])
def test_an_open_reading_leaves_its_claim_undecided(decided: Verdict, tmp_path: Path) -> None:
    actual = write_judgements(tmp_path, {"printed": {"Q1.1": decided}, "repaired": {"Q1.1": OPEN}})
    assert counts(actual)["undecided"] == 1


def test_without_judgements_the_command_is_named() -> None:
    assert answer_text(PAPER, Judgements({})) == NOBODY
    assert answer_text(PAPER, Judgements({}), in_short=True) == NOBODY


def test_where_estimates_are_reported_it_says_so(tmp_path: Path) -> None:
    reported = with_changes(write_judgements(tmp_path, FOUND), verdict=None)
    assert answer_text(PAPER, reported) == "No claim of the study has a verdict; only estimates are reported."
    assert counts(reported)["claims"] == 0


def test_nothing_is_counted_with_too_few_runs(tmp_path: Path) -> None:
    few = with_changes(write_judgements(tmp_path, FOUND), runs=3)
    expected = (
        f"None of the 6 claims with stored runs is decided yet, because fewer than {RUNS} runs are stored; "
        "pomrl reproduce pomrl2023 adds them."
    )
    assert answer_text(PAPER, few) == certainty(PAPER, few) == expected
    assert answer_text(PAPER, few, in_short=True) == ""


def test_the_answer_counts_claims_with_few_runs(tmp_path: Path) -> None:
    actual = write_judgements(tmp_path, FOUND)
    printed = {
        id: judgement.model_copy(update={"runs": 3}) if id < "Q1.3" else judgement
        for id, judgement in actual.of("printed").items()
    }
    some = Judgements({**actual.by_variant, "printed": printed})
    assert "Too few runs are stored for 2 of the claims; pomrl reproduce pomrl2023 adds them." in certainty(PAPER, some)
    assert "Too few" not in certainty(PAPER, actual)


def test_one_variant_has_counts_without_groups(tmp_path: Path) -> None:
    actual = Judgements({"printed": write_judgements(tmp_path, FOUND).of("printed")})
    output = answer_text(PAPER, actual)
    assert output.startswith(
        "Of the 6 claims that can be checked, 1 holds, 4 do not hold and 1 is undecided. A verdict is wrong if"
    )
    assert "equally among the claims, and each share among" in output
    short = answer_text(PAPER, actual, in_short=True)
    assert short == "Of the 6 claims that can be checked, 1 holds, 4 do not hold and 1 is undecided."


def test_in_short_there_are_numbers_alone(tmp_path: Path) -> None:
    answer = answer_text(PAPER, write_judgements(tmp_path, FOUND), in_short=True)
    assert answer.split("\n\n") == [
        "**Experiments.** Of the 5 claims that can be checked under several of the variants printed, repaired and "
        "computed, 1 holds under each and 1 under none. 2 hold under some, and 1 is undecided.",
        "**Formulas and single checks.** Of the 1 claim that can be checked under one variant only, 1 does not hold.",
    ]
    assert counts(write_judgements(tmp_path, FOUND)) == {
        "all": 1, "none": 1, "undecided": 1, "repaired+computed": 1, "computed": 1, "claims": 5,
        "formulas": 1, "formulas_hold": 0,
    }  # fmt: skip
