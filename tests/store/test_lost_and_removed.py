"""What is lost, removed meanwhile, or of another release of a package: it is named, and the printed advice mends it."""

import errno
import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from unittest.mock import ANY

import pandas as pd
import pytest
from tests.support.computed import call, claims, report, view
from tests.support.computed import table as table_command
from tests.support.sample_experiment import add, stored, table
from tests.support.study_folders import CLAIM, SMALL, inside, write

from pomrl import store
from pomrl.commands import export, reproduce, run, runs
from pomrl.configuration import sweeps
from pomrl.configuration.parsing import Experiment
from pomrl.configuration.sources import PUBLISHED
from pomrl.running.plan import plan
from pomrl.running.work import work
from pomrl.store import StoredExperiment, files
from pomrl.store.manifests import decisive_versions

pytestmark = pytest.mark.usefixtures("empty_outputs")

RUN = ("S=4", "T=2", "task_distribution.zeros=1", "execution.workers=1")


def content(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir() if path.suffix in (".parquet", ".complete")}


@pytest.mark.parametrize(
    "lost", ["runs-000000-*", "runs-000200-*", "runs-000400-*", "experiment.json", "runs-000[024]*.parquet"]
)
@pytest.mark.parametrize("asked", ["runs=450", "runs=20"])
def test_what_is_lost_is_named_by_every_reader_and_mended_by_the_command(lost: str, asked: str) -> None:
    kept = StoredExperiment(Path(call(run, *RUN, "runs=450", "+tag=mine")[1].split()[-1]))
    other = call(run, *RUN, "runs=3", "sigma=0.02")[1].split()[-1]
    before = content(kept.folder)
    for path in kept.folder.glob(lost):
        path.unlink()
    status, named, _ = call(runs, "--verify")
    assert (status, named.count("\n")) == (1, 1)
    assert named.startswith(str(kept.folder))
    for command, words in ((runs, ()), (table_command, ()), (view, ("--once",)), (export, ("archive.zip",))):
        if command is export:
            words = (str(kept.folder.parents[1] / "archive.zip"),)
        status, out, err = call(command, *words)
        assert (status, err.count(named.strip())) == (1, 1)
        assert kept.signature not in out
        assert command is not runs or Path(other).name in out
    assert call(run, *RUN, asked)[0] == 0
    assert content(kept.folder) == before
    assert call(runs, "--verify")[0] == call(table_command)[0] == 0
    assert kept.tags() == ["mine"]


@pytest.mark.parametrize("request_again", [("runs=20",), ("runs=20", "force=true")])
def test_a_last_block_lost_with_its_count_is_named_and_mended(request_again: tuple[str, ...]) -> None:
    kept = StoredExperiment(Path(call(run, *RUN, "runs=450")[1].split()[-1]))
    before = content(kept.folder)
    for path in (*kept.folder.glob("runs-000400-*"), *kept.folder.glob("*.complete")):
        path.unlink()
    status, named, _ = call(runs, "--verify")
    assert (status, named.partition(";")[0]) == (
        1,
        f"{kept.folder / 'run.log'}: 400 of 450 runs are stored without a gap",
    )
    assert call(run, *RUN, *request_again)[0] == call(runs, "--verify")[0] == 0
    assert content(kept.folder) == before


@pytest.mark.parametrize("line", ["stored runs 400 to 599 of another", "not stored runs 0 to 599", "\xe9"])
def test_other_lines_of_the_log_are_no_count(line: str) -> None:
    kept = stored(range(2))
    (kept.folder / "run.log").write_text(f"2026-11-28T21:17:21 {line}\n", encoding="latin-1")
    assert call(runs, "--verify")[0] == 0


def test_a_count_that_is_renamed_upwards_is_named_and_what_it_promises_is_computed() -> None:
    kept = StoredExperiment(Path(call(run, *RUN, "runs=600")[1].split()[-1]))
    before = content(kept.folder)
    count = (kept.folder / "runs-000600.complete").rename(kept.folder / "runs-000900.complete")
    del before["runs-000600.complete"]
    fault = f"{count}: 600 of 900 runs are stored without a gap"
    for command, words, ends in ((runs, ("--verify",), 1), (table_command, (), 1), (run, (*RUN, "runs=600"), 0)):
        status, out, err = call(command, *words)
        assert (status, (out + err).count(fault)) == (ends, 1)
    assert kept.contiguous() == 900
    assert before.items() <= content(kept.folder).items()
    assert call(runs, "--verify")[0] == 0


