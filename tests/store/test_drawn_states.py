"""States of a store that are drawn at random: what verification does not name changes no output, and advice mends it.

POMRL_STATES=5000 draws as many, in about twenty minutes.
"""

# pyarrow comes without types.
# pyright: reportMissingTypeStubs=false, reportUnknownMemberType=false

import csv
import hashlib
import io
import json
import os
import random
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from tests.support.computed import call, compute, table, view
from tests.support.damage import copied

from pomrl import store
from pomrl.commands import export, run, runs
from pomrl.configuration import sweeps
from pomrl.configuration.parsing import Experiment
from pomrl.configuration.sources import PUBLISHED
from pomrl.store import StoredBlock, block_files, manifests
from pomrl.store.files import json_with_checksum

STATES = int(os.environ.get("POMRL_STATES", "200"))
SMALL = ["S=4", "T=2", "m=2", "task_distribution.zeros=1", "gamma_schedule.gammas=[0.5,0.9]", "gamma_eval=0.9"]
STORED = (["sigma=0.01", "runs=410"], ["sigma=0.02", "runs=250"], ["sigma=0.03", "runs=7"])
"""The experiments of the store: of three blocks, of two, and of one."""


@pytest.fixture(scope="module")
def sound(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """The folder of outputs of a store without a fault."""
    folder = tmp_path_factory.mktemp("sound")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("POMRL_OUTPUTS", str(folder))
        for overrides in STORED:
            assert call(run, *SMALL, *overrides, "execution.workers=1", "+tag=kept", "+note=a remark")[0] == 0
        yield folder


@pytest.fixture(scope="module")
def experiments(sound: Path) -> list[Experiment]:
    """The experiments as the command that computes them composes them; another process may ask for fewer runs."""
    return [
        sweeps.experiment(PUBLISHED, [*SMALL, *overrides, "execution.workers=1", "+note=a remark"])
        for overrides in STORED
    ]


Rng = random.Random


def blocks(folder: Path) -> list[Path]:
    return sorted(folder.glob("runs/*/*.parquet"))


def store_files(folder: Path) -> list[Path]:
    """The files that a fault may hit: all but tags, which are removed by removing them, and what the log says."""
    return [path for path in sorted(folder.glob("runs/*/*")) if not path.name.startswith(("tag-", "run.log"))]


def lose(folder: Path, rng: Rng) -> None:
    rng.choice([path for path in store_files(folder) if not path.name.startswith("note-")]).unlink()


def cut(folder: Path, rng: Rng) -> None:
    path = rng.choice([path for path in store_files(folder) if path.stat().st_size])
    path.write_bytes(path.read_bytes()[: rng.randrange(path.stat().st_size)])


def flip(folder: Path, rng: Rng) -> None:
    path = rng.choice([path for path in store_files(folder) if path.stat().st_size])
    content = bytearray(path.read_bytes())
    content[rng.randrange(len(content))] ^= 1 << rng.randrange(8)
    path.write_bytes(content)


def swap(folder: Path, rng: Rng) -> None:
    first, other = rng.sample([path for path in store_files(folder) if path.suffix != ".complete"], 2)
    content = first.read_bytes()
    first.write_bytes(other.read_bytes())
    other.write_bytes(content)


def _another_name(path: Path, rng: Rng) -> str:
    block = block_files.parse_name(path.name)
    assert block
    start = rng.randrange(5) * 200
    digest = rng.choice([block.sha256, "0" * 16])
    return StoredBlock(range(start, start + rng.randint(1, 200)), digest).name


def rename(folder: Path, rng: Rng) -> None:
    path = rng.choice(blocks(folder))
    path.rename(path.with_name(_another_name(path, rng)))


def copy(folder: Path, rng: Rng) -> None:
    path = rng.choice(blocks(folder))
    target = rng.choice([path, *blocks(folder)]).parent
    shutil.copy(path, target / (path.name if target != path.parent else _another_name(path, rng)))


FORGED: list[Callable[[pd.DataFrame], pd.DataFrame]] = [
    lambda rows: rows.assign(planning_loss=np.nan),
    lambda rows: rows.iloc[:-1],
    lambda rows: rows.iloc[:0],
    lambda rows: rows.assign(planning_loss="text"),
    lambda rows: rows.assign(run=rows["run"] + 1),
    lambda rows: rows[["planning_loss"]],
    lambda rows: pd.concat([rows] * 3),
]


def forge(folder: Path, rng: Rng) -> None:
    """Put a table that is none of the experiment in the place of a block, or beside it, under the right digest."""
    path = rng.choice(blocks(folder))
    block = block_files.parse_name(path.name)
    assert block
    try:
        rows = pq.read_table(path)
    except (OSError, ValueError):
        return
    forged = pa.Table.from_pandas(rng.choice(FORGED)(rows.to_pandas()), preserve_index=False)
    pq.write_table(forged.replace_schema_metadata(rows.schema.metadata), buffer := io.BytesIO(), compression="zstd")
    content = buffer.getvalue()
    (path.parent / StoredBlock.from_content(block.runs, content).name).write_bytes(content)
    if rng.random() < 0.8:
        path.unlink()


def poison(folder: Path, rng: Rng) -> None:
    """Let a description, whose checksum is right, have other settings."""
    path = rng.choice([path for path in store_files(folder) if path.name == manifests.DESCRIPTION])
    try:
        description: dict[str, Any] = json.loads(path.read_bytes())
    except ValueError:
        return
    description.pop("check", None)
    description["settings"] |= rng.choice([{"T": "abc"}, {"sigma": 0.5}, {"gamma_schedule": 3}, {"S": []}])
    if (
        description["settings"]["sigma"] != 0.5 and rng.random() < 0.5
    ):  # in a folder with the signature of these settings, as a forger would put it
        identity = {key: description[key] for key in ("settings", "schema", "code")}
        signature = hashlib.sha256(json.dumps(identity, sort_keys=True).encode()).hexdigest()[:12]
        path = path.parent.with_name(signature) / path.name
        path.parent.mkdir(exist_ok=True)
    path.write_bytes(json_with_checksum(description))


FAULTS = (lose, lose, cut, flip, swap, rename, copy, forge, poison)


COMMANDS: dict[str, Callable[[], tuple[int, str, str]]] = {
    "runs": lambda: call(runs, "--format", "csv"),
    "table": lambda: call(table, "--format", "csv", "--statistic", "mean"),
    "view": lambda: call(view, "--once"),
    "export": lambda: call(export, str(store.root().parent / "archive.zip")),
    "recompute": lambda: call(runs, "--recompute", "1"),
}


def table_rows(text: str, other: str) -> set[tuple[str, ...]]:
    """The rows of a table, in the columns that another one has as well, but for the times of computations."""
    names = sorted(
        {*text.partition("\n")[0].split(",")} & {*other.partition("\n")[0].split(",")} - {"computed", "code"}
    )
    return {tuple(row[name] for name in names) for row in csv.DictReader(io.StringIO(text))}


def block_bytes(folder: Path) -> dict[str, bytes]:
    paths = [path for path in store_files(folder) if path.suffix in (".parquet", ".complete")]
    return {str(path.relative_to(folder)): path.read_bytes() for path in paths}


@pytest.fixture(scope="module")
def expected(sound: Path) -> dict[str, tuple[int, str]]:
    return {name: command()[:2] for name, command in COMMANDS.items()}


@pytest.mark.parametrize("hundred", range(max(1, STATES // 100)))
def test_unnamed_states_change_nothing(
    hundred: int,
    sound: Path,
    experiments: list[Experiment],
    expected: dict[str, tuple[int, str]],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for seed in range(100 * hundred, 100 * hundred + 100):
        rng, folder = Rng(seed), copied(sound, tmp_path / str(seed))
        faults = [rng.choice(FAULTS) for _ in range(rng.randint(1, 2))]
        for fault in faults:
            fault(folder, rng)
        state = f"seed {seed}: {' and '.join(fault.__name__ for fault in faults)}"
        monkeypatch.setenv("POMRL_OUTPUTS", str(folder))
        status, named, _ = call(runs, "--verify")
        for name in rng.sample(sorted(COMMANDS), 2):
            ended, out, err = COMMANDS[name]()
            same = out.replace(str(folder), str(sound)) == expected[name][1]
            assert status or (ended == expected[name][0] and same), (state, name, out, err)
            if name == "table":
                assert table_rows(out, expected[name][1]) <= table_rows(expected[name][1], out or "runs"), (state, out)
        for path in {*folder.glob("runs/*")} if "remove the folder" in named else ():
            if not (sound / "runs" / path.name).exists():  # which no command computes
                shutil.rmtree(path)
        compute(experiments)
        status, named, _ = call(runs, "--verify")
        assert status == 0, (state, named)
        assert block_bytes(folder) == block_bytes(sound), state
        shutil.rmtree(folder)
