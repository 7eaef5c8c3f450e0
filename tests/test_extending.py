"""docs/extending.md: its files are those of `examples/`, and its commands do what it says."""

import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy import stats
from tests.settings import ROOT

from pomrl import store

DOCUMENT = (ROOT / "docs" / "extending.md").read_text()
FILES = re.findall(r"^`([\w/]+\.\w+)`:\n\n```\w+\n(.*?)```$", DOCUMENT, flags=re.DOTALL | re.MULTILINE)
COMMANDS = [
    line for block in re.findall(r"```console\n(.*?)```", DOCUMENT, flags=re.DOTALL) for line in block.splitlines()
]


@pytest.fixture(scope="module")
def outputs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder of outputs that all commands of the document share."""
    return tmp_path_factory.mktemp("outputs")


def execute(command: str, outputs: Path, folder: Path = ROOT, **environment: str) -> subprocess.CompletedProcess[str]:
    words = [sys.executable, *shlex.split(command)[1:]]
    kept = {"PATH": "/usr/bin:/bin", "XDG_CACHE_HOME": os.environ["XDG_CACHE_HOME"]}
    of_process = {**kept, "POMRL_OUTPUTS": str(outputs), **environment}
    return subprocess.run(words, cwd=folder, env=of_process, capture_output=True, text=True, timeout=300)


@pytest.mark.parametrize(("path", "content"), FILES, ids=[path for path, _ in FILES])
def test_a_file_of_the_document_is_the_example(path: str, content: str) -> None:
    assert (ROOT / path).read_text() == content


def test_every_example_is_in_the_document() -> None:
    written = {path for path, _ in FILES}
    examples = [
        path.relative_to(ROOT) for suffix in ("py", "yaml") for path in (ROOT / "examples").rglob(f"*.{suffix}")
    ]
    components = {str(path) for path in examples if path.parts[1] != "notebook"}
    assert components - written == {"examples/test_examples.py"}


def test_the_commands_of_the_document_work_in_its_order(outputs: Path) -> None:
    assert len(COMMANDS) >= 13
    for command in COMMANDS:
        if "pytest" not in command:  # the whole suite runs these tests
            done = execute(command, outputs)
            # src.diff ends with 1 where things differ
            assert done.returncode == ("src.diff" in command), f"{command}\n{done.stderr}"
    extension = outputs / "extensions" / "pooled_variances"
    assert "pooled variances" in (extension / "figures" / "dependence_on_tasksimilarity.csv").read_text()
    assert (extension / "gains.csv").read_text().count("task_similarity") == 6
    assert "pooled_variances" in (outputs / "report" / "index.html").read_text()
    assert (outputs / "extensions" / "growing_horizon" / "figures" / "gamma_schedules.png").exists()
    assert (outputs / "figures" / "model_error.csv").exists()
    verdicts = pd.read_csv(outputs / "own_claims" / "examples.patience.csv").set_index("claim")["verdict"]
    assert verdicts.to_dict() == {"P1": "reproduced", "P2": "not reproduced"}


def test_gains_are_differences_in_pairs(outputs: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("POMRL_OUTPUTS", str(outputs))
    found = pd.read_csv(outputs / "extensions" / "pooled_variances" / "gains.csv")
    row = found.loc[(found["settings"] == "sigma=0.025") & (found["result"] == "loss at the largest gamma")].iloc[0]
    tables = [store.find(estimator=name, sigma=0.025)[0].table() for name in ("ada_pomrl", "pooled_variances")]
    ours, theirs = (table.loc[table["gamma"] == 0.99].groupby("run")["planning_loss"].mean() for table in tables)
    interval = stats.ttest_1samp(theirs - ours, 0.0).confidence_interval()
    assert row["runs"] == len(ours) == 100
    np.testing.assert_allclose(
        row[["loss", "difference", "lower", "upper"]].astype(float),
        [ours.mean(), (theirs - ours).mean(), interval.low, interval.high],
        rtol=1e-5,
    )


def test_a_component_may_be_anywhere_that_python_finds_it(tmp_path: Path) -> None:
    shutil.copy(ROOT / "examples" / "pooled_variances.py", tmp_path / "elsewhere.py")
    option = (ROOT / "examples" / "conf" / "estimator" / "pooled_variances.yaml").read_text()
    (tmp_path / "options" / "estimator").mkdir(parents=True)
    (tmp_path / "options" / "estimator" / "mine.yaml").write_text(
        option.replace("examples.pooled_variances", "elsewhere")
    )
    command = f"python -m src.run --config-dir {tmp_path}/options estimator=mine runs=60 T=2 execution.workers=2"
    done = execute(command, tmp_path / "outputs", PYTHONPATH=str(tmp_path))
    assert done.returncode == 0, done.stderr
    edited = (tmp_path / "elsewhere.py").read_text().replace("total > 0", "total > 1e-9")
    (tmp_path / "elsewhere.py").write_text(edited)
    again = execute(command, tmp_path / "outputs", PYTHONPATH=str(tmp_path))
    assert again.stdout.split() != done.stdout.split()


@pytest.mark.parametrize(
    ("command", "message"),
    [
        ("python -m src.claims --replace ada_pomrl", "it has to be OURS=YOURS"),
        ("python -m src.claims --replace ada_pomrl=nothing", "estimator has no option nothing; it has ada_pomrl, "),
        ("python -m src.claims --replace nothing=pomrl", "there is no option nothing in estimator, "),
        ("python -m src.figures --config-dir nowhere", "--config-dir nowhere: there is no such folder"),
        ("python -m src.figures examples.nothing", "examples.nothing: there is no such module"),
        ("python -m src.figures examples.corners", "examples.corners: it is no figure, because it has no SWEEPS, "),
    ],
)
def test_mistakes_are_one_line(command: str, message: str, outputs: Path) -> None:
    done = execute(command, outputs)
    assert done.returncode == 1
    assert message in done.stderr
    assert len(done.stderr.splitlines()) == 1


def test_a_sweep_that_the_replacement_does_not_go_with_is_named_and_left_out(outputs: Path) -> None:
    done = execute("python -m src.claims --config-dir examples/conf --replace upper_bound=growing_horizon", outputs)
    assert done.returncode == 0
    assert "not with growing_horizon: gamma_0: " in done.stderr


def test_stored_runs_of_components_are_found_by_the_name_of_their_option(outputs: Path, monkeypatch) -> None:
    monkeypatch.setenv("POMRL_OUTPUTS", str(outputs))
    assert len(store.find(estimator="pooled_variances", sigma=0.01)) >= 1
