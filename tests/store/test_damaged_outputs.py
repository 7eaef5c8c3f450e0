"""Files that are made of what is stored: each is verified, named with its command, and written whole or not at all.

Damages at random are in `tests.faults.damages`.
"""

import random
from collections.abc import Iterator
from dataclasses import asdict, replace
from pathlib import Path

import pytest
from tests.support.computed import DRAWN, SMALL, call, outputs_of_every_kind, page
from tests.support.damage import copied, damage

from pomrl.commands import figures, report, runs
from pomrl.drawing.files import Sidecar
from pomrl.store.derived import DerivedFiles

pytestmark = pytest.mark.slow


STUDY = f"studies/{SMALL}"
"""The outputs of the small study, in the folder of all."""


@pytest.fixture(scope="module")
def sound(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Path, str]]:
    """The folder of outputs of every kind, as they were written, and the word that stands for their study."""
    folder = tmp_path_factory.mktemp("sound")
    with outputs_of_every_kind(folder) as study:
        yield folder, study


@pytest.fixture
def damaged(sound: tuple[Path, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of the outputs, to be damaged and used."""
    monkeypatch.setenv("POMRL_OUTPUTS", str(tmp_path / "outputs"))
    return copied(sound[0], tmp_path / "outputs")


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
    sound: tuple[Path, str], damaged: Path, name: str, command: str, kind: str
) -> None:
    path = damaged / STUDY / name
    damage(kind, path, path, random.Random(1))
    status, found, _ = call(runs, "--verify")
    assert status == 1
    (line,) = found.splitlines()
    assert str(path) in line
    assert line.endswith(f"; pomrl {command.format(study=sound[1])} renews it")


def test_a_drawing_that_was_interrupted_is_no_figure_and_one_that_was_renewed_halfway_is_refused(
    sound: tuple[Path, str], damaged: Path
) -> None:
    whole, study = sound
    sidecar = damaged / STUDY / "figures/vacuous_bounds.json"
    sidecar.with_suffix(".csv").write_text("panel,series\n")
    status, _, err = call(report, study)
    assert status == 1
    assert err.endswith(f"vacuous_bounds.json; pomrl figures {study} vacuous_bounds renews it\n")
    sidecar.unlink()
    assert call(report, study)[0] == 0
    assert 'id="figure-vacuous_bounds"' in page(damaged)
    assert page(damaged).count("<img") == 2  # the other figure, and its version with intervals
    assert call(figures, study, "vacuous_bounds")[0] == 0
    assert call(report, study)[0] == 0
    assert page(damaged) == page(whole)


def test_settings_of_a_stranger_cannot_become_part_of_the_page(sound: tuple[Path, str], damaged: Path) -> None:
    """The report shows no markup from the settings in a sidecar, even if the digests of the sidecar are right."""
    path = damaged / STUDY / f"figures/{DRAWN[0]}.json"
    sidecar = Sidecar.read(path)
    contents = {name: path.with_name(name).read_bytes() for name in sidecar.files}
    hostile = "<script>alert(1)</script>"
    (sources,) = sidecar.sweeps.values()
    changed = [replace(source, settings={"sigma": hostile, hostile: hostile}) for source in sources]
    DerivedFiles(path).write(contents, asdict(replace(sidecar, sweeps={hostile: changed})))
    assert call(report, sound[1])[0] == 0
    assert "alert(1)" in page(damaged)
    assert hostile not in page(damaged)
