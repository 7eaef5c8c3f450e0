"""Blocks of runs, the unit of work: some runs of one problem by one or more methods, computed together and stored."""

# threadpoolctl comes without types.
# pyright: reportMissingTypeStubs=false

import traceback
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

import numpy as np
import pandas as pd
from threadpoolctl import threadpool_limits

from pomrl import store
from pomrl.checks import Engine
from pomrl.running import cpu_time
from pomrl.science.drawn_tasks import STACK_BYTES
from pomrl.science.experiment import tables
from pomrl.science.problem import Method, Problem, components
from pomrl.science.solvers import compiled
from pomrl.store import StoredExperiment

MEMORY = 256 * 2**20
"""Bytes that the runs which are computed together may take, unless a number of runs is given."""


@dataclass(frozen=True)
class MethodOfBlock:
    """One method of a block, and where its table belongs."""

    method: Method
    stored: StoredExperiment


@dataclass(frozen=True)
class Block:
    """Runs of one problem, and the methods that are applied to them. It may travel to another machine."""

    problem: Problem
    runs: range
    methods: tuple[MethodOfBlock, ...]

    @property
    def seconds(self) -> float:
        """A rough estimate of the time to compute the block in one process."""
        return cpu_time.seconds(self.problem, [each.method for each in self.methods], len(self.runs))


def is_foreign(problem: Problem, method: Method) -> bool:
    """Return whether a component of an experiment is not of this package."""
    parts = components(problem, method).values()
    return any(type(component).__module__.partition(".")[0] != "pomrl" for component in parts)


@dataclass(frozen=True)
class Failure:
    """Why a method of a block has no table."""

    reason: str
    traceback: str


Value: TypeAlias = "pd.DataFrame | Failure | None"
"""The outcome of one method of a block: its table, None if this is stored already, or why there is none."""


def compute(block: Block, runs_at_a_time: int | None = None, engine: Engine = "auto") -> list[Value]:
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
            return list(_compute_together(block, runs_at_a_time))
    except (Exception, SystemExit) as error:  # a component of somebody's own may even exit
        if len(block.methods) == 1:
            return [Failure(f"{type(error).__name__}: {error}", traceback.format_exc())]
        return [compute(replace(block, methods=(each,)), runs_at_a_time, engine)[0] for each in block.methods]


def runs_together(problem: Problem, methods: Sequence[Method], runs: int, asked: int | None) -> int:
    """Return how many runs of a block are computed together.

    Args:
        problem: The problem.
        methods: The methods that are applied to it.
        runs: The number of runs of the block.
        asked: How many runs are computed together at most, or None for as many as fit into `MEMORY`.
    """
    if asked is not None:
        return min(asked, runs)
    visits = problem.data.most_visits(problem.m)
    held = problem.copies * sum(each.estimator.models_held(visits) for each in methods)
    most = MEMORY // (problem.bytes_of_model * (4 + 2 * len(methods) + held))
    if problem.copies > 1:  # the batches of a single task can be many
        most = min(most, STACK_BYTES // (problem.bytes_of_model * problem.copies))
    return int(np.clip(most, 1, runs))


def _compute_together(block: Block, runs_at_a_time: int | None) -> "list[pd.DataFrame]":
    problem, methods = block.problem, [each.method for each in block.methods]
    size = runs_together(problem, methods, len(block.runs), runs_at_a_time)
    computed = [tables(problem, methods, block.runs[i : i + size]) for i in range(0, len(block.runs), size)]
    return [pd.concat(of_method, ignore_index=True) for of_method in zip(*computed, strict=True)]


def store_tables(block: Block, values: Sequence[Value]) -> list[Value]:
    """Store the tables of a block, and return its outcomes, in which None has taken the place of each table."""
    for method, value in zip(block.methods, values, strict=True):
        if isinstance(value, pd.DataFrame):
            store.add_blocks(method.stored, [(block.runs, value)])
            store.log(method.stored, f"stored runs {block.runs.start} to {block.runs.stop - 1}")
    return [None if isinstance(value, pd.DataFrame) else value for value in values]
