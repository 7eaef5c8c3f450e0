"""What Hydra's `compose` returns, in `run`, `sweep` and `jobs`: all jobs of its axes, or a line on what to do."""

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
import yaml
from hydra import compose, initialize_config_dir
from hydra.core.hydra_config import HydraConfig
from omegaconf import DictConfig, OmegaConf
from tests.support.computed import call
from tests.support.settings import CONF

import pomrl
from pomrl.commands import run
from pomrl.configuration.composed import ConfigError

WORDS = ["T=2", "S=4", "runs=2"]
SMALL: dict[str, Any] = {"T": 2, "S": 4, "runs": 2}


pytestmark = pytest.mark.usefixtures("cwd")


def composed(*overrides: str, with_hydra: bool = True) -> Any:
    with initialize_config_dir(str(CONF), version_base="1.3"):
        return compose("config", [*overrides, *WORDS], return_hydra_config=with_hydra)


def test_composed_sweeps_equal_sweeps_by_name() -> None:
    config = composed("experiment=task_similarity", "sigma=0.02")
    table = pomrl.sweep(config)
    pd.testing.assert_frame_equal(table, pomrl.sweep("task_similarity", sigma=0.02, **SMALL))
    assert table.attrs["signatures"] == [job.signature for job in pomrl.jobs(config)]
    assert len({*table.attrs["signatures"]}) == 5


def test_run_refuses_axes_and_names_the_remedy(cwd: Path) -> None:
    line = r"^config must be one experiment, got 15 \(sigma, estimator\); use pomrl\.sweep\(config\)$"
    with pytest.raises(ConfigError, match=line):
        pomrl.run(composed("experiment=task_similarity"))
    assert not list(cwd.iterdir())


def test_axes_with_one_value_are_one_experiment() -> None:
    config = composed("experiment=task_similarity", "sigma=0.02", "estimator=pomrl")
    assert pomrl.run(config).attrs["signature"] == pomrl.jobs(config)[0].signature


@pytest.mark.parametrize("function", [pomrl.run, pomrl.sweep, pomrl.jobs])
def test_a_sweep_edited_after_compose_is_refused(function: Callable[[DictConfig], object]) -> None:
    config = composed("experiment=task_similarity")
    config.estimator.start_deviation = 0.25
    line = "estimator.start_deviation=0.25 was set after compose, which gave 0.5; add it to the overrides of compose"
    with pytest.raises(ConfigError, match=f"^{re.escape(line)}$"):
        function(config)


def test_one_experiment_may_be_edited_after_compose() -> None:
    config = composed()
    config.sigma = 0.02
    assert pomrl.run(config).attrs["signature"] == pomrl.jobs(sigma=0.02, **SMALL)[0].signature
    assert pomrl.sweep(config).attrs["settings"][0]["sigma"] == 0.02


@pytest.mark.parametrize("function", [pomrl.run, pomrl.sweep, pomrl.jobs])
def test_unknown_axes_are_one_warning(function: Callable[[Any], object], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(HydraConfig.instance(), "cfg", None)  # other tests in this process ran Hydra
    config = composed("estimator=pomrl", with_hydra=False)
    with pytest.warns(UserWarning, match="compose it with return_hydra_config=True$") as warnings:
        function(config)
    assert [warning.filename for warning in warnings] == [__file__]
    function(OmegaConf.to_container(config))  # which has no axes


def test_files_of_jobs_need_no_warning(cwd: Path) -> None:
    assert call(run, "-m", "sigma=0.01,0.02", *WORDS)[0] == 0
    (path,) = cwd.rglob("1/.hydra/config.yaml")
    loaded: list[Any] = [OmegaConf.load(path), yaml.safe_load(path.read_text())]
    by_file = [pomrl.run(config) for config in loaded]
    assert {table.attrs["signature"] for table in by_file} == {pomrl.jobs(sigma=0.02, **SMALL)[0].signature}


def test_a_sweep_file_has_its_jobs(cwd: Path) -> None:
    assert call(run, "-m", "experiment=task_similarity,equal_tasks", "sigma=0.01,0.02", *WORDS)[0] == 0
    (path,) = cwd.rglob("multirun.yaml")
    config: Any = OmegaConf.load(path)
    jobs = pomrl.jobs(config)
    assert {job.signature for job in jobs} == {*pomrl.find().index}
    assert {(job.varied["experiment"], job.varied["sigma"]) for job in jobs} == {
        (name, sigma) for name in ("task_similarity", "equal_tasks") for sigma in (0.01, 0.02)
    }


@pytest.mark.parametrize("function", [pomrl.run, pomrl.sweep, pomrl.jobs])
def test_keywords_besides_a_configuration_are_refused(function: Callable[..., object]) -> None:
    with pytest.raises(ConfigError, match=r"^sigma must not be a keyword argument if config is given"):
        function(composed(), sigma=0.01)


def test_other_types_of_sweeps_are_one_line() -> None:
    for function in (pomrl.jobs, pomrl.sweep):
        with pytest.raises(TypeError, match=r"^experiment must be the name of a sweep or a configuration, got int$"):
            function(3)  # pyright: ignore[reportArgumentType]
