"""The public call, `pomrl.plan`, beside QuantEcon: policies and values of one model after the other."""

import time
from collections.abc import Callable

import numpy as np
import pandas as pd

import pomrl
from benchmarks.libraries import quantecon_values
from benchmarks.measurement import VALUE_TOLERANCE
from benchmarks.problems import grid, grid_worlds, random_models

MODELS = {5: 60, 10: 60, 20: 40, 50: 20, 80: 10, 100: 10, 300: 3, 1000: 1}
"""For each number of states, how many models are planned."""

ROUNDS = 5

Values = Callable[[np.ndarray, np.ndarray, np.ndarray], np.ndarray]
"""A function of (P, R, gammas) that returns the values [G, S] of one model."""


def call_ratios() -> pd.DataFrame:
    """Compare the calls at 21 discount factors: the median, smallest and largest ratio over rounds."""
    kinds = {"random": random_models, "grid world": grid_worlds}
    return pd.DataFrame(compare(kind, *kinds[kind](M, S), grid(21)) for kind in kinds for S, M in MODELS.items())


def plan_values(P: np.ndarray, R: np.ndarray, gammas: np.ndarray) -> np.ndarray:
    """Return the values of `pomrl.plan`."""
    return pomrl.plan(P, R, gammas, axes="sas").values


def compare(kind: str, P: np.ndarray, R: np.ndarray, gammas: np.ndarray) -> dict[str, object]:
    """Plan all models by both calls, in turns."""
    difference = np.abs(plan_values(P[0], R[0], gammas) - quantecon_values(P[0], R[0], gammas)).max()
    if difference > VALUE_TOLERANCE:
        raise ArithmeticError(f"QuantEcon and we differ by {difference:.2g} in value, {kind}, S = {P.shape[1]}")
    calls = plan_values, quantecon_values
    ours, theirs = np.array([[milliseconds(call, P, R, gammas) for call in calls] for _ in range(ROUNDS)]).T
    return {
        "models": kind,
        "S": P.shape[1],
        "pomrl.plan [ms]": round(np.median(ours), 2),
        "QuantEcon [ms]": round(np.median(theirs), 1),
        "ratio": round(np.median(theirs / ours), 1),
        "lowest": round((theirs / ours).min(), 1),
        "highest": round((theirs / ours).max(), 1),
    }


def milliseconds(call: Values, P: np.ndarray, R: np.ndarray, gammas: np.ndarray) -> float:
    """Return the CPU time of a model at all discount factors."""
    start = time.process_time()
    for model in zip(P, R, strict=True):
        call(*model, gammas)
    return 1e3 * (time.process_time() - start) / len(P)
