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

from pomrl.judging.claim import claim
from pomrl.judging.comparisons import less
from pomrl.drawing.losses import Panel, PanelGrid, of_estimators

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


def page_of(folder: Path) -> _Text:
    made(report)
    page = _Text()
    page.feed((folder / "outputs" / "report" / "index.html").read_text())
    return page


def test_models_in_a_file_become_a_figure_claims_and_a_page(folder: Path) -> None:
    made(figures, "--config-dir", "conf", "medicine.trials")
    drawn = pd.read_csv(folder / "outputs" / "figures" / "trials.csv")
    assert set(drawn["series"]) == {"Without meta-learning", "ada-POMRL"}
    assert (drawn["n"] == 20).all()

    assert "M1: a trial gains" in made(claims, "--config-dir", "conf", "medicine.trials")
    table = pd.read_csv(folder / "outputs" / "own_claims" / "medicine.trials.csv")
    assert table[["claim", "runs"]].to_numpy().tolist() == [["M1", 20], ["M2", 20]]
    assert table["verdict"].tolist()[1] == "reported"

    page = page_of(folder)
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


HEAD = """from medicine.trials import other_trials_help
from pomrl.judging.claim import claim
from pomrl.judging.comparisons import less
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


@claim("G", "trials")
def fails_on_many_runs(sweep):
    """a claim fails on what is stored alone."""
    loss = sweep.at(estimator="ada_pomrl").regret
    return [less(loss, loss / 2, "")] if len(loss) == 2 else int("many")


@claim("NA", "trials")
def is_well(sweep):
    """nan."""
    return [less(*(sweep.at(estimator=name).regret for name in ("ada_pomrl", "without_meta")), "None")]
'''
)


def test_a_claim_that_fails_is_one_line_and_the_others_are_judged(folder: Path) -> None:
    (folder / "medicine" / "mistakes.py").write_text(MISTAKES)
    status, out, err = call(claims, "--config-dir", "conf", "medicine.mistakes")
    assert status == 1
    assert "NA: nan" in out
    table = pd.read_csv(folder / "outputs" / "own_claims" / "medicine.mistakes.csv", keep_default_na=False)
    assert table["claim"].tolist() == ["NA"]  # the imported claim M1 is not of this module
    wanted = {
        "A (medicine/mistakes.py:8)": "ZeroDivisionError: division by zero",
        "B (medicine/mistakes.py:11)": "TypeError: a claim returns a list of parts, ",
        "C (medicine/mistakes.py:16)": "TypeError: a claim returns a list of parts, ",
        "D (medicine/mistakes.py:23)": "TypeError: a claim returns a list of parts, ",
        "E (medicine/mistakes.py:29)": "TypeError: takes_two() missing 1 required positional argument: 'two'",
        "F (medicine/mistakes.py:37)": "LookupError: the sweep has no setting estimator='oracle'; in it estimator is "
        "'without_meta', 'ada_pomrl'",
        "G (medicine/mistakes.py:44)": "ValueError: invalid literal for int() with base 10: 'many'",
    }
    for line, (place, said) in zip(err.splitlines(), wanted.items(), strict=True):
        assert line.startswith(f"medicine.mistakes: claim {place}: {said}")
    assert "NA nan" in " ".join(page_of(folder).words)  # as text, though pandas takes both for missing numbers


REFUSED = {
    "twice": (
        '@claim("A", "trials")\ndef f(sweep):\n    """One."""\n\n@claim("A", "trials")\ndef g(sweep):\n    """Two."""',
        "medicine.twice: f and g have the same id 'A'",
    ),
    "silent": ('@claim("A", "trials")\ndef f(sweep): ...', "medicine.silent: f has no docstring"),
    "bare": (
        "from inspect import unwrap\n@unwrap(claim)\ndef f(sweep): ...",
        'medicine/bare.py:5 with TypeError("f: @claim needs parentheses',
    ),
    "no_sweep": ('@claim("A")\ndef f(sweep):\n    """One."""', "medicine.no_sweep: f names no sweep"),
    "misspelt": (
        '@claim("A", "trails")\ndef f(sweep):\n    """One."""',
        "medicine.misspelt: claim A: there is no sweep 'trails' in ",
    ),
    "syntax": ("def f(:", "medicine/syntax.py:4: invalid syntax"),
    "imports": ("import nowhere.at_all", "medicine.imports: importing it ended at medicine/imports.py:4 with Mod"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_a_module_with_a_mistake_is_refused_in_one_line(name: str, folder: Path) -> None:
    text, said = REFUSED[name]
    (folder / "medicine" / f"{name}.py").write_text(HEAD + text)
    status, _, err = call(claims, "--config-dir", "conf", f"medicine.{name}")
    assert (status, err.count("\n")) == (1, 1), err
    assert said in err


FIGURES = {
    "fails": ('SWEEPS = ("trials",)\ndef draw(sweeps):\n    return 1 / 0', "medicine/fails.py:3: ZeroDivisionError: "),
    "empty": ('SWEEPS = ("trials",)\ndef draw(sweeps): ...', "draw has to return a Drawing, and returns NoneType"),
    "letters": ('SWEEPS = "trials"\ndef draw(sweeps): ...', "SWEEPS has to be a tuple of names, such as ('trials',)"),
    "wrong": ('SWEEPS = ("trails",)\ndef draw(sweeps): ...', "medicine.wrong is not drawn: there is no sweep 'trails'"),
}


@pytest.mark.parametrize("name", FIGURES)
def test_a_figure_with_a_mistake_is_named_in_one_line(name: str, folder: Path) -> None:
    text, said = FIGURES[name]
    (folder / "medicine" / f"{name}.py").write_text(text)
    status, _, err = call(figures, "--config-dir", "conf", f"medicine.{name}")
    assert status == 1
    assert said in err.splitlines()[0]
    assert err.splitlines()[1:] in ([], ["1 of 1 figures are not drawn"])
