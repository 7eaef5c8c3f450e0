"""Models of a stranger's go from a file to runs, a figure, claims and the report, in a folder of their own."""

from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from tests.computed import call

from pomrl.commands import claims, figures, report, run, runs

SWEEP = """# @package _global_
defaults:
  - override /task_distribution: table
runs: 20
T: 3
task_distribution:
  file: trials.npz
hydra:
  mode: MULTIRUN
  sweeper:
    params:
      estimator: without_meta,ada_pomrl
"""

MODULE = '''"""The loss in trials of a medicine, of which each is a task."""

from pomrl.claims.claim import claim
from pomrl.claims.comparisons import less
from pomrl.figures.parts.losses import Panel, PanelGrid, of_estimators

SWEEPS = ("trials",)
FIGURE = PanelGrid([[Panel("", of_estimators("trials", {}, ["without_meta", "ada_pomrl"]), "task", "ci")]], 2)
SERIES = FIGURE.series
draw = FIGURE.draw


@claim("M1", "trials")
def other_trials_help(sweep):
    """a trial gains from those before it.

    Trials: the loss on average over trials.
    """
    ada, without = (sweep.at(estimator=name).regret for name in ("ada_pomrl", "without_meta"))
    return [less(ada, without, "ada-POMRL less no meta-learning")]


@claim("M2", "trials", is_judged=False)
def what_the_last_trial_loses(sweep):
    """how much less the last trial loses than the first.

    Trials: ada-POMRL at gamma_eval.
    """
    losses = sweep.at(estimator="ada_pomrl")
    return [less(losses.task(3), losses.task(1), "last trial less first")]
'''


def trials() -> dict[str, np.ndarray]:
    """Patients are well, ill or dead; action 1 gives a medicine that costs 0.3 and heals more often in some trials."""
    heals = np.array([0.3, 0.5, 0.7])
    P = np.zeros((3, 3, 2, 3))
    P[:, 0, :, :2] = [0.8, 0.2]
    P[:, 1, 0] = [0.2, 0.6, 0.2]
    P[:, 1, 1, 0], P[:, 1, 1, 1:] = heals, (1 - heals)[:, None] * [0.7, 0.3]
    P[:, 2, :, 2] = 1
    return {"P": P, "R": np.array([[1.0, 0.7], [0.2, -0.1], [0.0, 0.0]])}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    folder = tmp_path_factory.mktemp("stranger")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        patch.syspath_prepend(folder)
        patch.setenv("POMRL_OUTPUTS", str(folder / "outputs"))
        np.savez("trials.npz", allow_pickle=False, **trials())
        for path, text in {"conf/experiment/trials.yaml": SWEEP, "medicine/trials.py": MODULE}.items():
            Path(path).parent.mkdir(parents=True)
            Path(path).write_text(text)
        assert call(run, "--config-dir", "conf", "experiment=trials", "execution.workers=1")[0] == 0
        yield folder


def made(command: object, *arguments: str) -> str:
    status, out, err = call(command, *arguments)  # pyright: ignore[reportArgumentType]
    assert status == 0, err
    return out


class _Text(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.words: list[str] = []
        self.ids: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.ids += [value for key, value in attrs if key == "id" and value]

    def handle_data(self, data: str) -> None:
        self.words += data.split()


def test_models_in_a_file_become_a_figure_claims_and_a_page(folder: Path) -> None:
    made(figures, "--config-dir", "conf", "medicine.trials")
    drawn = pd.read_csv(folder / "outputs" / "figures" / "trials.csv")
    assert set(drawn["series"]) == {"Without meta-learning", "ada-POMRL"}
    assert (drawn["n"] == 20).all()

    assert "M1: a trial gains" in made(claims, "--config-dir", "conf", "medicine.trials")
    table = pd.read_csv(folder / "outputs" / "own_claims" / "medicine.trials.csv")
    assert table[["claim", "runs"]].to_numpy().tolist() == [["M1", 20], ["M2", 20]]
    assert table["verdict"].tolist()[1] == "reported"

    made(report)
    page = _Text()
    page.feed((folder / "outputs" / "report" / "index.html").read_text())
    text = " ".join(page.words)
    assert "M1 a trial gains from those before it" in text
    assert "The loss in trials of a medicine, of which each is a task." in text
    assert "python -m src.figures --config-dir DIR medicine.trials" in text
    assert len(page.ids) == len(set(page.ids))

    made(runs, "--verify")
    with (folder / "outputs" / "own_claims" / "medicine.trials.csv").open("a") as damaged:
        damaged.write("\n")
    for status, *said in (call(runs, "--verify"), call(report)):
        assert status == 1
        assert "python -m src.claims medicine.trials renews it" in "".join(said)


def test_a_claim_is_judged_on_the_runs_that_its_sweep_asks_for(folder: Path) -> None:
    status, _, err = call(claims, "--config-dir", "conf", "medicine.trials", "--decide")
    assert (status, err.count("\n")) == (2, 1)
    sweep = folder / "conf" / "experiment" / "trials.yaml"
    sweep.write_text(SWEEP.replace("runs: 20", "runs: 40"))
    shown = made(claims, "--config-dir", "conf", "medicine.trials")
    sweep.write_text(SWEEP)
    assert "too few runs are stored for M1" in " ".join(shown.split())
    assert "python -m src.run --config-dir conf experiment=trials" in " ".join(shown.split())


@pytest.mark.parametrize(
    ("module", "said"),
    [
        ("medicine.nothing", "medicine.nothing: there is no such module"),
        ("pomrl.figures.beyond.families", "pomrl.figures.beyond.families: it has no claims"),
        ("medicine.", "medicine.: it is no dotted name of a module"),
    ],
)
def test_a_module_without_claims_is_one_line(module: str, said: str, folder: Path) -> None:
    status, _, err = call(claims, module)
    assert status == 1
    assert said in err
    assert err.count("\n") == 1
