"""The store: what it keeps, what it adds, what it reads, and what it does about damages."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from tests.support.sample_experiment import GAMMAS, add, experiment, stored, table

from pomrl import store
from pomrl.science.gamma_schedules import Hindsight
from pomrl.store import block_files, files
from pomrl.store.manifests import decisive_versions

pytestmark = pytest.mark.usefixtures("empty_outputs")


def block_path(record: store.StoredExperiment, start: int = 0) -> Path:
    return next(record.folder.glob(f"runs-{start:06d}-*.parquet"))


def test_what_is_stored_is_what_is_read() -> None:
    stored(range(10))
    pd.testing.assert_frame_equal(store.load(experiment()), table(range(10)))
    pd.testing.assert_frame_equal(store.load(experiment(), runs=4), table(range(4)))
    pd.testing.assert_frame_equal(store.by_signature(store.signature(experiment())[:6]).table(), table(range(10)))


def test_losses_equal_the_table_of_any_blocks() -> None:
    record = stored(range(50), range(50, 60))
    expected = table(range(55))["planning_loss"].to_numpy().reshape(55, 2, len(GAMMAS))
    losses, gammas = record.losses(55)
    last, mean, _ = record.mean_losses(55)
    assert gammas.tolist() == GAMMAS
    assert (losses == expected).all()
    assert (last == expected[..., -1]).all()
    assert (mean == expected.mean(1)).all()


def test_a_completed_block_equals_a_whole_one() -> None:
    whole = block_path(stored(range(50)))
    content = whole.read_bytes()
    whole.unlink()
    record = stored(range(3), range(3, 20), range(20, 50))
    assert [path.name for path in record.folder.glob("*.parquet")] == [whole.name]
    assert whole.read_bytes() == content


def test_longer_blocks_are_never_replaced() -> None:
    assert stored(range(10), range(5)).complete() == 10


def test_sound_blocks_replace_damaged_longer_ones() -> None:
    record = stored(range(20))
    _flip(block_path(record))
    add(record, range(10), table(range(10)))
    assert [block.runs for block in record.files()] == [range(10)]


def test_the_longest_of_equal_blocks_is_read() -> None:
    record, runs = stored(range(20)), range(10)
    shorter = block_files.encode(table(runs), record.signature, runs)
    (record.folder / store.StoredBlock.from_content(runs, shorter).name).write_bytes(shorter)
    assert record.contiguous() == 20


def test_a_growing_block_can_be_read() -> None:
    record = stored(*store.divide_into_blocks(203))
    blocks = record.iterate_columns(["planning_loss"], 203)
    first = next(blocks)["planning_loss"]
    add(record, range(203, 205), table(range(203, 205)))  # another process replaces the second block
    second = next(blocks)["planning_loss"]
    expected = table(range(203))["planning_loss"].to_numpy()
    np.testing.assert_array_equal(np.concatenate([first, second]).ravel(), expected)
    assert next(blocks, None) is None


def test_a_block_removed_during_reading_is_missed() -> None:
    record = stored(*store.divide_into_blocks(203))
    blocks = record.iterate_columns(["planning_loss"], 203)
    next(blocks)
    block_path(record, 200).unlink()
    with pytest.raises(store.StoreError, match="another process removed runs while they were read"):
        next(blocks)


def test_runs_after_a_gap_are_not_joined() -> None:
    record, runs = stored(range(3)), range(10, 20)
    encoded = block_files.encode(table(runs), record.signature, runs)
    assert not store.add_block(record, runs, {runs: encoded})
    assert [block.runs for block in record.files()] == [range(3)]


def test_new_numbers_replace_those_of_equal_runs() -> None:
    record = stored(range(10))
    add(record, range(10), table(range(10)).assign(planning_loss=0.0))
    assert (len(record.files()), record.losses()[0].max()) == (1, 0.0)


def test_concurrent_completion_writes_the_same() -> None:
    record = stored(range(3), range(3, 20))
    before = block_path(record).name
    add(record, range(3, 20), table(range(3, 20)))
    assert [path.name for path in record.folder.glob("*.parquet")] == [before]


def test_only_what_is_missing_is_asked_for() -> None:
    record = stored(range(200))
    assert record.complete() == 200
    add(record, range(200, 210), table(range(200, 210)))
    assert store.find_missing(record, 210) == ([], [])
    assert store.find_missing(record, 190) == ([], [])
    assert store.find_missing(record, 420)[0] == [range(210, 400), range(400, 420)]


def test_runs_after_a_gap_are_hidden() -> None:
    record = stored(range(200), range(400, 410))
    with pytest.warns(store.StoreWarning, match="200 of 410 runs are stored without a gap"):
        assert record.complete() == 0
    with pytest.raises(store.StoreError, match="200 of 410 runs"):
        record.table(100)
    assert store.find_missing(record, 100) == ([range(200, 400)], record.faults())
    assert store.find_missing(record, 420)[0] == [range(200, 400), range(410, 420)]


def test_readers_beside_writers_meet_no_fault() -> None:
    rows, record = table(range(50)), stored(range(1))
    ranges = [range(stop - 1, stop) for stop in range(2, 51)]
    with ThreadPoolExecutor(1) as executor:
        writing = executor.submit(lambda: [add(record, runs, rows.loc[rows["run"].isin(runs)]) for runs in ranges])
        while not writing.done():
            assert record.faults() == []
            rows_read = record.table()
            pd.testing.assert_frame_equal(rows_read, rows[: len(rows_read)])
        writing.result()
    assert record.complete() == 50


def _flip(path: Path) -> None:
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 1
    path.write_bytes(content)


@pytest.mark.parametrize(
    "damage",
    [
        _flip,
        lambda path: path.write_bytes(path.read_bytes()[:100]),
        lambda path: path.write_bytes(b""),
        lambda path: path.rename(path.with_name(path.name.replace(path.name[19:23], "0000"))),
        Path.unlink,
    ],
    ids=["a flipped bit", "half a file", "an empty file", "another name", "no file"],
)
def test_damaged_blocks_are_computed_again(damage: Callable[[Path], None]) -> None:
    record = stored(range(200), range(200, 210))
    path, content = block_path(record), block_path(record).read_bytes()
    damage(path)
    with pytest.raises(store.StoreError):
        record.table()
    assert store.find_missing(record, 210)[0] == [range(200)]
    add(record, range(200), table(range(200)))
    assert path.read_bytes() == content
    assert record.faults() == []
    assert record.complete() == 210


def test_removed_blocks_are_missing_but_not_damaged() -> None:
    record = stored(range(10))
    (block,) = record.blocks()
    block_path(record).unlink()
    with pytest.raises(store.StoreError, match=f"{block.name}: missing; "):
        block_files.columns(record.folder, block, ["run"], None)


@pytest.mark.parametrize(
    "change",
    [
        lambda rows: rows.assign(planning_loss=np.nan),
        lambda rows: rows.assign(planning_loss=np.inf),
        lambda rows: rows.assign(run=rows["run"] + 1),
        lambda rows: rows[rows["gamma"] > 0.0],
        lambda rows: pd.concat([rows, rows[(rows["task"] == 1) & (rows["gamma"] == 0.0)]]).sort_values("run"),
    ],
    ids=["no numbers", "infinities", "other runs", "fewer discount factors", "more rows"],
)
def test_blocks_with_other_content_are_damaged(change: Callable[[pd.DataFrame], pd.DataFrame]) -> None:
    record = stored(range(10))
    add(record, range(10), change(table(range(10))))
    assert store.find_missing(record, 10)[0] == [range(10)]


def test_files_above_the_limit_are_damaged(monkeypatch: pytest.MonkeyPatch) -> None:
    record = stored(range(10))
    monkeypatch.setattr(files, "MAX_BYTES", block_path(record).stat().st_size)
    assert store.find_missing(record, 10)[0] == [range(10)]


def test_tags_must_fit_into_file_names() -> None:
    record = stored(range(10))
    store.label(record, "x" * 251)
    with pytest.raises(store.StoreError, match="at most 255 bytes, got 256"):
        store.label(record, "x" * 252)
    assert record.tags() == ["x" * 251]


def test_everybody_may_read_what_is_stored() -> None:
    assert {path.stat().st_mode & 0o777 for path in stored(range(10)).paths()} == {0o644}


@pytest.mark.parametrize("runs", ["000010-000005", "0000000-0000009", "00000-00009"])
def test_foreign_names_are_no_blocks(runs: str) -> None:
    record = stored(range(10))
    (record.folder / f"runs-{runs}-0123456789abcdef.parquet").touch()
    assert [block.runs for block in record.files()] == [range(10)]


def test_the_block_of_another_experiment_is_refused() -> None:
    record = stored(range(10))
    other = store.open_experiment(experiment(sigma=0.02))
    path = block_path(record)
    path.rename(other.folder / path.name)
    assert store.find_missing(other, 10)[0] == [range(10)]


def test_renamed_blocks_are_refused() -> None:
    record = stored(range(10))
    path = block_path(record)
    path.rename(path.with_name(path.name.replace("000000-000009", "000200-000209")))
    assert "does not match this experiment and these runs" in record.faults()[0]


@pytest.mark.parametrize("damage", [_flip, Path.unlink, lambda path: path.write_text("{}")])
def test_a_damaged_description_costs_no_block(damage: Callable[[Path], None]) -> None:
    record = stored(range(10))
    damage(record.folder / "experiment.json")
    assert "experiment.json" in record.faults()[0]
    assert store.find_missing(record, 10)[0] == []
    assert store.open_experiment(experiment()).faults() == []
    pd.testing.assert_frame_equal(record.table(), table(range(10)))


@pytest.mark.parametrize("package", ["numpy", "scipy", "pandas", "pyarrow"])
def test_other_versions_do_not_continue_a_run(monkeypatch: pytest.MonkeyPatch, package: str) -> None:
    stored(range(10))
    other = decisive_versions() | {package: "0.0"}
    monkeypatch.setattr("pomrl.store.experiments.decisive_versions", lambda: other)
    with pytest.raises(store.StoreError, match=f"computed with .*{package} .*force=true"):
        store.open_experiment(experiment())
    assert store.open_experiment(experiment(), force=True).read_manifest().versions == other


def test_edited_code_gives_another_signature(monkeypatch: pytest.MonkeyPatch) -> None:
    record = stored(range(10))
    assert not record.read_manifest().is_outdated()
    assert replace(record.read_manifest(), schema=1).is_outdated()
    monkeypatch.setattr("pomrl.store.experiments.code_digest", lambda components: "another")
    monkeypatch.setattr("pomrl.store.manifests.code_digest", lambda components: "another")
    assert store.signature(experiment()) != record.signature
    assert record.read_manifest().is_outdated()


def test_missing_runs_are_an_error() -> None:
    stored(range(10))
    with pytest.raises(store.StoreError, match="10 of 11 runs"):
        store.load(experiment(), runs=11)
    with pytest.raises(store.StoreError, match="the signature ffff must match one stored experiment"):
        store.by_signature("ffff")
    store.open_experiment(experiment(sigma=0.02))
    with pytest.raises(store.StoreError, match="must match one stored experiment, got 2"):
        store.by_signature("")


def test_hindsight_is_chosen_when_read() -> None:
    stored(range(10))
    selected = store.load(experiment(Hindsight(gammas=GAMMAS, scope="each_task", choice="per_run")))
    smallest = table(range(10)).groupby(["run", "task"])["planning_loss"].min().to_numpy()
    assert (selected["planning_loss"].to_numpy() == smallest).all()


def test_misplaced_descriptions_are_not_used() -> None:
    record, other = stored(range(10)), store.open_experiment(experiment(sigma=0.02))
    (record.folder / "experiment.json").write_bytes((other.folder / "experiment.json").read_bytes())
    with pytest.warns(store.StoreWarning, match="its settings do not match"):
        assert store.find(sigma=0.02) == [other]
    assert "its settings do not match the signature" in record.faults()[0]


def test_runs_are_found_by_their_settings() -> None:
    record = stored(range(10))
    assert store.find(sigma=0.01, estimator="fixed_mixing") == [record]
    assert store.find(**{"estimator.mixing": 0.5}) == [record]
    assert store.find(sigma=[0.01, 0.02]) == [record]
    assert store.find(sigma=0.02) == store.find(sigma=[0.02, 0.03]) == []
    with pytest.raises(store.StoreError, match=r"sigam: unknown key of stored experiments \(did you mean sigma\?\); "):
        store.find(sigam=0.01)
