"""Forged crates: whoever makes a crate makes its digests too, so that all of them are right here.

Each is imported into an empty store. It has to be refused in one line, with nothing stored, or else to be called
imported until it is recomputed, which shows that its numbers are not those of the code.
"""

import hashlib
import json
import os
import random
import shutil
import tempfile
import zipfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import yaml
from tests.faults.outcomes import End, FaultError, Result, result
from tests.support.computed import call

from pomrl import store
from pomrl.commands import audit, export, import_, run, runs
from pomrl.running.missing_simulations import compute_missing
from pomrl.store import blocks, files, origins, stored_simulations
from pomrl.store.ro_crates import METADATA
from pomrl.theory.simulations import SIMULATIONS

SETTINGS = ("T=2", "S=4", "runs=2")
SIMULATION = "related_tasks"
RUNS = range(2)

BOMB = 4 * 10**6
"""Rows of a table that takes a few kilobytes as a file."""

Contents = dict[str, bytes]
Change = Callable[[Contents], None]


@dataclass(frozen=True)
class Forgery:
    """A crate that was changed, and what has to become of it."""

    change: Change
    is_refused: bool = True
    """Whether the import itself sees it; otherwise the numbers are possible ones, and an audit has to tell."""


def digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def experiment_of(contents: Contents) -> str:
    """The folder of the experiment in a crate."""
    return next(name.rpartition("/")[0] for name in contents if name.endswith("blocks.jsonl"))


def block_of(contents: Contents) -> str:
    """The name of the file of the only block in a crate."""
    return f"{experiment_of(contents)}/{store.StoredBlock(RUNS, 0, '').name}"


def put(contents: Contents, table: pa.Table, owner: dict[bytes, bytes]) -> None:
    """Replace the table of the block, and give the file the owner and the digest that it needs."""
    buffer = pa.BufferOutputStream()
    pq.write_table(table.replace_schema_metadata(owner), buffer)
    contents[block_of(contents)] = buffer.getvalue().to_pybytes()
    described = blocks.described(RUNS, contents[block_of(contents)])
    contents[f"{experiment_of(contents)}/blocks.jsonl"] = blocks._line(described)


def with_table(contents: Contents, change: Callable[[pd.DataFrame], Any]) -> None:
    """Change the table of the block."""
    before = pq.read_table(pa.BufferReader(contents[block_of(contents)]))
    table = change(before.to_pandas())
    after = table if isinstance(table, pa.Table) else pa.Table.from_pandas(table, preserve_index=False)
    put(contents, after, before.schema.metadata)


def signed(settings: Any, said: dict[str, Any]) -> str:
    """The signature of settings of any type (`pomrl.store.signatures`)."""
    identity = {"settings": settings, "schema": said["schema"], "code": said["code"]}
    return digest(json.dumps(identity, sort_keys=True).encode())[:12]


def with_settings(
    contents: Contents,
    change: Callable[[dict[str, Any]], Any],
    code: str | None = None,
    claimed: str | None = None,
) -> None:
    """Replace the settings, and give all files the signature that follows from them, or another one."""
    folder = experiment_of(contents)
    said = json.loads(contents[f"{folder}/manifest.json"])
    settings = change(yaml.safe_load(contents[f"{folder}/config.yaml"]))
    said["code"] = code or said["code"]
    said["signature"] = claimed or signed(settings, said)
    del said["check"]
    contents[f"{folder}/config.yaml"] = yaml.safe_dump(settings).encode()
    contents[f"{folder}/manifest.json"] = files.json_with_checksum(said)
    table = pq.read_table(pa.BufferReader(contents[block_of(contents)]))
    put(contents, table, table.schema.metadata | {b"pomrl.signature": said["signature"].encode()})
    owner = folder.rpartition("/")[2]
    for name in [name for name in contents if name.startswith(folder)]:
        contents[name.replace(owner, said["signature"])] = contents.pop(name)


def with_simulation(contents: Contents, change: Callable[[pd.DataFrame], pd.DataFrame], **said: Any) -> None:
    """Change the table of the simulation, and its digest."""
    name = next(name for name in contents if name.startswith("simulations/") and name.endswith(".parquet"))
    manifest = name.replace("table.parquet", "manifest.json")
    contents[name] = stored_simulations.encode(change(pd.read_parquet(pa.BufferReader(contents[name]))))
    told = json.loads(contents[manifest]) | said | {"files": {"table.parquet": digest(contents[name])}}
    told.pop("check")
    contents[manifest] = files.json_with_checksum(told)


def without_blocks(contents: Contents) -> None:
    """An experiment that is complete, and has no numbers."""
    folder = experiment_of(contents)
    for name in [name for name in contents if name.startswith(folder) and name.endswith(("jsonl", "parquet"))]:
        del contents[name]


