"""What is measured, and how it is shown."""

from pathlib import Path

import numpy as np
import pandas as pd
from matplotlib.figure import Figure
from rich.console import Console
from threadpoolctl import threadpool_limits

from benchmarks.competitors import COMPETITORS, ours
from benchmarks.measurement import Measured, compare, plan_and_evaluate, seconds
from benchmarks.problems import GAMMA_EVAL, draw, grid
from pomrl.commands.tables import plain_table
from pomrl.planners import PolicyIteration

ROUNDS = 7

LARGE = {30: (40, 8, 20), 100: (8, 4, 12), 300: (2, 2, 8), 1000: (1, 1, 4)}
"""For each S: our models, the competitor's models, and how many of its 100 gammas the competitor plans."""

COSTS = {
    "S": [(S, 2, 21, M) for S, M in ((5, 1500), (10, 1500), (16, 500), (30, 100), (100, 10), (300, 2), (1000, 1))],
    "A": [(10, A, 21, 1500) for A in (2, 4, 8, 16)],
    "gammas": [(10, 2, G, 1500) for G in (1, 5, 21, 100)],
    "models (runs x tasks)": [(10, 2, 21, M) for M in (15, 150, 1500, 3000, 6000)],
}
"""What is varied: (S, A, gammas, models)."""


def report(folder: Path) -> None:
    """Measure everything, print it, and write ratios.csv, costs.csv and costs.png."""
    folder.mkdir(parents=True, exist_ok=True)
    with threadpool_limits(limits=1):
        ratios, costs = pd.DataFrame(_ratios()), pd.DataFrame(_costs())
    _show(ratios, "how many times longer than ours, plan and evaluate, one thread; over rounds")
    _show(costs, "cost of ours; microseconds for one plan and evaluation")
    ratios.to_csv(folder / "ratios.csv", index=False)
    costs.to_csv(folder / "costs.csv", index=False)
    _plot(costs).savefig(folder / "costs.png", dpi=150)
    print(folder)


def _ratios() -> list[dict[str, object]]:
    models, gammas = draw(1500, 10, 2), grid(21)
    rows = [
        _row(10, 21, name, compare(plan, models, gammas, few=10, sparse=gammas, rounds=ROUNDS))
        for name, plan in COMPETITORS.items()
    ]
    rows.append(_row(10, 21, "LAPACK solve alone, planning alone", _against_lapack()))
    for S, (count, few, sparse) in LARGE.items():
        models, gammas = draw(count, S, 2), grid(100)
        part = gammas[np.linspace(0, 99, sparse).astype(int)]
        rows += [
            _row(S, 100, name, compare(COMPETITORS[name], models, gammas, few, part, rounds=3))
            for name in ("quantecon, as documented", "NumPy loop")
        ]
    return rows


def _row(S: int, G: int, name: str, measured: Measured) -> dict[str, object]:
    low, median, high = measured.ratios
    return {
        "S": S,
        "gammas": G,
        "beside": name,
        "ours [us]": round(float(np.median(measured.ours)), 2),
        "theirs [us]": round(float(np.median(measured.other)), 2),
        "ratio": round(median, 2),
        "lowest": round(low, 2),
        "highest": round(high, 2),
    }


def _against_lapack() -> Measured:
    """Planning alone, beside LAPACK's batched solve of one system for each plan."""
    models, gammas = draw(1500, 10, 2), grid(21)
    systems = [np.eye(10) - gamma * models.P_hat[:, :, 0] for gamma in gammas]
    rewards = models.R[:, :, :1].copy()
    planned, solved = [], []
    for _ in range(ROUNDS):
        planned.append(seconds(lambda: PolicyIteration().plan(models.P_hat, models.R, gammas)))
        solved.append(seconds(lambda: [np.linalg.solve(system, rewards) for system in systems]))
    plans = 1500 * 21
    return Measured(1e6 * np.array(planned) / plans, 1e6 * np.array(solved) / plans)


def _costs() -> list[dict[str, object]]:
    rows: list[dict[str, object]] = []
    for axis, settings in COSTS.items():
        for S, A, G, M in settings:
            models, gammas = draw(M, S, A), grid(G) if G > 1 else np.array([GAMMA_EVAL])
            times = [seconds(lambda m=models, g=gammas: plan_and_evaluate(ours, m, g)) for _ in range(3)]
            cost = 1e6 * float(np.median(times)) / (M * G)
            rows.append({"varied": axis, "S": S, "A": A, "gammas": G, "models": M, "cost [us]": round(cost, 2)})
    return rows


def _show(frame: pd.DataFrame, title: str) -> None:
    table = plain_table(title, *frame.columns)
    for row in frame.itertuples(index=False):
        table.add_row(*map(str, row))
    Console(width=100).print(table)


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
