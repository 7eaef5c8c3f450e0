"""The command `pomrl export`."""

import re
import warnings
from collections.abc import Sequence
from itertools import chain, product
from pathlib import Path
from typing import Annotated

from pomrl import store
from pomrl.commands.terminal import exit_with, warn
from pomrl.configuration.composed import ConfigError, number_of
from pomrl.configuration.parsing import Experiment
from pomrl.configuration.settings import component_classes, data_files, scientific_settings
from pomrl.configuration.sources import PUBLISHED
from pomrl.configuration.studies import Study, find, is_study
from pomrl.results.selection import choose, filters
from pomrl.running.stored_settings import fault_of_settings
from pomrl.store import StoredExperiment, StoreError, StoreWarning, archives
from pomrl.store.code_digest import find_module, own_modules

NAME = re.compile(r"(?![0-9a-f]+$)[^=/]+")
"""A pattern for names of studies, without settings, signatures and paths."""


def export(
    file: Annotated[Path, "FILE.zip"],
    /,
    *what: Annotated[str, "STUDY or KEY=VALUE"],
    where: Annotated[Sequence[str], "KEY=VALUE"] = (),
    config_dir: Path | None = None,
) -> None:
    """Write stored experiments, or a study, to a zip archive.

    The archive of a study contains its folder, required modules and data, results, claims, figures and page.
    pomrl import adds it to another folder.

    Args:
        file: The archive to write.
        what: A study, or settings as in `pomrl run -m`; by default everything stored.
        where: Only stored experiments with these settings, such as `sigma=0.01,0.02`.
        config_dir: A folder like conf/ with your own options.
    """
    if file.suffix != ".zip":
        exit_with(f"{file}: the name of an archive must end with .zip", 2)
    if len(what) == 1 and (is_study(what[0]) or NAME.fullmatch(what[0])):
        stored, extra_files = _collect_study(find(what[0]))
    else:
        selection, extra_files = choose(what, filters(where), None, PUBLISHED.with_options(config_dir)), {}
        stored = _select_valid(selection.stored)
        for line in selection.notes:
            warn(line)
    n_files, left_out = archives.export(file, stored, extra_files)
    for name in left_out:
        warn(f"{name}: left out; names must be printable, without a dot in front or a backslash")
    warn(f"{number_of(len(stored), 'experiment')}, {number_of(n_files, 'file')}")
    print(file)


def _select_valid(candidates: Sequence[StoredExperiment]) -> list[StoredExperiment]:
    faults = {stored: fault_of_settings(stored) for stored in candidates}  # pomrl import would refuse them
    for fault in filter(None, faults.values()):
        warnings.warn(fault, StoreWarning, stacklevel=2)
    return [stored for stored, fault in faults.items() if not fault]


def _collect_study(study: Study) -> tuple[list[StoredExperiment], dict[str, Path]]:
    """Return the stored experiments of a study, and its files by their names in the archive."""
    experiments = {store.lookup(experiment): experiment for experiment in study_experiments(study)}
    stored = [candidate for candidate in experiments if candidate.complete()]
    if not stored:
        raise StoreError(f"{study.argument}: no stored runs; pomrl reproduce {study.argument} computes them")
    files = {
        f"code/{path.as_posix()}": path
        for path in _needed_files(study, [experiments[candidate] for candidate in stored])
    }
    results = [path for path in study.outputs.rglob("*") if path.is_file()]
    files |= {f"studies/{study.name}/{path.relative_to(study.outputs).as_posix()}": path for path in results}
    return stored, files


def study_experiments(study: Study) -> list[Experiment]:
    """Return the experiments of a study's sweeps, claims and variants."""
    from pomrl.commands.reproduce import study_sweeps  # slow to import
    from pomrl.judging.claim import claims_of

    claim_sweeps = list(dict.fromkeys(name for claim in claims_of(study) for name in claim.sweeps))
    pairs = [(None, name) for name in study_sweeps(study)] + list(product(study.variants, claim_sweeps))
    for variant in chain.from_iterable(family.variants for family in study.families.values()):
        pairs += [(variant, name) for name in (claim_sweeps if variant.sweeps is None else variant.sweeps)]
    composed = (setting.experiment for variant, name in pairs for setting in study.settings(name, variant))
    return list({store.signature(experiment): experiment for experiment in composed}.values())


def _needed_files(study: Study, experiments: Sequence[Experiment]) -> list[Path]:
    if study.is_shipped or study.is_installed:
        return []
    root, folder = Path.cwd().resolve(), study.folder
    code_files = [path for path in folder.rglob("*") if path.is_file() and path.parent.name != "__pycache__"]
    paths = (path.relative_to(folder.parent).with_suffix("").parts for path in code_files if path.suffix == ".py")
    names = [".".join(segments) for segments in paths if not any(segment.startswith(".") for segment in segments)]
    classes = chain.from_iterable(component_classes(scientific_settings(experiment)) for experiment in experiments)
    modules = {*names, *map(find_module, {*classes})}
    modules_beside = {path.resolve() for path in own_modules(modules, importer=study.name).values()}
    files = sorted({*code_files, *modules_beside, *chain.from_iterable(map(data_files, experiments))})
    if outside := [path for path in files if not path.is_relative_to(root) or folder == root]:
        raise ConfigError(f"the current folder must be above all files of the study, got {root} for {outside[0]}")
    return [path.relative_to(root) for path in files]
