"""Blocks of runs: the unit of work, never a single run or task, and how one is computed."""

import traceback
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
from threadpoolctl import threadpool_limits

from pomrl.execution.engine import Failure
from pomrl.experiment import Method, Problem, tables

SECONDS_PER_PLAN = 2e-6
"""About what planning and evaluating a model of 10 states at one discount factor costs; for estimates only."""

_MEMORY = 256 * 2**20


@dataclass(frozen=True)
class Block:
    """Work that is computed together: some runs of one problem, by one or more methods."""

    problem: Problem
    methods: Sequence[Method]
    runs: range
    keys: Sequence[str]
    """What the results of the methods are called."""

    @property
    def plans(self) -> int:
        """How many models are planned, at how many discount factors."""
        per_task = sum(method.gamma_schedule.gammas_per_task for method in self.methods)
        return len(self.runs) * self.problem.T * per_task

    @property
    def seconds(self) -> float:
        """A rough estimate of the time to compute it in one process."""
        return SECONDS_PER_PLAN * self.plans * max(1.0, self.problem.S / 10) ** 2


def compute(block: Block, runs_at_a_time: int | None = None) -> list[pd.DataFrame | Failure]:
    """For each method of a block its table, or why there is none; by default with as many runs at a time as fit memory.

    BLAS gets one thread: blocks are the only level of parallelism, and its number of threads can change bits.
    """
    with threadpool_limits(limits=1, user_api="blas"):
        try:
            return [*_in_chunks(block, block.methods, runs_at_a_time)]
        except Exception:
            return [_alone(block, method, runs_at_a_time) for method in block.methods]


def _alone(block: Block, method: Method, runs_at_a_time: int | None) -> pd.DataFrame | Failure:
    """One method by itself, so that one that fails does not take the others of its problem with it."""
    try:
        return _in_chunks(block, [method], runs_at_a_time)[0]
    except Exception as error:
        return Failure(f"{type(error).__name__}: {error}", traceback.format_exc())


def _in_chunks(block: Block, methods: Sequence[Method], runs_at_a_time: int | None) -> list[pd.DataFrame]:
    problem = block.problem
    bytes_per_run = problem.S**2 * problem.A * 8 * (4 + 2 * len(methods))
    size = runs_at_a_time or int(np.clip(_MEMORY // bytes_per_run, 1, len(block.runs)))
    chunks = [block.runs[i : i + size] for i in range(0, len(block.runs), size)]
    computed = [tables(problem, methods, chunk) for chunk in chunks]
    return [pd.concat(parts, ignore_index=True) for parts in zip(*computed, strict=True)]
