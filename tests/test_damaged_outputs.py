"""Files that are made of what is stored: each is verified, named with its command, and written whole or not at all.

Damages at random are in `tests.faults.damages`.
"""

import random
import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from tests.computed import DRAWN, call, outputs_of_every_kind
from tests.computed import page as page_of
from tests.damage import copied, damage

from pomrl.commands import figures, report, runs
from pomrl.drawing.files import Sidecar
from pomrl.store.derived import DerivedFiles


@pytest.fixture(scope="module")
def sound(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Outputs of every kind, as they were written."""
    folder = tmp_path_factory.mktemp("sound")
    with outputs_of_every_kind(folder):
        yield folder


@pytest.fixture
def damaged(sound: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of the outputs, to be damaged and used."""
    monkeypatch.setenv("POMRL_OUTPUTS", str(tmp_path / "outputs"))
    return copied(sound, tmp_path / "outputs")


@pytest.mark.parametrize("name", ["claims.csv", "scorecard.md", "figures/vacuous_bounds.png", "report/index.html"])
@pytest.mark.parametrize("kind", ["flip", "truncate", "fifo", "symlink", "delete"])
def test_each_derived_file_is_verified_and_named_with_its_command(damaged: Path, name: str, kind: str) -> None:
    damage(kind, damaged / name, damaged / name, random.Random(1))
    status, found, _ = call(runs, "--verify")
    assert status == 1
    (line,) = found.splitlines()
    assert str(damaged / name) in line
    assert re.search(r"; python -m src\.(claims|report|figures vacuous_bounds) renews it$", line)


def test_a_drawing_that_was_interrupted_is_no_figure_and_one_that_was_renewed_halfway_is_refused(
    sound: Path, damaged: Path
) -> None:
    sidecar = damaged / "figures/vacuous_bounds.json"
    (damaged / "figures/vacuous_bounds.csv").write_text("panel,series\n")
    status, _, err = call(report)
    assert status == 1
    assert err.endswith("vacuous_bounds.json; python -m src.figures vacuous_bounds renews it\n")
    sidecar.unlink()
    assert call(report)[0] == 0
    assert 'id="figure-vacuous_bounds"' in page_of(damaged)
    assert page_of(damaged).count("<img") == 2  # the other figure, and its version with intervals
    assert call(figures, "vacuous_bounds")[0] == 0
    assert call(report)[0] == 0
    assert page_of(damaged) == page_of(sound)


def test_several_damaged_figures_are_one_line_with_one_command(damaged: Path) -> None:
    for name in DRAWN:
        (damaged / f"figures/{name}.png").write_bytes(b"")
    status, _, err = call(report)
    assert status == 1
    assert err.count("\n") == 1
    assert sorted(err.partition("python -m src.figures ")[2].split()[:2]) == DRAWN


def test_what_killed_writers_left_is_removed_by_the_next_one(damaged: Path) -> None:
    left = damaged / "figures" / f".vacuous_bounds.png.{'0' * 16}.tmp"
    left.write_bytes(b"torn")
    theirs = damaged / "figures" / f".notes.{'0' * 16}.tmp"
    theirs.write_bytes(b"mine")
    assert call(figures, "vacuous_bounds")[0] == 0
    assert not left.exists()
    assert theirs.exists()


def test_settings_of_a_stranger_cannot_become_part_of_the_page(damaged: Path) -> None:
    """The report shows no markup from the settings in a sidecar, even if the digests of the sidecar are right."""
    path = damaged / f"figures/{DRAWN[0]}.json"
    sidecar = Sidecar.read(path)
    contents = {name: path.with_name(name).read_bytes() for name in sidecar.files}
    hostile = "<script>alert(1)</script>"
    (sources,) = sidecar.sweeps.values()
    changed = [replace(source, settings={"sigma": hostile, hostile: hostile}) for source in sources]
    DerivedFiles(path).write(contents, replace(sidecar, sweeps={hostile: changed}).content())
    assert call(report)[0] == 0
    assert "alert(1)" in page_of(damaged)
    assert hostile not in page_of(damaged)
