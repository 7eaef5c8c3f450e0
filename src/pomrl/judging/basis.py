"""What claims are judged on: the experiments that each of them reads, and their stored losses."""

from collections import UserDict
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cached_property, partial
from threading import Lock
from typing import Any

import numpy as np

from pomrl import store
from pomrl.configuration.parsing import Experiment
from pomrl.configuration.sweeps import Setting
from pomrl.judging.claim import Claim
from pomrl.judging.sequential_analysis import Outcome
from pomrl.judging.verdict import Part
from pomrl.results.intervals import ERROR_RATE
from pomrl.results.losses import Losses, SweepLosses
from pomrl.science.gamma_schedules import Grid
from pomrl.science.gamma_star import HindsightChoice

MOST_BYTES = 64 * 2**20
"""The most memory that losses take which are kept for the next claim."""


@dataclass(frozen=True)
class Basis:
    """What claims are judged on: the experiments of their sweeps under one variant."""

    variant: str
    """The name of the variant."""
    settings: Mapping[str, Sequence[Setting]]
    """The experiments of the sweeps that can be composed; claims about other sweeps are not judged."""
    registry: Sequence[Claim]
    """The claims that share the error, whether or not they can be judged on this basis."""
    analyses: tuple[int, ...] = ()
    """The numbers of runs at which claims are judged; empty to judge each once, at the number its sweeps promise."""
    error: float = ERROR_RATE
    """The probability that the verdict on any of the claims is wrong."""
    choice: HindsightChoice = "population"
    """How the schedules that choose in hindsight do so."""

    @property
    def claims(self) -> list[Claim]:
        """The claims about sweeps that can be judged on this basis, because it has all experiments that they read."""
        return [claim for claim in self.registry if claim.id in self._read]

    def unjudged_outcome(self, claim: Claim) -> Outcome:
        """Return when a claim is judged, and its share of the error, which is 0 for exact claims."""
        sharing = sum(claim.is_judged and not claim.is_exact for claim in self.registry)
        planned = () if claim.is_judged_once else self.analyses
        enough = tuple(runs for runs in planned if runs >= claim.fewest_runs)
        at_once = claim.fewest_runs if planned or not claim.sweeps else self.promised_runs(claim)
        return Outcome(claim, enough or (at_once,), self.error / max(1, sharing))

    def experiments_of(self, claim: Claim, parts: Collection[int] | None = None) -> list[Experiment]:
        """Return the experiments that a claim reads, or that these of its parts read, which are counted from 0."""
        of_parts = self._read[claim.id]
        wanted = range(len(of_parts)) if parts is None else parts
        return list({id(experiment): experiment for part in wanted for experiment in of_parts[part]}.values())

    def promised_runs(self, claim: Claim) -> int:
        """Return the number of runs that the sweeps ask for that a claim is about."""
        return min(experiment.request.runs for experiment in self.experiments_of(claim))

    def stored_runs(self, claim: Claim, parts: Collection[int] | None = None) -> int:
        """Return how many runs are stored of every experiment that a claim, or these of its parts, reads."""
        return min(store.lookup(experiment).complete() for experiment in self.experiments_of(claim, parts))

    def sweeps(self, claim: Claim, losses: Callable[[Experiment], Losses]) -> dict[str, SweepLosses]:
        """Return the sweeps that a claim is about, with the losses that a function has of each experiment."""
        found = {}
        for name in claim.sweeps:
            experiments = {tuple(setting.varied.values()): setting.experiment for setting in self.settings[name]}
            names = tuple(key.rpartition(".")[2] for key in self.settings[name][0].varied)
            found[name] = SweepLosses(names, _OnDemand(experiments, losses), self.choice)
        return found

    @cached_property
    def _read(self) -> dict[str, list[list[Experiment]]]:
        """The experiments that each part of each claim reads, by the id of the claim."""
        read: dict[str, list[list[Experiment]]] = {}
        for claim in self.registry:
            if claim.sweeps and set(claim.sweeps) <= self.settings.keys():
                with suppress(LookupError):  # the claim is about an experiment that this basis does not have
                    read[claim.id] = self.experiments_by_part(claim)
        return read

    def experiments_by_part(self, claim: Claim) -> list[list[Experiment]]:
        """Return the experiments that each part of a claim reads, found by trial on losses that are made up.

        The losses of one experiment after the other are changed: the estimates of the parts that read them change too.
        No two experiments have the same losses, because what is multiplied with a difference of 0 changes nothing. The
        changed ones are below all others, so that a minimum over experiments changes with each of them.
        A part about gamma* or a count, which may stay where they are, counts as reading all that the claim reads.
        A part that nothing changes, such as one that compares losses with themselves, counts as reading whole sweeps.
        """
        asked: dict[int, tuple[int, Experiment]] = {}

        def losses(experiment: Experiment, changed: Experiment | None = None) -> Losses:
            number, _ = asked.setdefault(id(experiment), (len(asked), experiment))
            return invent(experiment, 2, 2 * number + (experiment is changed), least=float(experiment is not changed))

        before = claim.parts(self.sweeps(claim, losses))
        read: list[list[Experiment]] = [[] for _ in before]
        for _, changed in list(asked.values()):
            after = claim.parts(self.sweeps(claim, partial(losses, changed=changed)))
            for of_part, old, new in zip(read, before, after, strict=True):
                if old.estimate.value != new.estimate.value or old.estimate.may_stay:
                    of_part.append(changed)
        every = [setting.experiment for name in claim.sweeps for setting in self.settings[name]]
        return [of_part or every for of_part in read]


