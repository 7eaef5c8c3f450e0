"""The store of simulations: a folder for the table of each simulation, named by its signature.

    outputs/simulations/<signature>/table.parquet  manifest.json

The manifest is the sidecar of the table (`pomrl.store.derived`), and has its digest. No lock is needed: two processes
that compute the same simulation at once write the same bytes.
"""

# pyarrow comes without types.
# pyright: reportMissingTypeStubs=false, reportUnknownMemberType=false, reportUnknownVariableType=false
# pyright: reportUnknownArgumentType=false

import hashlib
import json
from dataclasses import asdict
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

from pomrl.outputs import outputs
from pomrl.store.code_digest import closure_digest
from pomrl.store.derived import DerivedFiles
from pomrl.store.layout import MANIFEST, StoreError, is_signature
from pomrl.store.provenance import provenance
from pomrl.theory.simulations import SIMULATIONS, Simulation

TABLE = "table.parquet"
"""The name of the file that holds the table of a simulation."""

MOST_ROWS = 1_000_000
"""The most rows of the table of a simulation that is imported."""


class StoredSimulation(DerivedFiles):
    """A simulation in the store, which may be damaged or not exist yet. The name of its folder is its signature."""

    def is_own(self, name: str) -> bool:
        return name == TABLE

    def said(self) -> dict[str, Any]:
        said = super().said()
        if said.get("signature") != self.sidecar.parent.name or TABLE not in said["files"]:
            raise StoreError(f"{self.sidecar}: it is that of another simulation")
        return said

    def fault(self) -> str | None:
        try:
            self.content(TABLE)
        except StoreError as error:
            return str(error)
        return None

    def fault_of_table(self) -> str | None:
        """Return why the table cannot be the one that the present code computes, as far as its columns tell, or None.

        Its numbers of rows are read before anything is decoded.
        """
        simulation = next((each for each in SIMULATIONS.values() if signature(each) == self.sidecar.parent.name), None)
        try:
            file = pq.ParquetFile(BytesIO(self.content(TABLE)))
            rows, finite = file.metadata.num_rows, True
            if rows <= MOST_ROWS:
                numbers = file.read().to_pandas().select_dtypes("number")
                finite = bool(np.isfinite(numbers.to_numpy()).all())
        except (pa.ArrowException, OSError, StoreError) as error:
            return f"{self.sidecar.with_name(TABLE)}: it is no table ({' '.join(str(error).split())})"
        if simulation is None or self.said().get("name") != simulation.name or rows > MOST_ROWS or not finite:
            return f"{self.sidecar.with_name(TABLE)}: it is no table of a simulation of this version"
        return None

    def outdated(self) -> str | None:
        """Return why the present code does not use the simulation; None if it does, or if a file is damaged."""
        used = self.sidecar.parent.name in map(signature, SIMULATIONS.values())
        return None if used or self.fault() else "no simulation of the present code has its signature"


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


def all_simulations() -> list[StoredSimulation]:
    """Return all folders of simulations, usable or not; symbolic links are left out."""
    folders = (path for path in sorted(root().glob("*")) if is_signature(path.name))
    return [StoredSimulation(path / MANIFEST) for path in folders if path.is_dir() and not path.is_symlink()]


def save(simulation: Simulation, table: "pd.DataFrame") -> None:
    """Store the table of a simulation, and replace the table that is stored already, if there is one.

    Raises:
        OSError: A file cannot be written.
    """
    said = {
        "signature": signature(simulation),
        "name": simulation.name,
        "parameters": simulation.parameters,
        "provenance": provenance(),
    }
    _stored(simulation).write({TABLE: encode(table)}, said)


def encode(table: "pd.DataFrame") -> bytes:
    """Return the content of the file that holds the table of a simulation."""
    buffer = BytesIO()
    table.to_parquet(buffer, index=False, compression="zstd")
    return buffer.getvalue()


def load(simulation: Simulation) -> "pd.DataFrame":
    """Return the stored table of a simulation.

    Raises:
        StoreError: The simulation is not stored, or a file of it is damaged.
    """
    return pd.read_parquet(BytesIO(_content(simulation)))


def digest(simulation: Simulation) -> str:
    """Return the SHA-256 digest of the file that holds the table of a simulation.

    Raises:
        StoreError: The simulation is not stored, or a file of it is damaged.
    """
    return hashlib.sha256(_content(simulation)).hexdigest()


def fault(simulation: Simulation) -> str | None:
    """Return one line that says why the table of a simulation cannot be read, or None if it can be read."""
    return _stored(simulation).fault()


def _stored(simulation: Simulation) -> StoredSimulation:
    return StoredSimulation(root() / signature(simulation) / MANIFEST)


def _content(simulation: Simulation) -> bytes:
    stored = _stored(simulation)
    remedy = "pomrl figures and pomrl claims simulate what they need"
    if not stored.is_made:
        raise StoreError(f"{stored.sidecar.parent}: the simulation {simulation.name} is not stored; {remedy}")
    try:
        return stored.content(TABLE)
    except StoreError as error:
        raise StoreError(f"{error}; {remedy}") from error
