"""Measure the differences between the paper's text and the authors' notebook: python -m src.ledger [--document].

The command reads what `python -m src.run experiment=notebook_ledger` has stored, and the published sweeps by the text.
It writes the effect of each difference to outputs/ledger.csv, and draws the ladder from the text to the notebook. With
--document it renews the tables of docs/notebook.md and the values behind them, docs/notebook_*.csv.
"""

from collections.abc import Mapping
from pathlib import Path

import pandas as pd

from pomrl.commands.arguments import Parser
from pomrl.commands.errors import one_line_errors
from pomrl.commands.terminal import exit_with
from pomrl.configuration import studies
from pomrl.configuration.ledger import ledger
from pomrl.configuration.sources import PUBLISHED
from pomrl.outputs import outputs
from pomrl.report.ledger import tables
from pomrl.results import blind_prediction
from pomrl.results.ledger import effects, ladder
from pomrl.results.markdown import renewed
from pomrl.store import StoreError, files
from pomrl.store.derived import DerivedFiles
from pomrl.store.provenance import commit

ROOT = Path(__file__).parents[3]
DOCUMENT = ROOT / "docs" / "notebook.md"
DIGITISED = ROOT / "examples" / "notebook" / "digitised.csv"

VALUES = {name: ROOT / "docs" / f"notebook_{name}.csv" for name in ("effects", "ladder", "prediction")}
"""The files with the values of the document's tables."""


@one_line_errors()
def main() -> None:
    """Run the command with the arguments of the process; exit with status 1 and one line where a sweep is missing."""
    parser = Parser(prog="python -m src.ledger", description="Compare the paper's text with the authors' notebook.")
    parser.add_argument("--document", action="store_true", help="renew the tables of docs/notebook.md as well")
    arguments = parser.parse_args()
    try:
        values = measure()
    except StoreError as error:
        names = ",".join([studies.LEDGER, *blind_prediction.SWEEPS])
        exit_with(f"{error}; to compute what is needed: python -m src.run -m experiment={names}")
    if arguments.document:
        for name, path in VALUES.items():
            files.write(path, values[name])
        files.write(DOCUMENT, document().encode())


def measure() -> Mapping[str, bytes]:
    """Measure all, write the effects and the figure to the outputs, and return the values of the document's tables."""
    of_ledger, settings = ledger(PUBLISHED), studies.readings(PUBLISHED, studies.LEDGER)
    found, climbed = effects(of_ledger, settings), ladder(of_ledger, settings)
    published = {name: studies.sweep(PUBLISHED, name) for name in blind_prediction.SWEEPS}
    predicted = blind_prediction.prediction_error(pd.read_csv(DIGITISED), published)
    DerivedFiles(outputs() / "ledger.json").write({"ledger.csv": _csv(found)}, commit())
    from pomrl.figures import ladder as figure  # here, because it takes a second to load
    from pomrl.figures.parts.files import Sidecar, save

    save(figure.draw(climbed), outputs() / "figures", "ladder", Sidecar("ladder", **commit()))
    return {"effects": _csv(found), "ladder": _csv(climbed.checks), "prediction": _csv(predicted)}


def document() -> str:
    """Return docs/notebook.md with its tables made from the values beside it."""
    values = {name: pd.read_csv(path) for name, path in VALUES.items()}
    of_document = tables(ledger(PUBLISHED), values["effects"], values["ladder"], values["prediction"])
    return renewed(DOCUMENT.read_text(), of_document)


def _csv(frame: pd.DataFrame) -> bytes:
    return frame.to_csv(index=False, float_format="%.6g", lineterminator="\n").encode()
