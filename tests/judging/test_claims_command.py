"""The command `pomrl reproduce STUDY claims`, and the stored runs that it reads."""

import shutil
from pathlib import Path

import pytest
from tests.judging.conftest import Settings
from tests.support.computed import call
from tests.support.computed import claims as command
from tests.support.sample_experiment import add
from tests.support.worlds import BY_ID, CLAIMS, PAPER, computed_table

from pomrl import store
from pomrl.configuration.sources import PUBLISHED
from pomrl.configuration.sweeps import experiment
from pomrl.judging import judgements
from pomrl.judging.study_claims import Basis, Reader, judge_claim
from pomrl_report.claim_tables import claims_page
from verdicts.parts import Verdict

pytestmark = pytest.mark.slow


@pytest.fixture(autouse=True)
def with_simulations(empty_outputs: Path, simulated: Path) -> None:
    """The simulations are stored, because they take long."""
    shutil.copytree(simulated, empty_outputs, dirs_exist_ok=True)


class TestCommand:
    def test_missing_claims_are_listed_in_80_columns(self, empty_outputs: Path) -> None:
        for start in (0.01, 0.1, 0.5):
            store_runs(start, 12)
        out = call(command, "pomrl2023", "--variants", "repaired")[1]
        assert max(len(line) for line in out.splitlines() if "\t" not in line) <= 80
        assert "**" not in out
        text = " ".join(out.split())
        judged_claims = judgements.read(PAPER.outputs)
        by_text = judged_claims.of("repaired")
        few = [id for id in by_text if id in BY_ID]
        missing = [id for id in BY_ID if id not in by_text]
        assert {"Q3.1", "Q4.4"} <= {*missing}
        assert f"not computed: {', '.join(missing)}" in text
        assert f"too few runs for {len(few)} claims" in text
        assert "    pomrl reproduce pomrl2023\n" in out
        assert "pomrl reproduce pomrl2023 adds them" in text
        page = claims_page(PAPER, judged_claims)
        assert "opposite under" not in text + page
        assert by_text["A.5"].verdict is Verdict.UNDECIDED
        assert (by_text["A.5"].runs, by_text["A.5"].needed) == (12, 4000)
        assert "Q1.1" in by_text  # it reads ada-POMRL with its default start, which is one of the three

    def test_claims_are_judged_on_shared_runs(self, empty_outputs: Path, settings: Settings) -> None:
        for start, runs in ((0.01, 4), (0.1, 3), (0.5, 5)):
            store_runs(start, runs)
        basis = Basis("printed", settings, CLAIMS)
        outcome = judge_claim(basis, BY_ID["A.5"], Reader())
        assert (outcome.needed, outcome.runs) == (4000, 3)


def store_runs(start: float, runs: int) -> None:
    overrides = ["experiment=initial_similarity", f"estimator.start_deviation={start}"]
    stored = store.open_experiment(experiment(PUBLISHED, overrides), force=False)
    add(stored, range(runs), computed_table(overrides, runs))
