"""What is measured, and how it is shown."""

from pathlib import Path

import numpy as np
import pandas as pd
from matplotlib.figure import Figure
from rich.console import Console
from threadpoolctl import threadpool_limits

from benchmarks.contenders import LARGE, OURS, SMALL
from benchmarks.growth import growth
from benchmarks.learners import learners
from benchmarks.measurement import Measured, compare, plan_and_evaluate, seconds
from benchmarks.plans import counts
from benchmarks.problems import GAMMA_EVAL, draw, grid
from pomrl.commands.tables import plain_table

ROUNDS = 7

MODELS = 1500
"""Models of 10 states that are planned in one call."""

FEW = {"numba": MODELS, "JAX": MODELS, "NumPy": 60, "QuantEcon": 20, "mdpsolver": 20, "pymdptoolbox": 5}
"""How many of these models each contender plans: those that plan one model after the other need few to be timed."""

LARGE_MODELS = {100: (4, 5), 300: (2, 3), 1000: (1, 3)}
"""For each number of states: models and rounds."""

COSTS = {
    "S": [(S, 2, 21, M) for S, M in ((5, 1500), (10, 1500), (16, 500), (30, 100), (100, 10), (300, 2), (1000, 1))],
    "A": [(10, A, 21, 1500) for A in (2, 4, 8, 16)],
    "gammas": [(10, 2, G, 1500) for G in (1, 5, 21, 100)],
    "models (runs x tasks)": [(10, 2, 21, M) for M in (15, 150, 1500, 3000, 6000)],
}
"""What is varied: (S, A, gammas, models)."""


def report(folder: Path) -> None:
    """Measure everything, print it, and write a CSV file of each table, and costs.png."""
    folder.mkdir(parents=True, exist_ok=True)
    titles = {
        "plans": "plans in the published sweeps; `computed` counts those that several sweeps share once",
        "ratios": "how many times as long as ours, plan and evaluate, CPU time of one thread; over rounds",
        "costs": "cost of ours; microseconds of CPU time for one plan and its evaluation",
        "learners": "what a task costs a learner in one run, without planning; microseconds of CPU time, at most 5 x",
        "growth": "an experiment with twice as many runs, tasks or discount factors",
    }
    with threadpool_limits(limits=1):
        for (name, title), measure in zip(titles.items(), (counts, _ratios, _costs, learners, growth), strict=True):
            frame = pd.DataFrame(measure())
            frame.to_csv(folder / f"{name}.csv", index=False)
            _show(frame, title)
            if name == "costs":
                _plot(frame).savefig(folder / "costs.png", dpi=150)
    print(folder)


def _ratios() -> list[dict[str, object]]:
    models, gammas = draw(MODELS, 10, 2), grid(21)
    rows = []
    for name, contender in SMALL.items():
        few = FEW[name.replace(",", "").split()[0]]
        rows.append(_row(10, 21, name, compare(contender, models, gammas, few, ROUNDS)))
    for S, (count, rounds) in LARGE_MODELS.items():
        models, gammas = draw(count, S, 2), grid(100)
        rows += [_row(S, 100, name, compare(each, models, gammas, count, rounds)) for name, each in LARGE.items()]
    return rows


def _row(S: int, G: int, name: str, measured: Measured) -> dict[str, object]:
    low, median, high = measured.ratios
    return {
        "S": S,
        "gammas": G,
        "beside": f"{name} ({measured.variant})" if measured.variant else name,
        "ours [us]": round(float(np.median(measured.ours)), 3),
        "theirs [us]": round(float(np.median(measured.other)), 2),
        "ratio": round(median, 1),
        "lowest": round(low, 1),
        "highest": round(high, 1),
    }


def _costs() -> list[dict[str, object]]:
    rows: list[dict[str, object]] = []
    plan = OURS.variants[""]
    for axis, settings in COSTS.items():
        for S, A, G, M in settings:
            models, gammas = draw(M, S, A), grid(G) if G > 1 else np.array([GAMMA_EVAL])
            times = [seconds(lambda m=models, g=gammas: plan_and_evaluate(OURS, plan, m, g)) for _ in range(3)]
            cost = 1e6 * float(np.median(times)) / (M * G)
            rows.append({"varied": axis, "S": S, "A": A, "gammas": G, "models": M, "cost [us]": round(cost, 3)})
    return rows


def _show(frame: pd.DataFrame, title: str) -> None:
    table = plain_table(title, *frame.columns)
    for row in frame.itertuples(index=False):
        table.add_row(*map(str, row))
    Console(width=120).print(table)


def _plot(costs: pd.DataFrame) -> Figure:
    figure = Figure(figsize=(7, 2.2), layout="constrained")
    axes = figure.subplots(1, len(COSTS), sharey=True)
    column = {"S": "S", "A": "A", "gammas": "gammas", "models (runs x tasks)": "models"}
    for ax, axis in zip(axes, COSTS, strict=True):
        part = costs[costs["varied"] == axis]
        ax.loglog(part[column[axis]], part["cost [us]"], marker="o")
        ax.set_xlabel(axis)
        ax.set_xticks(part[column[axis]], part[column[axis]], fontsize=6, rotation=45)
        ax.minorticks_off()
    axes[0].set_ylabel("µs per plan")
    return figure
