"""Simulated losses that satisfy every claim of the paper, and changed versions."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np
import pandas as pd

from pomrl.configuration.parsing import Experiment
from pomrl.configuration.sources import PUBLISHED
from pomrl.configuration.studies import find
from pomrl.configuration.sweeps import Setting, experiment
from pomrl.judging.claim import Claim, JudgedClaim, claims_of
from pomrl.judging.study_claims import Reader
from pomrl.results.result import Result
from pomrl.results.sweep_results import SweepResults
from pomrl.science.experiment import tables as experiment_tables
from verdicts.parts import Verdict

GAMMAS = np.array([*(i / 20 for i in range(20)), 0.99])
RUNS = 60

PAPER, BEYOND = find("pomrl2023"), find("beyond")
"""Two shipped studies."""

CLAIMS = claims_of(PAPER)
"""The claims of the paper."""

OURS = claims_of(BEYOND)
"""The claims of the study `beyond`, including claims without judgement."""

BY_ID: dict[str, Claim] = {claim.id: claim for claim in CLAIMS if claim.sweeps}
"""The claims of the paper about sweeps."""

Settings = Mapping[str, Any]
World = Callable[[str, Settings], np.ndarray]
"""A function of a sweep and a setting; returns mean losses [T, G], or [T, 1] for a chosen gamma."""


def bowl(at_eval: np.ndarray, best: np.ndarray | float) -> np.ndarray:
    """Return curves with these losses at gamma_eval and minima at `best`."""
    best = np.broadcast_to(best, at_eval.shape)[:, None]
    return at_eval[:, None] + 0.5 * ((GAMMAS - best) ** 2 - (0.99 - best) ** 2)


def as_in_the_paper(sweep: str, settings: Settings) -> np.ndarray:
    """Return mean losses in agreement with every claim."""
    learnt_share = 1.0 - np.exp(-np.arange(15) / 2)  # how much of what is to be learnt has been, in each task
    match sweep:
        case "task_similarity":
            floor = {0.01: 0.6, 0.025: 0.8, 0.047: 1.35}[settings["sigma"]]
            top = max(1.4, floor + 0.1)
            behind = 0.002 if settings["sigma"] == 0.047 else 0.02  # where there is less to gain
            slower = 1.0 - np.exp(-np.arange(15) / (3.0 if settings["sigma"] == 0.025 else 2.5))
            at_eval = {
                "oracle": np.full(15, floor),
                "without_meta": np.full(15, top + (0.04 if settings["sigma"] == 0.047 else 0.3)),
                "pomrl": (1.0 + behind) * floor + (top - floor) * (1 - learnt_share),
                "ada_pomrl": (1.0 + 1.5 * behind) * floor + (top - floor) * (1 - slower),
                "aggregating": 1.02 * floor
                + (top - floor) * (1 - learnt_share)
                + (0.0 if settings["sigma"] == 0.01 else 0.5),
            }[settings["estimator"]]
            if settings["estimator"] == "aggregating" and settings["sigma"] == 0.047:
                at_eval = np.full(15, 2.0)
            learnt = 0.0 if settings["estimator"] == "without_meta" else learnt_share
            return bowl(at_eval, 0.5 if settings["sigma"] == 0.047 else 0.4 + 0.5 * learnt)
        case "gamma_schedules":
            curves = as_in_the_paper("task_similarity", {"sigma": 0.01, "estimator": settings["estimator"]})
            best_fixed = curves[:, curves.mean(0).argmin()]
            tilt = np.linspace(0.06, -0.06, 15)
            schedules = {
                "grid": curves,
                "dong": (best_fixed + tilt)[:, None],
                "upper_bound": 1.005 * curves.min(1, keepdims=True),
                "upper_bound_as_printed": curves[:, -1:],
            }
            return schedules[settings["gamma_schedule"]]
        case "gamma_0":
            return 0.9 * as_in_the_paper("gamma_schedules", {**settings, "gamma_schedule": "grid"})[:, -1:]
        case "aggregating":
            return as_in_the_paper("task_similarity", {**settings, "sigma": 0.047})[:, -1:]
        case "first_task":
            return as_in_the_paper("task_similarity", {**settings, "sigma": 0.01})[:1]
        case "many_tasks":
            first = as_in_the_paper("task_similarity", {**settings, "sigma": 0.01})[:, -1:]
            return np.concatenate([first, np.repeat(first[-1:], 45, axis=0)])
        case "samples_and_tasks" | "states_20" | "states_30":
            tasks = int(settings["batches"].partition("_T")[2])
            gain = {"m5_T5": 0.5, "m20_T5": 0.1}.get(settings["batches"], 1.0) * (settings["estimator"] == "ada_pomrl")
            return bowl(np.full(tasks, 2.0 - gain), 0.7 if settings["batches"] == "m20_T5" else 0.3)
        case "initial_similarity" | "equal_tasks":
            cost = {0.01: 0.2, 0.1: 0.1, 0.5: 0.5}[settings["start_deviation"]]
            return bowl(np.where(np.arange(15) < 5, 1.0 + cost, 0.5), 0.7)
        case _:  # the illustration
            step = [0.0, 0.25, 0.5, 0.75].index(settings["mixing"]) + [5, 10, 20, 50].index(settings["m"])
            return bowl(np.array([2.0 - 0.2 * step]), 0.3 + 0.1 * step)


def simulated(world: World, name: str, settings: Sequence[Setting], runs: int = RUNS, seed: int = 0) -> SweepResults:
    """Simulate the losses of a sweep: means plus noise, smaller in later tasks."""
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
    """Return the paper's world with two values of a setting swapped."""
    other = {a: b, b: a}
    return lambda sweep, settings: as_in_the_paper(
        sweep, {**settings, key: other.get(settings[key], settings[key])} if key in settings else settings
    )


