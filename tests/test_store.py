"""The store: what it keeps, and what it does with what is damaged, of another experiment, or no file of its own."""

import contextlib
import errno
import fcntl
import os
import random
import shutil
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
import yaml
from numpy.testing import assert_array_equal

from pomrl import store
from pomrl.configuration.parsing import Experiment, Request
from pomrl.estimators import Estimator
from pomrl.execution import Isolation, Local
from pomrl.experiment import Method, Problem, tables
from pomrl.gamma_schedules import GammaSchedule, Grid, Hindsight
from pomrl.planners import PolicyIteration
from pomrl.running import sweeps
from pomrl.running.blocks import Status
from pomrl.store import blocks, files, manifest
from pomrl.store.provenance import DECISIVE, decisive_versions
from pomrl.store.signatures import signature_of
from pomrl.task_distributions import Dirichlet

GAMMAS = [0.0, 0.5, 0.9]


@pytest.fixture(autouse=True)
def outputs(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("POMRL_OUTPUTS", str(tmp_path))


def experiment(schedule: GammaSchedule | None = None, sigma: float = 0.01) -> Experiment:
    distribution = Dirichlet(zeros=2)
    return Experiment(
        problem=Problem(S=4, A=2, m=3, T=2, sigma=sigma, gamma_eval=0.9, seed=0, task_distribution=distribution),
        method=Method(
            estimator=Estimator(mixing=0.5),
            gamma_schedule=schedule or Grid(gammas=GAMMAS),
            planner=PolicyIteration(),
        ),
        request=Request(runs=10),
        execution=Local(),
        options={"estimator": "fixed_mixing"},
    )


def table(runs: range) -> pd.DataFrame:
    described = experiment()
    return tables(described.problem, [described.method], runs)[0]


def stored(*parts: range) -> store.StoredExperiment:
    kept = store.open_experiment(experiment(), force=False)
    for part in parts:
        store.add(kept, part, table(part))
    return kept


def test_what_is_stored_is_what_is_read() -> None:
    stored(range(10))
    pd.testing.assert_frame_equal(store.load(experiment()), table(range(10)))
    pd.testing.assert_frame_equal(store.load(experiment(), runs=4), table(range(4)))
    pd.testing.assert_frame_equal(store.load(store.signature(experiment())[:6]), table(range(10)))


def test_a_block_is_completed_and_its_bytes_are_those_of_a_whole_one() -> None:
    whole = next(stored(range(50)).folder.glob("*.parquet")).read_bytes()
    store.remove(store.lookup(experiment()))
    kept = stored(range(3), range(3, 20), range(20, 50))
    files = list(kept.folder.glob("*.parquet"))
    assert [file.name for file in files] == ["runs-000000-000049.parquet"]
    assert files[0].read_bytes() == whole


def test_a_block_is_never_replaced_by_one_with_fewer_runs() -> None:
    kept = stored(range(10), range(5))
    assert kept.complete() == 10


def test_only_what_is_missing_is_asked_for() -> None:
    kept = stored(range(50), range(50, 60))
    assert store.missing(kept, 60) == ([], [])
    assert store.missing(kept, 40) == ([], [])
    assert store.missing(kept, 120)[0] == [range(60, 100), range(100, 120)]


def test_who_reads_while_another_process_writes_meets_no_fault() -> None:
    """The writer puts a longer block in the place of a shorter one, again and again."""
    rows, kept = table(range(50)), stored(range(1))
    parts = [range(stop - 1, stop) for stop in range(2, 51)]
    with ThreadPoolExecutor(1) as others:
        writing = others.submit(lambda: [store.add(kept, part, rows.loc[rows["run"].isin(part)]) for part in parts])
        while not writing.done():
            assert kept.sound_blocks()[1] == []
            read = kept.table()
            pd.testing.assert_frame_equal(read, rows[: len(read)])
        writing.result()
    assert kept.complete() == 50


def test_a_run_whose_first_manifest_is_being_written_has_no_fault() -> None:
    kept = stored()
    (kept.folder / "manifest.json").unlink()
    assert store.missing(kept, 50) == ([range(50)], [])


@pytest.mark.parametrize("damage", ["flip", "truncate", "remove"])
def test_a_damaged_block_is_noticed_and_computed_again(damage: str) -> None:
    kept = stored(range(50), range(50, 60))
    file = kept.folder / "runs-000000-000049.parquet"
    content = bytearray(file.read_bytes())
    content[100] ^= 1
    {
        "flip": lambda: file.write_bytes(content),
        "truncate": lambda: file.write_bytes(content[:99]),
        "remove": file.unlink,
    }[damage]()
    parts, faults = store.missing(kept, 60)
    assert parts == [range(50)]
    assert len(faults) == 1
    assert file.name in faults[0]
    with pytest.raises(store.StoreError, match=file.name):
        kept.table()
    store.add(kept, range(50), table(range(50)))
    pd.testing.assert_frame_equal(kept.table(), table(range(60)))


@pytest.mark.parametrize("text", ["", "{", "[]", '{"schema": 0}'])
def test_a_manifest_that_cannot_be_read_or_is_of_another_version_counts_for_nothing(text: str) -> None:
    kept = stored(range(10))
    (kept.folder / "manifest.json").write_text(text)
    parts, faults = store.missing(kept, 10)
    assert parts == [range(10)]
    assert len(faults) == 1
    assert "manifest.json" in faults[0]
    store.add(store.open_experiment(experiment(), force=False), range(10), table(range(10)))
    assert kept.complete() == 10


@pytest.mark.parametrize("package", DECISIVE)
def test_a_run_is_not_continued_under_another_version(monkeypatch: pytest.MonkeyPatch, package: str) -> None:
    stored(range(10))
    other = decisive_versions() | {package: "0.0"}
    monkeypatch.setattr("pomrl.store.writing.decisive_versions", lambda: other)
    with pytest.raises(store.StoreError, match=f"computed with {package} .*, this is 0.0; force=true"):
        store.open_experiment(experiment(), force=False)
    assert store.open_experiment(experiment(), force=True).complete() == 0


def test_missing_runs_are_an_error_and_not_a_shorter_table() -> None:
    stored(range(10))
    with pytest.raises(store.StoreError, match="10 of 11 runs"):
        store.load(experiment(), runs=11)
    with pytest.raises(store.StoreError, match="no stored experiment has a signature that starts with ffff"):
        store.load("ffff")


@pytest.mark.parametrize("choice", ["population", "per_run"])
def test_hindsight_is_chosen_from_the_grid_when_it_is_read(choice: str) -> None:
    stored(range(10))
    grid = table(range(10))
    mean = grid.groupby(["task", "gamma"])["planning_loss"].mean().unstack()
    best = Hindsight(gammas=GAMMAS, scope="each_task", choice=choice)  # type: ignore[arg-type]
    chosen = store.load(experiment(best))
    assert len(chosen) == 20
    if choice == "population":
        assert chosen.groupby("task")["planning_loss"].mean().to_numpy() == pytest.approx(mean.min(axis=1).to_numpy())
    else:
        smallest = grid.groupby(["run", "task"])["planning_loss"].min().to_numpy()
        assert (chosen["planning_loss"].to_numpy() == smallest).all()


def test_runs_are_found_by_their_settings() -> None:
    kept = stored(range(10))
    assert store.find(sigma=0.01, estimator="fixed_mixing") == [kept]
    assert store.find(**{"estimator.mixing": 0.5}) == [kept]
    assert store.find(sigma=0.02) == []
    with pytest.raises(store.StoreError, match="sigam: no stored experiment has this key"):
        store.find(sigam=0.01)


def test_the_manifest_says_when_a_computation_has_come_to_its_end() -> None:
    kept = stored(range(10))
    assert not kept.is_closed()
    store.close_experiment(kept, "complete", 1.0)
    assert kept.is_closed()
    (kept.folder / "config.yaml").unlink()
    assert not kept.is_closed()
    assert kept.settings() == {}
    assert store.open_experiment(experiment(), force=False).settings()["S"] == 4
    assert kept.complete() == 10


@dataclass(frozen=True, kw_only=True)
class Elsewhere(Local):
    """Its workers store what they compute, in a folder that is not ours."""

    def map_unordered(self, function, work, isolation=Isolation.PROCESS):
        return ((index, [[Status.STORED]] * len(each.item)) for index, each in enumerate(work))


def test_a_computation_is_complete_only_where_its_runs_are_here() -> None:
    asked = replace(experiment(), request=Request(runs=60), execution=Elsewhere())
    (job,) = sweeps.checked_jobs([asked])
    failures = sweeps.compute([job], lambda tally: None)
    assert "0 of 60 runs are stored here" in failures[job.stored.signature].reason
    assert not job.stored.is_closed()


# Damages: each is noticed, and then mended or refused, but never used.

WHOLE = "runs-000000-000049.parquet"


def other() -> store.StoredExperiment:
    """Another experiment, with a block of the same runs."""
    described = experiment(sigma=0.02)
    kept = store.open_experiment(described)
    store.add(kept, range(50), tables(described.problem, [described.method], range(50))[0])
    return kept


def swap_in(kept: store.StoredExperiment, name: str, content: bytes, said: range) -> None:
    """Put content in the place of a block, and list it with its true digest."""
    (kept.folder / name).write_bytes(content)
    blocks.rewrite(kept.folder, [blocks.described(said, content)])


def test_the_block_of_another_experiment_is_refused_even_with_its_digest() -> None:
    kept = stored(range(50))
    swap_in(kept, WHOLE, (other().folder / WHOLE).read_bytes(), range(50))
    assert store.missing(kept, 50)[0] == [range(50)]
    with pytest.raises(store.StoreError, match="those of another experiment"):
        kept.table()


def test_a_block_is_refused_under_another_range_of_runs_even_with_its_digest() -> None:
    kept = stored(range(40))
    content = (kept.folder / "runs-000000-000039.parquet").read_bytes()
    swap_in(kept, WHOLE, content, range(50))
    parts, faults = store.missing(kept, 50)
    assert parts == [range(50)]
    assert "it holds other runs" in faults[0]


def test_a_folder_that_was_copied_under_another_signature_is_refused() -> None:
    kept = stored(range(10))
    copy = store.root() / ("0" * 12)
    shutil.copytree(kept.folder, copy)
    copied = store.by_signature("000000")
    assert copied.manifest() is None
    assert copied.settings() == {}
    assert copied.outdated() is None
    with pytest.raises(store.StoreError, match="0 of 1 runs"):
        store.load("000000", 1)
    assert "another experiment" in copied.faults()[0]


@pytest.mark.parametrize(("old", "new"), [("sigma: 0.01", "sigma: 0.02"), ("prior: inclusive", "prior: exclusive")])
def test_a_changed_value_in_the_settings_is_named_and_mended(old: str, new: str) -> None:
    kept = stored(range(10))
    store.close_experiment(kept, "complete", 1.0)
    path = kept.folder / "config.yaml"
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new))
    assert kept.settings() == {}
    assert not kept.is_closed()
    assert "config.yaml" in kept.faults()[0]
    store.open_experiment(experiment())
    assert path.read_text() == text
    assert kept.faults() == []
    assert kept.complete() == 10


