"""A study is a folder: one that knows nothing of the paper is computed, decided, drawn and reported as the paper is."""

import csv
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from docs_build import documents
from tests.support.computed import call
from tests.support.study_folders import forget, write

from pomrl.commands import reproduce, runs
from pomrl.configuration.study import find
from pomrl.drawing.figure import figures_of, title_of
from pomrl.judging.claim import claims_of

pytestmark = pytest.mark.slow

HORIZONS = {
    "study.yaml": """\
title: The dependence of effective planning horizon on model accuracy
cite: Jiang, Kulesza, Singh, Lewis (AAMAS 2015)
headline: [default]
error: 0.05
analyses: [50, 800]
budget: 40
variants:
  default: {}
  worst_state: {loss: max}
  own_rewards: {reward_model: own, reward_noise: 0.1}
""",
    "sweeps/dependence.yaml": """\
# @package _global_
defaults: [{override /data: trajectories}, {override /estimator: without_meta}]
seed: 3000
runs: 50
S: 4
T: 1
sigma: 0
loss: mean
gamma_schedule: {gammas: [0.0, 0.5, 0.9, 0.99]}
hydra: {mode: MULTIRUN, sweeper: {params: {m: "2,200"}}}
""",
    "claims.py": '''\
from pomrl.study import best_is_in, claim, less

N = (2, 200)


@claim("J1", "dependence", figures=("dependence",))
def shorter_horizon_wins(sweep):
    """With few trajectories, some gamma below 0.99 loses less than 0.99.

    Figure 2: random MDPs.
    """
    return [best_is_in(sweep.at(m=n), below=0.98, task=1, of=f"{n} trajectories") for n in N[:1]]


@claim("J2", "dependence")
def data_help(sweep):
    """With more trajectories, the loss is smaller.

    Figure 2: random MDPs.
    """
    return [less(sweep.at(m=N[-1]).regret, sweep.at(m=N[0]).regret, "many less few trajectories")]


@claim("J3", "dependence")
def data_hurt(sweep):
    """With more trajectories, the loss is larger.

    Nowhere: it is wrong.
    """
    return [less(sweep.at(m=N[0]).regret, sweep.at(m=N[-1]).regret, "few less many trajectories")]
''',
    "figures.py": '''\
from pomrl.study import Panel, PanelGrid, Series, figure, in_task, sequence

N = (2, 200)


@figure()
def dependence() -> PanelGrid:
    """Figure 2: The horizon that the data allow.

    The loss against the planning discount, for several numbers of trajectories.
    """
    looks = sequence(N, "{} trajectories".format)
    series = [Series(looks[n], "dependence", {"m": n}, in_task(1)) for n in N]
    return PanelGrid([[Panel("random MDPs", series, "gamma", "se")]], legend_columns=2)
''',
    "pages/errata.md": "# What we found\n\nIn this study nothing is unclear.\n",
    "pages/counts.md": "# Counts\n\n<!-- the counts -->\n<!-- end of the counts -->\n",
    "pages/counts.py": """\
import pandas as pd


def parts(page):
    held = [each.id for each in page.judgements.main if each.verdict == "holds"]
    page.write("held", pd.DataFrame({"claim": held}))
    return {"the counts": f"{len(held)} claims hold."}
""",
}


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Path, str, str]]:
    """The current folder, in which the study has been reproduced, and what the command has printed."""
    here = tmp_path_factory.mktemp("here")
    write(here / "my_horizons", HORIZONS)
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(here)
        patch.setenv("POMRL_OUTPUTS", "outputs")
        status, printed, said = call(reproduce, "my_horizons")
        assert status == 0, said
        yield here, printed, said
        forget("my_horizons")


def rows(here: Path) -> list[dict[str, str]]:
    with (here / "outputs" / "studies" / "my_horizons" / "claims.csv").open(newline="") as table:
        return list(csv.DictReader(table))


def page(here: Path) -> str:
    return (here / "outputs" / "studies" / "my_horizons" / "report" / "index.html").read_text()


def snapshot(here: Path) -> dict[str, tuple[int, int]]:
    """Return size and time of change of every stored block of runs."""
    found = (here / "outputs" / "runs").rglob("*.parquet")
    return {str(path): (path.stat().st_size, path.stat().st_mtime_ns) for path in found}


def test_every_stage_says_how_long_it_took(made: tuple[Path, str, str]) -> None:
    stages = [line.split() for line in made[2].splitlines()[-5:]]
    assert [(words[0], words[-1]) for words in stages] == [
        (stage, "s") for stage in ("sweeps", "claims", "figures", "pages", "report")
    ]
    assert made[1].splitlines()[-1] == "outputs/studies/my_horizons/report/index.html"


