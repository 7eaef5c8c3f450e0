"""The enumeration of everything in the folder of outputs, by which it is verified, removed and exported."""

import os
import signal
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest
from tests.support.computed import call
from tests.support.sample_simulation import noise
from tests.support.settings import ROOT

from pomrl.commands import export, run, runs
from pomrl.running.missing_simulations import compute_missing
from pomrl.store import files, stored_simulations
from pomrl.store.derived import DerivedFiles
from pomrl.store.everything import everything
from pomrl.theory.simulations import SIMULATIONS, Simulation

SAMPLE = Simulation("noise", noise, {"sequences": 5})

KILLED_IN_AN_IMPORT = """
import os, signal, sys
from pathlib import Path
from pomrl.store import ro_crates
def killed(*_):
    os.kill(os.getpid(), signal.SIGKILL)
ro_crates._added = killed
ro_crates.import_(Path(sys.argv[1]))
"""


@pytest.fixture
def outputs(empty_outputs: Path) -> Path:
    """Return a folder of outputs with something of each kind."""
    assert call(run, "T=1", "S=4", "runs=2")[0] == 0
    compute_missing([SAMPLE])
    for parent in ("studies/one/figures", "plots", "horizon"):
        DerivedFiles(empty_outputs / parent / "a.json").write({"a.csv": b"x\n"}, {"command": f"make {parent}"})
    (empty_outputs / "readme").mkdir()
    (empty_outputs / "readme" / "theirs.txt").write_text("x")
    return empty_outputs


def names(outputs: Path) -> list[str]:
    return sorted(str(kept.path.relative_to(outputs)) for kept in everything())


def test_each_ordinary_file_belongs_to_one_thing(outputs: Path) -> None:
    (outputs / "runs" / "notes.txt").write_text("beside experiments, and left out")
    (outputs / "plots" / "link.csv").symlink_to(outputs / "plots" / "a.csv")
    found = [path for kept in everything() for path in kept.files]
    expected = [path for path in outputs.rglob("*") if path.is_file() and not path.is_symlink()]
    records = {path for path in outputs.glob(".*") if path.is_file()}  # of labels of code, and its lock
    assert sorted(found) == sorted(path for path in {*expected} - records if path.name != "notes.txt")
    assert not [fault for kept in everything() for fault in kept.faults()]


@pytest.mark.parametrize("parent", ["studies/one/figures", "plots", "horizon"])
def test_what_is_damaged_is_verified_with_what_mends_it_and_is_not_exported(parent: str, outputs: Path) -> None:
    (outputs / parent / "a.csv").write_text("y\n")
    said = f"{outputs / parent / 'a.csv'}: its digest is not the one in a.json; make {parent} renews it\n"
    assert call(runs, "--verify")[:2] == (1, said)
    status, _, err = call(export, str(outputs.parent / "crate.zip"))
    assert (status, err) == (1, said)


@pytest.mark.parametrize(
    ("place", "command"),
    [
        ("studies/one/claims.csv", "pomrl claims one"),
        ("studies/one/figures/of_variant/a.pdf", "pomrl figures one"),
        ("studies/one/pages/notes.md", "pomrl documents one"),
        ("studies/one/report/index.html", "pomrl report one"),
        ("plots/a.png", "what has made a"),
    ],
)
def test_files_whose_sidecar_was_deleted_are_named_with_what_makes_them(
    place: str, command: str, empty_outputs: Path
) -> None:
    path = empty_outputs / place
    DerivedFiles(path.with_suffix(".json")).write({path.name: b"x"}, {})
    path.with_suffix(".json").unlink()
    said = f"{path.with_suffix('.json')}: it is missing beside {path.name}; {command} renews it\n"
    assert call(runs, "--verify")[:2] == (1, said)


@pytest.mark.parametrize("names", [["json"], ["json", "csv"]])
def test_exchanged_files_are_damaged_though_all_digests_are_sound(names: list[str], outputs: Path) -> None:
    DerivedFiles(outputs / "plots" / "b.json").write({"b.csv": b"y\n"}, {"command": "make b"})
    for suffix in names:
        one, other = (outputs / "plots" / f"{name}.{suffix}" for name in "ab")
        content = one.read_bytes()
        one.write_bytes(other.read_bytes())
        other.write_bytes(content)
    status, said, _ = call(runs, "--verify")
    assert (status, said.count("it is that of other files")) == (1, 2)


def test_a_simulation_is_removed_if_no_code_has_its_signature(outputs: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = stored_simulations.root() / stored_simulations.signature(SAMPLE)
    with monkeypatch.context() as patch:
        patch.setitem(SIMULATIONS, "noise", SAMPLE)
        assert call(runs, "--prune")[1] == "0 would be removed\n"
    (folder / "notes.txt").write_text("mine")
    assert call(runs, "--prune")[1] == "0 would be removed\n"
    (folder / "notes.txt").unlink()
    assert "no simulation of the present code has its signature" in call(runs, "--prune")[1]
    assert call(runs, "--prune", "--yes")[1].splitlines()[-1] == "1 removed"
    assert not folder.exists()
    assert f"simulations/{folder.name}" not in names(outputs)


def test_what_killed_imports_and_writers_leave_is_removed_and_not_exported(
    outputs: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(SIMULATIONS, "noise", SAMPLE)
    crate = outputs.parent / "crate.zip"
    assert call(export, str(crate))[0] == 0
    before = names(outputs)
    command = [sys.executable, "-c", KILLED_IN_AN_IMPORT, str(crate)]
    killed = subprocess.run(command, cwd=ROOT, env=os.environ | {"PYTHONPATH": str(ROOT / "src")})
    assert killed.returncode == -signal.SIGKILL
    (outputs / "plots" / f".a.csv.{'0' * 16}.tmp").write_bytes(b"x")
    left = set(names(outputs)) - set(before)
    assert len(left) == 2
    assert call(export, str(crate.with_name("again.zip")))[0] == 0
    with zipfile.ZipFile(crate) as one, zipfile.ZipFile(crate.with_name("again.zip")) as again:
        assert one.namelist() == again.namelist()
    listed = call(runs, "--prune")[1]
    assert all(Path(name).name in listed for name in left)
    assert call(runs, "--prune", "--yes")[1].splitlines()[-1] == "2 removed"
    assert names(outputs) == before


def test_what_a_living_process_writes_is_not_left_over(empty_outputs: Path) -> None:
    place = empty_outputs / ".import-x"
    place.mkdir()
    with files.held(place), files.flushed(empty_outputs / "a.csv", b"x"):
        assert [kept.unused() for kept in everything()] == [None, None]
    assert [kept.unused() for kept in everything()] == ["a process that was killed has left it"]
