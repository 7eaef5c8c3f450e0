"""Damaged files of the store and of what is made of it: everything that reads them is tried, then they are mended."""

import random
import re
import tempfile
from collections.abc import Collection, Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import pytest
from docs_build import documents
from tests.faults.outcomes import End, FaultError, Result, result
from tests.support.computed import SMALL, SWEEP, Command, call, outputs_of_every_kind, page, page_without_provenance
from tests.support.damage import Damage, copied, damage_one
from tests.support.shipped import SIMULATIONS

from pomrl import store
from pomrl.commands import claims, figures, report, run, runs
from pomrl.configuration import sweeps
from pomrl.configuration.sources import PUBLISHED
from pomrl.store import StoredExperiment, StoreError

MENDED = 8
"""After one damage of so many everything is made again, which takes far longer than to notice the damage."""

MOST_LINES = 3

WHAT_TO_DO = "|".join(
    ["pomrl (claims|figures|run|runs|reproduce) ", "the command that made it", "no ordinary file", "Is a directory"]
)
"""What the line of a report that is refused says."""


@dataclass(frozen=True)
class Sound:
    """Outputs as they were written, and what can be read of them."""

    folder: Path
    study: str
    """The word that stands for the study in commands."""
    tables: dict[str, bytes]
    page: str
    without_provenance: str
    claims: bytes


def results(seed: int, number: int) -> Iterator[Result]:
    """Damage so many files, one after the other, each in a copy of sound outputs."""
    with tempfile.TemporaryDirectory() as name, pytest.MonkeyPatch.context() as patch:
        folder = Path(name) / "outputs"
        with outputs_of_every_kind(Path(name) / "sound") as study:
            sound = _sound(Path(name) / "sound", study)
            patch.setenv("POMRL_OUTPUTS", str(folder))
            yield from (_result(sound, folder, each) for each in range(seed, seed + number))


def _sound(folder: Path, study: str) -> Sound:
    experiments = {store.lookup(each.experiment).signature for each in sweeps.sweep(PUBLISHED, SWEEP)}
    pages = page(folder), page_without_provenance(folder)
    return Sound(folder, study, _tables(experiments), *pages, _table_of_claims(folder))


def _table_of_claims(folder: Path) -> bytes:
    return (folder / "studies" / SMALL / "claims.csv").read_bytes()


def _tables(signatures: Collection[str]) -> dict[str, bytes]:
    """Return the values of all tables that can be read, by the signature of the experiment or the simulation's name."""
    found: dict[str, bytes] = {}
    for each in signatures:
        with suppress(StoreError):
            found[each] = StoredExperiment(store.root() / each).table().to_csv().encode()
    for name, simulation in SIMULATIONS.items():
        with suppress(StoreError):
            found[name] = simulation.load().to_csv().encode()
    return found


def _result(sound: Sound, folder: Path, seed: int) -> Result:
    rng = random.Random(seed)
    done = damage_one(copied(sound.folder, folder), rng)
    part = done.path.relative_to(folder).parts[0]
    kind = f"damaged {part}" if part in ("runs", "simulations") else "damaged figure, claim, page, report"
    name = f"seed {seed}: {done.kind} {done.path.relative_to(folder)} {done.other.relative_to(folder)}"
    return result(kind, name, lambda: (_tried(sound, folder, done, mend=seed % MENDED == 0), 1))


def _tried(sound: Sound, folder: Path, done: Damage, *, mend: bool) -> End:
    """Read everything; where asked for, make everything again; return what became of the damage.

    Raises:
        FaultError: Something was wrong in silence, or is lost.
    """
    _same_tables(sound)
    faulty, found = _call(runs, "--verify")
    refused = [faulty, _call(runs)[0], _report(sound, folder, found), _claims(sound, folder)]
    if not mend:
        return "refused" if any(refused) else "unaffected"
    drawn = {path.stem: None for path in (done.path, done.other) if path.parent.name == "figures"}
    made_again = [
        _call(run, f"experiment={SWEEP}", "runs=2")[0],
        *(_call(figures, sound.study, name)[0] for name in drawn),
        _claims(sound, folder),
        _call(documents, sound.study)[0],
        _report(sound, folder, ""),
    ]
    _same_tables(sound)
    faulty, found = _call(runs, "--verify")
    if not any(made_again) and not faulty:
        if _tables(sound.tables.keys() - SIMULATIONS) != sound.tables:
            raise FaultError("lost", "a table is not there after everything was made again")
        if page_without_provenance(folder) != sound.without_provenance:
            raise FaultError("silently wrong", "the report differs after everything was made again")
        return "mended"
    if done.kind != "directory":
        raise FaultError("lost", f"it is not mended: {made_again} {found}")
    return "refused"


def _same_tables(sound: Sound) -> None:
    tables = _tables(sound.tables.keys() - SIMULATIONS)
    if wrong := [name for name, content in tables.items() if content != sound.tables[name]]:
        raise FaultError("silently wrong", f"tables differ: {wrong}")


def _report(sound: Sound, folder: Path, found: str) -> int:
    """Write the report and compare it; a figure that is not there is left out of it."""
    status, said = _call(report, sound.study)
    if status and (said.count("\n") != 1 or not re.search(WHAT_TO_DO, said)):
        raise FaultError("traceback", f"the refusal does not say what to do: {said}")
    same = status or page(folder) == sound.page or page_without_provenance(folder) == sound.without_provenance
    if not same and ".json: it is missing" not in found:
        raise FaultError("silently wrong", "the report differs")
    return status


def _claims(sound: Sound, folder: Path) -> int:
    status, said = _call(claims, sound.study)
    if not status and _table_of_claims(folder) != sound.claims:
        raise FaultError("silently wrong", f"the claims differ: {said}")
    return status


def _call(command: Command, *arguments: str) -> tuple[int, str]:
    """Call a command; return its status and what it said. What it raises is a traceback."""
    status, out, err = call(command, *arguments)
    if status not in (0, 1, 2) or "Traceback" in err or (status and not (out + err).strip()):
        raise FaultError("traceback", f"{command}: status {status}, {err}")
    if status and not out and err.count("\n") > MOST_LINES:
        raise FaultError("traceback", f"{command}: {err}")
    return status, out + err
