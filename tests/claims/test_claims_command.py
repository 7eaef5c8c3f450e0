"""The command `src.claims`, and the stored runs that it reads."""

import io
import sys

import pandas as pd
import pytest
from tests.claims.worlds import table_of

from pomrl import store
from pomrl.claims import CLAIMS, loading
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
        monkeypatch.setattr(command, "CLAIMS", CLAIMS[:1])
        status, out, err = self.call(monkeypatch, capsys)
        assert (status, out) == (1, "")
        assert err.strip().count("\n") == 0
        assert "./reproduce.sh" in err

    def test_what_is_missing_is_listed_with_its_command_and_nothing_is_wider_than_80_columns(
        self, monkeypatch, capsys, tmp_path, paper
    ):
        monkeypatch.setenv("POMRL_OUTPUTS", str(tmp_path))
        sweeps = {"gamma_schedules": paper["gamma_schedules"]}
        monkeypatch.setattr(loading, "sweeps", lambda settings: sweeps)
        status, out, _ = self.call(monkeypatch, capsys)
        assert status == 0
        assert "not computed: Q4.4\n    python -m src.run experiment=gamma_0\n" in out
        assert "Q4.1: 40 of 600 runs\n    python -m src.run experiment=gamma_schedules\n" in out
        assert max(map(len, out.splitlines())) <= 80
        written = (tmp_path / "claims.csv").read_bytes()
        assert pd.read_csv(io.BytesIO(written))["claim"].unique().tolist() == ["Q4.1", "Q4.2", "Q4.3", "T.1"]
        assert (tmp_path / "scorecard.md").read_text().startswith("Provisional")

    def test_it_reads_the_runs_that_all_settings_have(self, monkeypatch, tmp_path, settings):
        monkeypatch.setenv("POMRL_OUTPUTS", str(tmp_path))
        for start, runs in ((0.01, 4), (0.1, 3), (0.5, 5)):
            store_runs(start, runs)
        sweep = loading.sweep(settings["initial_similarity"])
        assert sweep is not None
        assert sweep.promised == 100
        assert len(sweep.at(sigma_1=0.1).loss) == 3


def store_runs(start: float, runs: int) -> None:
    overrides = ["experiment=initial_similarity", f"estimator.sigma_1={start}"]
    stored = store.open_experiment(studies.experiment(PUBLISHED, overrides), force=False)
    store.add(stored, range(runs), table_of(overrides, runs))
    store.close_experiment(stored, "complete", 0.0)
