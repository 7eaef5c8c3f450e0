"""Simulated losses in which every claim of the paper holds, and worlds that are like it but for one change."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np
import pandas as pd

from pomrl.configuration.parsing import Experiment
from pomrl.configuration.sources import PUBLISHED
from pomrl.configuration.study import find
from pomrl.configuration.sweeps import Setting, experiment
from pomrl.judging.claim import Claim, JudgedClaim, claims_of
from pomrl.judging.study_claims import Reader
from pomrl.judging.verdict import Verdict
from pomrl.results.result import Result
from pomrl.results.sweep_results import SweepResults
from pomrl.science.experiment import tables as experiment_tables

GAMMAS = np.array([*(i / 20 for i in range(20)), 0.99])
RUNS = 40

PAPER, BEYOND = find("pomrl2023"), find("beyond")
"""The studies that are shipped."""

CLAIMS = claims_of(PAPER)
"""The claims of the paper."""

OURS = claims_of(BEYOND)
"""The claims of the study `beyond`, those of which estimates are reported among them."""

BY_ID: dict[str, Claim] = {claim.id: claim for claim in CLAIMS if claim.sweeps}
"""The claims of the paper about sweeps."""

Settings = Mapping[str, Any]
World = Callable[[str, Settings], np.ndarray]
"""The mean loss [T, G] of a setting of a sweep, or [T, 1] where a schedule chose."""


def bowl(at_eval: np.ndarray, best: np.ndarray | float) -> np.ndarray:
    """Curves with these losses at gamma_eval and their minima at `best`."""
    best = np.broadcast_to(best, at_eval.shape)[:, None]
    return at_eval[:, None] + 0.5 * ((GAMMAS - best) ** 2 - (0.99 - best) ** 2)


def as_in_the_paper(sweep: str, of: Settings) -> np.ndarray:
    """A world in which every claim holds."""
    seen = 1.0 - np.exp(-np.arange(15) / 2)  # how much of what is to be learnt has been, in each task
    match sweep:
        case "task_similarity":
            floor = {0.01: 0.6, 0.025: 0.8, 0.047: 1.35}[of["sigma"]]
            top = max(1.4, floor + 0.1)
            behind = 0.002 if of["sigma"] == 0.047 else 0.02  # where there is less to gain
            slower = 1.0 - np.exp(-np.arange(15) / (3.0 if of["sigma"] == 0.025 else 2.5))
            at_eval = {
                "oracle": np.full(15, floor),
                "without_meta": np.full(15, top + (0.04 if of["sigma"] == 0.047 else 0.3)),
                "pomrl": (1.0 + behind) * floor + (top - floor) * (1 - seen),
                "ada_pomrl": (1.0 + 1.5 * behind) * floor + (top - floor) * (1 - slower),
                "aggregating": 1.02 * floor + (top - floor) * (1 - seen) + (0.0 if of["sigma"] == 0.01 else 0.5),
            }[of["estimator"]]
            if of["estimator"] == "aggregating" and of["sigma"] == 0.047:
                at_eval = np.full(15, 2.0)
            learnt = 0.0 if of["estimator"] == "without_meta" else seen
            return bowl(at_eval, 0.5 if of["sigma"] == 0.047 else 0.4 + 0.5 * learnt)
        case "gamma_schedules":
            curves = as_in_the_paper("task_similarity", {"sigma": 0.01, "estimator": of["estimator"]})
            best_fixed = curves[:, curves.mean(0).argmin()]
            tilt = np.linspace(0.06, -0.06, 15)
            schedules = {
                "grid": curves,
                "dong": (best_fixed + tilt)[:, None],
                "upper_bound": 1.005 * curves.min(1, keepdims=True),
                "upper_bound_as_printed": curves[:, -1:],
            }
            return schedules[of["gamma_schedule"]]
        case "gamma_0":
            return 0.9 * as_in_the_paper("gamma_schedules", {"estimator": "pomrl", "gamma_schedule": "grid"})[:, -1:]
        case "samples_and_tasks" | "states_20" | "states_30":
            tasks = int(of["batches"].partition("_T")[2])
            gain = {"m5_T5": 0.5, "m20_T5": 0.1}.get(of["batches"], 1.0) * (of["estimator"] == "ada_pomrl")
            return bowl(np.full(tasks, 2.0 - gain), 0.7 if of["batches"] == "m20_T5" else 0.3)
        case "initial_similarity" | "equal_tasks":
            cost = {0.01: 0.2, 0.1: 0.1, 0.5: 0.5}[of["start_deviation"]]
            return bowl(np.where(np.arange(15) < 5, 1.0 + cost, 0.5), 0.7)
        case _:  # the illustration
            step = [0.0, 0.25, 0.5, 0.75].index(of["mixing"]) + [5, 10, 20, 50].index(of["m"])
            return bowl(np.array([2.0 - 0.2 * step]), 0.3 + 0.1 * step)


def simulated(world: World, name: str, settings: Sequence[Setting], runs: int = RUNS, seed: int = 0) -> SweepResults:
    """Simulate the losses of a sweep: the means of a world, with noise over runs that shrinks over tasks."""
    rng = np.random.default_rng(seed)
    losses = {}
    for varied in (setting.varied for setting in settings):
        means = world(name, {key.rpartition(".")[2]: value for key, value in varied.items()})
        T, G = means.shape
        scale = 0.01 * np.linspace(3.0, 1.0, T)[:, None] if T == 15 else 0.01
        loss = means + scale * rng.normal(size=(runs, T, 1)) + 0.001 * rng.normal(size=(runs, T, G))
        losses[tuple(varied.values())] = Result.of_losses(loss, GAMMAS[-G:])
    names = tuple(key.rpartition(".")[2] for key in settings[0].varied)
    return SweepResults(names, [*losses], [*losses.values()])


def swapped(key: str, a: Any, b: Any) -> World:
    """The paper's world with two values of a setting in each other's place."""
    other = {a: b, b: a}
    return lambda sweep, of: as_in_the_paper(sweep, {**of, key: other.get(of[key], of[key])} if key in of else of)


def backwards(sweep: str, of: Settings) -> np.ndarray:
    """The paper's world with the tasks in the opposite order."""
    return as_in_the_paper(sweep, of)[::-1]