def test_claims_are_decided_under_every_variant(made: tuple[Path, str, str]) -> None:
    table = rows(made[0])
    assert {row["study"] for row in table} == {"my_horizons"}
    verdicts = {(row["variant"], row["claim"]): row["verdict"] for row in table}
    variants = ("default", "worst_state", "own_rewards")
    assert set(verdicts) == {(variant, claim) for variant in variants for claim in ("J1", "J2", "J3")}
    assert {verdicts[variant, "J2"] for variant in variants} == {"holds"}
    assert {verdicts[variant, "J3"] for variant in variants} == {"does not hold"}
    assert verdicts["default", "J1"] == "holds"
    assert {int(row["runs"]) for row in table} <= {50, 800}


def test_everything_is_in_the_outputs_of_the_study(made: tuple[Path, str, str]) -> None:
    folder = made[0] / "outputs" / "studies" / "my_horizons"
    found = {str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file()}
    pictures = {f"figures/dependence{of}.{kind}" for of in ("", "_intervals") for kind in ("pdf", "png", "csv", "json")}
    pages = {f"pages/{name}.{kind}" for name in ("claims", "counts") for kind in ("md", "json")}
    tables = {"claims.csv", "claims.json", "held.csv", "held.json"}
    assert found - {".lock"} == pictures | pages | tables | {"report/index.html", "report/index.json"}
    assert {path.name for path in (made[0] / "outputs" / "studies").iterdir()} == {"my_horizons"}
    assert not [path for path in made[0].iterdir() if path.name not in ("my_horizons", "outputs")]
    written = [
        path for path in (made[0] / "my_horizons").rglob("*") if path.is_file() and "__pycache__" not in path.parts
    ]
    assert {str(path.relative_to(made[0] / "my_horizons")) for path in written} == set(HORIZONS)


def test_the_files_of_the_figure_say_which_study_they_are_of(made: tuple[Path, str, str]) -> None:
    said: dict[str, Any] = json.loads((made[0] / "outputs/studies/my_horizons/figures/dependence.json").read_text())
    assert said["command"] == "pomrl figures my_horizons dependence"
    assert list(said["sweeps"]) == ["my_horizons/dependence"]
    assert [source["settings"] for source in said["sweeps"]["my_horizons/dependence"]] == [{"m": 2}, {"m": 200}]


def test_the_page_shows_this_study(made: tuple[Path, str, str]) -> None:
    shown = page(made[0])
    for text in (
        "The dependence of effective planning horizon on model accuracy",
        "Jiang, Kulesza, Singh, Lewis (AAMAS 2015)",
        "With few trajectories, some γ below 0.99 loses less than 0.99",
        "The horizon that the data allow",
        "In this study nothing is unclear.",
        "2 claims hold.",
        "worst_state",
        "own_rewards",
        "pomrl report my_horizons",
    ):
        assert text in shown or text.replace("_", " ") in shown, text
    assert {"J1", "J2", "J3"} <= set(re.findall(r"\bJ\d\b", shown))


def test_the_page_shows_nothing_of_another_study(made: tuple[Path, str, str]) -> None:
    shown = page(made[0])
    words = re.sub(r"data:[a-z/+;]+base64,[A-Za-z0-9+/=]+", "", shown)
    words = re.sub(r"<!-- .*? -->", "", words)
    for name in ("pomrl", "beyond"):
        other = find(name)
        assert other.described.title not in shown
        assert not other.described.cite or other.described.cite not in shown
        for figure in figures_of(other):
            assert figure.name not in words, figure.name
            assert len(title_of(figure.docstring)) < 12 or title_of(figure.docstring) not in words, figure.name
        for claim in claims_of(other):
            assert not re.search(rf"\b{re.escape(claim.id)}\b", re.sub(r"<(style|script|svg)[\s\S]*?</\1>", "", words))
            assert claim.statement not in words
    for word in ("POMRL", "Khetarpal", "the paper's", "notebook"):
        assert word not in words, word


def test_a_repeated_call_computes_nothing_and_finds_the_same(made: tuple[Path, str, str]) -> None:
    here, printed, _ = made
    before, table = snapshot(here), rows(here)
    status, again, said = call(reproduce, "my_horizons")
    assert status == 0, said
    assert snapshot(here) == before
    assert rows(here) == table
    assert "runs, " not in said
    assert again == printed


def test_what_was_made_is_verified_with_everything_else(made: tuple[Path, str, str]) -> None:
    assert call(runs, "--verify")[0] == 0
    table = made[0] / "outputs" / "studies" / "my_horizons" / "held.csv"
    content = table.read_text()
    table.write_text(content + "J9\n")
    status, printed, _ = call(runs, "--verify")
    assert (status, len(printed.splitlines())) == (1, 1)
    assert "held" in printed
    assert printed.endswith("pomrl reproduce my_horizons renews it\n")
    assert call(documents, "my_horizons")[0] == 0
    assert table.read_text() == content
