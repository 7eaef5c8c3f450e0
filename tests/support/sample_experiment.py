"""A small experiment and its runs, for tests of the store."""

import pandas as pd

from pomrl import store
from pomrl.configuration import sweeps
from pomrl.configuration.parsing import Experiment, Request
from pomrl.configuration.sources import PUBLISHED
from pomrl.execution import Local
from pomrl.science.estimators.pomrl import RegularisedLeastSquares
from pomrl.science.experiment import tables
from pomrl.science.gamma_schedules import GammaSchedule, Grid
from pomrl.science.planners import PolicyIteration
from pomrl.science.problem import Method, Problem
from pomrl.science.tasks.random_chains import Dirichlet
from pomrl.store.block_files import encode

GAMMAS = [0.0, 0.5, 0.9]


def experiment(schedule: GammaSchedule | None = None, sigma: float = 0.01) -> Experiment:
    distribution = Dirichlet(zeros=2)
    return Experiment(
        problem=Problem(S=4, A=2, m=3, T=2, sigma=sigma, gamma_eval=0.9, seed=0, task_distribution=distribution),
        method=Method(
            estimator=RegularisedLeastSquares(mixing=0.5),
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


def add(record: store.StoredExperiment, runs: range, rows: pd.DataFrame) -> None:
    """Store a table as runs of an experiment."""
    store.add_block(record, runs, {runs: encode(rows, record.signature, runs)})


def published(sigma: float, runs: int) -> store.StoredExperiment:
    """Store runs of the default experiment with few states and tasks."""
    described = sweeps.experiment(PUBLISHED, ["S=4", "T=2", "task_distribution.zeros=1", f"sigma={sigma}"])
    opened = store.open_experiment(described)
    for block in store.divide_into_blocks(runs):
        add(opened, block, tables(described.problem, [described.method], block)[0])
    return opened


def stored(*blocks: range) -> store.StoredExperiment:
    record = store.open_experiment(experiment(), force=False)
    for block in blocks:
        add(record, block, table(block))
    return record