def rising(sweep: str, of: Settings) -> np.ndarray:
    """The paper's world with a loss that grows twofold over tasks."""
    means = as_in_the_paper(sweep, of)
    return means * np.linspace(1.0, 2.0, len(means))[:, None]


def worse(key: str, value: Any, times: float = 2.0) -> World:
    """The paper's world with twice the loss, or another multiple, where a setting has this value."""
    return lambda sweep, of: as_in_the_paper(sweep, of) * (times if of.get(key) == value else 1.0)


def heavy_tailed(rng: np.random.Generator, *shape: int) -> np.ndarray:
    """Draw numbers with mean 1 and standard deviation 1.6, which are as heavy-tailed as the losses of one task."""
    return rng.gamma(0.4, 2.5, shape)


def table_of(overrides: list[str], runs: int) -> pd.DataFrame:
    """Compute the table of the experiment that these overrides of the defaults describe."""
    described = experiment(PUBLISHED, overrides)
    (table,) = experiment_tables(described.problem, [described.method], range(runs))
    return table


def made_of(axes: Mapping[str, Iterable[Any]], mean: Callable[..., Any], gammas: np.ndarray) -> SweepResults:
    """Return losses of 200 runs with these means, and noise that all settings share, for each combination of values."""
    noise = 0.01 * np.random.default_rng(0).standard_normal((200, 1, 1))
    means = {key: np.atleast_1d(mean(*key)) for key in product(*axes.values())}
    results = [Result.of_losses(loss + noise, gammas[-loss.shape[-1] :]) for loss in means.values()]
    return SweepResults(tuple(axes), [*means], results)


@dataclass(frozen=True, kw_only=True)
class MadeUp(Reader):
    """Reads losses that a function makes of an experiment and a number of runs."""

    make: Callable[[Experiment, int], Result]

    def complete(self, experiment: Experiment) -> int:
        return 10**6

    def losses(self, experiment: Experiment, runs: int) -> Result:
        return self.make(experiment, runs)


def as_claimed(claim: Claim, *sweeps: SweepResults) -> list[bool]:
    """Return which estimates are as claimed of losses of the claim's sweeps, in its order."""
    parts = claim.parts(dict(zip(claim.sweeps, sweeps, strict=True)))
    return [part.above < part.estimate.value < part.below for part in parts]


def holds(claim: Claim, *sweeps: SweepResults) -> bool:
    """Return whether all estimates are as claimed of losses of the claim's sweeps, in its order."""
    return all(as_claimed(claim, *sweeps))


def verdict(claim: Claim, *sweeps: SweepResults) -> Verdict:
    """Return the verdict at precision on losses of the claim's sweeps, in its order."""
    parts = claim.parts(dict(zip(claim.sweeps, sweeps, strict=True)))
    return JudgedClaim(claim, RUNS).judge(parts).verdict
