"""Simulated logs of clinics with known models."""

import itertools

import numpy as np
import pandas as pd

from pomrl_logs.log_tables import ColumnRoles, read_log
from pomrl_logs.logs import Log

TASKS, S, A, GAMMA = 6, 4, 3, 0.9
STATES, ACTIONS = [f"severity {s}" for s in range(S)], ["none", "pill", "surgery"]


def world(seed: int, *, old: float = 0.0) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Models P[age, k, s, a, s'], rewards R[s, a] and decisions π[age, s, a] of clinics; age 1 is old.

    Old patients get worse more often, by a factor exp(old), and surgery more often, by as much.
    """
    rng = np.random.default_rng(seed)
    base = rng.dirichlet(np.full(S, 2.0), (S, A))
    P = np.stack([[rng.dirichlet(30 * row + 0.1) for row in base.reshape(-1, S)] for _ in range(TASKS)])
    P = P.reshape(TASKS, S, A, S)
    tilt = np.exp(old * np.array([[-1.0], [1.0]]) * np.arange(S))[:, None, None, None]
    models = P[None] * tilt
    chance = np.array([0.6, 0.3, 0.1]) * np.exp(old * np.array([[-1.0], [1.0]]) * np.arange(A))
    chance /= chance.sum(-1, keepdims=True)
    return models / models.sum(-1, keepdims=True), -10.0 * np.arange(S)[:, None] - np.array([0.0, 1.0, 4.0]), chance


def visits(seed: int, steps: int = 300, length: int = 15, *, old: float = 0.0) -> pd.DataFrame:
    """A log of patients of clinics, with the columns day, age and ward, which no argument names."""
    P, R, chance = world(seed, old=old)
    rng, rows = np.random.default_rng([seed, 1]), []
    for k, patient in itertools.product(range(TASKS), range(steps // length)):
        age, s = int(rng.random() < 0.5), int(rng.integers(S))
        for day in range(length):
            a = rng.choice(A, p=chance[age])
            t = rng.choice(S, p=P[age, k, s, a])
            rows.append(
                (f"clinic {k}", patient, day, STATES[s], ACTIONS[a], R[s, a], STATES[t], 40 + 35 * age, rng.integers(5))
            )
            s = t
    columns = ["task", "patient", "day", "state", "action", "reward", "next_state", "age", "ward"]
    return pd.DataFrame(rows, columns=columns)


def load_log(frame: pd.DataFrame, **columns: str) -> Log:
    return read_log(frame, ColumnRoles(**columns))


def finding_names(log: Log) -> list[str]:
    return [finding.name for finding in log.findings]


EPISODES = {"episode": "patient"}
ORDERED = {"episode": "patient", "time": "day"}
