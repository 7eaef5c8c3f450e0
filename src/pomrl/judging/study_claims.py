"""Judge the claims of a study on stored experiments."""

import hashlib
import inspect
import json
import warnings
from collections.abc import Callable, Container, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from threading import Lock
from typing import Any

import numpy as np

from pomrl import store
from pomrl.configuration.composed import ConfigError
from pomrl.configuration.importing import format_error, place_of
from pomrl.configuration.parsing import Experiment
from pomrl.configuration.studies import Study
from pomrl.configuration.sweeps import Setting
from pomrl.configuration.variants import Variant
from pomrl.execution.local import in_threads
from pomrl.judging import judgements
from pomrl.judging.claim import Claim, JudgedClaim, claims_of, with_runs
from pomrl.judging.judgements import Judgements
from pomrl.results.intervals import ERROR_RATE
from pomrl.results.result import NotInSweepError, Result
from pomrl.results.sweep_results import SweepResults
from pomrl.science.gamma_schedules import Grid
from pomrl.science.gamma_star import HindsightChoice
from pomrl.store import StoreError, StoreWarning
from pomrl.store.derived import Simulation
from verdicts.parts import Part

CACHE_BYTES = 64 * 2**20
"""The maximum size of a reader's cache of losses, in bytes."""


@dataclass(frozen=True)
class Basis:
    """The experiments and claims of one variant."""

    variant: str
    settings: Mapping[str, Sequence[Setting]]
    """The experiments by name of sweep; claims about other sweeps are not judged."""
    registry: Sequence[Claim]
    """All claims that share the error, also claims about other sweeps."""
    runs: int = 1000
    """The default number of runs to judge claims on."""
    error: float = ERROR_RATE
    """The largest probability of any wrong verdict on the claims."""
    choice: HindsightChoice = "population"
    """Whether schedules choose gamma in hindsight for all runs together or for each run."""

    @property
    def claims(self) -> list[Claim]:
        """The claims whose experiments are all in `settings`."""
        return [claim for claim in self.registry if claim.id in self._requests]

    def unjudged_outcome(self, claim: Claim) -> JudgedClaim:
        sharing = sum(claim.is_judged and not claim.is_exact for claim in self.registry)
        return JudgedClaim(claim, self.needed_runs(claim), self.error / max(1, sharing))

    def needed_runs(self, claim: Claim) -> int:
        return claim.runs.get(self.variant, self.runs) if isinstance(claim.runs, Mapping) else claim.runs or self.runs

    def requests(self, claim: Claim) -> list[Experiment]:
        """Return the experiments read by a claim, found with NaN losses."""
        return self._requests[claim.id]

    def requested_experiments(self, claim: Claim) -> list[Experiment]:
        return [with_runs(experiment, self.needed_runs(claim)) for experiment in self.requests(claim)]

    @cached_property
    def _requests(self) -> dict[str, list[Experiment]]:
        requests: dict[str, list[Experiment]] = {}
        for claim in self.registry:
            if claim.sweeps and set(claim.sweeps) <= self.settings.keys() and self.variant not in claim.not_under:
                with suppress(NotInSweepError):  # this basis has no such experiment
                    requests[claim.id] = self.compare(claim, unknown_losses)[1]
        return requests

    def compare(
        self, claim: Claim, losses: Callable[[Experiment], Result]
    ) -> tuple[tuple[Part, ...], list[Experiment]]:
        """Return the parts of a claim, and the experiments read.

        Raises:
            NotInSweepError: The sweeps of the claim have no such experiment.
        """
        requested: dict[int, Experiment] = {}

        def recorded(experiment: Experiment) -> Result:
            requested[id(experiment)] = experiment
            return losses(experiment)

        parts = claim.parts({name: self._sweep_losses(name, recorded) for name in claim.sweeps})
        return parts, list(requested.values())

    def _sweep_losses(self, name: str, losses: Callable[[Experiment], Result]) -> SweepResults:
        settings = self.settings[name]
        values = [tuple(setting.varied.values()) for setting in settings]
        results = _OnDemand([setting.experiment for setting in settings], losses)
        return SweepResults(tuple(settings[0].varied), values, results, self.choice, variant=self.variant)


def unknown_losses(experiment: Experiment, runs: int = 2) -> Result:
    """Return NaN losses with the shape of an experiment's losses."""
    schedule = experiment.method.gamma_schedule
    gammas = np.array(schedule.gammas if isinstance(schedule, Grid) else [experiment.problem.gamma_eval])
    return Result.of_losses(np.full((runs, experiment.problem.T, len(gammas)), np.nan), gammas)


@dataclass(frozen=True)
class _OnDemand(Sequence[Any]):
    experiments: Sequence[Experiment]
    make: Callable[[Experiment], Result]

    def __getitem__(self, index: Any) -> Any:
        return self.make(self.experiments[int(index)])

    def __len__(self) -> int:
        return len(self.experiments)


@dataclass(frozen=True)
class Reader:
    """A reader of stored losses with a cache."""

    cache: dict[tuple[str, int], Result] = field(default_factory=dict[tuple[str, int], Result])
    reading: Lock = field(default_factory=Lock)
    """The lock around reading, so that claims judged in parallel read losses once."""

    def complete(self, experiment: Experiment) -> int:
        return store.lookup(experiment).complete()

    def losses(self, experiment: Experiment, runs: int) -> Result:
        """Return losses of the first runs; StoreError if not stored."""
        key = store.signature(experiment), runs
        with self.reading:
            if key not in self.cache:
                self.cache[key] = Result.of_experiment(experiment, runs)
                while sum(losses.nbytes for losses in self.cache.values()) > CACHE_BYTES and len(self.cache) > 1:
                    del self.cache[next(iter(self.cache))]
            return self.cache[key]


