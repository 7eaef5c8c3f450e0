"""The claims on the basis of the authors' notebook, beside those by the text: experiments, answer and documents."""

import io
import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from tests.claims.conftest import Settings
from tests.claims.worlds import BY_ID

from pomrl.claims import authors, deciding, document, robustness
from pomrl.judging.inference import mean
from pomrl.judging.basis import Basis, Reader
from pomrl.judging.precision import Outcome
from pomrl.claims.scorecard import Row, Scored, headline, markdown, table
from pomrl.claims.summary import answer
from pomrl.judging.verdict import Part, Verdict
from pomrl.commands.scorecard import show
from pomrl.configuration import notebook, studies
from pomrl.configuration.parsing import Experiment
from pomrl.configuration.sources import PUBLISHED
from pomrl.results.markdown import renewed
from pomrl.running import sweeps

ROOT = Path(__file__).parents[2]
HOLDS, NOT, OPEN = Verdict.REPRODUCED, Verdict.NOT_REPRODUCED, Verdict.UNDECIDED


@pytest.fixture(scope="module")
def basis(settings: Settings) -> Basis:
    return authors.notebook({name: notebook.sweep(PUBLISHED, name) for name in settings})


class TestExperiments:
    def test_every_claim_about_sweeps_can_be_judged(self, basis: Basis) -> None:
        assert {claim.id for claim in basis.claims} == set(BY_ID)

    def test_a_sigma_of_the_paper_stands_for_a_concentration(self, basis: Basis) -> None:
        found = {
            (each.varied["sigma"], getattr(each.experiment.problem.task_distribution, "concentration_over_S", None))
            for each in basis.settings["task_similarity"]
        }
        assert found == {(0.01, 1.5), (0.025, 0.75), (0.047, 0.375)}

    @pytest.mark.parametrize("name", notebook.SCHEDULES)
    def test_schedules_are_those_of_ada_pomrl(self, basis: Basis, name: str) -> None:
        assert {each.experiment.options["estimator"] for each in basis.settings[name]} == {"ada_pomrl"}

    def test_everything_is_computed_as_in_the_notebook(self, basis: Basis) -> None:
        problems = [each.experiment.problem for of in basis.settings.values() for each in of]
        assert {(each.trials, each.loss) for each in problems} == {(100, "mean")}


def row(id: str, values: list[float]) -> Row:
    """Return a row whose only part claims that the mean of these values is below 0."""
    sample = np.tile(values, 500)
    part = Part("a less b", mean(sample), below=0.0)
    return Row(Outcome(BY_ID[id]).after([part]))


def scored(basis: str, **values: float) -> Scored:
    """Return a scorecard: a value below 0 lets a claim hold, one above 0 does not."""
    rows = [row(id.replace("_", "."), [value - 0.01, value + 0.01]) for id, value in values.items()]
    return Scored(basis, tuple(rows))


def stored(both: tuple[Scored, ...]) -> pd.DataFrame:
    """Return the table of a scorecard as it is read from claims.csv."""
    return pd.read_csv(io.StringIO(table(both).to_csv(index=False)))


class TestAnswer:
    def test_it_counts_both_bases_and_what_is_turned(self) -> None:
        said = answer({"a": HOLDS, "b": HOLDS, "c": NOT}, {"a": HOLDS, "b": NOT, "c": OPEN})
        assert "Of the 3 claims of the paper that can be checked, 2 hold and 1 does not" in said
        assert "1 holds, 1 does not and 1 is undecided of the 3 claims" in said
        assert "for 1 claim the verdict is the opposite" in said

    def test_what_is_open_on_one_basis_is_not_turned(self) -> None:
        assert "no verdict is turned" in answer({"a": HOLDS}, {"a": OPEN})

    def test_codes_of_claims_are_not_in_it(self) -> None:
        said = headline([scored("text", Q1_1=-1, Q1_5=-1), scored("notebook", Q1_1=-1, Q1_5=1)])
        assert not re.search(r"Q\d|[AI]\.\d", said)


