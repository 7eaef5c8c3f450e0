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
@pytest.mark.parametrize("override", ["runs=450", "runs=20"])
def test_every_reader_names_lost_files(lost: str, override: str) -> None:
    record = StoredExperiment(Path(call(run, *RUN, "runs=450", "+tag=mine")[1].split()[-1]))
    other = call(run, *RUN, "runs=3", "sigma=0.02")[1].split()[-1]
    before = content(record.folder)
    for path in record.folder.glob(lost):
        path.unlink()
    status, named, _ = call(runs, "--verify")
    assert (status, named.count("\n")) == (1, 1)
    assert named.startswith(str(record.folder))
    for command, arguments in ((runs, ()), (table_command, ()), (view, ("--once",)), (export, ("archive.zip",))):
        if command is export:
            arguments = (str(record.folder.parents[1] / "archive.zip"),)
        status, out, err = call(command, *arguments)
        assert (status, err.count(named.strip())) == (1, 1)
        assert record.signature not in out
        assert command is not runs or Path(other).name in out
    assert call(run, *RUN, override)[0] == 0
    assert content(record.folder) == before
    assert call(runs, "--verify")[0] == call(table_command)[0] == 0
    assert record.tags() == ["mine"]


@pytest.mark.parametrize("request_again", [("runs=20",), ("runs=20", "force=true")])
def test_a_lost_last_block_is_mended(request_again: tuple[str, ...]) -> None:
    record = StoredExperiment(Path(call(run, *RUN, "runs=450")[1].split()[-1]))
    before = content(record.folder)
    for path in (*record.folder.glob("runs-000400-*"), *record.folder.glob("*.complete")):
        path.unlink()
    status, named, _ = call(runs, "--verify")
    assert (status, named.partition(";")[0]) == (
        1,
        f"{record.folder / 'run.log'}: 400 of 450 runs are stored without a gap",
    )
    assert call(run, *RUN, *request_again)[0] == call(runs, "--verify")[0] == 0
    assert content(record.folder) == before


@pytest.mark.parametrize("line", ["stored runs 400 to 599 of another", "not stored runs 0 to 599", "\xe9"])
def test_other_log_lines_are_no_count(line: str) -> None:
    record = stored(range(2))
    (record.folder / "run.log").write_text(f"2026-11-28T21:17:21 {line}\n", encoding="latin-1")
    assert call(runs, "--verify")[0] == 0


def test_a_raised_count_is_named_and_computed() -> None:
    record = StoredExperiment(Path(call(run, *RUN, "runs=600")[1].split()[-1]))
    before = content(record.folder)
    count = (record.folder / "runs-000600.complete").rename(record.folder / "runs-000900.complete")
    del before["runs-000600.complete"]
    fault = f"{count}: 600 of 900 runs are stored without a gap"
    for command, arguments, ends in ((runs, ("--verify",), 1), (table_command, (), 1), (run, (*RUN, "runs=600"), 0)):
        status, out, err = call(command, *arguments)
        assert (status, (out + err).count(fault)) == (ends, 1)
    assert record.contiguous() == 900
    assert before.items() <= content(record.folder).items()
    assert call(runs, "--verify")[0] == 0


@pytest.mark.parametrize("name", ["runs-123456789012.complete", "runs-123456789000-123456789199-{}.parquet"])
def test_names_beyond_the_largest_run_are_ignored(name: str) -> None:
    record = stored(range(2))
    record.folder.joinpath(name.format("0" * 16)).touch()
    assert store.find_missing(record, 2) == ([], [])
    assert call(run, *RUN, "runs=2")[0] == 0


@pytest.mark.parametrize("name", ["runs-*.parquet", "experiment.json", "note-*"])
def test_folders_in_place_of_files_are_mended(name: str) -> None:
    record = StoredExperiment(Path(call(run, *RUN, "runs=2", "+note=mine")[1].split()[-1]))
    before = content(record.folder)
    (path,) = record.folder.glob(name)
    path.unlink()
    (path / "folder").mkdir(parents=True)
    assert call(runs, "--verify")[:2] == (1, ANY)
    assert call(run, *RUN, "runs=2", "+note=mine")[0] == call(runs, "--verify")[0] == 0
    assert (content(record.folder), record.notes()) == (before, ["mine"])


SECOND_CLAIM = """

@claim("K2", "first")
def losses_are_small(sweep):
    \"\"\"Without meta-learning the loss is small.\"\"\"
    without = sweep.at(estimator="without_meta").regret
    return [less(without, without + 1, "loss less loss and 1")]
"""


