"""Why limits of gains fail: errors of estimated gains, with what is estimated replaced by what is true.

    python -m benchmarks.why_limits_fail --logs 40

A row for each cell: the mean error of the gain that is estimated for the recommended way to plan, in units of the
standard error that the report says, and the standard deviation of these over logs. A log takes a second of one core.
"""

import argparse
from dataclasses import replace

import numpy as np
import pandas as pd
from jaxtyping import Float

import pomrl
from benchmarks.advice_on_logs import SEED
from benchmarks.logs_with_truth import GAMMA_EVAL, Cell, LogWithTruth, drawn
from benchmarks.true_gains import KEEP, true_gain
from pomrl.models_and_logs.departures import Estimate
from pomrl.models_and_logs.gains import PARTS, judges
from pomrl.results.tables import format_table

CELLS = [
    Cell("mountain_passes", "uniform", 3000, "rewards"),
    Cell("mountain_passes", "rule_of_thumb", 3000, "rewards"),
    Cell("mountain_passes", "best_10", 3000, "rewards"),
    Cell("dosing", "best_10", 24_000, "rewards"),
    Cell("fermentation", "best_10", 24_000, "rewards"),
]


def errors(cell: Cell, number: int) -> dict[str, float]:
    """Return the errors of a log in units of standard errors; nothing if its decisions are kept."""
    of = drawn(cell, np.random.default_rng([SEED, *map(ord, repr(cell)), number]))
    advice = pomrl.horizon_report(of.log, GAMMA_EVAL, seed=number).recommendation
    if not advice.changed.any():
        return {}
    found = list[list[tuple[float, float, float]]]()
    for judge in judges(of.log, GAMMA_EVAL, None, np.random.default_rng(number)):
        (plan,) = judge.estimate.plans(advice.support, np.array([advice.gamma]))
        true, of_part = true_gain(of, plan), list[tuple[float, float, float]]()
        for estimate in _replaced(judge.estimate, of).values():
            judge.estimate = estimate
            gain = judge.value(plan) - judge.value(np.full_like(plan, KEEP))
            of_part.append((float(gain.corrected.mean()), true, float(gain.errors @ gain.errors)))
        found.append(of_part)
    said, true, squares = np.moveaxis(np.array(found).sum(0), -1, 0) / PARTS
    deviation = np.sqrt(squares / PARTS) / len(of.log.tasks)
    return dict(zip(("as it is", "true models", "true behaviour"), (said - true) / deviation, strict=True))


def _replaced(estimate: Estimate, of: LogWithTruth) -> dict[str, Estimate]:
    """Return the estimate, and those with the true models and with the true probabilities of actions."""
    visits, true = of.log.visits, of.behaviours.mean(0)
    pooled = visits.sum(0) / np.maximum(visits.sum((0, 2)), 1)[:, None]
    chance = (visits + pooled) / (visits.sum(-1, keepdims=True) + 1.0)
    return {
        "as it is": estimate,
        "true models": _with(estimate, of.P, (of.P * of.R).sum(-1), chance),
        "true behaviour": _with(estimate, estimate.P[:, :, 1:], estimate.R[..., 1:], true),
    }


def _with(
    estimate: Estimate,
    P: Float[np.ndarray, "K S A S"],
    R: Float[np.ndarray, "K S A"],
    chance: Float[np.ndarray, "K S A"],
) -> Estimate:
    kept = np.einsum("ksa,ksat->kst", chance, P)[:, :, None]
    of_kept = (chance * R).sum(-1, keepdims=True)
    return replace(estimate, P=np.concatenate([kept, P], 2), R=np.concatenate([of_kept, R], 2))


def row(cell: Cell, logs: int) -> dict[str, object]:
    """Return the row of a cell."""
    found = pd.DataFrame([each for number in range(logs) if (each := errors(cell, number))])
    texts = {str(name): f"{values.mean():.1f}, {values.std():.1f}" for name, values in found.items()}
    return {"family": cell.family, "behaviour": cell.behaviour, "logs": len(found), **texts}


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description="Errors of estimated gains by cause.")
    parser.add_argument("--logs", type=int, default=40, help="the logs of each cell")
    logs = parser.parse_args().logs
    print(format_table(pd.DataFrame([row(cell, logs) for cell in CELLS]), "markdown"))


if __name__ == "__main__":
    main()
