"""Drawing the figures of a study from what is stored: NAME.pdf, NAME.png, NAME.csv and NAME.json for each version.

NAME shows the number of runs that the sweeps promise, with the bands of the caption. NAME_intervals is the same figure
with 95 % intervals of the mean over all runs that its curves share.
"""

import hashlib
import json
import shlex
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain
from pathlib import Path

from pomrl.configuration.composed import ConfigError
from pomrl.configuration.settings import scientific_settings
from pomrl.configuration.study import Study
from pomrl.configuration.sweeps import Setting
from pomrl.configuration.variants import Variant
from pomrl.drawing.drawing import Drawing
from pomrl.drawing.figure import INTERVALS, Figure, figures_of
from pomrl.drawing.files import Sidecar
from pomrl.drawing.style import look
from pomrl.execution.parallel import one_by_one
from pomrl.results.stored_sweeps import StoredSweep, promised_runs, shared_runs, stored_simulation, stored_sweep
from pomrl.store import StoreError, code_digest
from pomrl.store.provenance import commit
from pomrl.store.simulations import Simulation

FEW = 3
"""Fewer figures than this are drawn in this process: starting others would take longer."""

MOST_RUNS = 4000
"""The most runs of a setting that a figure shows: with more, intervals get narrower than a line, and memory grows."""

FOLDER = "figures"
"""The folder of figures in the outputs of a study; those of variants have folders in it."""

Writer = Callable[[Drawing, Path, str, Sidecar], list[Path]]
"""A function that writes a drawing into a folder under a name, and returns the paths of its files."""


@dataclass(frozen=True)
class Selection:
    """Versions of figures of a study, drawn under one variant."""

    study: Study
    names: Sequence[str]
    """The names of figures, or of versions with intervals."""
    variant: Variant | None = None
    """The variant; None for the experiments as published."""
    own: Path | None = None
    """A folder of further options."""

    @property
    def folder(self) -> Path:
        """The folder that the files are written to."""
        of_study = self.study.outputs / FOLDER
        name = self.variant.name if self.variant else self.study.unchanged
        return of_study if name == self.study.unchanged else of_study / name

    @property
    def command(self) -> str:
        """The command that draws a figure of this selection, without the name of the figure."""
        words = ["pomrl", "figures", self.study.word]
        if self.variant and self.variant.replaced:
            words += ["--replace", f"{self.variant.replaced[1]}={self.variant.name}"]
        elif self.variant and self.variant.name != self.study.unchanged:
            words += ["--variants", self.variant.name]
        if self.own:
            words += ["--config-dir", str(self.own)]
        return shlex.join(words)


@dataclass(frozen=True)
class Outcome:
    """The outcome of drawing figures."""

    files: list[Path] = field(default_factory=list)
    """The files of the figures that are drawn."""
    problems: list[str] = field(default_factory=list)
    """A line for each figure that is not drawn, with the reason."""
    lacking: Mapping[str, str] = field(default_factory=dict)
    """For each sweep with fewer runs than it promises, a line that says which are missing."""

    def __add__(self, other: "Outcome") -> "Outcome":
        """Return the outcome of drawing the figures of both."""
        return Outcome(self.files + other.files, self.problems + other.problems, {**other.lacking, **self.lacking})


def versions(study: Study, wanted: Sequence[str] = ()) -> list[str]:
    """Return the names of the versions of figures of a study, of all figures or of these.

    Raises:
        ConfigError: There is no figure of such a name.
    """
    by_name = {figure.name: figure for figure in figures_of(study)}
    known = {version for figure in by_name.values() for version in figure.versions}
    if unknown := [name for name in wanted if name not in known]:
        raise ConfigError(f"{unknown[0]}: {study.word} has no such figure; there are {', '.join(by_name)}")
    of_names = (by_name[name].versions if name in by_name else [name] for name in wanted or by_name)
    return list(dict.fromkeys(chain.from_iterable(of_names)))


def needed_simulations(study: Study, names: Sequence[str]) -> list[Simulation]:
    """Return the simulations that figures show."""
    shown = {version: figure for figure in figures_of(study) for version in figure.versions}
    return list(dict.fromkeys(each for name in names for each in shown[name].simulations))


def draw(selections: Sequence[Selection], write: Writer) -> Iterator[Outcome]:
    """Draw figures in parallel, those with the most series first, and yield the outcome of each.

    Args:
        selections: What is drawn; no file belongs to two of them. The simulations that figures show have to be stored.
        write: The function that writes the files.
    """
    wanted = [
        (len(figure.series), selection, [name for name in selection.names if name in figure.versions])
        for selection in selections
        for figure in figures_of(selection.study)
    ]
    largest_first = sorted(wanted, key=lambda each: each[0], reverse=True)
    calls = [(selection, names, write) for _, selection, names in largest_first if names]
    yield from one_by_one(_draw_versions, *zip(*calls, strict=True), workers=1 if len(calls) < FEW else None)


