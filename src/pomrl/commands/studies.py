"""List studies: pomrl studies. Those that are shipped, and those in the current folder."""

from pathlib import Path

import pandas as pd

from pomrl.commands.arguments import Parser
from pomrl.commands.errors import one_line_errors
from pomrl.commands.tables import of_frame
from pomrl.commands.terminal import console, warn
from pomrl.configuration.composed import ConfigError
from pomrl.configuration.sources import DESCRIPTION
from pomrl.configuration.study import Study, find, shipped
from pomrl.judging import judgements
from pomrl.store import StoreError


@one_line_errors()
def main() -> None:
    """Run the command with the arguments of the process, and print a table."""
    description = "List the studies that are shipped, and those in this folder."
    Parser(prog="pomrl studies", description=description).parse_args()
    rows = [
        {
            "name": study.word,
            "title": "; ".join(filter(None, [study.described.title, study.described.cite])),
            "sweeps": len(study.sweeps),
            "claims judged": _judged(study),
        }
        for study in [*shipped(), *_in_this_folder()]
    ]
    console().print(of_frame("studies", pd.DataFrame(rows)))


def _in_this_folder() -> list[Study]:
    studies = []
    for path in sorted(Path().glob(f"*/{DESCRIPTION}")):
        try:
            studies.append(find(str(path.parent)))
        except ConfigError as error:
            warn(str(error))
    return studies


def _judged(study: Study) -> str:
    try:
        judged = judgements.read(study.outputs, list(study.described.variants))
    except StoreError as error:
        return str(error)
    return f"{len(judged.main)}" if judged.main else "none yet"