def backwards(sweep: str, settings: Settings) -> np.ndarray:
    """Return mean losses of the paper's world with tasks in reverse order."""
    return as_in_the_paper(sweep, settings)[::-1]


def long_horizons(sweep: str, settings: Settings) -> np.ndarray:
    """Return mean losses that are smallest at a long horizon in all tasks."""
    return bowl(as_in_the_paper(sweep, settings)[:, -1], 0.9)


def rising(sweep: str, settings: Settings) -> np.ndarray:
    """Return mean losses of the paper's world times 1 to 2 over tasks."""
    means = as_in_the_paper(sweep, settings)
    return means * np.linspace(1.0, 2.0, len(means))[:, None]


def worse(key: str, value: Any, times: float = 2.0) -> World:
    """Return the paper's world with larger losses for one value of a setting."""
    return lambda sweep, settings: as_in_the_paper(sweep, settings) * (times if settings.get(key) == value else 1.0)


def heavy_tailed(rng: np.random.Generator, *shape: int) -> np.ndarray:
    """Draw heavy-tailed numbers with mean 1 and standard deviation 1.6."""
    return rng.gamma(0.4, 2.5, shape)


def computed_table(overrides: list[str], runs: int) -> pd.DataFrame:
    """Compute the table of the default experiment with these overrides."""
    described = experiment(PUBLISHED, overrides)
    (table,) = experiment_tables(described.problem, [described.method], range(runs))
    return table


def noisy_sweep(axes: Mapping[str, Iterable[Any]], mean: Callable[..., Any], gammas: np.ndarray) -> SweepResults:
    """Return losses of 200 runs with these means and common noise."""
    noise = 0.01 * np.random.default_rng(0).standard_normal((200, 1, 1))
    means = {key: np.atleast_1d(mean(*key)) for key in product(*axes.values())}
    results = [Result.of_losses(loss + noise, gammas[-loss.shape[-1] :]) for loss in means.values()]
    return SweepResults(tuple(axes), [*means], results)


@dataclass(frozen=True, kw_only=True)
class MadeUp(Reader):
    """A reader of synthetic losses, computed by `make`."""

    make: Callable[[Experiment, int], Result]

    def complete(self, experiment: Experiment) -> int:
        return 10**6

    def losses(self, experiment: Experiment, runs: int) -> Result:
        return self.make(experiment, runs)


def as_claimed(claim: Claim, *sweeps: SweepResults) -> list[bool]:
    """Return whether each estimate is in its claimed range."""
    estimates = claim.parts(dict(zip(claim.sweeps, sweeps, strict=True)))
    return [estimate.above < estimate.estimate.value < estimate.below for estimate in estimates]


def holds(claim: Claim, *sweeps: SweepResults) -> bool:
    """Return whether all estimates are in the claimed ranges."""
    return all(as_claimed(claim, *sweeps))


def verdict(claim: Claim, *sweeps: SweepResults) -> Verdict:
    """Return the verdict on a claim; sweeps as in the claim."""
    estimates = claim.parts(dict(zip(claim.sweeps, sweeps, strict=True)))
    return JudgedClaim(claim, RUNS).judge(estimates).verdict
