"""The store of simulations: outputs/simulations/<signature>/table.parquet, with its sidecar table.json."""

import hashlib
import json
from dataclasses import asdict
from io import BytesIO

import pandas as pd

from pomrl.outputs import outputs
from pomrl.store.code_digest import closure_digest
from pomrl.store.derived import DerivedFiles
from pomrl.store.layout import StoreError
from pomrl.store.provenance import provenance
from pomrl.theory.simulations import Simulation

TABLE = "table.parquet"


def signature(simulation: Simulation) -> str:
    """Return the signature of a simulation: a digest of its parameters and of the code that it runs."""
    function = simulation.function
    module = function.__module__
    code = closure_digest((module,))
    identity = [simulation.name, module, function.__qualname__, simulation.parameters, code]
    return hashlib.sha256(json.dumps(identity, sort_keys=True, default=asdict).encode()).hexdigest()[:12]


def stored(simulation: Simulation) -> DerivedFiles:
    """Return the files of a simulation, which may be missing."""
    return DerivedFiles(outputs() / "simulations" / signature(simulation) / "table.json")


def save(simulation: Simulation, table: "pd.DataFrame") -> None:
    """Store the table of a simulation."""
    content = table.to_parquet(index=False, compression="zstd")
    said = {"name": simulation.name, "provenance": asdict(provenance())}
    stored(simulation).write({TABLE: content}, said)


def load(simulation: Simulation) -> "pd.DataFrame":
    """Return the stored table of a simulation; StoreError if it is not stored or damaged."""
    return pd.read_parquet(BytesIO(_content(simulation)))


def digest(simulation: Simulation) -> str:
    """Return the digest of the file with the table."""
    return hashlib.sha256(_content(simulation)).hexdigest()


def fault(simulation: Simulation) -> str | None:
    """Return why the table cannot be read, or None."""
    return stored(simulation).fault() if stored(simulation).is_made else f"{simulation.name} is not stored"


def _content(simulation: Simulation) -> bytes:
    if fault(simulation):
        raise StoreError(f"{fault(simulation)}; pomrl figures and pomrl claims simulate what they need")
    return stored(simulation).content(TABLE)
