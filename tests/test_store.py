"""The store: what it keeps, and what it does when processes are killed, disks are full and files are damaged."""

import json
import os
import random
import resource
import signal
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from pomrl import store, sweep
from pomrl.config import Experiment, Run
from pomrl.estimators import Estimator
from pomrl.execution import Local
from pomrl.experiment import Method, Problem, tables
from pomrl.gamma_schedules import GammaSchedule, Grid, Hindsight
from pomrl.planners import PolicyIteration
from pomrl.provenance import normalise
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
        asked=Run(runs=10),
        execution=Local(),
        options={"estimator": "fixed_mixing"},
    )


def table(runs: range) -> pd.DataFrame:
    described = experiment()
    return tables(described.problem, [described.method], runs)[0]


def stored(*parts: range) -> store.Run:
    run = store.open_run(experiment(), force=False)
    for part in parts:
        store.add(run, part, table(part))
    return run


def test_what_is_stored_is_what_is_read() -> None:
    stored(range(10))
    pd.testing.assert_frame_equal(store.load(experiment()), table(range(10)))
    pd.testing.assert_frame_equal(store.load(experiment(), runs=4), table(range(4)))
    pd.testing.assert_frame_equal(store.load(store.signature(experiment())[:6]), table(range(10)))


def test_a_block_is_completed_and_its_bytes_are_those_of_a_whole_one() -> None:
    whole = next(stored(range(50)).folder.glob("*.parquet")).read_bytes()
    run = store.open_run(experiment(), force=True)
    for part in (range(3), range(3, 20), range(20, 50)):
        store.add(run, part, table(part))
    files = list(run.folder.glob("*.parquet"))
    assert [file.name for file in files] == ["runs-000000-000049.parquet"]
    assert files[0].read_bytes() == whole


def test_a_block_is_never_replaced_by_one_with_fewer_runs() -> None:
    run = stored(range(10), range(5))
    assert run.complete() == 10


def test_only_what_is_missing_is_asked_for() -> None:
    run = stored(range(50), range(50, 60))
    assert store.missing(run, 60) == ([], [])
    assert store.missing(run, 40) == ([], [])
    assert store.missing(run, 120)[0] == [range(60, 100), range(100, 120)]


def test_who_reads_while_another_process_writes_meets_no_fault() -> None:
    """The writer puts a longer block in the place of a shorter one, again and again."""
    rows, run = table(range(50)), stored(range(1))
    parts = [range(stop - 1, stop) for stop in range(2, 51)]
    with ThreadPoolExecutor(1) as others:
        writing = others.submit(lambda: [store.add(run, part, rows.loc[rows["run"].isin(part)]) for part in parts])
        while not writing.done():
            assert run.sound_blocks()[1] == []
            read = run.table()
            pd.testing.assert_frame_equal(read, rows[: len(read)])
        writing.result()
    assert run.complete() == 50


def test_a_run_whose_first_manifest_is_being_written_has_no_fault() -> None:
    run = stored()
    (run.folder / "manifest.json").unlink()
    assert store.missing(run, 50) == ([range(50)], [])


@pytest.mark.parametrize("damage", ["flip", "truncate", "remove"])
def test_a_damaged_block_is_noticed_and_computed_again(damage: str) -> None:
    run = stored(range(50), range(50, 60))
    file = run.folder / "runs-000000-000049.parquet"
    content = bytearray(file.read_bytes())
    content[100] ^= 1
    {
        "flip": lambda: file.write_bytes(content),
        "truncate": lambda: file.write_bytes(content[:99]),
        "remove": file.unlink,
    }[damage]()
    parts, faults = store.missing(run, 60)
    assert parts == [range(50)]
    assert len(faults) == 1
    assert file.name in faults[0]
    with pytest.raises(store.StoreError, match=file.name):
        run.table()
    store.add(run, range(50), table(range(50)))
    pd.testing.assert_frame_equal(run.table(), table(range(60)))


@pytest.mark.parametrize("text", ["", "{", "[]", '{"schema": 0}'])
def test_a_manifest_that_cannot_be_read_or_is_of_another_version_counts_for_nothing(text: str) -> None:
    run = stored(range(10))
    (run.folder / "manifest.json").write_text(text)
    parts, faults = store.missing(run, 10)
    assert parts == [range(10)]
    assert len(faults) == 1
    assert "manifest.json" in faults[0]
    store.add(store.open_run(experiment(), force=False), range(10), table(range(10)))
    assert run.complete() == 10


def test_a_run_is_not_continued_under_another_numpy(monkeypatch: pytest.MonkeyPatch) -> None:
    stored(range(10))
    monkeypatch.setattr(np, "__version__", "0.0")
    with pytest.raises(store.StoreError, match="force=true"):
        store.open_run(experiment(), force=False)
    assert store.open_run(experiment(), force=True).complete() == 0


