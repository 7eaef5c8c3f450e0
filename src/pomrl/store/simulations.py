"""The store of simulations: a folder for the table of each simulation, named by its signature.

    outputs/simulations/<signature>/table.parquet  manifest.json

First the table is written, and then the manifest with the digest of the table; each file is written whole or not at
all. No lock is needed: two processes that compute the same simulation at once write the same bytes.
"""

import hashlib
import json
from dataclasses import asdict, dataclass
from io import BytesIO
from pathlib import Path
from typing import Any

import pandas as pd

from pomrl.configuration.outputs import outputs
from pomrl.store import files
from pomrl.store.code_digest import closure_digest
from pomrl.store.layout import StoreError
from pomrl.store.provenance import Provenance, provenance
from pomrl.theory.simulations import Simulation

TABLE = "table.parquet"

LARGEST_TABLE = 2**28
LARGEST_MANIFEST = 2**20
"""Sizes in bytes of the largest files that are read; the store writes none that are larger."""


@dataclass(frozen=True)
class SimulationManifest:
    """The record of a stored simulation, apart from its table.

    Attributes:
        signature: The name of its folder.
        name: The name of the simulation.
        parameters: All arguments of its function.
        sha256: Digest of the file that holds the table.
        provenance: Versions of packages, platform, commit and time of its computation.
    """

    signature: str
    name: str
    parameters: dict[str, Any]
    sha256: str
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
    folder.mkdir(parents=True, exist_ok=True)
    buffer = BytesIO()
    table.to_parquet(buffer, index=False, compression="zstd")
    content = buffer.getvalue()
    digest_of_table = hashlib.sha256(content).hexdigest()
    manifest = SimulationManifest(name, simulation.name, simulation.parameters, digest_of_table, provenance())
    files.write(folder / TABLE, content)
    files.write(folder / "manifest.json", (json.dumps(asdict(manifest), indent=2) + "\n").encode())


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


def _content(simulation: Simulation) -> tuple[bytes, str]:
    """Return the content of the file that holds the table, and its digest."""
    folder = root() / signature(simulation)
    remedy = "python -m src.figures and python -m src.claims simulate what they need"
    try:
        content = files.read(folder / TABLE, LARGEST_TABLE)
        noted = json.loads(files.read(folder / "manifest.json", LARGEST_MANIFEST))["sha256"]
    except FileNotFoundError as error:
        raise StoreError(f"{folder}: the simulation {simulation.name} is not stored; {remedy}") from error
    except (ValueError, LookupError, TypeError) as error:
        raise StoreError(f"{folder / 'manifest.json'}: it cannot be read; {remedy}") from error
    if hashlib.sha256(content).hexdigest() != noted:
        raise StoreError(f"{folder / TABLE}: its digest is not the one in the manifest; {remedy}")
    return content, noted
