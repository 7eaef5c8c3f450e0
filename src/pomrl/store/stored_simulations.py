"""The store of simulations: a folder for the table of each simulation, named by its signature.

    outputs/simulations/<signature>/table.parquet  manifest.json

The manifest is the sidecar of the table (`pomrl.store.derived`), and has its digest. No lock is needed: two processes
that compute the same simulation at once write the same bytes.
"""

import hashlib
import json
from dataclasses import asdict, dataclass
from io import BytesIO
from pathlib import Path
from typing import Any

import pandas as pd

from pomrl.outputs import outputs
from pomrl.store.code_digest import closure_digest
from pomrl.store.derived import DerivedFiles
from pomrl.store.layout import MANIFEST, StoreError, is_signature
from pomrl.store.provenance import Provenance, provenance
from pomrl.theory.simulations import Simulation

TABLE = "table.parquet"
"""The name of the file that holds the table of a simulation."""


@dataclass(frozen=True)
class SimulationManifest:
    """The record of a stored simulation, apart from its table.

    Attributes:
        signature: The name of its folder.
        name: The name of the simulation.
        parameters: All arguments of its function.
        provenance: Versions of packages, platform, commit and time of its computation.
    """

    signature: str
    name: str
    parameters: dict[str, Any]
    provenance: Provenance


def root() -> Path:
    """Return the folder of all simulations, beside that of the experiments (`pomrl.store.root`)."""
    return outputs() / "simulations"


def signature(simulation: Simulation) -> str:
    """Return the signature of a simulation: 12 hex digits, a digest of its parameters and of the code that it runs."""
    function = simulation.function
    identity = {
        "name": simulation.name,
        "function": f"{function.__module__}.{function.__qualname__}",
        "parameters": simulation.parameters,
        "code": closure_digest((function.__module__,)),
    }
    return hashlib.sha256(json.dumps(identity, sort_keys=True, default=asdict).encode()).hexdigest()[:12]


def save(simulation: Simulation, table: pd.DataFrame) -> None:
    """Store the table of a simulation, and replace the table that is stored already, if there is one.

    Raises:
        OSError: A file cannot be written.
    """
    name = signature(simulation)
    folder = root() / name
    buffer = BytesIO()
    table.to_parquet(buffer, index=False, compression="zstd")
    content = buffer.getvalue()
    manifest = SimulationManifest(name, simulation.name, simulation.parameters, provenance())
    DerivedFiles(folder / MANIFEST).write({TABLE: content}, asdict(manifest))


def load(simulation: Simulation) -> pd.DataFrame:
    """Return the stored table of a simulation.

    Raises:
        StoreError: The simulation is not stored, or a file of it is damaged.
    """
    content, _ = _content(simulation)
    return pd.read_parquet(BytesIO(content))


def digest(simulation: Simulation) -> str:
    """Return the SHA-256 digest of the file that holds the table of a simulation.

    Raises:
        StoreError: The simulation is not stored, or a file of it is damaged.
    """
    return _content(simulation)[1]


def fault(simulation: Simulation) -> str | None:
    """Return one line that says why the table of a simulation cannot be read, or None if it can be read."""
    try:
        _content(simulation)
    except StoreError as error:
        return str(error)
    return None


def faults() -> dict[str, str]:
    """Return what is wrong with each stored simulation that is damaged, in one line, by its signature."""
    folders = [path for path in sorted(root().glob("*")) if is_signature(path.name) and not path.is_symlink()]
    reasons = {folder.name: _fault(folder) for folder in folders}
    return {signature: reason for signature, reason in reasons.items() if reason is not None}


def _fault(folder: Path) -> str | None:
    try:
        _checked(folder)
    except StoreError as error:
        return str(error)
    return None


def _content(simulation: Simulation) -> tuple[bytes, str]:
    """Return the content of the file that holds the table, and its digest."""
    folder = root() / signature(simulation)
    remedy = "pomrl figures and pomrl claims simulate what they need"
    if not DerivedFiles(folder / MANIFEST).is_made:
        raise StoreError(f"{folder}: the simulation {simulation.name} is not stored; {remedy}")
    try:
        return _checked(folder)
    except StoreError as error:
        raise StoreError(f"{error}; {remedy}") from error


def _checked(folder: Path) -> tuple[bytes, str]:
    """Return the content of the file that holds the table in a folder, and its digest.

    Raises:
        StoreError: A file is missing, damaged, or that of another simulation.
    """
    stored = DerivedFiles(folder / MANIFEST)
    said = stored.said()
    if said.get("signature") != folder.name:
        raise StoreError(f"{stored.sidecar}: it is that of another simulation")
    return stored.content(TABLE), said["files"][TABLE]
