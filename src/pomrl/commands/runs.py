"""The command `pomrl runs`."""

import time
from collections import Counter
from collections.abc import Collection, Container, Mapping, Sequence
from contextlib import suppress
from datetime import datetime
from pathlib import Path
from secrets import SystemRandom
from typing import TYPE_CHECKING, Annotated, Any, Literal

from pomrl import store
from pomrl.commands.terminal import agrees, exit_with, print_frame, printable, warn
from pomrl.configuration.composed import ConfigError, number_of
from pomrl.configuration.parsing import Experiment, Label
from pomrl.configuration.settings import varying_keys
from pomrl.configuration.studies import Study, find, is_study
from pomrl.outputs import outputs
from pomrl.results.selection import filters, order
from pomrl.running.stored_settings import classes_of_options, fault_of_settings, from_settings
from pomrl.store import StoredBlock, StoredExperiment, StoreError, files
from pomrl.store.derived import DerivedFiles

if TYPE_CHECKING:  # slow to import
    import pandas as pd

ABANDONED_SECONDS = 3600.0
"""The smallest age of temporary files to remove; younger ones may be in use."""

MAX_NOTES = 60
"""The largest number of characters of notes in a table; CSV has all."""

SAME, DIFFERS, UNKNOWN = "has the same bytes", "differs from the recomputed block", "cannot be recomputed"
"""The outcomes of recomputing a block."""


def runs(  # noqa: PLR0913  (a command's options)
    *filter: Annotated[str, "STUDY or KEY=VALUE"],
    since: Annotated[datetime | None, "DATE"] = None,
    format: Literal["text", "csv", "markdown", "latex"] = "text",
    verify: bool = False,
    recompute: Annotated[int | None, "N"] = None,
    config_dir: Path | None = None,
    prune: bool = False,
    remove: bool = False,
    tag: Annotated[str | None, "NEW"] = None,
    untag: bool = False,
    yes: bool = False,
) -> None:
    """List, label, verify, recompute and remove stored experiments.

    The list, newest first, has varying settings, complete runs, time and code. It is also written to index.csv in the
    output folder. To replace a damaged file, repeat its `pomrl run` command. Recomputed blocks may differ on another
    machine or with other packages, where rounding breaks ties differently.

    Args:
        filter: Only experiments of this study, or with settings such as sigma=0.01,0.02. To recompute components of a
            study, give its name.
        since: Only experiments computed since this local time, such as 2026-11-17 or 2026-11-17T14:30.
        format: The format of the list (default: text).
        verify: Print a line for each damaged file instead of the list.
        recompute: Recompute N random blocks, and compare their bytes.
        config_dir: With --recompute, a folder like conf/ with your own options.
        prune: Remove results of other code, and temporary files of killed processes, after asking.
        remove: Remove the listed experiments, after asking.
        tag: Add a tag to the listed experiments.
        untag: Remove the tag NAME given by the filter tag=NAME.
        yes: Do not ask before --remove and --prune.
    """
    actions = {"verify": verify, "recompute": recompute is not None, "prune": prune, "remove": remove}
    requested = [name for name, is_on in {**actions, "tag": tag, "untag": untag}.items() if is_on]
    _check_options(requested, config_dir)
    studies = [find(text) for text in filter if is_study(text)]
    settings = filters([text for text in filter if not is_study(text)])
    is_whole = not (filter or since)
    composed = _compose(studies)
    listed = _select(settings, since, composed if studies else None, is_list=not (verify or prune or remove))
    if not listed and not is_whole:
        conditions = [*filter, *([f"--since {since.isoformat()}"] if since else [])]
        exit_with(f"{store.root()}: no stored experiment matches {' '.join(conditions)}")
    if verify:
        raise SystemExit(_verify(listed, whole=is_whole))
    if recompute is not None:
        raise SystemExit(_recompute(listed, recompute, composed, config_dir))
    if remove and is_whole:
        exit_with("--remove must have a filter, such as tag=NAME or --since DATE", 2)
    if prune:
        _prune(listed, yes=yes)
    elif remove:
        _remove(listed, yes=yes)
    elif untag or tag:
        _label(listed, tag, settings.get("tag"))
    index = describe(listed if is_whole and not requested else store.usable_experiments())
    _write_index(index)
    if not requested:
        show(listed, index if is_whole else None, format)


