"""When a shorter horizon helps a learner whose model of the tasks is wrong: `python -m benchmarks.horizon_gains`.

Empirical Bayes takes the rows of a model as independent, which they are in none of the families. For each family,
spread and number of transitions m, the table has the gain of the best discount factor below gamma_eval, and a measure
that is computed from the batches alone: the *bias*, which is the loss of plans at gamma = 0.9 in the learner's own
model, as a share of the loss that its posterior expects at gamma_eval. Their rank correlation is printed below.

The gain is estimated without the optimism of a choice on the same runs: the discount factor is chosen on one half of
the runs, and the gain is that on the other half.
"""

import argparse
from itertools import product

import numpy as np
import pandas as pd
from joblib import Parallel, delayed
from scipy.stats import spearmanr

import pomrl
from pomrl.results.tables import markdown
from pomrl.science.data import Batch
from pomrl.science.estimators.empirical_bayes import EmpiricalBayes
from pomrl.science.mdp import expected_rewards, planning_loss
from pomrl.science.planners import PolicyIteration
from pomrl.science.tasks.families.family import TaskFamily
from pomrl.studies.beyond.claims.families import FAMILIES, SPREADS

GAMMAS = np.array([0.0, 0.2, 0.4, 0.5, 0.6, 0.7, 0.8, 0.85, 0.9, 0.95, 0.97, 0.99])
"""The discount factors that are compared; the last one is gamma_eval."""

SHORTER = 0.9
"""The discount factor of the bias."""

MS = (2, 5, 20)
SAMPLES = 4


def measured(family: str, spread: float, m: int, runs: int, tasks: int, seed: int) -> dict[str, object]:
    """Return the gain and the bias in a family."""
    distribution = pomrl.component("task_distribution", family, spread=spread)
    assert isinstance(distribution, TaskFamily)
    models, rng = distribution.candidate_models(), np.random.default_rng([seed, m, round(1000 * spread)])
    estimator, (S, A) = EmpiricalBayes(), models.P.shape[1:3]
    memory = estimator.initial_memory(runs, S, A)
    losses, biases, expected = [], [], []
    for _ in range(tasks):
        k = rng.integers(len(models.P), size=runs)
        P, R = models.P[k], np.broadcast_to(models.R, (len(models.P), *models.R.shape[1:]))[k]
        counts = rng.multinomial(m, P)
        memory = estimator.learn(memory, Batch.of_counts(counts, m, equal=True))
        alpha = memory.c * memory.P_o + counts
        P_hat = alpha / alpha.sum(-1, keepdims=True)
        policies = PolicyIteration().plan(P_hat, expected_rewards(R, P_hat), GAMMAS)
        losses.append(_loss(P, R, policies))
        biases.append(_loss(P_hat, R, policies)[:, GAMMAS == SHORTER])
        for _ in range(SAMPLES):
            draws = rng.standard_gamma(alpha) + 1e-300
            expected.append(_loss(draws / draws.sum(-1, keepdims=True), R, policies[:, -1:]))
    by_run = np.mean(losses, axis=0)
    chosen, judged = by_run[: runs // 2].mean(0), by_run[runs // 2 :].mean(0)
    best, at_eval = judged[chosen.argmin()], judged[-1]
    gain = 1.0 - best / at_eval if at_eval > 0 else 0.0
    return {
        "family": family, "spread": spread, "m": m, "best gamma": GAMMAS[chosen.argmin()], "gain": gain,
        "bias": np.mean(biases) / np.mean(expected),
    }  # fmt: skip


def _loss(P: np.ndarray, R: np.ndarray, policies: np.ndarray) -> np.ndarray:
    return planning_loss(P, expected_rewards(R, P), policies, float(GAMMAS[-1]))


def main() -> None:
    """Print the table and the rank correlation."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=60)
    parser.add_argument("--tasks", type=int, default=15)
    parser.add_argument("--seed", type=int, default=20261124)
    parser.add_argument("--processes", type=int, default=2)
    arguments = parser.parse_args()
    settings = product(FAMILIES, SPREADS, MS)
    work = (delayed(measured)(*each, arguments.runs, arguments.tasks, arguments.seed) for each in settings)
    table = pd.DataFrame(list(Parallel(arguments.processes)(work)))
    print(markdown([str(name) for name in table], table.round(3).astype(str).to_numpy().tolist()))
    correlation, _ = spearmanr(table["gain"], table["bias"])
    print(f"rank correlation of gain and bias: {correlation:.2f}")


if __name__ == "__main__":
    main()
