"""What claims are judged on: the settings that each of them reads, and their stored losses."""

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cached_property, partial
from typing import Any, Literal

import numpy as np
import pandas as pd
from jaxtyping import Int

from pomrl import store
from pomrl.claims import CLAIMS, OURS, REPORTED
from pomrl.claims.claim import Claim
from pomrl.claims.inference import Count, Resampled
from pomrl.claims.precision import ANALYSES, Outcome
from pomrl.claims.verdict import Part
from pomrl.configuration.parsing import Experiment
from pomrl.configuration.readings import Reading
from pomrl.configuration.studies import Setting
from pomrl.results.losses import Losses, SweepLosses
from pomrl.science.gamma_schedules import Grid
from pomrl.science.gamma_star import HindsightChoice
from pomrl.store import simulations as stored_simulations
from pomrl.theory.simulations import SIMULATIONS

MOST_BYTES = 400 * 2**20
"""The most memory that losses take which are kept for the next claim."""

Settings = Mapping[str, Sequence[Setting]]
"""The settings of sweeps, by the names of these."""


@dataclass(frozen=True)
class Basis:
    """What claims are judged on: the experiments that stand for the paper's under one way to understand it."""

    name: str
    settings: Settings
    """The settings of the sweeps that can be composed; claims about other sweeps are not judged."""
    choice: HindsightChoice = "population"
    """How the schedules that choose in hindsight do so (A8)."""
    analyses: tuple[int, ...] = ANALYSES
    """The numbers of runs at which claims are judged; empty to judge each once, at the number its sweeps ask for."""
    kind: Literal["paper", "ours", "reported"] = "paper"
    """Which claims are judged: the paper's, or ours; or what of ours is only reported."""
    of_ones_own: Sequence[Claim] = ()
    """Claims of a user's own, which are judged in the place of those."""

    @staticmethod
    def of_reading(reading: Reading, settings: Settings) -> "Basis":
        """Return the basis of a reading of the text, whose experiments these are."""
        chosen = reading.overrides({"gamma_schedule": "best_fixed"})
        return Basis(reading.name, settings, "per_run" if "gamma_schedule.choice=per_run" in chosen else "population")

    @property
    def registry(self) -> Sequence[Claim]:
        """The claims that share an error of 5 %, whether or not they can be judged on this basis."""
        return self.of_ones_own or {"paper": CLAIMS, "ours": OURS, "reported": REPORTED}[self.kind]

    @property
    def claims(self) -> list[Claim]:
        """The claims about sweeps that can be judged on this basis, because it has all settings that they read."""
        return [claim for claim in self.registry if claim.id in self._read]

    def unjudged(self, claim: Claim) -> Outcome:
        """Return the outcome of a claim before its first analysis, with the analyses that are planned.

        A claim whose rule names the level of its intervals takes no share of the error over all claims.
        """
        analyses = (claim.fixed_error is None and self.analyses) or (self.promised(claim),)
        sharing = sum(each.fixed_error is None for each in self.registry)
        return Outcome(claim, analyses=analyses, claims=sharing)

    def read_by(self, claim: Claim, parts: Collection[int] | None = None) -> list[Experiment]:
        """Return the experiments that a claim reads, or that these of its parts read, which are counted from 0."""
        of_parts = self._read[claim.id]
        wanted = range(len(of_parts)) if parts is None else parts
        return list({id(each): each for part in wanted for each in of_parts[part]}.values())

    def promised(self, claim: Claim) -> int:
        """Return the paper's number of runs, which the sweeps ask for that a claim is about."""
        return min(experiment.request.runs for experiment in self.read_by(claim))

    def stored(self, claim: Claim, parts: Collection[int] | None = None) -> int:
        """Return how many runs are stored of every experiment that a claim, or these of its parts, reads."""
        return min(store.lookup(experiment).complete() for experiment in self.read_by(claim, parts))

    def refuse_damage(self) -> None:
        """Raise a StoreError if a file of what is stored of these experiments is damaged."""
        experiments = {id(each): each for claim in self.claims for each in self.read_by(claim)}
        for experiment in experiments.values():
            store.lookup(experiment).refuse_damage()

    def sweeps(self, claim: Claim, losses: Callable[[Experiment], Losses]) -> dict[str, SweepLosses]:
        """Return the sweeps that a claim is about, with the losses that a function has of each experiment."""
        return {
            name: SweepLosses(
                tuple(key.rpartition(".")[2] for key in self.settings[name][0].varied),
                _OnDemand({tuple(each.varied.values()): each.experiment for each in self.settings[name]}, losses),
                self.choice,
            )
            for name in claim.experiments
        }

    @cached_property
    def _read(self) -> dict[str, list[list[Experiment]]]:
        """The experiments that each part of each claim reads, by the id of the claim."""
        read: dict[str, list[list[Experiment]]] = {}
        for claim in self.registry:
            if claim.experiments and set(claim.experiments) <= self.settings.keys():
                with suppress(LookupError):  # the claim is about a setting that this basis does not have
                    read[claim.id] = self.read_by_parts(claim)
        return read

    def read_by_parts(self, claim: Claim) -> list[list[Experiment]]:
        """Return the experiments that each part of a claim reads, found by trial on losses that are made up.

        The losses of one experiment after the other are changed: the estimates of the parts that read them change too.
        A part about gamma* or a count, which may stay where they are, counts as reading all that the claim reads.
        """
        asked: dict[int, Experiment] = {}

        def losses(experiment: Experiment, changed: Experiment | None = None) -> Losses:
            asked[id(experiment)] = experiment
            return made_up(experiment, 2, seed=1 if experiment is changed else 0)

        before = claim.parts(self.sweeps(claim, losses))
        read: list[list[Experiment]] = [[] for _ in before]
        for changed in list(asked.values()):
            after = claim.parts(self.sweeps(claim, partial(losses, changed=changed)))
            for of_part, old, new in zip(read, before, after, strict=True):
                if old.estimate.value != new.estimate.value or isinstance(old.estimate, Resampled | Count):
                    of_part.append(changed)
        return read