def test_every_damaged_byte_of_the_small_files_is_noticed_or_makes_no_difference() -> None:
    kept = stored(range(50), range(50, 60))
    rows, settings, said = kept.table(), kept.settings(), kept.manifest()
    moments = random.Random(0)
    for name in ("config.yaml", "manifest.json", "blocks.jsonl"):
        path = kept.folder / name
        content = path.read_bytes()
        for _ in range(60):
            damaged = bytearray(content)
            damaged[moments.randrange(len(content))] ^= 1 << moments.randrange(8)
            path.write_bytes(damaged)
            assert kept.settings() in ({}, settings)
            assert kept.manifest() in (None, said)
            assert kept.complete() in (0, 50, 60)
            if kept.complete():
                pd.testing.assert_frame_equal(kept.table(), rows[: len(kept.table())])
        path.write_bytes(content)


@pytest.mark.parametrize("end", ["{", '{"runs": [50, 60], "size"', "\0\0\0"])
def test_an_unfinished_last_line_is_ignored_and_replaced(end: str) -> None:
    kept = stored(range(50))
    with (kept.folder / "blocks.jsonl").open("a") as file:
        file.write(end)
    assert kept.sound_blocks()[1] == []
    store.add(kept, range(50, 100), table(range(50, 100)))
    assert kept.complete() == 100
    assert kept.faults() == []


