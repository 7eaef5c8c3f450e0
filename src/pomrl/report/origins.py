"""Where the numbers come from: versions, platforms, commits, times and digests, as the manifests of runs say."""

import hashlib
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pomrl import store
from pomrl.report.drawn import Drawn


@dataclass(frozen=True)
class Sweep:
    """What is stored of a sweep, as far as figures show it."""

    name: str
    sources: list[dict[str, Any]]
    common: dict[str, Any]
    """The settings that all of its experiments share, with dotted keys."""
    varied: list[str]
    digest: str
    """Of the digests of all blocks of runs."""

    @property
    def command(self) -> str:
        return f"python -m src.run experiment={self.name}"

    @property
    def runs(self) -> str:
        """How many, the fewest and the most."""
        found = sorted({source["runs"] for source in self.sources})
        return " to ".join(str(count) for count in dict.fromkeys((found[0], found[-1])))


@dataclass(frozen=True)
class Origins:
    """The circumstances in which runs were computed and figures drawn: each that occurred, with how often."""

    runs: int
    """Experiments, that is folders of runs."""
    first: str
    last: str
    environments: list[tuple[dict[str, str], int]]
    commits: list[tuple[str, int]]
    figures: list[tuple[str, int]]
    """Commits that figures were drawn at."""


def sweeps(figures: Sequence[Drawn]) -> list[Sweep]:
    """The sweeps behind the figures, in the order in which figures name them."""
    found: dict[str, list[dict[str, Any]]] = {}
    for figure in figures:
        for name, sources in figure.sidecar["sweeps"].items():
            if sources:
                found.setdefault(name, sources)
    stored = {run.signature: run for run in store.everything()}
    return [_sweep(name, sources, stored) for name, sources in found.items()]


def _sweep(name: str, sources: list[dict[str, Any]], stored: Mapping[str, store.Run]) -> Sweep:
    settings = [stored[each["signature"]].flat_settings() for each in sources if each["signature"] in stored]
    first = settings[0] if settings else {}
    common = {key: value for key, value in first.items() if all(each.get(key) == value for each in settings)}
    varied = [key for key in sources[0] if key not in ("signature", "runs", "blocks")]
    digests = "".join(digest for source in sources for digest in source["blocks"].values())
    return Sweep(name, sources, common, varied, hashlib.sha256(digests.encode()).hexdigest())


def origins(figures: Sequence[Drawn]) -> Origins:
    """Of the runs that these figures show, and of the figures."""
    shown = {
        source["signature"] for figure in figures for sources in figure.sidecar["sweeps"].values() for source in sources
    }
    manifests = [run.manifest() for run in store.everything() if run.signature in shown]
    made = [manifest["provenance"] for manifest in manifests if manifest]
    return Origins(
        len(made),
        min((each["start"] for each in made), default=""),
        max((each.get("end", each["start"]) for each in made), default=""),
        [(dict(key), count) for key, count in _counted([tuple(_environment(each).items()) for each in made])],
        _counted([_commit(each) for each in made]),
        _counted([_commit(figure.sidecar) for figure in figures]),
    )


def _environment(made: Mapping[str, Any]) -> dict[str, str]:
    return {"Python": made["python"], "platform": made["platform"], **made["packages"]}


def _commit(made: Mapping[str, Any]) -> str:
    if not made.get("commit"):
        return "outside of a repository"
    return made["commit"] + (" with changes" if made.get("dirty") else "")


def _counted(values: Sequence[Any]) -> list[tuple[Any, int]]:
    """Each value with how often it occurs, the most frequent first."""
    return sorted(Counter(values).items(), key=lambda item: (-item[1], str(item[0])))
