"""Files that are made of what is stored: each is verified, named with its command, and written whole or not at all.

Damages at random are in `tests.faults.damages`.
"""

import random
from collections.abc import Iterator
from dataclasses import asdict, dataclass, replace
from pathlib import Path

import pytest
from tests.support.computed import DRAWN, SMALL, call, outputs_of_every_kind
from tests.support.computed import page as page_of
from tests.support.damage import copied, damage

from pomrl.commands import figures, report, runs
from pomrl.drawing.files import Sidecar
from pomrl.store.derived import DerivedFiles

pytestmark = pytest.mark.slow


@dataclass(frozen=True)
class Outputs:
    """Outputs of every kind of the small study."""

    folder: Path
    study: str
    """The word that stands for the study in commands."""

    @property
    def of_study(self) -> Path:
        return self.folder / "studies" / SMALL

    @property
    def page(self) -> str:
        return page_of(self.folder)


@pytest.fixture(scope="module")
def sound(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Outputs]:
    """Outputs of every kind, as they were written."""
    folder = tmp_path_factory.mktemp("sound")
    with outputs_of_every_kind(folder) as study:
        yield Outputs(folder, study)


@pytest.fixture
def damaged(sound: Outputs, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Outputs:
    """A copy of the outputs, to be damaged and used."""
    monkeypatch.setenv("POMRL_OUTPUTS", str(tmp_path / "outputs"))
    return Outputs(copied(sound.folder, tmp_path / "outputs"), sound.study)


@pytest.mark.parametrize(
    ("name", "command"),
    [
        ("claims.csv", "claims {study}"),
        ("figures/vacuous_bounds.png", "figures {study} vacuous_bounds"),
        ("pages/claims.md", "reproduce {study}"),
        ("pages/notes.md", "reproduce {study}"),
        ("report/index.html", "report {study}"),
    ],
)
@pytest.mark.parametrize("kind", ["flip", "fifo", "delete"])
def test_each_derived_file_is_verified_and_named_with_its_command(
    damaged: Outputs, name: str, command: str, kind: str
) -> None:
    path = damaged.of_study / name
    damage(kind, path, path, random.Random(1))
    status, found, _ = call(runs, "--verify")
    assert status == 1
    (line,) = found.splitlines()
    assert str(path) in line
    assert line.endswith(f"; pomrl {command.format(study=damaged.study)} renews it")


def test_a_drawing_that_was_interrupted_is_no_figure_and_one_that_was_renewed_halfway_is_refused(
    sound: Outputs, damaged: Outputs
) -> None:
    sidecar = damaged.of_study / "figures/vacuous_bounds.json"
    (damaged.of_study / "figures/vacuous_bounds.csv").write_text("panel,series\n")
    status, _, err = call(report, damaged.study)
    assert status == 1
    assert err.endswith(f"vacuous_bounds.json; pomrl figures {damaged.study} vacuous_bounds renews it\n")
    sidecar.unlink()
    assert call(report, damaged.study)[0] == 0
    assert 'id="figure-vacuous_bounds"' in damaged.page
    assert damaged.page.count("<img") == 2  # the other figure, and its version with intervals
    assert call(figures, damaged.study, "vacuous_bounds")[0] == 0
    assert call(report, damaged.study)[0] == 0
    assert damaged.page == sound.page


def test_settings_of_a_stranger_cannot_become_part_of_the_page(damaged: Outputs) -> None:
    """The report shows no markup from the settings in a sidecar, even if the digests of the sidecar are right."""
    path = damaged.of_study / f"figures/{DRAWN[0]}.json"
    sidecar = Sidecar.read(path)
    contents = {name: path.with_name(name).read_bytes() for name in sidecar.files}
    hostile = "<script>alert(1)</script>"
    (sources,) = sidecar.sweeps.values()
    changed = [replace(source, settings={"sigma": hostile, hostile: hostile}) for source in sources]
    DerivedFiles(path).write(contents, asdict(replace(sidecar, sweeps={hostile: changed})))
    assert call(report, damaged.study)[0] == 0
    assert "alert(1)" in damaged.page
    assert hostile not in damaged.page