def test_a_damaged_line_in_the_middle_is_named_and_mended() -> None:
    kept = stored(range(50), range(50, 60))
    path = kept.folder / "blocks.jsonl"
    path.write_text(path.read_text().replace('"runs": [0, 50]', '"runs": [0, 49]'))
    parts, faults = store.missing(kept, 60)
    assert parts == [range(50)]
    assert "blocks.jsonl: line 1 is damaged" in faults[0]
    store.add(store.open_experiment(experiment()), range(50), table(range(50)))
    assert kept.faults() == []
    pd.testing.assert_frame_equal(kept.table(), table(range(60)))


@pytest.mark.parametrize("name", ["config.yaml", "manifest.json", "blocks.jsonl", WHOLE, "run.log", ".lock"])
@pytest.mark.parametrize("kind", ["link", "fifo", "folder"])
def test_what_is_no_ordinary_file_is_never_followed_or_waited_for(tmp_path: Path, name: str, kind: str) -> None:
    kept = stored(range(50))
    path, victim = kept.folder / name, tmp_path / "victim"
    path.unlink(missing_ok=True)
    victim.write_text("theirs")
    {"link": lambda: path.symlink_to(victim), "fifo": lambda: os.mkfifo(path), "folder": path.mkdir}[kind]()
    assert not kept.is_removable()
    for action in (
        kept.faults,
        lambda: store.open_experiment(experiment()),
        lambda: store.add(kept, range(50), table(range(50))),
        lambda: store.log(kept, "a line"),
        lambda: store.remove(kept),
    ):
        with contextlib.suppress(store.StoreError, OSError):
            action()
    assert victim.read_text() == "theirs"


