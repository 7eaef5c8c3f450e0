"""The interface between the code of a page and its study."""

from dataclasses import dataclass
from functools import cached_property
from io import BytesIO

import pandas as pd

from pomrl.configuration.studies import Study
from pomrl.drawing.figures_of_study import FOLDER, file_stem
from pomrl.drawing.picture_files import Sidecar, save
from pomrl.drawing.series import Drawing
from pomrl.judging import judgements
from pomrl.judging.judgements import Judgements
from pomrl.store.derived import DerivedFiles, write_table


@dataclass(frozen=True)
class Page:
    """The inputs and outputs of a page: judgements, points, tables and figures."""

    study: Study
    name: str

    @property
    def command(self) -> str:
        return f"pomrl reproduce {self.study.argument}"

    @cached_property
    def judgements(self) -> Judgements:
        return judgements.read(self.study.outputs, list(self.study.config.variants))

    def points(self, figure: str) -> pd.DataFrame:
        """Load the points of a figure; StoreError if missing or damaged."""
        name = file_stem(self.study, figure)
        files = DerivedFiles(self.study.outputs / FOLDER / f"{name}.json")
        return pd.read_csv(BytesIO(files.content(f"{name}.csv")))

    def write(self, name: str, table: pd.DataFrame) -> pd.DataFrame:
        """Write NAME.csv to the outputs, and return its content."""
        path = self.study.outputs / f"{name}.csv"
        write_table(table, path, self.command)
        return pd.read_csv(path)

    def save(self, name: str, drawing: Drawing, docstring: str) -> None:
        sidecar = Sidecar(name, command=self.command, docstring=docstring, variant=self.study.unchanged)
        save(drawing, self.study.outputs / FOLDER, name, sidecar)
