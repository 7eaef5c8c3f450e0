"""List studies: pomrl studies. Those that are shipped, and those in the current folder."""

from pathlib import Path

from pomrl.commands.arguments import Parser
from pomrl.commands.errors import one_line_errors
from pomrl.commands.tables import add_row, plain_table
from pomrl.commands.terminal import console, warn
from pomrl.configuration.composed import ConfigError
from pomrl.configuration.sources import DESCRIPTION
from pomrl.configuration.study import Study, find, shipped
from pomrl.judging import judgements
from pomrl.store import StoreError


@one_line_errors()
def main() -> None:
    """Run the command with the arguments of the process, and print a table."""
    parser = Parser(prog="pomrl studies", description="List the studies that are shipped, and those in this folder.")
    parser.parse_args()
    table = plain_table("studies", "name", "title", "sweeps", "claims judged")
    for study in [*shipped(), *_in_this_folder()]:
        title = study.described.title + (f"; {study.described.cite}" if study.described.cite else "")
        add_row(table, study.word, title, len(study.sweeps), _judged(study))
    console().print(table)


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
