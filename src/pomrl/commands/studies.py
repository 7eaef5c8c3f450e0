"""List studies: pomrl studies. Those that are shipped, and those in the current folder."""

from pathlib import Path

import pandas as pd

from pomrl.commands.arguments import Parser
from pomrl.commands.terminal import print_frame, warn
from pomrl.configuration.composed import ConfigError
from pomrl.configuration.sources import DESCRIPTION
from pomrl.configuration.study import Study, find, shipped


def main(parser: Parser) -> None:
    """Run the command and print a table."""
    parser.parse_args()
    rows = [
        {
            "name": study.word,
            "title": "; ".join(filter(None, [study.described.title, study.described.cite])),
            "sweeps": len(study.sweeps),
        }
        for study in [*shipped(), *_in_this_folder()]
    ]
    print_frame(pd.DataFrame(rows))


def _in_this_folder() -> list[Study]:
    studies = []
    for path in sorted(Path().glob(f"*/{DESCRIPTION}")):
        try:
            studies.append(find(str(path.parent)))
        except ConfigError as error:
            warn(str(error))
    return studies