def test_missing_runs_are_an_error_and_not_a_shorter_table() -> None:
    stored(range(10))
    with pytest.raises(store.StoreError, match="10 of 11 runs"):
        store.load(experiment(), runs=11)
    with pytest.raises(store.StoreError, match="0 stored runs"):
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
    run = stored(range(10))
    assert store.find(sigma=0.01, estimator="fixed_mixing") == [run]
    assert store.find(**{"estimator.mixing": 0.5}) == [run]
    assert store.find(sigma=0.02) == []
    with pytest.raises(store.StoreError, match="sigam: no stored run has this key"):
        store.find(sigam=0.01)


def test_the_code_digest_is_blind_to_comments_and_docstrings_but_not_to_code() -> None:
    one = 'def f(x):\n    """Text."""\n    return x + 1  # comment\n'
    same = "def f(x):\n    # another\n\n    return (x + 1)\n"
    assert normalise(one) == normalise(same)
    assert normalise(one) != normalise(one.replace("1", "2"))


def test_the_manifest_says_when_a_computation_has_come_to_its_end() -> None:
    run = stored(range(10))
    assert not run.is_closed()
    store.close_run(run, "complete", 1.0)
    assert run.is_closed()
    (run.folder / "config.yaml").unlink()
    assert not run.is_closed()
    assert run.settings() == {}
    assert store.open_run(experiment(), force=False).settings()["S"] == 4
    assert run.complete() == 10


@dataclass(frozen=True, kw_only=True)
class Elsewhere(Local):
    """Its workers store what they compute, in a folder that is not ours."""

    def map_unordered(self, function, items, seconds):
        return ((index, [None]) for index, _ in enumerate(items))


def test_a_computation_is_complete_only_where_its_runs_are_here() -> None:
    asked = replace(experiment(), asked=Run(runs=60), execution=Elsewhere())
    (job,) = sweep.jobs([asked])
    failures = sweep.compute([job], lambda tally: None)
    assert "0 of 60 runs are stored here" in failures[job.run.signature].reason
    assert not job.run.is_closed()


# Faults with real processes and real signals. Whatever moment is hit, the result has to be the same.

ROOT = Path(__file__).parents[1]
SETTINGS = ["T=6", "S=6"]

KILLED_AT_A_FLUSH = """
import os, signal, sys
flushes, fsync = 0, os.fsync
def fatal(descriptor):
    global flushes
    flushes += 1
    if flushes == {count}:
        os.kill(os.getpid(), signal.SIGKILL)
    fsync(descriptor)
os.fsync = fatal
from src import run
run.main()
"""


def start(outputs: Path, *arguments: str, **options: object) -> subprocess.Popen[str]:
    environment = {**os.environ, "POMRL_OUTPUTS": str(outputs), "PYTHONPATH": str(outputs.parent)}
    command = [sys.executable, "-m", "src.run", *arguments]
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True, "cwd": ROOT, "env": environment}
    return subprocess.Popen(command, **{**pipes, **options})  # type: ignore[call-overload]


def run(outputs: Path, *arguments: str, **options: object) -> tuple[int, str, str]:
    process = start(outputs, *arguments, **options)
    out, err = process.communicate(timeout=60)
    return process.returncode, out, err


def blocks(outputs: Path) -> dict[str, bytes]:
    """Content of all blocks, by the folder and name of each; nothing else may lie about."""
    left = [path.name for path in outputs.glob("runs/*/.*.tmp")]
    assert left == []
    return {f"{path.parent.name}/{path.name}": path.read_bytes() for path in sorted(outputs.glob("runs/*/*.parquet"))}


@pytest.fixture(scope="module")
def unbroken(tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    """The blocks of 600 runs, computed without a fault."""
    outputs = tmp_path_factory.mktemp("unbroken") / "outputs"
    status, _, err = run(outputs, *SETTINGS, "runs=600")
    assert status == 0, err
    return blocks(outputs)


def test_a_run_that_is_killed_ten_times_ends_with_the_bytes_of_an_unbroken_one(
    tmp_path: Path, unbroken: dict[str, bytes]
) -> None:
    moments = random.Random(0)
    for _ in range(10):
        process = start(tmp_path / "outputs", *SETTINGS, "runs=600")
        time.sleep(0.5 + 0.7 * moments.random())
        process.kill()
        process.communicate()
    status, _, err = run(tmp_path / "outputs", *SETTINGS, "runs=600")
    assert status == 0, err
    assert blocks(tmp_path / "outputs") == unbroken


@pytest.mark.parametrize("count", [1, 2, 3, 4, 7])
def test_a_process_that_is_killed_inside_a_write_loses_only_that_block(
    tmp_path: Path, unbroken: dict[str, bytes], count: int
) -> None:
    """Flushes: 1 the configuration, 2 and 3 the manifest, then a block and the manifest in turn."""
    environment = {**os.environ, "POMRL_OUTPUTS": str(tmp_path / "outputs")}
    command = [sys.executable, "-c", KILLED_AT_A_FLUSH.format(count=count), *SETTINGS, "runs=600"]
    killed = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, check=False)
    assert killed.returncode == -signal.SIGKILL
    status, _, err = run(tmp_path / "outputs", *SETTINGS, "runs=600")
    finished = (count - 3) // 2 if count > 3 else 0
    assert status == 0
    assert f"{600 - 50 * finished}/{600 - 50 * finished} runs" in err
    assert blocks(tmp_path / "outputs") == unbroken