def with_file(name: str, content: bytes = b"{}") -> Change:
    """A further file; EXPERIMENT stands for the folder of the experiment."""
    return lambda contents: contents.update({name.replace("EXPERIMENT", experiment_of(contents)): content})


def of_type(kind: str, column: str = "planning_loss") -> Change:
    return partial(with_table, change=lambda table: table.astype({column: kind}))


def twice(table: pd.DataFrame) -> pa.Table:
    encoded = pa.Table.from_pandas(table, preserve_index=False)
    return encoded.append_column("planning_loss", pa.array(table["planning_loss"] / 2))


def with_nulls(table: pd.DataFrame) -> pa.Table:
    encoded = pa.Table.from_pandas(table, preserve_index=False)
    place = encoded.schema.get_field_index("planning_loss")
    return encoded.set_column(place, "planning_loss", pa.array([None] * len(table), pa.float64()))


def imported_before(contents: Contents) -> None:
    """Numbers that are wrong, with a record which says that they were recomputed."""
    with_table(contents, halved)
    (line,) = contents[f"{experiment_of(contents)}/blocks.jsonl"].splitlines()
    contents[origins.FILE] = files.json_with_checksum({"files": {json.loads(line)["sha256"]: True}})


def halved(table: pd.DataFrame) -> pd.DataFrame:
    return table.assign(planning_loss=table["planning_loss"] / 2)


def one_row(table: pd.DataFrame) -> pd.DataFrame:
    return table.assign(planning_loss=table["planning_loss"].where(table.index != 1, 0.125))


def setting(key: str, value: Any) -> Change:
    return partial(with_settings, change=lambda settings: settings | {key: value})


FORGERIES: dict[str, Forgery] = {
    "halved losses": Forgery(partial(with_table, change=halved), is_refused=False),
    "one other row": Forgery(partial(with_table, change=one_row), is_refused=False),
    "negative losses": Forgery(
        partial(with_table, change=lambda table: table.assign(planning_loss=-table["planning_loss"])), is_refused=False
    ),
    "numbers of other settings": Forgery(setting("sigma", 0.05), is_refused=False),
    "numbers of other code": Forgery(
        partial(with_settings, change=lambda settings: settings, code=digest(b"mine")),
        is_refused=False,
    ),
    "a record of its own": Forgery(imported_before, is_refused=False),
    "another simulation": Forgery(partial(with_simulation, change=lambda table: table * 0.5), is_refused=False),
    "an invented signature": Forgery(partial(with_settings, change=lambda settings: settings, claimed="0123456789ab")),
    "no blocks": Forgery(without_blocks),
    "no tasks": Forgery(setting("T", 0)),
    "less than no tasks": Forgery(setting("T", -1)),
    "tasks that are no number": Forgery(setting("T", "x")),
    "tasks that are not finite": Forgery(setting("T", float("inf"))),
    "a schedule that is text": Forgery(setting("gamma_schedule", "grid")),
    "no discount factors": Forgery(
        setting("gamma_schedule", {"_target_": "pomrl.science.gamma_schedules.Grid", "gammas": []})
    ),
    "settings that are a list": Forgery(partial(with_settings, change=lambda _: [1, 2])),
    "settings that are a number": Forgery(partial(with_settings, change=lambda _: 5)),
    "keys that are numbers": Forgery(partial(with_settings, change=lambda settings: {**settings, "x": {1: 2}})),
    "single precision": Forgery(of_type("float32")),
    "losses as integers": Forgery(of_type("int64")),
    "losses as text": Forgery(of_type("str")),
    "half precision": Forgery(of_type("float16")),
    "runs as doubles": Forgery(of_type("float64", "run")),
    "a column twice": Forgery(partial(with_table, change=twice)),
    "losses that are null": Forgery(partial(with_table, change=with_nulls)),
    "no rows": Forgery(partial(with_table, change=lambda table: table[:0])),
    "rows without end": Forgery(partial(with_table, change=lambda table: table.iloc[np.zeros(BOMB, int)])),
    "a large file of zeros": Forgery(with_file("figures/zeros", bytes(2**28 + 1))),
    "a simulation with rows without end": Forgery(
        partial(with_simulation, change=lambda table: table.iloc[np.zeros(BOMB, int)])
    ),
    "a simulation of another name": Forgery(partial(with_simulation, change=lambda table: table, name="mine")),
    "a simulation with infinite numbers": Forgery(partial(with_simulation, change=lambda table: table * np.inf)),
    "a further file of the experiment": Forgery(with_file("EXPERIMENT/notes.txt")),
    "a folder in the experiment": Forgery(with_file("EXPERIMENT/config/x")),
    "a folder in the place of the log": Forgery(with_file("EXPERIMENT/run.log/x")),
    "a file in the place of an experiment": Forgery(with_file("runs/0123456789ab")),
    "a file in the place of a simulation": Forgery(with_file("simulations/0123456789ab")),
    "a file in the place of all runs": Forgery(with_file("runs")),
    "a name that leads out": Forgery(with_file("runs/../../outside")),
    "an absolute name": Forgery(with_file("/runs/x")),
    "a long name": Forgery(with_file(f"runs/{'x' * 300}/config.yaml")),
    "a manifest nested deeply": Forgery(with_file("EXPERIMENT/manifest.json", b"[" * 10**5)),
    "a manifest that is a number": Forgery(with_file("EXPERIMENT/manifest.json", b"9" * 5000)),
    "a list of blocks that is none": Forgery(with_file("EXPERIMENT/blocks.jsonl", b"[]\n[]\n")),
}
"""All forgeries by name. Those that are not refused have possible numbers, and are imported."""

