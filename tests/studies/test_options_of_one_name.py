"""Two studies of one's own that have options of the same name: looks are of the options, and not of their names."""

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.support.computed import call
from tests.support.elements import curves_of
from tests.support.study_folders import SMALL, SWEEP, forget, write

from pomrl.commands import plot, report, reproduce

pytestmark = pytest.mark.slow

OWN = """\
from pomrl.components import RegularisedLeastSquares


class Mine(RegularisedLeastSquares):
    pass
"""
LOOKS = {"left": ("The left one", "#112233", "o"), "right": ("The right one", "#445566", "s")}


@pytest.fixture(scope="module", autouse=True)
def here(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A folder with the two studies, each of which has computed and drawn its sweep of its estimator `mine`."""
    folder = tmp_path_factory.mktemp("here")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        patch.setattr(sys, "path", [*sys.path])
        patch.setenv("POMRL_OUTPUTS", "outputs")
        for name, (label, color, marker) in LOOKS.items():
            look = f'# look: {{label: "{label}", color: "{color}", marker: {marker}}}'
            files = {
                "study.yaml": SMALL["study.yaml"],
                "sweeps/first.yaml": SWEEP.format(seed=1).replace("without_meta", "mine"),
                "figures.py": SMALL["figures.py"].replace("without_meta", "mine"),
                "own.py": OWN,
                "conf/estimator/mine.yaml": f"{look}\ndefaults: [ada_pomrl, _self_]\n_target_: {name}.own.Mine\n",
            }
            write(folder / name, files)
            status, _, said = call(reproduce, name, "--runs", "3")
            assert status == 0, said
        yield folder
    forget(*LOOKS)


@pytest.mark.parametrize("order", [("left", "right"), ("right", "left")])
def test_the_curves_of_a_page_of_both_have_the_looks_of_their_studies(here: Path, order: tuple[str, str]) -> None:
    assert call(report, *order)[0] == 0
    page = (here / "outputs" / "studies" / order[0] / "report" / "index.html").read_text()
    series = (each for each in curves_of(page)["series"] if each["method"].startswith("The "))
    drawn = {each["sweep"].partition("/first")[0]: each["color"] for each in series}
    assert drawn == {name: color for name, (_, color, _) in LOOKS.items()}


def test_a_plot_of_both_tells_them_apart(monkeypatch: pytest.MonkeyPatch) -> None:
    drawn: list[Any] = []
    monkeypatch.setattr(plot, "save", lambda drawing, *_: drawn.append(drawing) or [])
    assert call(plot, "--where", "estimator=mine")[0] == 0
    (both,) = drawn
    assert both.data["code"].nunique() == 2
    colours = {line.get_color() for ax in both.figure.axes for line in ax.lines if len(line.get_xdata())}
    assert len(colours) == 2
