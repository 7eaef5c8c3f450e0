"""Blocks of runs, computed in this process or in others. The unit of work is a block, never a single run or task."""

import os
import traceback
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass as plain_dataclass
from typing import Annotated, cast

import numpy as np
import pandas as pd
from joblib import Parallel, delayed
from pydantic import Field
from pydantic.dataclasses import dataclass
from threadpoolctl import threadpool_limits

from pomrl.components import CHECKED
from pomrl.experiment import Method, Problem, tables

SECONDS_PER_PLAN = 2e-6
"""About what planning and evaluating a model of 10 states at one discount factor costs; for estimates only."""

_MEMORY = 256 * 2**20
_SMALL_WORK = 5.0


@plain_dataclass(frozen=True)
class Block:
    """Work that is computed together: some runs of one problem, by one or more methods."""

    problem: Problem
    methods: Sequence[Method]
    runs: range
    keys: Sequence[str]
    """What the results of the methods are called."""
    runs_at_a_time: int | None = None

    @property
    def plans(self) -> int:
        """How many models are planned, at how many discount factors."""
        per_task = sum(method.gamma_schedule.gammas_per_task for method in self.methods)
        return len(self.runs) * self.problem.T * per_task

    @property
    def seconds(self) -> float:
        """A rough estimate of the time to compute it in one process."""
        return SECONDS_PER_PLAN * self.plans * max(1.0, self.problem.S / 10) ** 2


@plain_dataclass(frozen=True)
class Failure:
    """Why a method has no table."""

    reason: str
    traceback: str


Result = tuple[Block, list[pd.DataFrame | Failure]]


class Execution(ABC):
    """Where blocks are computed."""

    @abstractmethod
    def map_unordered(self, blocks: Sequence[Block]) -> Iterator[Result]:
        """Compute the blocks; each result comes as soon as it is there, in any order."""


@dataclass(frozen=True, config=CHECKED, kw_only=True)
class Local(Execution):
    """Processes of this machine (joblib, loky)."""

    workers: Annotated[
        int | None, Field(ge=1, description="processes; null: one for each core, or a single one for little work")
    ] = None
    runs_at_a_time: Annotated[
        int | None, Field(ge=1, description="runs computed together; null: as many as fit into 256 MiB")
    ] = None

    def map_unordered(self, blocks: Sequence[Block]) -> Iterator[Result]:
        workers = self.workers or self._fitting(blocks)
        blocks = [_limited(block, self.runs_at_a_time) for block in blocks]
        if workers == 1:
            return map(compute, blocks)
        return _in_processes(blocks, workers)

    @staticmethod
    def _fitting(blocks: Sequence[Block]) -> int:
        """Starting processes costs seconds, which little work does not repay."""
        little = sum(block.seconds for block in blocks) < _SMALL_WORK
        return 1 if little else max(1, min(len(blocks), os.cpu_count() or 1))


def _in_processes(blocks: Sequence[Block], workers: int) -> Iterator[Result]:
    parallel = Parallel(workers, return_as="generator_unordered", pre_dispatch="2*n_jobs")
    yield from cast(Iterator[Result], parallel(map(delayed(compute), blocks)))


def _limited(block: Block, runs_at_a_time: int | None) -> Block:
    return Block(block.problem, block.methods, block.runs, block.keys, runs_at_a_time)


def compute(block: Block) -> Result:
    """The block and, for each of its methods, its table or why there is none.

    BLAS gets one thread: blocks are the only level of parallelism, and its number of threads can change bits.
    """
    with threadpool_limits(limits=1, user_api="blas"):
        try:
            return block, [*_in_chunks(block, block.methods)]
        except Exception:
            return block, [_alone(block, method) for method in block.methods]


def _alone(block: Block, method: Method) -> pd.DataFrame | Failure:
    """One method by itself, so that one that fails does not take the others of its problem with it."""
    try:
        return _in_chunks(block, [method])[0]
    except Exception as error:
        return Failure(f"{type(error).__name__}: {error}", traceback.format_exc())


def _in_chunks(block: Block, methods: Sequence[Method]) -> list[pd.DataFrame]:
    problem = block.problem
    bytes_per_run = problem.S**2 * problem.A * 8 * (4 + 2 * len(methods))
    size = block.runs_at_a_time or int(np.clip(_MEMORY // bytes_per_run, 1, len(block.runs)))
    chunks = [block.runs[i : i + size] for i in range(0, len(block.runs), size)]
    computed = [tables(problem, methods, chunk) for chunk in chunks]
    return [pd.concat(parts, ignore_index=True) for parts in zip(*computed, strict=True)]
