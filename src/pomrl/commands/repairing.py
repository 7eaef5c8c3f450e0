"""Faults of everything that is stored or made of it, and computing damaged experiments and simulations again."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from pomrl import store
from pomrl.claims import own
from pomrl.commands.progress import progress, simulate
from pomrl.commands.terminal import one_line, warn
from pomrl.configuration import studies
from pomrl.configuration.composed import GROUPS, Composed, ConfigError
from pomrl.configuration.parsing import Experiment, parse
from pomrl.configuration.sources import PUBLISHED
from pomrl.execution import ExecutionError
from pomrl.figures import FIGURES, INTERVALS
from pomrl.outputs import outputs
from pomrl.running import sweeps
from pomrl.store import StoredExperiment, StoreError, simulations
from pomrl.store.derived import DerivedFiles
from pomrl.theory.simulations import SIMULATIONS


def sweeps_by_signature() -> dict[str, list[str]]:
    """Return the names of the published sweeps that each of their experiments belongs to, by signature."""
    names: dict[str, list[str]] = {}
    for name in (*studies.names(PUBLISHED), "environments"):
        for signature in dict.fromkeys(store.signature(each.experiment) for each in studies.sweep(PUBLISHED, name)):
            names.setdefault(signature, []).append(name)
    return names


def faults_beside_experiments() -> list[str]:
    """Return a line for each damaged simulation and each damaged set of derived files, with the command that mends it.

    Derived files are figures, tables of claims, and the report, also those of the user's own options.
    """
    lines = [f"{fault}; python -m src.runs --repair computes it again" for fault in simulations.faults().values()]
    for files, command in _derived(outputs()):
        if fault := files.fault():
            lines.append(f"{fault}; {command} renews it")
    return lines


def _derived(folder: Path) -> Iterator[tuple[DerivedFiles, str]]:
    """Yield the sets of derived files in a folder of outputs, each with the command that makes it."""
    yield from _results(folder, "")
    for extension in sorted((folder / "extensions").glob("*/")):
        yield from _results(extension, f" --replace OURS={extension.name}")
    for path in sorted((folder / own.FOLDER).glob("*.json")):
        yield DerivedFiles(path), f"python -m src.claims {path.stem}"
    yield DerivedFiles(folder / "report" / "index.json"), "python -m src.report"


def _results(folder: Path, options: str) -> Iterator[tuple[DerivedFiles, str]]:
    for name in ("claims", "gains"):
        yield DerivedFiles(folder / f"{name}.json"), f"python -m src.claims{options}"
    for name in ("readings", "environments"):
        yield DerivedFiles(folder / f"{name}.json"), f"python -m src.claims --{name}"
    figures = folder / "figures"
    of_ones_own = {path.stem for path in figures.glob("*.json") if path.with_suffix(".csv").exists()}
    for name in sorted({*FIGURES, *INTERVALS, *of_ones_own}):
        command = "python -m src.claims --readings" if name == "readings" else f"python -m src.figures {name}{options}"
        yield DerivedFiles(figures / f"{name}.json"), command


def repair(listed: Sequence[StoredExperiment]) -> None:
    """Compute again what is damaged of stored experiments and of simulations; print a line for what cannot be.

    An experiment can be computed again if it belongs to a published sweep, or if its settings can be read, name classes
    of this package only, and have its signature under the present code. The other runs of it are kept.
    """
    for stored in (stored for stored in listed if stored.faults()):
        try:
            _compute_again(stored)
        except (StoreError, ConfigError, ExecutionError, OSError) as error:
            warn(f"{stored.folder}: it cannot be computed again ({one_line(error)})")
    damaged = simulations.faults()
    simulate(name for name, each in SIMULATIONS.items() if damaged and simulations.signature(each) in damaged)


def _compute_again(stored: StoredExperiment) -> None:
    """Compute the runs of a stored experiment that are damaged, as `src.run` would.

    Raises:
        ConfigError: No settings are known that have its signature.
    """
    runs = max(1, stored.extent())
    experiment = _published(stored.signature) or _from_settings(stored)
    if store.signature(experiment) != stored.signature:
        raise ConfigError("its settings have another signature under the present code")
    experiment = replace(experiment, request=replace(experiment.request, runs=runs, force=False, dry_run=False))
    jobs = sweeps.checked_jobs([experiment])
    with progress(sum(job.runs_missing for job in jobs)) as advance:
        for failure in sweeps.compute(jobs, advance).values():
            warn(f"{stored.folder}: {failure.reason}")


def _published(signature: str) -> Experiment | None:
    """Return the experiment of a published sweep that has this signature, or None if there is none."""
    settings = (each for name in studies.names(PUBLISHED) for each in studies.sweep(PUBLISHED, name))
    return next((each.experiment for each in settings if store.signature(each.experiment) == signature), None)


def _from_settings(stored: StoredExperiment) -> Experiment:
    """Return the experiment that the stored settings describe, if all classes in them are of this package.

    Raises:
        StoreError: The file of the settings is missing or damaged.
        ConfigError: The settings are wrong, or a class is not of this package, so that it must not be imported.
    """
    settings = stored.written_settings()
    if not isinstance(settings, dict):
        raise ConfigError(f"{stored.folder}: its settings are damaged")
    groups = {group: value for group, value in settings.items() if group in GROUPS and isinstance(value, dict)}
    if not all(str(value.get("_target_")).startswith("pomrl.") for value in groups.values()):
        raise ConfigError("it has components of your own, which only src.run imports")
    manifest = stored.manifest()
    here = {"execution": {"_target_": "pomrl.execution.local.Local"}, "runs": 1}
    return parse(Composed({**settings, **here}, manifest.options if manifest else {}))
