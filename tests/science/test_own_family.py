"""Models of a stranger's go from a file to runs, a figure, claims and a page, in a study of their own."""

import re
from collections.abc import Iterator
from html import unescape
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from tests.support.computed import call
from tests.support.study_folders import forget

from pomrl.commands import claims, figures, report, run

DESCRIPTION = """title: Trials of a medicine
analyses: [20]
variants:
  default: {}
"""

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

CLAIMS = '''"""What is claimed of trials of a medicine, of which each is a task."""

from pomrl.study import claim, less


@claim("M1", "trials", figures=("trials",))
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

FIGURE = '''"""The loss in trials of a medicine, of which each is a task."""

from pomrl.study import Panel, PanelGrid, of_estimators

FIGURE = PanelGrid([[Panel("", of_estimators("trials", {}, ["without_meta", "ada_pomrl"]), "task", "ci")]], 2)
'''

FILES = {
    "study.yaml": DESCRIPTION,
    "sweeps/trials.yaml": SWEEP,
    "claims/of_trials.py": CLAIMS,
    "figures/trials.py": FIGURE,
}


def trials() -> dict[str, np.ndarray]:
    """Patients are well, ill or dead; action 1 gives a medicine that costs 0.3 and heals more often in some trials."""
    heals = np.array([0.3, 0.5, 0.7])
    P = np.zeros((3, 3, 2, 3))
    P[:, 0, :, :2] = [0.8, 0.2]
    P[:, 1, 0] = [0.2, 0.6, 0.2]
    P[:, 1, 1, 0], P[:, 1, 1, 1:] = heals, (1 - heals)[:, None] * [0.7, 0.3]
    P[:, 2, :, 2] = 1
    return {"P": P, "R": np.array([[1.0, 0.7], [0.2, -0.1], [0.0, 0.0]])}


def study(folder: Path, name: str, **changed: str) -> str:
    """Write the study under a name, with other modules claims.py or figures.py if they are given; return the name."""
    others = {f"{module}.py": text for module, text in changed.items()}
    kept = {path: text for path, text in FILES.items() if path.partition("/")[0] not in changed}
    for path, text in {**kept, **others}.items():
        (folder / name / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / name / path).write_text(text)
    return name


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """The current folder, with the study `medicine`, whose runs are stored."""
    folder = tmp_path_factory.mktemp("stranger")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        patch.syspath_prepend(folder)
        patch.setenv("POMRL_OUTPUTS", str(folder / "outputs"))
        np.savez("trials.npz", allow_pickle=False, **trials())
        study(folder, "medicine")
        status, _, err = call(run, "experiment=medicine/trials", "execution.workers=1")
        assert status == 0, err
        yield folder
    forget("medicine", "mistakes", *REFUSED, *FIGURES)


def made(command: object, *arguments: str) -> str:
    status, out, err = call(command, *arguments)  # pyright: ignore[reportArgumentType]
    assert status == 0, err
    return out


def table_of(folder: Path, name: str) -> pd.DataFrame:
    return pd.read_csv(folder / "outputs" / "studies" / name / "claims.csv", keep_default_na=False)


def page_of(folder: Path, name: str) -> str:
    """Return the words of the report."""
    made(report, name)
    page = (folder / "outputs" / "studies" / name / "report" / "index.html").read_text()
    return " ".join(unescape(re.sub(r"<[^>]*>", " ", page)).split())


def test_models_in_a_file_become_a_figure_claims_and_a_page(folder: Path) -> None:
    made(figures, "medicine")
    outputs = folder / "outputs" / "studies" / "medicine"
    drawn = pd.read_csv(outputs / "figures" / "trials.csv")
    assert set(drawn["series"]) == {"Without meta-learning", "ada-POMRL"}
    assert (drawn["n"] == 20).all()

    assert "a trial gains" in " ".join(made(claims, "medicine").split())
    table = table_of(folder, "medicine")
    assert table[["claim", "runs"]].to_numpy().tolist() == [["M1", 20], ["M2", 20]]
    assert table["verdict"].tolist()[1] == "reported"

    text = page_of(folder, "medicine")
    assert "a trial gains from those before it" in text
    assert "The loss in trials of a medicine, of which each is a task" in text


HEAD = """from pomrl.study import claim, figure, less


"""

CLAIM = '@claim("A", "trials")\ndef f(sweep):\n    """One."""\n    '
REFUSED = {
    "raises": (CLAIM + "return 1 / 0", "raises: claim A (raises/claims.py:7): ZeroDivisionError: division by zero"),
    "part": (CLAIM + "return sweep", "TypeError: a claim returns a list of parts, "),
    "setting": (CLAIM + "return [less(sweep.at(estimator='oracle').regret, 0, '')]", "LookupError: the sweep has no"),
    "bare": ("from inspect import unwrap\n\n\n@unwrap(claim)\ndef f(sweep): ...\n", "@claim needs parentheses"),
    "twice": (
        '@claim("A", "trials")\ndef f(sweep):\n    """One."""\n\n@claim("A", "trials")\ndef g(sweep):\n    """Two."""',
        "twice: claims f and g have the same id 'A'",
    ),
    "misspelt": ('@claim("A", "trails")\ndef f(sweep):\n    """One."""', "there is no sweep 'trails' in "),
    "without": ("", "without: it has no claims"),
}
FIGURES = {
    "fails": ('@figure("trials")\ndef f(sweeps):\n    """One."""\n    return 1 / 0', "ZeroDivisionError: "),
    "empty": ('@figure("trials")\ndef f(sweeps):\n    """One."""', "and this one NoneType"),
    "wrong": ('@figure("trails")\ndef f(sweeps):\n    """One."""', "wrong: figure f: there is no sweep 'trails'"),
}


@pytest.mark.parametrize("name", [*REFUSED, *FIGURES])
def test_a_module_with_a_mistake_is_refused_in_one_line(name: str, folder: Path) -> None:
    text, said = REFUSED.get(name) or FIGURES[name]
    if name in REFUSED:
        status, _, err = call(claims, study(folder, name, claims=HEAD + text))
    else:
        status, _, err = call(figures, study(folder, name, figures=HEAD + text))
    assert status == 1
    assert said in err.splitlines()[0]
    assert len(err.splitlines()) <= 2
