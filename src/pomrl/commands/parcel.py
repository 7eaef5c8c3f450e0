"""What belongs to a study: its experiments, and the files that a colleague needs to compute with it."""

from collections.abc import Sequence
from itertools import chain, product
from pathlib import Path

from pomrl import store
from pomrl.commands.reproduce import sweeps_of
from pomrl.configuration.composed import ConfigError
from pomrl.configuration.parsing import Experiment
from pomrl.configuration.settings import component_classes, data_files, scientific_settings
from pomrl.configuration.study import Study
from pomrl.judging.claim import claims_of
from pomrl.store import StoredExperiment, StoreError
from pomrl.store.code_digest import own_sources


def experiments_of(study: Study) -> list[Experiment]:
    """Return the experiments of a study: those of its sweeps, and under its variants those that its claims read."""
    read = list(dict.fromkeys(name for claim in claims_of(study) for name in claim.sweeps))
    wanted = [(None, name) for name in sweeps_of(study)] + list(product(study.variants, read))
    for variant in chain.from_iterable(family.variants for family in study.families.values()):
        wanted += [(variant, name) for name in (read if variant.sweeps is None else variant.sweeps)]
    every = (setting.experiment for variant, name in wanted for setting in study.settings(name, variant))
    return list({store.signature(experiment): experiment for experiment in every}.values())


def list_stored(study: Study) -> list[tuple[StoredExperiment, Experiment]]:
    """Return what is stored of the experiments of a study; StoreError if that is nothing."""
    found = [(store.lookup(experiment), experiment) for experiment in experiments_of(study)]
    if not (stored := [pair for pair in found if pair[0].complete()]):
        raise StoreError(f"{study.word}: nothing is stored of it; pomrl reproduce {study.word} computes it")
    return stored


def files_of(study: Study, experiments: Sequence[Experiment]) -> list[Path]:
    """Return the files that a study needs: its folder, and modules and data beside it. Paths begin in this folder.

    A study that is installed, or comes with this package, needs none: whoever reproduces it installs it.

    Raises:
        ConfigError: A file is not below the current folder, so that it has no place in another one.
    """
    if study.is_shipped or study.is_installed:
        return []
    here = Path.cwd().resolve()
    inside = [path for path in study.folder.rglob("*") if path.is_file()]
    kept = [path for path in inside if not any(map(_is_left_out, path.relative_to(study.folder).parts))]
    python = (path.relative_to(study.folder.parent).with_suffix("") for path in kept if path.suffix == ".py")
    modules = [".".join(path.parts) for path in python]
    classes = chain.from_iterable(component_classes(scientific_settings(experiment)) for experiment in experiments)
    data = chain.from_iterable(map(data_files, experiments))
    files = sorted({*kept, *own_sources(modules, sorted({*classes})), *data})
    if outside := [path for path in files if not path.is_relative_to(here) or study.folder == here]:
        raise ConfigError(f"{outside[0]}: call pomrl export in a folder below which the study and all that it needs is")
    return [path.relative_to(here) for path in files]


def _is_left_out(part: str) -> bool:
    return part.startswith(".") or part == "__pycache__"
