"""The claims of a study on the experiments of its variants, and everything that is known of each of them."""

import hashlib
import inspect
import json
from collections.abc import Container, Sequence
from dataclasses import replace

from pomrl import store
from pomrl.configuration.composed import ConfigError
from pomrl.configuration.importing import in_words, place_of
from pomrl.configuration.study import Study
from pomrl.configuration.variants import Variant
from pomrl.judging import judgements
from pomrl.judging.basis import Basis, Reader
from pomrl.judging.budget import Case
from pomrl.judging.claim import Claim, claims_of
from pomrl.judging.judgements import Judgement, Judgements, judgement
from pomrl.judging.sequential_analysis import Outcome
from pomrl.judging.verdict import Part
from pomrl.store import StoreError
from pomrl.store.simulations import Simulation

BEST_IN_RUN = "gamma_schedule.choice=per_run"
"""What a variant sets under which schedules that choose in hindsight do so in each run."""


def basis(study: Study, claims: Sequence[Claim], variant: Variant) -> Basis:
    """Return what the claims of a study are judged on under a variant.

    Args:
        study: The study.
        claims: Its claims, which share the error.
        variant: The variant.

    Raises:
        ConfigError: A sweep cannot be composed.
    """
    names = dict.fromkeys(
        name for claim in claims for name in claim.sweeps if variant.sweeps is None or name in variant.sweeps
    )
    per_run = variant.sets(BEST_IN_RUN, {"gamma_schedule": "best_fixed"})
    shared = len(study.described.headline) if variant.name in study.described.headline else 1
    return Basis(
        variant=variant.name,
        settings={name: study.settings(name, variant) for name in names},
        registry=claims,
        analyses=tuple(study.described.analyses) if variant.analyses is None else variant.analyses,
        error=study.described.error / shared,
        choice="per_run" if per_run else "population",
    )


def digest_basis(study: Study, claims: Sequence[Claim], variants: Container[str]) -> dict[str, str]:
    """Return the digest of what claims are judged on under these of the variants that the description names.

    It covers the experiments and the simulations with their code, the numbers of runs, the error, and the claims.
    """
    simulations = [simulation.signature for simulation in needed_simulations(claims)]
    sources = {claim.id: inspect.getsource(claim.check) for claim in claims}
    digests = {}
    for variant in (variant for variant in study.variants if variant.name in variants):
        on = basis(study, claims, variant)
        experiments = {
            name: [(store.signature(setting.experiment), setting.experiment.request.runs) for setting in settings]
            for name, settings in on.settings.items()
        }
        said = json.dumps([experiments, simulations, sources, on.analyses, on.error])
        digests[variant.name] = hashlib.sha256(said.encode()).hexdigest()
    return digests


def load_judgements(study: Study) -> Judgements:
    """Return the judgements of a study, with the variants whose verdicts are older than the present code and settings.

    Raises:
        StoreError: The table is damaged, or another version wrote it.
    """
    found = judgements.read(study.outputs, list(study.described.variants))
    judged = [name for name in study.described.variants if found.of(name)]
    try:
        present = digest_basis(study, claims_of(study), judged) if judged else {}
    except ConfigError:  # what can no longer be composed is not what was judged
        present = {}
    return replace(found, older=tuple(name for name in judged if found.judged_on.get(name, "") != present.get(name)))


def refuse_failing(study: Study, claims: Sequence[Claim]) -> None:
    """Raise a ConfigError, with the place, where the function of a claim fails on losses that are made up."""
    default = next((variant for variant in study.variants if variant.name == study.unchanged), study.variants[0])
    on = basis(study, claims, default)
    for claim in claims:
        try:
            on.experiments_by_part(claim) if claim.sweeps else without_sweeps(claim)
        except (StoreError, ConfigError):
            raise
        except Exception as error:  # whatever a function of somebody's own raises
            code = claim.check.__code__
            place = place_of(error, code.co_filename, code.co_firstlineno)
            raise ConfigError(f"{study.word}: claim {claim.id} ({place}): {in_words(error)}") from error


def judge_variant(study: Study, variant: Variant, on: Basis, reader: Reader, cases: Sequence[Case]) -> list[Judgement]:
    """Return the judgements under a variant that the description names, and all that is known of them.

    Claims about no sweep are judged under the first variant of the headline, because they do not depend on it.

    Args:
        study: The study.
        variant: The variant.
        on: The basis of the variant.
        reader: Reads the losses.
        cases: The claims about sweeps as judged at precision.
    """
    of_no_sweep = [claim for claim in on.registry if not claim.sweeps and variant.name == study.described.headline[0]]
    at_once = {claim.id: without_sweeps(claim) for claim in of_no_sweep}
    at_promised = at_once | {
        claim.id: reader.parts(on, claim, runs)
        for claim in on.claims
        if (runs := min(on.promised_runs(claim), on.stored_runs(claim)))
    }
    outcomes = {case.outcome.claim.id: case.outcome for case in cases}
    # A claim about a simulation has one analysis: of all its sequences.
    outcomes |= {claim.id: on.unjudged_outcome(claim).after(at_once[claim.id]) for claim in of_no_sweep}
    outcomes |= {claim.id: Outcome(claim) for claim in on.registry if not claim.is_judged}
    return [
        judgement(
            variant.name,
            outcomes[claim.id],
            at_promised[claim.id],
            on.promised_runs(claim) if claim.sweeps else None,
            note=variant.notes.get(claim.id, ""),
        )
        for claim in on.registry
        if claim.id in outcomes and claim.id in at_promised
    ]


def at_precision(variant: Variant, cases: Sequence[Case]) -> list[Judgement]:
    """Return the judgements under a variant of a family; only its verdicts at precision are wanted."""
    outcomes = [case.outcome for case in cases]
    return [judgement(variant.name, outcome, note=variant.notes.get(outcome.claim.id, "")) for outcome in outcomes]


def without_sweeps(claim: Claim) -> tuple[Part, ...]:
    """Return the parts of an exact claim or of one about a simulation, which is stored."""
    return claim.parts({simulation.name: simulation.load() for simulation in needed_simulations([claim])})


def needed_simulations(claims: Sequence[Claim]) -> list[Simulation]:
    """Return the simulations that claims read."""
    return list(dict.fromkeys(claim.simulation for claim in claims if claim.simulation))