class TestScorecard:
    both = scored("text", Q1_1=-1, Q1_5=-1), scored("notebook", Q1_1=-1, Q1_5=1)

    def test_both_verdicts_stand_side_by_side(self) -> None:
        text = markdown(self.both)
        (line,) = (line for line in text.splitlines() if line.startswith("| **Q1.5**"))
        assert "| reproduced | not reproduced |" in line

    def test_a_turned_verdict_says_what_turns_it(self) -> None:
        (line,) = (line for line in markdown(self.both).splitlines() if line.startswith("- **Q1.5** not reproduced"))
        assert line.endswith(authors.difference("Q1.5"))

    def test_the_terminal_has_both_and_is_not_wider_than_80_columns(self, capsys: pytest.CaptureFixture[str]) -> None:
        show(self.both)
        lines = capsys.readouterr().out.splitlines()
        assert max(map(len, lines)) <= 80
        assert "authors" in " ".join(lines)
        assert any(line.strip().startswith("Q1.5") and " not " in line for line in lines)

    def test_readings_that_turn_it_are_named(self) -> None:
        main, other = self.both
        assert "- **Q1.1** std, fixed" in markdown([replace(main, flips={"Q1.1": ["std", "fixed"]}), other])

    def test_the_document_is_made_from_the_table_alone(self) -> None:
        made = document.document(stored(self.both), {"Q1.1": ["std"]})
        assert headline(self.both) in made
        assert re.search(r"\| \*\*Q1\.1\*\* .*\| reproduced \| reproduced \|.*\| std \|", made)


def test_only_the_opposite_verdict_counts_as_turned() -> None:
    verdicts = {"default": HOLDS, "std": NOT, "fixed": OPEN, "std + fixed": NOT}
    matrix = pd.DataFrame([{"reading": name, "claim": "Q1.1", "verdict": str(of)} for name, of in verdicts.items()])
    assert robustness.flips(matrix) == {"Q1.1": ["std"]}


class TestPublished:
    """What the README and docs/results.md say of the claims is what docs/claims.md says."""

    claims = (ROOT / "docs" / "claims.md").read_text()
    readme = (ROOT / "README.md").read_text()
    results = (ROOT / "docs" / "results.md").read_text()

    def rows(self) -> list[list[str]]:
        return [line.split(" | ") for line in self.claims.splitlines() if line.startswith("| **")]

    def test_every_claim_has_a_row(self) -> None:
        assert len(self.rows()) == 28

    def test_the_answer_is_that_of_the_table(self) -> None:
        ids = [re.findall(r"\*\*(.+?)\*\*", cells[0])[0] for cells in self.rows()]
        by_text = {id: Verdict(cells[1]) for id, cells in zip(ids, self.rows(), strict=True)}
        theirs = {id: cells[2].removesuffix(" *") for id, cells in zip(ids, self.rows(), strict=True)}
        said = answer(by_text, {id: Verdict(verdict) for id, verdict in theirs.items() if verdict})
        assert said in self.claims
        assert renewed(self.readme, {document.ANSWER: said}) == self.readme

    def test_every_interval_that_they_give_of_a_claim_is_in_the_table(self) -> None:
        sections = [text.partition("## Does the paper hold?")[2] for text in (self.readme, self.results)]
        intervals = [
            interval
            for section in sections
            for interval in re.findall(r"-?[\d.]+ (?:% )?\[[-\d., ]+\]", section.partition("\n## ")[0])
        ]
        assert intervals
        assert [each for each in intervals if each not in self.claims] == []


def test_a_single_difference_turns_a_verdict(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("POMRL_OUTPUTS", str(tmp_path))
    turn = authors.TURNED_BY["Q4.5"]
    settings = {"task_similarity": studies.sweep(PUBLISHED, "task_similarity", turn.overrides)}
    basis = authors.turned_basis(turn, settings)
    asked: list[Experiment] = []

    def compute(experiments: Sequence[Experiment]) -> None:
        asked.extend(experiments)
        sweeps.compute(sweeps.checked_jobs(experiments), lambda tally: None)

    assert deciding.pursued(basis, BY_ID["Q4.5"], Reader(), compute).verdict is HOLDS
    assert {each.options["data"] for each in asked} == {"trajectories"}
