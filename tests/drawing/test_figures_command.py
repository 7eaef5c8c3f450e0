"""The stage of figures: what it draws, into which folder, and what it says without runs; and small pictures."""

import hashlib
from pathlib import Path

import pandas as pd
import pytest
from docs.build import documents
from docs.build.pictures import picture_texts
from tests.support.computed import call
from tests.support.computed import figures as figures_command
from tests.support.settings import ROOT
from tests.support.shipped import FIGURES

from pomrl import store
from pomrl.configuration.studies import Study, find, shipped_studies
from pomrl.drawing.figure import figure_title, figures_of, file_name
from pomrl.drawing.figures_of_study import Selection, file_stem
from pomrl.judging.judgements import read_published
from pomrl.store import StoredExperiment
from verdicts.parts import Verdict

pytestmark = pytest.mark.slow

README = {
    "omrl_baselines_intervals": "pomrl2023",
    "dependence_on_tasksimilarity_intervals": "pomrl2023",
    "gamma_schedules_intervals": "pomrl2023",
    "advice": "horizons",
}
"""The figures whose small pictures documents show, and their studies."""

TITLES = {
    "pomrl_vs_adapomrl": ("pomrl2023", "Q1.1 Q1.7", ""),
    "authors_pomrl_vs_adapomrl": ("pomrl2023", "Q1.1 Q1.7", ""),
    "planning_omrl": ("pomrl2023", "Q1.1 Q2.3 Q2.4", ""),
    "authors_planning_omrl": ("pomrl2023", "Q1.1 Q2.3 Q2.4", ""),
    "dependence_on_tasksimilarity": ("pomrl2023", "Q1.4 Q3.1 Q3.6", ""),
    "authors_dependence_on_tasksimilarity": ("pomrl2023", "Q3.1", ""),
    "gamma_schedules": ("pomrl2023", "Q4.7", ""),
    "authors_gamma_schedules": ("pomrl2023", "Q4.1", ""),
    "dirichlet_task_dist": ("pomrl2023", "", "A.10"),
    "authors_dependence_on_tasksimilarity_ablation": ("pomrl2023", "A.2", ""),
    "omrl_baselines": ("pomrl2023", "Q2.6", ""),
    "authors_omrl_baselines": ("pomrl2023", "Q2.6", ""),
    "squared_error": ("pomrl2023", "", "T.9"),
    "upper_bound": ("pomrl2023", "", "T.13"),
    "average_regret": ("pomrl2023", "", "T.4"),
    "families": ("beyond", "M6", "M1"),
    "horizon_or_prior": ("beyond", "H1", ""),
    "meta_gradient": ("beyond", "G1", ""),
    "streams": ("beyond", "N1", ""),
    "tied_rows": ("beyond", "T1", ""),
    "unequal_data": ("beyond", "N2", ""),
    "unknown_rewards": ("beyond", "U1", ""),
    "excess_by_task": ("prior_cost", "C1 C2", ""),
}
"""Figures whose titles state findings: study, and claims that hold or do not hold."""

PICTURES = ROOT / "outputs/readme"

DOCUMENTS = ("README.md", "src/pomrl_studies/pomrl2023/pages/results.md", "docs/beyond.md")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ("pomrl2023 planning_omrl varyingSmT", "pomrl run experiment=task_similarity"),
        ("beyond streams", "pomrl run experiment=beyond/streams"),
        ("beyond", "beyond: no stored runs for its figures; pomrl reproduce beyond computes them"),
        ("pomrl2023 no_such_figure", "pomrl2023: unknown figure 'no_such_figure'; available: overview"),
        ("pomrl2023 7", "pomrl2023: unknown figure '7'; available: overview"),
    ],
)
def test_missing_results_name_their_command(arguments: str, message: str, empty_outputs: Path) -> None:
    status, out, err = call(figures_command, *arguments.split())
    assert (status, out) == (1, "")
    assert message in err
    assert not list(empty_outputs.iterdir())


def study_versions(name: str) -> list[str]:
    """Return the versions of all figures of a study."""
    figures = [figure for figure in FIGURES.values() if figure.module.startswith(f"pomrl_studies.{name}.")]
    return [version for figure in figures for version in figure.versions]


