"""Is the advice of `pomrl.horizon_report` right? Coverage and losses over families of tasks whose truth is known.

    python -m benchmarks.advice_on_logs --processes 16 --logs 200 --output FOLDER

Each cell is a family, a size of logs, and whether rewards are known. A log has 8 tasks, each with episodes of 10 steps
from random states under random actions. FOLDER gets a row for each log (`logs.csv`) and the table of cells as
Markdown (`cells.md`). Taxi is left out, because planning one of its models takes too long.
"""

import argparse
import os
from dataclasses import dataclass
from itertools import product
from pathlib import Path

import numpy as np
import pandas as pd
from jaxtyping import Float, Int
from joblib import Parallel, delayed
from scipy.stats import binomtest

import pomrl
from benchmarks.further_problems import Promotions, Triage, TwoMachines
from pomrl.models_and_logs.logs import Log
from pomrl.models_and_logs.structure import Structure
from pomrl.results.tables import written
from pomrl.science.data import Trajectories
from pomrl.science.mdp import optimal_value, planning_loss, random_chain_mdp
from pomrl.science.tasks.families.cliff_walking import CliffWalking
from pomrl.science.tasks.families.family import TaskFamily
from pomrl.science.tasks.families.forest import Forest
from pomrl.science.tasks.families.frozen_lake import FrozenLake
from pomrl.science.tasks.families.garnet import Garnet
from pomrl.science.tasks.families.inventory import Inventory
from pomrl.science.tasks.families.machine_replacement import MachineReplacement
from pomrl.science.tasks.families.queue import Queue
from pomrl.science.tasks.families.river_swim import RiverSwim

FAMILIES: dict[str, TaskFamily | None] = {
    "chains": None,
    "river_swim": RiverSwim(centre=0.2, spread=0.15),
    "inventory": Inventory(centre=0.3, spread=0.15),
    "queue": Queue(centre=0.4, spread=0.15),
    "machine_replacement": MachineReplacement(centre=0.25, spread=0.15),
    "forest": Forest(centre=0.2, spread=0.15),
    "garnet": Garnet(centre=0.5, spread=0.15),
    "frozen_lake": FrozenLake(centre=0.4, spread=0.15),
    "frozen_lake_8x8": FrozenLake(centre=0.4, spread=0.15, map="8x8"),
    "cliff_walking": CliffWalking(centre=0.2, spread=0.15),
    "two_machines": TwoMachines(centre=0.3, spread=0.15),
    "promotions": Promotions(centre=0.4, spread=0.3),
    "triage": Triage(centre=0.25, spread=0.15),
}
"""The families; chains are the paper's, whose rows are independent, and new in each log. The last three are no families
of the project."""

SIZES = (1, 4, 16)
"""Transitions of a task for each of its pairs, on average."""

REWARDS = ("known", "noisy", "declared")
"""Rewards are known, or observed with noise; or they are known, and the structure of the models is declared."""

TASKS = 8
NOISE = 0.25
"""The standard deviation of the noise of rewards, in units of that of the rewards in the log."""

GAMMA_EVAL = 0.99
GAMMAS = (0.0, 0.5, 0.7, 0.8, 0.9, 0.95, GAMMA_EVAL)
SAMPLES = 80
"""The draws of a report."""

SEED = 20261122

CHAIN_STATES, CHAIN_ACTIONS, CHAIN_CONCENTRATION = 10, 3, 20.0


@dataclass(frozen=True)
class Cell:
    """Logs of one kind."""

    family: str
    size: int
    rewards: str


CELLS = [
    Cell(*each) for each in product(FAMILIES, SIZES, REWARDS) if each[2] != "declared" or FAMILIES[each[0]] is not None
]


@dataclass(frozen=True, eq=False)
class Drawn:
    """A log with the truth."""

    log: Log
    P: Float[np.ndarray, "K S A S"]
    R: Float[np.ndarray, "K S A"]
    structure: Structure | None


