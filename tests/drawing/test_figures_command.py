import hashlib
from pathlib import Path

import pandas as pd
import pytest
from docs_build import documents
from tests.support.computed import call
from tests.support.settings import ROOT
from tests.support.shipped import FIGURES

from pomrl import store
from pomrl.commands import figures as figures_command
from pomrl.configuration.study import find
from pomrl.drawing.figures_of_study import Selection, made_of
from pomrl.store import StoredExperiment
from pomrl.store.derived import DerivedFiles

pytestmark = pytest.mark.slow

README = {
    "dependence_on_tasksimilarity_intervals": "pomrl",
    "gamma_schedules_intervals": "pomrl",
    "advice": "horizons",
}
"""The figures whose small pictures documents show, and their studies."""

DOCUMENTS = ("README.md", "src/pomrl/studies/pomrl/pages/results.md", "docs/horizons.md")


def test_the_command_with_nothing_stored_says_what_to_run(empty_outputs: Path) -> None:
    status, out, said = call(figures_command, "pomrl", "planning_omrl", "varyingSmT")
    assert (status, out) == (1, "")
    for sweep in ("task_similarity", "states_20", "states_30"):
        assert f"pomrl run experiment={sweep}" in said
    assert "not drawn: 4 of 4 figures; pomrl reproduce pomrl computes all of its sweeps" in said
    assert not list(empty_outputs.iterdir())


@pytest.mark.parametrize("study", ["pomrl", "beyond"])
def test_without_names_one_line_says_that_nothing_is_stored(study: str, empty_outputs: Path) -> None:
    remedy = f"{study}: nothing is stored that its figures show; pomrl reproduce {study} computes it"
    assert call(figures_command, study) == (1, "", f"{remedy}\n")
    assert not list(empty_outputs.iterdir())


def test_sweeps_of_another_study_are_named_with_it(empty_outputs: Path) -> None:
    status, _, said = call(figures_command, "beyond", "streams")
    assert status == 1
    assert "pomrl run experiment=beyond/streams" in said
    assert "pomrl reproduce beyond computes all of its sweeps" in said
    assert not list(empty_outputs.iterdir())


def test_the_command_refuses_a_name_that_does_not_exist() -> None:
    status, _, said = call(figures_command, "pomrl", "no_such_figure")
    assert (status, said.count("\n")) == (1, 1)
    assert "no_such_figure: pomrl has no such figure; there are overview" in said


def test_small_pictures_are_written_apart(empty_outputs: Path) -> None:
    status, out, _ = call(documents, "pomrl", "--pictures", "upper_bound")
    picture = empty_outputs / "readme" / "upper_bound.png"
    assert (status, out.splitlines()) == (0, [str(picture)])
    assert {path for path in empty_outputs.rglob("*") if path.is_file()} == {picture, picture.with_suffix(".json")}
    assert "no_such_figure: pomrl has no such figure" in call(documents, "pomrl", "--pictures", "no_such_figure")[2]


def test_pictures_of_documents_are_there_and_each_picture_is_that_of_a_figure() -> None:
    there = {path.stem for path in (ROOT / "outputs/readme").glob("*.png")}
    assert set(README) <= there <= {version for figure in FIGURES.values() for version in figure.versions}
    assert sum(path.stat().st_size for path in (ROOT / "outputs/readme").iterdir()) < 2_500_000
    text = "".join((ROOT / page).read_text() for page in DOCUMENTS)
    assert all(f"outputs/readme/{name}.png" in text for name in README)


@pytest.mark.parametrize("name", README)
def test_no_picture_of_a_document_is_stale(name: str) -> None:
    record = DerivedFiles(ROOT / "outputs/readme" / f"{name}.json")
    assert record.fault() is None
    said = record.said()
    study = find(README[name])
    sweeps = {study.option(sweep) for figure in FIGURES.values() if name in figure.versions for sweep in figure.sweeps}
    first = f"pomrl run -m experiment={','.join(sorted(sweeps))} runs={said['runs']}"
    remedy = f"{name} is stale; to renew it: {first} && {said['command']}"
    assert {key: said[key] for key in ("code", "settings")} == made_of(study, name), remedy
    drawn = ROOT / "outputs/studies" / study.name / "figures" / f"{name}.csv"
    if drawn.exists() and pd.read_csv(drawn)["n"].max() == said["runs"]:
        assert hashlib.sha256(drawn.read_bytes()).hexdigest() == said["values"], remedy
    for page in DOCUMENTS:
        caption = (ROOT / page).read_text().partition(f"outputs/readme/{name}.png")[2].partition("\n\n![")[0]
        assert not caption or f"{said['runs']:,}\nruns" in caption or f"{said['runs']:,} runs" in caption


def of_study(name: str) -> list[str]:
    """Return the versions of all figures of a study."""
    of = [figure for figure in FIGURES.values() if figure.module.startswith(f"pomrl.studies.{name}.")]
    return [version for figure in of for version in figure.versions]


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (["pomrl", "planning_omrl"], ["planning_omrl", "planning_omrl_intervals"]),
        (["pomrl", "planning_omrl_intervals", "upper_bound"], ["planning_omrl_intervals", "upper_bound"]),
        (["beyond"], of_study("beyond")),
        (["pomrl"], of_study("pomrl")),
    ],
)
def test_both_versions_of_a_figure_are_drawn_unless_one_is_named(
    monkeypatch: pytest.MonkeyPatch, arguments: list[str], expected: list[str]
) -> None:
    asked: list[str] = []

    def drawn(selections: list[Selection]) -> tuple[int, dict[str, str]]:
        asked.extend(name for each in selections for name in each.names)
        return 0, {}

    monkeypatch.setattr(figures_command, "draw_all", drawn)
    monkeypatch.setattr(store, "all_experiments", lambda: [StoredExperiment(Path("any"))])
    assert call(figures_command, *arguments)[0] == 0
    assert asked == expected


def test_variants_are_drawn_into_folders_of_their_own(monkeypatch: pytest.MonkeyPatch, empty_outputs: Path) -> None:
    selections: list[Selection] = []
    monkeypatch.setattr(figures_command, "draw_all", lambda these: (selections.extend(these) or 0, {}))
    assert call(figures_command, "pomrl", "upper_bound", "--variants", "repaired,computed")[0] == 0
    figures = empty_outputs / "studies" / "pomrl" / "figures"
    assert [each.folder for each in selections] == [figures, figures / "computed"]
    assert [each.command for each in selections] == [
        "pomrl figures pomrl",
        "pomrl figures pomrl --variants computed",
    ]
