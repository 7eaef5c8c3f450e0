"""A study is a folder: one that knows nothing of the paper is computed, decided, drawn and reported as the paper is."""

import csv
import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.support.computed import call
from tests.support.study_folders import FIGURE, SWEEP, inside, write

from pomrl.commands import reproduce
from pomrl.configuration.sources import SWEEPS
from pomrl.configuration.studies import find
from pomrl.drawing.figure import figures_of
from pomrl.judging.claim import claims_of

pytestmark = pytest.mark.slow

FILES = {
    "study.yaml": """\
title: A study of one's own
cite: Somebody (2015)
headline: [default]
runs: 50
variants: {default: {}, worst_state: {loss: max}}
""",
    "sweeps/first.yaml": SWEEP.format(seed=1)
    .replace("hydra: {mode", "loss: mean\nhydra: {mode")
    .replace("params: {", 'params: {m: "2,200", '),
    "claims.py": '''\
from pomrl.study import claim, less


@claim("J1", "first", figures=("curves",))
def data_help(sweep):
    """With more data, the loss is smaller."""
    few, many = (sweep.at(m=m, estimator="without_meta").regret for m in (2, 200))
    return [less(many, few, "many less few")]


@claim("J2", "first")
def data_hurt(sweep):
    """With more data, the loss is larger."""
    few, many = (sweep.at(m=m, estimator="without_meta").regret for m in (2, 200))
    return [less(few, many, "few less many")]
''',
    "figures.py": FIGURE.replace("{}", '{"m": 2}'),
    "pages/errata.md": "# What we found\n\nIn this study nothing is unclear.\n",
    "pages/counts.md": "# Counts\n\n<!-- the counts -->\n<!-- end of the counts -->\n",
    "pages/counts.py": """\
import pandas as pd


def parts(page):
    held = [each.id for each in page.judgements.main if each.verdict == "holds"]
    page.write("held", pd.DataFrame({"claim": held}))
    return {"the counts": f"{len(held)} claim holds."}
""",
}


@pytest.fixture(scope="module")
def study_outputs(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """The outputs of the study, which has been reproduced."""
    folder = tmp_path_factory.mktemp("here")
    write(folder / "mine", FILES)
    with inside(folder, "mine"):
        status, _, err = call(reproduce, "mine")
        assert status == 0, err
        yield folder / "outputs" / "studies" / "mine"


def test_claims_are_decided_under_every_variant(study_outputs: Path) -> None:
    with (study_outputs / "claims.csv").open(newline="") as table:
        rows = list(csv.DictReader(table))
    verdicts = {(row["variant"], row["claim"]): row["verdict"] for row in rows}
    assert verdicts == {
        (variant, claim): verdict
        for variant in ("default", "worst_state")
        for claim, verdict in (("J1", "holds"), ("J2", "does not hold"))
    }
    assert {int(row["runs"]) for row in rows} <= {50, 200}


def test_everything_is_in_the_outputs(study_outputs: Path) -> None:
    actual = {str(path.relative_to(study_outputs)) for path in study_outputs.rglob("*") if path.is_file()}
    pictures = {
        f"figures/curves{suffix}.{kind}" for suffix in ("", "_intervals") for kind in ("pdf", "png", "csv", "json")
    }
    pages = {f"pages/{name}.{kind}" for name in ("claims", "counts") for kind in ("md", "json")}
    tables = {f"{name}.{kind}" for name in ("claims", "held", "times") for kind in ("csv", "json")}
    report = {f"report/curves{suffix}.{kind}" for suffix in ("", "_intervals") for kind in ("webp", "csv", "json")}
    assert actual == pictures | pages | tables | report | {"report/index.html", "report/index.json"}
    assert {path.name for path in study_outputs.parent.iterdir()} == {"mine"}
    study = Path("mine")
    written = {path for path in study.rglob("*") if path.is_file() and "__pycache__" not in path.parts}
    assert {str(path.relative_to(study)) for path in written} == {
        name.replace("sweeps/", f"{SWEEPS}/mine/") for name in FILES
    }
    output = json.loads((study_outputs / "figures" / "curves.json").read_text())
    assert output["command"] == "pomrl reproduce mine figures --only curves"
    assert [source["settings"]["m"] for source in output["sweeps"]["mine/first"]] == [2, 2]


def test_the_page_shows_only_this_study(study_outputs: Path) -> None:
    page = (study_outputs / "report" / "index.html").read_text()
    for text in (
        "A study of one&#39;s own",
        "Somebody (2015)",
        "With more data, the loss is smaller",
        "Curves of the small study",
        "In this study nothing is unclear.",
        "1 claim holds.",
        "worst_state",
        "pomrl reproduce mine report",
    ):
        assert text in page or text.replace("_", " ") in page, text
    text_only = re.sub(r"data:[a-z/+;]+base64,[A-Za-z0-9+/=]+|<!-- .*? -->|<(style|script|svg)[\s\S]*?</\1>", "", page)
    for other in map(find, ("pomrl2023", "beyond")):
        assert other.config.title not in text_only
        assert not [figure.name for figure in figures_of(other) if figure.name in text_only]
        assert not [claim.id for claim in claims_of(other) if claim.statement in text_only]
    assert not re.findall("Khetarpal|the paper's|notebook", text_only)