@pytest.mark.parametrize("name", ["manifest.json", "config.yaml", "blocks.jsonl"])
def test_a_folder_in_the_place_of_a_file_is_refused_before_anything_is_removed(name: str) -> None:
    kept = stored(range(10))
    (kept.folder / name).unlink()
    (kept.folder / name).mkdir()
    before = sorted(kept.folder.glob("*.parquet"))
    with pytest.raises(store.StoreError, match=f"{name}: it is a folder in the place of a file"):
        store.open_experiment(experiment())
    assert sorted(kept.folder.glob("*.parquet")) == before != []


@pytest.mark.parametrize("name", ["config.yaml", "manifest.json", "blocks.jsonl", WHOLE])
def test_a_file_of_absurd_size_is_refused_without_reading_it(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    kept = stored(range(50))
    os.truncate(kept.folder / name, 2**33)
    reads: list[Path] = []
    real = files.read
    monkeypatch.setattr(files, "read", lambda path, most: (reads.append(path), real(path, min(most, 2**30)))[1])
    assert kept.faults()
    assert kept.folder / name in reads


def test_aliases_and_deep_nesting_in_settings_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    kept = stored(range(10))
    monkeypatch.setattr("pomrl.store.reading.signature_of", lambda *_, **__: kept.signature)
    bomb = "a: &a [1, 1]\n" + "".join(f"{y}: &{y} [*{x}, *{x}]\n" for x, y in pairwise("abcdefghijklmnopqrstuvwxyz"))
    for text in (bomb, "a: " + "[" * 10_000, "!!python/object/apply:os.system [exit 1]", "a: !!python/name:os.system"):
        (kept.folder / "config.yaml").write_text(text)
        assert kept.settings() == {}
        assert "config.yaml" in kept.faults()[0]


def test_nothing_that_is_stored_is_imported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "hostile_package").mkdir()
    for name in ("hostile_package/__init__.py", "hostile_package/module.py"):
        (tmp_path / name).write_text("raise SystemExit('this code was run')\n")
    monkeypatch.syspath_prepend(tmp_path)
    kept = stored(range(10))
    said = kept.manifest()
    assert said
    settings = kept.settings()
    settings["estimator"]["_target_"] = "hostile_package.module.Estimator"
    signature = signature_of(settings, schema=said.schema, code=said.code)
    folder = kept.folder.rename(store.root() / signature)
    (folder / "config.yaml").write_text(yaml.safe_dump(settings))
    manifest.write(folder, replace(said, signature=signature))
    assert store.StoredExperiment(folder).outdated() == "the code has changed since"
    assert not [name for name in sys.modules if name.startswith("hostile_package")]


def test_names_in_a_list_cannot_lead_elsewhere(tmp_path: Path) -> None:
    victim = tmp_path / "victim.txt"
    victim.write_text("theirs")
    kept = stored(range(10))
    with (kept.folder / "blocks.jsonl").open("a") as file:
        file.write('{"runs": [0, 50], "name": "../../victim.txt", "size": 6, "sha256": "", "check": ""}\n' * 2)
    store.open_experiment(experiment(), force=True)
    store.remove(kept)
    assert victim.read_text() == "theirs"


@pytest.mark.parametrize("name", ["notes.txt", "runs-1-2.parquet", "runs-000000-000009.parquet.bak", "mine"])
def test_a_folder_with_files_of_someone_else_is_left_alone(name: str) -> None:
    kept = stored(range(10))
    (kept.folder / name).write_text("mine")
    with pytest.raises(store.StoreError, match="left alone"):
        store.remove(kept)
    store.open_experiment(experiment(), force=True)
    assert (kept.folder / name).read_text() == "mine"
    assert kept.complete() == 10