def _draw_versions(selection: Selection, names: Sequence[str], write: Writer) -> Outcome:
    """Draw these versions of one figure, which show the same experiments."""
    figure = next(each for each in figures_of(selection.study) if names[0] in each.versions)
    try:
        shown = shown_settings(figure, selection)
        shared = shared_runs(chain.from_iterable(shown.values()))
    except (ConfigError, StoreError) as error:
        return Outcome(problems=[f"{name} is not drawn: {error}" for name in names])
    return sum((_draw_one(figure, name, selection, shown, shared, write) for name in names), Outcome())


def _draw_one(
    figure: Figure,
    name: str,
    selection: Selection,
    shown: Mapping[str, Sequence[Setting]],
    shared: int,
    write: Writer,
) -> Outcome:
    """Draw one version of a figure, of which so many runs of all settings that it shows are stored."""
    with_intervals = name != figure.name
    sweeps: dict[str, StoredSweep] = {}
    try:
        for sweep, settings in shown.items():
            most = min(shared, MOST_RUNS if with_intervals else promised_runs(settings))
            sweeps[sweep] = stored_sweep(settings, most=most)
    except (ConfigError, StoreError) as error:
        return Outcome(problems=[f"{name} is not drawn: {error}"])
    lacking = {sweep: stored.lacking for sweep, stored in sweeps.items() if stored.lacking}
    if sweeps and not shared:
        return Outcome(problems=[f"{name} is not drawn: nothing is stored of {', '.join(sweeps)}"], lacking=lacking)
    sweeps |= {each.name: stored_simulation(each) for each in figure.simulations}
    try:
        drawing = _relabelled(figure.drawn(sweeps, with_intervals=with_intervals), selection.variant)
        files = write(drawing, selection.folder, name, _sidecar(figure, name, sweeps, selection))
    except (ValueError, OSError) as error:
        return Outcome(problems=[f"{name} is not drawn: {error}"], lacking=lacking)
    return Outcome(files, lacking=lacking)


def shown_settings(figure: Figure, selection: Selection) -> dict[str, list[Setting]]:
    """Return the experiments of each sweep that a figure shows; all of them where its series do not say which.

    Raises:
        ConfigError: A series asks for a value that the sweep does not have.
    """
    shown = {}
    for sweep in figure.sweeps:
        settings = selection.study.settings(sweep, selection.variant, own=selection.own)
        for one in (one for one in figure.series if one.sweep == sweep):
            one.refuse_unknown([each.varied for each in settings])
        of_series = [each for each in settings if any(one.shows(sweep, each.varied) for one in figure.series)]
        shown[sweep] = of_series or settings
    return shown


def made_of(study: Study, version: str) -> dict[str, str]:
    """Return digests of what a picture of a figure shows: its modules in the study, and the settings of experiments.

    While both are the same, the picture is not stale: the bytes of stored tables depend on the settings alone.
    """
    figure = next(each for each in figures_of(study) if version in each.versions)
    package = figure.module.rpartition(f".{FOLDER}")[0]
    code = code_digest.digest(name for name in code_digest.modules([figure.module]) if name.startswith(package))
    shown = chain.from_iterable(shown_settings(figure, Selection(study, [version])).values())
    settings = json.dumps([scientific_settings(each.experiment) for each in shown], sort_keys=True)
    return {"code": code, "settings": hashlib.sha256(settings.encode()).hexdigest()}


def _sidecar(figure: Figure, name: str, sweeps: Mapping[str, StoredSweep], selection: Selection) -> Sidecar:
    return Sidecar(
        name,
        command=f"{selection.command} {name}",
        docstring=figure.docstring,
        **commit(),
        variant=selection.variant.name if selection.variant else selection.study.unchanged,
        sweeps={selection.study.option(sweep): sweeps[sweep].sources for sweep in figure.sweeps},
        simulations={each.name: sweeps[each.name].sources for each in figure.simulations},
    )


def _relabelled(drawing: Drawing, variant: Variant | None) -> Drawing:
    """Return the drawing with the name of the option that replaces another one in the place of that one's label."""
    if variant is None or variant.replaced is None:
        return drawing
    group, old = variant.replaced
    return drawing.renamed(look(old, group).label, variant.name.replace("_", " "))


__all__ = [
    "FOLDER",
    "INTERVALS",
    "Outcome",
    "Selection",
    "Writer",
    "draw",
    "made_of",
    "needed_simulations",
    "shown_settings",
    "versions",
]