def invent(experiment: Experiment, runs: int, seed: int, least: float = 1.0) -> Losses:
    """Return losses in the shape of those of an experiment, from `least` to `least` + 1.

    All runs are alike, so that they take no memory.
    """
    schedule = experiment.method.gamma_schedule
    gammas = np.array(schedule.gammas if isinstance(schedule, Grid) else [experiment.problem.gamma_eval])
    of_run = least + np.random.default_rng(seed).random((experiment.problem.T, len(gammas)))
    return Losses(np.broadcast_to(of_run, (runs, *of_run.shape)), gammas)


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
    judged: dict[tuple[Any, ...], tuple[Part, ...]] = field(default_factory=dict)
    """The parts of claims, by what they were estimated from: variants that do not matter to a claim share them."""
    reading: Lock = field(default_factory=Lock)
    """Held while losses are read, so that claims that are judged at the same time read them once."""

    def parts(self, basis: Basis, claim: Claim, runs: int, wanted: Collection[int] | None = None) -> tuple[Part, ...]:
        """Return the parts of a claim as estimated from the first `runs` runs.

        Args:
            basis: What the claim is judged on.
            claim: The claim.
            runs: The number of runs.
            wanted: The parts that are wanted, counted from 0; all by default. Others may be made up.

        Raises:
            StoreError: Runs are not stored, or a block of them is damaged.
        """
        experiments = basis.experiments_of(claim, wanted)
        read = {id(experiment) for experiment in experiments}
        asked = (claim.id, basis.choice, runs, *map(store.signature, experiments))
        if asked not in self.judged:

            def losses(experiment: Experiment) -> Losses:
                return self.losses(experiment, runs) if id(experiment) in read else invent(experiment, runs, seed=0)

            self.judged[asked] = claim.parts(basis.sweeps(claim, losses))
        return self.judged[asked]

    def losses(self, experiment: Experiment, runs: int) -> Losses:
        """Return the losses of the first `runs` runs of an experiment."""
        key = store.signature(experiment), runs
        with self.reading:
            if key not in self.kept:
                self.kept[key] = Losses.of_experiment(experiment, runs)
                while sum(losses.nbytes for losses in self.kept.values()) > MOST_BYTES and len(self.kept) > 1:
                    del self.kept[next(iter(self.kept))]
            return self.kept[key]
