"""RO-Crates of what is stored: written, moved, checked and added again."""

import hashlib
import json
import os
import re
import shutil
import zipfile
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from tests.support.computed import Command, call

from pomrl import store
from pomrl.commands import audit, export, import_, progress, run, runs
from pomrl.commands.repairing import from_settings
from pomrl.running import auditing
from pomrl.store import blocks, reading

SMALL = ("T=1", "S=4", "runs=2")


@pytest.fixture(scope="module")
def computed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("computed")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("POMRL_OUTPUTS", str(folder))
        assert call(run, "-m", "sigma=0.01,0.02", *SMALL)[0] == 0
    (folder / "figures").mkdir()
    (folder / "figures" / "mine.csv").write_text("x\n1\n")
    return folder


@pytest.fixture
def crate(computed: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A crate of everything; what is imported goes to an empty folder of outputs."""
    monkeypatch.setenv("POMRL_OUTPUTS", str(computed))
    path = tmp_path / "crate.zip"
    assert call(export, str(path))[:2] == (0, f"{path}\n")
    monkeypatch.setenv("POMRL_OUTPUTS", str(tmp_path / "elsewhere"))
    return path


def content(folder: Path) -> dict[str, bytes]:
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file() and path.name != ".lock"
    }


def test_what_is_exported_moved_and_imported_is_what_was_stored(crate: Path, computed: Path, tmp_path: Path) -> None:
    status, out, err = call(import_, str(crate))
    assert (status, len(out.split())) == (0, 2), err
    assert content(tmp_path / "elsewhere" / "runs") == content(computed / "runs")
    assert {path.name for path in (tmp_path / "elsewhere").iterdir()} == {"runs", ".imported.json", ".lock"}
    assert call(runs, "--verify")[0] == 0
    assert "2 of 2 stored already" in call(run, "-m", "sigma=0.01,0.02", *SMALL)[2]
    assert "0 added, 2 stored already" in call(import_, str(crate))[2]


def test_the_description_names_every_file_and_equal_stores_give_equal_bytes(crate: Path, computed: Path) -> None:
    with zipfile.ZipFile(crate) as archive:
        graph = json.loads(archive.read("ro-crate-metadata.json"))["@graph"]
        described = {each["@id"]: each for each in graph}
        names = set(archive.namelist()) - {"ro-crate-metadata.json"}
        assert "figures/mine.csv" in names
        assert {name for name, each in described.items() if each["@type"] == "File"} == names
        assert all(described[name]["sha256"] == hashlib.sha256(archive.read(name)).hexdigest() for name in names)
    assert described["ro-crate-metadata.json"]["about"] == {"@id": "./"}
    assert {"name", "description", "datePublished", "license"} <= set(described["./"])
    parts = [part["@id"] for each in graph for part in each.get("hasPart", [])]
    assert set(parts) <= set(described)
    assert names <= set(parts)
    again = crate.with_name("again.zip")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("POMRL_OUTPUTS", str(computed))
        assert call(export, str(again))[0] == 0
    assert again.read_bytes() == crate.read_bytes()


def test_filters_choose_what_is_exported(computed: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("POMRL_OUTPUTS", str(computed))
    path = tmp_path / "one.zip"
    assert call(export, str(path), "sigma=0.02")[0] == 0
    monkeypatch.setenv("POMRL_OUTPUTS", str(tmp_path / "elsewhere"))
    assert call(import_, str(path))[0] == 0
    assert [each.settings()["sigma"] for each in store.all_experiments()] == [0.02]


def test_more_runs_than_are_stored_are_not_imported_over_them(crate: Path, tmp_path: Path) -> None:
    assert call(run, "sigma=0.01", "T=1", "S=4", "runs=1")[0] == 0
    status, out, err = call(import_, str(crate))
    assert (status, len(out.split())) == (1, 1)
    assert "1 runs are stored here and 2 are in the crate" in err


def rewritten(crate: Path, change: Callable[[dict[str, bytes]], None]) -> None:
    """Write the archive again with other contents, as an editor of zip archives would."""
    with zipfile.ZipFile(crate) as archive:
        contents = {name: archive.read(name) for name in archive.namelist()}
    change(contents)
    with zipfile.ZipFile(crate, "w") as archive:
        for name, each in contents.items():
            archive.writestr(name, each)


def a_block(contents: dict[str, bytes]) -> str:
    return next(name for name in contents if name.endswith(".parquet"))


def edit(contents: dict[str, bytes]) -> None:
    contents[a_block(contents)] += b"x"


def lose(contents: dict[str, bytes]) -> None:
    del contents[a_block(contents)]


def slip_in(contents: dict[str, bytes]) -> None:
    contents["../outside.txt"] = b"x"


def forge(contents: dict[str, bytes]) -> None:
    """Edit settings, and the digest of them in the description too."""
    name = next(name for name in contents if name.endswith("config.yaml"))
    before = hashlib.sha256(contents[name]).hexdigest().encode()
    contents[name] = contents[name].replace(b"sigma: 0.0", b"sigma: 0.1")
    after = hashlib.sha256(contents[name]).hexdigest().encode()
    contents["ro-crate-metadata.json"] = contents["ro-crate-metadata.json"].replace(before, after)


def strip(contents: dict[str, bytes]) -> None:
    del contents["ro-crate-metadata.json"]


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (edit, "is damaged: its digest"),
        (lose, "not both in it and in its description"),
        (slip_in, "not both in it and in its description"),
        (forge, "its settings are not those that were computed here"),
        (strip, "it has no ro-crate-metadata.json"),
    ],
)
def test_a_crate_that_was_changed_is_refused_whole(
    change: Callable[[dict[str, bytes]], None], said: str, crate: Path, tmp_path: Path
) -> None:
    rewritten(crate, change)
    status, out, err = call(import_, str(crate))
    assert (status, out, err.count("\n")) == (1, "", 1)
    assert said in err
    assert str(crate) in err
    assert not list((tmp_path / "elsewhere").rglob("*"))
    assert not (tmp_path / "outside.txt").exists()


@pytest.mark.parametrize("size", [0, 100, -100])
def test_a_torn_archive_is_refused(size: int, crate: Path, tmp_path: Path) -> None:
    torn = tmp_path / "torn.zip"
    torn.write_bytes(crate.read_bytes()[:size])
    status, out, err = call(import_, str(torn))
    assert (status, out, err) == (1, "", f"{torn}: it is damaged, or no zip archive\n")


def test_damage_is_not_exported(computed: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shutil.copytree(computed, tmp_path / "damaged")
    monkeypatch.setenv("POMRL_OUTPUTS", str(tmp_path / "damaged"))
    next((tmp_path / "damaged").rglob("*.parquet")).write_bytes(b"")
    status, _, err = call(export, str(tmp_path / "crate.zip"))
    assert (status, err.count("\n")) == (1, 1)
    assert not list(tmp_path.glob("*.zip"))


def without_losses(table: pd.DataFrame) -> pd.DataFrame:
    return table.drop(columns="planning_loss")


def without_rows(table: pd.DataFrame) -> pd.DataFrame:
    return table[:0]


def shuffled(table: pd.DataFrame) -> pd.DataFrame:
    return table[::-1]


def of_other_runs(table: pd.DataFrame) -> pd.DataFrame:
    return table.assign(run=table["run"] + np.int32(1))


def infinite(table: pd.DataFrame) -> pd.DataFrame:
    return table.assign(planning_loss=np.inf)


def halved(table: pd.DataFrame) -> pd.DataFrame:
    return table.assign(planning_loss=table["planning_loss"] / 2)


def forged(computed: Path, folder: Path, change: Callable[[pd.DataFrame], pd.DataFrame]) -> Path:
    """Return a crate whose digests are all right, and in which the tables of all blocks are changed."""
    outputs = folder / "forged"
    shutil.copytree(computed, outputs)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("POMRL_OUTPUTS", str(outputs))
        patch.setattr(reading, "_fault_of_table", lambda *_: None)
        patch.setattr(blocks, "fault_of_file", lambda *_: None)
        for stored in store.all_experiments():
            (block,) = stored.blocks()
            table = change(pd.read_parquet(stored.folder / block.name))
            encoded = pa.Table.from_pandas(table, preserve_index=False)
            owner = pq.read_schema(stored.folder / block.name).metadata
            pq.write_table(encoded.replace_schema_metadata(owner), stored.folder / block.name)
            content = (stored.folder / block.name).read_bytes()
            blocks.rewrite(stored.folder, [blocks.described(block.runs, content)])
        path = folder / "forged.zip"
        assert call(export, str(path))[0] == 0
    return path


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (without_losses, "its columns are not those of a table of results"),
        (without_rows, "it has 0 rows, which do not belong to 2 runs"),
        (shuffled, "its column run is not the one of these runs"),
        (of_other_runs, "its column run is not the one of these runs"),
        (infinite, "its column planning_loss has numbers that are not finite"),
    ],
)
def test_no_table_is_imported_that_its_settings_cannot_have(
    change: Callable[[pd.DataFrame], pd.DataFrame],
    said: str,
    computed: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    path = forged(computed, tmp_path, change)
    monkeypatch.setenv("POMRL_OUTPUTS", str(tmp_path / "elsewhere"))
    status, out, err = call(import_, str(path))
    assert (status, out, err.count("\n")) == (1, "", 1)
    assert said in err
    assert not store.all_experiments()


def origins_listed() -> set[str]:
    return {row["origin"] for row in json.loads(call(runs, "--format", "json")[1])}


def test_an_audit_tells_forged_numbers_from_those_of_the_code(
    crate: Path, computed: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert call(import_, str(crate))[0] == 0
    assert origins_listed() == {"imported"}
    assert call(run, "sigma=0.01", "T=1", "S=4", "runs=3")[0] == 0
    assert origins_listed() == {"imported"}, "a block that was completed has imported runs"
    status, out, _ = call(audit, "--share", "1")
    assert (status, out.splitlines()[0]) == (0, "2 have the same bytes, 0 agree to 1e-09")
    assert origins_listed() == {"imported, 1 of 1 blocks recomputed"}
    path = forged(computed, tmp_path, halved)
    monkeypatch.setenv("POMRL_OUTPUTS", str(tmp_path / "of_forger"))
    assert call(import_, str(path))[0] == 0
    status, out, err = call(audit, "--blocks", "2")
    assert status == 1
    assert out.count("rows are not what the code gives here") == 2
    assert err.splitlines()[-1].endswith("2 of 2 are not what the code gives, or cannot be recomputed")
    assert origins_listed() == {"imported"}


def test_an_audit_does_not_call_runs_of_other_code_forged(computed: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("POMRL_OUTPUTS", str(computed))
    drawn, _ = auditing.sample(store.all_experiments(), 1.0, None)
    assert isinstance(drawn[0].stored, store.StoredExperiment)
    first = from_settings(drawn[0].stored)
    found = list(auditing.audited(drawn, lambda _: first))  # the others have its settings no more
    assert [each.is_equal for each in found] == [True] + [False] * (len(drawn) - 1)
    assert {each.failure for each in found[1:]} == {"its settings have another signature under the present code"}


def test_what_is_computed_here_is_not_called_imported(computed: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("POMRL_OUTPUTS", str(computed))
    assert origins_listed() == {"computed here"}


def test_the_chance_to_find_a_forgery_is_that_of_random_draws() -> None:
    rng = np.random.default_rng(0)
    hit = (rng.random((100_000, 20)) < 0.05).any(1).mean()
    assert auditing.chance_to_find(0.05, 20) == pytest.approx(hit, abs=0.006)


def test_files_that_are_too_large_together_are_not_unpacked(crate: Path, tmp_path: Path) -> None:
    status, _, err = call(import_, str(crate), "--most", "0.000001")
    assert (status, err.count("\n")) == (1, 1)
    assert "--most 0.1 allows so much" in err
    assert not list((tmp_path / "elsewhere").glob("*"))


def test_what_takes_long_says_how_far_it_is_and_is_refused_where_it_takes_too_long(
    crate: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(progress, "LEAST_BYTES", 0)
    _, _, err = call(import_, str(crate))
    assert re.findall(r"^\S+ \S+ of \S+ \S+ checked, ", err, re.MULTILINE)
    done, unit, of, total, *_ = call(runs, "--verify")[2].splitlines()[-1].split()
    assert (of, done) == ("of", total), unit
    assert call(audit, "--share", "1")[2].splitlines()[-1].startswith("2 of 2 recomputed, ")
    monkeypatch.setattr(runs, "MOST_READ", 0)
    monkeypatch.setattr(audit, "LONG", 0.0)
    for command, arguments in list[tuple[Command, list[str]]]([(runs, ["--verify"]), (audit, ["--share", "1"])]):
        status, out, err = call(command, *arguments)
        assert (status, out) == (1, "")
        assert "--yes" in err.splitlines()[-1]
        assert call(command, *arguments, "--yes")[0] == 0


def test_a_fifo_a_folder_and_an_endless_link_are_one_line_and_no_hang(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "fifo")
    (tmp_path / "link").symlink_to(tmp_path / "link")
    for path in (tmp_path / "fifo", tmp_path, tmp_path / "link", Path("/dev/null")):
        status, out, err = call(import_, str(path))
        assert (status, out, err.count("\n")) == (1, "", 1), path


def test_any_byte_of_a_crate_that_is_changed_is_one_line(crate: Path, tmp_path: Path) -> None:
    content, rng = crate.read_bytes(), np.random.default_rng(0)
    for _ in range(60):
        place, damaged = int(rng.integers(len(content))), bytearray(content)
        damaged[place] ^= int(rng.integers(1, 256))
        crate.write_bytes(bytes(damaged))
        status, _, err = call(import_, str(crate))
        assert (status == 0) or err.count("\n") == 1, place
        shutil.rmtree(tmp_path / "elsewhere", ignore_errors=True)
