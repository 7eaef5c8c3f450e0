"""Judge the claims of a study under its variants."""

from collections.abc import Callable, Sequence
from itertools import chain
from math import isfinite

from pomrl import store
from pomrl.configuration.composed import ConfigError
from pomrl.configuration.parsing import Experiment
from pomrl.configuration.studies import Study
from pomrl.configuration.variants import Variant
from pomrl.judging import judgements, study_claims
from pomrl.judging.claim import JudgedClaim, claims_of
from pomrl.judging.judgements import Judgement
from pomrl.judging.study_claims import Basis, Reader
from pomrl.running.work import store_simulations
from pomrl.store import StoreError

Compute = Callable[[Sequence[Experiment]], object]
"""A function to compute and store missing runs of experiments."""


def find_variants(study: Study, names: str | None = None) -> list[Variant]:
    """Find variants by names of variants or families; by default all in `study.yaml`.

    Raises:
        ConfigError: A name is unknown.
    """
    by_name = {variant.name: variant for variant in study.variants}
    everything = [*by_name, *(study.families if names else ())]
    requested = everything if names is None or names == "all" else names.split(",")
    groups = ([by_name[name]] if name in by_name else study.family(name).variants for name in requested)
    variants = chain.from_iterable(groups)
    return list({variant.name: by_name.get(variant.name, variant) for variant in variants}.values())


def judge_study(
    study: Study,
    variants: Sequence[Variant],
    compute: Compute | None = None,
    announce: Callable[[str], None] = lambda _: None,
) -> list[Judgement]:
    """Judge the claims of a study under variants, on stored runs.

    Args:
        study: The study.
        variants: Variants of it (`find_variants`).
        compute: Computes experiments that claims choose by losses; None for stored ones only.
        announce: Takes a line about each simulation.

    Raises:
        ConfigError: The study has no claims, or one of them fails.
        StoreError: No runs of its claims are stored.
    """
    claims = claims_of(study)
    if not claims:
        raise ConfigError(f"{study.argument}: no claims; add functions with @claim to claims.py or claims/")
    nothing_stored = f"{study.argument}: no stored runs for its claims; pomrl reproduce {study.argument} computes them"
    if any(claim.sweeps for claim in claims) and not (compute or store.all_experiments()):
        raise StoreError(nothing_stored)
    store_simulations(study_claims.needed_simulations(claims), announce)
    study_claims.validate_claims(study, claims)
    bases = [study_claims.basis(study, claims, variant) for variant in variants]
    new_judgements = [
        judgements.judgement(variant.name, outcome, outcome.claim.notes.get(variant.name, ""))
        for variant, outcomes in zip(variants, _judge(study, bases, compute), strict=True)
        for outcome in outcomes
        if outcome.comparisons
    ]
    about_runs = {claim.id for claim in claims if claim.sweeps}
    run_based = [judgement for judgement in new_judgements if judgement.id in about_runs or not about_runs]
    if not any(isfinite(comparison.estimate) for judgement in run_based for comparison in judgement.comparisons):
        raise StoreError(nothing_stored)
    return new_judgements


def _judge(study: Study, bases: Sequence[Basis], compute: Compute | None) -> list[list[JudgedClaim]]:
    reader = Reader()
    outcomes = [study_claims.judge_variant(study, basis, reader) for basis in bases]
    requested = [experiment for outcome in chain(*outcomes) for experiment in outcome.missing_experiments]
    if not (compute and requested):
        return outcomes
    compute(requested)
    return _judge(study, bases, compute)


def needed_experiments(study: Study, variants: Sequence[Variant]) -> list[Experiment]:
    """Return the experiments of claims under variants, with the required runs."""
    claims = claims_of(study)
    bases = [study_claims.basis(study, claims, variant) for variant in variants]
    return [
        experiment for basis in bases for claim in basis.claims for experiment in basis.requested_experiments(claim)
    ]