def drawn(cell: Cell, rng: np.random.Generator) -> Drawn:
    """Draw the tasks and the log of a cell."""
    P, R, structure = _chains(rng) if FAMILIES[cell.family] is None else _of_family(FAMILIES[cell.family], rng)
    S, A = P.shape[1:3]
    counts = Trajectories().draw([rng], P[:, None], max(1, cell.size * S * A // 10), 1)[:, 0, 0]
    log = logged(counts, R, NOISE * (cell.rewards == "noisy"), rng)
    log = log if cell.rewards == "noisy" else log.with_rewards(R)
    return Drawn(log, P, (P * R).sum(-1), structure if cell.rewards == "declared" else None)


def logged(
    counts: Int[np.ndarray, "K S A S"], R: Float[np.ndarray, "K S A S"], noise: float, rng: np.random.Generator
) -> Log:
    """Return the log of these transitions, whose rewards have normal noise, in units of their spread in the log."""
    n, mean = counts.astype(float), (counts * R).sum() / counts.sum()
    deviation = noise * np.sqrt((counts * (R - mean) ** 2).sum() / counts.sum())
    of_mean = R + deviation * rng.standard_normal(n.shape) / np.sqrt(np.maximum(n, 1.0))
    within = deviation**2 * np.where(n > 1, rng.chisquare(np.maximum(n - 1.0, 1.0)), 0.0)
    K, S, A, _ = counts.shape
    squares = np.where(n > 0, n * of_mean**2 + within, 0.0)
    return Log(counts, n * of_mean, squares, tuple(range(K)), tuple(range(S)), tuple(range(A)))


def _chains(rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray, None]:
    S, A = CHAIN_STATES, CHAIN_ACTIONS
    P_o, R = random_chain_mdp(rng, S, A, S // 2)
    gammas = rng.standard_gamma(np.broadcast_to(CHAIN_CONCENTRATION * P_o, (TASKS, S, A, S)))
    return gammas / gammas.sum(-1, keepdims=True), np.broadcast_to(R[..., None], (TASKS, S, A, S)), None


def _of_family(family: TaskFamily, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray, Structure]:
    candidates = family.candidate_models()
    of_task = rng.integers(len(candidates.P), size=TASKS)
    P, R = candidates.P[of_task], candidates.R[of_task]
    R = R if R.ndim == P.ndim else np.repeat(R[..., None], P.shape[-1], -1)
    return P, R, Structure(candidates.latent, lambda latent: family.models(latent)[0])


def judged(cell: Cell, seed: int, number: int) -> dict[str, object]:
    """Return what the report on a log says, and what is true."""
    rng = np.random.default_rng([seed, CELLS.index(cell), number])
    of = drawn(cell, rng)
    report = pomrl.horizon_report(of.log, GAMMA_EVAL, GAMMAS, structure=of.structure, samples=SAMPLES, seed=number)
    advice = report.recommendation
    plans = report.plans.reshape(TASKS, -1, report.plans.shape[-1])
    P, R = of.log.playable(of.P, of.R, GAMMA_EVAL)  # a loss is against the best policy of pairs that a task has tried
    V = optimal_value(P, R, GAMMA_EVAL)
    losses = planning_loss(P, R, plans, GAMMA_EVAL, V, norm="mean").mean(0)
    true = float(planning_loss(P, R, advice.policies[:, None], GAMMA_EVAL, V, norm="mean").mean())
    least = 1e-9 * max(1.0, float(np.abs(V).max()))
    return {
        **vars(cell), "log": number, "covered": advice.lower - least <= true <= advice.upper + least,
        "loss": advice.loss, "lower": advice.lower, "upper": advice.upper, "true": true,
        "gamma": advice.gamma, "plan_on": advice.plan_on,
        "winner": report.evidence.winner, **{f"plan {i}": loss for i, loss in enumerate(losses)},
    }  # fmt: skip


def cells(logs: pd.DataFrame) -> pd.DataFrame:
    """Return a row for each cell: coverage with its interval, and losses in units of gamma_eval on frequencies."""
    names = ["family", "size", "rewards"]
    of_cells = logs.groupby(names, sort=False)
    return pd.DataFrame(dict(zip(names, cell, strict=True)) | _cell(of_cell) for cell, of_cell in of_cells).round(3)


def _cell(logs: pd.DataFrame) -> dict[str, float]:
    plans = logs[[f"plan {i}" for i in range(2 * len(GAMMAS))]]
    usual, best = plans.iloc[:, -1], plans[plans.mean().idxmin()]
    gap = logs["true"] - usual
    unit = max(float(usual.mean()), 1e-300)
    covered, n = int(logs["covered"].sum()), len(logs)
    low, high = binomtest(covered, n).proportion_ci()
    return {
        "logs": n, "coverage": covered / n, "coverage_lower": low, "coverage_upper": high,
        "said": logs["loss"].mean() / unit, "true": logs["true"].mean() / unit,
        "worse by at most": (gap.mean() + 1.96 * gap.std(ddof=1) / np.sqrt(n)) / unit,
        "best": best.mean() / unit,
    }  # fmt: skip


def main() -> None:
    """Compute the table and write it."""
    parser = argparse.ArgumentParser(description="Coverage and losses of the advice on logs.")
    parser.add_argument("--processes", type=int, default=os.cpu_count())
    parser.add_argument("--logs", type=int, default=200, help="the logs of each cell")
    parser.add_argument("--output", type=Path, required=True)
    arguments = parser.parse_args()
    os.environ |= {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}
    numbers = range(arguments.logs)
    found = Parallel(n_jobs=arguments.processes)(delayed(judged)(*each) for each in product(CELLS, [SEED], numbers))
    logs = pd.DataFrame(found)
    arguments.output.mkdir(parents=True, exist_ok=True)
    logs.to_csv(arguments.output / "logs.csv", index=False)
    table = written(cells(logs), "markdown")
    (arguments.output / "cells.md").write_text(table)
    print(table)


if __name__ == "__main__":
    main()