def test_folders_of_ones_own_and_links_are_no_experiments() -> None:
    kept = stored(range(10))
    (store.root() / "notes").mkdir()
    (store.root() / ("0" * 12)).symlink_to(kept.folder)
    assert store.all_experiments() == [kept]


def test_what_only_looks_damaged_is_not_outdated() -> None:
    kept = stored(range(10))
    assert kept.outdated() is None
    for name in ("config.yaml", "manifest.json"):
        content = (kept.folder / name).read_bytes()
        (kept.folder / name).write_bytes(content[:-20])
        assert kept.outdated() is None
        (kept.folder / name).write_bytes(content)
    (kept.folder / "manifest.json").write_text('{"schema": 1, "blocks": {}}')
    assert kept.outdated() == "another version of the store wrote it"
    assert kept.status() == "other version"
    assert kept.is_removable()


def test_adding_a_block_reads_and_writes_as_much_to_a_long_list_as_to_a_short_one(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Counts bytes that are read and written, and files that are looked at."""
    kept, rows = stored(), table(range(50))
    costs = []
    for count in (1, 20_000):
        have = len(kept.blocks())
        parts = [range(50 * i, 50 * i + 50) for i in range(have, count)]
        blocks.append(kept.folder, [store.StoredBlock(part, 1, "0" * 64) for part in parts])
        calls: list[tuple[str, int]] = []
        with monkeypatch.context() as counted:
            for name in ("open", "pread", "pwrite", "ftruncate", "scandir", "listdir", "read"):
                counted.setattr(os, name, counting(getattr(os, name), calls))
            runs = range(50 * count, 50 * count + 50)
            store.add(kept, runs, rows.assign(run=rows["run"] + runs.start))
        costs.append(calls)
    short, long = costs
    assert [name for name, _ in short] == [name for name, _ in long]
    assert sum(size for _, size in long) < sum(size for _, size in short) + 2 * 4096


def counting(call: Callable[..., Any], calls: list[tuple[str, int]]) -> Callable[..., Any]:
    """Return a function that makes the call, and appends its name and the number of its bytes to `calls`."""

    def counted(*arguments: Any, **keywords: Any) -> Any:
        result = call(*arguments, **keywords)
        size = len(result) if isinstance(result, bytes) else result if call.__name__ == "pwrite" else 0
        calls.append((call.__name__, size))
        return result

    return counted


def test_blocks_of_one_dispatch_are_flushed_before_one_lock_is_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    kept, events = stored(), []
    real_lock, real_sync = fcntl.flock, os.fsync
    lock = (kept.folder / ".lock").stat().st_ino

    def flock(descriptor: int, operation: int) -> None:
        if os.fstat(descriptor).st_ino == lock:
            events.append("locked")
        real_lock(descriptor, operation)

    monkeypatch.setattr(fcntl, "flock", flock)
    monkeypatch.setattr(os, "fsync", lambda descriptor: (events.append("flushed"), real_sync(descriptor)))
    store.add_blocks(kept, [(range(50), table(range(50))), (range(50, 60), table(range(50, 60)))])
    assert events == ["flushed", "flushed", "locked"]
    pd.testing.assert_frame_equal(kept.table(), table(range(60)))


def test_one_column_is_read_without_the_others() -> None:
    kept, rows = stored(range(50), range(50, 60)), table(range(60))
    assert_array_equal(kept.column("alpha"), rows["alpha"])
    assert_array_equal(kept.column("run", 55), rows["run"][rows["run"] < 55])
    loss, gammas = kept.losses(55)
    assert loss.shape == (55, 2, 3)
    assert_array_equal(loss.ravel(), rows["planning_loss"][rows["run"] < 55])
    assert_array_equal(gammas, GAMMAS)


def test_temporary_files_of_a_killed_writer_go_and_those_of_a_living_one_stay() -> None:
    kept = stored(range(10))
    orphan = kept.folder / f".{WHOLE}.{'0' * 16}.tmp"
    orphan.write_bytes(b"torn")
    with files.flushed(kept.folder / WHOLE, b"content") as living:
        store.open_experiment(experiment())
        assert living.exists()
        assert not orphan.exists()
    assert not living.exists()


def test_a_file_is_written_whole_or_not_at_all(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    path = tmp_path / "table.csv"
    files.write(path, b"before")

    def full(_: int) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match=r"No space left on device: .*table\.csv"):
        files.write(path, b"after")
    assert path.read_bytes() == b"before"
    assert [each.name for each in tmp_path.iterdir()] == ["table.csv"]