def made_up(experiment: Experiment, runs: int, seed: int) -> Losses:
    """Return losses in the shape of those of an experiment; all runs are alike, so that they take no memory."""
    schedule = experiment.method.gamma_schedule
    gammas = np.array(schedule.gammas if isinstance(schedule, Grid) else [experiment.problem.gamma_eval])
    of_run = 1.0 + np.random.default_rng(seed).random((experiment.problem.T, len(gammas)))
    return Losses(np.broadcast_to(of_run, (runs, *of_run.shape)), gammas)


@dataclass(frozen=True)
class _OnDemand(Mapping[tuple[Any, ...], Losses]):
    """The losses of the settings of a sweep, each made when it is asked for."""

    experiments: Mapping[tuple[Any, ...], Experiment]
    make: Callable[[Experiment], Losses]

    def __getitem__(self, key: tuple[Any, ...]) -> Losses:
        return self.make(self.experiments[key])

    def __contains__(self, key: object) -> bool:
        return key in self.experiments

    def __iter__(self) -> Iterator[tuple[Any, ...]]:
        return iter(self.experiments)

    def __len__(self) -> int:
        return len(self.experiments)


@dataclass(frozen=True)
class Reader:
    """Reads losses from the store, and keeps the latest of them for claims that read the same settings."""

    kept: dict[tuple[str, int], Losses] = field(default_factory=dict)
    judged: dict[tuple[Any, ...], tuple[Part, ...]] = field(default_factory=dict)
    """The parts of claims, by what they were estimated from: readings that do not matter to a claim share them."""
    signatures: dict[int, tuple[Experiment, str]] = field(default_factory=dict)
    """The signatures of experiments by their identity, since a sample of runs asks for each of them again."""

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
        experiments = basis.read_by(claim, wanted)
        read = {id(experiment) for experiment in experiments}
        asked = (claim.id, basis.choice, runs, *map(self.signature, experiments))
        if asked not in self.judged:

            def losses(experiment: Experiment) -> Losses:
                return self.losses(experiment, runs) if id(experiment) in read else made_up(experiment, runs, seed=0)

            self.judged[asked] = claim.parts(basis.sweeps(claim, losses))
        return self.judged[asked]

    def parts_of_sample(self, basis: Basis, claim: Claim, pool: int, runs: Int[np.ndarray, " k"]) -> tuple[Part, ...]:
        """Return the parts of a claim as estimated from the runs with these numbers, all of which are below `pool`."""
        return claim.parts(basis.sweeps(claim, lambda experiment: self.losses(experiment, pool).of_runs(runs)))

    def signature(self, experiment: Experiment) -> str:
        """Return the signature of an experiment."""
        if id(experiment) not in self.signatures:
            self.signatures[id(experiment)] = experiment, store.signature(experiment)
        return self.signatures[id(experiment)][1]

    def losses(self, experiment: Experiment, runs: int) -> Losses:
        """Return the losses of the first `runs` runs of an experiment."""
        key = self.signature(experiment), runs
        if key not in self.kept:
            self.kept[key] = Losses.of_experiment(experiment, runs)
            while sum(losses.loss.nbytes for losses in self.kept.values()) > MOST_BYTES and len(self.kept) > 1:
                del self.kept[next(iter(self.kept))]
        return self.kept[key]


def simulations() -> dict[str, pd.DataFrame]:
    """Return the tables of all simulations that claims read, by name.

    Raises:
        StoreError: One is not stored, or is damaged.
    """
    return {name: stored_simulations.load(SIMULATIONS[name]) for name in needed_simulations()}


def needed_simulations() -> list[str]:
    """Return the names of the simulations that claims read."""
    return [claim.simulation for claim in CLAIMS if claim.simulation]