@pytest.mark.parametrize("name", ["runs-123456789012.complete", "runs-123456789000-123456789199-{}.parquet"])
def test_a_name_with_more_runs_than_can_be_asked_for_is_none_of_ours(name: str) -> None:
    kept = stored(range(2))
    kept.folder.joinpath(name.format("0" * 16)).touch()
    assert store.find_missing(kept, 2) == ([], [])
    assert call(run, *RUN, "runs=2")[0] == 0


@pytest.mark.parametrize("name", ["runs-*.parquet", "experiment.json", "note-*"])
def test_a_folder_in_the_place_of_a_file_is_named_and_mended(name: str) -> None:
    kept = StoredExperiment(Path(call(run, *RUN, "runs=2", "+note=mine")[1].split()[-1]))
    before = content(kept.folder)
    (path,) = kept.folder.glob(name)
    path.unlink()
    (path / "folder").mkdir(parents=True)
    assert call(runs, "--verify")[:2] == (1, ANY)
    assert call(run, *RUN, "runs=2", "+note=mine")[0] == call(runs, "--verify")[0] == 0
    assert (content(kept.folder), kept.notes()) == (before, ["mine"])


SECOND_CLAIM = """

@claim("K2", "first")
def losses_are_small(sweep):
    \"\"\"Without meta-learning the loss is small.\"\"\"
    without = sweep.at(estimator="without_meta").regret
    return [less(without, without + 1, "loss less loss and 1")]
"""


def test_a_damaged_block_takes_neither_other_claims_nor_the_page_away(tmp_path: Path) -> None:
    study = str(write(tmp_path / "own", SMALL, claims_py=CLAIM + SECOND_CLAIM))
    with inside(tmp_path, "own"):
        assert call(reproduce, study)[0] == 0
        (kept,) = store.find(estimator="ada_pomrl")
        (path,) = kept.folder.glob("*.parquet")
        path.write_bytes(path.read_bytes()[:-1])
        for command, part in ((claims, "not computed: K1"), (report, "index.html")):
            status, out, err = call(command, study)
            assert (status, err.count(str(path)), part in out) == (1, 1, True)
        assert call(reproduce, study)[0] == 0
        assert call(claims, study)[0] == call(report, study)[0] == 0


def test_all_tags_of_several_writers_are_kept() -> None:
    kept, tags = stored(range(2)), [f"a/b %{number}" for number in range(90)]
    with ThreadPoolExecutor(5) as others:
        list(others.map(lambda tag: store.label(kept, tag), tags))
    assert kept.tags() == sorted(tags)
    store.label(kept, without=tags[0])
    assert tags[0] not in kept.tags()


def test_a_description_of_an_older_version_with_labels_is_refused() -> None:
    kept = stored(range(2))
    description = kept.folder / "experiment.json"
    older = files.read_json(description).replace(b'"settings"', b'"tags": ["a", "b"],\n "settings"')
    text = older.removesuffix(b"}")
    description.write_bytes(text + b',\n "check": "' + files._end(text))
    assert "written by another version" in str(kept.fault())
    with pytest.raises(store.StoreError, match="written by another version"):
        kept.read_manifest()


@pytest.mark.parametrize("when", range(3))
def test_runs_that_are_removed_while_further_ones_are_computed_are_computed_again(when: int) -> None:
    assert call(run, *RUN, "runs=450")[0] == 0
    (kept,) = store.all_experiments()
    before = content(kept.folder)
    store.remove(kept)
    assert call(run, *RUN, "runs=60")[0] == 0
    jobs = plan([_asked(450)])
    parts: list[int] = []

    def advance(_done: int, _failed: int) -> None:
        parts.append(1)
        if len(parts) == when + 1:
            store.remove(kept)

    assert work(jobs, advance) == {}
    assert content(kept.folder) == before
    assert kept.faults() == []


