"""The names that `import pomrl` gives: the store and signatures of the commands, and errors that say what to do."""

import asyncio
import re
import shutil
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from hydra import compose, initialize_config_dir
from omegaconf import OmegaConf
from tests.support.computed import call, folders
from tests.support.settings import CONF, ROOT

import pomrl
from pomrl.commands import run
from pomrl.configuration.composed import ConfigError
from pomrl.store import StoreError
from pomrl.study import Fixed

DOCUMENT = (ROOT / "docs" / "python.md").read_text()
SMALL: dict[str, Any] = {"T": 2, "S": 4, "runs": 3}


pytestmark = pytest.mark.usefixtures("cwd")


@pytest.mark.slow
def test_the_document_runs_from_top_to_bottom(cwd: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shutil.copytree(ROOT / "examples" / "conf", cwd / "examples" / "conf")
    names: dict[str, object] = {}
    for block in re.findall(r"```python\n(.*?)```", DOCUMENT, flags=re.DOTALL):
        exec(block, names)
    assert (cwd / "losses.pdf").stat().st_size > 1000
    functions = {name for name in dir(pomrl) if getattr(pomrl, name).__module__.startswith("pomrl.api.")}
    assert functions | {"plan"} <= set(re.findall(r"pomrl\.(\w+)\(", DOCUMENT))


def test_python_and_the_command_share_stored_runs(cwd: Path) -> None:
    status, out, _ = call(run, "-m", "estimator=pomrl", "estimator.prior=exclusive,inclusive", "T=2", "S=4", "runs=3")
    assert status == 0
    before = {path: path.stat().st_mtime_ns for path in cwd.rglob("*.parquet")}
    table = pomrl.sweep(estimator="pomrl", estimator__prior=("exclusive", "inclusive"), **SMALL)
    assert {path: path.stat().st_mtime_ns for path in cwd.rglob("*.parquet")} == before
    assert table["estimator.prior"].unique().tolist() == ["exclusive", "inclusive"]
    for folder, (_, rows) in zip(
        folders(out.splitlines()), table.groupby("estimator.prior", observed=True), strict=True
    ):
        pd.testing.assert_frame_equal(rows.iloc[:, 1:].reset_index(drop=True), pomrl.load(folder))
    assert len(pomrl.find(estimator__prior=["exclusive", "inclusive"])) == 2
    fixed = pomrl.run(gamma_schedule=Fixed(gamma=0.5), **SMALL)
    pd.testing.assert_frame_equal(fixed, pomrl.load(gamma_schedule="fixed", gamma_schedule__gamma=0.5, **SMALL))


def test_it_works_inside_an_event_loop() -> None:
    async def computed() -> pd.DataFrame:
        return pomrl.run(**SMALL)

    lines: list[str] = []
    assert len(asyncio.run(computed())) == 3 * 2 * 21
    pomrl.run(seed=2, report=lines.append, **SMALL)
    assert lines == ["3/3 runs"]


def test_find_is_empty_without_matches() -> None:
    assert len(pomrl.find(sigma=0.01)) == 0
    table = pomrl.run(sigma=0.01, tag="mine", **SMALL)
    actual = pomrl.find(sigma=0.01)
    assert actual.index.tolist() == [table.attrs["signature"]]
    assert actual[["runs", "tags", "estimator", "T"]].to_numpy().tolist() == [[3, "mine", "ada_pomrl", 2]]
    pd.testing.assert_frame_equal(pomrl.load(actual.index[0]), table)


def test_frames_have_attributes_and_one_requested_gamma() -> None:
    table, selected = pomrl.run(**SMALL), pomrl.run(gamma=0.99, **SMALL)
    assert (len(table.attrs["gammas"]), selected.attrs["gammas"]) == (21, [0.99])
    assert table.attrs["settings"]["estimator"] == "ada_pomrl"
    pd.testing.assert_frame_equal(selected, table[table["gamma"] == 0.99].reset_index(drop=True))
    with pytest.raises(
        ConfigError, match=r"^gamma must be one of the planned discount factors \(0, 0\.05, .*\), got 0\.42$"
    ):
        pomrl.run(gamma=0.42, **SMALL)


def test_sweeps_are_listed_before_computing() -> None:
    jobs = pomrl.jobs(sigma=[0.01, 0.02], **SMALL)
    assert not len(pomrl.find())
    assert [job.varied["sigma"] for job in jobs] == [job.settings["sigma"] for job in jobs] == [0.01, 0.02]
    assert pomrl.sweep(sigma=[0.01, 0.02], **SMALL).attrs["signatures"] == [job.signature for job in jobs]
    assert len(pomrl.jobs("task_similarity")) == len(pomrl.jobs("pomrl2023/task_similarity")) == 15


def test_what_hydra_composed_is_what_settings_give() -> None:
    overrides = ["estimator=pomrl", *(f"{key}={value}" for key, value in SMALL.items())]
    with initialize_config_dir(str(CONF), version_base="1.3"):
        config = compose("config", overrides, return_hydra_config=True)
        without_node: Any = OmegaConf.to_container(compose("config", overrides))
    table, other, same = pomrl.run(config), pomrl.run(without_node), pomrl.run(estimator="pomrl", **SMALL)
    assert table.attrs == other.attrs == same.attrs
    assert pomrl.find(estimator="pomrl").index.tolist() == [same.attrs["signature"]]


def test_objects_are_shown_by_what_they_are() -> None:
    model = pomrl.from_gymnasium("FrozenLake-v1")
    assert repr(model) == "Model(states=16, actions=4, dense)"
    assert repr(model.plan([0.5, 0.9])) == "Plan(states=16, actions=4, gammas=[0.5, 0.9])"
    with pytest.raises(ValueError, match=r"^Frozen-v1: Environment `Frozen` doesn't exist"):
        pomrl.from_gymnasium("Frozen-v1")


def test_one_experiment_is_loaded(cwd: Path) -> None:
    pomrl.sweep(sigma=[0.01, 0.02], **SMALL)
    with pytest.raises(StoreError, match=r"they differ in sigma \(0\.01, 0\.02\)$"):
        pomrl.load(sigma=[0.01, 0.02], **SMALL)
    signature, _ = pomrl.find(T=2, S=4).index
    with pytest.raises(ConfigError, match="runs must be at least 1, got 0"):
        pomrl.load(signature, runs=0)
    with pytest.raises(ConfigError, match=f"which must be None with settings, got '{signature}' and sigma"):
        pomrl.load(signature, sigma=0.02)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"sigma": [0.01, 0.02]}, "pomrl.sweep"),
        ({"sigma": {}}, "sigma must be "),
        ({"config_dir": "nowhere"}, "nowhere: "),
        ({"dry_run": True}, "dry_run must be "),
    ],
)
def test_mistakes_are_named_and_nothing_is_written(settings: dict[str, Any], message: str, cwd: Path) -> None:
    with pytest.raises(ConfigError, match=re.escape(message)):
        pomrl.run(**settings)
    assert not list(cwd.iterdir())
