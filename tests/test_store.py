from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from pomrl import store
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
    assert store.missing(run, 10)[0] == [range(10)]
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


def test_the_code_digest_is_blind_to_comments_and_docstrings_but_not_to_code() -> None:
    one = 'def f(x):\n    """Text."""\n    return x + 1  # comment\n'
    same = "def f(x):\n    # another\n\n    return (x + 1)\n"
    assert normalise(one) == normalise(same)
    assert normalise(one) != normalise(one.replace("1", "2"))