def test_two_processes_on_one_run_at_once_both_end_well(tmp_path: Path, unbroken: dict[str, bytes]) -> None:
    together = [start(tmp_path / "outputs", *SETTINGS, f"runs={runs}") for runs in (110, 600, 600)]
    for process in together:
        out, err = process.communicate(timeout=60)
        assert process.returncode == 0, err
        assert out.startswith(str(tmp_path))
    assert blocks(tmp_path / "outputs") == unbroken


@pytest.mark.parametrize("workers", ["1", "2"])
def test_an_interrupt_ends_within_two_seconds_and_keeps_finished_blocks(tmp_path: Path, workers: str) -> None:
    arguments = [f"execution.workers={workers}", "runs=100000"]
    process = start(tmp_path / "outputs", *arguments, start_new_session=True)
    assert process.stderr
    lines = [process.stderr.readline() for _ in range(3)]
    os.killpg(process.pid, signal.SIGINT)
    start_of_end = time.monotonic()
    _, err = process.communicate(timeout=60)
    assert time.monotonic() - start_of_end < 2
    assert process.returncode == 130
    assert "the same command goes on" in err.splitlines()[-1]
    assert "Traceback" not in err
    assert len(blocks_listed(tmp_path / "outputs")) >= len(lines)


def blocks_listed(outputs: Path) -> list[str]:
    (manifest,) = outputs.glob("runs/*/manifest.json")
    return list(json.loads(manifest.read_text())["blocks"])


def limit_file_size() -> None:
    resource.setrlimit(resource.RLIMIT_FSIZE, (5000, 5000))


def test_a_full_disk_is_one_line_and_what_was_complete_stays(tmp_path: Path, unbroken: dict[str, bytes]) -> None:
    """A limit on the size of files stands for the full disk: the write of a block fails in the same way."""
    run(tmp_path / "outputs", *SETTINGS, "runs=50")
    before = blocks(tmp_path / "outputs")
    status, _, err = run(tmp_path / "outputs", *SETTINGS, "runs=600", preexec_fn=limit_file_size)
    assert status == 1
    assert "File too large" in err
    assert "Traceback" not in err
    assert blocks(tmp_path / "outputs") == before
    assert run(tmp_path / "outputs", *SETTINGS, "runs=600")[0] == 0
    assert blocks(tmp_path / "outputs") == unbroken


def test_what_was_stored_but_not_closed_is_closed_without_computing(tmp_path: Path) -> None:
    """As after a process that was killed behind its last block, or a configuration that was removed."""
    _, out, _ = run(tmp_path / "outputs", *SETTINGS, "runs=60")
    folder = Path(out.strip())
    before = blocks(tmp_path / "outputs")
    content = json.loads((folder / "manifest.json").read_text())
    (folder / "manifest.json").write_text(json.dumps(content | {"status": "incomplete"}))
    (folder / "config.yaml").unlink()
    status, _, err = run(tmp_path / "outputs", *SETTINGS, "runs=60")
    assert status == 0
    assert "/60 runs" not in err
    assert json.loads((folder / "manifest.json").read_text())["status"] == "complete"
    assert (folder / "config.yaml").exists()
    assert blocks(tmp_path / "outputs") == before


def test_a_folder_that_cannot_be_written_is_one_line(tmp_path: Path) -> None:
    """A file in place of the folder: unlike permissions, that stops root as well."""
    (tmp_path / "outputs").write_text("")
    status, _, err = run(tmp_path / "outputs", *SETTINGS, "runs=2")
    assert status == 1
    assert len(err.splitlines()) == 1
    assert str(tmp_path / "outputs") in err


FAILING = """
from pydantic.dataclasses import dataclass
from pomrl.components import CHECKED
from pomrl.estimators import Estimator

@dataclass(frozen=True, config=CHECKED, kw_only=True)
class Failing(Estimator):
    def prior_model(self, memory, P_bar, truth):
        if memory.tasks == 2:
            raise RuntimeError("no prior in task 3")
        return super().prior_model(memory, P_bar, truth)
"""


def test_a_failing_job_does_not_end_the_others(tmp_path: Path) -> None:
    (tmp_path / "my_component.py").write_text(FAILING)
    options = tmp_path / "my_conf" / "estimator"
    options.mkdir(parents=True)
    (options / "failing.yaml").write_text("_target_: my_component.Failing\nmixing: 0.5\n")
    sweep = ["-m", *SETTINGS, "runs=60", "estimator=pomrl,failing,oracle", "--config-dir", str(options.parent)]
    status, out, err = run(tmp_path / "outputs", *sweep)
    assert status == 1
    folders = [Path(line) for line in out.splitlines()]
    statuses = [json.loads((folder / "manifest.json").read_text())["status"] for folder in folders]
    assert statuses == ["complete", "failed", "complete"]
    assert "RuntimeError: no prior in task 3" in (folders[1] / "run.log").read_text()
    assert "Traceback" in (folders[1] / "run.log").read_text()
    assert "Traceback" not in err
    assert "failing" in err.partition("failed")[2]
