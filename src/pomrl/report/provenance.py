"""The origin of the numbers on the page: versions, platforms, commits, times and digests, read from manifests."""

import hashlib
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, runtime_checkable

from pomrl import store
from pomrl.configuration.sweeps import command
from pomrl.drawing.files import Sidecar
from pomrl.results.stored_sweeps import Source


@runtime_checkable
class ShowsRuns(Protocol):
    """A figure, or anything else that shows stored runs."""

    @property
    def sources(self) -> Iterator[tuple[str, Source]]:
        """Each experiment that it shows, after the name of its sweep."""
        ...


@dataclass(frozen=True)
class SweepProvenance:
    """The experiments of one sweep that figures show."""

    name: str
    sources: Sequence[Source]
    """One source for each experiment."""
    common: dict[str, Any]
    """The settings that all experiments of the sweep share, with dotted keys."""
    varied: list[str]
    """The keys of the settings that the sweep varies."""
    digest: str
    """The SHA-256 of the digests of all blocks of runs that figures show."""

    @property
    def command(self) -> str:
        """The command that computes the sweep."""
        return command(self.name)

    @property
    def runs(self) -> str:
        """The number of runs of each experiment; the smallest and the largest number if they differ."""
        counts = {source.runs for source in self.sources}
        return " to ".join(map(str, sorted({min(counts), max(counts)})))


@dataclass(frozen=True)
class ReportProvenance:
    """The circumstances in which experiments were computed and figures drawn, each with how often it occurred."""

    experiments: int
    """The number of stored experiments that figures show."""
    first: str
    """The time at which the first computation started, in ISO format; empty if nothing is stored."""
    last: str
    """The time at which the last computation ended, in ISO format; empty if nothing is stored."""
    environments: list[tuple[dict[str, str], int]]
    """Versions and platform, with the number of experiments computed with them."""
    commits: list[tuple[str, int]]
    """Commits at which experiments were computed, with the number of experiments."""
    figures: list[tuple[str, int]]
    """Commits at which figures were drawn, with the number of figures."""


def shown_experiments(figures: Sequence[ShowsRuns]) -> dict[str, store.StoredExperiment]:
    """Return the experiments that these figures show and that are still stored, by signature."""
    shown = {source.signature for figure in figures for _, source in figure.sources}
    return {stored.signature: stored for stored in store.all_experiments() if stored.signature in shown}


def sweep_provenances(figures: Sequence[ShowsRuns]) -> list[SweepProvenance]:
    """Return the provenance of each sweep that these figures show, in the order in which they name the sweeps."""
    sources_of: dict[str, dict[str, Source]] = {}
    for name, source in (shown for figure in figures for shown in figure.sources):
        of_sweep = sources_of.setdefault(name, {})
        if source.signature not in of_sweep or of_sweep[source.signature].runs < source.runs:
            of_sweep[source.signature] = source
    experiments = shown_experiments(figures)
    return [_sweep(name, [*sources.values()], experiments) for name, sources in sources_of.items()]


def _sweep(name: str, sources: Sequence[Source], experiments: Mapping[str, store.StoredExperiment]) -> SweepProvenance:
    settings = [experiments[each.signature].flat_settings() for each in sources if each.signature in experiments]
    first = settings[0] if settings else {}
    common = {key: value for key, value in first.items() if all(each.get(key) == value for each in settings)}
    digests = "".join(digest for source in sources for digest in source.blocks.values())
    digest = hashlib.sha256(digests.encode()).hexdigest()
    return SweepProvenance(name, sources, common, list(sources[0].settings), digest)


def report_provenance(figures: Sequence[ShowsRuns], drawn: Sequence[Sidecar] = ()) -> ReportProvenance:
    """Return the provenance of the stored experiments that figures show, and of those that have these sidecars."""
    manifests = [stored.manifest() for stored in shown_experiments(figures).values()]
    made = [manifest.provenance for manifest in manifests if manifest]
    return ReportProvenance(
        len(made),
        min((each.start for each in made), default=""),
        max((each.end or each.start for each in made), default=""),
        [(dict(key), count) for key, count in _counted([tuple(_environment(each).items()) for each in made])],
        _counted([_commit(each.commit, dirty=each.dirty) for each in made]),
        _counted([_commit(each.commit, dirty=each.dirty) for each in drawn]),
    )


def _environment(made: store.Provenance) -> dict[str, str]:
    return {"Python": made.python, "platform": made.platform, **made.packages}


def _commit(commit: str | None, *, dirty: bool | None) -> str:
    if not commit:
        return "outside of a repository"
    return commit + (" with changes" if dirty else "")


def _counted(values: Sequence[Any]) -> list[tuple[Any, int]]:
    """Return each distinct value with the number of times that it occurs, the most frequent first."""
    return sorted(Counter(values).items(), key=lambda item: (-item[1], str(item[0])))
