"""The claims of a study on the experiments of its variants, and everything that is known of each of them."""

import hashlib
import inspect
import json
from collections.abc import Container, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import pandas as pd

from pomrl import store
from pomrl.configuration.composed import ConfigError
from pomrl.configuration.study import Study
from pomrl.configuration.variants import Family, Variant
from pomrl.execution.parallel import in_parallel
from pomrl.judging import judgements
from pomrl.judging.basis import Basis, Reader
from pomrl.judging.chances import chance
from pomrl.judging.claim import Claim
from pomrl.judging.claims_of_study import claims_of
from pomrl.judging.deciding import Case
from pomrl.judging.fixed_runs import at_promised_runs
from pomrl.judging.judgement_rows import Row, rows
from pomrl.judging.judgements import Judgements
from pomrl.judging.precision import Outcome, Plan
from pomrl.judging.true_shares import TrueShare, parts_in, true_share
from pomrl.judging.verdict import Part
from pomrl.store.simulations import Simulation

BEST_IN_RUN = "gamma_schedule.choice=per_run"
"""What a variant sets under which schedules that choose in hindsight do so in each run."""


def basis(
    study: Study,
    claims: Sequence[Claim],
    variant: Variant,
    own: Path | None = None,
    refused: list[str] | None = None,
    failed: frozenset[str] = frozenset(),
) -> Basis:
    """Return what the claims of a study are judged on under a variant.

    Args:
        study: The study.
        claims: Its claims, which share the error.
        variant: The variant.
        own: A folder of further options.
        refused: Takes a line for each sweep that cannot be composed under the variant; by default that is an error.
        failed: The ids of claims whose functions do not work.

    Raises:
        ConfigError: A sweep cannot be composed.
    """
    names = dict.fromkeys(
        name for claim in claims for name in claim.sweeps if variant.sweeps is None or name in variant.sweeps
    )
    settings = {}
    for name in names:
        try:
            settings[name] = study.settings(name, variant, own)
        except ConfigError as error:
            if refused is None:
                raise
            refused.append(str(error))
    per_run = variant.sets(BEST_IN_RUN, {"gamma_schedule": "best_fixed"})
    shared = len(study.described.headline) if variant.name in study.described.headline else 1
    return Basis(
        variant=variant.name,
        settings=settings,
        registry=claims,
        analyses=tuple(study.described.analyses) if variant.analyses is None else variant.analyses,
        error=study.described.error / shared,
        choice="per_run" if per_run else "population",
        failed=failed,
    )


def judged_on(study: Study, claims: Sequence[Claim], variants: Container[str]) -> dict[str, str]:
    """Return the digest of what claims are judged on under these of the variants that the description names.

    It covers the experiments and the simulations with their code, the numbers of runs, the error, and the claims.
    """
    simulations = [each.signature for each in needed_simulations(claims)]
    sources = {claim.id: inspect.getsource(claim.check) for claim in claims}
    digests = {}
    for variant in (each for each in study.variants if each.name in variants):
        on = basis(study, claims, variant)
        experiments = {
            name: [(store.signature(each.experiment), each.experiment.request.runs) for each in settings]
            for name, settings in on.settings.items()
        }
        said = json.dumps([experiments, simulations, sources, on.analyses, on.error])
        digests[variant.name] = hashlib.sha256(said.encode()).hexdigest()
    return digests


def stored(study: Study) -> Judgements:
    """Return the judgements of a study, with the variants whose verdicts are older than the present code and settings.

    Raises:
        StoreError: The table is damaged, or another version wrote it.
    """
    found = judgements.read(study.outputs, list(study.described.variants))
    judged = [name for name in study.described.variants if found.of(name)]
    try:
        present = judged_on(study, claims_of(study), judged) if judged else {}
    except ConfigError:  # what can no longer be composed is not what was judged
        present = {}
    return replace(found, older=tuple(name for name in judged if found.judged_on.get(name, "") != present.get(name)))


def try_out(claim: Claim, basis: Basis) -> None:
    """Call the function of a claim on its simulation, which is stored, or on losses that are made up.

    Raises:
        ClaimError: The function raises an error.
    """
    if not claim.sweeps:
        without_sweeps(claim)
    elif set(claim.sweeps) <= basis.settings.keys():
        with claim.tried():
            basis.read_by_parts(claim)


def judged(
    study: Study,
    variant: Variant,
    on: Basis,
    reader: Reader,
    cases: Sequence[Case],
    shares: Mapping[str, TrueShare] | None = None,
    *,
    is_main: bool,
) -> "pd.DataFrame":
    """Return the rows of the table of judgements for one variant.

    Args:
        study: The study.
        variant: The variant.
        on: The basis of the variant.
        reader: Reads the losses.
        cases: The claims about sweeps as judged at precision.
        shares: In how many environments each claim is true, by the claim's id.
        is_main: Whether exact claims, claims about simulations, the power of the promised numbers of runs and estimates
            at these are wanted too. Claims about no sweep are judged under the first variant of the headline, because
            they do not depend on it.
    """
    outcomes = {case.outcome.claim.id: case.outcome for case in cases}
    if not is_main:
        only = [Row(each, note=variant.notes.get(id, "")) for id, each in outcomes.items()]
        return rows(study.name, variant.name, only)
    of_no_sweep = [each for each in on.working if not each.sweeps and variant.name == study.described.headline[0]]
    at_once = {claim: without_sweeps(claim) for claim in of_no_sweep}
    at_promised = {each.claim.id: each for each in at_promised_runs(on, reader, at_once)}
    # A claim about a simulation has one analysis: of all its sequences.
    outcomes |= {claim.id: Outcome(claim, on.plan(claim)).after(parts) for claim, parts in at_once.items()}
    outcomes |= {
        each.claim.id: Outcome(each.claim, Plan((1,))) for each in at_promised.values() if not each.claim.is_judged
    }
    ids = [id for id, each in at_promised.items() if each.claim.sweeps and each.claim.is_judged]
    chances = dict(zip(ids, in_parallel(chance, [on] * len(ids), ids), strict=True))
    known = [claim.id for claim in on.registry if claim.id in outcomes and claim.id in at_promised]
    shares = shares or {}
    of_claims = [
        Row(outcomes[id], at_promised[id], chances.get(id), shares.get(id), variant.notes.get(id, "")) for id in known
    ]
    return rows(study.name, variant.name, of_claims)


def without_sweeps(claim: Claim) -> tuple[Part, ...]:
    """Return the parts of an exact claim or of one about a simulation, which is stored.

    Raises:
        ClaimError: The function of the claim raises an error.
    """
    with claim.tried():
        tables = {each.name: each.load() for each in needed_simulations([claim])}
        return claim.parts({}, tables)


def needed_simulations(claims: Sequence[Claim]) -> list[Simulation]:
    """Return the simulations that claims read."""
    return list(dict.fromkeys(claim.simulation for claim in claims if claim.simulation))


def true_shares(study: Study, claims: Sequence[Claim], family: Family, failed: frozenset[str]) -> dict[str, TrueShare]:
    """Return in how many environments of a sample each claim is true, by its id; none if they are not all stored."""
    bases: list[Basis] = []
    for variant in family.variants:  # one after the other, because most often not even the first is stored
        on = basis(study, claims, variant, failed=failed)
        experiments = (each.experiment for settings in on.settings.values() for each in settings)
        if not all(store.lookup(each).complete() >= each.request.runs for each in experiments):
            return {}
        bases.append(on)
    parts = in_parallel(parts_in, bases)
    return {id: true_share([of_environment[id] for of_environment in parts]) for id in parts[0]}
