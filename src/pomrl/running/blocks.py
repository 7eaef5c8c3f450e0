"""Blocks of runs, the unit of work: some runs of one problem by one or more methods, computed together and stored."""

import traceback
from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import Enum

import numpy as np
import pandas as pd
from threadpoolctl import threadpool_limits

from pomrl import store
from pomrl.components import Engine
from pomrl.execution import Failure
from pomrl.experiment import Method, Problem, tables
from pomrl.solvers import compiled
from pomrl.store import StoredExperiment

SECONDS_PER_PLAN = 2e-6
"""Approximate time to plan and evaluate one model of 10 states at one discount factor; for estimates only."""

MEMORY = 256 * 2**20
"""Bytes that the runs which are computed together may take, unless a number of runs is given."""


@dataclass(frozen=True)
class BlockTask:
    """One method of a block, and where its table belongs."""

    method: Method
    stored: StoredExperiment
    replace: bool
    """Whether the table replaces the runs that are stored already."""


@dataclass(frozen=True)
class Block:
    """Runs of one problem, and the methods that are applied to them. It may travel to another machine."""

    problem: Problem
    runs: range
    tasks: tuple[BlockTask, ...]

    @property
    def plans(self) -> int:
        """The number of pairs of a model and a discount factor that are planned."""
        per_task = sum(task.method.gamma_schedule.gammas_per_task for task in self.tasks)
        return len(self.runs) * self.problem.T * per_task

    @property
    def seconds(self) -> float:
        """A rough estimate of the time to compute the block in one process."""
        return SECONDS_PER_PLAN * self.plans * max(1.0, self.problem.S / 10) ** 2


class Status(Enum):
    """What has become of a table that is no longer at hand."""

    STORED = "stored"


@dataclass(frozen=True)
class TaskResult:
    """What came of one method of a block."""

    task: BlockTask
    value: pd.DataFrame | Status | Failure
    """The table, what became of it, or why there is none."""


def compute(block: Block, runs_at_a_time: int | None = None, engine: Engine = "auto") -> list[TaskResult]:
    """Compute the table of each method of a block.

    BLAS gets one thread: blocks are the only level of parallelism, and its number of threads can change bits.

    Args:
        block: The runs and the methods.
        runs_at_a_time: How many runs are computed together; by default as many as fit into `MEMORY`. It changes no bit.
        engine: What solves small models. It changes no bit.

    Returns:
        A table or a failure for each task of the block, in their order. A method that fails does not affect the others.
    """
    try:
        with threadpool_limits(limits=1, user_api="blas"), compiled.using(engine):
            return _compute_together(block, runs_at_a_time)
    except Exception as error:
        if len(block.tasks) == 1:
            return [TaskResult(block.tasks[0], Failure(f"{type(error).__name__}: {error}", traceback.format_exc()))]
        return [compute(replace(block, tasks=(task,)), runs_at_a_time, engine)[0] for task in block.tasks]


def _compute_together(block: Block, runs_at_a_time: int | None) -> list[TaskResult]:
    problem, methods = block.problem, [task.method for task in block.tasks]
    bytes_per_run = problem.S**2 * problem.A * 8 * (4 + 2 * len(methods))
    size = runs_at_a_time or int(np.clip(MEMORY // bytes_per_run, 1, len(block.runs)))
    chunks = [block.runs[i : i + size] for i in range(0, len(block.runs), size)]
    computed = [tables(problem, methods, chunk) for chunk in chunks]
    return [
        TaskResult(task, pd.concat([of_chunk[i] for of_chunk in computed], ignore_index=True))
        for i, task in enumerate(block.tasks)
    ]


def store_tables(results: Sequence[TaskResult], runs: range) -> list[TaskResult]:
    """Store the tables among the results of a block of these runs; return the results without their tables."""
    return [_store_table(result, runs) for result in results]


def _store_table(result: TaskResult, runs: range) -> TaskResult:
    if not isinstance(result.value, pd.DataFrame):
        return result
    store.add(result.task.stored, runs, result.value, replace=result.task.replace)
    store.log(result.task.stored, f"stored runs {runs.start} to {runs.stop - 1}")
    return replace(result, value=Status.STORED)