NO_ARCHIVE = ("fifo", "folder", "endless link", "device", "socket")
"""What may lie in the place of a crate."""


def results(seed: int, number: int) -> Iterator[Result]:
    """Import so many forged crates, each into an empty store, and then what is no archive."""
    names = list(FORGERIES)
    random.Random(seed).shuffle(names)
    with tempfile.TemporaryDirectory() as name, pytest.MonkeyPatch.context() as patch:
        folder = Path(name)
        sound = crate(folder / "sound", patch)
        patch.setattr(stored_simulations, "MOST_ROWS", BOMB // 2)
        patch.setenv("POMRL_OUTPUTS", str(folder / "outputs"))
        for each in names[:number]:
            shutil.rmtree(folder / "outputs", ignore_errors=True)
            yield result("forged crate", each, partial(_imported, FORGERIES[each], dict(sound), folder / "crate.zip"))
        shutil.rmtree(folder / "outputs", ignore_errors=True)
        for index, kind in enumerate(NO_ARCHIVE):
            yield result("no crate", kind, partial(_refused, _placed(kind, folder / f"crate-{index}.zip")))


def crate(folder: Path, patch: pytest.MonkeyPatch) -> Contents:
    """The contents of a crate with an experiment and a simulation."""
    patch.setenv("POMRL_OUTPUTS", str(folder))
    assert call(run, *SETTINGS)[0] == 0
    compute_missing([SIMULATIONS[SIMULATION]])
    assert call(export, str(folder / "crate.zip"))[0] == 0
    with zipfile.ZipFile(folder / "crate.zip") as archive:
        return {name: archive.read(name) for name in archive.namelist() if name != METADATA}


def packed(contents: Contents, path: Path) -> Path:
    """Write a crate whose description has the digests of its files."""
    described = [{"@id": name, "@type": "File", "sha256": digest(content)} for name, content in contents.items()]
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in contents.items():
            archive.writestr(name, content)
        archive.writestr(METADATA, json.dumps({"@graph": described}))
    return path


def _imported(forgery: Forgery, contents: Contents, path: Path) -> tuple[End, int]:
    """Import a forged crate, and see what it is called.

    Raises:
        FaultError: It is called computed here, it is taken for sound, or something is no line.
    """
    forgery.change(contents)
    packed(contents, path)
    if forgery.is_refused:
        return _refused(path)
    status, _, err = call(import_, str(path))
    if status:
        raise FaultError("silently wrong", f"it was taken for damage: {err}")
    listed = json.loads(call(runs, "--format", "json")[1])
    if [row["origin"] for row in listed] != ["imported"]:
        raise FaultError("silently wrong", f"its origin is {[row['origin'] for row in listed]}")
    status, out, err = call(audit, "--share", "1")
    if status != 1 or "Traceback" in err or not out.startswith(("runs/", "simulations/")):
        raise FaultError("silently wrong", f"an audit finds nothing: {status} {out} {err}")
    if "computed here" in call(runs, "--format", "json")[1]:
        raise FaultError("silently wrong", "it is called computed here after the audit")
    return "refused", 1


def _refused(path: Path) -> tuple[End, int]:
    status, out, err = call(import_, str(path))
    if status != 1 or out or err.count("\n") != 1:
        raise FaultError("silently wrong" if status == 0 else "traceback", f"status {status}: {out}{err}")
    if left := [each for each in store.root().parent.rglob("*") if each.name != ".lock"]:
        raise FaultError("silently wrong", f"{left} are left")
    return "refused", 1


def _placed(kind: str, path: Path) -> Path:
    """Put what is no archive in the place of a crate."""
    match kind:
        case "fifo":
            os.mkfifo(path)
        case "folder":
            path.mkdir()
        case "endless link":
            path.symlink_to(path)
        case "device":
            path.symlink_to("/dev/zero")
        case _:
            os.mknod(path, 0o140600)
    return path
