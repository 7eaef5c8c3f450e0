"""Blocks of runs, the unit of work: some runs of one problem by one or more methods, computed together and stored."""

# threadpoolctl comes without types.
# pyright: reportMissingTypeStubs=false

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
class MethodOfBlock:
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
    methods: tuple[MethodOfBlock, ...]

    @property
    def plans(self) -> int:
        """The number of pairs of a model and a discount factor that are planned."""
        gammas_per_task = sum(each.method.gamma_schedule.gammas_per_task for each in self.methods)
        return len(self.runs) * self.problem.T * gammas_per_task

    @property
    def seconds(self) -> float:
        """A rough estimate of the time to compute the block in one process."""
        return SECONDS_PER_PLAN * self.plans * max(1.0, self.problem.S / 10) ** 2


class Status(Enum):
    """A mark that a worker returns in place of a table that it has stored already."""

    STORED = "stored"


@dataclass(frozen=True)
class MethodResult:
    """The outcome of one method of a block: a table, or a failure."""

    method: MethodOfBlock
    value: pd.DataFrame | Status | Failure
    """The table; `Status.STORED` if the worker has stored it; or the failure because of which there is none."""


def compute(block: Block, runs_at_a_time: int | None = None, engine: Engine = "auto") -> list[MethodResult]:
    """Compute the table of each method of a block.

    BLAS gets one thread: blocks are the only level of parallelism, and its number of threads can change bits.

    Args:
        block: The runs and the methods.
        runs_at_a_time: How many runs are computed together; by default as many as fit into `MEMORY`. It changes no bit.
        engine: What solves small models. It changes no bit.

    Returns:
        A table or a failure for each method of the block, in their order. If one fails, the others are not affected.
    """
    try:
        with threadpool_limits(limits=1, user_api="blas"), compiled.using(engine):
            return _compute_together(block, runs_at_a_time)
    except (Exception, SystemExit) as error:  # a component of somebody's own may even exit
        if len(block.methods) == 1:
            return [MethodResult(block.methods[0], Failure(f"{type(error).__name__}: {error}", traceback.format_exc()))]
        return [compute(replace(block, methods=(each,)), runs_at_a_time, engine)[0] for each in block.methods]


def _compute_together(block: Block, runs_at_a_time: int | None) -> list[MethodResult]:
    problem, methods = block.problem, [each.method for each in block.methods]
    bytes_per_run = problem.S**2 * problem.A * 8 * (4 + 2 * len(methods))
    size = runs_at_a_time or int(np.clip(MEMORY // bytes_per_run, 1, len(block.runs)))
    chunks = [block.runs[i : i + size] for i in range(0, len(block.runs), size)]
    computed = [tables(problem, methods, chunk) for chunk in chunks]
    return [
        MethodResult(each, pd.concat([of_chunk[i] for of_chunk in computed], ignore_index=True))
        for i, each in enumerate(block.methods)
    ]


def store_tables(results: Sequence[MethodResult], runs: range) -> list[MethodResult]:
    """Store the tables among the results of a block of these runs; return the results without their tables."""
    return [_store_table(result, runs) for result in results]


def _store_table(result: MethodResult, runs: range) -> MethodResult:
    if not isinstance(result.value, pd.DataFrame):
        return result
    store.add(result.method.stored, runs, result.value, replace=result.method.replace)
    store.log(result.method.stored, f"stored runs {runs.start} to {runs.stop - 1}")
    return replace(result, value=Status.STORED)