def test_a_damaged_block_hides_no_claims(tmp_path: Path) -> None:
    study = str(write(tmp_path / "own", SMALL, claims_py=CLAIM + SECOND_CLAIM))
    with inside(tmp_path, "own"):
        assert call(reproduce, study)[0] == 0
        (record,) = store.find(estimator="ada_pomrl")
        (path,) = record.folder.glob("*.parquet")
        path.write_bytes(path.read_bytes()[:-1])
        for command, text in ((claims, "not computed: K1"), (report, "index.html")):
            status, out, err = call(command, study)
            assert (status, err.count(str(path)), text in out) == (1, 1, True)
        assert call(reproduce, study)[0] == 0
        assert call(claims, study)[0] == call(report, study)[0] == 0


def test_all_tags_of_several_writers_are_kept() -> None:
    record, tags = stored(range(2)), [f"a/b %{number}" for number in range(90)]
    with ThreadPoolExecutor(5) as executor:
        list(executor.map(lambda tag: store.label(record, tag), tags))
    assert record.tags() == sorted(tags)
    store.label(record, without=tags[0])
    assert tags[0] not in record.tags()


def test_labels_in_old_descriptions_are_refused() -> None:
    record = stored(range(2))
    description = record.folder / "experiment.json"
    older = files.read_json(description).replace(b'"settings"', b'"tags": ["a", "b"],\n "settings"')
    text = older.removesuffix(b"}")
    description.write_bytes(text + b',\n "check": "' + files._end(text))
    assert "written by another version" in str(record.fault())
    with pytest.raises(store.StoreError, match="written by another version"):
        record.read_manifest()


@pytest.mark.parametrize("when", range(3))
def test_runs_removed_during_computation_are_recomputed(when: int) -> None:
    assert call(run, *RUN, "runs=450")[0] == 0
    (record,) = store.all_experiments()
    before = content(record.folder)
    store.remove(record)
    assert call(run, *RUN, "runs=60")[0] == 0
    jobs = plan([_requested(450)])
    calls: list[int] = []

    def advance(_done: int, _failed: int) -> None:
        calls.append(1)
        if len(calls) == when + 1:
            store.remove(record)

    assert work(jobs, advance) == {}
    assert content(record.folder) == before
    assert record.faults() == []


def _requested(number: int) -> Experiment:
    return sweeps.experiment(PUBLISHED, [*RUN, f"runs={number}"])


def test_the_longest_block_stays_whoever_wrote_it() -> None:
    record = stored(range(10))
    (short,) = record.folder.glob("*.parquet")
    short_content = short.read_bytes()
    add(record, range(20), table(range(20)))
    short.write_bytes(short_content)  # of another process, which had looked before
    add(record, range(20), table(range(20)))
    assert len([*record.folder.glob("*.parquet")]) == 1
    short.write_bytes(short_content)
    add(record, range(10), table(range(10)))
    assert [block.runs for block in record.files()] == [range(20)]


def test_a_moved_folder_is_made_again(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
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
def test_new_folders_are_flushed(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
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


def test_unwritable_stores_are_noticed_before_computing(monkeypatch: pytest.MonkeyPatch) -> None:
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
def test_patch_releases_may_continue_equal_bytes(
    changed: Callable[[str], str], goes_on: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert call(run, *RUN, "runs=3")[0] == 0
    present = decisive_versions()
    monkeypatch.setattr(
        "pomrl.store.experiments.decisive_versions", lambda: present | {"numpy": changed(present["numpy"])}
    )
    assert (call(run, *RUN, "runs=5")[0] == 0) is goes_on
    (record,) = store.all_experiments()
    assert record.read_manifest().versions == present
    monkeypatch.setattr("pomrl.running.work.is_recomputed", lambda *_, **__: False)
    assert call(run, *RUN, "runs=7")[0] == 1


def test_outputs_without_a_name_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("POMRL_OUTPUTS", "")
    status, _, err = call(runs)
    assert (status, err.count("\n")) == (1, 1)
    assert "POMRL_OUTPUTS must be the path of a folder" in err


@pytest.mark.parametrize("tag", ["=1+1", "+1", "-1", "@x"])
def test_index_cells_are_no_formulas(tag: str, empty_outputs: Path) -> None:
    record = stored(range(2))
    store.label(record, tag)
    assert call(runs)[0] == 0
    (cell,) = pd.read_csv(empty_outputs / "index.csv", dtype=str)["tags"]
    assert cell == f"'{tag}"
