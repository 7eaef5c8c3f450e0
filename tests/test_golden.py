"""What every published sweep and every option resolves to, and what the paper's setting results in, against kept files.

A change of a default shows here as the settings that it changes everywhere. To renew the files after a change that is
meant: python -m pytest tests/test_golden.py --force-regen, and review what git diff shows.
"""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hydra import compose, initialize_config_dir
from omegaconf import OmegaConf
from pytest_regressions.data_regression import DataRegressionFixture
from tests.settings import CONF, OPTIONS

from pomrl.configuration import studies
from pomrl.configuration.composition import register_resolvers
from pomrl.configuration.sources import PUBLISHED
from pomrl.science.experiment import tables

GOLDEN = Path(__file__).parent / "golden"
SWEEPS = [f"experiment={name}" for name in studies.names(PUBLISHED)]
READINGS = ["reading=notebook"]
BATCHES = [f"batches={path.stem}" for path in sorted((CONF / "batches").glob("*.yaml"))]


@pytest.mark.parametrize("option", [*OPTIONS, *BATCHES, *READINGS, *SWEEPS])
def test_configurations_resolve_to_what_they_did(option: str, data_regression: DataRegressionFixture) -> None:
    register_resolvers()
    with initialize_config_dir(str(CONF), version_base="1.3"):
        composed = compose("config", [option], return_hydra_config=True)
    axes = OmegaConf.to_container(composed.hydra.sweeper.params)
    own = OmegaConf.masked_copy(composed, [str(key) for key in composed if key != "hydra"])
    resolved = {"configuration": OmegaConf.to_container(own, resolve=True), "axes": axes}
    data_regression.check(resolved, fullpath=GOLDEN / "configurations" / f"{option.replace('=', '-')}.yml")


def test_results_are_what_they_were(request: pytest.FixtureRequest, capsys: pytest.CaptureFixture[str]) -> None:
    """Mean loss at gamma_eval over 20 runs. Exact; where a processor rounds differently, to 1e-9."""
    path = GOLDEN / "results.csv"
    found = results()
    if request.config.getoption("force_regen"):
        found.to_csv(path, index=False)
    kept = pd.read_csv(path)
    pd.testing.assert_frame_equal(found.drop(columns="loss"), kept.drop(columns="loss"))
    np.testing.assert_allclose(found["loss"], kept["loss"], rtol=0, atol=1e-9)
    if not found["loss"].equals(kept["loss"]):
        with capsys.disabled():
            print("\nnote: golden results agree to 1e-9 but not exactly: this processor rounds differently")


def results() -> pd.DataFrame:
    settings = studies.sweep(PUBLISHED, "task_similarity")
    rows = []
    for sigma in dict.fromkeys(setting.varied["sigma"] for setting in settings):
        same = [setting for setting in settings if setting.varied["sigma"] == sigma]
        problem = same[0].experiment.problem
        for setting, table in zip(
            same, tables(problem, [one.experiment.method for one in same], range(20)), strict=True
        ):
            loss = table.loc[table["gamma"] == problem.gamma_eval].groupby("task")["planning_loss"].mean()
            rows.append(pd.DataFrame({**setting.varied, "task": loss.index.astype("int64"), "loss": loss.to_numpy()}))
    return pd.concat(rows, ignore_index=True)
