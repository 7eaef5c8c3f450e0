"""What one task costs each learner, beside ada-POMRL: the estimate and what is learned, without planning."""

import time

import numpy as np

from pomrl.configuration.sources import PUBLISHED
from pomrl.configuration.sweeps import experiment
from pomrl.science.algorithm import pomrl
from pomrl.science.data import Batch, Batches
from pomrl.science.estimators.estimator import Estimator, Truth
from pomrl.science.gamma_schedules import Fixed

LEARNERS = ("ada_pomrl", "pomrl", "without_meta", "aggregating", "empirical_bayes", "bayes")
RUNS, TASKS, ROUNDS = 50, 15, 15

GOAL = 5.0
"""The most times ada-POMRL's cost that empirical Bayes may take."""


def learners() -> list[dict[str, object]]:
    """Return the cost of a task in one run of a block of 50 runs, and how many times ada-POMRL's that is."""
    batches, truth = _drawn()
    estimators = {name: experiment(PUBLISHED, [f"estimator={name}"]).method.estimator for name in LEARNERS}
    times = {name: [] for name in LEARNERS}
    for _ in range(ROUNDS):  # in turns
        for name, estimator in estimators.items():
            times[name].append(_seconds(estimator, batches, truth))
    base = np.array(times[LEARNERS[0]])
    return [
        {
            "learner": name,
            "cost [us]": round(1e6 * float(np.median(of_learner)) / (RUNS * TASKS), 2),
            "times ada-POMRL": round(float(np.median(np.array(of_learner) / base)), 2),
        }
        for name, of_learner in times.items()
    ]


def _drawn() -> tuple[list[Batch], Truth]:
    """Return batches of the paper's size, and the moments of the tasks."""
    rng = np.random.default_rng(0)
    P_o = rng.dirichlet(np.full(10, 0.5), (RUNS, 10, 2))
    drawn = [rng.multinomial(5, rng.dirichlet(np.ones(10), (RUNS, 10, 2)) / 2 + P_o / 2) for _ in range(TASKS)]
    return [Batch.of_counts(counts, 5, equal=True) for counts in drawn], Truth(P_o, P_o * (1.0 - P_o) / 8.0)


def _seconds(estimator: Estimator, batches: list[Batch], truth: Truth) -> float:
    start = time.process_time()
    for _ in pomrl(map(Batches.same, batches), 5, truth, estimator, Fixed(gamma=0.5), 0.9):
        pass
    return time.process_time() - start
