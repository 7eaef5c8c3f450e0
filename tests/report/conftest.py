import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.support.browser import browser as browser
from tests.support.computed import call, claims, report, two_runs
from tests.support.elements import Elements, page_curves
from tests.support.report_outputs import DRAWN, SWEEPS, study_folder

from pomrl.commands.reproduce_stages import draw_all
from pomrl.configuration.studies import find
from pomrl.drawing.figures_of_study import Selection


@pytest.fixture(scope="session")
def computed(tmp_path_factory: pytest.TempPathFactory, simulated: Path) -> Path:
    """Outputs with two runs of some sweeps, the figures that they suffice for, the published claims, and the page."""
    folder = Path(shutil.copytree(simulated, tmp_path_factory.mktemp("computed") / "outputs"))
    with two_runs(SWEEPS, folder):
        assert draw_all([Selection(find("pomrl2023"), DRAWN)])[0] == []
        for command in (claims, report):
            status, _, err = call(command, "pomrl2023")
            assert status == 0, err
    return folder


@pytest.fixture(scope="session")
def path(computed: Path) -> Path:
    return study_folder(computed) / "report" / "index.html"


@pytest.fixture(scope="module")
def folder(computed: Path) -> Iterator[Path]:
    """These outputs, which are in use in a module of tests; none of them changes what it finds there."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("POMRL_OUTPUTS", str(computed))
        yield computed


@pytest.fixture(scope="session")
def page(path: Path) -> str:
    return path.read_text(encoding="utf-8")


@pytest.fixture(scope="session")
def elements(page: str) -> Elements:
    return Elements(page)


@pytest.fixture(scope="session")
def embedded(page: str) -> dict:
    return page_curves(page)
