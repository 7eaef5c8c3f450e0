"""The command `src.claims`, and the stored runs that it reads."""

import io
import sys

import pandas as pd
import pytest
from tests.claims.worlds import table_of

from pomrl import store
from pomrl.claims import loading
from pomrl.commands import claims as command
from pomrl.configuration import studies
from pomrl.configuration.sources import PUBLISHED


class TestCommand:
    def call(self, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> tuple[int, str, str]:
        monkeypatch.setattr(sys, "argv", ["claims"])
        status = 0
        try:
            command.main()
        except SystemExit as end:
            status = int(end.code or 0)
        said = capsys.readouterr()
        return status, said.out, said.err

    def test_with_nothing_stored_one_line_says_what_to_run(self, monkeypatch, capsys, tmp_path):
        monkeypatch.setenv("POMRL_OUTPUTS", str(tmp_path))
        status, out, err = self.call(monkeypatch, capsys)
        assert (status, out) == (1, "")
        assert err.strip().count("\n") == 0
        assert "./reproduce.sh" in err

    def test_what_is_missing_is_listed_with_its_command_and_nothing_is_wider_than_80_columns(
        self, monkeypatch, capsys, tmp_path
    ):
        monkeypatch.setenv("POMRL_OUTPUTS", str(tmp_path))
        monkeypatch.setattr(command, "_true_shares", dict)
        for start in (0.01, 0.1, 0.5):
            store_runs(start, 12)
        status, out, _ = self.call(monkeypatch, capsys)
        assert status == 0
        assert "not computed: Q4.4\n    python -m src.run experiment=gamma_0\n" in out
        assert "A.5: 12 of 100 runs\n    python -m src.run experiment=initial_similarity\n" in out
        assert "python -m src.claims --decide" in " ".join(out.split())
        assert max(map(len, out.splitlines())) <= 80
        written = (tmp_path / "claims.csv").read_bytes()
        table = pd.read_csv(io.BytesIO(written))
        verdicts = table.groupby("claim")["verdict"].first()
        assert (verdicts["A.5"], verdicts["T.1"]) == ("undecided", "reproduced")
        assert "Q1.1" in verdicts.index  # it reads ada-POMRL with its default start, which is one of the three
        assert (table["basis"] == "text").all()
        assert "## At the paper's numbers of runs\n\nProvisional" in (tmp_path / "scorecard.md").read_text()

    def test_a_claim_is_judged_on_the_runs_that_all_that_it_reads_has(self, monkeypatch, tmp_path, settings):
        monkeypatch.setenv("POMRL_OUTPUTS", str(tmp_path))
        for start, runs in ((0.01, 4), (0.1, 3), (0.5, 5)):
            store_runs(start, runs)
        basis = loading.Basis("text", settings)
        (claim,) = (claim for claim in basis.claims if claim.id == "A.5")
        assert (basis.promised(claim), basis.stored(claim)) == (100, 3)
        assert {part.estimate.runs for part in loading.Reader().parts(basis, claim, 3)} == {3}


def store_runs(start: float, runs: int) -> None:
    overrides = ["experiment=initial_similarity", f"estimator.sigma_1={start}"]
    stored = store.open_experiment(studies.experiment(PUBLISHED, overrides), force=False)
    store.add(stored, range(runs), table_of(overrides, runs))
    store.close_experiment(stored, "complete", 0.0)
