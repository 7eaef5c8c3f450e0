"""Models of a stranger's go from a file to runs, a figure, claims and a page, in a study of their own."""

from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from tests.support.computed import call
from tests.support.study_folders import forget

from pomrl.commands import claims, figures, report, run, runs

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


class _Text(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.words: list[str] = []
        self.ids: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.ids += [value for key, value in attrs if key == "id" and value]

    def handle_data(self, data: str) -> None:
        self.words += data.split()


def page_of(folder: Path, name: str) -> _Text:
    made(report, name)
    page = _Text()
    page.feed((folder / "outputs" / "studies" / name / "report" / "index.html").read_text())
    return page


def test_models_in_a_file_become_a_figure_claims_and_a_page(folder: Path) -> None:
    made(figures, "medicine")
    outputs = folder / "outputs" / "studies" / "medicine"
    drawn = pd.read_csv(outputs / "figures" / "trials.csv")
    assert set(drawn["series"]) == {"Without meta-learning", "ada-POMRL"}
    assert (drawn["n"] == 20).all()

    assert "M1: a trial gains" in made(claims, "medicine")
    table = table_of(folder, "medicine")
    assert table[["claim", "runs"]].to_numpy().tolist() == [["M1", 20], ["M2", 20]]
    assert table["verdict"].tolist()[1] == "reported"

    page = page_of(folder, "medicine")
    text = " ".join(page.words)
    assert "a trial gains from those before it" in text
    assert "The loss in trials of a medicine, of which each is a task" in text
    assert "pomrl figures medicine" in text
    assert len(page.ids) == len(set(page.ids))

    made(runs, "--verify")
    with (outputs / "claims.csv").open("a") as damaged:
        damaged.write("\n")
    for status, *said in (call(runs, "--verify"), call(report, "medicine")):
        assert status == 1
        assert "claims.json; pomrl claims medicine renews it" in "".join(said)
    made(claims, "medicine")
    made(runs, "--verify")


def test_a_claim_of_more_runs_than_are_stored_says_what_computes_them(folder: Path) -> None:
    sweep = folder / "medicine" / "sweeps" / "trials.yaml"
    sweep.write_text(SWEEP.replace("runs: 20", "runs: 40"))
    shown = made(claims, "medicine")
    sweep.write_text(SWEEP)
    assert "with fewer runs than their sweeps promise" in " ".join(shown.split())
    assert "pomrl reproduce medicine" in shown


def test_a_study_without_claims_is_one_line(folder: Path) -> None:
    status, _, err = call(claims, study(folder, "mistakes", claims='"""None yet."""\n'))
    forget("mistakes")
    assert status == 1
    assert err == "mistakes: it has no claims, which are functions with @claim in claims.py or claims/\n"


HEAD = """from medicine.claims.of_trials import other_trials_help
from pomrl.study import claim, less
"""

MISTAKES = (
    HEAD
    + '''

@claim("A", "trials")
def raises(sweep):
    """a claim divides by zero."""
    return 1 / 0


@claim("B", "trials")
def returns_nothing(sweep):
    """a claim returns nothing."""


@claim("C", "trials")
def returns_a_part(sweep):
    """a claim returns a part."""
    loss = sweep.at(estimator="ada_pomrl").regret
    return less(loss, loss, "")


@claim("D", "trials")
def has_no_parts(sweep):
    """a claim returns no parts."""
    return []


@claim("E", "trials")
def takes_two(one, two):
    """a claim takes two sweeps."""


@claim("F", "trials")
def reads_another_setting(sweep):
    """a claim reads a setting that is not there."""
    return [less(sweep.at(estimator="oracle").regret, 0, "")]


@claim("NA", "trials")
def is_well(sweep):
    """nan."""
    return [less(*(sweep.at(estimator=name).regret for name in ("ada_pomrl", "without_meta")), "None")]
'''
)


def test_a_claim_that_fails_is_one_line_and_the_others_are_judged(folder: Path) -> None:
    status, out, err = call(claims, study(folder, "mistakes", claims=MISTAKES))
    assert status == 1
    assert "NA: nan" in out
    table = table_of(folder, "mistakes")
    assert table["claim"].tolist() == ["NA"]  # the imported claim M1 is not of this study
    wanted = {
        "A (mistakes/claims.py:8)": "ZeroDivisionError: division by zero",
        "B (mistakes/claims.py:11)": "TypeError: a claim returns a list of parts, ",
        "C (mistakes/claims.py:16)": "TypeError: a claim returns a list of parts, ",
        "D (mistakes/claims.py:23)": "TypeError: a claim returns a list of parts, ",
        "E (mistakes/claims.py:29)": "TypeError: takes_two() missing 1 required positional argument: 'two'",
        "F (mistakes/claims.py:37)": "LookupError: the sweep has no setting estimator='oracle'; in it estimator is "
        "'without_meta', 'ada_pomrl'",
    }
    for line, (place, said) in zip(err.splitlines(), wanted.items(), strict=True):
        assert line.startswith(f"mistakes: claim {place}: {said}")
    assert "NA: nan." in " ".join(page_of(folder, "mistakes").words)  # as text, though pandas takes both for numbers


FAILS_ON_RUNS = (
    HEAD
    + '''

@claim("G", "trials")
def fails_on_many_runs(sweep):
    """a claim fails on what is stored alone."""
    loss = sweep.at(estimator="ada_pomrl").regret
    return [less(loss, loss / 2, "")] if len(loss) == 2 else int("many")
'''
)


def test_a_claim_that_fails_on_what_is_stored_alone_is_one_line(folder: Path) -> None:
    status, _, err = call(claims, study(folder, "late", claims=FAILS_ON_RUNS))
    forget("late")
    assert (status, err.count("\n")) == (1, 1), err
    assert "claim G (late/claims.py:9): ValueError: invalid literal for int() with base 10: 'many'" in err


REFUSED = {
    "bare": (
        "from inspect import unwrap\n\n\n@unwrap(claim)\ndef f(sweep): ...\n",
        'bare/claims.py:6 with TypeError("f: @claim needs parentheses',
    ),
    "twice": (
        '@claim("A", "trials")\ndef f(sweep):\n    """One."""\n\n@claim("A", "trials")\ndef g(sweep):\n    """Two."""',
        "twice: claims f and g have the same id 'A'",
    ),
    "misspelt": (
        '@claim("A", "trails")\ndef f(sweep):\n    """One."""',
        "misspelt: claim A: there is no sweep 'trails' in ",
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_a_module_with_a_mistake_is_refused_in_one_line(name: str, folder: Path) -> None:
    text, said = REFUSED[name]
    status, _, err = call(claims, study(folder, name, claims=HEAD + text))
    assert (status, err.count("\n")) == (1, 1), err
    assert said in err


IMPORTS = "from pomrl.study import figure\n\n\n"
FIGURES = {
    "fails": (
        '@figure("trials")\ndef f(sweeps):\n    """One."""\n    return 1 / 0',
        "f is not drawn: fails/figures.py:7: ZeroDivisionError: ",
    ),
    "empty": (
        '@figure("trials")\ndef f(sweeps):\n    """One."""',
        "a figure returns a Drawing or panels, and this one NoneType",
    ),
    "unnamed": (
        "from inspect import unwrap\n\n\n@unwrap(figure)\ndef f(sweeps): ...",
        "f: @figure needs parentheses, as in @figure('SWEEP')",
    ),
    "wrong": ('@figure("trails")\ndef f(sweeps):\n    """One."""', "wrong: figure f: there is no sweep 'trails'"),
}


@pytest.mark.parametrize("name", FIGURES)
def test_a_figure_with_a_mistake_is_named_in_one_line(name: str, folder: Path) -> None:
    text, said = FIGURES[name]
    status, _, err = call(figures, study(folder, name, figures=IMPORTS + text))
    assert status == 1
    assert said in err.splitlines()[0]
    remedy = f"not drawn: 1 of 1 figure; pomrl reproduce {name} computes all of its sweeps"
    assert err.splitlines()[1:] in ([], [remedy])