def _check_options(requested: Sequence[str], config_dir: Path | None) -> None:
    if len(requested) > 1:
        exit_with(f"--{requested[1]} must not be combined with --{requested[0]}; use one of them", 2)
    if config_dir and requested != ["recompute"]:
        exit_with("--config-dir must be combined with --recompute N", 2)


def _write_index(index: "pd.DataFrame") -> None:
    with suppress(OSError):
        files.write(outputs() / "index.csv", index.map(_without_formula).to_csv(index=False).encode())


def _select(
    settings: Mapping[str, Any], time: datetime | None, signatures: Container[str] | None, *, is_list: bool
) -> list[StoredExperiment]:
    everything = store.usable_experiments if is_list else store.all_experiments
    matching = computed_since(time, store.find(**settings) if settings else everything())
    return [stored for stored in matching if signatures is None or stored.signature in signatures]


def _label(listed: Sequence[StoredExperiment], new: str | None, old: Label) -> None:
    if not new and old is None:
        exit_with("--untag must have a filter tag=NAME, as in pomrl runs tag=NAME --untag", 2)
    for stored in listed:
        store.label(stored, new, without=None if new else old)
    print(f"{number_of(len(listed), 'experiment')} changed")


def computed_since(time: datetime | None, listed: list[StoredExperiment]) -> list[StoredExperiment]:
    """Return experiments computed since a time, local by default."""
    if time is None:
        return listed
    described = [(experiment, manifest) for experiment in listed if (manifest := experiment.manifest())]
    return [stored for stored, manifest in described if manifest.computed_at() >= time.astimezone()]


def _verify(listed: list[StoredExperiment], *, whole: bool) -> int:
    faults = [
        fault for experiment in listed for fault in [*experiment.faults(), fault_of_settings(experiment)] if fault
    ]
    folders = [outputs() / kind for kind in ("simulations", "studies", "plots", "reports")] if whole else []
    sidecars = {path.with_suffix(".json") for folder in folders for path in folder.rglob("[!.]*") if path.is_file()}
    faults += [fault for path in sorted(sidecars) if (fault := DerivedFiles(path).fault())]
    print("\n".join(map(printable, faults)) or "all files are intact")
    return int(bool(faults))


def _compose(studies: Sequence[Study]) -> dict[str, Experiment]:
    if not studies:
        return {}
    from pomrl.commands.export import study_experiments  # slow to import

    return {store.signature(experiment): experiment for study in studies for experiment in study_experiments(study)}


def _recompute(
    listed: Sequence[StoredExperiment], number: int, composed: Mapping[str, Experiment], config_dir: Path | None
) -> int:
    if number < 1:
        exit_with(f"--recompute must be at least 1, got {number}", 2)
    blocks = [(stored, block) for stored in listed for block in stored.blocks()]
    sample = SystemRandom().sample(blocks, min(number, len(blocks)))
    own_classes = classes_of_options(config_dir) if config_dir else set[str]()
    outcomes = Counter(_compare(stored, block, composed, own_classes) for stored, block in sample)
    same, differing, unknown = (outcomes[outcome] for outcome in (SAME, DIFFERS, UNKNOWN))
    n_blocks = number_of(len(sample), "block")
    print(f"of {n_blocks}, {same:,} have the same bytes again, {differing:,} differ, {unknown:,} cannot be recomputed")
    return int(same < len(sample))


def _compare(
    stored: StoredExperiment, block: StoredBlock, composed: Mapping[str, Experiment], own_classes: Collection[str]
) -> str:
    from pomrl.running.work import is_recomputed  # slow to import

    try:
        experiment = composed.get(stored.signature) or from_settings(stored, own_classes)
        outcome, why = SAME if is_recomputed(stored, block, experiment) else DIFFERS, ""
    except (StoreError, ConfigError) as error:
        outcome, why = UNKNOWN, f" ({error})"
    if outcome != SAME:
        print(printable(f"{stored.signature}/{block.name}: {outcome}{why}"), flush=True)
    return outcome


