"""Damaged outputs are mended, refused in one line, or make no difference; no report has other numbers."""

import random
import re
import sys
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest
import vl_convert
from tests.computed import two_runs_of
from tests.damage import copied, damage, damage_one

from pomrl.claims import CLAIMS, loading
from pomrl.commands import claims, figures, report, runs
from pomrl.configuration import studies
from pomrl.figures.parts.files import Sidecar
from pomrl.report.page import Documents
from pomrl.store.derived import DerivedFiles

SWEEP = "initial_similarity"
DRAWN = ["initial_similarity", "vacuous_bounds"]
DAMAGES = 40
MENDED = 8
"""After every eighth damage everything is made again, which takes ten times as long as noticing the damage."""

Call = Callable[..., tuple[int, str, str]]


@pytest.fixture(scope="module")
def sound(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Outputs of every kind, as they were written: runs, a simulation, figures, claims, and the report."""
    folder = tmp_path_factory.mktemp("sound")
    with two_runs_of([SWEEP], folder), pytest.MonkeyPatch.context() as patch:
        few = [claim for claim in CLAIMS if claim.id in ("A.5", "T.1")]
        for module in (claims, loading):
            patch.setattr(module, "CLAIMS", few)
        patch.setattr(studies, "names", lambda sources: [SWEEP])
        patch.setattr(report, "documents", lambda: Documents("", "", ""))
        patch.setattr(vl_convert, "javascript_bundle", lambda text: text)
        patch.setattr(sys, "argv", ["figures", *DRAWN])
        figures.main()
        patch.setattr(sys, "argv", ["claims"])
        claims.main()
        report.write(folder)
        yield folder


@pytest.fixture
def damaged(sound: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of the outputs, to be damaged and used."""
    monkeypatch.setenv("POMRL_OUTPUTS", str(tmp_path / "outputs"))
    return copied(sound, tmp_path / "outputs")


@pytest.fixture
def call(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Call:
    """Call a command in this process; an error that it does not turn into a line is raised."""

    def called(command: object, *arguments: str) -> tuple[int, str, str]:
        monkeypatch.setattr(sys, "argv", ["command", *arguments])
        status = 0
        capsys.readouterr()
        try:
            command.main()  # type: ignore[attr-defined]
        except SystemExit as end:
            status = int(end.code or 0)
        said = capsys.readouterr()
        return status, said.out, said.err

    return called


def page_of(folder: Path) -> str:
    return (folder / "report" / "index.html").read_text()


def without_provenance(folder: Path) -> str:
    """The page without its last section, which has the times of computations."""
    return page_of(folder).partition('<section id="provenance"')[0]


@pytest.mark.parametrize("seed", range(DAMAGES))
def test_damage_is_mended_refused_in_one_line_or_makes_no_difference(
    sound: Path, damaged: Path, call: Call, seed: int
) -> None:
    done = damage_one(damaged, random.Random(seed))
    in_report = {"report"} & {done.path.parent.name, done.other.parent.name}
    faulty, found, _ = call(runs, "--verify")
    if faulty and not in_report:
        status, _, err = call(report)
        if status:
            assert err.count("\n") == 1, err
            assert re.search(r"python -m src|computed again|no ordinary file|Is a directory", err), err
        else:
            assert page_of(damaged) == page_of(sound) or ".json: it is missing" in found
    elif not faulty:
        assert call(report)[0] == 0
        assert page_of(damaged) == page_of(sound)
        return
    if seed % MENDED:
        return
    _mend(call)
    status, found, _ = call(runs, "--verify")
    if status == 0:
        assert without_provenance(damaged) == without_provenance(sound)
    else:
        assert done.kind == "directory", (done, found)


def _mend(call: Call) -> None:
    """Run the commands that make everything again."""
    call(runs, "--repair")
    call(figures, *DRAWN)
    call(claims)
    call(report)


@pytest.mark.parametrize("name", ["claims.csv", "scorecard.md", "figures/vacuous_bounds.png", "report/index.html"])
@pytest.mark.parametrize("kind", ["flip", "truncate", "fifo", "symlink", "delete"])
def test_each_derived_file_is_verified_and_named_with_its_command(
    damaged: Path, call: Call, name: str, kind: str
) -> None:
    damage(kind, damaged / name, damaged / name, random.Random(1))
    status, found, _ = call(runs, "--verify")
    assert status == 1
    (line,) = found.splitlines()
    assert str(damaged / name) in line
    assert re.search(r"; python -m src\.(claims|report|figures vacuous_bounds) renews it$", line)


def test_a_drawing_that_was_interrupted_is_no_figure_and_one_that_was_renewed_halfway_is_refused(
    sound: Path, damaged: Path, call: Call
) -> None:
    sidecar = damaged / "figures/vacuous_bounds.json"
    (damaged / "figures/vacuous_bounds.csv").write_text("panel,series\n")
    status, _, err = call(report)
    assert status == 1
    assert err.endswith("vacuous_bounds.json; python -m src.figures vacuous_bounds renews it\n")
    sidecar.unlink()
    assert call(report)[0] == 0
    assert 'id="figure-vacuous_bounds"' in page_of(damaged)
    assert page_of(damaged).count("<img") == 1
    assert call(figures, "vacuous_bounds")[0] == 0
    assert call(report)[0] == 0
    assert page_of(damaged) == page_of(sound)


def test_several_damaged_figures_are_one_line_with_one_command(damaged: Path, call: Call) -> None:
    for name in DRAWN:
        (damaged / f"figures/{name}.png").write_bytes(b"")
    status, _, err = call(report)
    assert status == 1
    assert err.count("\n") == 1
    assert sorted(err.partition("python -m src.figures ")[2].split()[:2]) == DRAWN


def test_what_killed_writers_left_is_removed_by_the_next_one(damaged: Path, call: Call) -> None:
    left = damaged / "figures" / f".vacuous_bounds.png.{'0' * 16}.tmp"
    left.write_bytes(b"torn")
    theirs = damaged / "figures" / f".notes.{'0' * 16}.tmp"
    theirs.write_bytes(b"mine")
    assert call(figures, "vacuous_bounds")[0] == 0
    assert not left.exists()
    assert theirs.exists()


def test_settings_of_a_stranger_cannot_become_part_of_the_page(damaged: Path, call: Call) -> None:
    """In a sidecar whose digests are right."""
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
