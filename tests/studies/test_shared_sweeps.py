"""Studies share what is stored of sweeps that they share; their own options are known wherever they are shown."""

import csv
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.support.computed import call
from tests.support.elements import page_curves
from tests.support.study_folders import CLAIM, FIGURE, SMALL, SWEEP, inside, write

from pomrl import store
from pomrl.commands import reproduce, run
from pomrl.configuration.studies import find

pytestmark = pytest.mark.slow

OWN = """\
from pomrl.components import Field, RegularisedLeastSquares


class Halved(RegularisedLeastSquares):
    share: float = Field(ge=0, le=1, description="a share of the mixing rate")

    def mixing_rate(self, t, m, sigma, memory, truth):
        return self.share * super().mixing_rate(t, m, sigma, memory, truth)
"""

OPTION = """\
defaults: [ada_pomrl, _self_]
_target_: {study}.own.Halved
share: 0.5
"""

AXIS = '"ada_pomrl,without_meta"'


@pytest.fixture(scope="module")
def cwd(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A folder with a study `one`, and a study `two` that has the same sweep and, in another one, its own estimator."""
    folder = tmp_path_factory.mktemp("here")
    write(folder / "one")
    theirs = {
        "study.yaml": SMALL["study.yaml"].replace("A small study", "Another study"),
        "sweeps/halved.yaml": SWEEP.format(seed=1).replace(AXIS, '"ada_pomrl,halved"'),
        "claims.py": CLAIM
        + CLAIM[CLAIM.index("\n\n@") :]
        .replace('"K1", "first"', '"K2", "halved"')
        .replace("def meta_learning_helps", "def half_hurts")
        .replace("Ada-POMRL loses less than no", "The whole loses less than half the")
        .replace("without_meta", "halved"),
        "figures.py": FIGURE.replace('"first"', '"halved"').replace("without_meta", "halved"),
        "own.py": OWN,
        "conf/estimator/halved.yaml": OPTION.format(study="two"),
        "conf/looks.yaml": 'estimator: {halved: {label: "Half of it", color: "#123456", marker: o}}',
    }
    write(folder / "two", {**SMALL, **theirs})
    with inside(folder, "one", "two"):
        for command, *arguments in ((run, "-m", "experiment=one/first", "runs=3"), (reproduce, "two", "--runs", "3")):
            status, _, err = call(command, *arguments)
            assert status == 0, err
        yield folder


def signatures(study: str, sweep: str) -> list[str]:
    return [store.signature(setting.experiment) for setting in find(study).settings(sweep)]


def test_experiments_of_shared_sweeps_are_stored_once(cwd: Path) -> None:
    assert signatures("one", "first") == signatures("two", "first")
    ada, halved = signatures("two", "halved")
    assert ada == signatures("one", "first")[0]
    stored = {path.name for path in (cwd / "outputs" / "runs").iterdir()}
    assert stored == {*signatures("one", "first"), halved}


def test_options_look_the_same_everywhere(cwd: Path) -> None:
    study_folder = cwd / "outputs" / "studies" / "two"
    with (study_folder / "figures" / "curves.csv").open(newline="") as table:
        assert {row["series"] for row in csv.DictReader(table)} == {"ada-POMRL", "Half of it"}
    page = (study_folder / "report" / "index.html").read_text()
    assert {series["method"]: series["color"] for series in page_curves(page)["series"]}["Half of it"] == "#123456"
