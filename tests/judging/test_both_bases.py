"""The claims under several variants, above all the authors' notebook: experiments, answer and documents."""

import re
from dataclasses import replace
from pathlib import Path

import pytest
from tests.support.judged import FOUND, HOLDS, NOT, OPEN, write_judgements
from tests.support.worlds import BY_ID, CLAIMS, PAPER

from pomrl.judging import study_claims
from pomrl.judging.answer import answer_text as answer
from pomrl.judging.study_claims import Basis
from pomrl.science.data import Trajectories
from pomrl_report import documents as pages
from pomrl_report.claim_tables import claims_page

NOTEBOOK = PAPER.variants[-1]


@pytest.fixture(scope="module")
def basis() -> Basis:
    return study_claims.basis(PAPER, CLAIMS, NOTEBOOK)


class TestExperiments:
    def test_a_reading_judges_what_its_source_contains(self, basis: Basis) -> None:
        judged_ids = {claim.id for claim in basis.claims}
        assert {*BY_ID} - judged_ids == {"I.1", "I.2", "A.3", "A.4", "A.5"}
        assert basis.error == PAPER.config.error / 3

    def test_everything_is_computed_as_in_the_notebook(self, basis: Basis) -> None:
        problems = [setting.experiment.problem for settings in basis.settings.values() for setting in settings]
        assert {(problem.trials, problem.loss) for problem in problems} == {(5, "mean")}
        assert {type(problem.data) for problem in problems} == {Trajectories}
        tasks = [problem.task_distribution for problem in problems]
        assert {getattr(distribution, "measure", "") for distribution in tasks} == {"notebook"}

    def test_schedules_are_of_the_notebooks_learner(self, basis: Basis) -> None:
        schedules = [claim for claim in basis.claims if "gamma_schedules" in claim.sweeps]
        requested = [experiment for claim in schedules for experiment in basis.requests(claim)]
        assert {experiment.options["estimator"] for experiment in requested} == {"ada_pomrl"}


class TestAnswer:
    def test_the_answer_groups_claims_by_variants(self, tmp_path: Path) -> None:
        output = answer(PAPER, write_judgements(tmp_path, FOUND))
        assert "Of the 5 claims that can be checked under several of the variants" in output
        assert "1 holds under each and 1 under none. 2 hold under some, and 1 is undecided." in output
        assert "Of the 1 claim that can be checked under one variant only, 1 does not hold." in output
        assert f"Under repaired and computed alone 1 holds: {BY_ID['Q1.3'].title}." in output
        assert f"Under computed alone 1 holds: {BY_ID['Q1.4'].title}." in output
        assert f"Under at least one of the variants 1 is undecided: {BY_ID['Q1.6'].title} (undecided under" in output
        condition = "if the claims were stated before these runs were looked at"
        assert f"The probability of even one wrong verdict is therefore at most about 5 %, {condition}." in output
        assert not re.search(r"Q\d|[AI]\.\d", output)  # titles, and no codes of claims

    def test_claims_that_hold_in_part_are_counted(self, tmp_path: Path) -> None:
        actual = {
            name: {"Q1.1": HOLDS, "Q1.2": NOT, "Q3.3": {"U": HOLDS, "near": NOT}} for name in ("printed", "computed")
        }
        assert " and 2 under none (1 of these in part)." in answer(PAPER, write_judgements(tmp_path, actual))

    def test_other_variants_are_compared_with_the_first(self, tmp_path: Path) -> None:
        study = replace(PAPER, config=replace(PAPER.config, headline=["printed"]))
        verdicts = {"printed": {"Q1.1": HOLDS, "Q1.5": HOLDS}, "computed": {"Q1.1": OPEN, "Q1.5": NOT}}
        output = answer(study, write_judgements(tmp_path, verdicts))
        assert "Of the 2 claims that can be checked, 2 hold." in output
        assert "Under the variant computed, 1 does not hold and 1 is undecided of the 2 claims" in output
        assert "1 verdict is opposite to printed" in output
        assert output.endswith("is again at most about 5 %, on the same condition.")


BOTH = {"printed": {"Q1.1": HOLDS, "Q1.5": HOLDS}, "computed": {"Q1.1": HOLDS, "Q1.5": NOT}}


class TestPage:
    def test_a_turned_verdict_says_what_turns_it(self, tmp_path: Path) -> None:
        text = claims_page(PAPER, write_judgements(tmp_path, BOTH))
        (line,) = (line for line in text.splitlines() if line.startswith("- **Q1.5** does not hold"))
        assert line.startswith("- **Q1.5** does not hold, otherwise holds.")
        assert line.endswith(BY_ID["Q1.5"].notes["computed"])

    def test_it_is_made_from_the_table_alone(self, monkeypatch: pytest.MonkeyPatch, empty_outputs: Path) -> None:
        monkeypatch.setattr(pages, "renew", lambda study: [])  # of other pages
        monkeypatch.setattr(pages, "look_up", lambda study, claims_table: {})
        actual = write_judgements(PAPER.outputs, BOTH)
        pages.renew_all(PAPER, actual, str)
        text = pages.documents(PAPER)[pages.CLAIMS]
        assert answer(PAPER, actual) in text
        (line,) = (line for line in text.splitlines() if line.startswith("| **Q1.1**"))
        assert "| holds | holds |" in line
