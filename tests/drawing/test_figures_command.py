"""The stage of figures: what it draws, into which folder, and what it says without runs; and small pictures."""

import hashlib
from pathlib import Path

import pandas as pd
import pytest
from docs.build import documents
from docs.build.pictures import texts_of
from tests.support.computed import call
from tests.support.computed import figures as figures_command
from tests.support.settings import ROOT
from tests.support.shipped import FIGURES

from pomrl import store
from pomrl.configuration.study import Study, find, shipped_studies
from pomrl.drawing.figure import figures_of, file_name, title_of
from pomrl.drawing.figures_of_study import Selection, file_stem
from pomrl.store import StoredExperiment

pytestmark = pytest.mark.slow

README = {
    "omrl_baselines_intervals": "pomrl",
    "dependence_on_tasksimilarity_intervals": "pomrl",
    "gamma_schedules_intervals": "pomrl",
    "advice": "horizons",
}
"""The figures whose small pictures documents show, and their studies."""


PICTURES = ROOT / "outputs/readme"

DOCUMENTS = ("README.md", "src/pomrl_studies/pomrl2023/pages/results.md", "docs/beyond.md")


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("pomrl planning_omrl varyingSmT", "pomrl run experiment=task_similarity"),
        ("beyond streams", "pomrl run experiment=beyond/streams"),
        ("beyond", "beyond: no stored runs for its figures; pomrl reproduce beyond computes them"),
        ("pomrl no_such_figure", "pomrl2023: unknown figure 'no_such_figure'; available: overview"),
        ("pomrl 7", "pomrl2023: unknown figure '7'; available: overview"),
    ],
)
def test_with_nothing_stored_it_says_what_to_run(words: str, said: str, empty_outputs: Path) -> None:
    status, out, err = call(figures_command, *words.split())
    assert (status, out) == (1, "")
    assert said in err
    assert not list(empty_outputs.iterdir())


def of_study(name: str) -> list[str]:
    """Return the versions of all figures of a study."""
    figures = [figure for figure in FIGURES.values() if figure.module.startswith(f"pomrl_studies.{name}.")]
    return [version for figure in figures for version in figure.versions]


def versions_of(*names: str) -> list[str]:
    return [version for name in names for version in FIGURES[name].versions]


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (["pomrl", "planning_omrl"], ["planning_omrl", "planning_omrl_intervals"]),
        (["pomrl", "planning_omrl_intervals", "upper_bound"], ["planning_omrl_intervals", "upper_bound"]),
        (["pomrl", "figure_4_planning_omrl", "upper_bound"], ["planning_omrl", "upper_bound"]),
        (["pomrl", "3"], versions_of("pomrl_vs_adapomrl", "authors_pomrl_vs_adapomrl")),
        (["pomrl", "F1", "planning_omrl"], versions_of("dirichlet_task_dist", "planning_omrl")),
        (["beyond"], of_study("beyond")),
    ],
)
def test_both_versions_of_a_figure_are_drawn_unless_one_is_named(
    monkeypatch: pytest.MonkeyPatch, arguments: list[str], expected: list[str]
) -> None:
    asked: list[Selection] = []
    monkeypatch.setattr("pomrl.commands.stages.draw_all", lambda selections, **_: (asked.extend(selections) or [], {}))
    monkeypatch.setattr(store, "all_experiments", lambda: [StoredExperiment(Path("any"))])
    assert call(figures_command, *arguments)[0] == 0
    assert [name for selection in asked for name in selection.names] == expected


@pytest.mark.parametrize("study", shipped_studies(), ids=lambda study: study.name)
def test_no_two_figures_of_a_study_have_one_title(study: Study) -> None:
    titles = [title_of(figure.docstring) for figure in figures_of(study)]
    assert len({*titles}) == len(titles)
    assert ("How much similarity matters, as the authors computed it" in titles) is (study.name == "pomrl2023")


def test_small_pictures_are_written_apart_with_what_renews_them(empty_outputs: Path) -> None:
    status, out, _ = call(documents, "pomrl2023", "--pictures", "upper_bound")
    picture = empty_outputs / "readme" / "upper_bound.png"
    assert (status, out.splitlines()) == (0, [str(picture)])
    assert texts_of(picture)["command"] == "python -m docs.build pomrl2023 --pictures upper_bound"
    message = call(documents, "pomrl2023", "--pictures", "no_such_figure")[2]
    assert "pomrl2023: unknown figure 'no_such_figure'" in message


def test_pictures_of_documents_are_there_and_each_picture_is_that_of_a_figure() -> None:
    pictures = {path.stem for path in PICTURES.glob("*.png")}
    file_names = {file_name(version, figure.docstring) for figure in FIGURES.values() for version in figure.versions}
    assert {*map(picture_of, README)} <= pictures <= file_names
    assert sum(path.stat().st_size for path in PICTURES.iterdir()) < 2_500_000
    text = "".join((ROOT / page).read_text() for page in DOCUMENTS)
    assert all(f"outputs/readme/{picture_of(name)}.png" in text for name in README)


def picture_of(name: str) -> str:
    """Return the name of the small picture of a figure that a document shows."""
    return file_stem(find(README[name]), name)


@pytest.mark.parametrize("name", README)
def test_no_picture_of_a_document_is_stale(name: str) -> None:
    texts, study = texts_of(PICTURES / f"{picture_of(name)}.png"), find(README[name])
    runs = int(texts["runs"])
    values = ROOT / "outputs/studies" / study.name / "figures" / f"{file_stem(study, name)}.csv"
    if values.exists() and pd.read_csv(values)["n"].max() == runs:
        assert hashlib.sha256(values.read_bytes()).hexdigest() == texts["values"], texts["command"]
    for page in DOCUMENTS:
        caption = (
            (ROOT / page).read_text().partition(f"outputs/readme/{picture_of(name)}.png")[2].partition("\n\n![")[0]
        )
        assert not caption or f"{runs:,}\nruns" in caption or f"{runs:,} runs" in caption
