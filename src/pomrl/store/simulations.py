"""Simulations, which studies declare: tables of functions, kept in outputs/simulations/<signature>/table.parquet."""

import hashlib
import inspect
import json
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field
from io import BytesIO
from typing import Any

import pandas as pd

from pomrl.outputs import outputs
from pomrl.store.code_digest import closure_digest
from pomrl.store.derived import DerivedFiles
from pomrl.store.layout import StoreError
from pomrl.store.provenance import provenance

TABLE = "table.parquet"


@dataclass(frozen=True, eq=False)
class Simulation:
    """A table that is simulated, which figures and claims read.

    Attributes:
        function: Function of keyword arguments that returns the table; the same arguments give the same table.
        arguments: Arguments that are not the function's defaults, as JSON can hold them or frozen dataclasses.
    """

    function: Callable[..., "pd.DataFrame"]
    arguments: Mapping[str, Any] = field(default_factory=dict[str, Any])

    @property
    def name(self) -> str:
        """The name of the function, by which figures get the table."""
        return self.function.__name__

    @property
    def parameters(self) -> dict[str, Any]:
        """All arguments by name, the function's defaults included."""
        bound = inspect.signature(self.function).bind(**self.arguments)
        bound.apply_defaults()
        return dict(bound.arguments)

    @property
    def sequences(self) -> int:
        """The number of sequences that are simulated; 0 if the table has none."""
        return self.parameters.get("sequences", 0)

    @property
    def signature(self) -> str:
        """A digest of the parameters and of the code that the simulation runs."""
        module = self.function.__module__
        identity = [module, self.function.__qualname__, self.parameters, closure_digest((module,))]
        return hashlib.sha256(json.dumps(identity, sort_keys=True, default=asdict).encode()).hexdigest()[:12]

    @property
    def files(self) -> DerivedFiles:
        """The stored files, which may be missing."""
        return DerivedFiles(outputs() / "simulations" / self.signature / "table.json")

    @property
    def is_stored(self) -> bool:
        """Return whether the table is stored and not damaged."""
        return self.files.is_made and not self.files.fault()

    def save(self, table: "pd.DataFrame") -> None:
        """Store the table."""
        content = table.to_parquet(index=False, compression="zstd")
        self.files.write({TABLE: content}, {"name": self.name, "provenance": asdict(provenance())})

    def load(self) -> "pd.DataFrame":
        """Return the stored table; StoreError if it is not stored or damaged."""
        if not self.is_stored:
            raise StoreError(
                f"{self.name} is not stored, or damaged; the stages figures and claims of pomrl reproduce simulate it"
            )
        return pd.read_parquet(BytesIO(self.files.content(TABLE)))
