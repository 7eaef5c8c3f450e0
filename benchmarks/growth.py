"""How the time and the memory of an experiment grow with runs, tasks and discount factors."""

import time
import tracemalloc
from dataclasses import replace

import numpy as np

from pomrl.configuration.sources import PUBLISHED
from pomrl.configuration.sweeps import experiment
from pomrl.science.experiment import tables
from pomrl.science.gamma_schedules import Grid
from pomrl.science.problem import Method, Problem

RUNS, TASKS, GAMMAS, BLOCK = 50, 15, 21, 50
ROUNDS = 7


def growth() -> list[dict[str, object]]:
    """Return how many times as long an experiment takes with twice as many runs, tasks or discount factors.

    Runs are computed in blocks of 50, as the command does, so that twice as many runs are two blocks.
    """
    once = (RUNS, TASKS, GAMMAS)
    doubled = {
        "runs": (2 * RUNS, TASKS, GAMMAS),
        "tasks": (RUNS, 2 * TASKS, GAMMAS),
        "gammas": (RUNS, TASKS, 2 * GAMMAS),
    }
    rows: list[dict[str, object]] = []
    for axis, twice in doubled.items():
        ratios = [_seconds(*twice) / _seconds(*once) for _ in range(ROUNDS)]
        memory = [_megabytes(*size) for size in (once, twice)]
        row = {
            "doubled": axis,
            "time": f"{np.median(ratios):.2f}",
            "from": f"{min(ratios):.2f}",
            "to": f"{max(ratios):.2f}",
        }
        rows.append(row | {"peak before [MB]": round(memory[0], 1), "peak after [MB]": round(memory[1], 1)})
    return rows


def _compute(runs: int, tasks: int, gammas: int) -> None:
    requested = experiment(PUBLISHED, [])
    problem: Problem = replace(requested.problem, T=tasks)
    method: Method = replace(requested.method, gamma_schedule=Grid(gammas=np.linspace(0.0, 0.99, gammas).tolist()))
    for first in range(0, runs, BLOCK):
        tables(problem, [method], range(first, first + BLOCK))


def _seconds(runs: int, tasks: int, gammas: int) -> float:
    start = time.process_time()
    _compute(runs, tasks, gammas)
    return time.process_time() - start


def _megabytes(runs: int, tasks: int, gammas: int) -> float:
    tracemalloc.start()
    try:
        _compute(runs, tasks, gammas)
        return tracemalloc.get_traced_memory()[1] / 1e6
    finally:
        tracemalloc.stop()
