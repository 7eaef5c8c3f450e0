"""The names that `import pomrl` gives: the store and signatures of the commands, and errors that say what to do."""

import asyncio
import re
import shutil
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from tests.support.computed import call
from tests.support.settings import ROOT

import pomrl
from pomrl.commands import run
from pomrl.configuration.composed import ConfigError
from pomrl.store import StoreError
from pomrl.study import Fixed

DOCUMENT = (ROOT / "docs" / "python.md").read_text()
SMALL: dict[str, Any] = {"T": 2, "S": 4, "runs": 3}


@pytest.fixture(autouse=True)
def here(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("POMRL_OUTPUTS", raising=False)
    return tmp_path


@pytest.mark.slow
def test_the_document_runs_from_top_to_bottom(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shutil.copytree(ROOT / "examples" / "conf", here / "examples" / "conf")
    names: dict[str, object] = {}
    for block in re.findall(r"```python\n(.*?)```", DOCUMENT, flags=re.DOTALL):
        exec(block, names)
    assert (here / "losses.pdf").stat().st_size > 1000
    of_experiments = {name for name in dir(pomrl) if getattr(pomrl, name).__module__ == "pomrl.api"}
    assert of_experiments | {"plan"} <= set(re.findall(r"pomrl\.(\w+)\(", DOCUMENT))


def test_it_stores_what_the_command_stores_and_finds_what_the_command_has_stored(here: Path) -> None:
    status, out, _ = call(run, "-m", "estimator=pomrl", "estimator.prior=exclusive,inclusive", "T=2", "S=4", "runs=3")
    assert status == 0
    before = {path: path.stat().st_mtime_ns for path in here.rglob("*.parquet")}
    table = pomrl.sweep(estimator="pomrl", estimator__prior=("exclusive", "inclusive"), **SMALL)
    assert {path: path.stat().st_mtime_ns for path in here.rglob("*.parquet")} == before
    assert table["estimator.prior"].unique().tolist() == ["exclusive", "inclusive"]
    for folder, (_, part) in zip(out.split(), table.groupby("estimator.prior", observed=True), strict=True):
        pd.testing.assert_frame_equal(part.iloc[:, 1:].reset_index(drop=True), pomrl.load(folder))
    assert len(pomrl.find(estimator__prior=["exclusive", "inclusive"])) == 2
    alike = pomrl.run(gamma_schedule=Fixed(gamma=0.5), **SMALL)
    pd.testing.assert_frame_equal(alike, pomrl.load(gamma_schedule="fixed", gamma_schedule__gamma=0.5, **SMALL))


def test_it_works_inside_an_event_loop() -> None:
    async def computed() -> pd.DataFrame:
        return pomrl.run(**SMALL)

    lines: list[str] = []
    assert len(asyncio.run(computed())) == 3 * 2 * 21
    pomrl.run(seed=2, report=lines.append, **SMALL)
    assert lines == ["3/3 runs"]


def test_an_answer_is_never_empty_without_a_word(here: Path) -> None:
    with pytest.raises(
        StoreError, match=f"^{here}/outputs/runs: no stored experiment has these settings; POMRL_OUTPUTS"
    ):
        pomrl.find(sigma=0.01)
    pomrl.sweep(sigma=[0.01, 0.02], **SMALL)
    with pytest.raises(StoreError, match=r"they differ in sigma \(0\.01, 0\.02\)$"):
        pomrl.load(sigma=[0.01, 0.02], **SMALL)


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"sigma": [0.01, 0.02]}, "pomrl.sweep computes each value of a list"),
        ({"sigma": {}}, "sigma={}: a dict is no setting"),
        ({"config_dir": "nowhere"}, "nowhere: there is no such folder of options"),
        ({"dry_run": True}, "dry_run=True: this is for the command"),
    ],
)
def test_mistakes_are_named_and_nothing_is_written(settings: dict[str, Any], said: str, here: Path) -> None:
    with pytest.raises(ConfigError, match=re.escape(said)):
        pomrl.run(**settings)
    assert not list(here.iterdir())
