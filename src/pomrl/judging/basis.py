"""What claims are judged on: the experiments that each of them asks for, and their stored losses."""

import warnings
from collections import UserDict
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from threading import Lock
from typing import Any

import numpy as np

from pomrl import store
from pomrl.configuration.parsing import Experiment
from pomrl.configuration.sweeps import Setting
from pomrl.execution.local import in_threads
from pomrl.judging.claim import Claim
from pomrl.judging.outcomes import Outcome, with_runs
from pomrl.judging.verdict import Part
from pomrl.results.intervals import ERROR_RATE
from pomrl.results.losses import Losses, NotInSweepError, SweepLosses
from pomrl.science.gamma_schedules import Grid
from pomrl.science.gamma_star import HindsightChoice
from pomrl.store import StoreError, StoreWarning

CACHE_BYTES = 64 * 2**20
"""Memory of the losses that a reader keeps for further claims, in bytes."""


@dataclass(frozen=True)
class Basis:
    """The experiments of the sweeps of claims under one variant."""

    variant: str
    """The name of the variant."""
    settings: Mapping[str, Sequence[Setting]]
    """The experiments of the sweeps that can be composed; claims about other sweeps are not judged."""
    registry: Sequence[Claim]
    """The claims that share the error, whether or not they can be judged on this basis."""
    runs: int = 1000
    """The number of runs on which claims are judged that name no other."""
    error: float = ERROR_RATE
    """The probability that the verdict on any of the claims is wrong."""
    choice: HindsightChoice = "population"
    """How the schedules that choose in hindsight do so."""

    @property
    def claims(self) -> list[Claim]:
        """The claims about sweeps that can be judged on this basis, because it has all experiments that they read."""
        return [claim for claim in self.registry if claim.id in self._asked]

    def unjudged_outcome(self, claim: Claim) -> Outcome:
        """Return on how many runs a claim is judged, and its share of the error, which is 0 for exact claims."""
        sharing = sum(claim.is_judged and not claim.is_exact for claim in self.registry)
        return Outcome(claim, self.needed_runs(claim), self.error / max(1, sharing))

    def needed_runs(self, claim: Claim) -> int:
        """Return the number of runs on which a claim is judged."""
        return claim.runs.get(self.variant, self.runs) if isinstance(claim.runs, Mapping) else claim.runs or self.runs

    def asked_by(self, claim: Claim) -> list[Experiment]:
        """Return the experiments that a claim asks for before any loss is known."""
        return self._asked[claim.id]

    def experiments_of(self, claim: Claim) -> list[Experiment]:
        """Return the experiments that a claim asks for, with the number of runs on which it is judged."""
        return [with_runs(experiment, self.needed_runs(claim)) for experiment in self.asked_by(claim)]

    @cached_property
    def _asked(self) -> dict[str, list[Experiment]]:
        """The experiments that each claim asks for while no loss is known, by its id."""
        asked: dict[str, list[Experiment]] = {}
        for claim in self.registry:
            if claim.sweeps and set(claim.sweeps) <= self.settings.keys():
                with suppress(NotInSweepError):  # the claim is about an experiment that this basis does not have
                    asked[claim.id] = self.compare(claim, unknown_losses)[1]
        return asked

    def compare(
        self, claim: Claim, losses: Callable[[Experiment], Losses]
    ) -> tuple[tuple[Part, ...], list[Experiment]]:
        """Return the parts of a claim on the losses that a function gives, and the experiments that it asked for.

        Raises:
            NotInSweepError: The claim asks for an experiment that its sweeps do not have.
        """
        asked: dict[int, Experiment] = {}

        def recorded(experiment: Experiment) -> Losses:
            asked[id(experiment)] = experiment
            return losses(experiment)

        parts = claim.parts({name: self._sweep_losses(name, recorded) for name in claim.sweeps})
        return parts, list(asked.values())

    def _sweep_losses(self, name: str, losses: Callable[[Experiment], Losses]) -> SweepLosses:
        experiments = {tuple(setting.varied.values()): setting.experiment for setting in self.settings[name]}
        names = tuple(key.rpartition(".")[2] for key in self.settings[name][0].varied)
        return SweepLosses(names, _OnDemand(experiments, losses), self.choice)


def unknown_losses(experiment: Experiment, runs: int = 2) -> Losses:
    """Return losses in the shape of those of an experiment, all of them NaN: what depends on one is NaN, too."""
    schedule = experiment.method.gamma_schedule
    gammas = np.array(schedule.gammas if isinstance(schedule, Grid) else [experiment.problem.gamma_eval])
    return Losses(np.full((runs, experiment.problem.T, len(gammas)), np.nan), gammas)


class _OnDemand(UserDict[tuple[Any, ...], Any]):
    """The losses of the experiments of a sweep, each made when it is asked for."""

    def __init__(self, experiments: Mapping[tuple[Any, ...], Experiment], make: Callable[[Experiment], Losses]) -> None:
        super().__init__(experiments)
        self.make = make

    def __getitem__(self, key: tuple[Any, ...]) -> Losses:
        return self.make(self.data[key])


@dataclass(frozen=True)
class Reader:
    """Reads losses from the store, and keeps the latest of them for claims that read the same experiments."""

    kept: dict[tuple[str, int], Losses] = field(default_factory=dict)
    reading: Lock = field(default_factory=Lock)
    """Held while losses are read, so that claims that are judged at the same time read them once."""

    def complete(self, experiment: Experiment) -> int:
        """Return how many runs of an experiment are stored, from run 0 on."""
        return store.lookup(experiment).complete()

    def losses(self, experiment: Experiment, runs: int) -> Losses:
        """Return the losses of the first `runs` runs of an experiment; StoreError if they are not stored."""
        key = store.signature(experiment), runs
        with self.reading:
            if key not in self.kept:
                self.kept[key] = Losses.of_experiment(experiment, runs)
                while sum(losses.nbytes for losses in self.kept.values()) > CACHE_BYTES and len(self.kept) > 1:
                    del self.kept[next(iter(self.kept))]
            return self.kept[key]


def judge(basis: Basis, reader: Reader) -> list[Outcome]:
    """Judge the claims about sweeps on what is stored of their experiments.

    A claim with fewer runs than it needs stays undecided. One without any run has no parts.
    """
    return in_threads(lambda claim: judge_claim(basis, claim, reader), basis.claims)


def judge_claim(basis: Basis, claim: Claim, reader: Reader) -> Outcome:
    """Judge a claim on stored losses; once more, with all experiments, if they make it ask for further ones.

    A `StoreWarning` names a file that is damaged; the claim has no parts then.
    """
    unjudged, asked = basis.unjudged_outcome(claim), basis.asked_by(claim)
    try:
        while runs := min([unjudged.needed, *map(reader.complete, asked)]):
            parts, read = basis.compare(claim, partial(_read_or_unknown, reader, asked, runs))
            further = [experiment for experiment in read if not any(experiment is known for known in asked)]
            if not further:
                return replace(unjudged, experiments=tuple(asked)).judged(parts)
            asked = [*asked, *further]
    except StoreError as error:
        warnings.warn(str(error), StoreWarning, stacklevel=2)
    return replace(unjudged, experiments=tuple(asked))


def _read_or_unknown(reader: Reader, asked: Sequence[Experiment], runs: int, experiment: Experiment) -> Losses:
    if any(experiment is known for known in asked):
        return reader.losses(experiment, runs)
    return unknown_losses(experiment, runs)