def _asked(number: int) -> Experiment:
    return sweeps.experiment(PUBLISHED, [*RUN, f"runs={number}"])


def test_the_longest_block_stays_whoever_wrote_it() -> None:
    kept = stored(range(10))
    (short,) = kept.folder.glob("*.parquet")
    of_ten = short.read_bytes()
    add(kept, range(20), table(range(20)))
    short.write_bytes(of_ten)  # of another process, which had looked before
    add(kept, range(20), table(range(20)))
    assert len([*kept.folder.glob("*.parquet")]) == 1
    short.write_bytes(of_ten)
    add(kept, range(10), table(range(10)))
    assert [block.runs for block in kept.files()] == [range(20)]


def test_a_folder_that_is_moved_away_while_a_file_is_written_is_made_again(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    folder, original, calls = tmp_path / "a", Path.replace, list[Path]()

    def replace(self: Path, target: Path) -> Path:
        calls.append(target)
        if len(calls) == 1:
            folder.rename(tmp_path / "away")
        return original(self, target)

    monkeypatch.setattr(Path, "replace", replace)
    files.write(folder / "name", b"content")
    assert (folder / "name").read_bytes() == b"content"


@pytest.mark.skipif(not Path("/proc/self/fd").exists(), reason="names of open files are known on Linux only")
def test_the_folder_of_a_new_file_and_of_a_new_folder_are_flushed(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    flushed: list[str] = []
    original = os.fsync

    def flush(file: int) -> None:
        flushed.append(str(Path(f"/proc/self/fd/{file}").readlink()))
        original(file)

    monkeypatch.setattr(os, "fsync", flush)
    files.write(tmp_path / "new" / "name", b"content")
    assert flushed[0] == str(tmp_path)
    assert Path(flushed[1]).parent == tmp_path / "new"
    assert flushed[2] == str(tmp_path / "new")


def test_a_store_that_cannot_be_written_is_noticed_before_anything_is_computed(monkeypatch: pytest.MonkeyPatch) -> None:
    def refused(folder: Path) -> None:
        raise OSError(errno.EROFS, os.strerror(errno.EROFS), str(folder))

    monkeypatch.setattr(files, "check_writable", refused)
    monkeypatch.setattr("pomrl.running.work.simulate", lambda *_: pytest.fail("runs were computed"))
    status, _, err = call(run, *RUN, "runs=2")
    assert (status, "Read-only file system" in err) == (1, True)


@pytest.mark.parametrize(
    ("changed", "goes_on"),
    [(lambda version: version + "9", True), (lambda version: f"{version[0]}.999.0", False)],
    ids=["a patch release", "another release"],
)
def test_a_patch_release_that_gives_the_same_bytes_goes_on(
    changed: Callable[[str], str], goes_on: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert call(run, *RUN, "runs=3")[0] == 0
    here = decisive_versions()
    monkeypatch.setattr("pomrl.store.experiments.decisive_versions", lambda: here | {"numpy": changed(here["numpy"])})
    assert (call(run, *RUN, "runs=5")[0] == 0) is goes_on
    (kept,) = store.all_experiments()
    assert kept.read_manifest().versions == here
    monkeypatch.setattr("pomrl.running.work.is_recomputed", lambda *_, **__: False)
    assert call(run, *RUN, "runs=7")[0] == 1


def test_outputs_without_a_name_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("POMRL_OUTPUTS", "")
    status, _, err = call(runs)
    assert (status, err.count("\n")) == (1, 1)
    assert "POMRL_OUTPUTS must be the path of a folder" in err


@pytest.mark.parametrize("tag", ["=1+1", "+1", "-1", "@x"])
def test_no_cell_of_the_index_is_a_formula(tag: str, empty_outputs: Path) -> None:
    kept = stored(range(2))
    store.label(kept, tag)
    assert call(runs)[0] == 0
    (cell,) = pd.read_csv(empty_outputs / "index.csv", dtype=str)["tags"]
    assert cell == f"'{tag}"
