"""What learners lose that explain rows of a model in different ways, on families that were written after the rule.

    python packages/pomrl-logs/benchmarks/explanations_of_rows.py --runs 60

A row for each family and spread: the loss without meta-learning, averaged over 15 tasks at gamma_eval = 0.99, and those
of the others in per cent of it, with 95 % intervals of the mean over runs; `less` is that of equal or tied rows less
that of ada-POMRL, in pairs. All runs take some minutes of one core, and are stored nowhere.
"""

import argparse
from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd
from families_after_the_rule import AFTER_THE_RULE
from jaxtyping import Float

from pomrl.results.tables import format_table
from pomrl.science.data import Batch
from pomrl.science.estimators.estimator import Estimator, Truth
from pomrl.science.estimators.pomrl import RegularisedLeastSquares
from pomrl.science.mdp import optimal_value, planning_loss
from pomrl.science.planners import PolicyIteration
from pomrl.science.tasks.distribution import Candidates
from pomrl_studies.beyond.estimators.empirical_bayes import EmpiricalBayes
from pomrl_studies.beyond.estimators.tied_rows import EqualOrTied, TiedRows

SPREADS, TASKS, TRANSITIONS, GAMMA, SEED = (0.05, 0.15), 15, 5, 0.99, 20261126

LEARNERS: Mapping[str, Estimator[Any]] = {
    "without": RegularisedLeastSquares(mixing=0.0),
    "ada-POMRL": RegularisedLeastSquares(mixing="paper", similarity="welford"),
    "POMRL": RegularisedLeastSquares(mixing="paper", similarity="known"),
    "aggregating": RegularisedLeastSquares(mixing=1.0),
    "empirical Bayes": EmpiricalBayes(),
    "tied rows": TiedRows(),
    "equal or tied": EqualOrTied(),
}


def losses(learner: Estimator[Any], models: Candidates, runs: int) -> Float[np.ndarray, " n"]:
    """Return the mean loss over tasks in each run; all learners see the same draws."""
    rng = np.random.default_rng(SEED)
    S, A = models.P.shape[1:3]
    truth = Truth(models.P.mean(0)[None].repeat(runs, 0), models.variance[None].repeat(runs, 0))
    best = optimal_value(models.P, _rewards(models.P, models.R), GAMMA)
    memory, total = learner.initial_memory(runs, S, A), np.zeros(runs)
    for t in range(1, TASKS + 1):
        task = rng.integers(len(models.P), size=runs)
        P, R = models.P[task], models.R[task]
        batch = Batch.of_counts(rng.multinomial(TRANSITIONS, P), TRANSITIONS, equal=True)
        before, memory = memory, learner.learn(memory, batch)
        estimate = learner.assess(t, batch, before, memory, truth)
        h = estimate.h(batch) if callable(estimate.h) else estimate.h
        alpha = estimate.alpha(batch.visits) if callable(estimate.alpha) else estimate.alpha
        P_hat = (1.0 - alpha[..., None]) * batch.P_bar + alpha[..., None] * h
        plan = PolicyIteration().plan(P_hat, _rewards(P_hat, R), np.array([GAMMA]))
        total += planning_loss(P, _rewards(P, R), plan, GAMMA, best[task])[:, 0]
    return total / TASKS


def _rewards(P: np.ndarray, R: np.ndarray) -> np.ndarray:
    return R if R.ndim == P.ndim - 1 else (P * R).sum(-1)


def row(family: str, spread: float, runs: int) -> dict[str, object]:
    """Return a row of the table."""
    kind, centre = AFTER_THE_RULE[family]
    models = kind(centre=centre, spread=spread).candidate_models()
    by_name = {name: losses(learner, models, runs) for name, learner in LEARNERS.items()}
    without = by_name["without"].mean()
    shares = {name: _interval(100.0 * loss / without) for name, loss in by_name.items() if name != "without"}
    less = _interval(100.0 * (by_name["equal or tied"] - by_name["ada-POMRL"]) / without)
    return {"family": family, "spread": spread, "without": f"{without:.3g}", **shares, "less": less}


def _interval(values: Float[np.ndarray, " n"]) -> str:
    return f"{values.mean():.1f} ± {1.96 * values.std(ddof=1) / np.sqrt(len(values)):.1f}"


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description="Losses of learners that explain rows in different ways.")
    parser.add_argument("--runs", type=int, default=60)
    runs = parser.parse_args().runs
    rows = [row(family, spread, runs) for family in AFTER_THE_RULE for spread in SPREADS]
    print(format_table(pd.DataFrame(rows), "markdown"))


if __name__ == "__main__":
    main()