def judge(basis: Basis, reader: Reader) -> list[JudgedClaim]:
    """Judge the claims of a basis on stored runs."""
    return in_threads(lambda claim: judge_claim(basis, claim, reader), basis.claims)


def judge_claim(basis: Basis, claim: Claim, reader: Reader) -> JudgedClaim:
    """Judge a claim; repeat if losses make it read more experiments.

    A damaged file gives a `StoreWarning` and no parts.
    """
    unjudged, requested = basis.unjudged_outcome(claim), basis.requests(claim)
    try:
        while runs := min([unjudged.needed, *map(reader.complete, requested)]):
            parts, read_experiments = basis.compare(claim, partial(_read_or_unknown, reader, requested, runs))
            new = [experiment for experiment in read_experiments if not any(experiment is other for other in requested)]
            if not new:
                return replace(unjudged, experiments=tuple(requested)).judge(parts)
            requested = [*requested, *new]
    except StoreError as error:
        warnings.warn(str(error), StoreWarning, stacklevel=2)
    return replace(unjudged, experiments=tuple(requested))


def _read_or_unknown(reader: Reader, requested: Sequence[Experiment], runs: int, experiment: Experiment) -> Result:
    if any(experiment is other for other in requested):
        return reader.losses(experiment, runs)
    return unknown_losses(experiment, runs)


BEST_IN_RUN = "gamma_schedule.choice=per_run"
"""The setting to choose gamma in hindsight for each run."""


def basis(study: Study, claims: Sequence[Claim], variant: Variant) -> Basis:
    """Compose the experiments of claims under a variant.

    Raises:
        ConfigError: A sweep cannot be composed.
    """
    names = dict.fromkeys(
        name for claim in claims for name in claim.sweeps if variant.sweeps is None or name in variant.sweeps
    )
    per_run = variant.sets(BEST_IN_RUN, {"gamma_schedule": "best_fixed"})
    shared = len(study.config.headline) if variant.name in study.config.headline else 1
    return Basis(
        variant=variant.name,
        settings={name: study.settings(name, variant) for name in names},
        registry=claims,
        runs=study.config.runs,
        error=study.config.error / shared,
        choice="per_run" if per_run else "population",
    )


def digest_basis(study: Study, claims: Sequence[Claim], variants: Container[str]) -> dict[str, str]:
    """Compute digests of the inputs of verdicts, by variant."""
    simulations = [simulation.signature for simulation in needed_simulations(claims)]
    sources = {claim.id: inspect.getsource(claim.check) for claim in claims}
    digests: dict[str, str] = {}
    for variant in (variant for variant in study.variants if variant.name in variants):
        current = basis(study, claims, variant)
        experiments = {
            name: [(store.signature(setting.experiment), setting.experiment.request.runs) for setting in settings]
            for name, settings in current.settings.items()
        }
        content = json.dumps([experiments, simulations, sources, current.runs, current.error])
        digests[variant.name] = hashlib.sha256(content.encode()).hexdigest()
    return digests


def load_judgements(study: Study) -> Judgements:
    """Load the judgements of a study, and mark outdated variants.

    Raises:
        StoreError: The table is damaged, or was written by another version.
    """
    stored = judgements.read(study.outputs, list(study.config.variants))
    judged_variants = [name for name in study.config.variants if stored.of(name)]
    try:
        present = digest_basis(study, claims_of(study), judged_variants) if judged_variants else {}
    except ConfigError:  # settings that cannot be composed have changed
        present = {}
    return replace(
        stored, older=tuple(name for name in judged_variants if stored.judged_on.get(name, "") != present.get(name))
    )


def validate_claims(study: Study, claims: Sequence[Claim]) -> None:
    """Call claims on NaN losses or simulations; ConfigError if one fails."""
    default = next((variant for variant in study.variants if variant.name == study.unchanged), study.variants[0])
    unknown = basis(study, claims, default)
    for claim in claims:
        try:
            unknown.compare(claim, unknown_losses) if claim.sweeps else without_sweeps(claim)
        except (StoreError, ConfigError):
            raise
        except Exception as error:  # any error of a user-defined function
            code = claim.check.__code__
            location = place_of(error, code.co_filename, code.co_firstlineno)
            raise ConfigError(f"{study.argument}: claim {claim.id} ({location}): {format_error(error)}") from error


def judge_variant(study: Study, current: Basis, reader: Reader) -> list[JudgedClaim]:
    """Judge claims under a variant.

    Claims without sweeps are judged only under the first variant of the headline.

    Raises:
        ConfigError: A number of a claim is NaN or infinite.
    """
    exact = [claim for claim in current.registry if not claim.sweeps and current.variant == study.config.headline[0]]
    try:
        outcomes = [replace(current.unjudged_outcome(claim), needed=0).judge(without_sweeps(claim)) for claim in exact]
        return outcomes + judge(current, reader)
    except ConfigError as error:
        raise ConfigError(f"{study.argument}: {error}") from error


def without_sweeps(claim: Claim) -> tuple[Part, ...]:
    """Return the parts of a claim without sweeps."""
    return claim.parts({simulation.name: simulation.load() for simulation in needed_simulations([claim])})


def needed_simulations(claims: Sequence[Claim]) -> list[Simulation]:
    """Return the simulations of claims, each once."""
    return list(dict.fromkeys(claim.simulation for claim in claims if claim.simulation))
