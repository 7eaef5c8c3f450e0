"""Files that are made of what is stored: each is verified, named with its command, and written whole or not at all.

POMRL_FAULTS=100 damages files and kills commands at random a hundred times as often.
"""

import random
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import asdict, replace
from pathlib import Path

import pytest
from docs.build import documents
from tests.support.cluster import ROOT, environment
from tests.support.computed import (
    DRAWN,
    SMALL,
    SWEEP,
    Command,
    call,
    claims,
    command_line,
    figures,
    outputs_of_every_kind,
    page,
    page_without_provenance,
    report,
)
from tests.support.damage import FAULTS, copied, damage, damage_one, kill

from pomrl import store
from pomrl.commands import export, import_, reproduce, run, runs
from pomrl.drawing.picture_files import Sidecar
from pomrl.store import StoreError
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
        ("claims.csv", "reproduce {study} claims"),
        ("figures/figure_f1_dirichlet_task_dist.png", "reproduce {study} figures --only dirichlet_task_dist"),
        ("pages/claims.md", "reproduce {study}"),
        ("pages/notes.md", "reproduce {study}"),
        ("report/index.html", "reproduce {study} report"),
    ],
)
@pytest.mark.parametrize("kind", ["flip", "fifo", "delete"])
def test_derived_files_are_verified_with_their_command(
    sound: tuple[Path, str], damaged: Path, name: str, command: str, kind: str
) -> None:
    path = damaged / STUDY / name
    damage(kind, path, path, random.Random(1))
    status, actual, _ = call(runs, "--verify")
    assert status == 1
    (line,) = actual.splitlines()
    assert str(path) in line
    assert line.endswith(f"; run pomrl {command.format(study=sound[1])} again")


def test_interrupted_drawings_are_no_figures(sound: tuple[Path, str], damaged: Path) -> None:
    whole, study = sound
    sidecar = damaged / STUDY / "figures/figure_f1_dirichlet_task_dist.json"
    sidecar.with_suffix(".csv").write_text("panel,series\n")
    status, _, err = call(report, study)
    assert status == 1
    assert err.endswith(
        f"dirichlet_task_dist.json; run pomrl reproduce {study} figures --only dirichlet_task_dist again\n"
    )
    sidecar.unlink()
    assert call(report, study)[0] == 0
    assert 'id="figure-dirichlet_task_dist"' in page(damaged)
    assert page(damaged).count("<img") == 2  # the other figure, and its version with intervals
    assert call(figures, study, "dirichlet_task_dist")[0] == 0
    assert call(report, study)[0] == 0
    assert page(damaged) == page(whole)


def test_hostile_settings_stay_out_of_the_page(sound: tuple[Path, str], damaged: Path) -> None:
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


def checked_call(command: Command, *arguments: str) -> tuple[int, str]:
    """Call a command; return its status and what it said, which is a line or two if it is refused."""
    status, out, err = call(command, *arguments)
    assert not status or (out + err).strip()
    assert out or not status or err.count("\n") <= 3
    return status, out + err


def tables() -> dict[str, bytes]:
    """The values of all tables that can be read."""
    actual: dict[str, bytes] = {}
    for experiment in store.all_experiments():
        with suppress(StoreError):
            actual[experiment.signature] = experiment.table().to_csv().encode()
    return actual


WHAT_TO_DO = "pomrl (run|runs|reproduce) |the command that made it|no ordinary file|Is a directory"
"""What the line of a report that is refused says."""


@pytest.mark.parametrize("seed", range(4 * FAULTS))
def test_damage_is_never_used_silently(sound: tuple[Path, str], damaged: Path, seed: int) -> None:
    """What reads is right or refused; after each fourth damage everything is made again, and is as it was."""
    whole, study = sound
    expected, table_of_claims = tables(), f"{STUDY}/claims.csv"
    done = damage_one(damaged, random.Random(seed))
    assert tables().items() <= expected.items()
    actual = checked_call(runs, "--verify")[1]
    checked_call(runs)
    status, line = checked_call(report, study)
    assert not status or (line.count("\n") <= 2 and re.search(WHAT_TO_DO, line))  # a page without it has its path
    same = page_without_provenance(damaged) == page_without_provenance(whole)
    assert status or same or ".json: missing" in actual or "no longer stored" in page(damaged), done
    status, _ = checked_call(claims, study)
    assert status or (damaged / table_of_claims).read_bytes() == (whole / table_of_claims).read_bytes()
    if seed % 4 == 0:
        stems = {path.stem for path in (done.path, done.other) if path.parent.name == "figures"}
        statuses = [
            checked_call(run, f"experiment={SWEEP}", "runs=2")[0],
            *(checked_call(figures, study, name)[0] for name in stems),
        ]
        statuses += [checked_call(command, study)[0] for command in (claims, documents, report)]
        assert tables() == expected
        if done.kind != "directory":  # which is not removed
            assert (*statuses, checked_call(runs, "--verify")[0]) == (0,) * (len(statuses) + 1)
            assert page_without_provenance(damaged) == page_without_provenance(whole)


COMPARED = (".parquet", ".csv", ".pdf", ".png", ".md")
"""The ends of the names of files whose bytes do not depend on when they are made."""


def files(outputs: Path, prefixes: tuple[str, ...] = ("",)) -> dict[str, bytes]:
    """The content of such files in outputs whose paths begin so."""
    paths = [path for path in sorted(outputs.rglob("*")) if path.suffix in COMPARED and path.is_file()]
    actual = {str(path.relative_to(outputs)): path.read_bytes() for path in paths}
    return {path: content for path, content in actual.items() if path.startswith(prefixes)}


@pytest.mark.parametrize("seed", range(FAULTS))
def test_killed_commands_can_be_repeated(
    sound: tuple[Path, str], damaged: Path, seed: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It ends with the files that it would have had, and leaves no process and no other file."""
    monkeypatch.setattr(
        runs, "ABANDONED_SECONDS", -1.0
    )  # a kill inside a write leaves a file, which is removed after an hour
    whole, study = sound
    archive = str(tmp_path / "archive.zip")
    assert call(export, archive)[0] == 0
    figures_folder, stored = f"{STUDY}/figures", ("runs", "simulations")
    removed, prefixes, (command, *arguments) = (
        ("studies", (*stored, figures_folder), (figures, study, *DRAWN)),
        ("studies", (*stored, f"{STUDY}/claims"), (claims, study)),
        ("", ("runs",), (import_, archive)),
        ("", (*stored, STUDY), (reproduce, study, "--runs", "2")),
    )[seed % 4]
    shutil.rmtree(damaged / removed)
    process = subprocess.Popen(
        [sys.executable, "-m", "pomrl", *command_line(command, arguments)],
        **{"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True, "start_new_session": True},
        **{"cwd": ROOT, "env": environment(POMRL_OUTPUTS=str(damaged))},
    )
    time.sleep(1 + random.Random(seed).random() * (10 if command is reproduce else 3))
    kill(process)
    assert call(command, *arguments)[0] == 0
    assert call(runs, "--prune", "--yes")[0] == call(runs, "--verify")[0] == 0
    (damaged / "index.csv").unlink(missing_ok=True)  # of every list of runs
    assert not [*damaged.rglob(".*.tmp"), *damaged.glob(".import-*")]
    assert files(damaged) == files(whole, prefixes)
