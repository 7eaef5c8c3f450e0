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
from pomrl.judging.basis import Basis, Reader, judge, unknown_losses
from pomrl.judging.claim import Claim, claims_of
from pomrl.judging.judgements import Judgements
from pomrl.judging.outcomes import Outcome
from pomrl.judging.verdict import Part
from pomrl.store import StoreError
from pomrl.store.derived import Simulation

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
        runs=variant.runs or study.described.runs,
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
        said = json.dumps([experiments, simulations, sources, on.runs, on.error])
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
    """Raise a ConfigError, with the place, where the function of a claim fails before any loss is known."""
    default = next((variant for variant in study.variants if variant.name == study.unchanged), study.variants[0])
    on = basis(study, claims, default)
    for claim in claims:
        try:
            on.compare(claim, unknown_losses) if claim.sweeps else without_sweeps(claim)
        except (StoreError, ConfigError):
            raise
        except Exception as error:  # whatever a function of somebody's own raises
            code = claim.check.__code__
            place = place_of(error, code.co_filename, code.co_firstlineno)
            raise ConfigError(f"{study.word}: claim {claim.id} ({place}): {in_words(error)}") from error


def judge_variant(study: Study, on: Basis, reader: Reader) -> list[Outcome]:
    """Judge the claims of a study under a variant.

    Claims about no sweep are judged under the first variant of the headline, because they do not depend on it.
    """
    alone = [claim for claim in on.registry if not claim.sweeps and on.variant == study.described.headline[0]]
    outcomes = [replace(on.unjudged_outcome(claim), needed=0).judged(without_sweeps(claim)) for claim in alone]
    return outcomes + judge(on, reader)


def without_sweeps(claim: Claim) -> tuple[Part, ...]:
    """Return the parts of an exact claim or of one about a simulation, which is stored."""
    return claim.parts({simulation.name: simulation.load() for simulation in needed_simulations([claim])})


def needed_simulations(claims: Sequence[Claim]) -> list[Simulation]:
    """Return the simulations that claims read."""
    return list(dict.fromkeys(claim.simulation for claim in claims if claim.simulation))
