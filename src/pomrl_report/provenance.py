"""Collect the provenance of numbers on a page."""

import hashlib
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pomrl import store
from pomrl.configuration.sweeps import command
from pomrl.drawing.picture_files import Sidecar
from pomrl.results.sweep_results import Origin

ShownExperiment = tuple[str, Origin]
"""The name of a sweep, and one of its experiments on a page."""


@dataclass(frozen=True)
class SweepProvenance:
    """The experiments of one sweep in figures."""

    command: str
    """The command that computes the sweep."""
    sources: Sequence[Origin]
    """The stored files of each experiment."""
    common: Mapping[str, Any]
    """Their shared settings, by dotted keys."""
    digest: str
    """The SHA-256 of the digests of all blocks."""


@dataclass(frozen=True)
class ReportProvenance:
    """Times, environments and commits of experiments and figures."""

    first: str
    """The start of the first computation, in ISO format; empty if nothing is stored."""
    last: str
    """The start of the last computation, in the same form."""
    environments: Sequence[tuple[Mapping[str, str], int]]
    """Versions and platform, with the number of experiments."""
    commits: list[tuple[str, int]]
    """Commits at which experiments were computed, with the number of experiments."""
    figures: list[tuple[str, int]]
    """Commits at which figures were drawn, with the number of figures."""


def stored_experiments(shown_experiments: Iterable[ShownExperiment]) -> dict[str, store.StoredExperiment]:
    """Return the experiments with stored runs, by signature."""
    signatures = dict.fromkeys(source.signature for _, source in shown_experiments)
    experiments = {signature: store.StoredExperiment(store.root() / signature) for signature in signatures}
    return {signature: experiment for signature, experiment in experiments.items() if experiment.complete()}


def sweep_provenances(shown_experiments: Iterable[ShownExperiment]) -> dict[str, SweepProvenance]:
    """Return the provenance of each sweep by name."""
    by_sweep: dict[str, dict[str, Origin]] = {}
    for name, source in shown_experiments:
        by_signature = by_sweep.setdefault(name, {})
        if source.runs >= by_signature.get(source.signature, source).runs:
            by_signature[source.signature] = source
    return {name: _sweep(name, [*sources.values()]) for name, sources in by_sweep.items()}


def _sweep(name: str, sources: Sequence[Origin]) -> SweepProvenance:
    settings = [stored.flat_settings() for stored in stored_experiments((name, source) for source in sources).values()]
    first = settings[0] if settings else {}
    common = {key: value for key, value in first.items() if all(setting.get(key) == value for setting in settings)}
    digests = "".join(digest for source in sources for digest in source.blocks.values())
    return SweepProvenance(command(name), sources, common, hashlib.sha256(digests.encode()).hexdigest())


def report_provenance(
    shown_experiments: Iterable[ShownExperiment], sidecars: Sequence[Sidecar] = ()
) -> ReportProvenance:
    """Return the provenance of experiments and figures."""
    provenances = [stored.read_manifest().provenance for stored in stored_experiments(shown_experiments).values()]
    environments = [
        (("Python", record.python), ("platform", record.platform), *record.packages.items()) for record in provenances
    ]
    return ReportProvenance(
        min((provenance.start for provenance in provenances), default=""),
        max((provenance.start for provenance in provenances), default=""),
        [(dict(key), count) for key, count in Counter(environments).most_common()],
        Counter(map(_commit, provenances)).most_common(),
        Counter(map(_commit, sidecars)).most_common(),
    )


def _commit(record: store.Provenance | Sidecar) -> str:
    return f"{record.commit}{' with changes' * bool(record.dirty)}" if record.commit else "outside of a repository"