def _prune(listed: Sequence[StoredExperiment], *, yes: bool) -> None:
    unused = [stored for stored in listed if (manifest := stored.manifest()) and manifest.is_outdated()]
    for experiment in unused:
        print(f"{experiment.folder}: computed by other code")
    in_links = (path for form in (".removed-*", ".import-*", ".*.tmp", "*/.*.tmp") for path in store.root().glob(form))
    paths = {*outputs().rglob(".*.tmp"), *in_links}
    temporary = [path for path in paths if path.lstat().st_mtime < time.time() - ABANDONED_SECONDS]
    _remove(unused, temporary, yes=yes)


def _remove(unwanted: list[StoredExperiment], temporary: Sequence[Path] = (), *, yes: bool) -> None:
    paths = [*temporary, *(path for experiment in unwanted for path in experiment.paths() if path.exists())]
    runs, size = sum(experiment.contiguous() for experiment in unwanted), sum(path.lstat().st_size for path in paths)
    tags = sorted({printable(tag) for experiment in unwanted for tag in experiment.tags()})
    tagged = f" (tags {', '.join(tags)})" if tags else ""
    what = f"{number_of(len(unwanted), 'experiment')}{tagged} with {number_of(runs, 'run')}, {size / 1e6:,.1f} MB"
    for experiment in (experiment for experiment in unwanted if experiment.folder.is_symlink()):
        warn(f"{experiment.folder}: only this link is removed; its files stay in {experiment.folder.resolve()}")
    if not (yes or agrees(f"remove {what}?")):
        print(f"{what} would be removed; --yes removes them")
        return
    for path in temporary:
        files.remove(path)
    for experiment in unwanted:
        store.remove(experiment)
    print(f"{what} removed")


def show(listed: list[StoredExperiment], frame: "pd.DataFrame | None", form: str) -> None:
    """Print the list, with all settings in CSV, otherwise with varying ones."""
    if not listed:
        warn(f"{store.root()}: no stored experiments")
        return
    if form == "csv":
        print_frame(describe(listed, whole=True), form)
        return
    frame = describe(listed) if frame is None else frame
    frame = frame.assign(notes=frame["notes"].map(_shorten))
    frame = frame.drop(columns=[name for name in ("tags", "notes") if not frame[name].any()])
    settings = [*map(str, frame)][1 : list(frame).index("runs")]
    print_frame(frame, form, optional=["notes", "code", "computed", "tags", *reversed(settings)])


def describe(listed: Sequence[StoredExperiment], *, whole: bool = False) -> "pd.DataFrame":
    """Tabulate experiments, newest first, with varying or all settings."""
    import pandas as pd

    described = [(experiment, experiment.manifest()) for experiment in listed]
    settings = [manifest.flat_settings() if manifest else {} for _, manifest in described]
    varying = varying_keys(settings) if len(listed) > 1 else []
    keys = dict.fromkeys(key for setting in settings for key in setting) if whole else varying
    columns: dict[str, list[Any]] = {
        "signature": [experiment.signature for experiment in listed],
        **{key: [_cell(setting.get(key, "")) for setting in settings] for key in keys},
        "runs": [experiment.contiguous() for experiment in listed],
        "computed": [manifest.provenance.start[:16] if manifest else "" for _, manifest in described],
        "code": [manifest.label() if manifest else "" for _, manifest in described],
        "tags": [_cell(experiment.tags()) for experiment in listed],
        "notes": [_cell(experiment.notes()) for experiment in listed],
    }
    rows = sorted(range(len(listed)), key=lambda row: [order(settings[row].get(key)) for key in varying])
    rows.sort(key=lambda row: columns["computed"][row], reverse=True)
    return pd.DataFrame({name: [column[row] for row in rows] for name, column in columns.items()})


def _cell(value: Any) -> Any:
    text = ", ".join(map(str, value)) if isinstance(value, list) else value
    return printable(text) if isinstance(text, str) else text


def _shorten(text: str) -> str:
    return text if len(text) <= MAX_NOTES else f"{text[:MAX_NOTES]}…"


def _without_formula(cell: Any) -> Any:  # spreadsheets would execute it
    return f"'{cell}" if isinstance(cell, str) and cell.startswith(("=", "+", "-", "@")) else cell