def figure_versions(*names: str) -> list[str]:
    return [version for name in names for version in FIGURES[name].versions]


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (["pomrl2023", "planning_omrl"], ["planning_omrl", "planning_omrl_intervals"]),
        (["pomrl2023", "planning_omrl_intervals", "upper_bound"], ["planning_omrl_intervals", "upper_bound"]),
        (["pomrl2023", "figure_4_planning_omrl", "upper_bound"], ["planning_omrl", "upper_bound"]),
        (["pomrl2023", "3"], figure_versions("pomrl_vs_adapomrl", "authors_pomrl_vs_adapomrl")),
        (["pomrl2023", "F1", "planning_omrl"], figure_versions("dirichlet_task_dist", "planning_omrl")),
        (["beyond"], study_versions("beyond")),
    ],
)
def test_both_versions_are_drawn_by_default(
    monkeypatch: pytest.MonkeyPatch, arguments: list[str], expected: list[str]
) -> None:
    selected: list[Selection] = []
    monkeypatch.setattr(
        "pomrl.commands.reproduce_stages.draw_all", lambda selections, **_: (selected.extend(selections) or [], {})
    )
    monkeypatch.setattr(store, "all_experiments", lambda: [StoredExperiment(Path("any"))])
    assert call(figures_command, *arguments)[0] == 0
    assert [name for selection in selected for name in selection.names] == expected


@pytest.mark.parametrize("study", shipped_studies(), ids=lambda study: study.name)
def test_figure_titles_of_a_study_are_unique(study: Study) -> None:
    titles = [figure_title(figure.docstring) for figure in figures_of(study)]
    assert len({*titles}) == len(titles)


@pytest.mark.parametrize("name", TITLES)
def test_titles_agree_with_published_verdicts(name: str) -> None:
    """A title is shown under every variant, so its claims have one verdict under all."""
    figure, (study, holding, failing) = FIGURES[name], TITLES[name]
    published = read_published(find(study))
    for verdict, claims in ((Verdict.HOLDS, holding), (Verdict.DOES_NOT_HOLD, failing)):
        for claim in claims.split():
            variants = [figure.variant] if figure.variant else published.variants
            judgements = [published.of(variant)[claim] for variant in variants if claim in published.of(variant)]
            assert {judgement.verdict for judgement in judgements} == {verdict}, claim


@pytest.mark.parametrize("claim", ["A.3", "A.4"])
def test_few_samples_and_many_tasks_gain_most(claim: str) -> None:
    """The titles of `arub_dependence_on_mT` and `varyingSmT` say so."""
    published = read_published(find("pomrl2023"))
    judgements = [published.of(variant)[claim] for variant in published.variants if claim in published.of(variant)]
    comparisons = [comparison for judgement in judgements for comparison in judgement.comparisons]
    verdicts = {comparison.verdict for comparison in comparisons if "gain at" in comparison.compared}
    assert verdicts == {Verdict.HOLDS}


def test_small_pictures_have_their_own_folder(empty_outputs: Path) -> None:
    status, out, _ = call(documents, "pomrl2023", "--pictures", "upper_bound")
    picture = empty_outputs / "readme" / "upper_bound.png"
    assert (status, out.splitlines()) == (0, [str(picture)])
    assert picture_texts(picture)["command"] == "python -m docs.build pomrl2023 --pictures upper_bound"
    message = call(documents, "pomrl2023", "--pictures", "no_such_figure")[2]
    assert "pomrl2023: unknown figure 'no_such_figure'" in message


def test_each_picture_belongs_to_a_figure() -> None:
    pictures = {path.stem for path in PICTURES.glob("*.png")}
    file_names = {file_name(version, figure.docstring) for figure in FIGURES.values() for version in figure.versions}
    assert {*map(picture_name, README)} <= pictures <= file_names
    assert sum(path.stat().st_size for path in PICTURES.iterdir()) < 2_500_000
    text = "".join((ROOT / page).read_text() for page in DOCUMENTS)
    assert all(f"outputs/readme/{picture_name(name)}.png" in text for name in README)


def picture_name(name: str) -> str:
    """Return the name of the small picture of a figure that a document shows."""
    return file_stem(find(README[name]), name)


@pytest.mark.parametrize("name", README)
def test_no_picture_of_a_document_is_stale(name: str) -> None:
    texts, study = picture_texts(PICTURES / f"{picture_name(name)}.png"), find(README[name])
    runs = int(texts["runs"])
    values = ROOT / "outputs/studies" / study.name / "figures" / f"{file_stem(study, name)}.csv"
    if values.exists() and pd.read_csv(values)["n"].max() == runs:
        assert hashlib.sha256(values.read_bytes()).hexdigest() == texts["values"], texts["command"]
    for page in DOCUMENTS:
        caption = (
            (ROOT / page).read_text().partition(f"outputs/readme/{picture_name(name)}.png")[2].partition("\n\n![")[0]
        )
        assert not caption or f"{runs:,}\nruns" in caption or f"{runs:,} runs" in caption
