import sys
from pathlib import Path

import pytest
from src import run
from tests.test_config import CONF

from pomrl import published, store

SWEEPS = published.names(CONF)


@pytest.mark.parametrize("name", SWEEPS)
def test_every_published_sweep_runs_and_its_tables_have_the_settings_that_vary(
    name: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("POMRL_OUTPUTS", str(tmp_path))
    monkeypatch.setenv("HYDRA_FULL_ERROR", "0")
    monkeypatch.setattr(sys, "argv", ["run", f"experiment={name}", "runs=2"])
    with pytest.raises(SystemExit) as end:
        run.main()
    assert end.value.code == 0
    settings = published.sweep(CONF, name)
    table, lacking = published.tables(settings, 2)
    assert lacking == ""
    assert len(table.groupby(list(settings[0].varied))) == len(settings)
    assert len(store.everything()) == len({store.signature(setting.experiment) for setting in settings})


def test_every_published_sweep_is_run_by_the_main_job() -> None:
    script = (CONF.parent / "reproduce.sh").read_text()
    (listed,) = [line for line in script.splitlines() if line.startswith("SWEEPS=")]
    assert sorted(listed.removeprefix("SWEEPS=(").rstrip(")").split()) == SWEEPS


def test_tables_of_what_is_not_stored_are_empty_and_say_so(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("POMRL_OUTPUTS", str(tmp_path))
    settings = published.sweep(CONF, "gamma_0")
    table, lacking = published.tables(settings, 600)
    assert table.empty
    assert list(table.columns[:2]) == ["gamma_schedule.gamma_0", "run"]
    assert "6 of 6 settings have fewer than 600 runs" in lacking


@pytest.mark.parametrize("name", ["samples_and_tasks", "illustration"])
def test_a_job_of_a_sweep_is_what_hydra_composes_alone(name: str) -> None:
    for setting in published.sweep(CONF, name):
        alone = published.experiment(CONF, [f"experiment={name}", *(f"{k}={v}" for k, v in setting.varied.items())])
        assert setting.experiment == alone
